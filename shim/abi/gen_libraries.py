#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write headers from the libraries' descriptions.

    gen_libraries.py kinds OUTPUT       handle_kinds.h: the kinds of handles, in the order of libraries.IS, so that a comparison
                                        says what a handle is (shim/common/base/object.h)
    gen_libraries.py external OUTPUT    external_libraries.h: what others' libraries do for ours
"""
import pathlib
import sys

import libraries

KINDS = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* handle_kinds.h - the kinds of handles. Written by gen_libraries.py. */
#ifndef SHIM_HANDLE_KINDS_H
#define SHIM_HANDLE_KINDS_H

enum shim_kind {
	SHIM_NO_KIND,"""

# Before the first kind of these.
MARKS = {
    'context': '\tSHIM_FIRST_CTX,\n\tSHIM_BEFORE_CTXS = SHIM_FIRST_CTX - 1,',
    'part': '\tSHIM_NUM_KINDS, /* with a pool */',
}


EXTERNAL = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* external_libraries.h - libraries of other projects that do the work of ours. Written by gen_libraries.py. */

/* X(file, what is lacking without it, package of Debian) */
#define SHIM_EXTERNAL_LIBRARIES(X) \\"""


def external():
    users = {}
    for name, library in libraries.read_all().items():
        for entry in library['external']:
            users.setdefault((entry['file'], entry['lack'], entry['package']), []).append(f'doca_{name}')
    return [EXTERNAL, *(f'\tX("{file}", "{lack.format(" and ".join(names))}", "{package}") \\'
                        for (file, lack, package), names in users.items()), '']


def kinds():
    lines = [KINDS]
    for what in libraries.IS:
        lines += [MARKS[what]] if what in MARKS else []
        lines += [f'\tSHIM_{entry["kind"]},' for library in libraries.read_all().values()
                  for entry in library['objects'] if entry['kind'] and entry['is'] == what]
    return [*lines, '};', '', '#endif']


def main():
    what, output = sys.argv[1:]
    pathlib.Path(output).write_text('\n'.join({'kinds': kinds, 'external': external}[what]()) + '\n')


if __name__ == '__main__':
    main()
