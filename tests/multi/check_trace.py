#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hold a trace against the rules of the Trace Event Format, as Perfetto enforces them.

    check_trace.py FILE [EXPRESSION ...]

FILE is what bfsim trace wrote. Each EXPRESSION is Python that must be true, with
    events          the list; e('X', name='send') picks those of a phase with these members
    process(side)   the pid of the process on that side
    track(pid, s)   the tid of the process's track whose name ends with s
Says what is wrong and exits with 1.
"""
import json
import sys

PHASES = set('MXbeCsfi')
problems = []


def wrong(event, text):
    problems.append(f'{text}: {json.dumps(event)}')


def whole_ns(microseconds):
    return round(microseconds * 1000)


def check_members(event):
    """What every event has, and what its phase asks for besides."""
    if event.get('ph') not in PHASES:
        return wrong(event, 'no phase of ours')
    for name in ('pid', 'tid'):
        if not isinstance(event.get(name), int):
            wrong(event, f'{name} is no number')
    if not isinstance(event.get('name'), str):
        wrong(event, 'has no name')
    if event['ph'] == 'M':
        if event['name'] not in ('process_name', 'thread_name', 'process_sort_index') or not event.get('args'):
            wrong(event, 'is no metadata')
        return
    if not isinstance(event.get('ts'), (int, float)) or event['ts'] < 0:
        wrong(event, 'ts is no time')
    needs = {'X': ['dur', 'cat'], 'b': ['id', 'cat'], 'e': ['id', 'cat'], 's': ['id', 'cat'], 'f': ['id', 'cat', 'bp'],
             'i': ['s'], 'C': ['args']}
    for name in needs[event['ph']]:
        if name not in event:
            wrong(event, f'lacks {name}')
    if event['ph'] == 'X' and not event.get('dur', -1) >= 0:
        wrong(event, 'dur is no duration')
    if event['ph'] == 'i' and event.get('s') not in ('t', 'p', 'g'):
        wrong(event, 's is no scope')
    if event['ph'] == 'C' and not all(isinstance(v, (int, float)) for v in event['args'].values()):
        wrong(event, 'a counter of something else than numbers')


def slices_of(events):
    """The complete events by their track, in order of time."""
    tracks = {}
    for event in events:
        if event['ph'] == 'X':
            tracks.setdefault((event['pid'], event['tid']), []).append(event)
    for track in tracks.values():
        track.sort(key=lambda e: (whole_ns(e['ts']), -whole_ns(e['dur'])))
    return tracks


def check_nesting(tracks):
    """Slices of one track lie in each other or beside each other."""
    for track in tracks.values():
        ends = []
        for event in track:
            begin, end = whole_ns(event['ts']), whole_ns(event['ts']) + whole_ns(event['dur'])
            while ends and ends[-1] <= begin:
                ends.pop()
            if ends and end > ends[-1]:
                wrong(event, 'overlaps another slice of its track')
            ends.append(end)


def check_async(events):
    """Each begin has its end, later, in the same process and category, under the same name."""
    open_ones = {}
    for event in sorted((e for e in events if e['ph'] in 'be'), key=lambda e: (whole_ns(e['ts']), e['ph'])):
        key = (event['pid'], event['cat'], event['id'], event['name'])
        if event['ph'] == 'b':
            if key in open_ones:
                wrong(event, 'begins twice')
            open_ones[key] = event
        elif open_ones.pop(key, None) is None:
            wrong(event, 'ends without a begin')
    for event in open_ones.values():
        wrong(event, 'has no end')


def encloses(track, ts):
    return any(whole_ns(e['ts']) <= ts < whole_ns(e['ts']) + whole_ns(e['dur']) for e in track)


def stands_behind(event, before):
    """Perfetto gives a flow to the slice that began last on its track, even to one of no length."""
    return before['ph'] == 'X' and all(before[m] == event[m] for m in ('pid', 'tid', 'ts'))


def check_flows(events, tracks):
    """Each flow begins in one slice, ends in another, later."""
    starts, ends = {}, {}
    for before, event in zip([{'ph': None}] + events, events):
        if event['ph'] in 'sf':
            ends_of = starts if event['ph'] == 's' else ends
            if (event['cat'], event['name'], event['id']) in ends_of:
                wrong(event, 'a flow twice')
            ends_of[event['cat'], event['name'], event['id']] = event
            if not stands_behind(event, before) and not encloses(
                    tracks.get((event['pid'], event['tid']), []), whole_ns(event['ts'])):
                wrong(event, 'a flow outside of any slice')
    for key in starts.keys() | ends.keys():
        start, end = starts.get(key), ends.get(key)
        if not start or not end:
            wrong(start or end, 'half a flow')
        elif whole_ns(end['ts']) < whole_ns(start['ts']):
            wrong(end, 'a flow ends before it begins')


def check_names(events):
    """Each process and each track of slices has one name."""
    named = {}
    for event in events:
        if event['ph'] == 'M' and event['name'] in ('process_name', 'thread_name'):
            key = (event['name'], event['pid'], event['tid'] if event['name'] == 'thread_name' else 0)
            if key in named:
                wrong(event, 'named twice')
            named[key] = event['args']['name']
    for event in events:
        if ('process_name', event['pid'], 0) not in named:
            wrong(event, 'of a process without a name')
        if event['ph'] == 'X' and ('thread_name', event['pid'], event['tid']) not in named:
            wrong(event, 'on a track without a name')
    return named


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        trace = json.load(file)
    events = trace['traceEvents']
    for event in events:
        check_members(event)
    if not problems:
        tracks = slices_of(events)
        check_nesting(tracks)
        check_async(events)
        check_flows(events, tracks)
        named = check_names(events)

        def pick(phase, **members):
            return [e for e in events if e['ph'] == phase and all(e.get(k) == v for k, v in members.items())]

        def process(side):
            found = [pid for (what, pid, _), name in named.items() if what == 'process_name' and name.startswith(side + ': ')]
            return found[0] if len(found) == 1 else None

        def track(pid, end):
            found = [tid for (what, of, tid), name in named.items() if what == 'thread_name' and of == pid and name.endswith(end)]
            return found[0] if len(found) == 1 else None

        scope = {'events': events, 'e': pick, 'process': process, 'track': track, 'trace': trace}
        problems.extend(f'not true: {text}' for text in sys.argv[2:] if not eval(f'({text})', scope))
    for text in problems[:20]:
        print(text)
    sys.exit(bool(problems))


main()
