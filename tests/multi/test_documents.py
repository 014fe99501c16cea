#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The commands of the documents, run as a reader runs them, with what "meson install" lays down.

    test_documents.py BUILD_DIR SOURCE_DIR

In the documents below, each block of "sh" is run, all blocks of a page in one shell that ends at the first failure, in an
empty directory. A block of "text" behind it shows its output: each of its lines is a line of the output, with "..." for what
differs. A block of "yaml", "c" or "Makefile" whose first line is a comment with a file's name is that file. Blocks of "console" are
not run: they need what a test has not.
"""
import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile

DOCUMENTS = ('doc/tutorial.md', 'doc/scenarios.md', 'doc/troubleshooting.md', 'doc/hardware.md', 'README.md')
FIELDS = {'scenario': 'Fields of a scenario', 'side': 'Fields of a command', 'file': 'Fields of files'}
FENCE = re.compile(r'^```(\w*)\n(.*?)^```$', re.M | re.S)
FILE = re.compile(r'(?:#|//|/\*) ([\w./-]+\.\w+)( \*/)?$')
MARK = '@@block'


def read_blocks(page):
    return [(match[1], match[2], page.count('\n', 0, match.start()) + 1) for match in FENCE.finditer(page)]


def script_of(blocks):
    """The shell script of a page: files are written where they stand, and a mark is printed before each block of commands."""
    script = 'set -e\n'
    for number, (kind, text, _) in enumerate(blocks):
        if kind == 'sh':
            script += f'echo "{MARK} {number}"\n{text}'
        elif name := FILE.match(text.partition('\n')[0]):
            script += f"cat >'{name[1]}' <<'END_OF_FILE'\n{text}END_OF_FILE\n"
    return script


def is_said(line, output):
    pattern = re.compile('.*'.join(re.escape(part.strip()) for part in line.split('...')) + '$')
    return any(pattern.match(said.strip()) for said in output)


def check_page(name, page, environment):
    blocks = read_blocks(page)
    with tempfile.TemporaryDirectory() as work:
        own = {'HOME': work, 'TMPDIR': work, 'XDG_RUNTIME_DIR': work}
        done = subprocess.run(['bash', '-c', script_of(blocks)], cwd=work, env=environment | own, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    outputs = {int(part.split('\n', 1)[0]): part.split('\n')[1:] for part in done.stdout.split(MARK + ' ')[1:]}
    if done.returncode:
        line = blocks[max(outputs, default=0)][2]
        sys.exit(f'{name}:{line}: the commands end with status {done.returncode}:\n{done.stdout}')
    last, count = None, 0
    for number, (kind, text, line) in enumerate(blocks):
        if kind == 'sh':
            last, count = number, count + 1
        elif kind == 'text' and last is not None:
            missing = [wanted for wanted in text.splitlines() if wanted.strip() and not is_said(wanted, outputs[last])]
            if missing:
                sys.exit(f'{name}:{line}: not said: {missing}\n' + '\n'.join(outputs[last]))
    return count


def check_fields(source):
    """doc/scenarios.md has exactly the fields that the reader of scenarios knows, table by table."""
    page = (source / 'doc/scenarios.md').read_text()
    code = ''.join(file.read_text() for file in sorted((source / 'sim/cli/test').glob('scenario*.c')))
    for table, heading in FIELDS.items():
        known = re.findall(r'(?:{ |FIELD\()"([a-z-]+)", ', re.search(rf'{table}_fields\[\] = {{(.*?)^}};', code, re.M | re.S)[1])
        told = re.findall(r'^\| `([a-z-]+)` \|', page.split(f'\n## {heading}\n')[1].split('\n## ')[0], re.M)
        if sorted(known) != sorted(told):
            sys.exit(f'doc/scenarios.md, {heading}: {sorted(set(known) ^ set(told))} are in one of document and code alone')


def main(build, source):
    check_fields(pathlib.Path(source))
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(['meson', 'install', '-C', build, '--no-rebuild', '--destdir', work], check=True, stdout=subprocess.DEVNULL)
        (command,) = glob.glob(work + '/**/bin/bfsim', recursive=True)
        installed = pathlib.Path(command).parents[1]
        environment = {key: value for key, value in os.environ.items() if not key.startswith(('BFSIM_', 'LD_LIBRARY'))}
        environment |= {'PATH': f'{installed}/bin:{environment["PATH"]}', 'EXAMPLES': f'{installed}/share/doc/bfsim/examples'}
        for name in DOCUMENTS:
            if not (pathlib.Path(source) / name).exists():
                continue
            count = check_page(name, (pathlib.Path(source) / name).read_text(), environment)
            print(f'{name}: {count} blocks of commands', flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
