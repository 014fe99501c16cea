#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Give the installed SDK trees the library directories that build files spell besides the one with the libraries.

    link_trees.py MULTIARCH        (the environment is that of meson's install scripts)

MULTIARCH is the directory of the libraries just installed, x86_64-linux-gnu. An installation may have others, as those of
aarch64 beside those of x86-64. After each installation, in any order, a tree has

    lib64, infrastructure/{include,lib}   links to the libraries of x86-64, if it has them, and to the headers
    lib/aarch64-linux-gnu (DPU), lib/x86_64-linux-gnu (host)
                                          the libraries of that processor; without them, a link for each file of lib64: the
                                          directory that the side's build files name on the vendor's machines

They are links for each file, and not one for the directory, so that libraries which are installed later replace them.
"""
import os
import pathlib
import sys

KNOWN = ['x86_64-linux-gnu', 'aarch64-linux-gnu']
OF_SIDE = {'host': KNOWN[0], 'dpu': KNOWN[1]}


def is_alias(path):
    """Whether it is a link to the file of that name in another of the directories."""
    above = [part for part in pathlib.Path(os.readlink(path)).parts if part != '..'] if path.is_symlink() else ['']
    return above[0].endswith('-linux-gnu')


def has_libraries(directory):
    library = directory / 'libbfsim.so'
    return os.path.lexists(library) and not is_alias(library)


def replace_link(link, target):
    if link.is_symlink():
        link.unlink()
    if not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)


def remove_aliases(directory):
    for path in [*directory.glob('*'), *directory.glob('pkgconfig/*')]:
        if is_alias(path):
            path.unlink()


def add_aliases(directory, of):
    for folder, up in (('.', '..'), ('pkgconfig', '../..')):
        for path in sorted((of / folder).iterdir()):
            if path.is_symlink() or path.is_file():
                replace_link(directory / folder / path.name, pathlib.Path(up) / of.name / folder / path.name)


def link_tree(tree, names):
    directories = [tree / 'lib' / name for name in names]
    own = [directory for directory in directories if has_libraries(directory)]
    for directory in directories:
        remove_aliases(directory)
    main = own[0]
    replace_link(tree / 'lib64', pathlib.Path('lib') / main.name)
    replace_link(tree / 'infrastructure/lib', pathlib.Path('../lib') / main.name)
    replace_link(tree / 'infrastructure/include', '../include')
    usual = tree / 'lib' / OF_SIDE[tree.name.rpartition('-')[2]]
    if usual not in own:
        add_aliases(usual, main)


def main():
    for tree in (pathlib.Path(os.environ['MESON_INSTALL_DESTDIR_PREFIX']) / 'sdk').iterdir():
        link_tree(tree, dict.fromkeys([*KNOWN, sys.argv[1]]))


if __name__ == '__main__':
    main()
