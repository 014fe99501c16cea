#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make stubs of a release of the vendor's libraries: all symbols of the release, as functions that do nothing.

    make_stubs.py RELEASES RELEASE FOLDER CC... -- LIBRARY...

RELEASES is shim/abi/releases.txt. FOLDER/libdoca_common_stub_2_5.so is that of libdoca_common of 2.5. A program that is linked
with stubs needs the same symbols and versions as one that is linked with that release.
"""
import pathlib
import subprocess
import sys
import tempfile

NODES = {'D': 'DOCA_2', 'E': 'EXPERIMENTAL'}


def read(path, release):
    """Library -> symbol -> letter of its node."""
    lines = pathlib.Path(path).read_text().splitlines()
    legend = next(line for line in lines if line.startswith('# library symbol')).split()
    column = legend.index(release) - 1
    found = {}
    for row in (line.split() for line in lines if line and line[0] != '#'):
        if row[column] not in '-?':
            found.setdefault(row[0], {})[row[1]] = row[column][0]
    return found


def version_script(symbols):
    nodes = [(letter, [name for name in sorted(symbols) if symbols[name] == letter]) for letter in NODES]
    text = ''.join(f'{NODES[letter]} {{\n\tglobal:\n' + ''.join(f'\t\t{name};\n' for name in names) + '};\n'
                   for letter, names in nodes if names)
    return text + 'BFSIM_LOCAL {\n\tlocal:\n\t\t*;\n};\n'


def make(symbols, soname, output, compiler):
    functions = ''.join(f'void {name}(void);\nvoid {name}(void) {{}}\n' for name in sorted(symbols))
    with tempfile.NamedTemporaryFile('w', suffix='.map') as script:
        script.write(version_script(symbols))
        script.flush()
        subprocess.run([*compiler, '-shared', '-fPIC', '-w', f'-Wl,--as-needed,-soname,{soname},--version-script={script.name}',
                        '-o', output, '-x', 'c', '-'], input=functions, text=True, check=True)


def main():
    releases, release, folder, *rest = sys.argv[1:]
    compiler, libraries = rest[:rest.index('--')], rest[rest.index('--') + 1:]
    symbols = read(releases, release)
    for library in libraries:
        make(symbols[library], library + '.so.2', f'{folder}/{library}_stub_{release.replace(".", "_")}.so', compiler)


if __name__ == '__main__':
    main()
