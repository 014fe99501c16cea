#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Attacks by the network on a session over several machines, which goes on; and kills of anything at any moment.

    test_network_hostile.py BFSIM RDMA_MACHINES ROGUE_GATEWAY [TEST...]

BFSIM_HOSTILE_ROUNDS is the number of kills (default 5; ci/hostile: 1000), BFSIM_HOSTILE_SEED repeats their order.
"""
import errno
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

import machines
from machines import LIMIT_S, becomes_true, fails_in_time, within_limit

HOME = ('10.0.1.1', 7447)
ROGUE = None
# What home says of each: answered, or a warning in its log.
ATTACKS = {
    'another-build': 'it runs another build',
    'garbage': 'it is no gateway of bfsim',
    'not-joined': 'it has not joined',
    'clear': 'it has sent a frame in the clear that must not be so',
    'replay': 'it has sent what is not encrypted with the token',
    'changed': 'it has sent what is not encrypted with the token',
    'speak-for': 'it speaks for another machine',
    'no-frame': 'it has sent what is no frame',
    'join-again': 'it has sent a frame that is not its to send',
    'foreign-handle': None,
    'foreign-key': None,
    'run-program': None,
    'no-service': None,
    'flood-helper': None,
}

ANSWERS = {'run-program': errno.EPERM, 'no-service': errno.EPROTO}


def write_topology():
    """A session with more machines than there are attacks by machines that join."""
    with tempfile.NamedTemporaryFile('w', suffix='.yaml', delete=False) as file:
        file.write('cards:\n')
        for i in range(len(ATTACKS) + 2):
            file.write(f'  - {{name: node{i}, profile: bluefield-3, functions: ['
                       f'{{side: node{i}/dpu, type: pf, pci: "03:00.0", ipv4: 192.0.2.{i + 1}}}, '
                       f'{{side: node{i}/host, type: pf, pci: "b1:00.0", ipv4: 192.0.2.{i + 101}}}]}}\n')
    return file.name


class Pair:
    """Two programs that must go on whatever the network does."""

    def __init__(self, world):
        self.a, self.b = world.pair()
        self.number = 0

    def works(self):
        self.number += 1
        text = f'{self.number:05}'
        begin = time.monotonic()
        self.a.do('write', 0, text)
        machines.says('\n'.join(self.a.do('until', 0)), 'done')
        self.b.expect('show', 0, 5, gives=[text])
        within_limit(begin)


def descriptors(machine):
    return len(os.listdir(f'/proc/{machine.gateway_pid()}/fd'))


def cpu_ticks(pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return int(fields[11]) + int(fields[12])


def test_rogue_machines_are_refused_in_words(world):
    world.start()
    pair = Pair(world)
    other = f'{world.folder}/other'
    with open(other, 'w', encoding='utf-8') as file:
        os.chmod(other, 0o600)
        file.write('0' * 64)
    rogues = {name: subprocess.Popen([ROGUE, HOME[0], str(HOME[1]), world.token, f'node{number + 2}', name],
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
              for number, name in enumerate(ATTACKS)}
    rogues['token'] = subprocess.Popen([ROGUE, HOME[0], str(HOME[1]), other, 'node2', 'token'], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
    pair.works()
    for name, rogue in rogues.items():
        said = rogue.communicate(timeout=machines.DEADLINE_S)[0].strip()
        assert rogue.returncode == 0, f'{name}: nothing came of it'
        if name in ('foreign-handle', 'foreign-key'):
            assert said.startswith('answered -'), f'{name}: {said}'
        elif name == 'flood-helper': # its helper may have ended before there was too much
            assert said in (f'answered {-errno.EPROTO}', 'answered 0'), f'{name}: {said}'
        elif name in ANSWERS:
            assert said == f'answered {-ANSWERS[name]}', f'{name}: {said}'
        else:
            assert said == 'closed', f'{name}: {said}'
    log = world.machines[0].log()
    for words in ATTACKS.values():
        machines.says(log, words or '')
    machines.says(log, 'the two machines do not have the same token')
    pair.works()


def connect_many(count, send):
    """Connections; fewer, if home refuses them."""
    result = []
    for _ in range(count):
        connection = socket.socket()
        connection.settimeout(machines.DEADLINE_S)
        try:
            connection.connect(HOME)
            if send:
                connection.sendall(send)
            result.append(connection)
        except OSError: # home does not listen for a moment, or has closed it
            connection.close()
    return result


def closed_by_home(connection):
    try:
        return connection.recv(1) == b''
    except (ConnectionResetError, BrokenPipeError):
        return True


def test_ten_thousand_connections_are_closed_and_others_join(world):
    world.up()
    world.join(1)
    pair, home = Pair(world), world.machines[0]
    before, gateway = descriptors(home), home.gateway_pid()
    for send in (None, b'x'):
        connections = connect_many(5000, send)
        pair.works()
        becomes_true(lambda: descriptors(home) <= before, 'home has closed the connections')
        for connection in connections:
            connection.close()
    becomes_true(lambda: world.join(2, check=False).returncode == 0, 'node2 joins')
    assert home.gateway_pid() == gateway
    pair.works()


def test_slow_and_half_open_connections_are_closed(world):
    """One byte at a time, nothing, and no more to come: each is closed though it never ends itself."""
    world.up()
    world.join(1)
    pair, home = Pair(world), world.machines[0]
    before = descriptors(home)
    slow, silent, half_open = connect_many(3, None)
    half_open.shutdown(socket.SHUT_WR)
    begin = time.monotonic()
    is_closed = False
    slow.settimeout(0.5)
    while not is_closed:
        assert time.monotonic() - begin < 2 * LIMIT_S, 'a slow connection is held'
        try:
            slow.sendall(b'\1')
            is_closed = slow.recv(1) == b''
        except TimeoutError:
            pass
        except OSError:
            is_closed = True
    assert closed_by_home(silent) and closed_by_home(half_open)
    becomes_true(lambda: descriptors(home) <= before, 'nothing is held')
    pair.works()
    ticks = cpu_ticks(home.gateway_pid())
    begin = time.monotonic()
    becomes_true(lambda: time.monotonic() - begin > 1, 'a second has passed')
    assert cpu_ticks(home.gateway_pid()) - ticks < 50, 'the gateway polls without end'


# Forwards one port, and hides who asks, as the proxy of a container's published port does.
def test_a_machine_behind_a_nat_joins_through_one_port(world):
    """Machine 2 loses its cable to home, and has one to machine 1, which forwards one port."""
    world.up()
    for command in ('link add inside netns m1 type veth peer name uplink netns m2', '-n m1 addr add 10.1.0.1/24 dev inside',
                    '-n m1 link set inside up', '-n m2 addr add 10.1.0.2/24 dev uplink', '-n m2 link set uplink up', '-n m2 link set port down'):
        machines.run('ip', *command.split())
    with machines.forward(world.machines[1].prefix, '10.1.0.1', 9000, '10.0.1.1', 7447) as forwarder:
        try:
            world.machines[2].bfsim_run('join', '10.1.0.1:9000', '--as', 'node2', '--token-file', world.token)
            a, b = world.pair(0, 2)
            for one in (a, b):
                one.do('write', 0, 'hello')
                machines.says('\n'.join(one.do('until', 0)), 'done')
            b.expect('show', 0, 5, gives=['hello'])
        finally:
            forwarder.kill()
            machines.run('ip', '-n', 'm1', 'link', 'del', 'inside')
            machines.run('ip', '-n', 'm2', 'link', 'set', 'port', 'up')


def is_stopped(pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
        return file.read().rsplit(')', 1)[1].split()[0] == 'T'


def add_fault(machine, rule):
    machine.bfsim_run('fault', 'add', rule)


def test_fault_rules_pause_and_kill_the_way_to_a_machine(world):
    """A gateway is a process of its machine's session, so a rule for processes slows, cuts or breaks what goes between machines."""
    world.start()
    pair, node = Pair(world), world.machines[1]
    pair.works()
    add_fault(node, 'peer program=bfsim-gateway pause=2s')
    becomes_true(lambda: is_stopped(node.gateway_pid()), 'the gateway is paused')
    pair.works() # when it goes on
    assert not is_stopped(node.gateway_pid())
    assert joined_both_ways(world)
    node.bfsim_run('fault', 'clear')
    killed = node.gateway_pid()
    add_fault(node, 'peer program=bfsim-gateway times=1 kill')
    fails_in_time(pair.a, 'write', 0, 'after')
    becomes_true(lambda: node.gateway_pid() not in (0, killed) and joined_both_ways(world), 'node1 has joined again')
    Pair(world).works()


# ---- kills ----

def victims(world, pair):
    home, node = world.machines[0], world.machines[1]
    return {
        'application': lambda: pair.b.process.kill(),
        'gateway of home': lambda: os.kill(home.gateway_pid(), signal.SIGKILL),
        'gateway of node1': lambda: os.kill(node.gateway_pid(), signal.SIGKILL),
        'daemon of node1': lambda: os.kill(node.status()['pid'], signal.SIGKILL),
        'daemon of home': lambda: os.kill(home.status()['pid'], signal.SIGKILL),
        'cable': lambda: machines.cut_cable(1),
    }


def processes_of(folder):
    """Those that have the folder in their command lines, besides the programs of the test."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/cmdline', 'rb') as file:
                words = file.read().split(b'\0')
        except OSError:
            continue
        if any(word.startswith(os.fsencode(folder)) for word in words) and b'bfsim' in words[0]:
            found.append(pid)
    return found


def kill_once(world, name, rng):
    """Kill it while requests are under way. Every wait ends in time, and who is not concerned goes on."""
    pair = Pair(world)
    bystander = Pair.__new__(Pair)
    bystander.a, bystander.b = world.pair(0, 0, ('dpu', 'host'))
    bystander.number = 0
    kill = victims(world, pair)[name]
    for _ in range(rng.randrange(1, 30)):
        pair.works()
    pair.a.do('write', 0, 'under-way')
    kill()
    pair.a.do('until', 0)
    fails_in_time(pair.a, 'write', 0, 'after')
    if name != 'application':
        fails_in_time(pair.b, 'write', 0, 'after')
    if name != 'daemon of home': # it is on home
        bystander.works()
    if name == 'cable':
        machines.cut_cable(1, False)


def joined_both_ways(world):
    return world.machines[0].machine_states()['node1'] == 'joined' and world.machines[1].machine_states()['node0'] == 'joined'


def restore(world, name):
    """The session as it was; a machine without its daemon joins anew, a session without home's begins anew."""
    for program in world.programs:
        program.process.kill()
        program.process.wait()
    world.programs.clear()
    if name == 'daemon of home':
        becomes_true(lambda: not [pid for pid in processes_of(world.folder) if is_gateway(pid) and world.machines[0].session in command_of(pid)],
                     'the gateway of home has ended')
        for machine in world.machines:
            machine.bfsim_run('down', check=False)
        world.up()
        world.join(1)
    elif name == 'daemon of node1':
        world.machines[1].bfsim_run('down', check=False)
        becomes_true(lambda: world.join(1, check=False).returncode == 0, 'node1 joins anew')
    becomes_true(lambda: joined_both_ways(world), f'both machines are joined after the kill of the {name}')


def command_of(pid):
    try:
        with open(f'/proc/{pid}/cmdline', encoding='utf-8') as file:
            return file.read()
    except OSError:
        return ''


def is_gateway(pid):
    return 'bfsim-gateway' in command_of(pid)


def test_anything_may_be_killed_at_any_moment(world):
    rounds = int(os.environ.get('BFSIM_HOSTILE_ROUNDS', 5))
    seed = int(os.environ.get('BFSIM_HOSTILE_SEED', time.time_ns() % 1000000))
    rng = random.Random(seed)
    print(f'# BFSIM_HOSTILE_SEED={seed}', flush=True)
    world.up()
    world.join(1)
    names = ['application', 'gateway of home', 'gateway of node1', 'daemon of node1', 'daemon of home', 'cable']
    if rounds < len(names):
        names.remove('cable') # several_machines has it
    for number in range(rounds):
        name = names[number % len(names)] if rounds <= len(names) else rng.choice(names)
        try:
            kill_once(world, name, rng)
            restore(world, name)
        except Exception as error:
            raise AssertionError(f'round {number}, the {name} was killed') from error
    for program in world.programs:
        program.process.kill()
        program.process.wait()
    for machine in reversed(world.machines):
        machine.bfsim_run('down', check=False)
    becomes_true(lambda: not processes_of(world.folder), 'no process is left')
    for machine in world.machines:
        left = os.listdir(machine.session) if os.path.exists(machine.session) else []
        assert [name for name in left if name != 'bfsimd.log'] == [], left


class ThreeMachines(machines.World):
    def __init__(self, bfsim, topology):
        super().__init__(bfsim, topology, 3)

    def start(self, *options):
        self.up(*options)
        self.join(1, *options)


if __name__ == '__main__':
    machines.enter_namespaces()
    machines.connect_machines(3)
    ROGUE = sys.argv[3]
    TOPOLOGY = write_topology()
    all_tests = [value for name, value in list(globals().items()) if name.startswith('test_')]
    STATUS = machines.main(all_tests, ThreeMachines, sys.argv[1], sys.argv[2], TOPOLOGY, only=sys.argv[4:])
    os.unlink(TOPOLOGY)
    sys.exit(STATUS)
