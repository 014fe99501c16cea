#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the detectors of races by the programs of racebench, and prints what they found and what they missed.

    test_racebench.py [--seeds N] [--jobs N] [--programs PATTERN] MECHANISM=RACEBENCH ...

MECHANISM is plain, asan, tsan or valgrind; RACEBENCH is the executable that was built for it. A racy program counts as
found if a run with any of the seeds reports its race, or notices that its data is wrong. A clean program must not be
reported in any run. Valgrind is skipped where there is none. The exit status is 1 if a clean program is reported, a
program fails in another way, or a mechanism misses more races than LEAST_FOUND allows; misses that KNOWN_MISSES
explains do not count. Valgrind gets the programs of one process: before 3.21 it has no pidfd_open(), by which a program that
starts a session watches the daemon.
"""
import argparse
import concurrent.futures
import fnmatch
import os
import re
import shutil
import subprocess
import sys

TIMEOUT_S = 300
PLAIN_SEEDS = 20
SANITIZER_SEEDS = {'racy': 3, 'clean': 1}  # at most: some races depend on the order of completions
LEAST_FOUND = {'plain': 0.8, 'asan': 1, 'tsan': 1, 'valgrind': 0.8}
RACE = re.compile(r'bfsim check: error BFC-(RACE-|MMAP-0(04|19))|racebench: wrong data')
REPORT = {
    'plain': RACE,
    'asan': re.compile(RACE.pattern + r'|ERROR: AddressSanitizer'),
    'tsan': re.compile(RACE.pattern + r'|WARNING: ThreadSanitizer: data race'),
    'valgrind': re.compile(RACE.pattern + r'|==\d+== Invalid (read|write)'),
}
ANY_REPORT = re.compile(r'bfsim check: |Sanitizer:|==\d+== (Invalid|Conditional jump|Use of uninit|Syscall param)')

# What a mechanism can't see, by patterns of names; doc/checker.md says why.
KNOWN_MISSES = {
    # the peer may write a posted buffer at any time; the heap keeps freed memory
    'plain': ['comch_consumer_writes_posted*', 'import_exporter_frees_*'],
    'asan': ['*_source_modified_64k_middle_racy'],  # sources are compared, in part
    'tsan': ['import_exporter_frees_*'],
    'valgrind': ['*_source_modified_64k_middle_racy', 'import_exporter_frees_*'],
}


def command(mechanism, racebench, program):
    if mechanism == 'valgrind':
        return ['valgrind', '-q', '--trace-children=no', '--child-silent-after-fork=no', racebench, program]
    return [racebench, program]


def run(mechanism, racebench, program, seed):
    """Return the exit status and all that was printed."""
    # Names and lines in a sanitizer's report are not looked at, and take half of the time of a racy program.
    env = dict(os.environ, BFSIM_CHECK='races', BFSIM_CHECK_SEED=str(seed), BFSIM_SHUFFLE=str(seed), BFSIM_SIDE='dpu',
               TSAN_OPTIONS='atexit_sleep_ms=0:symbolize=0', ASAN_OPTIONS='symbolize=0',
               BFSIM_CHECK_SYNC='doca' if program.startswith('agree_') else 'any')
    if mechanism == 'tsan' and program.startswith('agree_'):
        del env['BFSIM_CHECK']  # the sanitizer alone finds these
    for name in ('BFSIM_CHECK_REPORT', 'BFSIM_CHECK_MUTES', 'BFSIM_CHECK_HITS'):
        env.pop(name, None)
    try:
        done = subprocess.run(command(mechanism, racebench, program), env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as late:
        return -1, f'no end within {TIMEOUT_S} s\n' + (late.stdout or b'').decode(errors='replace')
    return done.returncode, done.stdout.decode(errors='replace')


def judge(mechanism, racebench, program, seeds):
    """Run one program. Return (verdict, output): verdict is 'found', 'missed', 'silent', 'reported' or 'broken'."""
    text = ''
    for seed in range(seeds['racy' if program.endswith('_racy') else 'clean']):
        status, text = run(mechanism, racebench, program, seed)
        if program.endswith('_racy'):
            if REPORT[mechanism].search(text):
                return 'found', text
            if status != 0:
                return 'broken', text
        elif ANY_REPORT.search(text):
            return 'reported', text
        elif status != 0:
            return 'broken', text
    return ('missed' if program.endswith('_racy') else 'silent'), text


def is_known(mechanism, program):
    return any(fnmatch.fnmatch(program, pattern) for pattern in KNOWN_MISSES.get(mechanism, []))


class Mechanism:
    """The verdicts on all programs, by one mechanism."""

    def __init__(self, name, racebench, options):
        listed = subprocess.run([racebench], capture_output=True, text=True, check=True,
                                env=dict(os.environ, BFSIM_CHECK='off'))
        rows = [line.split() for line in listed.stdout.splitlines()]
        self.name = name
        self.programs = {row[0]: (row[1], int(row[2])) for row in rows if fnmatch.fnmatch(row[0], options.programs)
                         and (name != 'valgrind' or row[2] == '1')}
        seeds = {kind: options.seeds if name == 'plain' else SANITIZER_SEEDS[kind] for kind in ('racy', 'clean')}
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            verdicts = list(pool.map(lambda program: judge(name, racebench, program, seeds), self.programs))
        self.verdicts = dict(zip(self.programs, verdicts))

    def names(self, verdict, kind=None):
        return [name for name, (found, _) in self.verdicts.items()
                if found == verdict and (kind is None or self.programs[name] == kind)]

    def print_table(self):
        print(f'{self.name:<10}{"processes":>10}{"true pos.":>11}{"false neg.":>11}{"true neg.":>11}{"false pos.":>11}')
        for kind in dict.fromkeys(self.programs.values()):
            print(f'  {kind[0]:<8}{kind[1]:>10}' + ''.join(
                f'{len(self.names(verdict, kind)):>11}' for verdict in ('found', 'missed', 'silent', 'reported')))
        print(f'  {"all":<18}' + ''.join(
            f'{len(self.names(verdict)):>11}' for verdict in ('found', 'missed', 'silent', 'reported')))

    def print_names(self):
        for name in self.names('missed'):
            print(f'  missed: {name}' + (' (a known limit)' if is_known(self.name, name) else ''))
        for verdict in ('reported', 'broken'):
            for name in self.names(verdict):
                print(f'  {verdict}: {name}')
                print('\n'.join('      ' + line for line in self.verdicts[name][1].splitlines()[:40]))

    def is_good(self):
        found, missed = self.names('found'), self.names('missed')
        if self.names('reported') or self.names('broken'):
            return False
        missed = [name for name in missed if not is_known(self.name, name)]
        total = len(found) + len(missed)
        return total == 0 or len(found) / total >= LEAST_FOUND[self.name]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seeds', type=int, default=PLAIN_SEEDS, help='runs of each program in plain mode')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--programs', default='*', help='a pattern of names')
    parser.add_argument('mechanisms', nargs='+', metavar='MECHANISM=RACEBENCH')
    options = parser.parse_args()
    good = True
    for name, racebench in (mechanism.split('=', 1) for mechanism in options.mechanisms):
        if name == 'valgrind' and not shutil.which('valgrind'):
            print('valgrind is not installed: skipped')
            continue
        mechanism = Mechanism(name, racebench, options)
        mechanism.print_table()
        mechanism.print_names()
        good &= mechanism.is_good()
    sys.exit(0 if good else 1)


main()
