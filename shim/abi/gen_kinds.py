#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write handle_kinds.h, the kinds of handles, from the libraries' descriptions.

    gen_kinds.py OUTPUT

The kinds stand in the order of libraries.IS, so that a comparison says what a handle is (shim/common/base/object.h).
"""
import pathlib
import sys

import libraries

HEAD = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* handle_kinds.h - the kinds of handles. Written by gen_kinds.py. */
#ifndef SHIM_HANDLE_KINDS_H
#define SHIM_HANDLE_KINDS_H

enum shim_kind {
	SHIM_NO_KIND,"""

# Before the first kind of these.
MARKS = {
    'context': '\tSHIM_FIRST_CTX,\n\tSHIM_BEFORE_CTXS = SHIM_FIRST_CTX - 1,',
    'part': '\tSHIM_NUM_KINDS, /* with a pool */',
}


def main():
    lines = [HEAD]
    for what in libraries.IS:
        lines += [MARKS[what]] if what in MARKS else []
        lines += [f'\tSHIM_{entry["kind"]},' for library in libraries.read_all().values()
                  for entry in library['objects'] if entry['kind'] and entry['is'] == what]
    pathlib.Path(sys.argv[1]).write_text('\n'.join([*lines, '};', '', '#endif', '']))


if __name__ == '__main__':
    main()
