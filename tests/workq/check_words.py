#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run a test program, and check that its log mentions only functions and types of the work-queue generation.

    check_words.py FACTS PROGRAM

The libraries share most of their sources with the current generation, whose names must not appear.
"""
import json
import re
import subprocess
import sys

WORD = re.compile(r'(?<![A-Za-z0-9_])(?:doca|core)_[a-z0-9_]+')
LINE = re.compile(r'\]\[DOCA\]\[(?:CRT|ERR|WRN)\]\[[^]]*\]: (.*)')


def main():
    facts = json.load(open(sys.argv[1]))
    known = {name for part in ('functions', 'enums', 'structs', 'typedefs') for name in facts[part]}
    known |= set(re.findall(r'struct (\w+)', json.dumps(facts['functions'])))
    run = subprocess.run(sys.argv[2:], stderr=subprocess.PIPE, text=True, check=False)
    lines = LINE.findall(run.stderr)
    unknown = sorted({(word, line) for line in lines for word in WORD.findall(line) if word not in known})
    for word, line in unknown:
        print(f'{word} is not a name of this generation: {line}')
    print(f'{len(lines)} lines')
    return 1 if unknown or not lines or run.returncode != 0 else 0


if __name__ == '__main__':
    sys.exit(main())
