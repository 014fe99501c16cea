#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Direct links between machines that joined: how they come to be, when they can't, and what their ends do.

    test_direct.py BFSIM RDMA_MACHINES TOPOLOGY ROGUE_GATEWAY [TEST...]      TOPOLOGY has the machines node0, node1, node2

Machines 1 and 2 have a cable of their own: 10.0.12.1 and 10.0.12.2.
"""
import os
import random
import signal
import sys
import time

import machines
from machines import becomes_true, fails_in_time, says, shares_session

PORT = 7450
ROGUE = None


def link_of(world, number, other):
    """What machine @number says of its link to machine @other."""
    return world.machines[number].link_to(f'node{other}')


def path_of(world, number=1, other=2):
    return link_of(world, number, other).get('path')


def are_direct(world):
    return path_of(world, 1, 2) == path_of(world, 2, 1) == 'direct'


def has_traffic(world):
    """Both directions go over the link."""
    return all(link_of(world, *pair).get('sent_bytes', 0) > 100000 for pair in ((1, 2), (2, 1)))


def cut_side(is_cut=True):
    machines.run('ip', '-n', 'm1', 'link', 'set', 'side1', 'down' if is_cut else 'up')


def listen_at(number):
    return '--listen', f'10.0.12.{number}:{PORT}'


def start(world, first=(), second=(), options=()):
    world.up(*options)
    world.join(1, *options, *first)
    world.join(2, *options, *second)


def exchange(a, b):
    """Enough to be seen in the counters, in both directions, with every byte compared."""
    for one, other in ((a, b), (b, a)):
        one.do('fill', 524288, 250000)
        sums = one.do('sum', 524288, 250000)
        one.do('write_bytes', 0, 250000)
        one.do('until', 0)
        other.expect('sum', 0, 250000, gives=sums)
        other.do('receive', 100)
        one.do('send', 'a-message')
        one.do('until', 0)
        says('\n'.join(other.do('until', 0)), 'done: 9 bytes by SEND')


@shares_session
def test_a_pair_that_is_used_becomes_direct(world):
    """Messages and writes of both directions, from the first one on: each arrives once, in order, whichever way it takes."""
    assert path_of(world) == 'through home' and link_of(world, 1, 2)['why'] == 'no direct link was needed yet'
    a, b = world.pair(1, 2)
    number = 0
    while number < 10 or not are_direct(world):
        number += 1
        for one, other in ((a, b), (b, a)):
            other.do('receive', 100)
            one.do('writes', 8, 4096)
            one.do('send', f'number-{number}')
            lines = one.do('until', 0)
            assert [line.split()[0] for line in lines] == ['write'] * 8 + ['send'] and all('done' in line for line in lines), lines
            other.do('until', 0)
            other.expect('show', 0, len(f'number-{number}'), gives=[f'number-{number}'])
            exchange(one, other)
    becomes_true(lambda: has_traffic(world), 'data goes over the direct link')
    home = link_of(world, 0, 1)['received_bytes']
    exchange(a, b)
    assert link_of(world, 0, 1)['received_bytes'] - home < 100000, 'data goes by way of home'
    says(world.machines[1].bfsim_run('ps').stdout, f'machine node1, at port {PORT}')


def is_joined(world):
    return all(world.machines[one].machine_states()[f'node{other}'] == 'joined' for one in range(3) for other in range(3) if one != other)


def kill_gateway(world, number):
    """And wait until all have joined again."""
    machine = world.machines[number]
    killed = machine.gateway_pid()
    os.kill(killed, signal.SIGKILL)
    becomes_true(lambda: machine.gateway_pid() not in (0, killed), 'there is another gateway')
    becomes_true(lambda: is_joined(world), 'all have joined again')


@shares_session
def test_gateways_are_killed_while_a_pair_is_direct(world):
    for number in (2, 0):
        a, b = world.pair(1, 2)
        becomes_true(lambda: are_direct(world), 'the pair is direct')
        exchange(a, b)
        kill_gateway(world, number)
        fails_in_time(a, 'write', 0, 'after')
        fails_in_time(b, 'send', 'after')
        world.end_programs()
    exchange(*world.pair(2, 1))
    becomes_true(lambda: are_direct(world), 'the pair is direct again')


@shares_session
def test_faults_of_the_link_between_two_machines_act_on_a_direct_one(world):
    a, b = world.pair(1, 2)
    becomes_true(lambda: are_direct(world), 'the pair is direct')
    exchange(a, b)
    node, added = world.machines[1], time.monotonic()
    node.bfsim_run('fault', 'add', '--on', 'node1', 'machine.link side=node2 times=1 down=1s')
    took_s = 0
    while took_s < 0.5: # it begins a little later
        begin = time.monotonic()
        exchange(a, b)
        took_s = time.monotonic() - begin
        assert begin - added < machines.DEADLINE_S, 'the fault does not delay what goes over the link'
    assert are_direct(world)
    node.bfsim_run('fault', 'clear')
    node.bfsim_run('fault', 'add', '--on', 'node1', 'machine.link side=node2 times=1 kill')
    fails_in_time(a, 'write', 0, 'after')
    becomes_true(lambda: is_joined(world), 'they have joined again')
    exchange(*world.pair(1, 2))


@shares_session
def test_strangers_are_refused_though_they_have_the_token(world):
    """At the port of a machine that listens for direct links: the token alone, a nonce that home has not made, and what is no gateway."""
    a, b = world.pair(1, 2)
    becomes_true(lambda: are_direct(world), 'the pair is direct')
    attacks = {'no-nonce': 'the two machines do not have the same offer of home', 'own-nonce': 'the two machines do not have the same offer of home',
               'another-build': 'it runs another build', 'garbage': 'it is no gateway of bfsim'}
    for attack, words in attacks.items():
        before = world.machines[1].log().count(words)
        ended = machines.run(*world.machines[2].prefix, ROGUE, '10.0.12.1', str(PORT), world.token, 'node2', attack)
        assert ended.stdout == 'closed\n', (attack, ended)
        becomes_true(lambda said=words, count=before: world.machines[1].log().count(said) > count, f'node1 says that {words}')
    exchange(a, b)
    assert are_direct(world)


@shares_session
def test_a_direct_link_that_breaks_fails_connections_and_home_takes_over(world):
    a, b = world.pair(1, 2)
    becomes_true(lambda: are_direct(world), 'the pair is direct')
    exchange(a, b)
    bystanders = world.pair(1, 0)
    cut_side()
    try:
        fails_in_time(a, 'write', 0, 'after')
        fails_in_time(b, 'send', 'after')
        assert is_joined(world)
        exchange(*world.pair(1, 2))
        for pair in ((1, 2), (2, 1)):
            says(link_of(world, *pair)['why'], 'the direct link has broken')
            assert path_of(world, *pair) == 'through home'
        exchange(*bystanders)
    finally:
        cut_side(False)


def is_long(test):
    """A test that waits for seconds, many times: ci/hostile runs it, or BFSIM_HOSTILE_ROUNDS=1."""
    test.is_long = True
    return test


@is_long
def test_a_network_that_drops_all_leaves_the_pair_to_home(world):
    """As a firewall does: nobody answers."""
    start(world, listen_at(1))
    machines.run('ip', *'-n m1 route add blackhole 10.0.12.2/32'.split())
    try:
        a, b = world.pair(1, 2)
        exchange(a, b)
        becomes_true(lambda: 'it did not answer within five seconds' in link_of(world, 2, 1)['why'], 'node2 says why')
        exchange(a, b)
        assert path_of(world) == 'through home'
    finally:
        machines.run('ip', *'-n m1 route del blackhole 10.0.12.2/32'.split())


def kill_something(world, b, rng):
    """Returns what, and how it is mended."""
    name = rng.choice(['application', 'gateway of home', 'gateway of node1', 'gateway of node2', 'direct cable', 'cable of node2'])
    if name == 'application':
        b.process.kill()
    elif name == 'direct cable':
        cut_side()
    elif name == 'cable of node2':
        machines.cut_cable(2)
    else:
        os.kill(world.machines[{'home': 0, 'node1': 1, 'node2': 2}[name.split()[-1]]].gateway_pid(), signal.SIGKILL)
    return name


def ends_in_time(program):
    """A task, well or not."""
    begin = time.monotonic()
    program.do('write', 0, 'after')
    program.do('until', 0)
    machines.within_limit(begin)


@is_long
def test_anything_is_killed_while_a_pair_becomes_direct(world):
    rounds = int(os.environ.get('BFSIM_HOSTILE_ROUNDS', 1))
    seed = int(os.environ.get('BFSIM_HOSTILE_SEED', time.time_ns() % 1000000))
    rng = random.Random(seed)
    print(f'# BFSIM_HOSTILE_SEED={seed}', flush=True)
    world.start()
    for number in range(rounds):
        try:
            a, b = world.pair(*rng.choice([(1, 2), (2, 1)]))
            for _ in range(rng.randrange(4)):
                exchange(a, b)
            a.do('writes', 16, 4096)
            name = kill_something(world, b, rng)
            if name == 'direct cable': # of which the pair may have no need, or no more
                ends_in_time(a)
                ends_in_time(b)
            else:
                fails_in_time(a, 'write', 0, 'after')
            if name not in ('application', 'direct cable'):
                fails_in_time(b, 'write', 0, 'after')
            world.end_programs()
            cut_side(False)
            machines.cut_cable(2, False)
            becomes_true(lambda: is_joined(world), 'all have joined again')
            exchange(*world.pair(1, 2))
            world.end_programs()
        except Exception as error:
            raise AssertionError(f'round {number}, the {name} was killed') from error


def test_why_a_pair_is_not_direct_is_said(world):
    """Nobody listens; or there is no way to the listener, as through a NAT: home passes on what they say."""
    start(world)
    exchange(*world.pair(1, 2))
    becomes_true(lambda: 'neither machine listens' in link_of(world, 1, 2)['why'], 'that is why')
    world.end_programs()
    world.machines[1].bfsim_run('down')
    world.join(1, '--listen', str(PORT)) # at the address that home sees
    a, b = world.pair(2, 1)
    exchange(a, b)
    becomes_true(lambda: f'cannot connect to 10.0.1.2, port {PORT}: ' in link_of(world, 2, 1)['why'], 'node2 says why')
    becomes_true(lambda: f'node2 cannot connect to 10.0.1.2, port {PORT}: ' in link_of(world, 1, 2)['why'], 'node1 says why')
    exchange(a, b)
    assert path_of(world) == path_of(world, 2, 1) == 'through home'
    says(world.machines[2].bfsim_run('ps').stdout, 'cannot connect to 10.0.1.2')


def connect_nat():
    """A namespace between machines 1 and 2 (10.2.N.1 is it, 10.2.N.2 is machine N)."""
    machines.run('ip', 'netns', 'add', 'nat')
    for number in (1, 2):
        machines.run('ip', *f'link add nat{number} netns nat type veth peer name nat netns m{number}'.split())
        machines.run('ip', *f'-n nat addr add 10.2.{number}.1/24 dev nat{number}'.split())
        machines.run('ip', *f'-n nat link set nat{number} up'.split())
        machines.run('ip', *f'-n m{number} addr add 10.2.{number}.2/24 dev nat'.split())
        machines.run('ip', *f'-n m{number} link set nat up'.split())


def test_a_machine_behind_a_nat_says_where_others_reach_it(world):
    """The NAT forwards another port than that of the machine, which nobody reaches by its own address."""
    connect_nat()
    cut_side()
    with machines.forward(['nsenter', '--net=/run/netns/nat'], '10.2.2.1', 7999, '10.2.1.2', PORT) as forwarder:
        try:
            start(world, ('--listen', f'10.2.1.2:{PORT}', '--advertise', '10.2.2.1:7999'))
            a, b = world.pair(2, 1)
            exchange(a, b)
            becomes_true(lambda: are_direct(world), 'the pair is direct')
            exchange(a, b)
            becomes_true(lambda: has_traffic(world), 'data goes over the direct link')
        finally:
            forwarder.kill()
            machines.run('ip', 'netns', 'del', 'nat')
            cut_side(False)


def test_what_is_no_address_to_advertise_is_refused(world):
    world.up()
    says(world.join(1, '--listen', '0', '--advertise', 'name:7999', check=False).stderr, '--advertise: write PORT or ADDRESS:PORT')
    says(world.join(1, '--listen', '0', '--advertise', '0', check=False).stderr, '--advertise: write PORT or ADDRESS:PORT')
    says(world.join(1, '--advertise', '7999', check=False).stderr, '--advertise needs --listen')
    world.join(1, '--listen', '0', '--advertise', '7999') # at the address that home sees
    world.join(2)
    world.pair(2, 1)
    becomes_true(lambda: 'cannot connect to 10.0.1.2, port 7999: ' in link_of(world, 2, 1)['why'], 'node2 was told that')


def test_a_pair_of_a_trusted_network_tries_both_ways(world):
    """node1 can't be reached where home sees it, and node2 can."""
    start(world, ('--listen', '0'), listen_at(2), ('--trusted-network',))
    a, b = world.pair(2, 1)
    becomes_true(lambda: are_direct(world), 'the pair is direct')
    exchange(a, b)
    becomes_true(lambda: has_traffic(world), 'data goes over the direct link')


class ThreeMachines(machines.World):
    def __init__(self, bfsim, topology):
        super().__init__(bfsim, topology, 3)

    def start(self, *options):
        start(self, listen_at(1), (), options)


if __name__ == '__main__':
    machines.enter_namespaces()
    machines.connect_machines(3)
    machines.connect_pair()
    ROGUE = sys.argv[4]
    all_tests = [value for name, value in list(globals().items()) if name.startswith('test_')]
    if not os.environ.get('BFSIM_HOSTILE_ROUNDS'):
        all_tests = [test for test in all_tests if not getattr(test, 'is_long', False) or test.__name__ in sys.argv[5:]]
    sys.exit(machines.main(all_tests, ThreeMachines, *sys.argv[1:4], only=sys.argv[5:]))
