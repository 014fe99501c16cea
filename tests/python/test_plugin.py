# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the pytest plugin: pytest runs tests that use it, in processes of their own, with the programs of comch_hello."""
import configparser
import os
import re
import signal
import subprocess
import sys
import time
import tomllib

import pytest

SOURCES = os.environ["SOURCES"]
PLUGIN = os.path.join(SOURCES, "share", "python")
PYTEST = [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", "."]


class Runner:
    """Runs test files in a folder with the programs host, dpu, breaker and trace_peer."""

    def __init__(self, folder):
        self.folder = folder
        self.tmp = folder / "tmp"
        self.tmp.mkdir()
        for name, variable in (("host", "HELLO_HOST"), ("dpu", "HELLO_DPU"), ("breaker", "BREAKER"), ("trace_peer", "TRACE_PEER")):
            (folder / name).symlink_to(os.environ[variable])
        self.env = {**os.environ, "PYTHONPATH": PLUGIN, "TMPDIR": str(self.tmp), "COLUMNS": "200"}

    def start(self, text, *options):
        (self.folder / "test_it.py").write_text("import os\nimport pytest\n" + text)
        return subprocess.Popen([*PYTEST, "-p", "pytest_bfsim.plugin", "test_it.py", *options], cwd=self.folder, env=self.env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, text, *options, **counts):
        """Run tests; @counts: how many passed, failed, ... Returns what pytest printed. Nothing may be left."""
        output = self.start(text, *options).communicate(timeout=120)[0]
        self.must_be_gone()
        for word, count in counts.items():
            assert re.search(rf"\b{count} {word}\b", output.splitlines()[-1]), output
        return output

    def must_be_gone(self, timeout_s=30):
        until = time.monotonic() + timeout_s
        while (left := list(self.tmp.iterdir()) + self.processes()) and time.monotonic() < until:
            time.sleep(0.02)
        assert left == []

    def processes(self):
        """The ids of processes that have the temporary directory in their environment."""
        mark = f"TMPDIR={self.tmp}\0".encode()
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if mark in file.read():
                        found.append(int(name))
            except OSError:
                pass
        return found


@pytest.fixture
def runner(tmp_path):
    runner = Runner(tmp_path)
    yield runner
    for pid in runner.processes():
        os.kill(pid, signal.SIGKILL)


def test_the_example_of_the_manual_passes(runner):
    with open(os.path.join(SOURCES, "doc", "python.md"), encoding="utf-8") as file:
        example = re.search(r"```python\n(.*?)```", file.read(), re.DOTALL).group(1)
    assert len(example.splitlines()) == 10
    assert "seed" in runner.run(example, "--markers")
    runner.run(example, passed=3)


def test_a_hit_of_the_checker_fails_the_test_with_its_report(runner):
    text = """
@pytest.mark.bfsim(check=CHECK)
def test_it(bfsim_spawn):
    assert bfsim_spawn("host", ["./breaker", "first", "fork", "second"]).wait() == 0
"""
    output = runner.run(text.replace("CHECK", "'api'"), failed=1)
    assert len(re.findall(r"^bfsim check: error BFC-TASK-001: doca_task_submit: ", output, re.MULTILINE)) >= 2
    assert re.search(r"^      at break_rule \(.*breaker.c:\d+\)$", output, re.MULTILINE)
    assert re.search(r"^    remedy: ", output, re.MULTILINE)
    assert "AssertionError" not in output
    runner.run(text.replace("CHECK", "None"), passed=1)


def test_the_text_of_a_hit_is_the_checkers_own(runner):
    runner.run("""
from pytest_bfsim.check import format_hit
@pytest.mark.bfsim(check="races")
def test_it(bfsim_session):
    breaker = bfsim_session.spawn("host", "./breaker first")
    bfsim_session.wait()
    hits = bfsim_session.hits()
    assert [hit["rule"] for hit in hits] == ["BFC-TASK-001"]
    assert format_hit(hits[0]) in breaker.stderr
    assert os.path.isabs(hits[0]["stack"][0].get("dir", "/"))
    bfsim_session.find_problems = lambda: []
""", passed=1)


def test_a_fault_fails_the_test_with_the_output_of_programs(runner):
    output = runner.run("""
def test_it(bfsim_session):
    bfsim_session.faults.add("comch.connect fail=IO_FAILED")
    bfsim_session.spawn("dpu", "./dpu")
    host = bfsim_session.spawn("host", "./host", after="comch_hello")
    assert host.wait() == 0
""", failed=1)
    assert "cannot start the client: Input/Output Operation Failed" in output
    assert "fault 1 hit 1 of 1: comch.connect fail=IO_FAILED" in output
    assert "bfsim: stderr of host" in output
    assert "<host: ./host, process" in output


def test_an_expected_fault_is_counted_and_seen(runner):
    runner.run("""
@pytest.mark.bfsim(topology={"cards": [{"profile": "bluefield-2", "functions": [
    {"side": "dpu", "type": "pf", "pci": "03:00.0"}, {"side": "host", "type": "pf", "pci": "b1:00.0"}]}]})
def test_it(bfsim_spawn, bfsim_faults, bfsim_trace, bfsim_stats):
    fault = bfsim_faults.add("dma.memcpy side=dpu nth=3 fail=IO_FAILED")
    other = bfsim_faults.add("dma.memcpy side=host hang")
    other.remove()
    assert bfsim_spawn("dpu", "./trace_peer 2").wait() == 0
    assert (fault.matched, fault.fired) == (2, 0)
    assert bfsim_faults.unfired()[0].id == fault.id
    bfsim_spawn("dpu", "./trace_peer 1").wait()
    assert (fault.matched, fault.fired) == (3, 1)
    (event,) = bfsim_faults.events()
    assert event["text"] == fault.rule and event["side"] == "dpu" and event["time_ns"] > 0
    assert bfsim_stats.tasks(side="dpu", operation="DMA memcpy") == {"submitted": 3, "completed": 2, "failed": 1, "bytes": 128}
    assert bfsim_stats.tasks(side="host")["submitted"] == 0
    assert [task["status"] for task in bfsim_trace.events("task")] == ["ok", "ok", "DOCA_ERROR_IO_FAILED"]
    assert open(bfsim_trace.save("t.json")).read().startswith("{")
    with pytest.raises(RuntimeError, match="unknown operation"):
        bfsim_faults.add("dma.memcopy hang")
""", passed=1)


def test_what_was_not_tested_or_not_looked_at_fails(runner):
    output = runner.run("""
def test_fault(bfsim_faults):
    bfsim_faults.add("dma.memcpy nth=1 hang")
def test_status(bfsim_session):
    bfsim_session.spawn("dpu", "exit 3")
    bfsim_session.spawn("dpu", ["sleep", "1000"])
    bfsim_session.processes[0].end(60)
def test_status_of_all(bfsim_session):
    bfsim_session.spawn("dpu", "kill -ABRT $$")
    bfsim_session.wait()
@pytest.mark.xfail(strict=True)
def test_known(bfsim_faults):
    bfsim_faults.add("dma.memcpy nth=1 hang")
@pytest.mark.bfsim(require_faults=False)
def test_allowed(bfsim_session):
    bfsim_session.faults.add("dma.memcpy nth=1 hang")
    assert bfsim_session.spawn("dpu", "exit 3").wait() == 3
""", failed=3, passed=1, xfailed=1)
    assert re.search("^fault 1 never hit: dma.memcpy nth=1 hang$", output, re.MULTILINE)
    assert re.search("^dpu ended with status 3: exit 3$", output, re.MULTILINE)
    for line in ("test_fault - fault 1 never hit: dma.memcpy nth=1 hang", "test_status - dpu ended with status 3: exit 3"):
        assert re.search("^FAILED .*::" + line, output, re.MULTILINE), line
    assert "dpu#2 ended" not in output
    assert "dpu ended with status 134: kill -ABRT" in output


def test_a_program_that_dies_says_what_was_in_flight(runner):
    output = runner.run("""
def test_it(bfsim_session):
    bfsim_session.spawn("dpu", "./trace_peer 3 die 9")
    bfsim_session.processes[0].end(60)
@pytest.mark.bfsim(topology="nowhere.yaml")
def test_setup(bfsim_session):
    pass
""", failed=1, error=1)
    assert re.search(r"^FAILED .*::test_it - dpu ended with status 137: ./trace_peer", output, re.MULTILINE)
    assert re.search(r"^  in flight at its end: dpu: 1 of DMA memcpy, in dma #1 on mlx5_0$", output, re.MULTILINE)
    assert re.search(r"^ERROR .*::test_setup - .*nowhere.yaml", output, re.MULTILINE)


def test_a_wait_in_vain_says_what_is_in_flight(runner):
    output = runner.run("""
def test_end(bfsim_spawn, bfsim_faults):
    bfsim_faults.add("dma.memcpy nth=2 hang")
    peer = bfsim_spawn("dpu", "exec ./trace_peer 2")
    while not bfsim_faults.events():
        assert peer.is_running()
    peer.wait(timeout=0.1)
def test_line(bfsim_spawn):
    bfsim_spawn("dpu", "echo one").wait_for("^two$")
def test_service(bfsim_spawn):
    bfsim_spawn("dpu", "true")
    bfsim_spawn("host", "true", after="door")
""", failed=3)
    assert "dpu still runs after 0.1 s" in output
    assert re.search(r"in flight: dpu: 1 of DMA memcpy, in dma #\d+ on mlx5_0", output)
    assert 'no line of dpu matches "^two$" and it has ended with status 0' in output
    assert 'no program offers the service "door", and none runs' in output


def test_programs_are_spoken_to(runner):
    runner.run("""
def test_it(bfsim_session, bfsim_clock):
    cat = bfsim_session.spawn("host", ["cat"])
    cat.write("a line\\n")
    assert cat.wait_for("^a (.*)$").group(1) == "line"
    cat.close_input()
    assert cat.wait() == 0
    env = bfsim_session.spawn("dpu", 'echo "$BFSIM_SIDE $X $PWD"', env={"X": "y"}, cwd="tmp")
    assert env.wait() == 0 and env.stdout == f"dpu y {os.getcwd()}/tmp\\n"
    stubborn = bfsim_session.spawn("dpu#2"[:3], "trap '' TERM; echo armed; while :; do sleep 0.05; done")
    stubborn.wait_for("armed")
    assert stubborn.name == "dpu#2"
    assert stubborn.terminate(timeout=0.1) == 137
    assert bfsim_clock.mode == "functional"
    before = bfsim_clock.now_ns
    assert bfsim_clock.now_ns > before > 0
""", passed=1)


def test_virtual_time_repeats(runner):
    runner.run("""
import pytest_bfsim
def run():
    with pytest_bfsim.Session(clock="virtual", topology=None) as session:
        session.spawn("dpu", "./trace_peer 4 big")
        session.wait()
        assert session.clock.mode == "virtual" and session.clock.now_ns > 0
        return session.clock.now_ns, session.trace.events()
def test_it():
    assert run() == run()
def test_problems():
    with pytest.raises(pytest_bfsim.SessionFailed, match="BFC-TASK-001"), pytest_bfsim.Session() as session:
        session.spawn("host", "./breaker first")
        session.wait()
""", passed=2)


PROGRAMS_THAT_STAY = """
def start(session):
    session.spawn("dpu", "exec ./trace_peer 1 stay").wait_for("ready")
    session.spawn("dpu", "trap '' TERM; echo armed; while :; do sleep 0.05; done").wait_for("armed")
    session.spawn("host", "setsid sh -c 'trap \\"\\" TERM; echo $$; exec sleep 1000' & wait").wait_for("[0-9]")
    session.spawn("host", "(setsid sleep 1000 >/dev/null 2>&1 &)").wait()
"""


def test_nothing_is_left_by_a_failure(runner):
    runner.run(PROGRAMS_THAT_STAY + """
def test_it(bfsim_session):
    start(bfsim_session)
    assert False, "on purpose"
@pytest.fixture
def broken(bfsim_session):
    start(bfsim_session)
    raise ValueError("on purpose")
def test_fixture(broken):
    pass
""", failed=1, error=1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_by_an_interrupted_run(runner, number):
    process = runner.start(PROGRAMS_THAT_STAY + """
def test_it(bfsim_session):
    start(bfsim_session)
    open("armed", "w").close()
    bfsim_session.processes[0].wait()
""")
    while not (runner.folder / "armed").exists():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.02)
    assert len(runner.processes()) >= 6
    process.send_signal(number)
    process.communicate(timeout=60)
    runner.must_be_gone()


def test_mistakes_are_named(runner):
    output = runner.run("""
@pytest.mark.bfsim(clok="virtual")
def test_marker(bfsim_session):
    pass
""")
    assert "test_marker: the marker bfsim does not know clok; it has seed, topology, clock, check" in output
    output = runner.run("""
@pytest.mark.bfsim(clock="vritual")
def test_clock(bfsim_session):
    pass
@pytest.mark.bfsim(check="all")
def test_check(bfsim_session):
    pass
@pytest.mark.bfsim(topology="nowhere.yaml")
def test_topology(bfsim_session):
    pass
def test_side(bfsim_spawn):
    bfsim_spawn("dpuu", "true")
""", errors=3, failed=1)
    assert "vritual" in output
    assert "During handling" not in output and "Try `" not in output
    assert "check='all': give one of 'api', 'races', 'strict', or None" in output
    assert "nowhere.yaml" in output
    assert 'has no side "dpuu"; its sides are: dpu, host' in output
    assert re.search(r"^>       bfsim_spawn\(.dpuu.", output, re.MULTILINE)
    output = runner.run("def test_it(bfsim_session): pass", "--bfsim", "./nothing", error=1)
    assert "./nothing is not a program: install bfsim, or name its program by --bfsim or $BFSIM" in output


def test_a_session_that_was_lost_is_no_success(runner):
    output = runner.run("""
def test_it(bfsim_session):
    bfsim_session.faults.add("daemon from=1ms kill")
    while not bfsim_session.is_lost():
        pass
""", failed=1)
    assert re.search("^the session was lost: bfsim: ", output, re.MULTILINE)


def test_a_failure_leaves_its_trace(runner):
    runner.run("""
def test_it(bfsim_spawn):
    bfsim_spawn("dpu", "./trace_peer 3; exit 1").wait()
    assert False
""", "--bfsim-keep", "kept", failed=1)
    assert (runner.folder / "kept" / "test_it.py-test_it" / "trace.bfsim").read_bytes().startswith(b"bfsim recording")
    assert (runner.folder / "kept" / "test_it.py-test_it" / "dpu.log").exists()


def test_what_pip_installs_is_what_is_installed():
    with open(os.path.join(os.path.dirname(os.environ["METADATA"]), "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)["project"]
    with open(os.environ["METADATA"], encoding="utf-8") as file:
        metadata = dict(line.rstrip("\n").split(": ", 1) for line in file)
    entries = configparser.ConfigParser()
    entries.read(os.path.join(PLUGIN, "entry_points.txt"))
    version = subprocess.run([os.environ["BFSIM"], "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert f'bfsim {project["version"]}' == version.splitlines()[0]
    assert (project["name"], project["version"]) == (metadata["Name"], metadata["Version"])
    assert project["entry-points"] == {name: dict(entries[name]) for name in entries.sections()}
    assert project["requires-python"] == metadata["Requires-Python"]
    assert project["dependencies"] == [metadata["Requires-Dist"]]


def test_pytest_finds_what_is_installed(runner):
    """By the entry point, as in the directory of an installation."""
    site = runner.folder / "site"
    info = site / "pytest_bfsim-0.dist-info"
    info.mkdir(parents=True)
    (site / "pytest_bfsim").symlink_to(os.path.join(PLUGIN, "pytest_bfsim"))
    (info / "entry_points.txt").symlink_to(os.path.join(PLUGIN, "entry_points.txt"))
    (info / "METADATA").symlink_to(os.environ["METADATA"])
    env = {name: value for name, value in runner.env.items() if name != "PYTEST_DISABLE_PLUGIN_AUTOLOAD"}
    (runner.folder / "test_it.py").write_text("def test_it(bfsim_clock):\n    assert bfsim_clock.mode == 'functional'\n")
    output = subprocess.run([*PYTEST, "test_it.py"], cwd=runner.folder, env={**env, "PYTHONPATH": str(site)},
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    assert "1 passed" in output, output
    assert re.search(r"^plugins: .*bfsim-\d", output, re.MULTILINE), output
