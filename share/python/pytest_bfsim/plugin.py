# SPDX-License-Identifier: BSD-3-Clause
"""The plugin: fixtures, the marker, and what makes a test fail.

A test gets a session of its own. When its function returns, its programs are ended and what they leave is judged; so
fixtures that are torn down later find the session live, and its programs ended. Then the session ends, however the test
went.
"""
import os
import re

import pytest
from _pytest._code.code import ReprFileLocation  # pytest has no public name for what its short summary reads

from .command import BfsimError, find_bfsim
from .session import Session

SESSION = pytest.StashKey[Session]()
SETTINGS = ("seed", "topology", "clock", "check", "require_faults", "trace_level")
MARKER = """bfsim(seed=0, topology=None, clock="functional", check="api", require_faults=True, trace_level="sampled"): \
the test's session on a simulated card; several seeds (a list or range) are as many tests; doc/python.md of bfsim explains it"""


def pytest_addoption(parser):
    group = parser.getgroup("bfsim", "sessions on a simulated BlueField card")
    group.addoption("--bfsim", metavar="PROGRAM", help="the command bfsim (default: $BFSIM, else that in PATH)")
    group.addoption("--bfsim-keep", metavar="DIR", help="keep traces and outputs of failed tests in DIR")


def pytest_configure(config):
    config.addinivalue_line("markers", MARKER)


def pytest_report_header(config):
    try:
        return f"bfsim: {find_bfsim(config.getoption('--bfsim'))}"
    except BfsimError as error:
        return f"bfsim: {error}"


def pytest_generate_tests(metafunc):
    """Make a test for each seed of the marker."""
    if "bfsim_seed" in metafunc.fixturenames:
        seed = _settings_of(metafunc.definition).get("seed", 0)
        if isinstance(seed, (list, tuple, range)):
            metafunc.parametrize("bfsim_seed", list(seed))


@pytest.fixture
def bfsim_seed(request):
    """The seed of the test's session."""
    return _settings_of(request.node).get("seed", 0)


@pytest.fixture
def bfsim_session(request, bfsim_seed):
    """The test's session, as its marker describes it: a pytest_bfsim.Session."""
    settings = {**_settings_of(request.node), "seed": bfsim_seed}
    session, refusal = None, None
    try:
        session = Session(folder=request.path.parent, program=request.config.getoption("--bfsim"), **settings)
    except BfsimError as error:
        refusal = str(error)
    if refusal:
        pytest.fail(refusal, pytrace=False)
    request.node.stash[SESSION] = session
    try:
        yield session
    finally:
        session.close()


@pytest.fixture
def bfsim_spawn(bfsim_session):
    """spawn(side, command, after=None, env=None, cwd=None, generation=None): start a program; returns a Process."""
    return bfsim_session.spawn


@pytest.fixture
def bfsim_faults(bfsim_session):
    """The fault plan of the test's session: a Faults."""
    return bfsim_session.faults


@pytest.fixture
def bfsim_clock(bfsim_session):
    """The clock of the test's session: a Clock."""
    return bfsim_session.clock


@pytest.fixture
def bfsim_trace(bfsim_session):
    """What the test's programs have recorded: a Trace."""
    return bfsim_session.trace


@pytest.fixture
def bfsim_stats(bfsim_session):
    """Counts of the test's tasks: a Stats."""
    return bfsim_session.stats


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """After the test's function: end its programs, and let the test fail for the session's problems. A failure's report has
    them and the output of all programs."""
    session = item.stash.get(SESSION, None)
    problems = _judge(session, call) if session and call.when == "call" else []
    outcome = yield
    report = outcome.get_result()
    if report.failed and "bfsim_session" in item.fixturenames:
        _name_reason(report, item, call)
    if session and report.failed and call.when != "teardown":
        report.sections += _sections(session, problems)
        _keep(session, item)


def _name_reason(report, item, call):
    """Give a failure without a traceback its reason in the short summary and in JUnit's message, as one with a traceback has it."""
    if call.excinfo.errisinstance(pytest.fail.Exception) and getattr(report.longrepr, "reprcrash", True) is None:
        report.longrepr.reprcrash = ReprFileLocation(str(item.path), (item.location[1] or 0) + 1, str(call.excinfo.value))


def _judge(session, call):
    """Returns the problems that are not what the test fails for."""
    session.end_programs()
    problems = session.find_problems()
    if not problems or call.excinfo is not None:
        return problems
    try:
        pytest.fail("\n".join(problems), pytrace=False)
    except pytest.fail.Exception:
        call.excinfo = pytest.ExceptionInfo.from_current()
    return []


def _sections(session, problems):
    sections = [("bfsim: also", "\n".join(problems))] if problems else []
    try:
        sections.append(("bfsim: session", "\n".join(session.describe())))
    except BfsimError as error:  # a fault may have killed the daemon
        sections.append(("bfsim: session", str(error)))
    for process in session.processes:
        for name in ("stdout", "stderr"):
            text = getattr(process, name)
            if text:
                sections.append((f"bfsim: {name} of {process.name}", text))
    return sections


def _keep(session, item):
    """Keep what tells about a failure, if an option asks for it."""
    parent = item.config.getoption("--bfsim-keep")
    if not parent:
        return
    directory = os.path.join(parent, re.sub(r"[^\w.\[\]-]+", "-", item.nodeid))
    os.makedirs(directory, exist_ok=True)
    try:
        session.trace.save(os.path.join(directory, "trace.bfsim"))
    except BfsimError as error:
        item.warn(pytest.PytestWarning(f"there is no trace: {error}"))
    for process in session.processes:
        with open(os.path.join(directory, f"{process.file_name}.log"), "w", encoding="utf-8") as file:
            file.write(process.stdout + process.stderr)


def _settings_of(node):
    """Return the arguments of the test's markers; the closest ones count."""
    settings = {}
    for marker in reversed(list(node.iter_markers("bfsim"))):
        unknown = set(marker.kwargs) - set(SETTINGS)
        if unknown or marker.args:
            wrong = ", ".join(sorted(unknown)) or "an argument without a name"
            raise pytest.UsageError(f"{node.nodeid}: the marker bfsim does not know {wrong}; it has {', '.join(SETTINGS)}")
        settings.update(marker.kwargs)
    return settings
