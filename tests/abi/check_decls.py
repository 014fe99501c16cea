#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the public headers declare what the facts say, in C11 and C++11, and that each is C++17 without a warning.

    check_decls.py FACTS INCLUDE-DIR HOST-DIR DPU-DIR --c COMPILER... [--cpp COMPILER...]

INCLUDE-DIR has the headers of a generation; HOST-DIR and DPU-DIR have the one header in which the trees differ, so the
DPU's tree is checked in one source.
"""
import argparse
import json
import sys

from compilers import Syntax
from gen_decls import header_source

STANDARDS = {'c': 'c11', 'cpp': 'c++11'}
ALLOW = '-DDOCA_ALLOW_EXPERIMENTAL_API'


def named(headers, language, text_of):
    return {f'{header.removesuffix(".h")}.{language}': text_of(header) for header in headers}


def add_language(syntax, facts, args, language, compiler):
    command = [*compiler, f'-std={STANDARDS[language]}', '-I' + args.include_dir]
    host = [*command, '-DABI_TREE_HOST', '-I' + args.host_dir]
    dpu = [*command, '-DABI_TREE_DPU', '-I' + args.dpu_dir]
    headers = facts['headers']
    declarations = named(headers, language, lambda header: header_source(facts, header, language))
    syntax.add(host, declarations)
    syntax.add([*host, ALLOW], declarations)
    all_headers = ''.join(f'#include <{header}>\n' for header in headers)
    syntax.add(dpu, {f'dpu.{language}': all_headers + header_source(facts, 'doca_build_config.h', language)})
    if language == 'cpp':
        syntax.add([*compiler, '-std=c++17', '-I' + args.include_dir, '-I' + args.host_dir],
                   named(headers, language, lambda header: f'#include <{header}>\n'))


def main():
    parser = argparse.ArgumentParser()
    for name in ('facts', 'include_dir', 'host_dir', 'dpu_dir'):
        parser.add_argument(name)
    for language in STANDARDS:
        parser.add_argument('--' + language, nargs='*', default=[])
    args = parser.parse_args()
    with open(args.facts) as file:
        facts = json.load(file)
    with Syntax() as syntax:
        for language in STANDARDS:
            if getattr(args, language):
                add_language(syntax, facts, args, language, getattr(args, language))
        errors = syntax.errors()
    print('\n'.join(errors) or f'{syntax.num_sources} sources of {len(facts["headers"])} headers')
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main())
