# SPDX-License-Identifier: BSD-3-Clause
"""The C model, asked by lines of text (predict.c)."""
import atexit
import os
import shlex
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SOURCES = ["ci/calibration/predict.c", "pcie_model/engine.c", "pcie_model/link.c", "pcie_model/net.c", "pcie_model/profile.c"]
BATCH = 64  # lines that surely fit into a pipe


def compile_model():
    """The program, built from the sources beside us: they need nothing but a compiler."""
    folder = tempfile.mkdtemp(prefix="bfsim-calibrate-")
    atexit.register(shutil.rmtree, folder, True)
    program = os.path.join(folder, "predict")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    built = subprocess.run([*compiler, "-std=gnu11", "-O2", "-D_GNU_SOURCE", "-I", TOP, "-o", program,
                            *(os.path.join(TOP, source) for source in SOURCES)], check=False)
    if built.returncode != 0:
        raise SystemExit("calibrate: the model does not compile, see above")
    return program


class Model:
    """A running model. Constants that are set stay set until the next fresh()."""

    def __init__(self, program=None):
        self.program = program or compile_model()
        self.process = None
        self.fresh()

    def fresh(self):
        """As it was compiled."""
        self.close()
        self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.settings = {}  # (profile, whether of RDMA) -> {constant's name: value}, as far as set
        self.answers = {}   # (line, settings of its model) -> answer

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()
            self.process = None

    def ask(self, lines):
        """One answer for each line."""
        answers = []
        for start in range(0, len(lines), BATCH):
            batch = lines[start:start + BATCH]
            self.process.stdin.write("\n".join(batch) + "\n")
            self.process.stdin.flush()
            for line in batch:
                answer = self.process.stdout.readline()
                if not answer or answer.startswith("error"):
                    raise SystemExit(f"calibrate: the model cannot answer \"{line}\": {answer.strip()}")
                answers.append(answer.split())
        return answers

    def set(self, constant, value):
        """Of all profiles that share the constant."""
        for profile in constant.profiles:
            self.settings.setdefault((profile, constant.rdma), {})[constant.name] = value
        self.ask([f"set {profile} {constant.name} {value}" for profile in constant.profiles])

    def predict(self, rows):
        """What the model says for each row, in the row's metric."""
        settings = {row.model: tuple(self.settings.get(row.model, {}).items()) for row in rows}
        keys = [(line_of(row), settings[row.model]) for row in rows]
        new = [key for key in dict.fromkeys(keys) if key not in self.answers]
        self.answers.update(zip(new, self.ask([line for line, _ in new])))
        return [in_metric(row, self.answers[key]) for row, key in zip(rows, keys)]


def line_of(row):
    if row.comch:
        return f"comch {row.profile}"
    verb = "rdma" if row.rdma else "predict"
    return f"{verb} {row.profile} " + " ".join(f"{key}={value}" for key, value in sorted(row.question.items()))


def in_metric(row, answer):
    if row.comch:
        period_ps = latency_ps = int(answer[0])
    else:
        period_ps, latency_ps = (int(number) for number in answer)
    if row.metric == "latency_us":
        return latency_ps / 1e6
    if row.metric == "rate_Mops":
        return 1e6 / period_ps if period_ps else float("inf")
    return row.bytes * 1e3 / period_ps if period_ps else float("inf")
