#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Follow the recipes of CONTRIBUTING.md: their files and names exist; a new task type and a new condition of fault rules need
no other files than they say. Prints TAP.

    recipes.py SOURCE_ROOT CC
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT, CC = pathlib.Path(sys.argv[1]), sys.argv[2:]
CODE = ('shim', 'sim', 'pcie_model', 'tests', 'ci')
# What a recipe adds.
NEW = re.compile(r'fill|FILL|NAME|GROUP|COMMIT|DIR|\bX\b|\.\.\.')


def recipes():
    """Heading -> text."""
    parts = re.split(r'^## ', (ROOT / 'CONTRIBUTING.md').read_text(), flags=re.MULTILINE)
    return {part.split('\n')[0]: part for part in parts if part.startswith('How to')}


def sources():
    return [path for folder in CODE for path in (ROOT / folder).rglob('*')
            if path.suffix in ('.c', '.h', '.py', '.toml', '.sh', '.json') or (path.is_file() and not path.suffix)]


def check_files(text, names):
    for word in re.findall(r'`([\w./{},-]+\.(?:c|h|py|toml|md|json|map|build|yaml|txt|sh)|(?:shim|sim|tests|ci|doc|man)/[\w./-]+)`', text):
        if not NEW.search(word) and not (ROOT / word).exists() and word not in names:
            yield f'there is no file {word}'


def check_names(text, code):
    words = re.findall(r'`\.?(\w+)(?:\(\)|\[\])`|`struct (\w+)`|`\.(\w+)`|`((?:SIM|SHIM|PCIE)_\w+|[A-Z]+_[A-Z_]+)`', text)
    for word in sorted({word for group in words for word in group if word}):
        if not NEW.search(word) and word not in code:
            yield f'nothing is named {word}'


def test_files_and_names_exist():
    paths = sources()
    names = {path.name for path in paths} | {path.name for folder in ('doc', 'share') for path in (ROOT / folder).rglob('*')}
    code = set().union(*(re.findall(r'\w+', path.read_text(errors='replace')) for path in paths))
    return [f'{heading}: {problem}' for heading, text in recipes().items()
            for problem in (*check_files(text, names), *check_names(text, code))]


def edit(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1, f'{path}: {old} stands there {text.count(old)} times'
    path.write_text(text.replace(old, new))


def copy_tree(folder):
    for part in ('shim', 'sim', 'pcie_model'):
        shutil.copytree(ROOT / part, folder / part)
    return folder


def generate(tree, script, *args):
    subprocess.run([sys.executable, tree / 'shim/abi' / script, *args], check=True)


def test_task_type_needs_three_files(folder):
    """Its row and its facts are enough for all that is generated."""
    tree, out = copy_tree(folder), folder / 'out'
    edit(tree / 'shim/dma/library.toml', '[operations]\n', '[operations]\n'
         'DMA_FILL = { rule = "dma.fill", actions = "TASK flip", conditions = "ADDRESSED", task = "DMA fill" }\n')
    facts = json.loads((tree / 'shim/abi/facts.json').read_text())
    memcpy = 'doca_dma_task_memcpy_alloc_init'
    facts['functions'][memcpy.replace('memcpy', 'fill')] = facts['functions'][memcpy]
    symbols = facts['libraries']['libdoca_dma']['symbols']
    symbols[memcpy.replace('memcpy', 'fill')] = symbols[memcpy]
    (tree / 'shim/abi/facts.json').write_text(json.dumps(facts))
    problems = []
    for script, args, wanted in (
            ('gen_operations.py', ['operations', out], 'X(DMA_FILL, "dma.fill", A(REFUSE)'),
            ('gen_operations.py', ['tasks', out], '#define SIM_TASK_DMA_FILL "DMA fill"'),
            ('gen_operations.py', ['dict', out, tree / 'sim/faults/rule/words.h', ROOT / 'tests/fuzz/rule.dict'], '"dma.fill"'),
            ('gen_calls.py', [tree / 'shim/abi/facts.json', 'functions', out], 'X(doca_dma_task_fill_alloc_init, 4)'),
            ('gen_calls.py', [tree / 'shim/abi/facts.json', 'entries', 'libdoca_dma', out], 'shim_doca_dma_task_fill_alloc_init')):
        generate(tree, script, *map(str, args))
        if wanted not in out.read_text():
            problems.append(f'{script} {args[0]} does not write {wanted}')
    return problems


MAIN = r"""
#include <stdio.h>
#include <string.h>
#include "sim/faults/inject/rule_index_priv.h"

int main(void)
{
	char text[SIM_RULE_TEXT_SIZE], file[SIM_DELAYS_FILE_SIZE];
	struct sim_fault_site at_64 = { .op = SIM_OP_DMA_MEMCPY, .addr = 128 }, at_8 = { .op = SIM_OP_DMA_MEMCPY, .addr = 8 };
	struct sim_rule_error error = { 0 };
	struct sim_rule rule;

	if (sim_rule_parse("dma.memcpy unaligned=64 hang", &rule, file, &error) || sim_rule_check(&rule))
		return printf("refused: %s\n", error.text);
	sim_rule_format(&rule, NULL, text);
	if (strcmp(text, "dma.memcpy unaligned=64 hang") != 0)
		return printf("written as %s\n", text);
	if (sim_rule_matches_operation(&rule, &at_64) || !sim_rule_matches_operation(&rule, &at_8))
		return printf("does not match as it should\n");
	if (sim_rule_parse("dma.memcpy unaligned=0 hang", &rule, file, &error) == 0 || sim_rule_parse("ctx.start unaligned=64 fail=DRIVER", &rule, file, &error) == 0)
		return printf("a wrong rule is taken\n");
	rule.unaligned = 1;
	return sim_rule_check(&rule) == 0 ? printf("an unsound rule is taken\n") : 0;
}
"""


def test_condition_needs_three_files(folder):
    """Row, match and three files: the rule's code, compiled with them, knows it."""
    tree = copy_tree(folder)
    rule = tree / 'sim/faults/rule'
    edit(rule / 'words.h', '\tX(ADDR, ', '\tX(UNALIGNED, "unaligned", "unaligned=BYTES", BYTES(unaligned, 2, UINT32_MAX, "bytes from 2"))  \\\n'
         '\tX(ADDR, ')
    edit(tree / 'sim/faults/inject/rule_match.c', '\treturn site->size >= rule->size_min',
         '\treturn (!rule->unaligned || site->addr % rule->unaligned) && site->size >= rule->size_min')
    edit(rule / 'rule.h', '\tuint8_t reserved[6];', '\tuint8_t reserved[2];')
    edit(rule / 'rule.h', '\tint32_t pid;', '\tint32_t pid;\n\tuint32_t unaligned;')
    edit(rule / 'operations.toml', 'ADDRESSED = "SIZED addr"', 'ADDRESSED = "SIZED addr unaligned"')
    generate(tree, 'gen_operations.py', 'operations', str(tree / 'sim/operations.h'))
    (tree / 'main.c').write_text(MAIN)
    files = [*rule.glob('*.c'), tree / 'sim/faults/inject/rule_match.c', tree / 'sim/base/printable.c', tree / 'sim/base/file.c',
             *(tree / 'pcie_model' / name for name in ('did_you_mean.c', 'pci_addr.c', 'quantity.c')), tree / 'main.c']
    built = subprocess.run([*CC, '-D_GNU_SOURCE', '-std=gnu11', '-Wall', '-Wextra', '-Werror', f'-I{tree}', *map(str, files), '-o', str(tree / 'main')],
                           capture_output=True, text=True)
    if built.returncode:
        return [built.stderr]
    ran = subprocess.run([tree / 'main'], capture_output=True, text=True)
    return [ran.stdout or f'status {ran.returncode}'] if ran.returncode else []


def main():
    tests = [test_files_and_names_exist, test_task_type_needs_three_files, test_condition_needs_three_files]
    print(f'1..{len(tests)}')
    for number, test in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as folder:
            problems = test(pathlib.Path(folder)) if test.__code__.co_argcount else test()
        print('\n'.join(f'# {line}' for problem in problems for line in problem.splitlines()))
        print(f'{"not ok" if problems else "ok"} {number} {test.__name__.removeprefix("test_").replace("_", " ")}')


if __name__ == '__main__':
    main()
