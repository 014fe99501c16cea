#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hold a file against the rules of OTLP/JSON, as receivers of OpenTelemetry read it.

    check_otlp.py FILE [EXPRESSION ...]

FILE is what bfsim trace --format otlp wrote. Each EXPRESSION is Python that must be true, with
    spans           all spans, with their attributes as a dictionary, times as numbers, and "resource", a dictionary too
    named(name)     those of that name, in the order of their begin
    parent(span)    the span's parent
Says what is wrong and exits with 1.
"""
import json
import re
import sys

MAX_LINE_BYTES = 1 << 20  # of the collector's readers of files, unless told otherwise
STATUS_CODES = (0, 1, 2)
problems = []


def wrong(where, text):
    problems.append(f'{where}: {text}')


def members(where, value, known, required=()):
    """An object that has only members of the message."""
    if not isinstance(value, dict):
        wrong(where, f'is no object: {value!r}')
        return {}
    for key in value.keys() - known:
        wrong(where, f'there is no member {key}')
    for key in set(required) - value.keys():
        wrong(where, f'{key} is missing')
    for key, member in value.items():
        if member is None:
            wrong(where, f'{key} is null')
    return value


def whole_number(where, value, bits=64):
    """An integer of 64 bits, which JSON has as a decimal string."""
    if not isinstance(value, str) or not re.fullmatch('0|[1-9][0-9]*', value) or int(value) >= 1 << bits:
        wrong(where, f'{value!r} is no decimal string of {bits} bits')
        return 0
    return int(value)


def identifier(where, value, length):
    if not isinstance(value, str) or not re.fullmatch(f'[0-9a-fA-F]{{{length}}}', value) or not int(value, 16):
        wrong(where, f'{value!r} is no id of {length} hexadecimal digits')


def text(where, value):
    if not isinstance(value, str) or not value:
        wrong(where, f'{value!r} is no text')


def attributes(where, entries):
    found = {}
    for entry in entries:
        entry = members(where, entry, {'key', 'value'}, {'key', 'value'})
        text(where, entry.get('key'))
        value = members(f'{where}: {entry.get("key")}', entry.get('value'), {'stringValue', 'intValue'})
        if len(value) != 1:
            wrong(where, f'{entry.get("key")} has {len(value)} values')
        if entry.get('key') in found:
            wrong(where, f'{entry["key"]} is there twice')
        if 'intValue' in value:
            found[entry.get('key')] = whole_number(where, value['intValue'], 63)
        else:
            found[entry.get('key')] = value.get('stringValue')
            text(where, value.get('stringValue'))
    return found


def read_span(where, span, resource):
    span = members(where, span, {'traceId', 'spanId', 'parentSpanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'attributes',
                                 'events', 'status'},
                   {'traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano'})
    identifier(where, span.get('traceId'), 32)
    identifier(where, span.get('spanId'), 16)
    if 'parentSpanId' in span:
        identifier(where, span['parentSpanId'], 16)
    text(where, span.get('name'))
    if type(span.get('kind')) is not int or not 1 <= span['kind'] <= 5:
        wrong(where, f'{span.get("kind")!r} is no kind')
    start, end = (whole_number(where, span.get(key)) for key in ('startTimeUnixNano', 'endTimeUnixNano'))
    if end < start:
        wrong(where, 'ends before it begins')
    events = []
    for event in span.get('events', []):
        event = members(where, event, {'timeUnixNano', 'name', 'attributes'}, {'timeUnixNano', 'name'})
        text(where, event.get('name'))
        events.append((whole_number(where, event.get('timeUnixNano')), event.get('name')))
        if not start <= events[-1][0] <= end:
            wrong(where, f'{event.get("name")} is outside of it')
    status = members(where, span.get('status', {}), {'code', 'message'})
    if type(status.get('code', 0)) is not int or status.get('code', 0) not in STATUS_CODES:
        wrong(where, f'{status["code"]!r} is no status')
    return {**span, 'start': start, 'end': end, 'events': events, 'status': (status.get('code', 0), status.get('message', '')),
            'attributes': attributes(where, span.get('attributes', [])), 'resource': resource}


def read_line(where, line):
    found = []
    data = members(where, json.loads(line), {'resourceSpans'}, {'resourceSpans'})
    for of_resource in data.get('resourceSpans', []):
        of_resource = members(where, of_resource, {'resource', 'scopeSpans', 'schemaUrl'}, {'resource', 'scopeSpans'})
        resource = attributes(where, members(where, of_resource.get('resource'), {'attributes'}).get('attributes', []))
        text(where, resource.get('service.name'))
        for of_scope in of_resource.get('scopeSpans', []):
            of_scope = members(where, of_scope, {'scope', 'spans', 'schemaUrl'}, {'scope', 'spans'})
            text(where, members(where, of_scope.get('scope'), {'name', 'version'}, {'name'}).get('name'))
            found += [read_span(f'{where}, span {n}', span, resource) for n, span in enumerate(of_scope.get('spans', []))]
    if not found:
        wrong(where, 'has no span')
    return found


with open(sys.argv[1], 'rb') as file:
    lines = file.read().split(b'\n')
if lines.pop() != b'':
    wrong('the last line', 'has no end')
spans = []
for number, line in enumerate(lines, 1):
    if len(line) >= MAX_LINE_BYTES:
        wrong(f'line {number}', f'has {len(line)} bytes')
    spans += read_line(f'line {number}', line.decode('utf-8'))

by_id = {span.get('spanId'): span for span in spans}
if len(by_id) < len(spans):
    wrong('the file', f'{len(spans)} spans have {len(by_id)} ids')
for span in spans:
    above = by_id.get(span.get('parentSpanId'))
    if 'parentSpanId' in span and not above:
        wrong(span.get('spanId'), 'has a parent that is not there')
    if above and (above['traceId'] != span['traceId'] or not above['start'] <= span['start'] <= span['end'] <= above['end']):
        wrong(span.get('spanId'), 'is not within its parent')


def named(name):
    return sorted((span for span in spans if span['name'] == name), key=lambda span: (span['start'], span['end']))


def parent(span):
    return by_id[span['parentSpanId']]


for expression in sys.argv[2:] if not problems else ():
    if eval(f'({expression})') is not True:
        problems.append(f'not true: {expression}')
for problem in problems[:20]:
    print(problem)
sys.exit(bool(problems))
