#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compare the list of the vendor's modules with the interface facts, with the headers of all generations, and with documents.

    check_modules.py ABI-DIR INCLUDE-DIR...

ABI-DIR has libraries.py, modules.txt, releases.txt, facts*.json.
"""
import collections
import json
import pathlib
import re
import sys

UMBRELLAS = ['doca', 'doca-libs']
ROW = re.compile(r'[a-z0-9-]+ \d\.\d+-\d\.\d+ [a-z0-9_,-]+ [a-z0-9_,-]+')


def number(release):
    return [int(part) for part in release.split('.')]


def read_modules(abi):
    """Module -> its releases, libraries and headers; and what is wrong with their form."""
    sys.path.append(str(abi))
    import libraries  # pylint: disable=import-outside-toplevel
    modules, problems = {}, []
    for line in libraries.for_shell(abi / 'modules.txt'):
        if not ROW.fullmatch(line):
            problems.append(f'not a module with its releases, libraries and headers: {line}')
            continue
        module, releases, names, headers = line.split()
        first, last = (number(release) for release in releases.split('-'))
        if not number('1.5') <= first <= last <= number('3.3'):
            problems.append(f'{module}: no such releases: {releases}')
        modules[module] = {'first': first, 'last': last,
                           'libraries': [f'libdoca_{name}' for name in names.split(',') if name != '-'],
                           'headers': [f'doca_{name}.h' for name in headers.split(',') if name != '-']}
    return modules, problems


def repeated(modules, key):
    counts = collections.Counter(name for entry in modules.values() for name in entry[key])
    return [f'{name} belongs to two modules' for name, count in counts.items() if count > 1]


def releases_of_libraries(path):
    """Library -> release -> whether it is known to have a function, to have none (None: not known)."""
    lines = path.read_text().splitlines()
    releases = next(line for line in lines if line.startswith('# library symbol')).split()[3:]
    table = collections.defaultdict(lambda: collections.defaultdict(set))
    for library, _, *cells in (line.split() for line in lines if line and line[0] != '#'):
        for release, cell in zip(releases, cells):
            table[library][release].add(cell[0])
    return {library: {release: True if cells & set('DEB') else None if '?' in cells else False
                      for release, cells in row.items()} for library, row in table.items()}


def check_releases(modules, table):
    for library, row in table.items():
        entry = next((entry for entry in modules.values() if library in entry['libraries']), None)
        if not entry:
            yield f'no module has {library}, which releases.txt lists'
            continue
        for release, has in row.items():
            listed = entry['first'] <= number(release) <= entry['last']
            if has is not None and has != listed:
                yield f'{library}: {"in" if has else "not in"} {release} by releases.txt'


def check_facts(modules, facts, name):
    of_header = {header: entry for entry in modules.values() for header in entry['headers']}
    for header in facts['headers']:
        if header not in of_header:
            yield f'no module has {header} of {name}'
    for library, entry in facts['libraries'].items():
        for function in entry['symbols']:
            header = facts['functions'][function]['header']
            if header in of_header and library not in of_header[header]['libraries']:
                yield f'{header} belongs to {library} by {name} ({function})'
    for module in facts.get('pkg_config', ()):
        plain = module.removeprefix('doca-').removesuffix('-lib')
        if module not in UMBRELLAS and plain not in modules:
            yield f'{module} of {name} is not listed'


def check_documents(abi):
    """Each library of ours has its row."""
    import libraries  # pylint: disable=import-outside-toplevel
    for document, spelling in (('README.md', r'^\|.*\b{}\b'), ('doc/compatibility.md', r'^\| libdoca_{}\b')):
        text = (abi.parent.parent / document).read_text()
        for name in libraries.read_all():
            if not re.search(spelling.format(name), text, re.MULTILINE):
                yield f'{document}: no row of a table is about {name}'


def check_folder(modules, folder):
    known = {header for entry in modules.values() for header in entry['headers']}
    for path in sorted(folder.glob('doca_*.h')):
        if path.name not in known:
            yield f'no module has {path.name}, which is in {folder}: it would not be installed'


def main():
    abi, *folders = (pathlib.Path(argument) for argument in sys.argv[1:])
    modules, found = read_modules(abi)
    found += repeated(modules, 'libraries') + repeated(modules, 'headers')
    found += check_releases(modules, releases_of_libraries(abi / 'releases.txt'))
    for name in ('facts.json', 'facts-workq.json', 'facts-task-2.5.json'):
        found += check_facts(modules, json.loads((abi / name).read_text()), name)
    found += check_documents(abi)
    for folder in folders:
        found += check_folder(modules, folder)
    print('\n'.join(found) or f'{len(modules)} modules as expected')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
