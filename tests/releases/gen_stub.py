#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the sources of a stub of a vendor's library: all symbols of a release, as functions that do nothing.

    gen_stub.py RELEASES RELEASE LIBRARY OUTPUT.c OUTPUT.map

RELEASES is shim/abi/releases.txt. A program that is linked with stubs needs the same symbols and versions as
one that is linked with that release.
"""
import pathlib
import sys

NODES = {'D': 'DOCA_2', 'E': 'EXPERIMENTAL'}


def read(path, release, library):
    """Symbol -> letter of its node."""
    lines = pathlib.Path(path).read_text().splitlines()
    legend = next(line for line in lines if line.startswith('# library symbol')).split()
    column = legend.index(release) - 1
    rows = [line.split() for line in lines if line and line[0] != '#']
    return {row[1]: row[column][0] for row in rows if row[0] == library and row[column] not in '-?'}


def main():
    releases, release, library, source, script = sys.argv[1:]
    symbols = read(releases, release, library)
    pathlib.Path(source).write_text(''.join(f'void {name}(void);\nvoid {name}(void) {{}}\n' for name in sorted(symbols)))
    nodes = [(letter, [name for name in sorted(symbols) if symbols[name] == letter]) for letter in NODES]
    text = ''.join(f'{NODES[letter]} {{\n\tglobal:\n' + ''.join(f'\t\t{name};\n' for name in names) + '};\n'
                   for letter, names in nodes if names)
    pathlib.Path(script).write_text(text + 'BFSIM_LOCAL {\n\tlocal:\n\t\t*;\n};\n')


if __name__ == '__main__':
    main()
