#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check what libbfsim.so exports.

    check_bfsim_exports.py BFSIM-HEADER LIBBFSIM SHIM-LIBRARY...

Each function of <bfsim.h> is exported, and each other exported symbol is called by a shim library.
"""
import pathlib
import re
import subprocess
import sys


def symbols(path, which):
    text = subprocess.run(['nm', '-D', '-P', which, path], check=True, capture_output=True, text=True).stdout
    return {line.split()[0].partition('@')[0] for line in text.splitlines() if line.split()[1] != 'A'}


def main():
    header, library, *shims = sys.argv[1:]
    public = set(re.findall(r'\b(bfsim_\w+)\(', pathlib.Path(header).read_text()))
    exported = symbols(library, '--defined-only')
    called = set().union(*(symbols(shim, '--undefined-only') for shim in shims))
    failures = [f'{name} of <bfsim.h> is not exported' for name in sorted(public - exported)]
    failures += [f'{name} is exported, but no shim library calls it: remove it from sim/libbfsim.map'
                 for name in sorted(exported - public - called)]
    print('\n'.join(failures) or f'{len(public)} public and {len(exported - public)} private symbols')
    sys.exit(1 if failures else 0)


main()
