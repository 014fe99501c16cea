#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write a recording as bfsim trace --format raw does: one process with tasks at given times.

    write_recording.py FILE [--context N] [--late COUNT:MAX_NS] [--link BITS_PER_S] [--finding RULE] [SUBMITTED BACK BYTES ...]

The process "x" on the host has a context "dma" that is its N-th object. Times are ns of a session of 6,000 ns, whose last event
is a warning. The layout is that of sim/cli/trace/recording_file.c.
"""
import argparse
import struct

ZERO_NS = 1000000
TASK, LOG, HIT = 2, 8, 10
NAMES = ['dma', 'mlx5_0', 'DMA memcpy']


def event(time_ns, kind, direction=0, in_flight=0, subject=0, reason=0, data=b'', text=b''):
    return struct.pack('<QBBH5I32sQQ', ZERO_NS + time_ns, kind, direction, in_flight, 1, subject, reason, 0, len(text), data, 0, 0)


def recording(options, tasks):
    names = NAMES + ([options.finding] if options.finding else [])
    late = [int(part) for part in options.late.split(':')]
    events, texts = [], b'the end'
    for submitted, back, size in tasks:
        events.append(event(submitted, TASK, direction=2, in_flight=1, subject=1,
                            data=struct.pack('<4Q', 0, 0, ZERO_NS + back, size)))
    if options.finding:
        events.append(event(5000, HIT, reason=len(names), text=b'it was freed'))
        texts = b'it was freed' + texts
    events.append(event(5999, LOG, in_flight=40, text=b'the end'))
    head = struct.pack('<iB64s64s3xI4xQI4x4Q4I4II4xQQQQ', 1, 0, b'host', b'x', 3, 1, 0, 0, 0, 0, 0, len(names), options.context, 1, 0,
                       0, 0, 0, 0, 0, 0, len(events), 0, 0)
    objects = [struct.pack('<6I8Q', 1, 0, 1, 2, 2, 1, 0, 0, 0, 0, 0, 0, *(late if number == options.context else (0, 0)))
               for number in range(1, options.context + 1)]
    op = struct.pack('<II6Q8x', options.context, 3, len(tasks), len(tasks), 0, sum(task[2] for task in tasks), 0, 0)
    return b''.join([head, *(name.encode().ljust(64, b'\0') for name in names), *objects, op, *events, texts])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('file')
    parser.add_argument('numbers', nargs='*', type=int)
    parser.add_argument('--context', type=int, default=1)
    parser.add_argument('--late', default='0:0')
    parser.add_argument('--link', type=int, default=0)
    parser.add_argument('--finding')
    options = parser.parse_intermixed_args()
    tasks = list(zip(options.numbers[::3], options.numbers[1::3], options.numbers[2::3]))
    with open(options.file, 'wb') as out:
        out.write(struct.pack('<16sI9I', b'bfsim recording', 3, 240, 144, 264, 88, 64, 20, 80, 88, 0))
        out.write(struct.pack('<4Q16s64s6I', ZERO_NS, 6000, 0, 0, b'timed', b'', 0, 1 if options.link else 0, 0, 0, 1, 0))
        if options.link:
            out.write(struct.pack('<64s64sQQ', b'host', b'mlx5_0', options.link, options.link))
        out.write(recording(options, tasks))


main()
