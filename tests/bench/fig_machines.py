#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figure: writes between two machines, which are network namespaces, against bare libfabric with the same provider.

    fig_machines.py BFSIM MACHINES_END RAIL TOPOLOGY [PROVIDER]

Each row has medians of rounds in which the two take turns, and the median of the rounds' ratios. Exit status 0: all rows were
measured, at any speed.
"""
import json
import os
import statistics
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'multi'))
import machines  # pylint: disable=wrong-import-position

ROUNDS = 15
SMALL = 64
BIG = 1 << 20
MANY = 1000
NODES = 64
PORT = 7448


class Speaker:
    """A program that answers each line by a line."""

    def __init__(self, command, ready):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.expect(ready)

    def expect(self, wanted):
        line = self.process.stdout.readline().strip()
        if line != wanted:
            raise RuntimeError(f'{self.process.args}: {line!r} in place of {wanted!r}')

    def ask(self, *words):
        self.process.stdin.write(' '.join(str(word) for word in words) + '\n')
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def time(self, *words):
        return int(self.ask('time', *words))

    def close(self):
        self.process.kill()
        self.process.wait()


class Rail:
    """Bare libfabric from machine 0 to machine 1."""

    def __init__(self, world, program, provider):
        there = world.machines[1].prefix
        self.server = Speaker([*there, program, 'listen', provider, '10.0.1.2', str(PORT)], 'listens')
        self.client = Speaker([program, 'connect', provider, '10.0.1.2', str(PORT)], 'connected')
        self.server.expect('connected')
        self.mode = 'sleep'

    def use(self, mode):
        self.mode = mode
        if self.client.ask(mode) != 'ok':
            raise RuntimeError('the baseline does not work')

    def time(self, count, size, depth):
        """The server polls for the time of this call alone: it takes a CPU."""
        self.server.ask(self.mode)
        time_ns = self.client.time(count, size, depth)
        self.server.ask('sleep')
        return time_ns

    def pids(self):
        return [self.client.process.pid, self.server.process.pid]

    def close(self):
        self.client.close()
        self.server.close()


class Ends:
    """Programs of two machines with so many connections."""

    def __init__(self, world, program, count=1, first=0):
        self.machines = world.machines[first:first + 2]
        self.ends = [Speaker(machine.command('exec', '--session', machine.session, '--on', f'{machine.name}/host', '--', program, str(count)), 'ok')
                     for machine in self.machines]
        files = [f'{world.folder}/end{i}' for i in range(2)]
        for end, file in zip(self.ends, files):
            self.ok(end.ask('export', file))
        for end, file in zip(self.ends, reversed(files)):
            self.ok(end.ask('connect', file))

    @staticmethod
    def ok(answer):
        if answer != 'ok':
            raise RuntimeError('a program does not work')

    def use(self, mode):
        self.ok(self.ends[0].ask(mode))

    def time(self, count, size, depth, first=0, num=1):
        return self.ends[0].time(count, size, depth, first, num)

    def pids(self):
        """Of the gateways, and of the program that writes: bfsim exec has become it."""
        return [self.ends[0].process.pid, *(machine.gateway_pid() for machine in self.machines)]

    def close(self):
        for end in self.ends:
            end.close()


def cpu_ns(pids):
    """The time that the processes have had a CPU."""
    total = 0
    for pid in pids:
        for thread in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{thread}/schedstat', encoding='ascii') as file:
                total += int(file.read().split()[0])
    return total


def cpu_of(one, count, size):
    """The CPU time of a write, of all processes that take part, none of which polls."""
    def measure():
        pids = one.pids()
        before = cpu_ns(pids)
        one.time(count, size, 1)
        return (cpu_ns(pids) - before) / count
    return measure


def compare(name, ours, baseline, goal):
    """Measure in turns. A goal below 0 is a difference in ns."""
    pairs = [(ours(), baseline()) for _ in range(ROUNDS + 1)][1:] # the first one warms up
    mine, other = (statistics.median(side) for side in zip(*pairs))
    ratio = statistics.median(a / b for a, b in pairs)
    print(json.dumps({'figure': 'machines', 'row': name, 'ns': round(mine), 'baseline_ns': round(other), 'ratio': round(ratio, 3),
                      'difference_ns': round(statistics.median(a - b for a, b in pairs)), 'goal': goal}), flush=True)


def write_topology(path, count):
    with open(path, 'w', encoding='utf-8') as file:
        file.write('cards:\n')
        for i in range(count):
            file.write(f'  - name: node{i}\n    profile: bluefield-3\n    functions:\n'
                       f'      - {{side: node{i}/dpu, type: pf, pci: "03:00.0"}}\n      - {{side: node{i}/host, type: pf, pci: "b1:00.0"}}\n')


def join_many(bfsim):
    """The daemons and gateways of many machines, all of them here: from the first join to the last."""
    world = machines.World(bfsim, '', NODES)
    try:
        world.topology = f'{world.folder}/nodes.yaml'
        write_topology(world.topology, NODES)
        home = world.machines[0]
        world.up(listen='7450')
        begin = time.monotonic()
        joins = []
        for machine in world.machines[1:]:
            machine.prefix = []
            joins.append(subprocess.Popen(machine.command('join', '--session', machine.session, '127.0.0.1:7450', '--as', machine.name,
                                                          '--token-file', world.token), stdout=subprocess.DEVNULL))
        if any(join.wait() != 0 for join in joins):
            raise RuntimeError('a machine did not join')
        home.bfsim_run('wait', *(machine.name for machine in world.machines[1:]))
        took_s = time.monotonic() - begin
        print(json.dumps({'figure': 'machines', 'row': f'{NODES} machines join', 'seconds': round(took_s, 2), 'goal': '5 s'}), flush=True)
    finally:
        world.close()


def measure_rdm(world_class, bfsim, end, rail, topology, provider):
    """A provider without connected endpoints, against bare libfabric with the same, and against tcp's connected ones."""
    tcp, rdm = world_class(bfsim, topology, 2), world_class(bfsim, topology, 2)
    bare = ends = None
    try:
        for world, port, fabric in ((tcp, '7447', 'tcp'), (rdm, '7449', provider)):
            options = ('--trusted-network', '--fabric', fabric)
            world.up(*options, listen=port)
            world.machines[1].bfsim_run('join', f'10.0.1.1:{port}', '--as', 'node1', '--token-file', world.token, *options)
        machines.becomes_true(lambda: rdm.machines[0].status()['machines']['list'][1].get('endpoint') == 'FI_EP_RDM', 'messages go without a connection')
        bare = Rail(rdm, rail, provider)
        ends = [Ends(rdm, end), Ends(tcp, end)]
        for mode in ('poll', 'sleep'):
            for one in (bare, *ends):
                one.use(mode)
            for row, other in ((f'write of 64 B by {provider}, both {mode}', bare), (f'the same, against tcp, both {mode}', ends[1])):
                compare(row, lambda: ends[0].time(1000, SMALL, 1), lambda other=other: other.time(1000, SMALL, 1), '')
        for row, other in ((f'write of 1 MiB by {provider}', bare), ('the same, against tcp', ends[1])):
            compare(row, lambda: ends[0].time(60, BIG, 1), lambda other=other: other.time(60, BIG, 1), '')
    finally:
        for one in (bare, *(ends or ()), tcp, rdm):
            if one:
                one.close()


def start_three(world_class, bfsim, port, first_options, *options):
    """Home, and two machines that join it."""
    world = world_class(bfsim, '', 3)
    world.topology = f'{world.folder}/nodes.yaml'
    write_topology(world.topology, 3)
    world.up(*options, listen=str(port))
    for machine in world.machines[1:]:
        machine.bfsim_run('join', f'10.0.{machine.number}.1:{port}', '--as', machine.name, '--token-file', world.token, *options,
                          *(first_options if machine.number == 1 else ()))
    return world


def measure_direct(world_class, bfsim, end):
    """Between two machines of which neither is home: directly, and through home."""
    for words, port, options in (('', 7460, ('--trusted-network',)), (', encrypted', 7470, ())):
        worlds = [start_three(world_class, bfsim, port, ('--listen', '10.0.12.1:7461'), *options), start_three(world_class, bfsim, port + 1, (), *options)]
        direct, through = (Ends(world, end, first=1) for world in worlds)
        try:
            machines.becomes_true(lambda node=worlds[0].machines[1]: node.link_to('node2').get('path') == 'direct', 'the pair is direct')
            for mode in ('poll', 'sleep'):
                direct.use(mode)
                through.use(mode)
                compare(f'64 B, direct against through home{words}, both {mode}', lambda: direct.time(500, SMALL, 1), lambda: through.time(500, SMALL, 1), '')
            compare(f'1 MiB, direct against through home{words}', lambda: direct.time(30, BIG, 1), lambda: through.time(30, BIG, 1), '')
        finally:
            for one in (direct, through, *worlds):
                one.close()


def measure(world_class, bfsim, end, rail, topology, provider):
    encrypted, plain = world_class(bfsim, topology, 2), world_class(bfsim, topology, 2)
    encrypted.start()
    plain.up('--trusted-network', listen='7449')
    plain.machines[1].bfsim_run('join', '10.0.1.1:7449', '--as', 'node1', '--token-file', plain.token, '--trusted-network')
    bare = Rail(plain, rail, provider)
    secret, clear, many = Ends(encrypted, end), Ends(plain, end), None
    try:
        for mode, goal in (('poll', 'ratio 1.4'), ('sleep', 'ratio 1.2')):
            for one in (bare, clear, secret):
                one.use(mode)
            compare(f'write of 64 B, both {mode}', lambda: clear.time(1000, SMALL, 1), lambda: bare.time(1000, SMALL, 1), goal)
            compare(f'the same, encrypted against plain, both {mode}', lambda: secret.time(1000, SMALL, 1), lambda: clear.time(1000, SMALL, 1),
                    'difference 3000 ns')
        for count, size, words in ((1000, SMALL, '64 B'), (60, BIG, '1 MiB')):
            compare(f'CPU of a write of {words}, all sleep', cpu_of(clear, count, size), cpu_of(bare, count, size), '')
            compare(f'the same, encrypted against plain, {words}', cpu_of(secret, count, size), cpu_of(clear, count, size), '')
        for one in (bare, clear, secret):
            one.use('poll')
        compare('64 B, 16 under way', lambda: clear.time(4000, SMALL, 16), lambda: bare.time(4000, SMALL, 16), '')
        for depth in (1, 4):
            compare(f'write of 1 MiB, {depth} under way', lambda d=depth: clear.time(60, BIG, d), lambda d=depth: bare.time(60, BIG, d), 'ratio 1.11')
            compare(f'the same, encrypted against plain, {depth} under way', lambda d=depth: secret.time(60, BIG, d),
                    lambda d=depth: clear.time(60, BIG, d), 'ratio 1.67')
        many = Ends(encrypted, end, MANY)
        compare('64 B on the last 100 of 1000 connections against the first', lambda: many.time(1000, SMALL, 1, MANY - 100, 100),
                lambda: many.time(1000, SMALL, 1, 0, 100), 'ratio 1.1')
        compare('64 B on 1000 connections in turns, encrypted, against one alone, plain', lambda: many.time(2000, SMALL, 1, 0, MANY),
                lambda: clear.time(1000, SMALL, 1), '')
    finally:
        for one in (bare, secret, clear, many, encrypted, plain):
            if one:
                one.close()


if __name__ == '__main__':
    machines.enter_namespaces()
    machines.connect_machines(3)
    machines.connect_pair()
    join_many(sys.argv[1])
    measure_rdm(machines.World, *sys.argv[1:5], 'tcp;ofi_rxm')
    measure_direct(machines.World, *sys.argv[1:3])
    measure(machines.World, *sys.argv[1:5], sys.argv[5] if len(sys.argv) > 5 else 'tcp')
