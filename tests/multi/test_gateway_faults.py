#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Gateways under conditions that are no program's doing: another machine lies, a process ends at the wrong moment.

    test_gateway_faults.py BFSIM RDMA_MACHINES TOPOLOGY LYING_GATEWAY [TEST...]      TOPOLOGY has the machines node0, node1, node2
"""
import os
import subprocess
import sys

import machines

LYING_GATEWAY = None
NUM_LIES = 5


def writes_to(a, b, text):
    """A task from @a to @b."""
    a.do('write', 0, text)
    machines.says('\n'.join(a.do('until', 0)), 'done')
    b.expect('show', 0, len(text), gives=[text])


def is_joined(world, number):
    return world.machines[0].machine_states()[f'node{number}'] == 'joined'


def read_line(process, expected):
    line = process.stdout.readline()
    assert line == expected + '\n', f'"{line}" in place of {expected}'


def test_a_machine_that_lies_about_its_memory_harms_nobody(world):
    world.up()
    world.join(1)
    world.join(2)
    real = world.program(1)
    real.do('export', f'{world.folder}/real')
    world.machines[1].bfsim_run('down')
    machines.becomes_true(lambda: not is_joined(world, 1), 'node1 has left')
    gateway = world.machines[0].gateway_pid()
    liar = subprocess.Popen([*world.machines[1].prefix, LYING_GATEWAY, '10.0.1.1', '7447', world.token, 'node1'], stdout=subprocess.PIPE, text=True)
    try:
        read_line(liar, 'joined')
        machines.becomes_true(lambda: is_joined(world, 1), 'the liar has joined')
        for number in range(NUM_LIES):
            victim = world.program(0)
            victim.do('export', f'{world.folder}/victim')
            try:
                victim.do('connect', f'{world.folder}/real')
            except AssertionError as error: # refused
                print(f'# {error}'.splitlines()[0])
            read_line(liar, 'lied')
            assert world.machines[0].gateway_pid() == gateway, f'lie {number} ended the gateway'
        writes_to(*world.pair(0, 2), 'hello')
        assert world.machines[0].gateway_pid() == gateway and is_joined(world, 1)
    finally:
        liar.kill()
        liar.wait()


def test_a_name_that_no_machine_can_have_is_refused_by_the_gateway_too(world):
    gateway = os.path.join(os.path.dirname(os.path.realpath(world.machines[0].bfsim)), 'bfsim-gateway')
    ended = machines.run(gateway, '--as', 'n' * 300, '--token-file', world.token, '--join', '10.0.1.1:7447', '--fetch', check=False)
    assert ended.returncode == 1, ended
    machines.says(ended.stderr, 'is started by bfsimd')


class ThreeMachines(machines.World):
    def __init__(self, bfsim, topology):
        super().__init__(bfsim, topology, 3)


if __name__ == '__main__':
    machines.enter_namespaces()
    machines.connect_machines(3)
    LYING_GATEWAY = sys.argv[4]
    all_tests = [value for name, value in list(globals().items()) if name.startswith('test_')]
    sys.exit(machines.main(all_tests, ThreeMachines, *sys.argv[1:4], only=sys.argv[5:]))
