#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Send a command signal NUMBER as soon as it has made its first directory.

    signal_at_mkdir.py NUMBER COMMAND...

Prints "status" and the exit status or the signal's name.
"""
import ctypes
import os
import platform
import signal
import sys

PTRACE_TRACEME, PTRACE_DETACH, PTRACE_SYSCALL = 0, 17, 24
PTRACE_SETOPTIONS, PTRACE_GET_SYSCALL_INFO = 0x4200, 0x420e
PTRACE_O_TRACESYSGOOD, PTRACE_O_EXITKILL = 1, 0x100000
SYSCALL_STOP = signal.SIGTRAP | 0x80
ENTRY = 1  # PTRACE_SYSCALL_INFO_ENTRY
MKDIR = {'x86_64': (83, 258), 'aarch64': (34,)}[platform.machine()]  # mkdir, mkdirat

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(request, pid, address=None, data=None):
    if libc.ptrace(request, pid, address, data) < 0:
        raise OSError(ctypes.get_errno(), f'ptrace({request})')


def syscall_info(pid):
    """struct ptrace_syscall_info: (op, number at the entry)."""
    info = ctypes.create_string_buffer(88)
    ptrace(PTRACE_GET_SYSCALL_INFO, pid, len(info), ctypes.addressof(info))
    return info.raw[0], int.from_bytes(info.raw[24:32], 'little')


def start(command):
    pid = os.fork()
    if pid == 0:
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):  # a shell's "&" ignores some
            signal.signal(number, signal.SIG_DFL)
        ptrace(PTRACE_TRACEME, 0)
        os.execvp(command[0], command)
    os.waitpid(pid, 0)  # it stops in execvp()
    ptrace(PTRACE_SETOPTIONS, pid, None, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)
    return pid


def run_until_made(pid):
    made, passed_on = False, 0
    while True:
        ptrace(PTRACE_SYSCALL, pid, None, passed_on)
        _, status = os.waitpid(pid, 0)
        assert os.WIFSTOPPED(status), 'the command has ended and made no directory'
        passed_on = 0
        if os.WSTOPSIG(status) != SYSCALL_STOP:
            passed_on = os.WSTOPSIG(status)
            continue
        op, number = syscall_info(pid)
        if op != ENTRY and made:
            return
        made = op == ENTRY and number in MKDIR


def main(number, *command):
    pid = start(command)
    run_until_made(pid)
    os.kill(pid, int(number))
    ptrace(PTRACE_DETACH, pid)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    print('status', code if code >= 0 else signal.Signals(-code).name)


main(*sys.argv[1:])
