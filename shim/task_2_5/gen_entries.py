#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write what joins a library of releases 2.5 and 2.6 to the current one's code, from the interface facts of both.

    gen_entries.py FACTS FACTS-TASK-2.5 labels OUTPUT             the header that the translation is compiled with
    gen_entries.py FACTS FACTS-TASK-2.5 current OUTPUT            declarations of current functions for the translation
    gen_entries.py FACTS FACTS-TASK-2.5 entries LIBRARY OUTPUT    C: the entries (shim/abi/gen_calls.py)

A function is of one of three kinds:

    the same     in both, with the same types: its entry calls shim_doca_x, the current function
    changed      in both, with other types: its entry calls older_doca_x, of the translation, which calls shim_doca_x. The
                 checker's hooks see the arguments of the current function; those that this one lacks are 0
    gone         here alone: the translation's function has no entry
"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / 'abi'))
import gen_calls  # pylint: disable=wrong-import-position


def head(**what):
    return gen_calls.HEAD.format(**what).replace('gen_calls.py', 'gen_entries.py')


def signature(entry):
    """A parameter that became a pointer to const is the same to callers."""
    return [entry['ret'], [kind.replace('const ', '') for _, kind in entry['params']]]


def changed(facts, older):
    return [name for name, entry in older['functions'].items()
            if name in facts['functions'] and signature(entry) != signature(facts['functions'][name])]


def labels(facts, older):
    own = set(changed(facts, older))
    lines = [head(name='task_2_5_labels.h', purpose='assembler names of the functions of the translation')]
    for name in gen_calls.all_watched(facts):
        lines.append(f'#pragma redefine_extname {name} {"older_" if name in own else "shim_"}{name}')
    return lines


def current(facts, older):
    """Declarations of current functions under names of their own; those of functions that got a connection."""
    lines = [head(name='task_2_5_current.h', purpose='current functions that the translation calls'),
             *sorted(f'#include <{header}>' for header in older['headers']), '', 'struct doca_rdma_connection;', '']
    for name in changed(facts, older):
        entry = facts['functions'][name]
        if len(entry['params']) > len(older['functions'][name]['params']):
            params = ', '.join(gen_calls.declare(param, ctype) for param, ctype in entry['params'])
            declared = gen_calls.declare('current_' + name.removeprefix('doca_'), entry['ret'])
            lines.append(f'{declared}({params}) __asm__("shim_{name}");')
    return lines


def entries(facts, older, library):
    own = set(changed(facts, older))
    functions = {name: entry for name, entry in older['functions'].items() if name in facts['functions']}
    lines = gen_calls.entries_head(library, functions)
    for name, entry in functions.items():
        lines.append(gen_calls.entry_of(name, entry, 'older_' if name in own else 'shim_', facts['functions'][name]))
    return lines


def main():
    facts, older = (json.loads(pathlib.Path(path).read_text()) for path in sys.argv[1:3])
    makers = {'labels': labels, 'current': current, 'entries': entries}
    pathlib.Path(sys.argv[-1]).write_text('\n'.join(makers[sys.argv[3]](facts, older, *sys.argv[4:-1])) + '\n')


if __name__ == '__main__':
    main()
