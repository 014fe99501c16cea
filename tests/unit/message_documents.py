# SPDX-License-Identifier: BSD-3-Clause
"""Each document that a string of the sources names, as doc/NAME.md, is in the folder that is installed.

    message_documents.py TOP
"""
import pathlib
import re
import sys

top = pathlib.Path(sys.argv[1])
named, dead = set(), []
for folder in 'pcie_model', 'shim', 'sim', 'share/python':
    for path in sorted((top / folder).rglob('*')):
        if path.suffix not in ('.c', '.h', '.py'):
            continue
        for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
            for literal in re.findall(r'"(?:[^"\\]|\\.)*"', line):
                for document in re.findall(r'\bdoc/[\w-]+\.md\b', literal):
                    named.add(document)
                    if not (top / document).is_file():
                        dead.append(f'{path.relative_to(top)}:{number}: {document} does not exist')
if 'doc/faults.md' not in named:
    sys.exit('no string names doc/faults.md: this test does not find the messages')
sys.exit('\n'.join(dead) or 0)
