#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A daemon whose messages have another version: it hangs up at each request, and ends at SIGTERM.

    other_version.py DIR     makes DIR; prints "ready"
"""
import fcntl
import os
import signal
import socket
import struct
import sys

os.mkdir(sys.argv[1], 0o700)
os.chdir(sys.argv[1])
lock = os.open('lock', os.O_RDWR | os.O_CREAT, 0o600)
F_OFD_SETLK = 37
fcntl.fcntl(lock, F_OFD_SETLK, struct.pack('hhqqi4x', fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listening.bind('bfsimd.sock')
os.chmod('bfsimd.sock', 0o600)
listening.listen(8)


def end(*_):
    for name in ('bfsimd.sock', 'lock'):
        os.unlink(name)
    os._exit(0)


signal.signal(signal.SIGTERM, end)
print('ready', flush=True)
while True:
    process = listening.accept()[0]
    process.recv(65536)
    process.close()
