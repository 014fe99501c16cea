#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Build a shared library as scripts of Python extensions do: flags of pkg-config are sorted into lists by their first letters, and
each library directory becomes a run path.

    build.py COMPILER...
"""
import os
import shlex
import subprocess
import sys

MODULES = ['doca-common', 'doca-comch', 'doca-argp', 'doca-dma']
PKGCONFIG_DIR = '/opt/mellanox/doca/lib64/pkgconfig'


def flags_of(question):
    env = {**os.environ, 'PKG_CONFIG_PATH': PKGCONFIG_DIR}
    return shlex.split(subprocess.run(['pkg-config', question, *MODULES], env=env, capture_output=True, text=True, check=True).stdout)


def split(flags):
    kinds = {'-I': [], '-L': [], '-l': [], '': []}
    for flag in flags:
        kinds[flag[:2] if flag[:2] in kinds else ''].append(flag[2:] if flag[:2] in kinds else flag)
    return kinds


kinds = split(flags_of('--cflags') + flags_of('--libs'))
missing = [name for name in kinds['-I'] + kinds['-L'] if not os.path.isdir(name)]
assert not missing, missing
subprocess.run([*sys.argv[1:], '-shared', '-fPIC', '-DDOCA_ALLOW_EXPERIMENTAL_API', '-o', 'app.so', 'app.c', *kinds[''],
                *(f'-I{name}' for name in kinds['-I']), *(f'-L{name}' for name in kinds['-L']),
                *(f'-l{name}' for name in kinds['-l']), *(f'-Wl,-rpath,{name}' for name in set(kinds['-L']))], check=True)
