# SPDX-License-Identifier: BSD-3-Clause
"""Hits of the checker: broken rules of the API, from the reports of a session's programs."""
import glob
import json
import os

MODES = ("api", "races", "strict")
PATTERN = "check-*.json"


def report_path(root):
    """Return what goes into BFSIM_CHECK_REPORT: a report for each process, in the directory @root."""
    return os.path.join(root, PATTERN.replace("*", "%p"))


def read_hits(root):
    """Return the hits of all reports in @root, in the order of session time: objects of sim/check/hit.h."""
    hits = []
    for path in glob.glob(os.path.join(glob.escape(root), PATTERN)):
        with open(path, encoding="utf-8") as file:
            hits += json.load(file)["hits"]
    return sorted(hits, key=lambda hit: hit["time_ns"])


def is_error(hit):
    """Return whether a hit counts: of severity error, and not muted."""
    return hit["severity"] == "error" and "muted" not in hit


def format_hit(hit):
    """Return a hit as text, as the checker prints it."""
    process = hit["process"]
    side = f' on {process["side"]}' if process.get("side") else ""
    lines = [f'bfsim check: {hit["severity"]} {hit["rule"]}: {hit["message"]}',
             f'    in {process["program"]}{side}, process {process["pid"]}, thread {process["tid"]}:']
    lines += _frames(hit.get("stack"))
    for party in hit.get("parties", ()):
        thread = f' (thread {party["thread"]})' if party.get("thread") else ""
        lines += [f'    {party["what"]}{thread}:', *_frames(party.get("stack"))]
    for item in hit.get("objects", ()):
        name = f' ({item["name"]})' if item.get("name") else ""
        lines += [f'    {item["kind"]} {item["handle"]}{name}{", created:" if item.get("stack") else ""}',
                  *_frames(item.get("stack"))]
    return "\n".join([*lines, f'    remedy: {hit["remedy"]}'])


def _frames(stack):
    for frame in stack or ():
        place = f'{frame["file"]}:{frame["line"]}' if frame.get("file") else f'{frame.get("module", "?")}+{frame["offset"]}'
        yield f'      at {frame.get("function", "?")} ({place})'
