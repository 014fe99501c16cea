#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the headers of device code declare what the facts say, and nothing less in the libraries of device code.

    check_dpa_dev.py FACTS LIBRARY,... INCLUDE-DIR,... COMPILER...

A function of the facts is inline in its header, or one of the libraries has it.
"""
import json
import subprocess
import sys

from compilers import Syntax
from gen_decls import header_source

OPTIONS = ['-std=c11', '-ffreestanding', '-funsigned-char', '-DDOCA_ALLOW_EXPERIMENTAL_API', '-Wno-deprecated-declarations']


def missing_functions(facts, libraries):
    listed = subprocess.run(['nm', '--defined-only', *libraries], check=True, capture_output=True, text=True).stdout
    defined = {line.split()[2] for line in listed.splitlines() if line.count(' ') >= 2 and line.split()[1] == 'T'}
    return [f'no library of device code has {name}()' for name, entry in facts['functions'].items()
            if not entry['inline'] and name not in defined]


def main():
    path, libraries, folders, *compiler = sys.argv[1:]
    with open(path) as file:
        facts = json.load(file)
    command = [*compiler, *OPTIONS, *('-I' + folder for folder in folders.split(','))]
    with Syntax() as syntax:
        syntax.add(command, {f'{header.removesuffix(".h")}.c': header_source(facts, header, 'c') for header in facts['headers']})
        errors = syntax.errors()
    errors += missing_functions(facts, libraries.split(','))
    print('\n'.join(errors) or f'{len(facts["functions"])} functions of {len(facts["headers"])} headers')
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main())
