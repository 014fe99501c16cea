#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that a C++17 compiler accepts each header alone, without a warning.

    check_cpp17.py FACTS INCLUDE-DIR SIDE-DIR COMPILER...
"""
import json
import pathlib
import subprocess
import sys

FLAGS = ['-std=c++17', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only', '-x', 'c++', '-']


def main():
    facts = json.loads(pathlib.Path(sys.argv[1]).read_text())
    include_dir, side_dir, compiler = sys.argv[2], sys.argv[3], sys.argv[4:]
    failed = 0
    for header in facts['headers']:
        done = subprocess.run([*compiler, f'-I{include_dir}', f'-I{side_dir}', *FLAGS],
                              input=f'#include <{header}>\n', capture_output=True, text=True)
        failed += done.returncode != 0
        print(done.stderr, end='')
    print(f"{len(facts['headers']) - failed} of {len(facts['headers'])} headers are C++17")
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
