#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Posted machines as topologies: what each lists must be what was posted.

    test_machines.py BFSIM LISTER MACHINES TOPOLOGY_MD       (TAP)

MACHINES has NAME.yaml, a topology, and NAME.posted, a line for each function:

    SIDE ADDRESS TYPE IBDEV IFACE REPRESENTOR

"?" is a value that was not posted, "-" one that does not exist, {0..9} a line for each number. Functions of one side, address and type
are in the order of the listing. Three views are compared: bfsim devs, bfsim caps, and LISTER, a program, on each side. The table of
defaults in TOPOLOGY_MD names a machine and such a line in each row: the line must have been posted, and be in every view.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

UNKNOWN = '?'
FIELDS = ('side', 'address', 'type', 'ibdev', 'iface', 'rep')
Line = collections.namedtuple('Line', FIELDS)


def run(*command, **kwargs):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **kwargs)
    assert done.returncode == 0, f'{command}: status {done.returncode}\n{done.stdout}{done.stderr}'
    return done.stdout


def full(address):
    return address if address.count(':') == 2 else '0000:' + address


def expand(text):
    match = re.search(r'\{(\d+)\.\.(\d+)\}', text)
    if not match:
        return [text]
    return [text[:match.start()] + str(i) + text[match.end():] for i in range(int(match[1]), int(match[2]) + 1)]


def parse_line(text):
    words = text.split()
    assert len(words) == len(FIELDS), f'not a line of {len(FIELDS)} words: {text}'
    return Line(words[0], full(words[1]), *words[2:])


def read_posted(path):
    """The lines of a file, whose first lines name the source."""
    lines = path.read_text(encoding='utf-8').splitlines()
    assert lines[0].startswith('# '), f'{path} does not begin with its source'
    return [parse_line(line) for text in lines if not text.startswith('#') for line in expand(text)]


def view_of_devs(bfsim, topology):
    cards = json.loads(run(bfsim, 'devs', '--json', '--topology', topology))['cards']
    functions = [function for card in cards for function in card['functions']]
    names = {(card['name'], rep['id']): rep['rep-iface'] for card in cards
             for function in card['functions'] for rep in function['represents']}
    found = []
    for card in cards:
        for function in card['functions']:
            rep = names.get((card['name'], function['id']))
            found.append(Line(function['side'], function['pci'], function['type'], function['ibdev'],
                              function['iface'] or '-', rep or '-'))
    assert len(found) == len(functions)
    return found


def view_of_caps(bfsim, topology):
    """It shows no interfaces of representors on the DPU."""
    return [Line(device['side'], device['pci'], device['pci_func_type'].lower(), device['ibdev_name'],
                 device.get('iface_name') or '-', UNKNOWN)
            for device in json.loads(run(bfsim, 'caps', '--json', '--list-devs', '--topology', topology))]


def view_of_program(bfsim, lister, topology, sides):
    """What LISTER prints on each side, with the representors that it finds; a side name may have slashes."""
    found, reps = [], collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        outputs = {side: os.path.join(folder, str(i)) for i, side in enumerate(sides)}
        options = [word for side in sides for word in ('-o', f"{side}='{lister}' >'{outputs[side]}'")]
        environment = dict(os.environ, XDG_RUNTIME_DIR=folder, TMPDIR=folder)
        run(bfsim, 'run', '--quiet', '--topology', topology, *options, env=environment, cwd=folder)
        for side in sides:
            for line in pathlib.Path(outputs[side]).read_text(encoding='utf-8').splitlines():
                kind, address, kind_of_function, *rest = line.split()
                if kind == 'dev':
                    found.append([side, address, kind_of_function, *rest[:2]])
                else:
                    reps[rest[1]].append(rest[0])
    assert all(len(names) == 1 for names in reps.values()), reps
    return found, {vuid: names[0] for vuid, names in reps.items()}


def with_representors(bfsim, topology, program):
    """The program's lines, with the representor that has the VUID of the function."""
    found, reps = program
    cards = json.loads(run(bfsim, 'devs', '--json', '--topology', topology))['cards']
    vuids = {(function['side'], function['ibdev']): function['vuid'] for card in cards for function in card['functions']}
    lines = [Line(*line, reps.pop(vuids[line[0], line[3]], '-')) for line in found]
    assert not reps, f'representors of no function: {reps}'
    return lines


def agrees(posted, line):
    return all(want in (UNKNOWN, got) or got == UNKNOWN for want, got in zip(posted, line))


def compare(posted, found, view):
    by_place = collections.defaultdict(list)
    for line in found:
        by_place[line[:3]].append(line)
    for want in posted:
        lines = by_place[want[:3]]
        assert lines, f'{view} lacks {" ".join(want)}'
        got = lines.pop(0)
        assert agrees(want, got), f'{view}: {" ".join(got)}\n posted: {" ".join(want)}'
    left = [' '.join(line) for lines in by_place.values() for line in lines]
    assert not left, f'{view} has what was not posted: {left}'


class Machine:
    def __init__(self, bfsim, lister, path):
        topology = str(path)
        self.posted = read_posted(path.with_suffix('.posted'))
        devs = view_of_devs(bfsim, topology)
        sides = list(dict.fromkeys(line.side for line in devs))
        program = view_of_program(bfsim, lister, topology, sides)
        self.views = {'bfsim devs': devs, 'bfsim caps': view_of_caps(bfsim, topology),
                      'the program': with_representors(bfsim, topology, program)}

    def check(self):
        for view, found in self.views.items():
            compare(self.posted, found, view)

    def check_row(self, row):
        assert any(all(want in (UNKNOWN, got) for want, got in zip(row, line)) for line in self.posted), \
            f'was not posted: {" ".join(row)}'
        for view, found in self.views.items():
            assert any(agrees(row, line) for line in found), f'{view} lacks {" ".join(row)}'


def rows_of_table(document):
    """(function, machine, line) for each row of the table of defaults."""
    text = document.read_text(encoding='utf-8')
    section = text[text.index('### Sources of the defaults'):].split('\n\n')
    table = next(part for part in section if part.startswith('|'))
    for row in table.splitlines()[2:]:
        function, machine, line, source = (cell.strip() for cell in row.strip('|').split('|'))
        assert source, f'no source: {row}'
        yield function, machine.strip('`'), parse_line(line.strip('`'))


def main():
    bfsim, lister = (os.path.realpath(program) for program in sys.argv[1:3])
    os.environ.pop('BFSIM_SESSION', None)
    machines, failed, number = {}, 0, 0

    def report(name, check):
        nonlocal failed, number
        number += 1
        try:
            check()
            print(f'ok {number} - {name}')
        except (AssertionError, KeyError, ValueError) as error:
            failed += 1
            print(f'not ok {number} - {name}')
            print('\n'.join('# ' + line for line in str(error).splitlines()))

    def load(path):
        machines[path.stem] = Machine(bfsim, lister, path)
        machines[path.stem].check()

    for path in sorted(pathlib.Path(sys.argv[3]).glob('*.yaml')):
        report(path.stem, lambda path=path: load(path))
    for function, machine, line in rows_of_table(pathlib.Path(sys.argv[4])):
        report(f'table: {function} ({machine})', lambda: machines[machine].check_row(line))
    print(f'1..{number}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
