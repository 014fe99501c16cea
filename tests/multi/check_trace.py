#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hold a trace against the rules of the Trace Event Format, as Perfetto enforces them.

    check_trace.py FILE [EXPRESSION ...]

FILE is what bfsim trace wrote. Each EXPRESSION is Python that must be true, with
    events          the list; e('X', name='send') picks those of a phase with these members
    process(side)   the pid of the process on that side
    track(pid, s)   the tid of the process's track whose name ends with s
    flows(cat)      of each flow of that category, "task" or "message", the list of the slices that it leads through
Says what is wrong and exits with 1.
"""
import json
import sys

PHASES = set('MXbeCstfi')
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
    needs = {'X': ['dur', 'cat'], 'b': ['id', 'cat'], 'e': ['id', 'cat'], 's': ['id', 'cat'], 't': ['id', 'cat', 'bp'],
             'f': ['id', 'cat', 'bp'], 'i': ['s'], 'C': ['args']}
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


def check_order(events):
    """Behind the metadata, time does not go back from one event to the next."""
    timed = [e for e in events if e['ph'] != 'M']
    for before, event in zip(timed, timed[1:]):
        if whole_ns(event['ts']) < whole_ns(before['ts']):
            wrong(event, 'earlier than the event before it')


def bound_slices(events):
    """Of each event of a flow: the slice that it belongs to, or None.

    Perfetto gives it the slice of its track that began last, even one of no length; chrome://tracing the one
    around its time. Only where both are the same slice is it bound.
    """
    last = {}
    bound = []
    for event in events:
        key = (event['pid'], event['tid'])
        if event['ph'] in 'Xi':
            last[key] = event
        if event['ph'] in 'stf':
            found = last.get(key, {'ph': None})
            fits = found['ph'] == 'X' and whole_ns(found['ts']) == whole_ns(event['ts'])
            bound.append((event, found if fits else None))
    return bound


def check_chain(chain):
    """A flow: one s, then any t, then one f, in this order, each in a slice, none of them earlier than the one before."""
    if [e['ph'] for e, _ in chain] != ['s'] + ['t'] * (len(chain) - 2) + ['f']:
        return wrong(chain[0][0], 'a flow that is not begun once, and ended once behind that')
    for event, bound in chain:
        if bound is None:
            wrong(event, 'a flow outside of any slice')
        if event['ph'] in 'tf' and event['bp'] != 'e':
            wrong(event, 'a flow to the next slice')
    for (before, _), (event, _) in zip(chain, chain[1:]):
        if whole_ns(event['ts']) < whole_ns(before['ts']):
            wrong(event, 'a flow goes back in time')
    if len({id(bound) for _, bound in chain}) != len(chain):
        wrong(chain[0][0], 'a flow from a slice to itself')


def what_happens(bound):
    return bound['name'].split(' ')[0] if bound['cat'] == 'turn' else bound['cat']


def check_ends(chain):
    """Messages from sending to receipt; tasks from submission to end, by what they did in between."""
    first, last = chain[0][1], chain[-1][1]
    if chain[0][0]['cat'] == 'message':
        if (first['name'], last['name'], len(chain)) != ('send', 'receive', 2):
            wrong(chain[0][0], 'a message that is not sent and received')
    elif what_happens(first) != 'submit' or what_happens(last) not in ('done', 'failed') or \
            first['name'].split(' ', 1)[1] != last['name'].split(' ', 1)[1] or \
            any(what_happens(bound) not in ('job', 'message') for _, bound in chain[1:-1]):
        wrong(chain[0][0], 'a task that is not submitted, run and done')


def flows_of(events):
    """The flows by what they are: lists of their events, each with its slice."""
    flows = {}
    for event, bound in bound_slices(events):
        flows.setdefault((event['cat'], event['id']), []).append((event, bound))
    return flows


def check_flows(events):
    flows = flows_of(events)
    if len({number for _, number in flows}) != len(flows):
        problems.append('two flows of one number')
    for chain in flows.values():
        check_chain(chain)
        if not problems:
            check_ends(chain)
    turns = sum(e['ph'] == 'X' and e['cat'] == 'turn' for e in events)
    if turns != 2 * sum(category == 'task' for category, _ in flows):
        problems.append('slices of submissions and ends that no flow leads to')


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
        check_order(events)
        check_flows(events)
        named = check_names(events)

        def pick(phase, **members):
            return [e for e in events if e['ph'] == phase and all(e.get(k) == v for k, v in members.items())]

        def process(side):
            found = [pid for (what, pid, _), name in named.items() if what == 'process_name' and name.startswith(side + ': ')]
            return found[0] if len(found) == 1 else None

        def track(pid, end):
            found = [tid for (what, of, tid), name in named.items() if what == 'thread_name' and of == pid and name.endswith(end)]
            return found[0] if len(found) == 1 else None

        def flows(category):
            return [[bound for _, bound in chain] for (what, _), chain in flows_of(events).items() if what == category]

        scope = {'flows': flows, 'events': events, 'e': pick, 'process': process, 'track': track, 'trace': trace}
        problems.extend(f'not true: {text}' for text in sys.argv[2:] if not eval(f'({text})', scope))
    for text in problems[:20]:
        print(text)
    sys.exit(bool(problems))


main()
