#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make facts-dpa-dev.json: the interface facts of device code. A test compares the device headers with them.

    trim_facts_dpa_dev.py DIRECTORY > facts-dpa-dev.json

DIRECTORY holds the full facts (doca-*-dpa-device.json). Run by hand, as trim_facts.py. Structures are left out: the
vendor's inline functions read them, and programs do not. Headers of the facts alone are in it: those of verbs and of device
emulation are younger.
"""
import json
import pathlib
import sys


# What the facts of 3.0 lack: a level of 2.6, and that a function has further parameters.
OLDER_LEVELS = {'DOCA_DPA_DEV_LOG_LEVEL_CRIT': 20}
VARIADIC = 'doca_dpa_dev_log'


def enum_tag(tag, entry, typedefs):
    """An enumeration without a tag has the name of its typedef."""
    if not tag.startswith('anonymous:'):
        return tag
    return next(name for name, typedef in typedefs.items()
                if typedef['header'] == entry['header'] and typedef['type'] == f'enum {name}')


def main():
    full = json.loads(next(pathlib.Path(sys.argv[1]).glob('doca-*-dpa-device.json')).read_text())
    tables = {name: full[name] for name in ('functions', 'macros', 'typedefs')}
    tables['enums'] = {enum_tag(tag, entry, full['typedefs']): entry for tag, entry in full['enums'].items()}
    tables['enums']['doca_dpa_dev_log_level']['values'].update(OLDER_LEVELS)
    tables['functions'][VARIADIC]['variadic'] = True
    headers = sorted({entry['header'] for table in tables.values() for entry in table.values()})
    facts = {**tables, 'headers': {header: {'macros': []} for header in headers}, 'structs': {}}
    lines = []
    for table in sorted(facts):
        entries = [f'  {json.dumps(name)}: {json.dumps(entry, sort_keys=True)}' for name, entry in sorted(facts[table].items())]
        lines.append(f' {json.dumps(table)}: {{\n' + ',\n'.join(entries) + '\n }' if entries else f' {json.dumps(table)}: {{}}')
    print('{\n' + ',\n'.join(lines) + '\n}')


if __name__ == '__main__':
    main()
