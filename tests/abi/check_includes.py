#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that a source of any release gets by its includes what the headers of that release bring in.

    check_includes.py FACTS INCLUDE-DIR SIDE-DIR --c COMPILER... [--cpp COMPILER...]

For each release of the facts and each of its headers, a source includes that header alone. It uses every name of the
headers that the release's header includes, directly or through others, and something of each system header. Sources of
several releases that would be equal are checked once. Each is checked as C99, C11, C++11 and C++20.
"""
import argparse
import json
import sys

from compilers import Syntax

STANDARDS = {'c': ['c99', 'c11'], 'cpp': ['c++11', 'c++20']}

# What a source does with a system header; infiniband/verbs.h and rdma/rdma_cma.h are optional, linux/types.h comes with the C library.
SYSTEM = {
    'arpa/inet.h': 'unsigned use_inet(void);\nunsigned use_inet(void) { return htons(1) + htonl(1u); }',
    'assert.h': 'void use_assert(void);\nvoid use_assert(void) { assert(1); }',
    'infiniband/verbs.h': '',
    'inttypes.h': 'extern const char use_inttypes[];\nconst char use_inttypes[] = "%" PRIu64;',
    'linux/types.h': 'extern __be32 use_be32;',
    'rdma/rdma_cma.h': '',
    'stdarg.h': 'void use_stdarg(va_list list);',
    'stdbool.h': 'bool use_stdbool(void);\nbool use_stdbool(void) { return true; }',
    'stddef.h': 'size_t use_stddef(void *);\nsize_t use_stddef(void *p) { return p == NULL; }',
    'stdint.h': 'uint64_t use_stdint(void);\nuint64_t use_stdint(void) { return UINT32_MAX; }',
    'stdio.h': 'int use_stdio(FILE *);\nint use_stdio(FILE *file) { return fprintf(file, "x"); }',
    'stdlib.h': 'void use_stdlib(void *);\nvoid use_stdlib(void *p) { free(p); exit(EXIT_FAILURE); }',
    'string.h': 'void use_string(void *);\nvoid use_string(void *p) { memset(p, 0, strlen("x")); }',
    'time.h': 'long use_time(struct timespec *);\nlong use_time(struct timespec *t) { return t->tv_sec + time(NULL); }',
}


def reachable(header, includes):
    """The header and all that it includes, directly or through others."""
    found, todo = [], [header]
    while todo:
        name = todo.pop()
        if name not in found:
            found.append(name)
            todo += includes.get(name, [])
    return sorted(found)


def uses_of(facts, headers):
    """Declarations and statements that need every name of the headers."""
    outside, inside = [], []
    for table, line in (('typedefs', 'extern {} *use_{};'), ('structs', 'extern char use_{1}[sizeof({0})];')):
        for name, entry in sorted(facts[table].items()):
            if entry['header'] in headers:
                outside.append(line.format(f"{entry['tag']} {name}" if table == 'structs' else name, name))
    for name, entry in sorted(facts['functions'].items()):
        if entry['header'] in headers:
            inside.append(f'(void){name};')
    for _, entry in sorted(facts['enums'].items()):
        if entry['header'] in headers:
            inside += [f'(void){name};' for name in sorted(entry['values'])]
    for name, entry in sorted(facts['macros'].items()):
        if entry['header'] in headers:
            inside.append(f'(void){name};')
    for header in headers:
        for name in facts['headers'].get(header, {}).get('macros', []):
            outside += [f'#ifndef {name}', f'#error "{name} is not defined"', '#endif']
    return outside, inside


def source(facts, releases, header, headers):
    outside, inside = uses_of(facts, headers)
    return '\n'.join([f'/* {header} of {", ".join(releases)} */', f'#include <{header}>', '',
                      *(SYSTEM[name] for name in headers if name not in facts['headers']), *outside,
                      'void use_all(void);', 'void use_all(void)', '{', *('\t' + line for line in inside), '}', ''])


def sources(facts):
    """Name -> text."""
    releases_of = {}
    for release, includes in facts['includes_by_release'].items():
        for header in includes:
            releases_of.setdefault((header, tuple(reachable(header, includes))), []).append(release)
    return {f'{header.removesuffix(".h")}_{releases[0].replace(".", "_")}': source(facts, releases, header, headers)
            for (header, headers), releases in releases_of.items()}


def main():
    parser = argparse.ArgumentParser()
    for name in ('facts', 'include_dir', 'side_dir'):
        parser.add_argument(name)
    for language in STANDARDS:
        parser.add_argument('--' + language, nargs='*', default=[])
    args = parser.parse_args()
    with open(args.facts) as file:
        texts = sources(json.load(file))
    with Syntax() as syntax:
        for language, standards in STANDARDS.items():
            compiler = getattr(args, language)
            for standard in standards if compiler else []:
                syntax.add([*compiler, f'-std={standard}', '-D_DEFAULT_SOURCE', '-DDOCA_ALLOW_EXPERIMENTAL_API',
                            '-I' + args.include_dir, '-I' + args.side_dir],
                           {f'{name}.{language}': text for name, text in texts.items()})
        errors = syntax.errors()
    print('\n'.join(errors) or f'{syntax.num_sources} sources of {len(texts)} headers and releases')
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main())
