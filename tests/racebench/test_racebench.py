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
PER_PROCESS = 8  # programs that one process runs in its children
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
END = re.compile(r'^racebench: end of (\S+): (-?\d+)\n', re.M)  # of a program that a child has run
ANY_REPORT = re.compile(r'bfsim check: |Sanitizer:|==\d+== (Invalid|Conditional jump|Use of uninit|Syscall param)')

# What a mechanism can't see, by patterns of names; doc/checker.md says why.
KNOWN_MISSES = {
    # the peer may write a posted buffer at any time; the heap keeps freed memory; a request of RDMA moves its bytes at once
    'plain': ['comch_consumer_writes_posted*', 'import_exporter_frees_*', 'rdma_receive_buffer_*', 'rdma_read_destination_read_racy'],
    'asan': ['*_source_modified_64k_middle_racy'],  # sources are compared, in part
    'tsan': ['import_exporter_frees_*'],
    'valgrind': ['*_source_modified_64k_middle_racy', 'import_exporter_frees_*', 'rdma_receive_buffer_*'],
}


def command(mechanism, racebench, programs):
    if mechanism == 'valgrind':
        return ['valgrind', '-q', '--trace-children=no', '--child-silent-after-fork=no', racebench, *programs]
    return [racebench, *programs]


def agrees(program):
    return program.startswith('agree_')


def run(mechanism, racebench, programs, seed):
    """Return the exit status and all that was printed. The programs agree, or none does."""
    # Names and lines in a sanitizer's report are not looked at, and take half of the time of a racy program.
    env = dict(os.environ, BFSIM_CHECK='races', BFSIM_CHECK_SEED=str(seed), BFSIM_SHUFFLE=str(seed), BFSIM_SIDE='dpu',
               TSAN_OPTIONS='atexit_sleep_ms=0:symbolize=0', ASAN_OPTIONS='symbolize=0',
               BFSIM_CHECK_SYNC='doca' if agrees(programs[0]) else 'any')
    if mechanism == 'tsan' and agrees(programs[0]):
        del env['BFSIM_CHECK']  # the sanitizer alone finds these
    for name in ('BFSIM_CHECK_REPORT', 'BFSIM_CHECK_MUTES', 'BFSIM_CHECK_HITS'):
        env.pop(name, None)
    try:
        done = subprocess.run(command(mechanism, racebench, programs), env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as late:
        return -1, f'no end within {TIMEOUT_S} s\n' + (late.stdout or b'').decode(errors='replace')
    return done.returncode, done.stdout.decode(errors='replace')


def run_each(mechanism, racebench, programs, seed):
    """Return {program: (status, output)} of programs that one process runs, one after the other."""
    if len(programs) == 1:
        return {programs[0]: run(mechanism, racebench, programs, seed)}
    results, at = {}, 0
    _, text = run(mechanism, racebench, programs, seed)
    for end in END.finditer(text):
        results[end[1]] = int(end[2]), text[at:end.start()]
        at = end.end()
    for program in programs:
        if program not in results:
            results[program] = run(mechanism, racebench, [program], seed)
    return results


def judge(mechanism, program, status, text):
    """Return the verdict on a run: 'found', 'missed', 'silent', 'reported' or 'broken'."""
    if program.endswith('_racy'):
        if REPORT[mechanism].search(text):
            return 'found'
        return 'missed' if status == 0 else 'broken'
    if ANY_REPORT.search(text):
        return 'reported'
    return 'silent' if status == 0 else 'broken'


def judge_all(mechanism, racebench, programs, options):
    """Run each program with seed after seed until its verdict is known. Return {program: (verdict, output)}."""
    seeds = {kind: options.seeds if mechanism == 'plain' else SANITIZER_SEEDS[kind] for kind in ('racy', 'clean')}
    verdicts = {}
    for seed in range(max(seeds.values())):
        left = [program for program in programs if seed < seeds[program.rsplit('_', 1)[1]]
                and verdicts.get(program, ('missed',))[0] in ('missed', 'silent')]
        groups = [group[i:i + PER_PROCESS] for group in ([one for one in left if agrees(one)],
                                                         [one for one in left if not agrees(one)])
                  for i in range(0, len(group), PER_PROCESS)]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for results in pool.map(lambda group, seed=seed: run_each(mechanism, racebench, group, seed), groups):
                verdicts.update({program: (judge(mechanism, program, *result), result[1])
                                 for program, result in results.items()})
    return verdicts


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
        self.verdicts = judge_all(name, racebench, list(self.programs), options)

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
