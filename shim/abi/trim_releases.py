#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make releases.txt: the symbols of each release of the vendor, with library and version node.

    trim_releases.py DIRECTORY > releases.txt

DIRECTORY holds the full facts by release (doca-*.json, symbols-*.json), added-*.json of this folder what they lack. Run
by hand, when facts of another release come in; neither build nor test runs it.

If the libraries of a release are known, their exports are used. If not, the public headers are: a stable or
deprecated function is in node DOCA_2, an experimental one in EXPERIMENTAL. All known libraries of 2.5 and 2.10
obey this rule; the script stops if one does not.

Three releases are known in part. Of 1.5, the functions that 2.2 lacks; it may lack any other one of 2.2. Of 2.7, the
headers of Comch; a function that is the same in 2.6 and 2.10 is the same in 2.7. Of 3.1, what 3.0 has and what programs
of 3.1 call beyond it; it may have any other function of 3.3.
"""
import json
import pathlib
import sys

from trim_facts import load_added

NODE = {'stable': 'DOCA_2', 'experimental': 'EXPERIMENTAL', 'deprecated': 'DOCA_2'}
LETTER = {'DOCA_2': 'D', 'EXPERIMENTAL': 'E', '': 'B'}

UNKNOWN = '?'

RELEASES = ['1.5', '2.2', '2.5', '2.6', '2.7', '2.10', '3.0', '3.1', '3.3']
HAS_LIBRARIES = ['2.2', '2.5', '2.10']
HAS_RULE = ['2.5', '2.10']

HEAD = """\
# The public symbols of each release of the vendor's libraries. Written by trim_releases.py; facts, not to be edited.
#
# library symbol {columns}
#
# D: in version node DOCA_2, E: in EXPERIMENTAL, B: without a version, -: absent, ?: not known. *: its parameters or its
# result differ from those in the newest release that has it (libdoca_cc: the oldest, whose types bfsim has); a const more
# or less in a parameter does not count.
#
# 2.2, 2.5, 2.10: the exports of the libraries of 2.2.0080, 2.5.0108 (x86-64) and 2.10.0087 (Arm). libdoca_common of 2.10
# is not available: derived from the headers of that release, as is all of 2.6 and 3.0 (stable functions in DOCA_2,
# experimental ones in EXPERIMENTAL). 3.1: 3.0 and what public programs of 3.1 call beyond it. 3.3: 3.1 and what public
# programs of 3.2 and 3.3 call beyond it. 1.5: the symbols that 2.2 lacks, from headers. 2.7: libdoca_comch from its headers
# (its MsgQ is not known); of the other libraries, what 2.6 and 2.10 have in common."""

# 2.7 has libdoca_comch in its place.
GONE_IN_2_7 = ['libdoca_cc']
# bfsim has this library with the types of the oldest release, not the newest (trim_facts.GONE).
TYPES_OF_OLDEST = ['libdoca_cc']


def signature(entry):
    """Types that callers depend on: a parameter that became a pointer to const is the same to them."""
    return [entry['ret'], [kind.replace('const ', '') for _, kind in entry['params']]]


def load_all(source):
    def load(name):
        return json.loads((source / name).read_text())

    headers = {release: load(f'doca-{release}.json') for release in ('2.2', '2.5', '2.6', '2.10', '3.0')}
    headers['1.5'] = {'functions': load('doca-1.5-delta.json')['functions'] | load_added('1.5')['functions']}
    headers['2.7'] = load_added('2.7')
    headers['3.1'] = {'functions': load_added('3.1')['functions'] | headers['3.0']['functions']}
    later = load('doca-3.3-delta.json')['functions'] | load_added('3.3')['functions']
    headers['3.3'] = {'functions': later | headers['3.1']['functions']}
    exports = {release: {lib: entry['symbols'] for lib, entry in load(f'symbols-{release}.json').items()
                         if lib != 'pkg-config'} for release in HAS_LIBRARIES}
    return headers, exports


def library_of_header(headers, exports):
    """The library of the functions of a header, according to the known libraries."""
    found = {}
    for release, libs in exports.items():
        for lib, symbols in libs.items():
            for name in symbols:
                entry = headers[release]['functions'].get(name)
                if entry:
                    found[entry['header']] = lib
    found['doca_mmap_advise.h'] = found['doca_clock.h'] = 'libdoca_common'
    return found


def check_rule(headers, exports):
    for release in HAS_RULE:
        for lib, symbols in exports[release].items():
            for name, node in symbols.items():
                entry = headers[release]['functions'].get(name)
                if entry and NODE[entry['stability']] != node:
                    sys.exit(f'{release}: {name} is {entry["stability"]} and in node {node}')


def derive(functions, lib_of, known_libs):
    libs = {}
    for name, entry in functions.items():
        lib = lib_of[entry['header']]
        if not entry.get('inline') and lib not in known_libs:
            libs.setdefault(lib, {})[name] = NODE[entry.get('stability', 'experimental')]
    return libs


def is_same(name, release, other, lib, headers, tables):
    """Whether two releases have the function in the same node with the same types."""
    nodes = [tables[each].get(lib, {}).get(name) for each in (release, other)]
    entries = [headers[each]['functions'].get(name) for each in (release, other)]
    return nodes[0] is not None and nodes[0] == nodes[1] and \
        None not in entries and signature(entries[0]) == signature(entries[1])


def fill_gaps(rows, headers, tables):
    """Enter what follows for 1.5, 2.7 and 3.1 from their neighbours."""
    of_headers = {entry['header'] for entry in headers['2.7']['functions'].values()}
    for lib, name in rows:
        if name in tables['2.2'].get(lib, {}):
            tables['1.5'].setdefault(lib, {}).setdefault(name, UNKNOWN)
        if name in tables['3.3'].get(lib, {}):
            tables['3.1'].setdefault(lib, {}).setdefault(name, UNKNOWN)
        if name in tables['2.7'].get(lib, {}) or lib in GONE_IN_2_7:
            continue
        entry = headers['2.10']['functions'].get(name) or headers['2.6']['functions'].get(name)
        if entry and entry['header'] in of_headers:
            continue
        if is_same(name, '2.6', '2.10', lib, headers, tables):
            tables['2.7'].setdefault(lib, {})[name] = tables['2.6'][lib][name]
            headers['2.7']['functions'][name] = headers['2.6']['functions'][name]
        elif any(name in tables[release].get(lib, {}) for release in ('2.6', '2.10')):
            tables['2.7'].setdefault(lib, {})[name] = UNKNOWN


def cells(name, lib, headers, tables):
    nodes = {release: tables[release].get(lib, {}).get(name) for release in RELEASES}
    present = [release for release in RELEASES if nodes[release] not in (None, UNKNOWN)]
    order = present if lib in TYPES_OF_OLDEST else present[::-1]
    newest = next((headers[release]['functions'][name] for release in order
                   if name in headers[release]['functions']), None)
    for release in RELEASES:
        if release not in present:
            yield nodes[release] or '-'
            continue
        entry = headers[release]['functions'].get(name)
        changed = entry and newest and signature(entry) != signature(newest)
        yield LETTER[nodes[release]] + ('*' if changed else '')


def main():
    headers, exports = load_all(pathlib.Path(sys.argv[1]))
    check_rule(headers, exports)
    lib_of = library_of_header(headers, exports)
    tables = {}
    for release in RELEASES:
        known = exports.get(release, {})
        derives = release not in ('2.2', '2.5')
        tables[release] = {**known, **(derive(headers[release]['functions'], lib_of, known) if derives else {})}
    print(HEAD.format(columns=' '.join(RELEASES)))
    rows = {(lib, name) for table in tables.values() for lib, symbols in table.items() for name in symbols}
    fill_gaps(rows, headers, tables)
    for lib, name in sorted(rows, key=lambda row: row[1]):
        print(lib, name, *cells(name, lib, headers, tables))


if __name__ == '__main__':
    main()
