#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Read what the libraries say of themselves: shim/NAME/library.toml. Generators and checks import this module.

    libraries.py build                  print the libraries for meson, those first that others link: NAME KEY VALUE...
    libraries.py modules MODULES.TXT    print the vendor's modules, those of our libraries and those of MODULES.TXT:
                                        MODULE RELEASES LIBRARIES HEADERS, each a word

KEYS lists the keys with their defaults.
"""
import difflib
import pathlib
import sys
import tomllib

SHIM = pathlib.Path(__file__).resolve().parent.parent

# Key -> its default; None: the key is required.
KEYS = {
    'releases': None,          # "2.5-3.3": first and last of the vendor's releases that have the library
    'headers': None,           # doca_NAME.h in any of these releases, also those that bfsim lacks
    'generations': ['task'],   # that have the library: task (current), workq
    'sources': None,           # compiled for each generation
    'task_sources': [],        # for the current generation alone
    'folders': [],             # below the library's own, from low to high
    'links': ['common'],       # other libraries
    'dependencies': [],        # of other projects, by their pkg-config name
    'external': [],            # libraries of other projects, loaded on first use, that do the work: see EXTERNAL_KEYS
    'link_args': [],
    'option': '',              # of the build: without it there is no such library
    'has_hooks': True,         # the checker's hooks surround its functions; false: a program could have the code
    'frequent': [],            # patterns of functions of the data path: the checker's hooks rest there while a program is busy
    'private': [],             # patterns of functions that only other libraries of this project use
    'objects': [],             # what programs have handles of: see OBJECT_KEYS
    'operations': {},          # of fault rules: sim/faults/rule/operations.toml says what a row has
    'tasks': {},               # types of tasks without an operation: SIM_TASK_NAME = its name in recordings
}

# The keys of an object, with their defaults.
OBJECT_KEYS = {
    'kind': '',      # SHIM_KIND, the kind of its handles
    'is': 'handle',  # one of IS
    'name': '',      # in the checker's reports
    'functions': '', # that create and end it: doca_x_{create,destroy}, or the one that there is
}

EXTERNAL_KEYS = {
    'file': '',    # libx.so.1
    'package': '', # of Debian 12
    'lack': '',    # "contexts of {} do not start": what is lacking without it, {} being this library and others that say the same
}

# Kinds of handles, in the order of their numbers. A part belongs to another object.
IS = ('handle', 'context', 'accelerator', 'part')


def fail(path, problem):
    sys.exit(f'{path.relative_to(SHIM.parent)}: {problem}')


def check_key(path, key, known):
    if key not in known:
        near = difflib.get_close_matches(key, known, 1)
        fail(path, f'unknown key {key}; ' + (f'did you mean {near[0]}?' if near else f'the keys are {", ".join(known)}'))


def expand(names):
    """As a shell does: a_{b,c} is a_b and a_c."""
    start, brace, rest = names.partition('{')
    return [start + end for end in rest.rstrip('}').split(',')] if brace else [names] * bool(names)


def read_library(path):
    try:
        found = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        fail(path, error)
    for key in found:
        check_key(path, key, KEYS)
    for key, default in KEYS.items():
        if default is None and key not in found:
            fail(path, f'the key {key} is missing')
    for at, entry in enumerate(found.get('objects', [])):
        for key in entry:
            check_key(path, key, OBJECT_KEYS)
        check_key(path, entry.get('is', 'handle'), IS)
        found['objects'][at] = OBJECT_KEYS | entry | {'functions': expand(entry.get('functions', ''))}
    for entry in found.get('external', []):
        for key in entry:
            check_key(path, key, EXTERNAL_KEYS)
    return KEYS | found


def read_all():
    """Library -> its description. Libraries that others link come first."""
    found = {path.parent.name: read_library(path) for path in sorted(SHIM.glob('*/library.toml'))}
    ordered = {}

    def add(name, users):
        if name in users:
            fail(SHIM / name / 'library.toml', f'links {" -> ".join([*users, name])}: a circle')
        if name not in found:
            fail(SHIM / users[-1] / 'library.toml', f'links {name}, which has no shim/{name}/library.toml')
        for link in found[name]['links']:
            if name not in ordered:
                add(link, (*users, name))
        ordered[name] = found[name]

    for name in found:
        add(name, ())
    return ordered


def module_of(name):
    """The vendor's pkg-config module of a library, without doca-."""
    return name.replace('_', '-')


def read_modules(path):
    """Module -> releases, libraries and headers: those of our libraries, and those that modules.txt lists."""
    found = {module_of(name): {'releases': library['releases'], 'libraries': [name], 'headers': library['headers']}
             for name, library in sorted(read_all().items())}
    for line in path.read_text().replace('\\\n', '').splitlines():
        if line and not line.startswith('#'):
            module, releases, libraries, *headers = line.split()
            if module in found:
                fail(path, f'{module} stands there twice, or has a library.toml')
            found[module] = {'releases': releases, 'libraries': [name for name in libraries.split(',') if name != '-'],
                             'headers': [name for name in ''.join(headers).split(',') if name != '-']}
    return found


def public_headers(generation, folder):
    """Header of a generation -> its library: those that are in the folder of its headers, and the one of each side."""
    return {f'doca_{header}.h': f'libdoca_{name}' for name, library in read_all().items() if generation in library['generations']
            for header in library['headers'] if header == 'build_config' or (folder / f'doca_{header}.h').exists()}


def folders():
    """The folders of the libraries, from low to high."""
    return [folder for name, library in read_all().items()
            for folder in [*(f'shim/{name}/{below}' for below in library['folders']), f'shim/{name}']]


def for_build():
    for name, library in read_all().items():
        for key in KEYS:
            value = library[key]
            if key not in ('objects', 'external') and not isinstance(value, dict):
                yield ' '.join([name, key, *(value if isinstance(value, list) else str(value).lower().split())])


def for_shell(path):
    for module, entry in read_modules(path).items():
        yield f'{module} {entry["releases"]} {",".join(entry["libraries"]) or "-"} {",".join(entry["headers"]) or "-"}'


def main():
    match sys.argv[1:]:
        case ['build']:
            lines = for_build()
        case ['modules', path]:
            lines = for_shell(pathlib.Path(path).resolve())
        case _:
            sys.exit(__doc__)
    print('\n'.join(lines))


if __name__ == '__main__':
    main()
