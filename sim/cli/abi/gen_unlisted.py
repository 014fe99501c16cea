#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the table of unlisted.h as C, while bfsim is built.

    gen_unlisted.py OUTPUT MODULES RELEASES

MODULES is shim/abi/modules.txt, RELEASES shim/abi/releases.txt. A word begins the names of a library's functions: it is the
name of a header, of the library or of its module. Longer words come first.
"""
import pathlib
import sys

OTHER_WORDS = {'gpu': 'gpunetio', 'rivermax': 'rmax'} # of functions, and in documents


def read_lines(path):
    return [line.split() for line in pathlib.Path(path).read_text().replace('\\\n', '').splitlines() if line and line[0] != '#']


def words_of_libraries(modules_path, releases_path):
    listed = {row[0] for row in read_lines(releases_path)}
    words = {}
    for module, _, libraries, *headers in read_lines(modules_path):
        library = libraries.split(',')[0]
        if library == '-' or f'libdoca_{library}' in listed:
            continue
        for word in [module.replace('-', '_'), *libraries.split(','), *''.join(headers).split(',')]:
            words.setdefault(word, library)
    words.pop('-', None)
    return words | OTHER_WORDS


def main():
    output, modules, releases = sys.argv[1:]
    words = words_of_libraries(modules, releases)
    rows = [f'\t{{"{word}", "libdoca_{words[word]}"}},' for word in sorted(words, key=lambda word: (-len(word), word))]
    lines = ['/* Written by gen_unlisted.py. */', '#include "sim/cli/abi/unlisted.h"', '',
             'const struct cli_unlisted cli_unlisted[] = {', *rows, '\t{0},', '};']
    pathlib.Path(output).write_text('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()
