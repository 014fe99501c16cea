#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check properties of the public headers that the type system of the compiler can't check.

    check_headers.py FACTS INCLUDE-DIR SIDE-DIR COMPILER...

INCLUDE-DIR has the headers of a generation; SIDE-DIR has the header in which the trees of the two sides differ.

- each header includes exactly the headers of the facts: without one, applications break here; with another one,
  applications may rely on names that the headers of the vendor don't declare;
- each header declares no function that the facts lack;
- calling a function without DOCA_ALLOW_EXPERIMENTAL_API warns if it is experimental, and only then;
- the compiler checks the arguments of a log record against its format.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

INCLUDE = re.compile(r'^#include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
ORIGIN = re.compile(r'^# \d+ "([^"]+)"')
MARKED = re.compile(r'__attribute__\(\(visibility\("default"\)\)\)\s+[^;(]*?\b(\w+)\(')
WARNING = re.compile(r"['\u2018](\w+)\b[^'\u2019]*['\u2019] is deprecated")
# Included besides: where the header that brings it is not installed; by 2.5's doca_rdma.h, a part of it.
OTHERS_OF = {'doca_rdma.h': {'rdma/ib_user_verbs.h', 'bfsim_rdma.h'}}


def header_path(include_dir, side_dir, header):
    path = include_dir / header
    return path if path.exists() else side_dir / header


def declared(header, include_dir, side_dir, compiler):
    """The functions that the header itself, or a part of it, declares with all marks allowed."""
    command = [*compiler, '-E', '-DDOCA_ALLOW_EXPERIMENTAL_API', '-DDOCA_ALLOW_DEPRECATED_API', f'-I{include_dir}',
               f'-I{side_dir}', '-xc', '-']
    done = subprocess.run(command, input=f'#include <{header}>\n', capture_output=True, text=True, check=True)
    parts = {header, *OTHERS_OF.get(header, ())}
    own, lines = False, []
    for line in done.stdout.splitlines():
        origin = ORIGIN.match(line)
        if origin:
            own = pathlib.Path(origin.group(1)).name in parts
        elif own:
            lines.append(line)
    return MARKED.findall('\n'.join(lines))


def check_text(facts, include_dir, side_dir, compiler):
    for header, entry in facts['headers'].items():
        text = header_path(include_dir, side_dir, header).read_text()
        have, want = set(INCLUDE.findall(text)), set(entry['includes'])
        for name in sorted(want - have):
            yield f'{header}: does not include {name}'
        for name in sorted(have - want - OTHERS_OF.get(header, set())):
            yield f'{header}: includes {name} and should not'
        for name in declared(header, include_dir, side_dir, compiler):
            known = facts['functions'].get(name)
            if not known or known['header'] != header:
                yield f'{header}: declares {name}, which the facts do not have there'


def diagnostics(source_text, include_dir, side_dir, compiler, *flags):
    """The messages of the compiler for a source that it must accept."""
    with tempfile.TemporaryDirectory() as tmp:
        source = pathlib.Path(tmp) / 'use.c'
        source.write_text(source_text)
        command = [*compiler, '-fsyntax-only', *flags, f'-I{include_dir}', f'-I{side_dir}',
                   str(source)]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, 'LC_ALL': 'C'})
    if done.returncode:
        sys.exit(done.stderr)
    return done.stderr


def warned_about(facts, include_dir, side_dir, compiler):
    """The functions whose use warns with no mark allowed."""
    lines = [f'#include <{header}>' for header in facts['headers']]
    lines += [f'void *use_{name}(void);\nvoid *use_{name}(void) {{ return (void *){name}; }}'
              for name in sorted(facts['functions'])]
    said = diagnostics('\n'.join(lines) + '\n', include_dir, side_dir, compiler, '-Wdeprecated-declarations')
    return set(WARNING.findall(said))


def check_marks(facts, include_dir, side_dir, compiler):
    warned = warned_about(facts, include_dir, side_dir, compiler)
    for name, entry in sorted(facts['functions'].items()):
        stable = entry['stability'] == 'stable' or entry['inline']
        if stable and name in warned:
            yield f"{entry['header']}: using {name}, which is stable, warns"
        if not stable and name not in warned:
            yield f"{entry['header']}: using {name}, which is {entry['stability']}, does not warn"


def check_format(include_dir, side_dir, compiler):
    source = ('#define DOCA_ALLOW_EXPERIMENTAL_API\n#include <doca_log.h>\nDOCA_LOG_REGISTER(A::B);\n'
              'void f(void);\nvoid f(void) { DOCA_LOG_INFO("%s", 1); }\n')
    if '-Wformat' not in diagnostics(source, include_dir, side_dir, compiler, '-Wformat'):
        yield 'doca_log.h: a record whose arguments do not fit its format does not warn'


def main():
    facts = json.loads(pathlib.Path(sys.argv[1]).read_text())
    include_dir, side_dir, compiler = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4:]
    found = [*check_text(facts, include_dir, side_dir, compiler), *check_marks(facts, include_dir, side_dir, compiler),
             *check_format(include_dir, side_dir, compiler)]
    print('\n'.join(found) or f"{len(facts['headers'])} headers as expected")
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
