#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Machines, which are network namespaces, whose messages go by endpoints without connections (FI_EP_RDM).

    test_rdm.py BFSIM RDMA_MACHINES TOPOLOGY [TEST...]       TOPOLOGY has the machines node0, node1, node2
"""
import os
import signal
import sys

import machines
from machines import becomes_true, fails_in_time, says
from test_machines import work

OVER_TCP = 'tcp;ofi_rxm'
OVER_UDP = 'udp;ofi_rxd'


def other(world, number=0):
    """What machine @number knows of the other one."""
    return world.machines[number].status()['machines']['list'][1 - number]


def goes_by(world, endpoint, provider):
    for number in range(2):
        becomes_true(lambda number=number: (other(world, number).get('endpoint'), other(world, number).get('provider')) == (endpoint, provider),
                     f'machine {number} uses {provider}: {other(world, number)}')


def test_all_tasks_and_the_death_of_a_gateway(world):
    """Encrypted. The other machine notices by the connection that stays; both join anew, without a connection again."""
    world.start('--fabric', OVER_TCP)
    goes_by(world, 'FI_EP_RDM', OVER_TCP)
    a, b = world.pair()
    work(a, b)
    says(world.machines[0].bfsim_run('ps').stdout, 'FI_EP_RDM')
    says(other(world)['why'], 'slower than connections of tcp')
    old = world.machines[1].gateway_pid()
    os.kill(old, signal.SIGKILL)
    fails_in_time(a, 'write', 0, 'hello')
    becomes_true(lambda: world.machines[1].gateway_pid() not in (0, old), 'there is a new gateway')
    becomes_true(lambda: other(world)['state'] == 'joined', 'it has joined')
    goes_by(world, 'FI_EP_RDM', OVER_TCP)
    world.end_programs()
    a, b = world.pair()
    a.do('write', 0, 'again')
    a.expect('until', 0, gives=['write 3 done'])
    b.expect('show', 0, 5, gives=['again'])
    world.machines[0].bfsim_run('down') # which says goodbye by the new way
    becomes_true(lambda: world.machines[1].bfsim_run('ps', check=False).returncode != 0, 'the session has ended on the other machine')


def test_a_trusted_network_and_a_provider_of_datagrams(world):
    """The provider is the one of libfabric's own variable."""
    os.environ['FI_PROVIDER'] = OVER_UDP
    try:
        world.start('--trusted-network')
    finally:
        del os.environ['FI_PROVIDER']
    goes_by(world, 'FI_EP_RDM', OVER_UDP)
    work(*world.pair())


def test_a_provider_that_does_not_exist_is_refused(world):
    ended = world.machines[0].bfsim_run('up', '--topology', world.topology, '--listen', '7447', '--token-file', world.token, '--fabric', 'no;such', check=False)
    assert ended.returncode != 0
    says(ended.stderr, "libfabric's provider no;such cannot listen at 0.0.0.0, port 7447")


def test_a_provider_whose_connections_break_is_used_without(world):
    os.environ['FI_PROVIDER'] = 'tcp' # the option is stronger
    try:
        world.start('--fabric', 'sockets')
    finally:
        del os.environ['FI_PROVIDER']
    goes_by(world, 'FI_EP_RDM', 'sockets')
    for _ in range(2):
        work(*world.pair())


if __name__ == '__main__':
    machines.enter_namespaces()
    machines.connect_machines(2)
    sys.exit(machines.main([value for name, value in list(globals().items()) if name.startswith('test_')],
                           machines.World, *sys.argv[1:4], only=sys.argv[4:]))
