#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check a built library's SONAME, exported symbols and version nodes against facts.json.

    check_exports.py FACTS LIBRARY-NAME FILE

The library must export exactly the listed symbols, each as the default of its node; a library may have no nodes. Only the node BFSIM_PRIVATE may
have others.
"""
import json
import pathlib
import subprocess
import sys

PRIVATE_NODE = 'BFSIM_PRIVATE'


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def soname_of(path):
    for line in run('readelf', '-d', path).splitlines():
        if '(SONAME)' in line:
            return line.partition('[')[2].rstrip(']')
    return None


def exported(path):
    """The versioned names that the library defines: 'name@@node' (default) or 'name@node'."""
    names = set()
    for line in run('nm', '-D', '--with-symbol-versions', '--defined-only', path).splitlines():
        _, kind, name = line.split()
        if kind != 'A':  # absolute: the nodes themselves
            names.add(name)
    return names


def expected(entry):
    return {f'{name}@@{node}' if node else name for name, node in entry['symbols'].items()}


def complaints(entry, path):
    soname = soname_of(path)
    if soname != entry['soname']:
        yield f"SONAME is {soname}, not {entry['soname']}"
    have = {name for name in exported(path) if not name.endswith('@' + PRIVATE_NODE)}
    want = expected(entry)
    node_of = {name.partition('@')[0]: name for name in have}
    for name in sorted(want - have):
        other = node_of.get(name.partition('@')[0])
        yield f'{name} is not exported' + (f', but {other} is' if other else '')
    want_bare = {name.partition('@')[0] for name in want}
    for name in sorted(have - want):
        if name.partition('@')[0] not in want_bare:
            yield f'{name} is exported and should not be'


def main():
    facts_path, lib, path = sys.argv[1:]
    entry = json.loads(pathlib.Path(facts_path).read_text())['libraries'][lib]
    found = [f'{lib}: {text}' for text in complaints(entry, path)]
    print('\n'.join(found) or f"{lib}: {len(expected(entry))} symbols as expected")
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
