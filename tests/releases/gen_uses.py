#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write a program that holds the address of every symbol a release has in some libraries.

    gen_uses.py RELEASES RELEASE OUTPUT.c LIBRARY...

Linked with the stubs of that release, it starts only where every one of them is found.
"""
import pathlib
import sys

import gen_stub


def main():
    releases, release, output, *libraries = sys.argv[1:]
    names = sorted(name for library in libraries for name in gen_stub.read(releases, release, library))
    lines = [f'void {name}(void);' for name in names]
    lines += ['void (*const volatile uses[])(void) = {', *(f'\t{name},' for name in names), '};', '',
              'int main(void)', '{', '\tfor (unsigned i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {',
              '\t\tif (!uses[i])', '\t\t\treturn 1;', '\t}', '\treturn 0;', '}', '']
    pathlib.Path(output).write_text('\n'.join(lines))


if __name__ == '__main__':
    main()
