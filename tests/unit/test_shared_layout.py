#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A change of what processes share fails with its remedy, and the remedy works: shared_layout.py with another list.

    test_shared_layout.py LIST WIRE_H LIBRARY ...
"""
import contextlib
import io
import pathlib
import sys
import tempfile

import shared_layout

listed, header, *libraries = sys.argv[1:]
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
    mine, wire = f'{folder}/list', f'{folder}/wire.h'
    version, first, *rest = pathlib.Path(listed).read_text().splitlines()
    pathlib.Path(mine).write_text('\n'.join([version, first + '8', *rest]) + '\n')

    status, text = run(mine, header)
    assert status == 1 and f'only in the list: {first}8' in text and 'raise SIM_WIRE_VERSION' in text and '--update' in text, text
    status, text = run('--update', mine, header)
    assert status == 1 and 'raise SIM_WIRE_VERSION' in text, text

    number = int(version.split()[1])
    pathlib.Path(wire).write_text(f'#define SIM_WIRE_VERSION {number + 1}\n')
    status, text = run(mine, wire)
    assert status == 1 and 'Write the list anew' in text and 'raise' not in text, text
    assert run('--update', mine, wire)[0] == 0
    assert run(mine, wire)[0] == 0
    assert pathlib.Path(mine).read_text().splitlines() == [f'SIM_WIRE_VERSION {number + 1}', first, *rest]
