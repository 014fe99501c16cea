#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make facts.json: the interface facts of the current generation. tests/abi compares headers and libraries with them.

    trim_facts.py DIRECTORY > facts.json

DIRECTORY holds the full facts by release (doca-*.json, symbols-*.json); added-*.json of this folder has functions that
they lack. Run by hand, when a header comes into scope or the interface moves to a newer release; neither build nor test
runs it. trim_facts_workq.py does the same for the older generation.

A header includes what it includes in any release of the generation: source of 2.5 relies on more than source of 3.0.
"""
import json
import pathlib
import sys

import libraries

# Header -> the library that has its functions.
HEADERS = libraries.public_headers('task', libraries.SHIM / 'include')

# Headers that the newest release removed, with the contents of 2.5 and 2.6. A function whose types differ between the
# two has those of 2.5, whose libraries are known.
GONE = ['doca_cc.h', 'doca_cc_consumer.h', 'doca_cc_producer.h', 'doca_comm_channel.h']

# Headers that were another interface under the same names in these releases, which has a library of its own.
OTHER_INTERFACE = {'doca_rdma.h': ['2.5', '2.6'], 'doca_dpa.h': ['2.5']}

# What headers of the newest release have and the facts of 3.0 lack: their contents besides functions, and types of functions
# that the facts could only guess. From public headers of 3.3 (doca_clock.h) and of 2026 (doca_argp.h, 3.3 or later).
NEWER = {
    'doca_argp.h': {
        'includes': ['stdarg.h', 'doca_compat.h', 'doca_dev.h', 'doca_error.h', 'doca_log.h'],
        # DEVICE took the number of JSON_OBJ, which the newest release dropped.
        'enums': {'doca_argp_type': {'DOCA_ARGP_TYPE_DEVICE': 4, 'DOCA_ARGP_TYPE_DEVICE_REP': 5,
                                     'DOCA_ARGP_TYPE_DOUBLE': 6}},
        'structs': {'doca_argp_device_ctx': {'tag': 'struct', 'fields': [['dev', 'struct doca_dev *'],
                                                                         ['devargs', 'const char *']],
                                             'offsets': {'dev': 0, 'devargs': 8}, 'size': 16},
                    'doca_argp_device_rep_ctx': {'tag': 'struct',
                                                 'fields': [['dev_ctx', 'struct doca_argp_device_ctx'],
                                                            ['dev_rep', 'struct doca_dev_rep *']],
                                                 'offsets': {'dev_ctx': 0, 'dev_rep': 16}, 'size': 24}},
        'typedefs': {'doca_argp_dev_open_cb_t':
                     'doca_error_t (*)(struct doca_devinfo *, void *, struct doca_dev **)'},
    },
    'doca_clock.h': {
        # The vendor's sample of clocks relies on doca_dev.h.
        'includes': ['stdint.h', 'stdlib.h', 'time.h', 'doca_dev.h', 'doca_error.h', 'doca_types.h'],
        'macros': {'DOCA_CLOCK_NIC_FREE_RUNNING': 0x1, 'DOCA_CLOCK_NIC_REAL_TIME': 0x2,
                   'DOCA_CLOCK_NIC_DPA_TIMER': 0x100, 'DOCA_CLOCK_HOST_COUNTER_CYCLES': 0x10000,
                   'DOCA_CLOCK_HOST_REAL_TIME': 0x20000, 'DOCA_CLOCK_HOST_MONOTONIC': 0x40000,
                   'DOCA_CLOCK_HOST_MONOTONIC_RAW': 0x80000},
        'structs': {'doca_clock_timespec_t': {'tag': 'union', 'fields': [['ts', 'struct timespec'],
                                                                          ['counter', 'uint64_t']],
                                              'offsets': {'ts': 0, 'counter': 0}, 'size': 16}},
        'params': {'doca_clock_create': [['dev', 'const struct doca_dev *'], ['clock', 'struct doca_clock **']]},
    },
}

# The facts don't have the header of a numeric macro: prefix -> header.
MACRO_HEADERS = {
    'DOCA_DEVINFO_': 'doca_dev.h',
    'DOCA_GID_': 'doca_types.h',
    'DOCA_VERSION_': 'doca_version.h',
    'doca_event_invalid_handle': 'doca_types.h',
}

# The newest release: 3.0 and what is known beyond it.
NEWEST = '3.3'

# Macros that are not plain numbers: existence only; test_macros.c tests them.
OTHER_MACROS = {
    'doca_bitfield.h': ['DOCA_SHIFT', 'DOCA_HTOBE16', 'DOCA_HTOBE32', 'DOCA_BETOH16', 'DOCA_BETOH32',
                        'DOCA_U8_GENMASK', 'DOCA_U8P_GENMASK', 'DOCA_BE16_GENMASK', 'DOCA_BE16P_GENMASK',
                        'DOCA_BE32_GENMASK', 'DOCA_BE32P_GENMASK', 'DOCA_U8_SET', 'DOCA_U8P_SET', 'DOCA_BE16_SET',
                        'DOCA_BE16P_SET', 'DOCA_BE32_SET', 'DOCA_BE32P_SET', 'DOCA_U8_GET', 'DOCA_BE16_GET',
                        'DOCA_BE32_GET'],
    'doca_common_defines.h': ['doca_likely', 'doca_unlikely'],
    'doca_compat.h': ['DOCA_STABLE', 'DOCA_EXPERIMENTAL', 'DOCA_DEPRECATED', 'DOCA_STRUCT_START',
                      'DOCA_STRUCT_GET_VERSION', 'DOCA_STRUCT_CTOR', 'DOCA_STRUCT_PTR_CTOR',
                      'DOCA_STRUCT_MEMSET_CTOR', 'DOCA_STRUCT_PTR_MEMSET_CTOR',
                      'DOCA_STRUCT_CTOR_LIST_START', 'DOCA_STRUCT_DEF'],
    'doca_error.h': ['DOCA_IS_ERROR', 'DOCA_ERROR_PROPAGATE'],
    'doca_log.h': ['DOCA_LOG_REGISTER', 'DOCA_LOG', 'DOCA_LOG_CRIT', 'DOCA_LOG_ERR', 'DOCA_LOG_WARN',
                   'DOCA_LOG_INFO', 'DOCA_LOG_DBG', 'DOCA_LOG_TRC'],
    'doca_version.h': ['DOCA_VERSION_STRING', 'DOCA_VERSION_CALC', 'DOCA_VERSION_CALC_EXACT',
                       'DOCA_VERSION_EXACT', 'DOCA_VERSION_OFFICIAL', 'DOCA_VERSION_EQ_CURRENT',
                       'DOCA_VERSION_LTE_CURRENT', 'DOCA_VER_MAJOR', 'DOCA_VER_MINOR', 'DOCA_VER_PATCH',
                       'DOCA_VER_STRING'],
}

# Includes that the facts list and that are not here: those for other systems, and a header of 2.6 whose contents the header that
# includes it has by now.
LEFT_OUT = {
    'doca_bitfield.h': ['intrin.h'],
    'doca_dpa.h': ['doca_dpa_common.h'],
    'doca_rdma_bridge.h': ['winsock2.h', 'windows.h', 'mlx5verbs.h'],
}

# The facts list parameters without the ellipsis.
VARIADIC = ['doca_log', 'doca_dpa_kernel_launch_update_add', 'doca_dpa_kernel_launch_update_set', 'doca_dpa_rpc']

MODULES = ['doca-common', 'doca-dma', 'doca-comch', 'doca-argp']
# Libraries that belong to the umbrella in their release; here each has a module like the others.
OWN_MODULES = [module for module in (f'doca-{libraries.module_of(name)}' for name in libraries.read_all()) if module not in MODULES]
NODE = {'stable': 'DOCA_2', 'experimental': 'EXPERIMENTAL', 'deprecated': 'DOCA_2'}


def load_added(release):
    """What the full facts of a release lack."""
    return json.loads((pathlib.Path(__file__).parent / f'added-{release}.json').read_text())


def in_scope(table, headers=HEADERS):
    return {name: entry for name, entry in table.items() if entry['header'] in headers}


def includes_by_release(releases):
    """Release -> header in scope -> what it includes there."""
    found = {}
    for release in releases:
        found[release['version']] = {header: [other for other in included if other not in LEFT_OUT.get(header, [])]
                                     for header, included in release['includes'].items() if header in HEADERS}
    found[NEWEST] = found['3.0'] | {header: newer['includes'] for header, newer in NEWER.items()}
    return found


def includes(by_release, header):
    """What the header includes in any release, newest first."""
    return list(dict.fromkeys(name for release in reversed(by_release.values()) for name in release.get(header, [])))


def with_earlier(table, base, earlier):
    """The entries of a table that are in scope, and those of earlier releases of this generation, newest first."""
    found = in_scope(base[table])
    for release in earlier:
        for name, entry in in_scope(release[table]).items():
            if release['version'] in OTHER_INTERFACE.get(entry['header'], []):
                continue
            dropped_after = found.get(name, {}).get('dropped_after', release['version'])
            if name not in found or entry['header'] in GONE:
                found[name] = {**entry, 'dropped_after': dropped_after}
    return found


def functions(base, earlier, deltas):
    found = with_earlier('functions', base, earlier)
    for name, entry in (item for delta in deltas for item in in_scope(delta['functions']).items() if item[0] not in found):
        found[name] = {'header': entry['header'], 'ret': entry['ret'], 'params': entry['params'],
                       'stability': 'experimental', 'inline': False}
    for newer in NEWER.values():
        for name, params in newer.get('params', {}).items():
            found[name]['params'] = params
    for name in VARIADIC:
        found[name]['variadic'] = True
    return found


def node_of(name, lib, stability, releases):
    """The version node of a symbol: that of released libraries, which must agree with each other and with
    what the symbol's stability implies. If they don't, programs need the symbol in both nodes: stop."""
    seen = {rel[lib]['symbols'][name] for rel in releases if name in rel.get(lib, {}).get('symbols', {})}
    seen.add(NODE[stability])
    if len(seen) > 1:
        sys.exit(f'{name}: in nodes {sorted(seen)} of different releases; it needs a second version')
    return seen.pop()


def exported(funcs, releases):
    libs = {}
    for name, entry in sorted(funcs.items()):
        if entry['inline']:
            continue
        lib = HEADERS[entry['header']]
        soname = next(rel[lib]['soname'] for rel in releases if lib in rel)
        slot = libs.setdefault(lib, {'soname': soname, 'symbols': {}})
        slot['symbols'][name] = node_of(name, lib, entry['stability'], releases)
    return libs


def numeric_macros(base, headers=MACRO_HEADERS):
    found = {}
    for name, value in base['macros'].items():
        for prefix, header in headers.items():
            if name.startswith(prefix):
                found[name] = {'header': header, 'value': value}
    return found


def of_newer(kind):
    """Macros, structures or types of headers that 3.0 lacks."""
    value = {'macros': 'value', 'typedefs': 'type'}.get(kind)
    return {name: {'header': header, value: entry} if value else {'header': header, **entry}
            for header, newer in NEWER.items() for name, entry in newer.get(kind, {}).items()}


def enums(base, earlier):
    """Enumerations in scope, with the values that the newest release added, and those of headers that it dropped."""
    found = in_scope(base['enums']) | {name: entry for name, entry in in_scope(earlier[-1]['enums']).items()
                                       if entry['header'] in GONE}
    for newer in NEWER.values():
        for name, values in newer.get('enums', {}).items():
            found[name] = {**found[name], 'values': found[name]['values'] | values}
    return found


def modules(old, new):
    """pkg-config modules: per library as in the newer release, the umbrella as in the older."""
    wanted = {}
    for name in MODULES:
        wanted[name] = new['pkg-config'][name]
        wanted[name + '-lib'] = new['pkg-config'][name + '-lib']
    for name in OWN_MODULES:
        wanted[name] = {**new['pkg-config']['doca-comch'], 'requires': name + '-lib'}
        wanted[name + '-lib'] = new['pkg-config']['doca-comch-lib']
    wanted['doca'] = old['pkg-config']['doca']
    wanted['doca-libs'] = old['pkg-config']['doca-libs']
    return {name: {'cflags': entry['cflags'], 'requires': entry['requires']}
            for name, entry in wanted.items()}


def one_line_per_entry(facts):
    """JSON whose diffs can be read: two levels of keys, then an entry a line."""
    sections = []
    for section, table in sorted(facts.items()):
        if isinstance(table, dict):
            lines = [f'  {json.dumps(k)}: {json.dumps(v, sort_keys=True)}' for k, v in sorted(table.items())]
            sections.append(f' {json.dumps(section)}: {{\n' + ',\n'.join(lines) + '\n }')
        else:
            sections.append(f' {json.dumps(section)}: {json.dumps(table)}')
    return '{\n' + ',\n'.join(sections) + '\n}'


def main():
    source = pathlib.Path(sys.argv[1])

    def load(name):
        return json.loads((source / name).read_text())

    base, earlier = load('doca-3.0.json'), [load('doca-2.6.json'), load('doca-2.5.json')]
    old, new = load('symbols-2.5.json'), load('symbols-2.10.json')
    by_release = includes_by_release([*reversed(earlier), load('doca-2.10.json'), base])
    funcs = functions(base, earlier, [load('doca-3.3-delta.json'), load_added('3.3'), load_added('3.1'), load_added('2.7')])
    facts = {
        'headers': {name: {'includes': includes(by_release, name), 'macros': OTHER_MACROS.get(name, [])}
                    for name in sorted(HEADERS)},
        'includes_by_release': by_release,
        'functions': funcs,
        'enums': enums(base, earlier),
        'structs': in_scope(base['structs']) | of_newer('structs'),
        'typedefs': with_earlier('typedefs', base, earlier) | of_newer('typedefs'),
        'macros': numeric_macros(base) | of_newer('macros'),
        'libraries': exported(funcs, [old, new]),
        'pkg_config': modules(old, new),
        'version': '3.0.0058',
    }
    print(one_line_per_entry(facts))


if __name__ == '__main__':
    main()
