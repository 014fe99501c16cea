#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Take away what a command writes to, and see that it ends.

    hang_up.py HOW PATTERN COMMAND...

HOW is what its standard output is: "pipe", which loses its reader; "terminal", its input too, of another session, so that no
signal tells of the end; "session", a terminal whose session it leads, so that it gets SIGHUP. It is taken away when the output
matches PATTERN. Prints "status" and the exit status or the signal's name, then "cpu" and the seconds that it has
used; kills the command and fails when it does not end within a minute.
"""
import fcntl
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import termios
import time


def read_until(fd, pattern):
    seen, end = b'', time.monotonic() + 60
    while not re.search(pattern.encode(), seen):
        left = end - time.monotonic()
        assert left > 0 and select.select([fd], [], [], left)[0], f'what is expected does not come behind {seen[-300:]!r}'
        seen += os.read(fd, 65536)


def start(how, command):
    """Returns the process, and our end of its output."""
    ours, its = os.pipe() if how == 'pipe' else pty.openpty()

    def prepare():
        for number in (signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):  # a shell's "&" ignores some
            signal.signal(number, signal.SIG_DFL)
        if how == 'session':
            fcntl.ioctl(its, termios.TIOCSCTTY, 0)

    os.environ['TERM'] = 'xterm'
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL if how == 'pipe' else its, stdout=its,
                               start_new_session=True, preexec_fn=prepare)
    os.close(its)
    return process, ours


def main(how, pattern, *command):
    process, ours = start(how, command)
    try:
        read_until(ours, pattern)
        os.close(ours)
        process.wait(60)
    finally:
        if process.poll() is None:
            process.kill()
    status = process.returncode
    print('status', status if status >= 0 else signal.Signals(-status).name)
    print('cpu', resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)


main(*sys.argv[1:])
