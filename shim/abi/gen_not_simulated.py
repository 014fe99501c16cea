#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""List the public functions that say "bfsim does not simulate", while bfsim is built.

    gen_not_simulated.py OUTPUT DEPFILE RENAMED-SYMBOLS COMPILER...

RENAMED-SYMBOLS is the header of gen_renamed_symbols.py. DEPFILE names the sources that the list was made from.

The list comes from the sources themselves. Each file that may matter is preprocessed (macros may define functions) and
cut into function bodies. A function is listed if its body has that text, which SHIM_NOT_SIMULATED and the refusals of
preconditions contain; if it calls a helper whose body has the text; or if all it does is to call a listed function. A
function of device code (dpa-dev) is listed if it ends each kernel that calls it: it says "bfsim has no", or it uses a
function of the port to the simulator that the simulator's table lacks.
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SHIM = HERE.parent

HEAD = """\
# The public functions that check their arguments and then refuse, because bfsim does not simulate their purpose:
# DOCA_ERROR_NOT_SUPPORTED, or DOCA_ERROR_BAD_STATE where such a thing must be set up first. Those of device code (dpa-dev) end
# the kernel. Written by gen_not_simulated.py from the sources of shim/.
"""

NOT_SOURCES = ('abi', 'check', 'include', 'task_2_5', 'workq') # the checker names public functions and defines none
HEADERS = [f'-I{SHIM.parent}', '-I.', f'-I{SHIM / "include/host"}'] # the build calls the script in its folder
CURRENT = [*HEADERS, f'-I{SHIM / "include"}']

OTHERS = [folder for folder in sorted(SHIM.iterdir()) if folder.is_dir() and folder.name not in NOT_SOURCES]
WORKQ = SHIM / 'workq'
TASK_2_5 = SHIM / 'task_2_5' # its translation; rdma_core.c defines no public function

DPA_DEV = SHIM / 'dpa_dev' / 'lib'
DPA_DEV_FLAGS = [*HEADERS, '-ffreestanding', *(f'-I{SHIM / folder}' for folder in ('dpa_dev/include', 'dpa_dev/compiler', 'include'))]
DPA_PORT = SHIM.parent / 'sim/dpa/queue/port.c'

MARK = 'bfsim does not simulate'
DPA_MARK = 'bfsim has no'
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'')
ATTRIBUTE = re.compile(r'__(?:attribute__|asm__|extension__)\s*(?:\(\(.*?\)\)|\([^()]*\))?')
NAME = re.compile(r'(\w+)\s*\(')
ONLY_CALLS = re.compile(r'^\s*(?:return\s+)?(\w+)\s*\([^;]*\)\s*;\s*$')


def preprocessed(path, compiler, flags, mark=MARK):
    command = [*compiler, '-E', '-P', '-std=gnu11', '-D_GNU_SOURCE', '-DDOCA_ALLOW_EXPERIMENTAL_API', *flags, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return LITERAL.sub(lambda found: ' MARK_ ' if mark in found.group() else '""', done.stdout)


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


def generations(renamed_symbols):
    """Generation -> (folders of sources, their compiler flags). The work-queue generation consists of a translation and
    of the sources of the current generation, compiled again under other names. Of 2.5 and 2.6, the translation alone is
    listed: gen_releases.py adds what it has in common with the current generation."""
    return {
        'task': [(OTHERS, CURRENT)],
        'task-2.5': [([TASK_2_5], [*HEADERS, '-Ishim/task_2_5', '-Ishim/task_2_5/include'])],
        'workq': [([WORKQ], [*HEADERS, f'-I{WORKQ / "include"}']), (OTHERS, ['-include', renamed_symbols, *CURRENT])],
    }


def not_simulated(parts, compiler):
    """Grow the list until nothing is added. A file is read when it has the macro, the text or a listed function."""
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


def not_simulated_on_dpa(compiler):
    ported = {'fatal', *re.findall(r'^\t\.(\w+) = ', DPA_PORT.read_text(), re.MULTILINE)}
    listed = set()
    for path in sorted(DPA_DEV.glob('*.c')):
        for name, body in bodies(preprocessed(path, compiler, DPA_DEV_FLAGS, DPA_MARK)).items():
            if 'MARK_' in body or not ported.issuperset(re.findall(r'\bbfsim_dpa_port->(\w+)', body)):
                listed.add(name)
    return sorted(name for name in listed if name.startswith('doca_'))


def main():
    output, depfile, renamed_symbols, *compiler = sys.argv[1:]
    text = HEAD
    for generation, parts in generations(renamed_symbols).items():
        text += ''.join(f'{generation} {name}\n' for name in not_simulated(parts, compiler))
    text += ''.join(f'dpa-dev {name}\n' for name in not_simulated_on_dpa(compiler))
    sources = [str(DPA_PORT), *(str(path) for path in sorted(SHIM.rglob('*.[ch]')))]
    pathlib.Path(output).write_text(text)
    pathlib.Path(depfile).write_text(f'{output}: {" ".join(sources)}\n')


if __name__ == '__main__':
    main()
