#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the linker version scripts of this folder from the interface facts.

    gen_maps.py FACTS            write lib*.map beside this script
    gen_maps.py FACTS --check    change nothing; fail where a script on disk is not what would be written

A symbol's node is a promise to programs that were linked before: DOCA_2 stays for the life of SONAME .so.2,
EXPERIMENTAL may lose symbols. BFSIM_PRIVATE is for this project's own libraries, which are always built
together.
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PRIVATE = {'libdoca_common': 'shim_*', 'libdoca_comch': 'comch_*'}


def node(name, symbols, tail=()):
    lines = [f'{name} {{']
    if symbols:
        lines.append('\tglobal:')
        lines += [f'\t\t{symbol};' for symbol in sorted(symbols)]
    lines += tail
    return lines + ['};', '']


def version_script(lib, entry):
    by_node = {}
    for symbol, name in entry['symbols'].items():
        by_node.setdefault(name, []).append(symbol)
    lines = ['/* SPDX-License-Identifier: BSD-3-Clause */',
             f'/* {lib}: exported symbols and their versions. Written by gen_maps.py from',
             ' * tests/abi/facts.json: change the facts, not this. */']
    local = ['\tlocal:', '\t\t*;']
    for name in sorted(by_node):
        lines += node(name, by_node[name], local)
        local = []
    if lib in PRIVATE:
        lines += node('BFSIM_PRIVATE', [PRIVATE[lib]])
    return '\n'.join(lines)


def main():
    facts = json.loads(pathlib.Path(sys.argv[1]).read_text())
    stale = []
    for lib, entry in facts['libraries'].items():
        path = HERE / f'{lib}.map'
        text = version_script(lib, entry)
        if '--check' not in sys.argv[2:]:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(path.name)
    if stale:
        sys.exit(f"stale: {', '.join(stale)}; run gen_maps.py on tests/abi/facts.json")


if __name__ == '__main__':
    main()
