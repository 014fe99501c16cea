#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Add a library to a copy of the tree, as "How to add a library" of CONTRIBUTING.md says; build, test and count it.

    test_new_library.py SOURCE COMPILER...

new_library/tree has the library's files, new_library/facts.json its rows of the interface facts. A person touches at most
MAX_TOUCHED files outside of shim/toy: if the library needs a further step one day, the step belongs here, and into the recipe.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

MAX_TOUCHED = 8
HERE = pathlib.Path(__file__).resolve().parent / 'new_library'
PARTS = ['pcie_model', 'sim', 'shim', 'man', 'share', 'doc', 'tests', 'ci', 'README.md', 'meson.build', 'meson_options.txt']
BUILD_OPTIONS = ['--buildtype=plain', '-Doptimization=0', '-Dabi=false']


class Copy:
    """A copy of the tree, and the files that a person has added to it or changed."""

    def __init__(self, source, folder):
        self.top = folder
        self.touched = set()
        for part in PARTS:
            if (source / part).is_dir():
                shutil.copytree(source / part, folder / part, symlinks=True)
            else:
                shutil.copy(source / part, folder / part)

    def add(self, tree):
        for path in sorted(path for path in tree.rglob('*') if path.is_file()):
            name = path.relative_to(tree)
            (self.top / name).parent.mkdir(exist_ok=True)
            assert not (self.top / name).exists(), name
            shutil.copy(path, self.top / name)
            self.touched.add(name)

    def insert(self, name, before, text):
        """Put text before the first line that begins with the given words."""
        lines = (self.top / name).read_text().splitlines(keepends=True)
        at = next(at for at, line in enumerate(lines) if line.startswith(before))
        (self.top / name).write_text(''.join([*lines[:at], text, *lines[at:]]))
        self.touched.add(pathlib.Path(name))

    def add_facts(self, name, more):
        facts = json.loads((self.top / name).read_text())
        for section, rows in more.items():
            facts[section] |= rows
        (self.top / name).write_text(json.dumps(facts))
        self.touched.add(pathlib.Path(name))

    def touched_outside(self, folder):
        return sorted(str(name) for name in self.touched if pathlib.Path(folder) not in name.parents)


def run(*command, **how):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **how)
    if done.returncode != 0:
        sys.exit(f'{" ".join(str(word) for word in command)}: exit status {done.returncode}\n{done.stdout[-4000:]}')
    return done.stdout


def add_library(copy):
    copy.add(HERE / 'tree')
    copy.add_facts('shim/abi/facts.json', json.loads((HERE / 'facts.json').read_text()))
    copy.insert('tests/api/meson.build', "  'error': [],", "  'toy': ['dma_util.c'],\n")
    copy.insert('README.md', '| dpa', '| toy | works |\n')
    copy.insert('doc/compatibility.md', '| libdoca_dpa', '| libdoca_toy | works: sums |\n')


def read_libraries(top):
    sys.path.insert(0, str(top / 'shim/abi'))
    import libraries  # pylint: disable=import-outside-toplevel,import-error
    return libraries


def check_results(top, build):
    abi, checks = top / 'shim/abi', top / 'tests/abi'
    run('meson', 'test', '-C', build, '--no-rebuild', 'toy')
    run(sys.executable, checks / 'check_exports.py', abi / 'facts.json', 'libdoca_toy', build / 'shim/libdoca_toy.so')
    run(sys.executable, checks / 'check_modules.py', abi, top / 'shim/include', top / 'shim/workq/include')
    assert '-ldoca_toy' in (build / 'shim/abi/doca-toy-lib.pc').read_text()
    assert 'doca_toy_create, 1, "toy context"' in (build / 'shim/call_functions.h').read_text(), 'the checker does not know it'
    assert 'shim/toy' in read_libraries(top).folders()


def check_mistakes(top):
    """A description with a mistake stops the build, with a sentence."""
    path = top / 'shim/toy/library.toml'
    text = path.read_text()
    for right, wrong, sentence in (('releases =', 'relases =', 'unknown key relases; did you mean releases?'),
                                   ('headers = ["toy"]', '', 'the key headers is missing'),
                                   ('"context"', '"contxt"', 'unknown key contxt; did you mean context?'),
                                   ('sources =', 'links = ["tioy"]\nsources =', 'links tioy, which has no shim/tioy/library.toml'),
                                   ('sources =', 'links = ["toy"]\nsources =', 'links toy -> toy: a circle')):
        path.write_text(text.replace(right, wrong))
        done = subprocess.run([sys.executable, top / 'shim/abi/libraries.py', 'build'], stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 1 and done.stderr == f'shim/toy/library.toml: {sentence}\n', done.stderr
    path.write_text(text)


def main():
    source, *compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(pathlib.Path(source), pathlib.Path(folder))
        add_library(copy)
        check_mistakes(copy.top)
        build = copy.top / 'build'
        run('meson', 'setup', build, copy.top, *BUILD_OPTIONS, env={**os.environ, 'CC': ' '.join(compiler)})
        run('ninja', '-C', build, 'tests/api/test_toy', 'shim/call_functions.h')
        check_results(copy.top, build)
        touched = copy.touched_outside('shim/toy')
    print(f'{len(touched)} files outside of shim/toy: {", ".join(touched)}')
    if len(touched) > MAX_TOUCHED:
        sys.exit(f'a library takes {len(touched)} files outside of its folder, {MAX_TOUCHED} are allowed')


if __name__ == '__main__':
    main()
