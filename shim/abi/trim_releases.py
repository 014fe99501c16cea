#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make releases.txt: the symbols of each release of the vendor, with library and version node.

    trim_releases.py DIRECTORY > releases.txt

DIRECTORY holds the full facts by release (doca-*.json, symbols-*.json). Run by hand, when facts of another
release come in; neither build nor test runs it.

If the libraries of a release are known, their exports are used. If not, the public headers are: a stable or
deprecated function is in node DOCA_2, an experimental one in EXPERIMENTAL. All known libraries of 2.5 and 2.10
obey this rule; the script stops if one does not.
"""
import json
import pathlib
import sys

NODE = {'stable': 'DOCA_2', 'experimental': 'EXPERIMENTAL', 'deprecated': 'DOCA_2'}
LETTER = {'DOCA_2': 'D', 'EXPERIMENTAL': 'E', '': 'B'}

# The source of each release. Of 1.5, only the symbols that 2.2 lacks are known.
RELEASES = ['1.5', '2.2', '2.5', '2.10', '3.0']
HAS_LIBRARIES = ['2.2', '2.5', '2.10']
HAS_RULE = ['2.5', '2.10']

HEAD = """\
# The public symbols of each release of the vendor's libraries. Written by trim_releases.py; facts, not to be edited.
#
# library symbol {columns}
#
# D: in version node DOCA_2, E: in EXPERIMENTAL, B: without a version, -: absent. *: its parameters or its result
# differ from those in the newest release that has it.
#
# 2.2, 2.5, 2.10: the exports of the libraries of 2.2.0080, 2.5.0108 (x86-64) and 2.10.0087 (Arm). libdoca_common of 2.10
# is not available: derived from the headers of that release, as is all of 3.0 (stable functions in DOCA_2, experimental
# ones in EXPERIMENTAL). 1.5: only the symbols that 2.2 lacks, from headers."""


def signature(entry):
    return [entry['ret'], [kind for _, kind in entry['params']]]


def load_all(source):
    def load(name):
        return json.loads((source / name).read_text())

    headers = {release: load(f'doca-{release}.json') for release in RELEASES[1:]}
    headers['1.5'] = load('doca-1.5-delta.json')
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
    found['doca_mmap_advise.h'] = 'libdoca_common'
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


def cells(name, lib, headers, tables):
    present = [release for release in RELEASES if name in tables[release].get(lib, {})]
    newest = next((headers[release]['functions'][name] for release in reversed(present)
                   if name in headers[release]['functions']), None)
    for release in RELEASES:
        if release not in present:
            yield '-'
            continue
        entry = headers[release]['functions'].get(name)
        changed = entry and newest and signature(entry) != signature(newest)
        yield LETTER[tables[release][lib][name]] + ('*' if changed else '')


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
    for lib, name in sorted(rows, key=lambda row: row[1]):
        print(lib, name, *cells(name, lib, headers, tables))


if __name__ == '__main__':
    main()
