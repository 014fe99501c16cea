# SPDX-License-Identifier: BSD-3-Clause
"""The services of share/compose run as they stand, in namespaces instead of containers, in both orders of start.

    check_compose.py BFSIM FOLDER PROGRAMS PATH [pod.yaml]     exit status 77: the kernel forbids it

With pod.yaml, those of the pod: no capabilities, no new privileges, and the namespaces that a pod's containers share.

A file is copied by dma_copy from the host's container to the DPU's, over one data path. Both containers are in one user
namespace, as with a rootless engine. Each cell of the path's column in the table of doc/containers.md is tried. For cma and
procmem, a user namespace for each is tried, too: cma must be refused with the reason, and procmem must work if the session
permits that.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

import yaml

USER = ['unshare', '--user', '--map-root-user']
NAMESPACES = ['--mount', '--fork', '--kill-child']
UNPRIVILEGED = 'setpriv --no-new-privs --inh-caps=-all --bounding-set=-all '
if sys.argv[1] != 'inside':
    if subprocess.run(USER + NAMESPACES + ['--pid', '--mount-proc', 'true'], check=False, capture_output=True).returncode:
        print('SKIP: the kernel forbids new namespaces')
        sys.exit(77)
    os.execvp(USER[0], USER + [sys.executable, sys.argv[0], 'inside', *sys.argv[1:]])
bfsim, folder, programs, path, *pods = sys.argv[2:]
up = '--procmem' if path == 'procmem' else ''
extra_files = []
# Rows of the document's table: the option of bfsim up, and further files.
ROWS = {'without options': ('', []), '`bfsim up --procmem`': ('--procmem', []),
        'one PID namespace (`cma.yaml`)': ('', ['cma.yaml'])}
bfsim = os.path.realpath(bfsim)


def substitute(value):
    """What compose does with ${NAME:-default} and $$."""
    known = {'BFSIM_PATH': path, 'BFSIM_UP': up}
    value = re.sub(r'\$\{(\w+):-([^}]*)\}', lambda match: known.get(match[1]) or match[2], value)
    return value.replace('$$', '$')


def read_pod(name):
    """The containers of a pod, in compose's terms."""
    with open(os.path.join(folder, name), encoding='utf-8') as file:
        pod = yaml.safe_load(file)['spec']
    assert pod['securityContext']['runAsNonRoot'] and not set(pod) & {'hostPID', 'hostIPC', 'hostNetwork'}
    sources = {volume['name']: 'card' if 'emptyDir' in volume else '.' for volume in pod['volumes']}
    services = {}
    for container in pod['containers']:
        rights = container['securityContext']
        assert rights == {'allowPrivilegeEscalation': False, 'capabilities': {'drop': ['ALL']}}, rights
        services[container['name']] = {
            'pod': True,
            'pid': 'host' if pod.get('shareProcessNamespace') else None,
            'working_dir': container['workingDir'],
            'command': container['command'],
            'environment': {entry['name']: entry['value'] for entry in container['env']} | {'BFSIM_PATH': path, 'BFSIM_UP': up},
            'volumes': [f'{sources[mount["name"]]}:{mount["mountPath"]}' for mount in container['volumeMounts']],
            'healthcheck': {'test': ['CMD', *container.get('readinessProbe', {}).get('exec', {}).get('command', [])]},
        }
    return services


def read_services(names):
    services = {}
    for name in names:
        with open(os.path.join(folder, name), encoding='utf-8') as file:
            for service, fields in yaml.safe_load(file)['services'].items():
                services.setdefault(service, {}).update(fields)
    return services


class Container:
    """One service: its volumes, environment, directory and command."""

    def __init__(self, service, work, own_user=False):
        self.service = service
        self.work = work
        self.own = (USER[1:] if own_user else []) + NAMESPACES
        self.own = self.own + ([] if service.get('pid') == 'host' else ['--pid', '--mount-proc'])
        in_pod = 'pod' in service
        self.own = self.own + ([] if in_pod else ['--ipc', '--net'])
        mounts = ('' if in_pod else 'ip link set lo up && ') + 'mount -t tmpfs none /dev/shm && mount -t tmpfs none /run'
        for volume in service['volumes']:
            source, target = volume.split(':')[:2]
            source = os.path.join(work, 'here' if source == '.' else source)
            target = shlex.quote(target)
            mounts += f' && mkdir -p {target} && mount --bind {shlex.quote(source)} {target}'
        self.enter = mounts + f' && cd {shlex.quote(service["working_dir"])} && exec ' + (UNPRIVILEGED if in_pod else '') + '"$@"'
        self.env = {name: substitute(value) for name, value in service['environment'].items()}
        self.env['PATH'] = os.path.dirname(bfsim) + ':' + os.environ['PATH']
        self.process = None

    def start(self, command):
        with open(os.path.join(self.work, 'output'), 'ab') as output:
            return subprocess.Popen(['unshare', *self.own, 'sh', '-c', self.enter, 'sh', *map(substitute, command)],
                                    env=self.env, stdout=output, stderr=output, stdin=subprocess.DEVNULL)

    def run(self):
        self.process = self.start(self.service['command'])

    def is_healthy(self):
        kind, *command = self.service['healthcheck']['test']
        assert kind == 'CMD'
        return self.start(command).wait(30) == 0


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, 'not within a minute'
        time.sleep(0.05)


def fill(work):
    """The volume, and the two programs beside the compose file."""
    for name in ('here', 'card'):
        os.mkdir(os.path.join(work, name))
    with open(os.path.join(work, 'sent'), 'wb') as file:
        file.write(os.urandom(3 << 20))
    flags = {'host': f'-p b1:00.0 -f {work}/sent', 'dpu': f'-p 03:00.0 -r b1:00.0 -f {work}/received'}
    names = {'host': 'host_memfd' if path == 'mapped' else 'host', 'dpu': 'dpu'}
    for side, options in flags.items():
        program = os.path.join(work, 'here', side)
        with open(program, 'w', encoding='utf-8') as file:
            file.write(f'#!/bin/sh\nexec {programs}/dma_copy_{names[side]} {options}\n')
        os.chmod(program, 0o755)


def end(containers, work):
    for container in containers.values():
        if container.process and container.process.poll() is None:
            container.process.kill()
            container.process.wait()
    subprocess.run([bfsim, 'down', '--session', os.path.join(work, 'card', 'card')], check=False, capture_output=True)


def start_both(first, dpu, host):
    if first == 'dpu':
        dpu.run()
        wait_until(dpu.is_healthy)
        host.run()
        return
    host.run()
    assert not dpu.is_healthy(), 'healthy before the session is there'
    assert host.process.poll() is None, 'the host does not wait for its session'
    dpu.run()


def read(work, name):
    with open(os.path.join(work, name), 'rb') as file:
        return file.read()


def run_pair(first, work, own_user=False):
    """Exit statuses of both sides."""
    fill(work)
    services = read_pod(pods[0]) if pods else read_services(['compose.yaml'] + extra_files)
    containers = {name: Container(service, work, own_user) for name, service in services.items()}
    assert sorted(containers) == ['dpu', 'host']
    try:
        start_both(first, containers['dpu'], containers['host'])
        return [containers[side].process.wait(60) for side in ('host', 'dpu')]
    except BaseException:
        print(read(work, 'output').decode(errors='replace'))
        raise
    finally:
        end(containers, work)


def try_order(first, work):
    ends = run_pair(first, work)
    output = read(work, 'output').decode(errors='replace')
    assert ends == [0, 0], f'exit statuses {ends}: {output}'
    assert read(work, 'sent') == read(work, 'received'), 'the file arrived damaged'


def try_orders(orders):
    for order in orders:
        with tempfile.TemporaryDirectory() as place:
            try_order(order, place)
            print(f'{path} {up}: {order} first: works')


def expect_refusal(own_user):
    with tempfile.TemporaryDirectory() as place:
        assert 0 not in run_pair('dpu', place, own_user), f'{path} {up} works'
        output = read(place, 'output')
        assert b'no data path to process' in output, output
        assert path != 'procmem' or b'(bfsim up --procmem)' in output, output
        print(f'{path} {up}: refused')


def cells():
    """Pairs of a row's name and the path's cell."""
    with open(os.path.join(folder, '..', '..', 'doc', 'containers.md'), encoding='utf-8') as file:
        table = file.read().split('| containers beside each other |')[1].split('\n\n')[0]
    head, _, *rows = [line.strip('| ').split(' | ') for line in table.splitlines()]
    column = head.index(f'`{path}`')
    return [(row[0], row[1 + column]) for row in rows]


if pods:
    try_orders(['dpu', 'host'])
else:
    rows = cells()
    assert sorted(row for row, _ in rows) == sorted(ROWS)
    untried = ['dpu', 'host']
    for row, cell in rows:
        up, extra_files = ROWS[row]
        assert cell in ('yes', 'no'), (row, cell)
        if cell == 'no':
            expect_refusal(own_user=False)
        else:
            try_orders(untried)
            untried = ['dpu']
    extra_files = []
if path == 'cma' and not pods:
    extra_files = ['cma.yaml']
    expect_refusal(own_user=True)
if path == 'procmem' and not pods:
    up = ''
    expect_refusal(own_user=True)
    up = '--procmem'
    with tempfile.TemporaryDirectory() as place:
        assert run_pair('dpu', place, own_user=True) == [0, 0], read(place, 'output')
