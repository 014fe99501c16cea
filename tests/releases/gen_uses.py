#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write a program with the address of every symbol that a release has in some libraries.

    gen_uses.py [--without PATTERN] RELEASES RELEASE OUTPUT.c LIBRARY...

The program is linked with the stubs of that release and starts only if every symbol is found. Symbols that match
PATTERN are left out.
"""
import argparse
import pathlib
import re

import make_stubs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--without', default='$')
    for name in ('releases', 'release', 'output'):
        parser.add_argument(name)
    parser.add_argument('libraries', nargs='+')
    args = parser.parse_args()
    symbols = make_stubs.read(args.releases, args.release)
    names = sorted(name for library in args.libraries for name in symbols[library]
                   if not re.match(args.without, name))
    lines = [f'void {name}(void);' for name in names]
    lines += ['void (*const volatile uses[])(void) = {', *(f'\t{name},' for name in names), '};', '',
              'int main(void)', '{', '\tfor (unsigned i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {',
              '\t\tif (!uses[i])', '\t\t\treturn 1;', '\t}', '\treturn 0;', '}', '']
    pathlib.Path(args.output).write_text('\n'.join(lines))


if __name__ == '__main__':
    main()
