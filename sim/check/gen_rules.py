#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write what the checker's rules (rules/*.toml) are needed as.

    gen_rules.py ids OUTPUT FILE ...     C header: enum sim_check_rule
    gen_rules.py table OUTPUT FILE ...   C: the table of rules
    gen_rules.py doc OUTPUT FILE ...     doc/rules.md
"""
import pathlib
import re
import sys
import tomllib

KEYS = ('id', 'name', 'severity', 'mode', 'rule', 'card', 'cause', 'remedy', 'releases', 'source')
SEVERITIES = ('error', 'warning', 'hint', 'portability', 'performance')
MODES = ('api', 'races', 'strict')
GROUPS = {
    'TASK': 'Contexts, tasks and progress engines', 'MMAP': 'Memory maps and exports', 'BUF': 'Buffers, and tasks that use them', 'ACCEL': 'Tasks of other engines than DMA\'s',
    'LIFE': 'The life of objects, of all kinds', 'RACE': 'Races for the memory of tasks', 'DEV': 'Devices and representors', 'COMCH': 'Comch', 'DPA': 'The DPA', 'RDMA': 'RDMA',
    'VER': 'Versions', 'PERF': 'Performance',
}
COMMENT = 'Written by gen_rules.py from sim/check/rules.'


def check(rules, unchecked):
    for rule in rules:
        if set(rule) != set(KEYS):
            sys.exit(f'{rule.get("id")}: keys missing or unknown: {sorted(set(KEYS) ^ set(rule))}')
        match = re.fullmatch(r'BFC-([A-Z]+)-\d{3}', rule['id'])
        if not match or match[1] not in GROUPS or rule['severity'] not in SEVERITIES or rule['mode'] not in MODES:
            sys.exit(f'{rule["id"]}: id, severity or mode')
    for key in ('id', 'name'):
        values = [rule[key] for rule in rules]
        if len(set(values)) != len(values):
            sys.exit(f'{key}: twice: {sorted(value for value in values if values.count(value) > 1)}')
    for entry in unchecked:
        if set(entry) != {'rule', 'reason'}:
            sys.exit(f'unchecked: keys of {entry}')


def constant(name):
    return 'BFC_' + name.upper().replace('-', '_')


def quoted(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


def ids(rules, _):
    return ['/* SPDX-License-Identifier: BSD-3-Clause */', f'/* rule_ids.h - numbers of the checker\'s rules. {COMMENT} */',
            '#ifndef SIM_CHECK_RULE_IDS_H', '#define SIM_CHECK_RULE_IDS_H', '', 'enum sim_check_rule {',
            *(f'\t{constant(rule["name"])}, /* {rule["id"]} */' for rule in rules), '\tSIM_CHECK_NUM_RULES,', '};', '', '#endif']


def table(rules, unchecked):
    lines = ['/* SPDX-License-Identifier: BSD-3-Clause */', f'/* The table of the checker\'s rules. {COMMENT} */',
             '#include "sim/check/rules.h"', '', 'const struct sim_check_rule_entry sim_check_rules[SIM_CHECK_NUM_RULES] = {']
    for rule in rules:
        lines.append(f'\t[{constant(rule["name"])}] = {{')
        lines += [f'\t\t.{key} = {quoted(rule[key])},' for key in KEYS if key not in ('severity', 'mode')]
        lines += [f'\t\t.severity = SIM_CHECK_{rule["severity"].upper()},',
                  f'\t\t.mode = SIM_CHECK_{rule["mode"].upper()},', '\t},']
    lines += ['};', '', 'const struct sim_check_unchecked_rule sim_check_unchecked_rules[] = {']
    lines += [f'\t{{ {quoted(entry["rule"])}, {quoted(entry["reason"])} }},' for entry in unchecked]
    return [*lines, '\t{ 0 },', '};']


def doc(rules, unchecked):
    lines = ['<!-- Written by sim/check/gen_rules.py from sim/check/rules; the test "rules_doc" compares. -->',
             '# Rules of the checker', '',
             '`bfsim run --check` reports programs that break these rules ([checker.md](checker.md)). `bfsim rules ID` prints',
             'one of them.', '']
    for group, title in GROUPS.items():
        members = [rule for rule in rules if rule['id'].split('-')[1] == group]
        if not members:
            continue
        lines += [f'## {title}', '']
        for rule in members:
            lines += [f'### {rule["id"]}: {rule["name"]}', '', f'**{rule["rule"]}**', '',
                      f'- Severity: {rule["severity"]}; checked by `--check={rule["mode"]}`; releases: {rule["releases"]}',
                      f'- On a card: {rule["card"]}', f'- Usual cause: {rule["cause"]}',
                      f'- Remedy: {rule["remedy"]}', f'- Source: {rule["source"]}', '']
    if unchecked:
        lines += ['## Rules that are not checked', '', '| rule | reason |', '|---|---|',
                  *(f'| {entry["rule"]} | {entry["reason"]} |' for entry in unchecked), '']
    return lines[:-1]


def main():
    kind, output, *files = sys.argv[1:]
    data = [tomllib.loads(pathlib.Path(file).read_text()) for file in sorted(files)]
    rules, unchecked = ([entry for group in data for entry in group.get(key, [])] for key in ('rule', 'unchecked'))
    check(rules, unchecked)
    text = '\n'.join({'ids': ids, 'table': table, 'doc': doc}[kind](rules, unchecked)) + '\n'
    pathlib.Path(output).write_text(text)


if __name__ == '__main__':
    main()
