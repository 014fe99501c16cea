#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Gateways under conditions that are no program's doing: another machine lies, a process ends at the wrong moment.

    test_gateway_faults.py BFSIM RDMA_MACHINES TOPOLOGY LYING_GATEWAY [TEST...]      TOPOLOGY has the machines node0, node1, node2
"""
import os
import select
import signal
import subprocess
import sys
import time

import machines

LYING_GATEWAY = None
NUM_LIES = 5
REJOIN_LIMIT_S = 10 # from the time at which the network is back


def writes_to(a, b, text):
    """A task from @a to @b."""
    a.do('write', 0, text)
    machines.says('\n'.join(a.do('until', 0)), 'done')
    b.expect('show', 0, len(text), gives=[text])


def is_joined(world, number):
    return world.machines[0].machine_states()[f'node{number}'] == 'joined'


class Liar:
    """A machine that is none: another one's name, and tests/hostile/lying_gateway.c."""

    def __init__(self, world, number, *options):
        """A program of the machine exports before, so that there are details to connect with."""
        real = world.program(number)
        real.do('export', f'{world.folder}/real')
        world.machines[number].bfsim_run('down')
        machines.becomes_true(lambda: not is_joined(world, number), 'the machine has left')
        self.process = subprocess.Popen([*world.machines[number].prefix, LYING_GATEWAY, f'10.0.{number}.1', '7447', world.token, f'node{number}', *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.says('joined')
        machines.becomes_true(lambda: is_joined(world, number), 'the liar has joined')

    def says(self, expected):
        if not select.select([self.process.stdout], [], [], machines.DEADLINE_S)[0]:
            raise AssertionError(f'the liar does not say {expected}')
        line = b''
        while not line.endswith(b'\n'):
            byte = self.process.stdout.read(1)
            assert byte, f'the liar has ended, and did not say {expected}'
            line += byte
        assert line.decode() == expected + '\n', f'{line} in place of {expected}'

    def answer(self):
        self.process.stdin.write(b'\n')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def test_a_machine_that_lies_about_its_memory_harms_nobody(world):
    world.start()
    with Liar(world, 1) as liar:
        gateway = world.machines[0].gateway_pid()
        for number in range(NUM_LIES):
            victim = world.program(0)
            victim.do('export', f'{world.folder}/victim')
            try:
                victim.do('connect', f'{world.folder}/real')
            except AssertionError as error: # refused
                print(f'# {error}'.splitlines()[0])
            liar.says('asked')
            if number < NUM_LIES - 1:
                liar.says('released')
            assert world.machines[0].gateway_pid() == gateway, f'lie {number} ended the gateway'
        writes_to(*world.pair(0, 2), 'hello')
        assert world.machines[0].gateway_pid() == gateway and is_joined(world, 1)


def asks(world, liar):
    program = world.program(0)
    program.do('export', f'{world.folder}/victim')
    program.tell('connect', f'{world.folder}/real')
    liar.says('asked')
    return program


def kill(world, program):
    """And wait until home's daemon knows."""
    program.process.kill()
    program.process.wait()
    machines.becomes_true(lambda: all(one['pid'] != program.process.pid for one in world.machines[0].status()['processes']),
                          'the program has ended')


def test_an_answer_for_a_process_that_has_ended_is_released(world):
    world.start()
    with Liar(world, 1, 'late') as liar:
        kill(world, asks(world, liar))
        liar.answer()
        liar.says('released')


def test_an_answer_for_a_process_that_has_ended_serves_another_one(world):
    world.start()
    with Liar(world, 1, 'late') as liar:
        first, second = asks(world, liar), asks(world, liar)
        kill(world, first)
        liar.answer()
        liar.answer()
        liar.says('released') # the second handle of the same key
        liar.says('asked')    # for the memory
        liar.answer()
        assert second.answer() == []


def have_joined(world, *pairs):
    """Each machine of a pair of numbers says that the other one has joined."""
    return all(world.machines[one].machine_states()[f'node{other}'] == 'joined' for a, b in pairs for one, other in ((a, b), (b, a)))


def test_a_gateway_that_is_ended_alone_ends_no_session(world):
    world.start()
    home = world.machines[0]
    ended = home.gateway_pid()
    os.kill(ended, signal.SIGTERM)
    machines.becomes_true(lambda: home.gateway_pid() not in (0, ended) and have_joined(world, (0, 1), (0, 2)), 'all have joined again')
    writes_to(*world.pair(0, 2), 'hello')


def test_a_gateway_that_comes_back_tries_until_home_takes_it(world):
    """It finds no way to home, and then home may not have noticed that an earlier one is gone."""
    world.start()
    node = world.machines[1]
    killed = node.gateway_pid()
    machines.cut_cable(1)
    os.kill(killed, signal.SIGKILL)
    machines.becomes_true(lambda: node.gateway_pid() not in (0, killed), 'there is another gateway')
    second = node.gateway_pid()
    machines.becomes_true(lambda: node.machine_states()['node0'] == 'expected', 'it shows that home is not there')
    machines.cut_cable(1, False)
    begin = time.monotonic()
    machines.becomes_true(lambda: have_joined(world, (0, 1), (1, 2)), 'node1 has joined again')
    assert time.monotonic() - begin < REJOIN_LIMIT_S, f'that took {time.monotonic() - begin:.1f} s'
    assert node.gateway_pid() == second, 'it was started more often'
    for machine in world.machines: # of a machine that is there, nobody says why it was lost
        assert not [one for one in machine.status()['machines']['list'] if 'why' in one and one.get('path') != 'through home'], machine.status()


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
