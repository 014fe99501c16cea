#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run a live view in a terminal of 80 columns ($COLUMNS) and 24 lines, end it, and look at what it did to the terminal.

    watch_top.py HOW COMMAND...

HOW is a key to press ("q") or a signal's name ("SIGTERM"). Prints the
last view line by line, then "status" and the exit status, or the signal that ended it, and fails when the terminal is not as it was.
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


def start(command):
    """The process, our end of its terminal and its own, which we can look at behind its end, and how that was before."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack('HHHH', 24, int(os.environ.get('COLUMNS', '80')), 0, 0))
    before = termios.tcgetattr(its)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(its, termios.TIOCSCTTY, 0)
        for fd in (0, 1, 2):
            os.dup2(its, fd)
        os.environ['TERM'] = 'xterm'
        for ends in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):  # a shell's "&" and nohup ignore some
            signal.signal(ends, signal.SIG_DFL)
        os.execv(command[0], command)
    return pid, ours, its, before


def read_until(fd, seen, is_enough):
    """Read on until that is true of all that was read; 60 s at most."""
    end = time.monotonic() + 60
    while not is_enough(seen):
        left = end - time.monotonic()
        assert left > 0 and select.select([fd], [], [], left)[0], f'what is expected does not come behind {seen[-300:]!r}'
        seen += os.read(fd, 65536)
    return seen


def main():
    how, command = sys.argv[1], sys.argv[2:]
    pid, fd, its, before = start(command)
    seen = read_until(fd, b'', lambda s: s.count(b'\x1b[J') >= 2)
    assert seen.startswith(OTHER), 'the view is not on the other screen'
    assert USUAL not in seen
    assert termios.tcgetattr(its) != before, 'keys are not read one by one'
    view = seen.split(b'\x1b[H')[-1].split(b'\x1b[J')[0]
    if how.startswith('SIG'):
        os.kill(pid, getattr(signal, how))
    else:
        os.write(fd, how.encode())
    seen = read_until(fd, seen, lambda s: s.count(USUAL) == s.count(OTHER))
    status = os.waitpid(pid, 0)[1]
    assert termios.tcgetattr(its) == before, 'the terminal is not as it was'
    print(re.sub(r'\x1b\[[0-9;?]*[a-zA-Z]', '', view.decode()).replace('\r', ''), end='')
    print('status', os.WEXITSTATUS(status) if os.WIFEXITED(status) else signal.Signals(os.WTERMSIG(status)).name)


main()
