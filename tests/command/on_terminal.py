#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run a command on a terminal, and print what it writes there: on_terminal.py COMMAND..."""
import os
import pty
import sys


def main():
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[1], sys.argv[1:])
    while True:
        try:
            text = os.read(terminal, 65536)
        except OSError:  # EIO: the last writer has closed the terminal
            break
        if not text:
            break
        os.write(1, text)
    _, status = os.waitpid(pid, 0)
    sys.exit(os.waitstatus_to_exitcode(status) & 0xff)


main()
