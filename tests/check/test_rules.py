#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each rule of the checker is reported where it is broken, with the expected text, and nowhere else.

    test_rules.py BFSIM CHECK_CASES EXPECTED [--update] [--sanitized] [RULE ...]

EXPECTED/RULE.txt holds a rule's report: numbers of lines, processes, threads, times and addresses are replaced. The
report of a rule whose case provokes others first is the one of this rule. --update writes the files anew. --sanitized:
the programs have a sanitizer, which adds frames, and ends those that race; tests/racebench checks what it reports.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

TIMEOUT_S = 60
UNDER_VALGRIND = ('source-not-written',) # their cases run valgrind, which takes no sanitizer
SKIPPED = 77
# The engine's thread runs a job that its program has left alone for two ticks. A busy machine may keep a case from its CPU for
# as long, between a submission and the store behind it: that run does not show what the case is about, and another one does.
MOMENT = re.compile(' (before the bytes were copied|after the bytes were copied and before its completion):')
MAX_RUNS = 5


def reports(rule, kind, cases, mode):
    """The reports on standard error, as texts, and everything that the program printed."""
    env = dict(os.environ, BFSIM_CHECK=mode, BFSIM_SIDE='dpu', BFSIM_CHECK_HITS='')
    if rule == 'threads-share-engine':  # the case races; with the other cases, the thread sanitizer checks the checker
        env['TSAN_OPTIONS'] = env.get('TSAN_OPTIONS', '') + ':report_bugs=0'
    done = subprocess.run([cases, rule, kind], env=env, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    found, current = [], None
    for line in done.stderr.splitlines():
        if line.startswith('bfsim check: '):
            current = [line]
            found.append(current)
        elif current is not None and line.startswith('    '):
            current.append(line)
        else:
            current = None
    return ['\n'.join(lines) + '\n' for lines in found], done


def plain(text):
    """The text without what differs between runs and machines."""
    text = re.sub(r'0x[0-9a-f]+', '0x*', text)
    text = re.sub(r'(process|thread) \d+', r'\1 *', text)
    text = re.sub(r'\b\d+(\.\d+)? (ns|us|ms|s)\b', r'* \2', text)
    text = re.sub(r'\(\S*?([^/\s(]+\.[ch]):\d+\)', r'(\1:*)', text)
    # a call on the data path is known unless the hooks pause then (shim/check/base/sampling.h)
    text = text.replace(' in doca_pe_progress (thread', ' (thread')
    # frames of the test's own main and of libraries, whose names depend on the machine
    text = re.sub(r'      at \S+ \((?!\S+\.[ch]:).*\)\n', '', text)
    if '--sanitized' in sys.argv:  # calls of the program that the sanitizer's own functions stand before are not seen
        text = re.sub(r'      at .*\n|    (free|munmap) of \d+ bytes at 0x\*.*:\n', '', text)
    return text


def provoke(rule, cases, mode, wanted):
    """The rule's reports, as plain texts, and everything that the program printed."""
    for _ in range(MAX_RUNS):
        found, done = reports(rule['name'], 'provoke', cases, mode)
        mine = [plain(text) for text in found if f' {rule["id"]}: ' in text]
        if not mine or mine[0] == wanted or MOMENT.sub('', mine[0]) != MOMENT.sub('', wanted):
            break
    return mine, done


def check_rule(rule, cases, expected, update):
    """Return what is wrong, None, or SKIPPED."""
    variant = rule['name'].partition('@')
    file = expected / f'{rule["id"]}{variant[1]}{variant[2]}.txt'
    wanted = plain(file.read_text()) if file.exists() else ''
    mode = 'strict' if variant[2] == 'strict' else rule['mode']
    mine, done = provoke(rule, cases, mode, wanted)
    if done.returncode == SKIPPED:
        return SKIPPED
    if done.returncode != 0:
        return f'provoke ended with status {done.returncode}:\n{done.stderr}'
    if not mine:
        return f'was not reported:\n{done.stderr}'
    if update:
        file.write_text(mine[0])
    elif mine[0] != wanted:
        return f'is reported as\n{mine[0]}not as in {file}'
    found, done = reports(rule['name'], 'near-miss', cases, 'strict' if mode == 'strict' else 'races')
    if found or done.returncode != 0:
        return f'near-miss ended with status {done.returncode}, or was reported:\n{done.stderr}'
    return None


def main():
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith('--')]
    bfsim, cases, expected = arguments[0], arguments[1], pathlib.Path(arguments[2])
    rules = json.loads(subprocess.run([bfsim, 'rules', '--json'], capture_output=True, check=True).stdout)['rules']
    # a rule may have further cases: NAME@VARIANT
    cases_of = subprocess.run([cases], capture_output=True, text=True, check=True).stdout.split()
    rules = [dict(rule, name=name) for rule in rules
             for name in [rule['name'], *(one for one in cases_of if one.startswith(rule['name'] + '@'))]]
    chosen = [rule for rule in rules if not arguments[3:] or {rule['id'], rule['name']} & set(arguments[3:])]
    if '--sanitized' in sys.argv:
        chosen = [rule for rule in chosen if '-RACE-' not in rule['id'] and rule['name'] not in UNDER_VALGRIND]
        # Cases fork, with threads, of which the search for leaks dies.
        os.environ['ASAN_OPTIONS'] = os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0'
    print(f'1..{len(chosen)}')
    failed = 0
    # Many cases wait for a watchdog, and others compute.
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count() + 1)
    problems = pool.map(lambda rule: check_rule(rule, cases, expected, '--update' in sys.argv), chosen)
    for number, (rule, problem) in enumerate(zip(chosen, problems), 1):
        skip = ' # SKIP' if problem == SKIPPED else ''
        problem = None if skip else problem
        failed += problem is not None
        print(f'{"not ok" if problem else "ok"} {number} {rule["id"]} {rule["name"]}{skip}', flush=True)
        if problem:
            print('\n'.join('# ' + line for line in problem.splitlines()), flush=True)
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
