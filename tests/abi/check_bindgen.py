#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the Rust bindings of the public headers are complete.

    check_bindgen.py FACTS INCLUDE-DIR SIDE-DIR BINDGEN

One wrapper header includes all headers, as in a Rust crate. The bindings must have every function with a symbol,
every structure and every enumerator; a PCI address must have its three parts.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

PARTS = {'doca_pci_bdf': ['bus', 'device', 'function']}


def bindings(facts, include_dir, side_dir, bindgen):
    with tempfile.TemporaryDirectory() as tmp:
        wrapper = pathlib.Path(tmp) / 'wrapper.h'
        wrapper.write_text(''.join(f'#include <{header}>\n' for header in facts['headers']))
        done = subprocess.run([bindgen, str(wrapper), '--', f'-I{include_dir}', f'-I{side_dir}'],
                              capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return ' '.join(done.stdout.split())  # rustfmt folds long lines


def missing(facts, text):
    for name, entry in facts['functions'].items():
        if not entry['inline'] and not re.search(rf'pub fn {name}\b', text):
            yield f'function {name}'
    for tag, entry in facts['structs'].items():
        if not re.search(rf"pub {entry['tag']} {tag}\b", text):
            yield f"{entry['tag']} {tag}"
        for part in PARTS.get(tag, []):
            if not re.search(rf'pub fn {part}\(&self\)', text):
                yield f'{tag}.{part}'
    for tag, entry in facts['enums'].items():
        for name, value in entry['values'].items():
            if not re.search(rf'pub const {tag}_{name}: {tag} = {value};', text):
                yield f'{name} = {value}'


def main():
    facts = json.loads(pathlib.Path(sys.argv[1]).read_text())
    found = list(missing(facts, bindings(facts, *sys.argv[2:])))
    print('\n'.join(f'not in the bindings: {what}' for what in found) or f"{len(facts['functions'])} functions bound")
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
