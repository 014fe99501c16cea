# SPDX-License-Identifier: BSD-3-Clause
"""Machines for tests: network namespaces, programs that do what they are told, and a runner of tests (TAP).

The first namespace is home's; each other machine has a cable (a veth pair) to it: 10.0.N.1 is home, 10.0.N.2 is machine N.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

DEADLINE_S = 60 # of what the tests wait for, on a slow machine
LIMIT_S = 10 # within which each wait for a machine that is gone ends
INSIDE = 'INSIDE_TEST_MACHINES'


def enter_namespaces():
    """Run this script again in namespaces of its own, or end it as skipped."""
    if os.environ.get(INSIDE):
        return
    unshare = ['unshare', '--user', '--map-root-user', '--net', '--mount', '--fork', '--kill-child']
    if subprocess.run(unshare + ['true'], capture_output=True, check=False).returncode != 0:
        print('1..0 # SKIP the kernel forbids new user, network or mount namespaces')
        sys.exit(0)
    os.environ[INSIDE] = '1'
    os.execvp(unshare[0], unshare + [sys.executable] + sys.argv)


def run(*command, check=True):
    return subprocess.run(command, capture_output=True, text=True, check=check)


class Machine:
    """A machine of a session: number 0 is home."""

    def __init__(self, number, folder, bfsim):
        self.number, self.name, self.bfsim = number, f'node{number}', bfsim
        self.session = f'{folder}/session{number}'
        self.prefix = []
        if number:
            self.prefix = ['nsenter', f'--net=/run/netns/m{number}']

    def command(self, *words):
        return [*self.prefix, self.bfsim, *words]

    def bfsim_run(self, name, *words, check=True):
        ended = run(*self.command(name, '--session', self.session, *words), check=False)
        if check and ended.returncode != 0:
            raise AssertionError(f'bfsim {name} on {self.name}: status {ended.returncode}\n{ended.stdout}{ended.stderr}')
        return ended

    def status(self):
        import json
        return json.loads(self.bfsim_run('ps', '--json', '--here').stdout)

    def machine_states(self):
        states = {one['name']: one['state'] for one in self.status()['machines']['list']}
        return {f'node{i}': states.get(f'node{i}', 'unknown') for i in range(3)}

    def link_to(self, name):
        """What it says of its link to another machine."""
        return next(one for one in self.status()['machines']['list'] if one['name'] == name)

    def gateway_pid(self):
        pids = [one['pid'] for one in self.status()['processes'] if one['program'] == 'bfsim-gateway']
        return pids[0] if pids else 0

    def log(self):
        with open(f'{self.session}/bfsimd.log', encoding='utf-8') as file:
            return file.read()


class Program:
    """rdma_machines on a side of a machine."""

    def __init__(self, machine, side, program, *options):
        self.name = f'{machine.name}/{side}'
        self.errors = tempfile.TemporaryFile('w+')
        self.process = subprocess.Popen(machine.command('exec', '--session', machine.session, '--on', self.name, '--', program, '0', *options),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.answer()

    def answer(self):
        lines = []
        for line in self.process.stdout:
            if line == 'ok\n':
                return lines
            if line.startswith('error '):
                raise AssertionError(f'{self.name}: {line.strip()} after {lines}\n{self.said()}')
            lines.append(line.strip())
        raise AssertionError(f'{self.name} ended: {self.said()}')

    def tell(self, *words):
        self.process.stdin.write(' '.join(str(word) for word in words) + '\n')
        self.process.stdin.flush()

    def do(self, *words):
        self.tell(*words)
        return self.answer()

    def expect(self, *words, gives):
        got = self.do(*words)
        if got != gives:
            raise AssertionError(f'{self.name}, {words}: {got} in place of {gives}')

    def said(self):
        """What it wrote to standard error."""
        self.errors.seek(0)
        return self.errors.read()


class World:
    """Machines with their cables and one session. Options are of bfsim up and join."""

    def __init__(self, bfsim, topology, count=2):
        self.folder = tempfile.mkdtemp()
        self.topology = topology
        self.machines = [Machine(i, self.folder, bfsim) for i in range(count)]
        self.programs = []
        self.token = f'{self.folder}/token'
        with open(self.token, 'w', encoding='utf-8') as file:
            os.chmod(self.token, 0o600)
            file.write(run(bfsim, 'token').stdout)

    def up(self, *options, listen='7447'):
        return self.machines[0].bfsim_run('up', '--topology', self.topology, '--listen', listen, '--token-file', self.token, *options)

    def join_words(self, number, *options, token=None):
        return [f'10.0.{number}.1:7447', '--as', f'node{number}', '--token-file', token or self.token, *options]

    def join_command(self, number, *options):
        machine = self.machines[number]
        return machine.command('join', '--session', machine.session, *self.join_words(number, *options))

    def join(self, number, *options, token=None, check=True):
        return self.machines[number].bfsim_run('join', *self.join_words(number, *options, token=token), check=check)

    def start(self, *options):
        """Home, and then the others at once: loading libfabric takes a moment in each."""
        self.up(*options)
        joins = [subprocess.Popen(self.join_command(number, *options), stdout=subprocess.DEVNULL) for number in range(1, len(self.machines))]
        if any([join.wait() for join in joins]):
            raise AssertionError('a machine has not joined')

    def program(self, number, side='host', *options):
        self.programs.append(Program(self.machines[number], side, RDMA_MACHINES, *options))
        return self.programs[-1]

    def program_of(self, path, number, side):
        """Another program, which is told like rdma_machines."""
        self.programs.append(Program(self.machines[number], side, path))
        return self.programs[-1]

    def pair(self, left=0, right=1, sides=('host', 'host')):
        """Two connected programs."""
        a, b = self.program(left, sides[0]), self.program(right, sides[1])
        for program, name in ((a, 'a'), (b, 'b')):
            program.do('export', f'{self.folder}/{name}')
        a.do('connect', f'{self.folder}/b')
        b.do('connect', f'{self.folder}/a')
        return a, b

    def end_programs(self):
        for program in self.programs:
            program.process.kill()
            program.process.wait()
        self.programs.clear()

    def close(self):
        self.end_programs()
        for machine in reversed(self.machines):
            machine.bfsim_run('down', check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


def becomes_true(condition, what):
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        try:
            if condition():
                return
        except AssertionError: # as a session that is ending
            pass
        time.sleep(0.02)
    raise AssertionError(f'did not become true: {what}')


def says(text, part):
    if part not in text:
        raise AssertionError(f'"{part}" is not in:\n{text}')


def connect_machines(count):
    """Lay the cables."""
    subprocess.run(['mount', '-t', 'tmpfs', 'none', '/run'], check=True)
    run('ip', 'link', 'set', 'lo', 'up')
    for number in range(1, count):
        run('ip', 'netns', 'add', f'm{number}')
        run('ip', 'link', 'add', f'cable{number}', 'type', 'veth', 'peer', 'name', 'port', 'netns', f'm{number}')
        run('ip', 'addr', 'add', f'10.0.{number}.1/24', 'dev', f'cable{number}')
        run('ip', 'link', 'set', f'cable{number}', 'up')
        run('ip', '-n', f'm{number}', 'link', 'set', 'lo', 'up')
        run('ip', '-n', f'm{number}', 'addr', 'add', f'10.0.{number}.2/24', 'dev', 'port')
        run('ip', '-n', f'm{number}', 'link', 'set', 'port', 'up')


def connect_pair():
    """A cable between machines 1 and 2: 10.0.12.1 and 10.0.12.2."""
    run('ip', *'link add side1 netns m1 type veth peer name side2 netns m2'.split())
    for number in (1, 2):
        run('ip', '-n', f'm{number}', 'addr', 'add', f'10.0.12.{number}/24', 'dev', f'side{number}')
        run('ip', '-n', f'm{number}', 'link', 'set', f'side{number}', 'up')


FORWARD = '''
import socket, sys, threading
def carry(come, go):
    while data := come.recv(65536):
        go.sendall(data)
    go.shutdown(socket.SHUT_WR)
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
print('ready', flush=True)
while True:
    inside = listener.accept()[0]
    outside = socket.create_connection((sys.argv[3], int(sys.argv[4])))
    for pair in ((inside, outside), (outside, inside)):
        threading.Thread(target=carry, args=pair, daemon=True).start()
'''


def forward(prefix, host, port, to_host, to_port):
    """A process in a namespace that forwards connections to its port, as a NAT does."""
    forwarder = subprocess.Popen([*prefix, sys.executable, '-c', FORWARD, host, str(port), to_host, str(to_port)],
                                 stdout=subprocess.PIPE, text=True)
    assert forwarder.stdout.readline() == 'ready\n'
    return forwarder


def cut_cable(number, is_cut=True):
    run('ip', 'link', 'set', f'cable{number}', 'down' if is_cut else 'up')


def within_limit(begin):
    if time.monotonic() - begin > LIMIT_S:
        raise AssertionError(f'took {time.monotonic() - begin:.1f} s, more than {LIMIT_S}')


def fails_in_time(program, *words):
    """A task on a connection that breaks fails, or is refused, within the limit, and so do later ones; the program goes on."""
    begin = time.monotonic()
    lines = []
    while not any('failed: DOCA_ERROR_IO_FAILED' in line or 'refused' in line for line in lines):
        within_limit(begin) # a task may be done before the others know
        program.do(*words)
        lines = program.do('until', 0)
    within_limit(begin)


RDMA_MACHINES = None


def shares_session(test):
    """A test that begins with a session of all machines, and leaves it as it was: such tests, one after the other, have one."""
    test.shares_session = True
    return test


def begin(test, before, world_class, bfsim, topology):
    """The world of a test: the one of the test before, if both share it."""
    if getattr(test, 'shares_session', False):
        if before:
            return before
        world = world_class(bfsim, topology)
        world.start()
        return world
    if before:
        before.close()
    return world_class(bfsim, topology)


def main(tests, world_class, bfsim, program, topology, only=()):
    """Run the tests, each in a world of its own, as TAP."""
    global RDMA_MACHINES
    RDMA_MACHINES = program
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    failed = 0
    tests = [test for test in tests if not only or test.__name__ in only]
    world = None # that the next test may share
    for number, test in enumerate(tests, 1):
        world = begin(test, world, world_class, bfsim, topology)
        is_shared = getattr(test, 'shares_session', False)
        try:
            test(world)
            print(f'ok {number} - {test.__name__}', flush=True)
        except Exception: # a test's failure, of any kind
            failed = 1
            is_shared = False
            print(f'not ok {number} - {test.__name__}')
            traceback.print_exc()
            for machine in world.machines:
                if os.path.exists(f'{machine.session}/bfsimd.log'):
                    print(f'# {machine.name}: ' + machine.log().replace('\n', '\n# '), file=sys.stderr, flush=True)
        finally:
            world.end_programs()
            if not is_shared:
                world.close()
                world = None
    if world:
        world.close()
    print(f'1..{len(tests)}')
    return failed
