#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make facts-task-2.5.json: the interface facts of the headers that were another interface in releases 2.5 and 2.6.

    trim_facts_task_2_5.py DIRECTORY > facts-task-2.5.json

DIRECTORY is that of trim_facts.py, whose OTHER_INTERFACE names the headers. The facts are those of both releases in one; a
function whose types differ between the two has those of 2.5.
"""
import json
import pathlib
import sys

import trim_facts

HEADERS = {header: trim_facts.HEADERS[header] for header in trim_facts.OTHER_INTERFACE}


def of_both(table, releases):
    """The entries of a table in either release, newest first."""
    found = {}
    for release in releases:
        found |= trim_facts.in_scope(release[table], HEADERS)
    return found


def exported(funcs, release):
    libs = {}
    for name, entry in sorted(funcs.items()):
        lib = HEADERS[entry['header']]
        slot = libs.setdefault(lib, {'soname': release[lib]['soname'], 'symbols': {}})
        slot['symbols'][name] = trim_facts.node_of(name, lib, entry['stability'], [release])
    return libs


def main():
    source = pathlib.Path(sys.argv[1])

    def load(name):
        return json.loads((source / name).read_text())

    releases, libs = [load('doca-2.6.json'), load('doca-2.5.json')], load('symbols-2.5.json')
    funcs = of_both('functions', releases)
    facts = {
        'headers': {name: {'includes': releases[-1]['includes'][name], 'macros': []} for name in sorted(HEADERS)},
        'functions': funcs,
        'enums': of_both('enums', releases),
        'structs': of_both('structs', releases),
        'typedefs': of_both('typedefs', releases),
        'macros': {},
        'libraries': exported(funcs, libs),
        'version': '2.5.0108',
    }
    print(trim_facts.one_line_per_entry(facts))


if __name__ == '__main__':
    main()
