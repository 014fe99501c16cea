#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write linker version scripts of libraries from the interface facts of their generation.

    gen_maps.py FACTS LIBRARY... OUTPUT...    LIBRARY as in the facts: libdoca_common; an output for each

The node of a symbol is a promise to programs that were linked before: DOCA_2 stays for the life of SONAME .so.2,
EXPERIMENTAL may lose symbols. BFSIM_PRIVATE is for the libraries of this project, which are always built together.
"""
import json
import pathlib
import sys

import libraries


def private(library, facts_name):
    """Patterns of the names that only other libraries of this project use (core_*: see shim/workq/gen_renamed_symbols.py)."""
    found = libraries.read_all()[library.removeprefix('libdoca_')]['private']
    return found + ['core_*'] * (facts_name == 'facts-workq.json' and found != [])


def node(name, symbols, tail=()):
    return [f'{name} {{', *(['\tglobal:'] if symbols else []), *(f'\t\t{symbol};' for symbol in sorted(symbols)),
            *tail, '};', '']


def version_script(library, entry, facts_name):
    by_node = {}
    for symbol, name in entry['symbols'].items():
        by_node.setdefault(name, []).append(symbol)
    lines = [f'/* {library}: exported symbols and their versions. Written by gen_maps.py from {facts_name}. */']
    local = ['\tlocal:', '\t\t*;']
    for name in sorted(by_node):
        lines += node(name, by_node[name], local)
        local = []
    if private(library, facts_name):
        lines += node('BFSIM_PRIVATE', private(library, facts_name))
    return '\n'.join(lines)


def main():
    facts, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
    entries = json.loads(facts.read_text())['libraries']
    for library, output in zip(names[:len(names) // 2], names[len(names) // 2:], strict=True):
        pathlib.Path(output).write_text(version_script(library, entries[library], facts.name))


if __name__ == '__main__':
    main()
