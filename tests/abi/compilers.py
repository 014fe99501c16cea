# SPDX-License-Identifier: BSD-3-Clause
"""Let compilers check many sources at once, without compiling them."""
import concurrent.futures
import os
import pathlib
import subprocess
import tempfile

# A compiler call takes a few sources, so that the calls keep all processors busy to the end.
SOURCES_PER_CALL = 8
STRICT = ['-fsyntax-only', '-Wall', '-Wextra', '-Wpedantic', '-Werror']


class Syntax:
    """Sources to be checked together; use it in a with statement.

    syntax.add(['gcc', '-std=c11', ...], {'name.c': 'text', ...})
    """

    def __init__(self):
        self.calls = []
        self.num_sources = 0

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def add(self, command, sources):
        folder = pathlib.Path(self.folder.name) / str(len(self.calls))
        folder.mkdir()
        for name, text in sources.items():
            (folder / name).write_text(text)
        paths = [str(folder / name) for name in sources]
        self.num_sources += len(paths)
        for first in range(0, len(paths), SOURCES_PER_CALL):
            self.calls.append([*command, *STRICT, *paths[first:first + SOURCES_PER_CALL]])

    def errors(self):
        """What the compilers say, a text for each call that fails."""
        def run(call):
            done = subprocess.run(call, capture_output=True, text=True, env={**os.environ, 'LC_ALL': 'C'})
            return f'{" ".join(call[:2])}: {done.stderr}' if done.returncode or done.stderr else None

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return [said for said in pool.map(run, self.calls) if said]
