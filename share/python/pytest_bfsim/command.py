# SPDX-License-Identifier: BSD-3-Clause
"""The command bfsim: where it is, and how it is called."""
import json
import os
import shutil
import subprocess

__tracebackhide__ = True  # a failure points at the line of the test

TIMEOUT_S = 60  # each command answers in milliseconds; a machine under load may need longer


class BfsimError(RuntimeError):
    """bfsim refused; the text is its own message."""


def find_bfsim(given=None):
    """Return the path of bfsim: @given (an option), else $BFSIM, else in PATH, else of the installation that this file
    belongs to. Raises BfsimError if there is none."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "bin", "bfsim")
    wanted = given or os.environ.get("BFSIM")
    path = shutil.which(wanted or "bfsim") or (None if wanted else shutil.which(os.path.normpath(own)))
    if not path:
        where = f"{wanted} is not a program" if wanted else "bfsim is not in PATH"
        raise BfsimError(f"{where}: install bfsim, or name its program by --bfsim or $BFSIM")
    return os.path.abspath(path)


def clean_environment():
    """Return this process's environment without the session that it may be in itself."""
    return {name: value for name, value in os.environ.items() if name not in ("BFSIM_SESSION", "BFSIM_SIDE")}


class Command:
    """Calls of bfsim for one session. @program: its path; @directory: the session's."""

    def __init__(self, program, directory):
        self.program = program
        self.directory = directory

    def words(self, name, *arguments):
        """Return the command line of a subcommand on this session. @name: such as "fault list"."""
        return [self.program, *name.split(), "--session", self.directory, *arguments]

    def call(self, name, *arguments):
        """Run a subcommand and return what it printed. Raises BfsimError with its message if it fails."""
        done = subprocess.run(self.words(name, *arguments), env=clean_environment(), stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT_S)
        if done.returncode != 0:
            message = [line for line in done.stderr.splitlines() if not line.startswith("Try `bfsim")]
            raise BfsimError("\n".join(message) or f"bfsim {name} ended with status {done.returncode}")
        return done.stdout

    def query(self, name, *arguments):
        """Run a subcommand that prints JSON, and return that."""
        return json.loads(self.call(name, *arguments, "--json"))

    def succeeds(self, name, *arguments):
        """Return whether a subcommand ends with 0; its output is dropped."""
        return subprocess.run(self.words(name, *arguments), env=clean_environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT_S).returncode == 0
