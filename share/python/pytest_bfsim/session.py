# SPDX-License-Identifier: BSD-3-Clause
"""A session: a simulated card, and the programs of a test on its sides."""
import json
import os
import shlex
import shutil
import tempfile
import time

from . import check
from .command import BfsimError, Command, find_bfsim
from .faults import Faults
from .keeper import kill_processes, keeper
from .process import POLL_S, Process, WaitTimeout
from .recording import Clock, Stats, Trace

__tracebackhide__ = True  # a failure points at the line of the test


class SessionFailed(AssertionError):
    """The test ran, but its session shows that it must not pass: Session.find_problems()."""


class Session:
    """A card with its daemon, from the creation of this object until close().

    The object owns a temporary directory, the daemon, and all programs that it starts; also those die that have left their
    process group. If this Python process is killed, a process beside it does that.

    In a `with` statement, the end of the block is the end of the session, and raises SessionFailed when there are problems.

    topology         a YAML file, YAML as text of several lines, or a dictionary; None: one BlueField-3 with two ports
    clock            "functional", "timed" or "virtual"
    seed             of random faults
    check            how the checker watches the programs: "api", "races", "strict", or None
    require_faults   whether a rule of the fault plan that never hit is a problem
    trace_level      "sampled", "full" or "off"
    folder           the working directory of programs, and where relative names of topologies begin
    program          the command bfsim; None: see find_bfsim()

    Raises BfsimError with bfsim's message.

    seed, clock_mode  as given
    directory, root   the session's directory, and that around it, with the output of programs
    faults, clock, trace, stats  see faults.py and recording.py
    processes         all that were spawned, in their order
    """

    def __init__(self, topology=None, clock="functional", seed=0, check="api", require_faults=True, trace_level="sampled",
                 folder=None, program=None):
        _check_mode(check)
        self.folder = os.path.abspath(folder or os.curdir)
        self.clock_mode = clock
        self.seed = seed
        self.processes = []
        self._known_sides = set()
        self._check = check
        self._require_faults = require_faults
        program = find_bfsim(program)
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="bfsim-pytest-"))
        self.directory = os.path.join(self.root, "session")
        self._command = Command(program, self.directory)
        self._kept = (self._command.program, self.directory, self.root)
        self._is_open = True
        keeper.add(*self._kept)
        try:
            self._start(topology, clock, trace_level)
        except BaseException:
            self.close()
            raise
        self.trace = Trace(self._command)
        self.faults = Faults(self._command, self.trace)
        self.clock = Clock(self._command)
        self.stats = Stats(self._command)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        try:
            self.end_programs()
            problems = self.find_problems() if kind is None else []
        finally:
            self.close()
        if problems:
            raise SessionFailed("\n".join(problems))

    def spawn(self, side, command, after=None, env=None, cwd=None, generation=None, timeout=60):
        """Start a program on a side of the card.

        command      a list of words, or text for /bin/sh
        after        a service of Comch or Comm Channel: wait until a program offers it, at most @timeout seconds
        env          further environment variables, a dictionary
        cwd          its working directory, relative to the session's folder
        generation   "task", "task-2.5" or "workq"; None: by the program

        Returns a Process. Raises BfsimError (there is no such side), or WaitTimeout.
        """
        if after:
            self.wait_for_service(after, timeout)
        words = ["/bin/sh", "-c", command] if isinstance(command, str) else [os.fspath(word) for word in command]
        options = ["--on", side, *(["--generation", generation] if generation else []), "--"]
        self._check_side(side)
        environment = {**self._check_environment(), **(env or {})}
        shown = command if isinstance(command, str) else shlex.join(words)
        process = Process(self, self._name_for(side), side, shown, self._command.words("exec", *options, *words),
                          environment, os.path.join(self.folder, cwd or ""))
        self.processes.append(process)
        return process

    def wait(self, timeout=60):
        """Wait for the end of all programs. @timeout: seconds, for all of them. Raises WaitTimeout, or SessionFailed when
        one of them ended with another status than 0."""
        until = time.monotonic() + timeout
        for process in self.processes:
            process.wait(max(0, until - time.monotonic()))
        failed = [process for process in self.processes if not process.was_ended and process.status != 0]
        if failed:
            raise SessionFailed("\n".join(self._describe_status(process) for process in failed))

    def wait_for_service(self, name, timeout=60):
        """Wait until a program offers a service of Comch or Comm Channel. @timeout: seconds. Raises WaitTimeout, also when
        all programs have ended."""
        until = time.monotonic() + timeout
        while not self._command.succeeds("ps", f"--ready={name}"):
            if time.monotonic() > until:
                raise WaitTimeout(self.explain(f'no program offers the service "{name}" after {timeout} s'))
            if not any(process.is_running() for process in self.processes):
                raise WaitTimeout(self.explain(f'no program offers the service "{name}", and none runs'))
            time.sleep(POLL_S)

    def hits(self):
        """Return the checker's hits in programs of this session until now, each a dictionary (sim/check/hit.h)."""
        return check.read_hits(self.root)

    def is_lost(self):
        """Return whether the daemon has died, such as by a fault."""
        return not self._command.succeeds("ps", "--ready")

    def explain(self, what):
        """Return @what with the state of all programs, and the tasks in flight."""
        lines = [what, *(f"  {process!r}"[:200] for process in self.processes)]
        try:
            lines += [f"  in flight: {line}" for line in self.stats.in_flight()]
        except BfsimError as error:
            lines.append(f"  {error}")
        return "\n".join(lines)

    def describe(self):
        """Return lines about the session: seed, clock, programs, and the fault plan with its hits."""
        lines = [f"seed {self.seed}, clock {self.clock_mode}", *map(repr, self.processes)]
        return [*lines, *(f"fault {fault.id} hit {fault.fired} of {fault.matched}: {fault.rule}" for fault in self.faults.list())]

    def end_programs(self):
        """End all programs: SIGTERM to those that run, and after two seconds SIGKILL."""
        for process in self.processes:
            process.ask_to_end()
        until = time.monotonic() + 2
        for process in self.processes:
            process.end(max(0, until - time.monotonic()))

    def find_problems(self):
        """Return why a test must not pass although nothing was raised: a text for each hit of the checker of severity error,
        each program that failed without being asked for its status, each rule of the fault plan that never hit, and the death
        of the daemon."""
        problems = [check.format_hit(hit) for hit in self.hits() if check.is_error(hit)]
        problems += [self._describe_status(process) for process in self.processes if process.has_failed_unseen()]
        return problems + (self._find_unfired() if self._require_faults else [])

    def close(self):
        """End the session: its programs, its daemon and its directory. It is no error to close it again."""
        if not self._is_open:
            return
        self._is_open = False
        try:
            self.end_programs()
        finally:
            kill_processes(self.directory)
            for process in self.processes:
                process.close()
            if os.path.isdir(self.directory):
                self._command.succeeds("down")
            shutil.rmtree(self.root, ignore_errors=True)
            keeper.remove(*self._kept)

    def _start(self, topology, clock, trace_level):
        options = ["--clock", clock, "--trace-level", trace_level]
        if topology is not None:
            options += ["--topology", self._topology_file(topology)]
        self._command.call("up", *options)
        if self.seed:
            self._command.call("fault add", "--seed", str(self.seed))

    def _find_unfired(self):
        try:
            return [f"fault {fault.id} never hit: {fault.rule}" for fault in self.faults.unfired()]
        except BfsimError as error:
            return [f"the session was lost: {error}"]

    def _describe_status(self, process):
        """Return how it ended, and if a signal ended it, what the programs of its side had in flight at their end."""
        status = process.peek_status()
        lines = [f"{process.name} ended with status {status}: {process.command}"]
        try:
            left = self.stats.in_flight(alive=False) if status > 128 else []
        except BfsimError as error:
            left = [f"{process.side}: {error}"]
        return "\n".join(lines + [f"  in flight at its end: {line}" for line in left if line.startswith(process.side + ": ")])

    def _topology_file(self, topology):
        """Return the path of a file that has it. JSON is YAML."""
        if isinstance(topology, dict):
            topology = json.dumps(topology, indent=1) + "\n"
        elif "\n" not in os.fspath(topology):
            return os.path.join(self.folder, topology)
        path = os.path.join(self.root, "topology.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(topology)
        return path

    def _check_environment(self):
        if not self._check:
            return {"BFSIM_CHECK": "off"}
        return {"BFSIM_CHECK": self._check, "BFSIM_CHECK_REPORT": check.report_path(self.root), "BFSIM_CHECK_FAIL": "none"}

    def _check_side(self, side):
        """bfsim exec would say it in the output of a program that seems to have started."""
        if side not in self._known_sides:
            self._command.call("exec", "--on", side, "--", "true")
            self._known_sides.add(side)

    def _name_for(self, side):
        count = sum(process.side == side for process in self.processes)
        return f"{side}#{count + 1}" if count else side


def _check_mode(mode):
    if mode is not None and mode not in check.MODES:
        raise BfsimError(f"check={mode!r}: give one of {', '.join(map(repr, check.MODES))}, or None")
