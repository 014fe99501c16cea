#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the linker version scripts of a generation from its interface facts.

    gen_maps.py FACTS FOLDER            write lib*.map into that folder
    gen_maps.py FACTS FOLDER --check    change nothing; fail where a script on disk is not what would be written

    FACTS                          FOLDER
    tests/abi/facts.json           shim/abi
    tests/abi/facts-workq.json     shim/workq/abi

A symbol's node is a promise to programs that were linked before: DOCA_2 stays for the life of SONAME .so.2,
EXPERIMENTAL may lose symbols. BFSIM_PRIVATE is for this project's own libraries, which are always built
together.
"""
import json
import pathlib
import sys

# The names of this project's own in a library, by its facts; core_*: see shim/workq/renamed_symbols.h.
PRIVATE = {
    'facts.json': {'libdoca_common': ['shim_*'], 'libdoca_comch': ['comch_*']},
    'facts-workq.json': {'libdoca_common': ['shim_*', 'core_*']},
}


def node(name, symbols, tail=()):
    lines = [f'{name} {{']
    if symbols:
        lines.append('\tglobal:')
        lines += [f'\t\t{symbol};' for symbol in sorted(symbols)]
    lines += tail
    return lines + ['};', '']


def version_script(lib, entry, facts_name):
    by_node = {}
    for symbol, name in entry['symbols'].items():
        by_node.setdefault(name, []).append(symbol)
    lines = ['/* SPDX-License-Identifier: BSD-3-Clause */',
             f'/* {lib}: exported symbols and their versions. Written by gen_maps.py from',
             f' * tests/abi/{facts_name}: change the facts, not this. */']
    local = ['\tlocal:', '\t\t*;']
    for name in sorted(by_node):
        lines += node(name, by_node[name], local)
        local = []
    if lib in PRIVATE[facts_name]:
        lines += node('BFSIM_PRIVATE', PRIVATE[facts_name][lib])
    return '\n'.join(lines)


def main():
    facts_path, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    facts = json.loads(facts_path.read_text())
    stale = []
    for lib, entry in facts['libraries'].items():
        path = folder / f'{lib}.map'
        text = version_script(lib, entry, facts_path.name)
        if '--check' not in sys.argv[3:]:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(path.name)
    if stale:
        sys.exit(f"stale: {', '.join(stale)}; run gen_maps.py on {facts_path.name}")


if __name__ == '__main__':
    main()
