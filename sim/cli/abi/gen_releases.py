#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the table of releases.h as C, while bfsim is built.

    gen_releases.py OUTPUT RELEASES NOT-SIMULATED dpa-dev=FACTS task=FACTS [workq=FACTS] [task-2.5=FACTS] -- HEADER...

RELEASES is shim/abi/releases.txt, NOT-SIMULATED the list of shim/abi/gen_not_simulated.py. FACTS are the interface
facts of bfsim's libraries of a generation, shim/abi/facts*.json. Those of task-2.5 are of the libraries that differ from
task; the others are the same. Those of dpa-dev are of release 3.0's device code, whose functions the HEADERs declare.
"""
import json
import pathlib
import re
import sys

BFSIM_PROVIDERS = ['workq', 'task', 'task-2.5']  # behind the vendor's releases, in the order of enum cli_provider
DEVICE_LETTER = 'S' # a static library's
DEVICE_RELEASES = ['3.0', '3.1', '3.3'] # those of the facts; the later ones are assumed, as in RELEASES
DEVICE_FUNCTION = re.compile(r'\b(doca_dpa_dev_\w+)\(')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|^#.*?$', re.DOTALL | re.MULTILINE)
LIBRARY_OF_DEVICE_HEADER = {'comch_msgq': '_comm', 'devemu_pci': '_comm', 'rdma': '_comm', 'verbs': '_verbs'}
NODE_LETTER = {'DOCA_2': 'D', 'EXPERIMENTAL': 'E', '': 'B'}


def data_lines(path):
    return [line.split() for line in pathlib.Path(path).read_text().splitlines() if line and line[0] != '#']


class Symbol:
    def __init__(self, library, num_releases):
        self.library = library
        self.cells = ['-'] * (num_releases + len(BFSIM_PROVIDERS))
        self.not_simulated = 0


def read_releases(path):
    return {name: (library, cells) for library, name, *cells in data_lines(path)}


def read_libraries(facts_paths):
    found = {generation: json.loads(pathlib.Path(path).read_text())['libraries'] for generation, path in facts_paths.items()}
    if 'task-2.5' in found:
        found['task-2.5'] = found['task'] | found['task-2.5']
    return found


def read_release_names(path):
    heading = next(line for line in pathlib.Path(path).read_text().splitlines() if line.startswith('# library symbol '))
    return heading.split()[3:]


def device_symbols(facts_path, headers, release_names):
    """The functions of device code. Those that the facts lack are of younger releases."""
    known = json.loads(pathlib.Path(facts_path).read_text())['functions']
    found = {}
    for header in map(pathlib.Path, headers):
        library = 'libdoca_dpa_dev' + LIBRARY_OF_DEVICE_HEADER.get(header.stem.removeprefix('doca_dpa_dev_'), '')
        for name in DEVICE_FUNCTION.findall(COMMENT.sub('', header.read_text())):
            symbol = found.setdefault(name, Symbol(library, len(release_names)))
            symbol.cells[len(release_names) + BFSIM_PROVIDERS.index('task')] = DEVICE_LETTER
            for release in DEVICE_RELEASES if name in known else []:
                symbol.cells[release_names.index(release)] = DEVICE_LETTER
    return found


def table(releases_path, not_simulated_path, facts_paths, headers):
    releases = read_releases(releases_path)
    num = len(next(iter(releases.values()))[1])
    symbols = device_symbols(facts_paths.pop('dpa-dev'), headers, read_release_names(releases_path))
    for name, (library, cells) in releases.items():
        symbols[name] = Symbol(library, num)
        symbols[name].cells[:num] = cells
    for generation, libraries in read_libraries(facts_paths).items():
        for library, entry in libraries.items():
            for name, node in entry['symbols'].items():
                symbols.setdefault(name, Symbol(library, num)).cells[num + BFSIM_PROVIDERS.index(generation)] = NODE_LETTER[node]
    for generation, name in data_lines(not_simulated_path):
        if name not in symbols:
            sys.exit(f'{name} is listed as not simulated, but no library has it')
        provider = 'task' if generation == 'dpa-dev' else generation
        symbols[name].not_simulated |= 1 << (num + BFSIM_PROVIDERS.index(provider))
        if generation == 'task':
            symbols[name].not_simulated |= 1 << (num + BFSIM_PROVIDERS.index('task-2.5'))
    return symbols


def row(name, symbol):
    nodes = ''.join(cell[0] for cell in symbol.cells)
    changed = sum(1 << i for i, cell in enumerate(symbol.cells) if cell.endswith('*'))
    return f'\t{{"{name}", "{symbol.library}", "{nodes}", {changed:#x}, {symbol.not_simulated:#x}}},'


def main():
    words, headers = sys.argv[1:sys.argv.index('--')], sys.argv[sys.argv.index('--') + 1:]
    output, releases, not_simulated, *facts = words
    symbols = table(releases, not_simulated, dict(fact.split('=', 1) for fact in facts), headers)
    lines = ['/* Written by gen_releases.py. */', '#include "sim/cli/abi/releases.h"', '',
             'const struct cli_symbol cli_symbols[] = {', *(row(name, symbols[name]) for name in sorted(symbols)),
             '};', 'const size_t cli_num_symbols = sizeof(cli_symbols) / sizeof(cli_symbols[0]);']
    pathlib.Path(output).write_text('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()
