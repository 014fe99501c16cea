# SPDX-License-Identifier: BSD-3-Clause
"""Sets the free constants: the values for which predictions are nearest to the rows.

One constant after the other takes the value that makes the sum of the squares of
the relative errors smallest, until none moves. Steps become smaller from round to
round; starting points are fixed, so that the same rows give the same constants.
"""
import re
from dataclasses import dataclass

BOTH = ("bluefield-2", "bluefield-3")


@dataclass(frozen=True)
class Constant:
    """A free constant: its macro in fitted.h, its name to the model, whose it is, where to start, what it is."""
    macro: str
    name: str
    profiles: tuple
    start: int
    meaning: str
    rdma: bool = False

    def concerns(self, row):
        return row.profile in self.profiles and row.rdma == self.rdma


CONSTANTS = (
    Constant("BF2_CPU_SUBMIT_PS", "cpu-submit-ps", ("bluefield-2",), 150_000,
             "an Arm core's time to submit a task"),
    Constant("BF2_ACCEPT_PS", "accept-ps", BOTH, 100_000,
             "the engine takes no more than one job in this time"),
    Constant("BF2_READ_GAP_PS", "read-gap-ps", ("bluefield-2",), 50_000,
             "what each read costs the path that data takes, besides its bytes"),
    Constant("BF2_WRITE_FS_PER_BYTE", "write-fs-per-byte", ("bluefield-2",), 50_000,
             "ceiling of writes to the host"),
    Constant("BF2_COMCH_ONE_WAY_PS", "comch-one-way-ps", BOTH, 20_000_000,
             "a control message from program to program"),
    Constant("BF3_CPU_SUBMIT_PS", "cpu-submit-ps", ("bluefield-3",), 150_000,
             "an Arm core's time to submit a task"),
    Constant("BF3_CPU_REPORT_PS", "cpu-report-ps", BOTH, 100_000,
             "its time to learn of a task's end, if the end is reported by itself"),
    Constant("BF3_COMPLETE_PS", "complete-ps", BOTH, 1_000_000,
             "from the last byte to the completion in the program's hand"),
    Constant("BF3_CHANNEL_FS_PER_BYTE", "channel-fs-per-byte", BOTH, 100_000,
             "what one task alone can reach"),
    Constant("BF3_READ_FS_PER_BYTE", "read-fs-per-byte", ("bluefield-3",), 30_000,
             "ceiling of reads from the host"),
    Constant("BF3_WRITE_FS_PER_BYTE", "write-fs-per-byte", ("bluefield-3",), 30_000,
             "ceiling of writes to the host"),
    Constant("BF3_LOCAL_FS_PER_BYTE", "local-fs-per-byte", ("bluefield-3",), 20_000,
             "ceiling of copies within the card's memory"),
    Constant("BF3_DPA_SUBMIT_PS", "dpa-submit-ps", ("bluefield-3",), 1_500_000,
             "a DPA unit's time for a copy"),
    Constant("BF3_DPA_ACCEPT_PS", "dpa-accept-ps", ("bluefield-3",), 500_000,
             "all DPA units together have no more than one copy in this time"),
    Constant("BF3_COMCH_SEND_PS", "comch-send-ps", BOTH, 800_000,
             "an Arm core's time for a control message"),
    Constant("BF3_RDMA_REQUEST_PS", "rdma-request-ps", BOTH, 900_000,
             "from the submission of a request to its first byte at the port", True),
    Constant("BF3_RDMA_FETCH_PS", "rdma-fetch-ps", BOTH, 800_000,
             "added if its data are fetched from memory", True),
    Constant("BF3_RDMA_PORT_PS", "rdma-port-ps", BOTH, 500_000,
             "a port's time for a packet, on its way out or in", True),
    Constant("BF3_RDMA_RESPOND_PS", "rdma-respond-ps", BOTH, 900_000,
             "from a request for data at the responder's port to their first byte", True),
    Constant("BF3_RDMA_COMPLETE_PS", "rdma-complete-ps", BOTH, 900_000,
             "from the last packet at the requester's port to the completion in the program's hand", True),
    Constant("BF3_RDMA_READ_FS_PER_BYTE", "rdma-read-fs-per-byte", BOTH, 90_000,
             "ceiling of a read", True),
    Constant("BF3_RDMA_LOOP_FS_PER_BYTE", "rdma-loop-fs-per-byte", BOTH, 90_000,
             "rate between two ends at one port", True),
)
STEPS = (0.25, 0.1, 0.04, 0.015, 0.005)  # relative
MAX_ROUNDS = 12


def errors(model, rows):
    """Relative, of each row."""
    return [abs(predicted - row.value) / row.value for row, predicted in zip(rows, model.predict(rows))]


def cost(model, rows):
    return sum(error ** 2 for error in errors(model, rows))


def rounded(value):
    """To three digits: more would claim more than the rows know."""
    digits = len(str(int(value))) - 3
    return max(1, int(round(value / 10 ** digits)) * 10 ** digits) if digits > 0 else max(1, int(round(value)))


def improve(model, rows, values, constant, step):
    """Move one constant by the step, up or down, while that helps. Returns whether it did."""
    concerned = [row for row in rows if constant.concerns(row)]
    best = cost(model, concerned)
    moved = False
    for factor in (1 + step, 1 / (1 + step)):
        while True:
            trial = rounded(values[constant] * factor)
            model.set(constant, trial)
            result = cost(model, concerned)
            if trial == values[constant] or result >= best:
                break
            best, values[constant], moved = result, trial, True
        model.set(constant, values[constant])
    return moved


def fit(model, rows):
    """Constant -> value, for these rows."""
    values = {constant: constant.start for constant in CONSTANTS}
    for constant in CONSTANTS:
        model.set(constant, values[constant])
    for step in STEPS:
        for _ in range(MAX_ROUNDS):
            # A list: each constant has its turn, whatever the others did.
            if not any([improve(model, rows, values, constant, step) for constant in CONSTANTS]):
                break
    return values


def source_of(row):
    """The repository, of "owner/name path, section": enough to find the rows by."""
    return re.split(r"[ ,]", row.text["source"])[0]


def supporters(model, rows, values, constant):
    """The rows that would notice if the constant were larger by a fifth."""
    before = model.predict(rows)
    model.set(constant, int(values[constant] * 1.2))
    after = model.predict(rows)
    model.set(constant, values[constant])
    return [row for row, old, new in zip(rows, before, after) if abs(new - old) > 0.01 * old]


def header_text(model, rows, values):
    """fitted.h with these values."""
    lines = ["/* SPDX-License-Identifier: BSD-3-Clause */",
             "/* pcie_model/fitted.h - timing constants of the profiles that were fitted to measurements.",
             " *",
             " * Written by ci/calibrate --fit from ci/calibration/bluefield_measurements.csv and rdma_measurements.csv,",
             " * which have each row's source. With each constant stand the rows that it rests upon.",
             " */",
             "#ifndef PCIE_FITTED_H", "#define PCIE_FITTED_H"]
    for constant in CONSTANTS:
        basis = supporters(model, rows, values, constant)
        where = ", ".join(dict.fromkeys(source_of(row) for row in basis)) or "nowhere: its starting point"
        count = f"{len(basis)} row{'' if len(basis) == 1 else 's'}: " if basis else ""
        lines += ["", f"/* {constant.meaning[0].upper()}{constant.meaning[1:]}.", f" * {count}{where} */",
                  f"#define {constant.macro} {values[constant]}"]
    return "\n".join(lines + ["", "#endif", ""])
