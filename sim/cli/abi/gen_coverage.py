# SPDX-License-Identifier: BSD-3-Clause
"""For each public function: the tests whose sources name it, and the sentences of doc/compatibility.md about it.

    gen_coverage.py OUTPUT DEPFILE TOP

OUTPUT is C: the table of coverage.h, sorted by name. DEPFILE names the files that it was made from.
"""
import collections
import pathlib
import re
import sys

# A call, or a pointer to the function, as in a table of functions; not in a comment or a text.
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
USE = re.compile(r'\b(doca_[a-z0-9_]+)\b')
NAME = re.compile(r'`(doca_[a-z0-9_]+)(?:\(\))?`')
SUITES = ('api', 'workq', 'multi', 'faults', 'check', 'apps', 'unit', 'soak', 'releases')


def read_tests(top, sources):
    """{function: sorted paths below tests/}"""
    found = collections.defaultdict(set)
    for suite in SUITES:
        folder = top / 'tests' / suite
        # A folder's time changes with a file that is new, or gone.
        sources += [folder, *filter(pathlib.Path.is_dir, folder.rglob('*'))]
        for path in sorted(folder.rglob('*.[ch]')):
            sources.append(path)
            code = NOT_CODE.sub(' ', path.read_text(encoding='utf-8', errors='replace'))
            for name in USE.findall(code):
                found[name].add(str(path.relative_to(top / 'tests')))
    return found


def plain(text):
    return ' '.join(text.replace('`', '').replace('|', ' ').split())


def read_differences(top, sources):
    """{function: text}: items of lists and rows of tables that name it."""
    path = top / 'doc' / 'compatibility.md'
    sources.append(path)
    items, found = [], {}
    for line in path.read_text(encoding='utf-8').splitlines():
        if line.startswith(('- ', '| ')):
            items.append(line[2:])
        elif line.startswith('  ') and items:
            items[-1] += ' ' + line
        else:
            items.append('')
    for item in items:
        for name in NAME.findall(item):
            if not item.startswith('lib'):  # rows about a whole library
                found.setdefault(name, plain(item))
    return found


def literal(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


def main():
    output, depfile, top = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    sources = []
    tests, differences = read_tests(top, sources), read_differences(top, sources)
    with open(output, 'w', encoding='utf-8') as out:
        out.write('/* Written by gen_coverage.py. */\n#include "sim/cli/abi/coverage.h"\n\n'
                  'const struct cli_coverage_note cli_coverage_notes[] = {\n')
        names = sorted(set(tests) | set(differences))
        for name in names:
            difference = literal(differences[name]) if name in differences else 'NULL'
            out.write(f'\t{{{literal(name)}, {len(tests[name])}, {literal(" ".join(sorted(tests[name])))}, {difference}}},\n')
        out.write(f'}};\nconst size_t cli_num_coverage_notes = {len(names)};\n')
    with open(depfile, 'w', encoding='utf-8') as out:
        out.write(f'{output}: ' + ' '.join(map(str, sources)) + '\n')


main()
