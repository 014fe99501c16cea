#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""In a program with the address sanitizer, the program's own access to the DPA's heap is reported; copies and kernels are not.

    test_dpa_poison.py DPA_POISON
"""
import os
import subprocess
import sys


def run(how):
    env = dict(os.environ, BFSIM_SIDE='dpu', ASAN_OPTIONS='detect_leaks=0')
    done = subprocess.run([sys.argv[1], how], env=env, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


def main():
    direct, copied = run('direct'), run('copied')
    results = [('use-after-poison' in direct and 'in read_device' in direct, 'a device pointer that the program reads is reported', direct),
               ('done' in copied and 'ERROR' not in copied and 'BFC-' not in copied, 'copies and kernels are not reported', copied)]
    print(f'1..{len(results)}')
    for number, (is_well, name, text) in enumerate(results, 1):
        print(f'{"ok" if is_well else "not ok"} {number} {name}')
        if not is_well:
            print('\n'.join('# ' + line for line in text.splitlines()))
    sys.exit(not all(is_well for is_well, _, _ in results))


if __name__ == '__main__':
    main()
