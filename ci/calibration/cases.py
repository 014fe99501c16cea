# SPDX-License-Identifier: BSD-3-Clause
"""What each row of a file of measurements asks of the model, or why it is left out.

Rows are never known by their values: what decides is the operation, the
conditions in the columns, and what the source itself says in its note.
"""
import csv
import math
import re
from dataclasses import dataclass, field

PROFILES = {"BlueField-2": "bluefield-2", "BlueField-3": "bluefield-3", "ConnectX-7": "connectx-7"}
WITHOUT_ENGINE = ("ConnectX-7",)
DIRECTIONS = {"host_to_dpu": "read", "dpu_to_host": "write", "dpu_local": "local"}
METRICS = ("rate_Mops", "throughput_GBps", "latency_us")

# Operation -> what it is besides jobs of a size in a window.
OPERATIONS = {
    "dma_read": {},
    "dma_write": {},
    "dma_memcpy": {},
    "dma_write_sync": {"window": 1},  # submits one and waits for it
    # A record is read when the read that announces it is back; credits go back meanwhile.
    "dma_read_dependent_chain": {"window": 1, "before": 1},
    "dpa_dma_copy_pure": {"issuer": "dpa"},
    # The unit looks at a flag in host memory before each copy.
    "dpa_dma_copy_with_host_descriptor_ring": {"issuer": "dpa", "before": 1},
    # The same, and one Arm core sends a control message for each copy.
    "dpa_dma_copy_plus_arm_control_send": {"issuer": "dpa", "before": 1, "sends": 1},
}

# Operations over the network, and where the two ends are.
RDMA_OPERATIONS = {"rdma_send": "send", "rdma_write": "write", "rdma_read": "read", "rdma_atomic": "atomic"}
RDMA_DIRECTIONS = {"host_to_remote_host": 0, "host_to_same_host_loopback": 1}

NOT_MODELLED = [
    (r"pingpong_", "programs on both sides poll, check and answer within the figure: not the engine's latency"),
    (r"tcp_", "the management network, which is not simulated"),
    (r"decompress", "another engine than the one for copies"),
    (r"_fit_", "a constant that its source fitted, not a measurement, under conditions that are not published"),
    (r"pcie_added_latency", "no card of ours: a range for hosts in general"),
]

PEAK = {"window": 64, "queues": 8}  # where only a peak is given: what saturates; as many cores as a BlueField-2 has
SMALL_BYTES = 16384                 # below, the rate of jobs decides, not their bytes
ENOUGH_BUFFERS = 8
MAX_BYTES = 2**40                   # as the model has it

COLUMNS = ("device", "direction", "operation", "size_bytes", "queue_depth", "threads", "metric", "value")
OPTIONAL = ("source", "note")


@dataclass
class Row:
    """One row, and what became of it: a question to the model, or a reason to leave it out."""
    number: int
    text: dict
    device: str = ""
    metric: str = ""
    value: float = 0.0
    bytes: int = 0
    profile: str = ""
    comch: bool = False
    rdma: bool = False
    question: dict = field(default_factory=dict)
    left_out: str = ""

    @property
    def model(self):
        """Which constants it depends on."""
        return self.profile, self.rdma

    @property
    def group(self):
        """What its error is averaged with: device, metric."""
        return self.device, ("rdma_" if self.rdma else "") + self.metric


class LeaveOut(Exception):
    """A reason."""


def device_of(text):
    """The device without what its source says about the host."""
    return re.sub(r"\s*\(.*", "", text)


def number_of(text, what):
    try:
        value = float(text)
    except ValueError:
        raise LeaveOut(f"its {what} is no number: \"{text}\"") from None
    if not math.isfinite(value):
        raise LeaveOut(f"its {what} is no number: \"{text}\"")
    if value <= 0:
        raise LeaveOut(f"its {what} is not positive")
    return value


def size_of(text):
    value = number_of(text, "size")
    if value != int(value):
        raise LeaveOut(f"its size is no whole number: {text}")
    if value > MAX_BYTES:
        raise LeaveOut(f"its size is above {MAX_BYTES}")
    return int(value)


def count_of(text, what, default):
    """A number of jobs or threads. Not given, or a word of the source's, is the default."""
    if not re.fullmatch(r"-?[0-9.]+", text):
        return default
    if not text.isdecimal() or int(text) == 0:
        raise LeaveOut(f"its {what} is no number of them: {text}")
    return int(text)


def check_note(row):
    note = row.text["note"]
    tail = re.match(r"p(\d+(\.\d+)?);", note)
    if tail and float(tail[1]) > 50:
        raise LeaveOut("a tail: the model has no jitter")
    if note.startswith("prose"):
        raise LeaveOut("rounded figures from prose")
    buffers = re.search(r"\bN=(\d+)", note)
    if buffers and int(buffers[1]) < ENOUGH_BUFFERS:
        raise LeaveOut("few buffers in turn: the source has 0.9 and 3.6 Mops for the same setting, and does not know why")
    published = re.search(r"frontier polled|publishes through a sync event", note)
    if published and row.bytes < SMALL_BYTES:
        raise LeaveOut("small records announced by the host as it goes: that sets the rate, "
                       "and the source has from 7.8 to 19.0 GB/s for the same 4096 bytes")


def ask_rdma(row):
    """The same of a request over the network, with data in the request as far as the note says."""
    text = row.text
    if text["direction"] not in RDMA_DIRECTIONS:
        raise LeaveOut(f"its direction is \"{text['direction']}\"")
    row.rdma = True
    row.question = {"op": RDMA_OPERATIONS[text["operation"]], "bytes": row.bytes,
                    "loop": RDMA_DIRECTIONS[text["direction"]],
                    "window": min(count_of(text["queue_depth"], "queue_depth", 1), 1024)}
    if count_of(text["threads"], "threads", 1) > 1:
        raise LeaveOut("several connections at a time")
    for key, pattern in (("mtu", r"path MTU (\d+)"), ("inline", r"max inline (\d+)")):
        found = re.search(pattern, text["note"])
        if found:
            row.question[key] = int(found[1])
    if row.metric != "latency_us":
        row.question.setdefault("inline", 0)  # as perftest's runs of bandwidth by default


def ask(row):
    """Fill in the row's question."""
    text = row.text
    threads, depth = text["threads"], text["queue_depth"]
    operation = OPERATIONS.get(text["operation"])
    if text["operation"] == "comch_control_one_way":
        row.comch = True
        return
    if text["operation"] in RDMA_OPERATIONS:
        ask_rdma(row)
        return
    if operation is None:
        raise LeaveOut(f"nothing here is called {text['operation']}")
    if text["direction"] not in DIRECTIONS:
        raise LeaveOut(f"its direction is \"{text['direction']}\"")
    question = {"direction": DIRECTIONS[text["direction"]], "bytes": row.bytes}
    if not depth and not threads:
        question.update(PEAK)
    else:
        question.update(window=min(count_of(depth, "queue_depth", PEAK["window"]), 1024),
                        queues=min(count_of(threads, "threads", 1), 32))
    if re.search(r"optimize-reports|same plus ordered", text["note"]):
        question["quiet"] = 1
    mixed = re.search(r"alternates (\d+) and (\d+) bytes", text["note"])  # size_bytes is their mean
    if mixed:
        question["bytes"], question["other"] = (size_of(size) for size in mixed.groups())
    link = re.search(r"PCIe Gen([1-6])", text["note"])
    if link:
        question["gen"] = int(link[1])
    question.update(operation)
    row.question = question


def judge(row):
    text = row.text
    row.device, row.metric = device_of(text["device"]), text["metric"]
    for pattern, reason in NOT_MODELLED:
        if re.search(pattern, text["operation"]):
            raise LeaveOut(reason)
    if row.device not in PROFILES:
        raise LeaveOut(f"no profile is for {row.device}")
    row.profile = PROFILES[row.device]
    if row.metric not in METRICS:
        raise LeaveOut(f"no prediction is called {row.metric}")
    row.value = number_of(text["value"], "value")
    if "comch_control_send_call" not in text["operation"]:
        row.bytes = size_of(text["size_bytes"])
    check_note(row)
    ask(row)
    if row.device in WITHOUT_ENGINE and not row.rdma:
        raise LeaveOut(f"{row.device} has no engine that copies for applications")


def lines_of(path):
    """(line's number, {column: text}) of each row. The columns may come in any order, and with others."""
    try:
        # Spreadsheets put a mark before the first column.
        with open(path, newline="", encoding="utf-8-sig") as file:
            table = csv.DictReader(file)
            for column in COLUMNS:
                if column not in (table.fieldnames or []):
                    raise SystemExit(f"calibrate: {path}: there is no column '{column}'")
            for text in table:
                yield table.line_num, text
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SystemExit(f"calibrate: {path}: {error}") from None


def read_rows(path):
    """All rows of a file; its columns are those of bluefield_measurements.csv."""
    rows = []
    for number, text in lines_of(path):
        is_short = None in text.values()
        text = dict.fromkeys(OPTIONAL, "") | {key: (value or "").strip() for key, value in text.items() if key}
        row = Row(number, text)
        try:
            if is_short:
                raise LeaveOut("it has fewer columns than the first line")
            judge(row)
        except LeaveOut as reason:
            row.left_out = str(reason)
        rows.append(row)
    if not rows:
        raise SystemExit(f"calibrate: {path}: there are no rows")
    return rows
