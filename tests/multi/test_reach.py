#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Commands on one machine of a session that act on another.

    test_reach.py BFSIM RDMA_MACHINES TOPOLOGY [TEST...]       TOPOLOGY has the machines node0, node1, node2
"""
import contextlib
import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import termios
import time

import machines
from machines import run, says, shares_session


def is_long(test):
    """A test that waits for seconds: ci/hostile runs it, or BFSIM_HOSTILE_ROUNDS=1."""
    test.is_long = True
    return test


def rules(machine):
    """The rules that a machine sees, by machine."""
    found = {}
    for rule in json.loads(machine.bfsim_run('fault', 'list', '--json').stdout):
        found.setdefault(rule['machine'], []).append(rule['rule'])
    return found


@contextlib.contextmanager
def environment(name, value):
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


@shares_session
def test_a_rule_goes_to_the_machine_whose_side_it_names(world):
    home, node1 = world.machines[0], world.machines[1]
    rule = 'rdma.write side=node1/host times=1 fail=IO_FAILED'
    assert home.bfsim_run('fault', 'add', rule).stdout == 'node1:1\n'
    assert rules(home) == {'node1': [rule]} == rules(node1)
    a, b = world.pair(1, 0)
    a.do('write', 0, 'hello')
    a.expect('until', 0, gives=['write 3 failed: DOCA_ERROR_IO_FAILED'])
    shown = node1.bfsim_run('fault', 'list').stdout.splitlines()
    assert shown[0].split() == ['MACHINE', 'ID', 'MATCHED', 'FIRED', 'RULE'], shown
    assert shown[1].split()[:4] == ['node1', '1', '1', '1'], shown
    b.process.kill()
    home.bfsim_run('fault', 'rm', 'node1:1')
    assert rules(node1) == {}


@shares_session
def test_a_rule_for_a_network_link_is_known_to_all(world):
    node2 = world.machines[2]
    rule = 'net.link side=node1/host device=b1:00.0 down=10s'
    node2.bfsim_run('fault', 'add', rule)
    assert rules(world.machines[0]) == {f'node{i}': ['net.link side=node1/host device=0000:b1:00.0 down=10s'] for i in range(3)}
    node2.bfsim_run('fault', 'clear')
    assert rules(node2) == {}


@is_long
@shares_session
def test_a_network_link_of_another_machine_is_taken_down(world):
    home = world.machines[0]
    a, _ = world.pair(0, 1)
    home.bfsim_run('link', 'down', 'b1:00.0', '--on', 'node1/host', '--net', '--for', '1000s')
    machines.fails_in_time(a, 'write', 0, 'hello')
    home.bfsim_run('fault', 'clear')


@shares_session
def test_a_function_of_another_machine_is_removed_and_added(world):
    home = world.machines[0]
    home.bfsim_run('function', 'remove', 'b1:00.0', '--on', 'node1')
    removed = home.bfsim_run('function', 'remove', 'b1:00.0', '--on', 'node1/host', check=False)
    says(removed.stderr, 'nothing was done')
    says(world.machines[1].bfsim_run('ps').stdout, 'removed')
    home.bfsim_run('function', 'add', 'b1:00.0', '--on', 'node1')
    home.bfsim_run('fault', 'clear')


@shares_session
def test_an_option_names_the_machine(world):
    home = world.machines[0]
    home.bfsim_run('fault', 'add', '--on', 'node2', 'alloc nth=1000 fail=NO_MEMORY', 'peer program=nobody kill')
    assert list(rules(home)) == ['node2']
    home.bfsim_run('fault', 'clear', '--on', 'node1')
    assert list(rules(home)) == ['node2']
    home.bfsim_run('fault', 'clear', '--on', 'node2/dpu')
    says(home.bfsim_run('fault', 'add', '--on', 'node7', 'peer kill', check=False).stderr, 'no such machine')
    says(home.bfsim_run('fault', 'rm', 'node2:99', check=False).stderr, 'there is no rule 99')
    assert rules(home) == {}


def has_no_gateway(machine):
    return machine.machine_states()['node2'] == 'unknown' and machine.gateway_pid() == 0


def test_a_command_says_that_the_gateway_of_this_machine_does_not_run(world):
    program = f'{world.folder}/bfsim-gateway' # ps has the program's name
    os.symlink(os.path.join(os.path.dirname(os.path.realpath(world.machines[0].bfsim)), 'bfsim-gateway'), program)
    with environment('BFSIM_GATEWAY', program):
        world.start()
    home = world.machines[0]
    ended = home.gateway_pid()
    assert ended
    os.rename(program, f'{program}-away')
    os.kill(ended, signal.SIGKILL)
    machines.becomes_true(lambda: has_no_gateway(home), 'the gateway is gone')
    for words in (['fault', 'add', '--on', 'node1', 'peer kill'], ['fault', 'rm', 'node1:1'], ['exec', '--on', 'node1/host', '--', 'true']):
        ended = home.bfsim_run(words[0], *words[1:], check=False)
        assert ended.returncode != 0, words
        says(ended.stderr, 'the gateway of this machine does not run, without which node1 is not reached')
        says(ended.stderr, 'bfsim wait node1')
    ended = home.bfsim_run('fault', 'add', 'alloc nth=1000 fail=NO_MEMORY')
    assert ended.stdout == 'node0:1\n', ended.stdout
    for number in (1, 2):
        says(ended.stderr, f'node{number} is not reached, as the gateway of this machine does not run: it does not get the change')
    says(home.bfsim_run('fault', 'list').stderr, 'its rules are left out')
    says(home.link_to('node1')['why'], 'the gateway of this machine ')
    says(home.bfsim_run('wait', '--left', '--timeout', '1', 'node1', check=False).stderr, 'has not left the session')
    os.rename(f'{program}-away', program)
    home.bfsim_run('wait', 'node1', 'node2')
    assert rules(home) == {'node0': ['alloc nth=1000 fail=NO_MEMORY']}


def test_an_outage_that_a_gateway_did_not_take_reaches_the_next(world):
    world.start()
    node1 = world.machines[1]
    ended = node1.gateway_pid()
    assert ended
    os.kill(ended, signal.SIGSTOP)
    node1.bfsim_run('fault', 'add', '--on', 'node1', 'machine.link side=node2 down=3600s')
    os.kill(ended, signal.SIGKILL)
    machines.becomes_true(lambda: node1.gateway_pid() not in (0, ended), 'there is another gateway')
    machines.becomes_true(lambda: 'a fault has taken the link down' in (node1.link_to('node2').get('why'), world.machines[2].link_to('node1').get('why')),
                          'they have lost each other')


# ---- machines ----

def time_of(a, *task):
    begin = time.monotonic()
    a.do(*task)
    lines = a.do('until', 0)
    assert len(lines) == 1 and lines[0].endswith(' done'), lines
    return time.monotonic() - begin


def write(a):
    """Returns how long it took."""
    return time_of(a, 'write', 0, 'hello')


def delays_a_write(a, others):
    """One write of @a, not the first perhaps, waits for a second and more; those of others do not wait for it."""
    end = time.monotonic() + machines.DEADLINE_S
    while write(a) < 1:
        assert time.monotonic() < end
    for other in others:
        write(other)


@shares_session
def test_a_link_between_two_machines_is_down_for_a_while(world):
    a, _ = world.pair(1, 2)
    other, _ = world.pair(1, 0)
    world.machines[0].bfsim_run('fault', 'add', '--on', 'node1', 'machine.link side=node2 times=1 down=1500ms')
    delays_a_write(a, [other])
    assert world.machines[1].machine_states()['node2'] == 'joined'
    world.machines[0].bfsim_run('fault', 'clear')


@is_long
@shares_session
def test_a_link_to_home_is_down_for_a_while(world):
    a, _ = world.pair(1, 0)
    other, _ = world.pair(2, 0)
    world.machines[2].bfsim_run('fault', 'add', '--on', 'node0', 'machine.link side=node1 times=1 down=1500ms')
    delays_a_write(a, [other])
    world.machines[0].bfsim_run('fault', 'clear')


def write_begins_to_wait(a):
    """Whether a write is not done at once; it stays under way then."""
    a.do('write', 0, 'hello')
    time.sleep(0.1)
    return a.do('pending') != ['0']


@is_long
@shares_session
def test_a_message_waits_for_machines_that_have_not_lost_each_other(world):
    a, b = world.pair(1, 0)
    other, _ = world.pair(1, 0)
    b.do('receive', 100)
    world.machines[0].bfsim_run('fault', 'add', '--on', 'node1', 'machine.link side=node0 times=1 down=4900ms')
    machines.becomes_true(lambda: write_begins_to_wait(other), 'the link is down')
    a.do('send', 'message')
    lines = a.do('until', 0)
    assert lines and all(line.endswith(' done') for line in lines), lines
    world.machines[0].bfsim_run('fault', 'clear')


@is_long
@shares_session
def test_machines_lose_each_other_while_their_link_is_down(world):
    for left, right in ((1, 2), (1, 0)):
        a, b = world.pair(left, right)
        write(a)
        world.machines[0].bfsim_run('fault', 'add', '--on', f'node{left}', f'machine.link side=node{right} times=1 down=10s')
        machines.fails_in_time(a, 'write', 0, 'hello')
        machines.fails_in_time(b, 'write', 0, 'hello')
        for one, other in ((left, right), (right, left)):
            assert world.machines[one].machine_states()[f'node{other}'] == 'lost'
        machines.becomes_true(lambda pair=(left, right): world.machines[pair[0]].machine_states()[f'node{pair[1]}'] == 'joined' and
                              world.machines[pair[1]].machine_states()[f'node{pair[0]}'] == 'joined', 'the machines have joined again')
        write(world.pair(left, right)[0])


@shares_session
def test_a_link_between_two_machines_breaks(world):
    for left, right in ((1, 2), (1, 0)):
        a, _ = world.pair(left, right)
        other, _ = world.pair(2, 0)
        world.machines[0].bfsim_run('fault', 'add', '--on', f'node{left}', f'machine.link side=node{right} times=1 kill')
        machines.fails_in_time(a, 'write', 0, 'hello')
        write(other)
        machines.becomes_true(lambda pair=(left, right): world.machines[pair[0]].machine_states()[f'node{pair[1]}'] == 'joined' and
                              world.machines[pair[1]].machine_states()[f'node{pair[0]}'] == 'joined', 'the machines have joined again')
        write(world.pair(left, right)[0])


def becomes_slow(a, least_s):
    """Writes of @a take so long, from one of the next on."""
    machines.becomes_true(lambda: write(a) >= least_s, 'writes are slow')


def check_slow_link(world):
    a, b = world.pair(1, 2)
    world.machines[0].bfsim_run('fault', 'add', '--on', 'node1', 'machine.link side=node2 delay=150ms')
    becomes_slow(a, 0.3) # there and back; the model's time passes meanwhile
    assert message(a, b) >= 0.15 # one way, of either end
    assert message(b, a) >= 0.15
    world.machines[0].bfsim_run('fault', 'clear')
    machines.becomes_true(lambda: write(a) < 0.3, 'the link is fast again')
    world.machines[0].bfsim_run('fault', 'add', '--on', 'node2', 'machine.link side=node1 rate=1M')
    machines.becomes_true(lambda: time_of(a, 'write_bytes', 0, 200000) >= 0.19, 'writes take the time of their bytes')
    assert time_of(a, 'write_bytes', 0, 100000) >= 0.09
    assert time_of(a, 'write_bytes', 0, 200000) >= 0.19
    world.machines[0].bfsim_run('fault', 'clear')
    return a, b


@shares_session
def test_a_link_between_two_machines_is_slow(world):
    check_slow_link(world)


def all_have_joined(world):
    machines.becomes_true(lambda: all(machine.machine_states()[f'node{i}'] in ('joined', 'this machine')
                                      for machine in world.machines for i in range(3)), 'all have joined again')


def check_delay(world):
    """Of 150 ms, between node1 and node2."""
    a, b = world.pair(1, 2)
    assert message(a, b) >= 0.15
    assert message(b, a) >= 0.15


@shares_session
def test_a_link_stays_slow_when_a_gateway_is_started_again(world):
    """That of the machine which has the rule, and the other one's. There are as many rules as a plan may have."""
    many = ['machine.link side=node2 delay=1ms'] * 70
    world.machines[0].bfsim_run('fault', 'add', '--on', 'node1', *many, 'machine.link side=node2 delay=150ms')
    for killed in (1, 2):
        pid = world.machines[killed].gateway_pid()
        os.kill(pid, signal.SIGKILL)
        machines.becomes_true(lambda number=killed, old=pid: world.machines[number].gateway_pid() not in (0, old), 'a new gateway runs')
        all_have_joined(world)
        check_delay(world)
    world.machines[0].bfsim_run('fault', 'clear')


@shares_session
def test_a_rule_that_begins_while_there_is_no_gateway_hits_when_there_is_one(world):
    node1 = world.machines[1]
    os.kill(node1.gateway_pid(), signal.SIGKILL)
    machines.becomes_true(lambda: node1.gateway_pid() == 0, 'the gateway is gone')
    node1.bfsim_run('fault', 'add', *['machine.link side=node2 delay=1ms'] * 10, 'machine.link side=node2 delay=150ms')
    all_have_joined(world)
    check_delay(world)
    matched = [line.split()[:4] for line in node1.bfsim_run('fault', 'list').stdout.splitlines()[1:]]
    assert len(matched) == 11 and all(words[2:] == ['1', '1'] for words in matched), matched
    world.machines[0].bfsim_run('fault', 'clear')


@is_long
@shares_session
def test_a_slow_link_loses_nobody(world):
    world.machines[0].bfsim_run('fault', 'add', '--on', 'node1', 'machine.link side=node0 delay=6s')
    a, b = world.program(1), world.program(0)
    for program, name in ((a, 'a'), (b, 'b')):
        program.do('export', f'{world.folder}/{name}')
    assert world.machines[0].machine_states()['node1'] == 'joined'
    time.sleep(6) # longer than a machine may be silent
    assert world.machines[0].machine_states()['node1'] == 'joined'
    world.machines[1].bfsim_run('fault', 'clear', '--on', 'node1')


@is_long
def test_a_machine_is_paused_and_killed_by_name(world):
    world.start()
    a, _ = world.pair(0, 1)
    other, _ = world.pair(0, 2)
    world.machines[2].bfsim_run('fault', 'add', 'machine side=node1 times=1 pause=1500ms')
    delays_a_write(a, [other])
    pid = world.machines[1].status()['pid']
    world.machines[2].bfsim_run('fault', 'add', 'machine side=node1 kill')
    machines.fails_in_time(a, 'write', 0, 'hello')
    write(other)
    machines.becomes_true(lambda: is_gone(pid), 'its daemon is gone')
    machines.becomes_true(lambda: world.machines[0].machine_states()['node1'] == 'lost', 'node1 is lost')
    says(world.machines[0].bfsim_run('fault', 'add', 'machine side=node7 kill', check=False).stderr, 'its machines are: node0, node1, node2')


@shares_session
def test_processes_of_all_machines_are_shown(world):
    a, b = world.pair(1, 0)
    for machine in world.machines:
        shown = machine.bfsim_run('ps').stdout
        rows = [line.split()[:4] for line in shown.splitlines()]
        for program, name in ((a, 'node1'), (b, 'node0')):
            found = [row for row in rows if row[:1] == [name] and row[2:] == [f'{name}/host', 'rdma_machines']]
            assert len(found) == 1, (program.name, shown)
        machines_of = {one['name']: one for one in json.loads(machine.bfsim_run('ps', '--json').stdout)['machines']['list']}
        for number in {0, 1, 2} - {machine.number}:
            programs = [process['program'] for process in machines_of[f'node{number}']['processes']]
            assert 'bfsim-gateway' in programs and ('rdma_machines' in programs) == (number < 2), programs
        assert 'processes' not in machines_of[machine.name]
        assert 'node1/host' not in machine.bfsim_run('ps', '--here').stdout or machine.number == 1


# ---- model time ----

def message(a, b):
    """Returns how long a message of @a to @b is on its way, at least."""
    b.do('receive', 100)
    begin = time.monotonic()
    a.do('send', 'message')
    lines = b.do('until', 0)
    assert len(lines) == 1 and lines[0].endswith('done: 7 bytes by SEND'), lines
    elapsed = time.monotonic() - begin
    a.do('until', 0)
    return elapsed


def due_error(world):
    """By how much a message may come early: the errors of both machines' clocks to home's, which have grown a little since."""
    known = [one['clock_error_ns'] for machine in world.machines[1:] for one in machine.status()['machines']['list'] if one['name'] == 'node0']
    assert len(known) == 2 and all(known), known
    return sum(known) / 1e9 + 0.001


def test_model_time_holds_between_machines(world):
    world.topology = os.path.join(os.path.dirname(world.topology), 'distant_nodes.yaml')
    world.up('--clock', 'timed')
    world.join(1)
    world.join(2)
    for left, right in ((0, 1), (2, 1)):
        a, b = world.pair(left, right)
        for one, other in ((a, b), (b, a)):
            error = due_error(world)
            assert message(one, other) > 0.08 - error, error
        assert write(a) > 0.16
        for program in (a, b):
            program.process.kill()
    home, node1 = world.machines[0], world.machines[1]
    machines.becomes_true(lambda: node1.status()['machines']['timed_messages'] >= 2, 'node1 has reported what came')
    says(node1.bfsim_run('ps').stdout, 'model time: ')
    check_slow_link(world)
    clocks = json.loads(home.bfsim_run('report', '--json').stdout)['machines']
    assert {one['name'] for one in clocks} == {'node1', 'node2'}
    for one in clocks:
        assert 0 < one['due_error_ns'] < 10**10, one
    says(home.bfsim_run('report').stdout, 'Error of due times, at most')


def together(initiators, *words):
    """All of them do the same at once. Returns how long it takes until the last one is done."""
    begin = time.monotonic()
    for one in initiators:
        one.tell(*words)
    for one in initiators:
        one.answer()
    for one in initiators:
        lines = one.do('until', 0)
        assert len(lines) == 1 and ' done' in lines[0], lines
    return time.monotonic() - begin


def check_shared_rate(world, topology):
    """200,000 bytes of each of two machines take a fifth of a second each on the link, one behind the other."""
    world.topology = os.path.join(os.path.dirname(world.topology), topology)
    world.up('--clock', 'timed')
    world.join(1)
    world.join(2)
    pairs = [world.pair(number, 0) for number in (1, 2)]
    initiators = [pair[0] for pair in pairs]
    assert together(initiators[:1], 'write_bytes', 0, 200000) >= 0.2
    for words in (('write_bytes', 0, 200000), ('read', 0, 200000)):
        assert together(initiators, *words) >= 0.4, words
    for _, target in pairs:
        target.do('receive', 200000)
    error = due_error(world)
    assert together(initiators, 'send_bytes', 200000) >= 0.4 - error, error


def test_machines_share_the_rate_of_a_port_in_model_time(world):
    check_shared_rate(world, 'busy_port.yaml')


def test_machines_share_the_rate_of_a_link_between_switches_in_model_time(world):
    check_shared_rate(world, 'busy_trunk.yaml')


# ---- traces ----

@shares_session
def test_one_trace_has_the_programs_of_all_machines(world):
    a, b = world.pair(1, 0)
    a.do('write', 0, 'hello')
    a.expect('until', 0, gives=['write 3 done'])
    b.do('receive', 100)
    a.do('send', 'message')
    a.do('until', 0)
    b.do('until', 0)
    for machine in (world.machines[0], world.machines[2]):
        trace = json.loads(machine.bfsim_run('trace').stdout)
        names = {event['args']['name'] for event in trace['traceEvents'] if event.get('name') == 'process_name'}
        assert {'node1/host: rdma_machines', 'node0/host: rdma_machines'} <= names, names
        others = {f'node{i}' for i in range(3)} - {machine.name}
        clocks = {one['name']: one for one in trace['otherData']['machines']}
        assert set(clocks) == others, clocks
        for clock in clocks.values(): # they have one clock in truth, as these machines are namespaces
            assert abs(clock['clock_ahead_ns']) <= clock['clock_error_ns'] < 10**9, clock
        report = json.loads(machine.bfsim_run('report', '--json').stdout)
        assert {one['name'] for one in report['machines']} == others
        assert {one['side'] for one in report['processes']} >= {'node0/host', 'node1/host'}
        counts = json.loads(machine.bfsim_run('stats', '--json').stdout)
        says(json.dumps(counts), 'node1/host')
        says(json.dumps(counts), 'node0/host')
    says(world.machines[2].bfsim_run('report').stdout, 'Error of its times, at most')
    says(world.machines[2].bfsim_run('top', '--once', '--interval', '0.05').stdout, 'node1/host')


@shares_session
def test_a_fault_of_another_machine_is_in_the_trace_with_its_rule(world):
    world.machines[0].bfsim_run('fault', 'add', 'rdma.write size=3 times=1 fail=IO_FAILED', 'rdma.write size=11 side=node1/host times=1 fail=IO_FAILED')
    a, _ = world.pair(1, 0)
    a.do('write', 0, 'abc')
    a.do('until', 0)
    report = json.loads(world.machines[0].bfsim_run('report', '--json').stdout)
    rules_of_report = {rule['id']: rule for rule in report['rules']}
    fault = report['faults'][-1]
    assert rules_of_report[fault['rule']]['text'] == 'rdma.write size=3 times=1 fail=IO_FAILED', report['rules']
    recording = f'{world.folder}/recording.bfsim'
    world.machines[2].bfsim_run('trace', '--output', recording)
    again = json.loads(run(world.machines[0].bfsim, 'report', '--json', recording).stdout)
    assert {one['name'] for one in again['machines']} == {'node0', 'node1'}
    replayed = run(world.machines[0].bfsim, 'fault', 'replay', recording, check=False)
    says(replayed.stdout, 'rdma.write side=node1/host program=rdma_machines size=3 nth=1 fail=IO_FAILED')
    world.machines[0].bfsim_run('fault', 'clear')


# ---- counts ----

def links_of(machine):
    return {link.pop('machine'): link for link in json.loads(machine.bfsim_run('stats', '--json').stdout)['links']}


@shares_session
def test_links_to_other_machines_are_counted(world):
    """They break, and are made anew; the counts go on."""
    node1 = world.machines[1]
    a, _ = world.pair(1, 0)
    before = links_of(node1)
    assert list(before) == ['node0'], before # what is for node2 goes through home
    a.do('write_bytes', 0, 100000)
    a.do('until', 0)
    machines.becomes_true(lambda: links_of(node1)['node0']['bytes_sent'] >= before['node0']['bytes_sent'] + 100000, 'the bytes are counted')
    counts = links_of(node1)['node0']
    assert counts['messages_sent'] > before['node0']['messages_sent'] and counts['broken'] == before['node0']['broken'], (before, counts)
    says(node1.bfsim_run('stats').stdout, 'LINK TO')
    metrics = node1.bfsim_run('stats', '--format', 'openmetrics').stdout
    for sample in ('bfsim_link_messages_total{machine="node1",to="node0",direction="received"} ',
                   'bfsim_link_bytes_total{machine="node1",to="node0",direction="sent"} ', 'bfsim_links_broken_total{machine="node1",to="node0"} '):
        says(metrics, sample)
    assert set(links_of(world.machines[0])) == {'node1', 'node2'}
    world.machines[0].bfsim_run('fault', 'add', '--on', 'node1', 'machine.link side=node0 times=1 kill')
    machines.becomes_true(lambda: links_of(node1).get('node0', counts)['broken'] == counts['broken'] + 1, 'the link has broken')
    all_have_joined(world)
    again = links_of(node1)['node0']
    assert all(again[key] >= counts[key] for key in counts), (counts, again)
    world.machines[0].bfsim_run('fault', 'clear')


# ---- programs ----

def exec_words(world, side, *command):
    return world.machines[0].command('exec', '--session', world.machines[0].session, '--on', side, '--', *command)


def execute(world, side, *command, **options):
    return subprocess.run(exec_words(world, side, *command), capture_output=True, text=True, check=False, timeout=machines.DEADLINE_S, **options)


def is_gone(pid):
    """Whether a process has ended, or is a zombie that nobody has waited for yet."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
            return file.read().rsplit(')', 1)[1].split()[0] == 'Z'
    except FileNotFoundError:
        return True


def parent_of(pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
        return int(file.read().rsplit(')', 1)[1].split()[1])


PARENT = 'setsid sleep 1000 & echo $!; sleep 1000 & echo $!; echo $$; wait' # with a child in a session of its own


class Execution:
    """PARENT on node1, started from node0."""

    def __init__(self, world):
        self.process = subprocess.Popen(exec_words(world, 'node1/host', 'sh', '-c', PARENT), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pids = [int(self.process.stdout.readline()) for _ in range(3)]

    def all_gone(self):
        machines.becomes_true(lambda: all(is_gone(pid) for pid in self.pids), 'no process is left')

    def ends(self):
        begin = time.monotonic()
        said = self.process.communicate(timeout=machines.DEADLINE_S)[1]
        machines.within_limit(begin)
        return self.process.returncode, said


@shares_session
def test_programs_run_on_another_machine(world):
    ran = execute(world, 'node1/host', 'sh', '-c', 'cat; echo $BFSIM_SIDE; echo complaint >&2; exit 7', input='some input\n')
    assert (ran.returncode, ran.stdout, ran.stderr) == (7, 'some input\nnode1/host\n', 'complaint\n'), ran
    assert execute(world, 'node1/host', 'pwd').stdout == '/\n'
    ran = execute(world, 'node1/host', 'sh', '-c', 'kill -KILL $$')
    assert ran.returncode == 128 + signal.SIGKILL, ran
    ran = execute(world, 'node1/host', 'no-such-program')
    assert ran.returncode == 127 and 'no-such-program' in ran.stderr, ran
    ran = execute(world, 'node1/other', 'true')
    assert ran.returncode == 2, ran
    ran = execute(world, 'node1/host', 'sh', '-c', 'echo $#', 'sh', *['x'] * 10000)
    assert ran.stdout == '10000\n', ran


@shares_session
def test_streams_are_passed_on_whole(world):
    data = ''.join(f'line {i}\n' for i in range(300000))
    ran = execute(world, 'node1/host', 'cat', input=data)
    assert ran.returncode == 0 and ran.stdout == data
    with subprocess.Popen(exec_words(world, 'node1/host', 'sh', '-c', 'exec seq 10000000'), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as head:
        assert head.stdout.readline() == b'1\n'
        head.stdout.close() # nobody reads the rest
        assert head.wait(timeout=machines.DEADLINE_S) == 128 + signal.SIGPIPE
    ran = execute(world, 'node1/host', 'true', input=data) # that nobody reads
    assert ran.returncode == 0, ran


@shares_session
def test_signals_are_passed_on(world):
    caught = 'trap "echo caught; exit 3" TERM; echo ready; while :; do sleep 0.01; done'
    with subprocess.Popen(exec_words(world, 'node1/host', 'sh', '-c', caught), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as ran:
        assert ran.stdout.readline() == 'ready\n'
        ran.send_signal(signal.SIGTERM)
        assert ran.stdout.readline() == 'caught\n'
        assert ran.wait(timeout=machines.DEADLINE_S) == 3


def reads_signal(world, ran, seen):
    """A signal reaches the program though one of its streams is full."""
    begin = time.monotonic()
    ran.send_signal(signal.SIGINT)
    machines.becomes_true(lambda: os.path.exists(seen), 'the program has got the signal')
    machines.within_limit(begin)


@shares_session
def test_a_signal_passes_input_that_the_program_does_not_read(world):
    seen = f'{world.folder}/seen-input'
    program = f'trap "touch {seen}; exit 3" INT; echo ready; while :; do sleep 0.01; done'
    with subprocess.Popen(exec_words(world, 'node1/host', 'sh', '-c', program), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as ran:
        assert ran.stdout.readline() == b'ready\n'
        os.set_blocking(ran.stdin.fileno(), False)
        full = time.monotonic()
        sent = 0
        while time.monotonic() - full < 0.3 and sent < 16 << 20: # until nothing is taken any more
            try:
                sent += os.write(ran.stdin.fileno(), bytes(65536))
                full = time.monotonic()
            except BlockingIOError:
                time.sleep(0.01)
        reads_signal(world, ran, seen)
        assert ran.wait(timeout=machines.DEADLINE_S) == 3
        with contextlib.suppress(BrokenPipeError):
            ran.stdin.close()


@shares_session
def test_a_signal_passes_output_that_nobody_reads(world):
    seen = f'{world.folder}/seen-output'
    program = f'trap "touch {seen}; exit 3" INT; while :; do echo 0123456789012345678901234567890123456789; done'
    with subprocess.Popen(exec_words(world, 'node1/host', 'bash', '-c', program), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as ran:
        assert ran.stdout.read(10) == b'0123456789'
        pipe = struct.pack('i', 0)
        last, same = -1, 0
        while same < 30: # until nothing comes any more
            count = struct.unpack('i', fcntl.ioctl(ran.stdout.fileno(), termios.FIONREAD, pipe))[0]
            last, same = count, same + 1 if count == last else 0
            time.sleep(0.01)
        reads_signal(world, ran, seen)
        ran.stdout.read()
        assert ran.wait(timeout=machines.DEADLINE_S) == 3


@shares_session
def test_nothing_is_left_when_the_command_is_killed(world):
    execution = Execution(world)
    execution.process.kill()
    execution.ends()
    execution.all_gone()


@shares_session
def test_nothing_is_left_when_the_program_ends(world):
    execution = Execution(world)
    os.kill(execution.pids[2], signal.SIGKILL)
    assert execution.ends()[0] == 128 + signal.SIGKILL
    execution.all_gone()


@shares_session
def test_nothing_is_left_when_the_helper_is_killed(world):
    for generations in (1, 2): # the worker; its supervisor
        execution = Execution(world)
        pid = execution.pids[2]
        for _ in range(generations):
            pid = parent_of(pid)
        os.kill(pid, signal.SIGKILL)
        status, said = execution.ends()
        assert status == 125, said
        execution.all_gone()


@is_long
@shares_session
def test_nothing_is_left_when_a_gateway_is_killed(world):
    for number in (0, 1):
        execution = Execution(world)
        os.kill(world.machines[number].gateway_pid(), signal.SIGKILL)
        status, said = execution.ends()
        assert status == 125, said
        execution.all_gone()
        machines.becomes_true(lambda: world.machines[0].machine_states()['node1'] == 'joined' and
                              world.machines[1].machine_states()['node0'] == 'joined', 'the machines have joined again')


@is_long
@shares_session
def test_nothing_is_left_when_the_cable_is_cut(world):
    execution = Execution(world)
    machines.cut_cable(1)
    try:
        status, said = execution.ends()
        assert status == 125, said
        says(said, 'node1 has not joined the session, or is lost')
        execution.all_gone()
    finally:
        machines.cut_cable(1, False)


def test_machines_that_have_not_joined_or_permit_nothing_are_named(world):
    world.up()
    world.join(1)
    home = world.machines[0]
    says(home.bfsim_run('fault', 'add', 'rdma.write side=node2/host fail=IO_FAILED', check=False).stderr, 'node2 has not joined')
    added = home.bfsim_run('fault', 'add', 'rdma.write times=1 fail=IO_FAILED')
    assert added.stdout == 'node0:1\nnode1:1\n', added
    says(added.stderr, 'node2 has not joined the session: it does not get')
    home.bfsim_run('fault', 'add', 'daemon after="rdma.write nth=1000" pause=1s', 'peer program=bfsim-gateway after="rdma.write nth=1000" kill')
    assert len(rules(home)['node0']) == 3 and len(rules(home)['node1']) == 1
    refused = execute(world, 'node1/host', 'true') # it was joined without --allow-exec
    assert refused.returncode == 125, refused
    says(refused.stderr, 'node1 does not let other machines start programs there: join it with bfsim join --allow-exec')
    assert execute(world, 'node0/host', 'echo', 'here').stdout == 'here\n'


class ThreeMachines(machines.World):
    def __init__(self, bfsim, topology):
        super().__init__(bfsim, topology, 3)

    def start(self, *options):
        super().start('--allow-exec', *options)


if __name__ == '__main__':
    machines.enter_namespaces()
    machines.connect_machines(3)
    runs_long = 'BFSIM_HOSTILE_ROUNDS' in os.environ or len(sys.argv) > 4
    all_tests = [value for name, value in list(globals().items()) if name.startswith('test_') and (runs_long or not hasattr(value, 'is_long'))]
    sys.exit(machines.main(all_tests, ThreeMachines, *sys.argv[1:4], only=sys.argv[4:]))
