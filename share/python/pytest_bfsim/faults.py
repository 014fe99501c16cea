# SPDX-License-Identifier: BSD-3-Clause
"""The fault plan of a session. doc/faults.md of bfsim is the manual of rules."""
__tracebackhide__ = True  # a failure points at the line of the test


class Fault:
    """A rule of the plan.

    id    its number, which the session never uses again
    rule  its text, in bfsim's spelling
    """

    def __init__(self, faults, entry):
        self._faults = faults
        self._entry = entry
        self.id = entry["id"]
        self.rule = entry["rule"]

    def __repr__(self):
        return f"<fault {self.id}: {self.rule}>"

    @property
    def matched(self):
        """How many operations have met its conditions, until now or until it was removed."""
        return self._refresh()["matched"]

    @property
    def fired(self):
        """How many of them it has hit, until now or until it was removed."""
        return self._refresh()["fired"]

    def remove(self):
        """Take it out of the plan. Raises BfsimError if it is not in the plan any more."""
        self._refresh()
        self._faults.command.call("fault rm", str(self.id))

    def _refresh(self):
        for fault in self._faults.list():
            if fault.id == self.id:
                self._entry = fault._entry
        return self._entry


class Faults:
    """The plan of one session. All methods raise BfsimError with bfsim's message, such as what is wrong with a rule."""

    def __init__(self, command, trace):
        self.command = command
        self._trace = trace

    def add(self, rule):
        """Append a rule: operations that begin from now on are hit. Returns the Fault."""
        self.command.call("fault add", "--", rule)
        return self.list()[-1]

    def list(self):
        """Return the rules of the plan, each a Fault, in their order."""
        return [Fault(self, entry) for entry in self.command.query("fault list")]

    def clear(self):
        """Remove all rules."""
        self.command.call("fault clear")

    def seed(self, number):
        """Set the seed of random faults, from now on."""
        self.command.call("fault add", "--seed", str(number))

    def events(self):
        """Return the faults that were injected until now, in the order of time: rows of the trace (Trace.events()), of
        which "text" is the rule."""
        return self._trace.events("fault")

    def unfired(self):
        """Return the rules that have not hit yet."""
        return [fault for fault in self.list() if fault._entry["fired"] == 0]
