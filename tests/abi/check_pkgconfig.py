#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check the pkg-config templates: every module of the vendor resolves, at any path of the tree.

    check_pkgconfig.py FACTS TEMPLATE-DIR PKG-CONFIG

The script creates a tree like an installed one at two paths; pkg-config must print the present path.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MULTIARCH = 'any-linux-gnu'
LIBRARIES = ['doca_common', 'doca_dma', 'doca_comch', 'doca_comm_channel', 'doca_cc', 'doca_sha',
             'doca_compress', 'doca_erasure_coding', 'doca_aes_gcm', 'doca_argp']  # as an umbrella links them


def all_libraries(facts):
    return [name for name in LIBRARIES if 'lib' + name in facts['libraries']]


def install(tree, facts, templates):
    target = tree / 'lib' / MULTIARCH / 'pkgconfig'
    target.mkdir(parents=True)
    (tree / 'include').mkdir()
    own = templates / 'module.pc.in'
    found = {template.name.removesuffix('.in'): template.read_text() for template in templates.glob('doca*.pc.in')}
    for module, entry in facts['pkg_config'].items() if own.exists() else []:
        text = own.read_text().replace('@MODULE@', module).replace('@REQUIRES@', entry['requires'])
        found.setdefault(module + '.pc', text.replace('@LIBRARY@', module.replace('-', '_')))
    for name, text in found.items():
        text = text.replace('@DOCA_VERSION@', facts['version'])
        text = text.replace('@DOCA_LIB_MODULES@', ', '.join(name.replace('_', '-') + '-lib' for name in all_libraries(facts)))
        text = text.replace('@DOCA_LIBS@', ' '.join('-l' + name for name in all_libraries(facts)))
        (target / name).write_text(text)
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
    names = [flag[2:] for flag in libs if flag.startswith('-l')]
    wanted = wanted_libraries(facts, module)
    if names != wanted:
        yield f'links {names}, not {wanted}'
    static = {flag[2:] for flag in pkg.ask('--libs', '--static', module) if flag.startswith('-l')}
    if not {'doca_common', *names} <= static:
        yield f'links {sorted(static)} with --static'


def complaints(facts, templates, program):
    with tempfile.TemporaryDirectory() as tmp:
        for place in ('here', 'there'):
            tree = pathlib.Path(os.path.realpath(tmp)) / place / 'sdk'
            pkg = PkgConfig(program, install(tree, facts, templates))
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
