#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that a test provokes each error that the public reference names, or says why it can't.

    check_errors.py FACTS TEST-SOURCE...
    check_errors.py FACTS --declared ABI-FACTS TEST-SOURCE...

Tests say it in comments, next to the code that does it:

    /* provokes: doca_mmap_start DOCA_ERROR_NOT_PERMITTED */
    /* unreachable: doca_dev_open DOCA_ERROR_NOT_CONNECTED: a simulated function always answers */

FACTS (data/errors.json of this folder, or of tests/workq) has the codes by header and function, and may list those
of whose codes nothing is known; with ABI-FACTS (tests/abi), it must have each function of its headers in one place or
the other. Reported are codes without a comment, comments about
functions or codes that FACTS lacks, the same code called provoked and unreachable, a reason that is missing, and a
"provokes" in a file whose code, without its comments, does not name the function and the code.
"""
import json
import pathlib
import re
import sys

PREFIX = 'DOCA_ERROR_'
MARKER = re.compile(r'\b(provokes|unreachable):\s+(\w+)\s+(\w+)(:?)[ \t]*((?:(?!\*/)[^\n])*)')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.DOTALL)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# What api_util.h calls a code.
SPELLINGS = {PREFIX + 'INVALID_VALUE': ('assert_invalid',), PREFIX + 'NO_MEMORY': ('api_fail_each_allocation',)}


class Source:
    def __init__(self, path):
        text = path.read_text()
        self.path = path
        self.markers = [(kind, (function, code), reason.strip() if colon else '')
                        for kind, function, code, colon, reason in MARKER.findall(text)]
        helpers = [path.parent / name for name in INCLUDE.findall(text)]
        self.words = words(text).union(*(words(helper.read_text()) for helper in helpers if helper.exists()))

    def can_provoke(self, function, code):
        """Whether its code, or that of its helpers, names both."""
        return function in self.words and any(word in self.words for word in (code, *SPELLINGS.get(code, ())))


def words(text):
    return set(re.findall(r'\w+', COMMENT.sub(' ', text)))


def complaints(wanted, sources):
    provoked, unreachable = set(), set()
    for source in sources:
        for kind, pair, reason in source.markers:
            (provoked if kind == 'provokes' else unreachable).add(pair)
            if pair not in wanted:
                yield f'{source.path.name}: {kind} {" ".join(pair)}, which the reference does not name'
            if kind == 'unreachable' and not reason:
                yield f'{source.path.name}: no reason why {" ".join(pair)} is unreachable'
            if kind == 'provokes' and not source.can_provoke(*pair):
                yield f'{source.path.name}: {" ".join(pair)} is in a comment, but not in the code'
    for pair in sorted(provoked & unreachable):
        yield f'{" ".join(pair)} is provoked and unreachable at once'
    for pair in sorted(wanted - provoked - unreachable):
        yield f'{" ".join(pair)} is neither provoked nor said to be unreachable'


def undecided(facts, declared):
    """Functions of the headers that FACTS speaks of, and doesn't have."""
    known = {name for part in ('headers', 'unknown') for names in facts.get(part, {}).values() for name in names}
    headers = {*facts['headers'], *facts.get('unknown', {})}
    for name, function in sorted(declared.items()):
        if function['header'] in headers and function['ret'] == 'doca_error_t' and name not in known:
            yield f'{name} of {function["header"]} is neither among the headers nor unknown'
    for name in sorted(known - set(declared)):
        yield f'{name} is no function'


def main():
    args = sys.argv[1:]
    declared_path = args.pop(args.index('--declared') + 1) if '--declared' in args else None
    facts_path, *source_paths = (pathlib.Path(arg) for arg in args if arg != '--declared')
    facts = json.loads(facts_path.read_text())
    headers = facts['headers']
    wanted = {(function, PREFIX + code) for functions in headers.values() for function, codes in functions.items()
              for code in codes}
    found = list(complaints(wanted, [Source(path) for path in source_paths]))
    if declared_path:
        found += undecided(facts, json.loads(pathlib.Path(declared_path).read_text())['functions'])
    print('\n'.join(found) or f'{len(wanted)} errors of {len(headers)} headers are accounted for')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
