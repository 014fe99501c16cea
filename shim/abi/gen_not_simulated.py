#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""List the public functions that say "bfsim does not simulate": not_simulated.txt beside this script.

    gen_not_simulated.py COMPILER...            write the list
    gen_not_simulated.py --check COMPILER...    change nothing; fail where the list is not what would be written

The list is of the sources themselves. Each file that may matter is preprocessed (functions made by macros count as
well) and cut into function bodies. A function is listed if its body has that text, which is SHIM_NOT_SIMULATED's and
stands in the refusals of what needs such a thing first; if it calls a helper whose body has it; or if it does no more
than to call a function that is listed.
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SHIM = HERE.parent
LIST = HERE / 'not_simulated.txt'

HEAD = """\
# The public functions that check their arguments and then refuse, as bfsim does not simulate what they are for:
# DOCA_ERROR_NOT_SUPPORTED, or DOCA_ERROR_BAD_STATE where such a thing has to be set up first. Written by
# gen_not_simulated.py from the sources of shim/.
"""

NOT_SOURCES = ('abi', 'include', 'workq')
HEADERS = [f'-I{SHIM.parent}', f'-I{SHIM / "include/host"}']
CURRENT = [*HEADERS, f'-I{SHIM / "include"}']

# Generation -> (folders of sources, what they are compiled with); a folder that is not there has none. The
# work-queue generation is a translation, and the current one's sources compiled once more under other names.
OTHERS = [folder for folder in sorted(SHIM.iterdir()) if folder.is_dir() and folder.name not in NOT_SOURCES]
WORKQ = SHIM / 'workq'
GENERATIONS = {
    'task': [(OTHERS, CURRENT)],
    'workq': [([WORKQ], [*HEADERS, f'-I{WORKQ / "include"}']),
              (OTHERS if WORKQ.is_dir() else [], ['-include', str(WORKQ / 'renamed_symbols.h'), *CURRENT])],
}

MARK = 'bfsim does not simulate'
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'')
ATTRIBUTE = re.compile(r'__(?:attribute__|asm__|extension__)\s*(?:\(\(.*?\)\)|\([^()]*\))?')
NAME = re.compile(r'(\w+)\s*\(')
ONLY_CALLS = re.compile(r'^\s*(?:return\s+)?(\w+)\s*\([^;]*\)\s*;\s*$')


def preprocessed(path, compiler, flags):
    command = [*compiler, '-E', '-P', '-std=gnu11', '-D_GNU_SOURCE', '-DDOCA_ALLOW_EXPERIMENTAL_API', *flags, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return LITERAL.sub(lambda found: ' MARK_ ' if MARK in found.group() else '""', done.stdout)


def is_of_header(head, name):
    """Public headers have inline functions: they are in programs, not in the libraries."""
    return name.startswith('doca_') and re.search(r'\binline\b', head) is not None


def bodies(text):
    """The functions that a preprocessed file defines: name -> text between the outermost braces."""
    found, depth, start, head_start = {}, 0, 0, 0
    for at, char in enumerate(text):
        if char == '{':
            if depth == 0:
                start = at
            depth += 1
        elif char == '}':
            depth -= 1
            if depth == 0:
                head = ATTRIBUTE.sub('', text[head_start:start])
                name = NAME.search(head)
                if name and head.rstrip().endswith(')') and not is_of_header(head, name.group(1)):
                    found[name.group(1)] = text[start + 1:at]
                head_start = at + 1
        elif char == ';' and depth == 0:
            head_start = at + 1
    return found


def is_not_simulated(body, listed):
    words = set(re.findall(r'\w+', body))
    only = ONLY_CALLS.match(body)
    return 'MARK_' in words or bool(only and only.group(1) in listed) or \
        any(name in words for name in listed if not name.startswith('doca_'))


def not_simulated(parts, compiler):
    """Grow the list until nothing is added; a file is looked at once it has the macro, the text or a listed function."""
    sources = {path: (path.read_text(), flags) for folders, flags in parts for folder in folders
               for path in sorted(folder.rglob('*.c'))}
    listed, all_bodies, grown = set(), {}, True
    while grown:
        wanted = re.compile(r'\b(?:' + '|'.join(['SHIM_NOT_SIMULATED', MARK, *sorted(listed)]) + r')\b')
        for path in [path for path, (text, _) in sources.items() if wanted.search(text)]:
            _, flags = sources.pop(path)
            all_bodies.update({(path, name): body for name, body in
                               bodies(preprocessed(path, compiler, flags)).items()})
        more = {name for (_, name), body in all_bodies.items() if is_not_simulated(body, listed)}
        grown = not more <= listed
        listed |= more
    return sorted(name for name in listed if name.startswith('doca_'))


def main():
    checks = sys.argv[1:2] == ['--check']
    compiler = sys.argv[2:] if checks else sys.argv[1:]
    text = HEAD
    for generation, parts in GENERATIONS.items():
        text += ''.join(f'{generation} {name}\n' for name in not_simulated(parts, compiler))
    if not checks:
        LIST.write_text(text)
    elif LIST.read_text() != text:
        sys.exit(f'{LIST.name} is stale: run shim/abi/gen_not_simulated.py cc')


if __name__ == '__main__':
    main()
