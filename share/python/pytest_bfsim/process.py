# SPDX-License-Identifier: BSD-3-Clause
"""A program on one side of a session's card."""
import os
import re
import signal
import subprocess
import time

from .command import clean_environment

__tracebackhide__ = True  # a failure points at the line of the test

POLL_S = 0.01


class WaitTimeout(AssertionError):
    """A wait timed out; the text says what still runs and what was in flight."""


class Process:
    """A program that Session.spawn() started. The session ends it at the end of the test, if it still runs.

    name       its side, with a number behind the first: "dpu", "dpu#2"; file_name is the same for names of files
    side       "host", "dpu" or another side of the topology
    command    as it was given to spawn()
    pid        process id; after `bfsim exec`, the program's own
    """

    def __init__(self, session, name, side, command, words, environment, cwd):
        self.name = name
        self.side = side
        self.command = command
        self.status_was_read = False
        self.was_ended = False  # by terminate(), kill() or the session: its status is no failure
        self._session = session
        self.file_name = name.replace("/", "-")
        self._paths = {kind: os.path.join(session.root, f"{self.file_name}.{kind}") for kind in ("out", "err")}
        with open(self._paths["out"], "wb") as out, open(self._paths["err"], "wb") as err:
            info = os.fstat(out.fileno())  # so that programs that use DOCA write whole lines (bfsim run does the same)
            environment = {**clean_environment(), **environment, "BFSIM_OUTPUT": f"{info.st_dev}:{info.st_ino}"}
            self._popen = subprocess.Popen(words, env=environment, cwd=cwd, stdin=subprocess.PIPE, stdout=out, stderr=err,
                                           start_new_session=True)
        self.pid = self._popen.pid

    def __repr__(self):
        state = "runs" if self.is_running() else f"status {self.peek_status()}{' (ended by the test)' if self.was_ended else ''}"
        return f"<{self.name}: {self.command}, process {self.pid}, {state}>"

    def is_running(self):
        """Return whether it has not ended yet."""
        return self._popen.poll() is None

    @property
    def status(self):
        """Its exit status, 128 + N for a signal N, None while it runs."""
        self.status_was_read = True
        return self.peek_status()

    def peek_status(self):
        """Return the same, without counting as a question of the test: a failure is still reported at the end."""
        return None if self.is_running() else _status_of(self._popen.returncode)

    @property
    def stdout(self):
        """The text that it has written to standard output so far."""
        return self._read("out")

    @property
    def stderr(self):
        """The text that it has written to standard error so far; reports of the checker are among it."""
        return self._read("err")

    def wait(self, timeout=60):
        """Wait for its end. @timeout: seconds of the machine's clock. Returns the exit status (128 + N for a signal N).
        Raises WaitTimeout."""
        try:
            self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise WaitTimeout(self._session.explain(f"{self.name} still runs after {timeout} s")) from None
        return self.status

    def wait_for(self, pattern, timeout=60):
        """Wait until a line of its standard output matches a regular expression (re.search). Returns the match. Raises
        WaitTimeout, also when the program ends without such a line."""
        until = time.monotonic() + timeout
        while True:
            runs = self.is_running()  # asked first: what it has written before its end is read below
            match = re.search(pattern, self.stdout, re.MULTILINE)
            if match:
                return match
            if not runs or time.monotonic() > until:
                why = f"after {timeout} s" if runs else f"and it has ended with status {self.peek_status()}"
                raise WaitTimeout(self._session.explain(f'no line of {self.name} matches "{pattern}" {why}'))
            time.sleep(POLL_S)

    def write(self, text):
        """Write to its standard input, which otherwise stays open and empty."""
        self._popen.stdin.write(text.encode())
        self._popen.stdin.flush()

    def close_input(self):
        """End its standard input."""
        self._popen.stdin.close()

    def terminate(self, timeout=2):
        """End it, and what runs in its process group: SIGTERM, and after @timeout seconds SIGKILL. Returns the exit status;
        that which it had before, if it has ended already."""
        self.ask_to_end()
        self.end(timeout)
        return self.status

    def kill(self):
        """End it, and what runs in its process group, by SIGKILL. Returns the exit status."""
        self.end(0)
        return self.status

    def ask_to_end(self):
        """Send SIGTERM to it and its process group, without waiting."""
        self._signal_group(signal.SIGTERM)

    def end(self, timeout):
        """Wait for its end for @timeout seconds, then kill it and its process group."""
        try:
            self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self._signal_group(signal.SIGKILL)
            self._popen.wait()

    def close(self):
        """Release its pipe; it must have ended."""
        try:
            self._popen.stdin.close()
        except BrokenPipeError:  # written, but never read
            pass

    def has_failed_unseen(self):
        """Return whether it ended by itself with a failure that the test never asked about."""
        return not (self.is_running() or self.was_ended or self.status_was_read) and self._popen.returncode != 0

    def _signal_group(self, number):
        if self.is_running():  # else the number of the group may be another's by now
            self.was_ended = True
            os.killpg(self.pid, number)

    def _read(self, kind):
        with open(self._paths[kind], encoding="utf-8", errors="replace") as file:
            return file.read()


def _status_of(returncode):
    return returncode if returncode >= 0 else 128 - returncode
