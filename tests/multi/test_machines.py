#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A session over several machines, which are network namespaces: programs that know nothing of that.

    test_machines.py BFSIM RDMA_MACHINES TOPOLOGY [TEST...]       TOPOLOGY has the machines node0, node1, node2
"""
import os
import re
import signal
import subprocess
import sys
import time

import machines
from machines import fails_in_time, shares_session

WRONG = 'the two machines do not have the same token'


def work(a, b):
    """Every kind of task from @a to @b, and a message back."""
    a.do('write', 0, 'hello')
    a.expect('until', 0, gives=['write 3 done'])
    b.expect('show', 0, 5, gives=['hello'])
    a.do('read', 0, 5)
    a.expect('until', 0, gives=['read 5 done'])
    a.expect('result', gives=['hello'])
    for expected in ('5', '10'):
        a.do('add', 4096, 5)
        a.do('until', 0)
        b.expect('value', 4096, gives=[expected])
    a.do('swap', 4096, 10, 77)
    a.do('until', 0)
    b.expect('value', 4096, gives=['77'])
    a.do('swap', 4096, 10, 78)
    a.do('until', 0)
    b.expect('value', 4096, gives=['77'])
    b.do('receive', 100)
    a.do('send', 'a-message')
    a.do('until', 0)
    says_one(b.do('until', 0), 'done: 9 bytes by SEND')
    b.expect('show', 0, 9, gives=['a-message'])
    b.do('receive', 100)
    a.do('send_imm', 'immediate')
    a.do('until', 0)
    says_one(b.do('until', 0), 'done: 9 bytes by SEND_WITH_IMM')
    b.do('receive', 100)
    a.do('write_imm', 200, 'written')
    a.do('until', 0)
    says_one(b.do('until', 0), 'done: 7 bytes by WRITE_WITH_IMM')
    b.expect('show', 200, 7, gives=['written'])
    a.do('fill', 524288, 250000)
    sums = a.do('sum', 524288, 250000)
    a.do('write_bytes', 0, 250000)
    a.do('until', 0)
    b.expect('sum', 0, 250000, gives=sums)
    b.do('fill', 0, 10)
    b.do('receive', 250000)
    a.do('send_bytes', 250000)
    a.do('until', 0)
    b.do('until', 0)
    b.expect('sum', 0, 250000, gives=sums)
    a.do('receive', 100)
    b.do('send', 'back')
    b.do('until', 0)
    says_one(a.do('until', 0), 'done: 4 bytes by SEND')


def says_one(lines, part):
    machines.says('\n'.join(lines), part)


def test_a_trusted_network_carries_data_in_the_clear(world):
    world.start('--trusted-network')
    work(*world.pair())
    assert world.machines[0].status()['machines']['encryption'] == 'control alone'


def reasons(ended):
    assert ended.returncode != 0
    return ended.stderr.splitlines()


def test_one_reason_is_given_why_a_machine_is_none(world):
    provider = reasons(world.join(1, '--fabric', 'nosuch', check=False))
    assert len(provider) == 1 and "libfabric's provider nosuch cannot reach" in provider[0], provider
    home = world.machines[0]
    topology = reasons(home.bfsim_run('up', '--listen', '0', '--token-file', world.token, check=False))
    assert len(topology) == 1 and 'the topology has no machine node0' in topology[0], topology
    address = reasons(home.bfsim_run('up', '-t', world.topology, '--listen', '192.0.2.1:0', '--token-file', world.token, check=False))
    assert len(address) == 1 and 'cannot listen at 192.0.2.1' in address[0], address


@shares_session
def test_a_gateway_is_one_process(world):
    """To its daemon it is two peers, of which each may import and export."""
    a, b = world.pair()
    work(a, b)
    for machine in world.machines[:2]:
        status = machine.status()
        gateways = [one for one in status['processes'] if one['program'] == 'bfsim-gateway']
        assert len(gateways) == 1, status['processes']
        numbers = [one['peer'] for one in status['processes']]
        assert {one[end] for one in status['imports'] for end in ('importer', 'exporter')} <= set(numbers), status
    exported = sum(one['exports'] for one in world.machines[0].status()['processes'] if one['program'] == 'bfsim-gateway')
    assert exported > 0


@shares_session
def test_all_tasks_reach_another_machine(world):
    work(*world.pair())
    work(*reversed(world.pair(0, 1, ('dpu', 'host'))))


@shares_session
def test_kernels_of_two_machines_exchange(world):
    a, b = (world.program_of(os.environ['DPA_MACHINES'], number, side) for number, side in ((0, 'dpu'), (1, 'host')))
    for program, name in ((a, 'a'), (b, 'b')):
        program.do('export', f'{world.folder}/{name}')
    a.do('connect', f'{world.folder}/b')
    b.do('connect', f'{world.folder}/a')
    a.tell('exchange', 'of-a')
    b.tell('exchange', 'of-b')
    for program, other in ((a, 'of-b'), (b, 'of-a')):
        program.answer()
        program.do('check', other)
    for program in (a, b):
        program.do('close')


@shares_session
def test_machines_that_joined_reach_each_other_through_home(world):
    work(*world.pair(1, 2))


@shares_session
def test_connections_by_addresses_and_sync_events(world):
    a, b = world.program(0), world.program(1)
    b.do('export_memory', f'{world.folder}/memory')
    b.do('event', f'{world.folder}/event')
    b.do('listen', 999)
    b.tell('state')
    a.do('dial', '192.0.2.12', 999)
    a.expect('state', gives=['established'])
    assert b.answer() == ['established']
    a.do('import', f'{world.folder}/memory')
    a.do('write', 0, 'by-cm')
    a.do('until', 0)
    b.expect('show', 0, 5, gives=['by-cm'])
    a.do('event_import', f'{world.folder}/event')
    a.do('event_set', 42)
    a.do('until', 0)
    b.expect('event_value', gives=['42'])
    a.do('event_add', 8)
    a.do('until', 0)
    b.expect('event_value', gives=['50'])
    a.expect('value', 524288, gives=['42'])
    a.do('event_get')
    a.do('until', 0)
    a.expect('value', 524288, gives=['50'])
    b.tell('state')
    a.do('disconnect')
    a.expect('state', gives=['disconnected'])
    assert b.answer() == ['disconnected']
    a.do('dial', '192.0.2.12', 998) # nobody listens there
    a.expect('state', gives=['failed'])


@shares_session
def test_the_transport_dc_needs_no_connect_of_the_responder(world):
    a, b = world.program(0, 'host', 'dc'), world.program(1, 'host', 'dc')
    a.do('export', f'{world.folder}/a')
    b.do('export', f'{world.folder}/b')
    a.do('connect', f'{world.folder}/b')
    a.do('write', 0, 'hello')
    a.expect('until', 0, gives=['write 3 done'])
    b.expect('show', 0, 5, gives=['hello'])
    b.do('receive', 100)
    a.do('send', 'first')
    b.tell('until', 0) # the responder connects by itself, when it learns of the message
    says_one(a.do('until', 0), 'done')
    says_one(b.answer(), 'done: 5 bytes by SEND')
    b.expect('show', 0, 5, gives=['first'])


@shares_session
def test_a_second_requester_of_one_connection_is_refused(world):
    world.pair(0, 1)
    c = world.program(2)
    c.do('export', f'{world.folder}/c')
    c.do('connect', f'{world.folder}/b') # b is a's
    fails_in_time(c, 'send', 'stranger')


@shares_session
def test_a_responder_that_is_stopped_is_served(world):
    a, b = world.pair()
    os.kill(b.process.pid, signal.SIGSTOP)
    a.do('write', 0, 'asleep')
    says_one(a.do('until', 0), 'done')
    os.kill(b.process.pid, signal.SIGCONT)
    b.expect('show', 0, 6, gives=['asleep'])


def stop(program):
    """Stop the program, all of its threads."""
    pid = program.process.pid
    os.kill(pid, signal.SIGSTOP)

    def is_stopped():
        states = []
        for thread in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{thread}/stat', encoding='utf-8') as file:
                states.append(file.read().rsplit(')', 1)[1].split()[0])
        return all(state == 'T' for state in states)
    machines.becomes_true(is_stopped, f'{program.name} is stopped')


def go_on(pid):
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError: # its daemon has ended it
        pass


def slow_memory(world):
    """Two connected programs; the second one's memory is reached by its helper, so that a stop of the program stops the access."""
    world.up()
    os.environ['BFSIM_PATH'] = 'shm'
    try:
        world.join(1)
    finally:
        del os.environ['BFSIM_PATH']
    a, b = world.pair()
    a.do('write', 0, 'before')
    a.do('until', 0)
    return a, b


def test_a_submission_returns_while_the_memory_is_not_served(world):
    a, b = slow_memory(world)
    stop(b)
    try:
        a.do('writes', 16, 4096)
        a.do('add', 65536, 5)
        a.do('read', 0, 5)
        for _ in range(18): # a step completes one task
            a.expect('pending', gives=['18'])
    finally:
        os.kill(b.process.pid, signal.SIGCONT)
    lines = a.do('until', 0)
    assert [line.split()[0] for line in lines] == ['write'] * 16 + ['fetch_add', 'read'], lines
    assert all('done' in line for line in lines), lines
    b.expect('value', 65536, gives=['5'])


def test_a_stop_flushes_what_is_under_way_at_once(world):
    a, b = slow_memory(world)
    stop(b)
    try:
        a.do('writes', 20, 4096)
        begin = time.monotonic()
        lines = a.do('stop')
        machines.within_limit(begin)
        assert len(lines) == 20 and all('failed' in line for line in lines), lines
    finally:
        os.kill(b.process.pid, signal.SIGCONT)
    work(*world.pair())


def test_a_child_harms_no_request_of_its_parent(world):
    a, b = slow_memory(world)
    a.do('fill', 524288, 65536)
    sums = a.do('sum', 524288, 65536)
    stop(b)
    try:
        a.do('writes', 16, 4096)
        a.do('fork')
    finally:
        os.kill(b.process.pid, signal.SIGCONT)
    lines = a.do('until', 0)
    assert len(lines) == 16 and all('done' in line for line in lines), lines
    b.expect('sum', 0, 65536, gives=sums)
    work(*world.pair())


@shares_session
def test_requests_and_messages_of_one_connection_keep_their_order(world):
    a, b = world.pair()
    a.do('fill', 524288, 65536)
    sums = a.do('sum', 524288, 65536)
    for until in ('until', 'sleep_until'):
        b.do('receive', 100)
        a.do('writes', 4, 16384)
        a.do('send', 'behind')
        a.do('write', 65536, 'later')
        a.do('write_imm', 65536, 'last')
        b.do('receive', 100)
        a.tell(until, 0)
        lines = b.do(until, 0)
        assert 'done: 6 bytes by SEND' in lines[0] and 'done: 4 bytes by WRITE_WITH_IMM' in lines[1], lines
        lines = a.answer()
        assert [line.split()[0] for line in lines] == ['write'] * 4 + ['send', 'write', 'write_imm'], lines
        b.expect('show', 65536, 5, gives=['lastr'])
        a.do('fill', 524288, 65536)
        a.do('writes', 4, 16384)
        a.do(until, 0)
        b.expect('sum', 0, 65536, gives=sums)


def ends_in_order(lines, count):
    """So many lines; behind one that failed, all have."""
    states = ['done' in line for line in lines]
    assert len(states) == count and states == sorted(states, reverse=True), lines


def test_what_is_under_way_ends_in_order_when_its_target_goes(world):
    world.start()
    for go in ('stop_memory', 'kill', 'gateway'):
        a, b = world.pair()
        a.do('writes', 32, 4096)
        if go == 'stop_memory':
            b.do('stop_memory')
        elif go == 'kill':
            b.process.kill()
        else:
            os.kill(world.machines[1].gateway_pid(), signal.SIGKILL)
        a.do('writes', 16, 4096)
        begin = time.monotonic()
        lines = [line for line in a.do('until', 0) if 'refused' not in line]
        machines.within_limit(begin)
        ends_in_order(lines, len(lines))
        fails_in_time(a, 'write', 0, 'after')


def test_a_gateway_that_is_stopped_fails_tasks_in_time(world):
    world.start()
    for number in (0, 1):
        a, _ = world.pair()
        a.do('write', 0, 'before')
        a.do('until', 0)
        stopped = world.machines[number].gateway_pid()
        os.kill(stopped, signal.SIGSTOP)
        try:
            begin = time.monotonic()
            a.do('writes', 8, 64)
            lines = a.do('sleep_until' if number else 'until', 0)
            machines.within_limit(begin)
            ends_in_order(lines, 8)
            says_one(lines, 'failed: DOCA_ERROR_IO_FAILED')
        finally:
            go_on(stopped)
        machines.becomes_true(lambda: world.machines[0].machine_states()['node1'] == 'joined' and
                              world.machines[1].machine_states()['node0'] == 'joined', 'the machines have joined again')
        work(*world.pair())


@shares_session
def test_several_requesters_of_one_export_of_dc(world):
    b = world.program(1, 'host', 'dc')
    b.do('export', f'{world.folder}/b')
    for number in range(3):
        a = world.program(0, 'host', 'dc')
        a.do('export', f'{world.folder}/a{number}')
        a.do('connect', f'{world.folder}/b')
        a.do('writes', 4, 4096)
        lines = a.do('sleep_until', 0)
        assert len(lines) == 4 and all('done' in line for line in lines), lines


@shares_session
def test_a_map_that_is_stopped_ends_the_access(world):
    a, b = world.pair()
    a.do('write', 0, 'before')
    a.do('until', 0)
    b.do('stop_memory')
    fails_in_time(a, 'write', 0, 'after')


@shares_session
def test_a_dead_program_fails_tasks_of_its_peer(world):
    a, b = world.pair()
    b.process.kill()
    b.process.wait()
    fails_in_time(a, 'write', 0, 'anything')
    work(*world.pair())


def test_a_dead_gateway_breaks_connections_and_is_started_again(world):
    world.start()
    for number in (1, 0):
        a, b = world.pair()
        a.do('write', 0, 'before')
        a.do('until', 0)
        killed = world.machines[number].gateway_pid()
        os.kill(killed, signal.SIGKILL)
        fails_in_time(a, 'write', 0, 'after')
        machines.becomes_true(lambda one=world.machines[number], before=killed: one.gateway_pid() not in (0, before), 'there is another gateway')
        machines.becomes_true(lambda: world.machines[0].machine_states()['node1'] == 'joined' and
                              world.machines[1].machine_states()['node0'] == 'joined', 'the machines have joined again')
        work(*world.pair())
    machines.says(world.machines[0].log(), 'it is started again')


def test_a_gateway_that_is_started_again_listens_at_the_same_port(world):
    home = world.machines[0]
    world.up(listen='0')
    port = home.status()['machines']['port']
    world.machines[1].bfsim_run('join', f'10.0.1.1:{port}', '--as', 'node1', '--token-file', world.token)
    killed = home.gateway_pid()
    os.kill(killed, signal.SIGKILL)
    machines.becomes_true(lambda: home.gateway_pid() not in (0, killed) and home.machine_states()['node1'] == 'joined', 'node1 has joined again')
    assert home.status()['machines']['port'] == port
    work(*world.pair())


def test_commands_to_copy_are_those_of_this_machine(world):
    shown = world.up().stdout, world.join(1).stdout
    machines.says(shown[0], 'bfsim join HOST:7447 --as node1 --token-file FILE')
    assert 'bfsim join' not in shown[1], shown[1]
    for number, said in enumerate(shown):
        machines.says(said, f'--on node{number}/host')
        assert f'node{1 - number}/' not in said, said


def test_wait_returns_when_a_machine_has_joined(world):
    world.up()
    home = world.machines[0]
    machines.says(home.bfsim_run('wait', '--timeout', '1', 'node1', check=False).stderr, 'node1 has not joined the session within 1 s')
    machines.says(home.bfsim_run('wait', 'node7', check=False).stderr, 'no machine node7')
    world.join(1)
    home.bfsim_run('wait', 'node0', 'node1')
    world.machines[1].bfsim_run('wait', 'node0')
    shown = home.bfsim_run('ps').stdout
    machines.says(shown, 'machine node0, home of the session, at port 7447; encrypted: all')
    assert any(line.split()[:4] == ['node1', 'joined', 'direct', 'tcp'] for line in shown.splitlines()), shown


def test_a_cut_cable_fails_tasks_and_a_mended_one_is_used(world):
    world.start()
    a, b = world.pair()
    a.do('write', 0, 'before')
    a.do('until', 0)
    machines.cut_cable(1)
    try:
        fails_in_time(a, 'write', 0, 'after')
        fails_in_time(b, 'send', 'after')
        machines.becomes_true(lambda: world.machines[0].machine_states()['node1'] == 'lost', 'node1 is lost')
    finally:
        machines.cut_cable(1, False)
    machines.becomes_true(lambda: world.machines[0].machine_states()['node1'] == 'joined' and
                          world.machines[1].machine_states()['node0'] == 'joined', 'node1 has joined again')
    work(*world.pair())


def test_a_machine_whose_daemon_dies_is_lost(world):
    world.start()
    a, _ = world.pair()
    os.kill(world.machines[1].status()['pid'], signal.SIGKILL)
    fails_in_time(a, 'write', 0, 'after')
    machines.becomes_true(lambda: world.machines[0].machine_states()['node1'] == 'lost', 'node1 is lost')
    work(*world.pair(0, 2))


def test_down_at_home_ends_the_session_on_all_machines(world):
    world.start()
    world.machines[0].bfsim_run('down')
    for machine in world.machines[1:]:
        machines.becomes_true(lambda one=machine: one.bfsim_run('ps', '--ready', check=False).returncode != 0, 'the session has ended')


def test_down_on_a_machine_leaves_the_session(world):
    world.up()
    world.join(1)
    home = world.machines[0]
    machines.says(home.bfsim_run('wait', '--left', '--timeout', '1', 'node1', check=False).stderr, 'node1 has not left the session within 1 s')
    world.machines[1].bfsim_run('down')
    home.bfsim_run('wait', '--left', 'node1')
    machines.says(home.log(), 'it has left the session')
    world.join(2)
    for machine in (home, world.machines[2]): # which has not seen it
        assert machine.machine_states()['node1'] == 'left'
        machine.bfsim_run('wait', '--ever', 'node0', 'node1', 'node2')
        machines.says(machine.bfsim_run('wait', '--timeout', '1', 'node1', check=False).stderr, 'node1 has not joined the session within 1 s')
    world.join(1)
    assert home.machine_states()['node1'] == 'joined'
    work(*world.pair())


def test_refusals_say_why(world):
    world.up()
    other = f'{world.folder}/other'
    with open(other, 'w', encoding='utf-8') as file:
        os.chmod(other, 0o600)
        file.write('0' * 64)
    machines.says(world.join(1, token=other, check=False).stderr, WRONG)
    machines.says(world.join(1, '--trusted-network', check=False).stderr, 'home was started without --trusted-network')
    os.chmod(other, 0o644)
    machines.says(world.join(1, token=other, check=False).stderr, 'that nobody else can read')
    world.join(1)
    again = world.machines[2].bfsim_run('join', '10.0.2.1:7447', '--as', 'node1', '--token-file', world.token, check=False)
    machines.says(again.stderr, 'another machine has joined as node1')
    unknown = world.machines[2].bfsim_run('join', '10.0.2.1:7447', '--as', 'nobody', '--token-file', world.token, check=False)
    machines.says(unknown.stderr, 'the session\'s topology has no machine nobody')
    nowhere = world.machines[2].bfsim_run('join', '10.0.2.1:7448', '--as', 'node2', '--token-file', world.token, check=False)
    machines.says(nowhere.stderr, 'cannot join the session at 10.0.2.1, port 7448')
    elsewhere = world.machines[0].bfsim_run('exec', '--on', 'node1/host', '--', machines.RDMA_MACHINES, check=False)
    machines.says(elsewhere.stderr, 'node1 does not let other machines start programs there')


def test_a_session_needs_its_options(world):
    home = world.machines[0]
    machines.says(home.bfsim_run('up', '--topology', world.topology, '--listen', '7447', check=False).stderr, 'needs a token')
    machines.says(home.bfsim_run('up', '--topology', world.topology, '--listen', '7447', '--token-file', world.token, '--clock', 'virtual',
                                 check=False).stderr, 'no common virtual time')
    stderr = home.bfsim_run('up', '--listen', '7447', '--token-file', world.token, check=False).stderr
    machines.says(stderr, 'the topology has no machine node0')
    assert 'cannot start a session' not in stderr, stderr


def test_without_a_gateway_the_session_does_not_start(world):
    os.environ['BFSIM_GATEWAY'] = '/nowhere/bfsim-gateway'
    try:
        home = world.machines[0]
        failed = home.bfsim_run('up', '--topology', world.topology, '--listen', '7447', '--token-file', world.token, check=False)
        assert failed.returncode == 1
        machines.says(failed.stderr, 'cannot start /nowhere/bfsim-gateway')
        assert not os.path.exists(f'{home.session}/socket')
        home.bfsim_run('up', '--topology', world.topology) # all of it on one machine
        a, b = world.program(0), machines.Program(home, 'host', machines.RDMA_MACHINES)
        world.programs.append(b)
        a.do('export', f'{world.folder}/a')
        b.do('export', f'{world.folder}/b')
        a.do('connect', f'{world.folder}/b')
        b.do('connect', f'{world.folder}/a')
        work(a, b)
    finally:
        del os.environ['BFSIM_GATEWAY']


def gateway_beside(bfsim):
    return os.path.join(os.path.dirname(os.path.realpath(bfsim)), 'bfsim-gateway')


def test_a_gateway_starts_without_the_kernels_symbols(world):
    """libfabric opens files by the gateway's own function (sim/gateway/quick_start.c)."""
    started = subprocess.run([gateway_beside(world.machines[0].bfsim), '--version'], env={**os.environ, 'LD_DEBUG': 'bindings', 'LD_BIND_NOW': '1'},
                             capture_output=True, text=True, check=True)
    bound = [line for line in started.stderr.splitlines() if re.search(r'libfabric\.so\S* .*`fopen\'', line)]
    assert bound and all('bfsim-gateway [0]: normal' in line for line in bound), bound


def patched_gateway(world):
    """A gateway of another build: its version differs."""
    original = gateway_beside(world.machines[0].bfsim)
    patched = f'{world.folder}/bfsim-gateway'
    with open(original, 'rb') as file:
        code = file.read()
    assert code.count(b' (frames %u') == 1
    with open(patched, 'wb') as file:
        file.write(code.replace(b' (frames %u', b' (FRAMES %u'))
    os.chmod(patched, 0o755)
    return patched


def test_another_build_is_refused_by_both(world):
    world.up()
    os.environ['BFSIM_GATEWAY'] = patched_gateway(world)
    try:
        machines.says(world.join(1, check=False).stderr, 'it runs another build')
    finally:
        del os.environ['BFSIM_GATEWAY']
    machines.becomes_true(lambda: 'it runs another build' in world.machines[0].log(), 'home says so as well')


class ThreeMachines(machines.World):
    def __init__(self, bfsim, topology):
        super().__init__(bfsim, topology, 3)


if __name__ == '__main__':
    machines.enter_namespaces()
    machines.connect_machines(3)
    all_tests = [value for name, value in list(globals().items()) if name.startswith('test_')]
    sys.exit(machines.main(all_tests, ThreeMachines, *sys.argv[1:4], only=sys.argv[4:]))
