# SPDX-License-Identifier: BSD-3-Clause
"""The end of sessions: all their processes, the daemon and the directory, also when pytest is killed.

pytest starts this file as a process of its own, the keeper, and tells it by a pipe which sessions there are. The pipe ends
when pytest does, in any way; then the keeper ends the sessions that are left.
"""
import os
import shutil
import signal
import subprocess
import sys
import time


def processes_of(directory):
    """Return the ids of this user's processes that were started in a session: its directory is in their environment, so
    those that have left their process group or their parent are found as well."""
    mark = b"\0BFSIM_SESSION=" + os.fsencode(directory) + b"\0"
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if mark in b"\0" + file.read() + b"\0":
                    found.append(int(name))
        except OSError:  # it has ended, or is another user's
            continue
    return found


def kill_processes(directory, timeout_s=10):
    """Kill the processes of a session, and those that they start meanwhile. Returns the ids of those that do not die."""
    until = time.monotonic() + timeout_s
    left = processes_of(directory)
    while left and time.monotonic() < until:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)
        left = processes_of(directory)
    return left


def end_session(program, directory, root):
    """End a session: its processes, its daemon and @root, the directory that all its files are in."""
    kill_processes(directory)
    if os.path.isdir(directory):
        subprocess.run([program, "down", "--session", directory], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
    shutil.rmtree(root, ignore_errors=True)


class Keeper:
    """This process's keeper; it starts with the first session."""

    def __init__(self):
        self._process = None

    def add(self, program, directory, root):
        """From now on, end this session when this process ends."""
        if not self._process or self._process.poll() is not None:
            self._process = subprocess.Popen([sys.executable, "-SE", os.path.abspath(__file__)], stdin=subprocess.PIPE,
                                             start_new_session=True, text=True)
        self._tell("add", program, directory, root)

    def remove(self, program, directory, root):
        """The session has ended."""
        try:
            self._tell("remove", program, directory, root)
        except BrokenPipeError:  # the keeper was killed
            pass

    def _tell(self, *words):
        self._process.stdin.write("\t".join(words) + "\n")
        self._process.stdin.flush()


keeper = Keeper()


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # pytest gets it, too, and ends its sessions itself
    sessions = []
    for line in sys.stdin:
        word, *session = line.rstrip("\n").split("\t")
        if word == "add":
            sessions.append(session)
        else:
            sessions.remove(session)
    for session in sessions:
        end_session(*session)


if __name__ == "__main__":
    main()
