#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A link between switches that is down, on the way from one machine of a session to another.

    test_trunk.py BFSIM RDMA_MACHINES TOPOLOGY [TEST...]       TOPOLOGY: node2 is behind the trunk leaf0/leaf1, and node0, node1 are not
"""
import json
import sys

import machines
from machines import shares_session

DOWN = 'net.link device=leaf1/leaf0 down=1000s'
PORT = 999


def trunk_states(world):
    """What each machine says of the trunk."""
    shown = [json.loads(machine.bfsim_run('devs', '--json').stdout) for machine in world.machines]
    return [one['state'] for devs in shown for one in devs['network']['links'] if (one['from'], one['to']) == ('leaf0', 'leaf1')]


def take_down(world, number):
    """By a command on that machine."""
    world.machines[number].bfsim_run('fault', 'add', DOWN)
    machines.becomes_true(lambda: trunk_states(world) == ['down'] * 3, 'the trunk is down')


def bring_up(world):
    world.machines[0].bfsim_run('fault', 'clear')
    assert trunk_states(world) == ['up'] * 3, trunk_states(world)


def all_done(lines, count):
    assert len(lines) == count and all(' done' in line for line in lines), lines


def stays_pending(program, count):
    """While others work, on a connection that needs no trunk."""
    for _ in range(10):
        program.expect('pending', gives=[str(count)])


@shares_session
def test_requests_of_both_machines_wait_for_the_trunk(world):
    a, b = world.pair(0, 2)
    c, d = world.pair(0, 1)
    b.do('receive', 100)
    a.do('receive', 100)
    take_down(world, 1) # which has no part in it
    for one, other in ((a, b), (b, a)):
        one.do('write', 0, 'hello')
        one.do('send', 'hello') # from the same memory
        stays_pending(one, 3)
        other.expect('show', 0, 5, gives=[''])
    c.do('write', 0, 'hello')
    all_done(c.do('until', 0), 1)
    d.expect('show', 0, 5, gives=['hello'])
    stays_pending(a, 3)
    bring_up(world)
    b.tell('until', 0)
    all_done(a.do('until', 0), 3)
    all_done(b.answer(), 3)
    for one in (a, b):
        one.expect('show', 0, 5, gives=['hello'])


@shares_session
def test_requests_fail_while_the_trunk_stays_down(world):
    a, b = world.pair(0, 2)
    take_down(world, 2)
    machines.fails_in_time(a, 'write', 0, 'hello')
    machines.fails_in_time(b, 'send', 'message')
    bring_up(world)
    a, _ = world.pair(0, 2)
    a.do('write', 0, 'hello')
    all_done(a.do('until', 0), 1)


@shares_session
def test_a_trunk_is_up_again_by_itself(world):
    a, b = world.pair(2, 1)
    world.machines[0].bfsim_run('link', 'down', 'leaf0/leaf1', '--net', '--for', '300ms')
    for one in (a, b):
        one.do('write', 0, 'hello')
        all_done(one.do('until', 0), 1)
    machines.becomes_true(lambda: trunk_states(world) == ['up'] * 3, 'the trunk is up')
    world.machines[0].bfsim_run('fault', 'clear')


@shares_session
def test_a_connect_to_an_address_waits_for_the_trunk(world):
    a, b = world.program(0, 'host', 'patient'), world.program(2)
    b.do('listen', PORT)
    b.tell('state')
    take_down(world, 0)
    a.do('dial', '192.0.2.13', PORT)
    stays_pending(a, 0) # a connect is no task; the program is progressed
    bring_up(world)
    a.expect('state', gives=['established'])
    assert b.answer() == ['established']


class ThreeMachines(machines.World):
    def __init__(self, bfsim, topology):
        super().__init__(bfsim, topology, 3)


if __name__ == '__main__':
    machines.enter_namespaces()
    machines.connect_machines(3)
    all_tests = [value for name, value in list(globals().items()) if name.startswith('test_')]
    sys.exit(machines.main(all_tests, ThreeMachines, *sys.argv[1:4], only=sys.argv[4:]))
