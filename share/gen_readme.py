#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The README of an installation: its links lead to what is installed, and the others are text.  gen_readme.py README OUTPUT"""
import re
import sys

MOVED = {'tests/apps/': 'examples/', 'share/ci': 'ci', 'doc/': 'doc/'}


def convert(link):
    text, target = link.groups()
    for source, installed in MOVED.items():
        if target.startswith(source):
            return f'[{text}]({installed}{target[len(source):]})'
    return link.group(0) if re.match('https?:|#', target) else text


with open(sys.argv[1], encoding='utf-8') as source:
    page = re.sub(r'\[([^]]*)\]\(([^)]*)\)', convert, source.read())
with open(sys.argv[2], 'w', encoding='utf-8') as output:
    output.write(page)
