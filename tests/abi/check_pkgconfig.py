#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check the pkg-config modules: every module of the vendor resolves, at any path of the tree.

    check_pkgconfig.py FACTS MODULES-DIR PKG-CONFIG

MODULES-DIR has the modules as they are installed. The script creates a tree like an installed one at two paths; pkg-config
must print the present path.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

MULTIARCH = 'any-linux-gnu'


def all_libraries(facts):
    return sorted(name.removeprefix('lib') for name in facts['libraries'])


def install(tree, modules):
    target = tree / 'lib' / MULTIARCH / 'pkgconfig'
    target.mkdir(parents=True)
    (tree / 'include').mkdir()
    for path in modules.glob('doca*.pc'):
        shutil.copy(path, target)
    return target


class PkgConfig:
    def __init__(self, program, directory):
        self.program = program
        self.env = {**os.environ, 'PKG_CONFIG_LIBDIR': str(directory), 'PKG_CONFIG_PATH': ''}

    def ask(self, *question):
        done = subprocess.run([self.program, *question], env=self.env, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return done.stdout.split()


def resolved(flags, prefix):
    return [os.path.realpath(flag[len(prefix):]) for flag in flags if flag.startswith(prefix)]


def wanted_libraries(facts, module):
    one = module.removesuffix('-lib').replace('-', '_')
    if one not in all_libraries(facts):
        return all_libraries(facts)
    return [one] + ['doca_common'] * (facts['pkg_config'][module]['requires'] == 'doca-common')


def check_module(pkg, tree, facts, module):
    version = pkg.ask('--modversion', module)
    if version != [facts['version']]:
        yield f"version {version}, not {facts['version']}"
    cflags = pkg.ask('--cflags', module)
    if resolved(cflags, '-I') != [str(tree / 'include')]:
        yield f'headers in {resolved(cflags, "-I")}'
    if '-DALLOW_EXPERIMENTAL_API' not in cflags:
        yield f'flags {cflags}'
    requires = [word.rstrip(',') for word in pkg.ask('--print-requires', module)]
    vendor = facts['pkg_config'][module]['requires'].split()
    if vendor and requires != vendor:
        yield f'requires {requires}, not {vendor}'
    libs = pkg.ask('--libs', module)
    if resolved(libs, '-L') != [str(tree / 'lib' / MULTIARCH)]:
        yield f'libraries in {resolved(libs, "-L")}'
    names = sorted(flag[2:] for flag in libs if flag.startswith('-l'))
    wanted = sorted(wanted_libraries(facts, module))
    if names != wanted:
        yield f'links {names}, not {wanted}'
    others = pkg.ask('--libs-only-other', module)
    if others != (['-Wl,--as-needed'] if len(wanted) > 2 else []):
        yield f'tells the linker {others}'
    static = {flag[2:] for flag in pkg.ask('--libs', '--static', module) if flag.startswith('-l')}
    if not {'doca_common', *names} <= static:
        yield f'links {sorted(static)} with --static'


def complaints(facts, modules, program):
    with tempfile.TemporaryDirectory() as tmp:
        for place in ('here', 'there'):
            tree = pathlib.Path(os.path.realpath(tmp)) / place / 'sdk'
            pkg = PkgConfig(program, install(tree, modules))
            for module in sorted(facts['pkg_config']):
                try:
                    yield from (f'{module}: {text}' for text in check_module(pkg, tree, facts, module))
                except RuntimeError as error:
                    yield f'{module}: {error}'


def main():
    facts = json.loads(pathlib.Path(sys.argv[1]).read_text())
    found = list(complaints(facts, pathlib.Path(sys.argv[2]), sys.argv[3]))
    print('\n'.join(found) or f"{len(facts['pkg_config'])} modules as expected")
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
