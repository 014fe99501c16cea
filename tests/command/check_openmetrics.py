#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hold a file against the syntax of OpenMetrics 1.0 (github.com/OpenObservability/OpenMetrics).

    check_openmetrics.py FILE [EXPRESSION ...]

Each EXPRESSION is Python that must be true, with value(name, **labels): the sum of the samples of that name which have these
labels. Says what is wrong and exits with 1.
"""
import re
import sys

NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
SAMPLE = re.compile(rf'({NAME})(?:\{{(.*)\}})? (\S+)')
NUMBER = re.compile(r'[+-]?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|Inf|NaN)')
SUFFIXES = {'counter': {'_total', '_created'}, 'gauge': {''}}


def parse_labels(text, line):
    labels, at = {}, 0
    while text and at <= len(text):
        match = LABEL.match(text, at)
        assert match, f'label: {line}'
        assert match[1] not in labels, f'a label twice: {line}'
        labels[match[1]] = re.sub(r'\\(.)', lambda m: {'n': '\n'}.get(m[1], m[1]), match[2])
        at = match.end()
        if at == len(text):
            break
        assert text[at] == ',', f'labels: {line}'
        at += 1
    return labels


def parse(text):
    """[(name, labels, number)]"""
    assert text.endswith('# EOF\n') and text.count('# EOF') == 1, 'the mark of the end'
    samples, families, family, seen = [], {}, None, set()
    for line in text[:-len('# EOF\n')].split('\n')[:-1]:
        assert line and line == line.strip(), f'blanks: {line!r}'
        if line.startswith('#'):
            match = re.fullmatch(rf'# (TYPE|UNIT|HELP) ({NAME}) (.+)', line)
            assert match, f'metadata: {line}'
            kind, name, value = match.groups()
            if name != family:
                assert name not in families, f'a family in two pieces: {name}'
                families[name], family = {'has_samples': False}, name
            assert kind not in families[name] and not families[name]['has_samples'], f'metadata too late or twice: {line}'
            families[name][kind] = value
            assert kind != 'TYPE' or value in SUFFIXES, f'type: {line}'
            assert kind != 'UNIT' or name.endswith('_' + value), f'unit: {line}'
            continue
        match = SAMPLE.fullmatch(line)
        assert match, f'sample: {line}'
        name, labels, number = match[1], parse_labels(match[2], line), match[3]
        assert NUMBER.fullmatch(number), f'number: {line}'
        assert family and name in {family + suffix for suffix in SUFFIXES[families[family]['TYPE']]}, f'of no family: {line}'
        assert families[family]['TYPE'] != 'counter' or float(number) >= 0, f'a counter below 0: {line}'
        key = (name, tuple(sorted(labels.items())))
        assert key not in seen, f'twice: {line}'
        seen.add(key)
        families[family]['has_samples'] = True
        samples.append((name, labels, float(number)))
    return samples


def main():
    with open(sys.argv[1], encoding='utf-8', newline='') as file:
        samples = parse(file.read())

    def value(wanted, **labels):
        return sum(number for name, has, number in samples if name == wanted and labels.items() <= has.items())

    for expression in sys.argv[2:]:
        assert eval(expression, {'value': value}), f'not true: {expression}'


try:
    main()
except AssertionError as wrong:
    sys.exit(f'{sys.argv[1]}: {wrong}')
