# SPDX-License-Identifier: BSD-3-Clause
"""Tests of DOCA applications on a simulated BlueField card, with pytest.

plugin.py has the fixtures and the marker; doc/python.md explains them. This package needs nothing but Python 3.9, pytest 7
and the command `bfsim`.

    session.py     a session: a card, the programs on its sides, how it ends
    process.py     one program on a side
    faults.py      the session's fault plan
    recording.py   its clock, trace and counts
    check.py       hits of the checker, as text
    command.py     the command bfsim
    keeper.py      a process that ends sessions when pytest itself is killed
"""
from .command import BfsimError
from .process import Process, WaitTimeout
from .session import Session, SessionFailed

__all__ = ["BfsimError", "Process", "Session", "SessionFailed", "WaitTimeout"]
