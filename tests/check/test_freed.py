#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""In a program with the address sanitizer, a task on freed memory of the heap is reported, with the place of the free.

    test_freed.py FREED
"""
import os
import re
import subprocess
import sys


def run(when):
    env = dict(os.environ, BFSIM_CHECK='races', BFSIM_SIDE='dpu', ASAN_OPTIONS='detect_leaks=0')
    return subprocess.run([sys.argv[1], when], env=env, capture_output=True, text=True, timeout=60, check=False).stderr


def main():
    early, late = run('early'), run('late')
    wanted = (r'BFC-MMAP-019: doca_task_submit: the source of the task, 64 bytes at offset 128 of its memory map, was freed\n'
              r'.*    the memory was freed:\n.*at free_early \(')
    results = [(re.search(wanted, early, re.DOTALL) and 'BFC-MMAP-003' not in early, 'freed memory is reported', early),
               ('BFC-' not in late and 'ERROR' not in late, 'memory that is freed later is not reported', late)]
    print(f'1..{len(results)}')
    for number, (is_well, name, text) in enumerate(results, 1):
        print(f'{"ok" if is_well else "not ok"} {number} {name}')
        if not is_well:
            print('\n'.join('# ' + line for line in text.splitlines()))
    sys.exit(not all(is_well for is_well, _, _ in results))


if __name__ == '__main__':
    main()
