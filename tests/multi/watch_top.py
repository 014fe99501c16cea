#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run a live view in a terminal of 80 columns ($COLUMNS) and 24 lines, end it, and look at what it did to the terminal.

    watch_top.py HOW COMMAND...

HOW is what to do, with commas between: a key to press ("q", "^C"; the view goes on after "h"), a signal's name ("SIGTERM"), or "^Z", behind which
it is to be stopped, with the terminal as it was before, and goes on. Prints the last view line by line, then
"status" and the exit status, or the signal that ended it, and fails when the terminal is not as it was.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

OTHER, USUAL = b'\x1b[?1049h', b'\x1b[?25h\x1b[?1049l'


def be_shell(command, its, events, orders):
    """Lead the terminal's session, and the command in the foreground, as a shell does: else it can't be stopped."""
    os.setsid()
    fcntl.ioctl(its, termios.TIOCSCTTY, 0)
    for fd in (0, 1, 2):
        os.dup2(its, fd)
    os.environ['TERM'] = 'xterm'
    in_front, go = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.close(go)
        os.read(in_front, 1)
        for ends in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):  # a shell's "&" and nohup ignore some
            signal.signal(ends, signal.SIG_DFL)
        os.execv(command[0], command)
    os.setpgid(pid, pid)
    os.tcsetpgrp(0, pid)
    os.close(go)
    os.write(events, struct.pack('i', pid))
    while True:
        status = os.waitpid(pid, os.WUNTRACED)[1]
        os.write(events, struct.pack('i', status))
        if not os.WIFSTOPPED(status):
            os._exit(0)
        os.read(orders, 1)
        os.kill(pid, signal.SIGCONT)


class Command:
    """In a terminal: our end of it, and its own, which we can look at behind its end, and how that was before."""

    def __init__(self, command):
        self.ours, self.its = pty.openpty()
        fcntl.ioctl(self.its, termios.TIOCSWINSZ, struct.pack('HHHH', 24, int(os.environ.get('COLUMNS', '80')), 0, 0))
        self.before = termios.tcgetattr(self.its)
        self.events, events = os.pipe()
        orders, self.orders = os.pipe()
        if os.fork() == 0:
            be_shell(command, self.its, events, orders)
        self.pid = self.event()

    def event(self):
        """Its process id, then what waitpid() says of it."""
        assert select.select([self.events], [], [], 60)[0], 'it does not end, nor stop'
        return struct.unpack('i', os.read(self.events, 4))[0]

    def has_terminal(self):
        return termios.tcgetattr(self.its) != self.before

    def go_on(self):
        os.write(self.orders, b'.')


def read_until(fd, seen, is_enough):
    """Read on until that is true of all that was read; 60 s at most."""
    end = time.monotonic() + 60
    while not is_enough(seen):
        left = end - time.monotonic()
        assert left > 0 and select.select([fd], [], [], left)[0], f'what is expected does not come behind {seen[-300:]!r}'
        seen += os.read(fd, 65536)
    return seen


def watch(command, seen):
    """Until it has shown two views more."""
    enough = seen.count(b'\x1b[J') + 2
    seen = read_until(command.ours, seen, lambda s: s.count(b'\x1b[J') >= enough)
    assert seen.rfind(OTHER) > seen.rfind(USUAL), 'the view is not on the other screen'
    assert command.has_terminal(), 'keys are not read one by one'
    return seen


def do(command, how):
    if how.startswith('SIG'):
        os.kill(command.pid, getattr(signal, how))
    else:
        os.write(command.ours, bytes([ord(how[1]) & 0x1f]) if how[0] == '^' else how.encode())


def leave(command, seen):
    """It gives the terminal back, then stops or ends."""
    seen = read_until(command.ours, seen, lambda s: s.count(USUAL) == s.count(OTHER))
    status = command.event()
    assert not command.has_terminal(), 'the terminal is not as it was'
    return seen, status


def main():
    command = Command(sys.argv[2:])
    seen = b''
    for how in sys.argv[1].split(','):
        seen = watch(command, seen)
        if how == 'h':
            do(command, how)
            continue
        view = seen.split(b'\x1b[H')[-1].split(b'\x1b[J')[0]
        do(command, how)
        seen, status = leave(command, seen)
        if how == '^Z':
            assert os.WIFSTOPPED(status), 'it is not stopped'
            command.go_on()
    print(re.sub(r'\x1b\[[0-9;?]*[a-zA-Z]', '', view.decode()).replace('\r', ''), end='')
    print('status', os.WEXITSTATUS(status) if os.WIFEXITED(status) else signal.Signals(os.WTERMSIG(status)).name)


main()
