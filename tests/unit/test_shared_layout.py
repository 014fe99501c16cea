#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A change of what processes share fails with its remedy, and the remedy works: shared_layout.py with another list.

    test_shared_layout.py LIST WIRE_H OPERATIONS_H LIBRARY ...
"""
import contextlib
import io
import pathlib
import sys
import tempfile

import shared_layout

listed, header, operations, *libraries = sys.argv[1:]
found = shared_layout.layout(libraries)
shared_layout.layout = lambda libraries: (found[0], list(found[1])) # the libraries do not change


def run(*args):
    sys.argv[1:] = [*args, *libraries]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            shared_layout.main()
        except SystemExit as end:
            return int(end.code), out.getvalue()


with tempfile.TemporaryDirectory() as folder:
    mine, wire, rules = f'{folder}/list', f'{folder}/wire.h', f'{folder}/operations.h'
    version, first, *rest = pathlib.Path(listed).read_text().splitlines()
    pathlib.Path(mine).write_text('\n'.join([version, first + '8', *rest]) + '\n')

    status, text = run(mine, header, operations)
    assert status == 1 and f'only in the list: {first}8' in text and 'raise the number' in text and '--update' in text, text
    status, text = run('--update', mine, header, operations)
    assert status == 1 and 'raise the number' in text, text

    # A higher number, or another checksum.
    _, number, checksum = version.split()
    pathlib.Path(wire).write_text(f'#define SIM_WIRE_VERSION ({int(number) + 1}u << 16)\n')
    pathlib.Path(rules).write_text('#define SIM_RULES_CHECKSUM 0xbeef\n')
    for headers, expected in (((wire, operations), f'{int(number) + 1} {checksum}'), ((header, rules), f'{number} 0xbeef')):
        pathlib.Path(mine).write_text('\n'.join([version, first + '8', *rest]) + '\n')
        status, text = run(mine, *headers)
        assert status == 1 and 'Write the list anew' in text and 'raise' not in text, text
        assert run('--update', mine, *headers)[0] == 0
        assert run(mine, *headers)[0] == 0
        assert pathlib.Path(mine).read_text().splitlines() == [f'SIM_WIRE_VERSION {expected}', first, *rest]
