# SPDX-License-Identifier: BSD-3-Clause
"""What a session says about itself: its clock, its trace, its counts."""
import csv
import io
import os

__tracebackhide__ = True  # a failure points at the line of the test

NUMBERS = ("time_ns", "pid", "thread", "object_number", "bytes", "in_flight", "began_ns", "ended_ns", "reaped_ns", "stream",
           "number")


class Clock:
    """The session's clock. Times are nanoseconds since the session began."""

    def __init__(self, command):
        self._command = command

    @property
    def mode(self):
        """"functional", "timed" or "virtual"; doc/time.md of bfsim explains them."""
        return self._command.query("ps")["clock"]

    @property
    def now_ns(self):
        """Session time."""
        return self._command.query("ps")["time_ns"]


class Trace:
    """What the session's programs have recorded, also those that have ended. doc/trace.md of bfsim explains it."""

    def __init__(self, command):
        self._command = command

    def events(self, kind=None):
        """Return the events until now in the order of time, each a dictionary by the columns of the CSV file: numbers (times
        in ns) are int, what an event does not have is None. @kind: only this sort, such as "task", "fault" or "hit"."""
        rows = csv.DictReader(io.StringIO(self._command.call("trace", "--format", "csv")))
        events = [{name: _value(name, text) for name, text in row.items()} for row in rows]
        return [event for event in events if kind in (None, event["event"])]

    def save(self, path):
        """Write the trace to a file: CSV if its name ends in .csv, spans of OpenTelemetry if in .jsonl, a recording for
        bfsim report if in .bfsim, else JSON for https://ui.perfetto.dev. Returns @path."""
        self._command.call("trace", "--output", os.path.abspath(path))
        return path


class Stats:
    """Exact counts of tasks and messages, also of programs that have ended."""

    def __init__(self, command):
        self._command = command

    def processes(self):
        """Return what `bfsim stats --json` has about each process: a list of dictionaries."""
        return self._command.query("stats")["processes"]

    def tasks(self, side=None, operation=None):
        """Return the sums of "submitted", "completed", "failed" and "bytes" of tasks. @side, @operation (such as "DMA
        memcpy"): only of these."""
        sums = dict.fromkeys(("submitted", "completed", "failed", "bytes"), 0)
        for process in self.processes():
            for context in process["contexts"] if side in (None, process["side"]) else ():
                for entry in context["operations"]:
                    if operation in (None, entry["name"]):
                        for name in sums:
                            sums[name] += entry[name]
        return sums

    def in_flight(self, alive=True):
        """Return a line for each kind of task in flight, such as "dpu: 3 of DMA memcpy, in dma #1 on mlx5_0"; with @alive
        False, those of programs that have ended."""
        lines = []
        for process in self.processes():
            for context in process["contexts"]:
                for entry in context["operations"]:
                    count = entry["submitted"] - entry["completed"] - entry["failed"]
                    if process["alive"] == alive and count > 0:
                        lines.append(f'{process["side"]}: {count} of {entry["name"]}, in {context["name"]} '
                                     f'#{context["number"]} on {context["device"]}')
        return lines


def _value(name, text):
    if not text:
        return None
    return int(text) if name in NUMBERS else text
