#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""For GitHub: an annotation for each hit of the checker and each failed scenario, on stdout, and the job's summary.

    publish.py RESULTS

RESULTS is what "bfsim-job run" wrote: check.sarif and junit.xml, if there are any, status, and bfsim.log, the messages of bfsim
among those of programs. The summary is appended to the file that GITHUB_STEP_SUMMARY names, as Markdown.
"""
import collections
import json
import os
import pathlib
import re
import sys
import xml.etree.ElementTree

LEVELS = {'error': 'error', 'warning': 'warning', 'note': 'notice'}


def escape(text, is_property=False):
    """As workflow commands want it."""
    for char, code in (('%', '%25'), ('\r', '%0D'), ('\n', '%0A')):
        text = text.replace(char, code)
    return text.replace(':', '%3A').replace(',', '%2C') if is_property else text


def annotation(level, message, **properties):
    listed = ','.join(f'{key}={escape(str(value), True)}' for key, value in properties.items() if value)
    return f'::{level} {listed}::{escape(message)}'


def read_hits(path):
    """Each hit that is not muted: level, rule, message, file and line ('' and 0 = no line is known)."""
    for run in json.loads(path.read_text())['runs']:
        for result in run.get('results', []):
            if result.get('suppressions'):
                continue
            place = next(iter(result.get('locations', [])), {}).get('physicalLocation', {})
            yield (LEVELS.get(result.get('level'), 'notice'), result['ruleId'], result['message']['text'],
                   place.get('artifactLocation', {}).get('uri', ''), place.get('region', {}).get('startLine', 0))


def read_cases(path):
    """Each scenario's run: name, seconds, and what was wrong, the cause in the first line ('' = it passed)."""
    for case in xml.etree.ElementTree.parse(path).iter('testcase'):
        bad = next((part for tag in ('failure', 'error') for part in case.iter(tag)), None)
        wrong = '' if bad is None else (bad.text or '').strip() or bad.get('message') or 'failed'
        yield case.get('name'), float(case.get('time', 0)), wrong


def read_messages(path):
    """What bfsim itself has said, line by line; the lines of programs begin with a side's name."""
    return [line for line in path.read_text(errors='replace').splitlines() if re.match(r'bfsim( run| test| check)?: ', line)]


def find_cause(messages, hits):
    """The message that says why a run failed; '' = none does. Not that a fault hit, nor how programs were then (indented)."""
    causes = [line.split(': ', 1)[1] for line in messages if line.startswith('bfsim: ') and
              not re.match(r'bfsim:  |bfsim: fault \d+ (strikes|hit) ', line)]
    causes += [f'{rule}: {message}' for _, rule, message, *_ in hits]
    causes += [line for line in messages if not line.startswith('bfsim: ')]
    return causes[0] if causes else ''


def cell(text):
    return (text.splitlines() or [''])[0].replace('|', r'\|')


def summarize(status, hits, cases, messages):
    lines = ['### bfsim: ' + ('passed' if status == '0' else f'failed (status {status})'), '']
    if status != '0' and messages:
        lines += [find_cause(messages, hits), '', '```text', *messages, '```', '']
    if cases:
        failed = sum(1 for case in cases if case[2])
        lines += [f'{len(cases) - failed} of {len(cases)} scenarios passed', '', '| scenario | s | |', '|---|---|---|']
        lines += [f'| {cell(name)} | {seconds:.1f} | {cell(wrong or "passed")} |'
                  for name, seconds, wrong in cases] + ['']
    if hits:
        lines += ['| checker | rule | places |', '|---|---|---|']
        counts = collections.Counter((level, rule) for level, rule, *_ in hits)
        lines += [f'| {level} | {rule} | {count} |' for (level, rule), count in sorted(counts.items())] + ['']
    return '\n'.join(lines) + '\n'


def main(results):
    results = pathlib.Path(results)
    if not (results / 'status').exists():
        return
    status = (results / 'status').read_text().strip()
    sarif, junit, log = results / 'check.sarif', results / 'junit.xml', results / 'bfsim.log'
    hits = list(read_hits(sarif)) if sarif.exists() else []
    cases = list(read_cases(junit)) if junit.exists() else []
    messages = read_messages(log) if log.exists() else []
    for level, rule, message, file, line in hits:
        print(annotation(level, message, file=file, line=line, title=rule))
    for name, _, wrong in cases:
        if wrong:
            print(annotation('error', wrong, title=f'bfsim test: {name}'))
    if status != '0' and messages and not hits:
        print(annotation('error', '\n'.join([find_cause(messages, hits), '', *messages]), title='bfsim'))
    if 'GITHUB_STEP_SUMMARY' in os.environ:
        with open(os.environ['GITHUB_STEP_SUMMARY'], 'a', encoding='utf-8') as summary:
            summary.write(summarize(status, hits, cases, messages))


if __name__ == '__main__':
    main(*sys.argv[1:])
