#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write what follows from the operations of fault rules, in the libraries' descriptions and in operations.toml.

    gen_operations.py operations OUTPUT          operations.h: SIM_OPS(X), sets of them, a checksum for the wire's version
    gen_operations.py tasks OUTPUT               task_kind_names.h: SIM_TASK_... and SIM_TASK_KINDS(X)
    gen_operations.py dict OUTPUT WORDS.H BASE   the fuzz dictionary of rules: BASE, operations and keywords
"""
import pathlib
import re
import sys
import tomllib
import zlib

import libraries

RULE = libraries.SHIM.parent / 'sim/faults/rule'
EVENTS = RULE / 'operations.toml'
KEYS = {'rule': None, 'actions': None, 'conditions': None, 'moves': False, 'task': ''}
HEAD = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* {name} - {purpose}. Written by gen_operations.py. */"""


def read_rows(path, rows):
    """Name -> the row, with its defaults."""
    for name, row in rows.items():
        for key in row:
            libraries.check_key(path, key, KEYS)
        for key, default in KEYS.items():
            if default is None and key not in row:
                libraries.fail(path, f'the operation {name} has no {key}')
        yield name, {**KEYS, **row}


def read_operations():
    """Name -> row, of libraries, of events; and the names of sets."""
    events = tomllib.loads(EVENTS.read_text())
    found = {}
    for library, entry in libraries.read_all().items():
        found.update(read_rows(libraries.SHIM / library / 'library.toml', entry['operations']))
    return found, dict(read_rows(EVENTS, events['events'])), events['sets']


def expand(words, sets):
    for word in words.split():
        yield from expand(sets[word], sets) if word in sets else [word.upper()]


def sum_of(macro, words, sets):
    return ' | '.join(f'{macro}({word})' for word in expand(words, sets)) or '0'


def bits(rows):
    return ' | '.join(f'SIM_OP_BIT(SIM_OP_{name})' for name in rows) or '0'


def rules_text(rows):
    """What the layout of rules depends on: without comments and spaces."""
    text = '\n'.join([*rows, (RULE / 'words.h').read_text(), (RULE / 'rule.h').read_text()])
    return re.sub(r'/\*.*?\*/|\s', '', text, flags=re.DOTALL).encode()


def operations():
    own, events, sets = read_operations()
    rows = [f'\tX({name}, "{row["rule"]}", {sum_of("A", row["actions"], sets)}, {sum_of("W", row["conditions"], sets)})'
            for name, row in {**own, **events}.items()]
    return [HEAD.format(name='operations.h', purpose='operations of fault rules'),
            '/* X(operation, its name in rules, A(action) | ..., W(condition) | ...) */',
            '#define SIM_OPS(X) ' + ' \\\n'.join(['', *rows]), '',
            '/* Tasks that move data, of which a failed one may have moved a part. */',
            f'#define SIM_OPS_MOVING ({bits([name for name, row in own.items() if row["moves"]])})',
            f'#define SIM_OPS_EVENTS ({bits(events)})', '',
            '/* Changes with each operation, word and field of rules, whose numbers and places processes share. */',
            f'#define SIM_RULES_CHECKSUM {zlib.crc32(rules_text(rows)) & 0xffff:#06x}']


def tasks():
    found = {name: row['task'] for name, row in read_operations()[0].items() if row['task']}
    for library in libraries.read_all().values():
        found.update(library['tasks'])
    return [HEAD.format(name='task_kind_names.h', purpose='names of the kinds of tasks'),
            *(f'#define SIM_TASK_{name} "{kind}"' for name, kind in found.items()), '',
            '#define SIM_TASK_KINDS(X) ' + ' \\\n'.join(['', *(f'\tX(SIM_TASK_{name})' for name in found)])]


def dictionary(words, base):
    own, events, _ = read_operations()
    keywords = re.findall(r'X\(\w+, "(\w+)", "\w+(=?)', pathlib.Path(words).read_text())
    return [pathlib.Path(base).read_text(), *(f'"{row["rule"]}"' for row in {**own, **events}.values()),
            *(f'"{word}{sign}"' for word, sign in keywords)]


def main():
    what, output, *inputs = sys.argv[1:]
    lines = {'operations': operations, 'tasks': tasks, 'dict': dictionary}[what](*inputs)
    pathlib.Path(output).write_text('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()
