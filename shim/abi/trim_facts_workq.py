#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make facts-workq.json: the interface facts of the work-queue generation, 1.5 and 2.2 in one.

    trim_facts_workq.py DIRECTORY > facts-workq.json

DIRECTORY is that of trim_facts.py. Symbols that 2.2 exports and no header of 2.2 declares (a preview of the
next generation) are left out: no program can be compiled with them.
"""
import json
import pathlib
import sys

import libraries
import trim_facts

# Header -> the library that has its functions.
HEADERS = libraries.public_headers('workq', libraries.SHIM / 'workq' / 'include')

MACRO_HEADERS = {
    'DOCA_ACTION_SDK_RANGE': 'doca_ctx.h',
    'DOCA_DEVINFO_': 'doca_dev.h',
    'DOCA_GID_': 'doca_types.h',
    'DOCA_SHA': 'doca_sha.h',
    'DOCA_VER_': 'doca_version.h',
    'doca_event_invalid_handle': 'doca_types.h',
}

LEVELS = ['CRIT', 'ERR', 'WARN', 'INFO', 'DBG']

OTHER_MACROS = {
    'doca_common_defines.h': ['doca_likely', 'doca_unlikely'],
    'doca_compat.h': ['__DOCA_EXPERIMENTAL'],
    'doca_error.h': ['DOCA_IS_ERROR', 'DOCA_ERROR_PROPAGATE'],
    'doca_log.h': ['DOCA_LOG_REGISTER'] + [name + tail for name in ('DOCA_LOG', 'DOCA_DLOG', 'DOCA_LOG_RATE_LIMIT')
                                           for tail in [''] + ['_' + level for level in LEVELS]],
    'doca_version.h': ['DOCA_VER_STRING', 'DOCA_VERSION_NUM', 'DOCA_CURRENT_VERSION_NUM',
                       'DOCA_VERSION_EQ_CURRENT', 'DOCA_VERSION_LTE_CURRENT'],
}

# An include that the facts lack; it defines __be16 and similar types.
MORE_INCLUDES = {'doca_types.h': ['linux/types.h']}

VARIADIC = ['doca_log', 'doca_log_developer', 'doca_log_rate_limit']

# Functions that the header of 2.2 declares and its library does not have; here it has them, beside the others.
NOT_EXPORTED = {'doca_ec_get_max_buffer_size': ''}

MODULES = ['doca', 'doca-libs']
# Build files of 1.5 name a module for each library, which 2.2 lacks. Those that use common need not name it.
OWN_CFLAGS = '-I${includedir} -DALLOW_EXPERIMENTAL_API'
OWN_MODULES = ['doca-argp', 'doca-comm-channel', 'doca-compress', 'doca-dma', 'doca-erasure-coding', 'doca-rdma',
               'doca-sha']


def functions(base, old):
    found = trim_facts.in_scope(base['functions'], HEADERS)
    for name, entry in trim_facts.in_scope(old['functions'], HEADERS).items():
        found[name] = {'header': entry['header'], 'ret': entry['ret'], 'params': entry['params'],
                       'stability': 'experimental', 'inline': False}
    for name in VARIADIC:
        found[name]['variadic'] = True
    for entry in found.values():
        if entry['stability'] == 'unmarked':  # inline: calling it never warns
            entry['stability'] = 'stable'
    return found


def structs(base):
    found = trim_facts.in_scope(base['structs'], HEADERS)
    # Bit-fields have no offset; test_macros_workq.c tests them.
    found['doca_pci_bdf'] = {'header': 'doca_types.h', 'tag': 'struct', 'size': 2,
                             'fields': [['raw', 'uint16_t']], 'offsets': {'raw': 0}}
    return found


def exported(funcs, old, release):
    libs = {}
    for name, entry in sorted(funcs.items()):
        if entry['inline']:
            continue
        lib = HEADERS[entry['header']]
        slot = libs.setdefault(lib, {'soname': release[lib]['soname'], 'symbols': {}})
        if name in release[lib]['symbols']:
            slot['symbols'][name] = release[lib]['symbols'][name]
        elif name in NOT_EXPORTED:
            slot['symbols'][name] = NOT_EXPORTED[name]
        elif name in old['functions']:
            slot['symbols'][name] = 'EXPERIMENTAL'
        else:
            sys.exit(f'{name}: declared, but no library of the release has it')
    return libs


def main():
    source = pathlib.Path(sys.argv[1])

    def load(name):
        return json.loads((source / name).read_text())

    base, old, release = load('doca-2.2.json'), load('doca-1.5-delta.json'), load('symbols-2.2.json')
    old['functions'] |= trim_facts.load_added('1.5')['functions']
    funcs = functions(base, old)
    facts = {
        'headers': {name: {'includes': base['includes'][name] + MORE_INCLUDES.get(name, []),
                           'macros': OTHER_MACROS.get(name, [])} for name in sorted(HEADERS)},
        'functions': funcs,
        'enums': trim_facts.in_scope(base['enums'], HEADERS),
        'structs': structs(base),
        'typedefs': trim_facts.in_scope(base['typedefs'], HEADERS),
        'macros': trim_facts.numeric_macros(base, MACRO_HEADERS),
        'libraries': exported(funcs, old, release),
        'pkg_config': {name: {'cflags': release['pkg-config'][name]['cflags'],
                              'requires': release['pkg-config'][name]['requires']} for name in MODULES}
                      | {'doca-common': {'cflags': OWN_CFLAGS, 'requires': ''}}
                      | {name: {'cflags': OWN_CFLAGS, 'requires': 'doca-common'} for name in OWN_MODULES},
        'version': release['pkg-config']['doca']['version'],
    }
    print(trim_facts.one_line_per_entry(facts))


if __name__ == '__main__':
    main()
