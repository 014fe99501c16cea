#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the entries of public functions (shim/common/base/call_hooks.h), from the interface facts.

    gen_calls.py FACTS labels OUTPUT            the header that every source of the libraries is compiled with
    gen_calls.py FACTS functions OUTPUT         the numbers of the functions: enum shim_function; and lists of those that create
                                                and end objects
    gen_calls.py FACTS names OUTPUT             C: the names of functions and parameters, by number
    gen_calls.py FACTS older-names OUTPUT       the same, with the names of the work-queue generation
    gen_calls.py FACTS entries LIBRARY... OUTPUT...     C: the entries of a library's functions, each with its output; LIBRARY as in
                                                the facts

The library's own function doca_x() has the assembler name shim_doca_x. The entry has the name doca_x. The program
calls the entry; libraries of this project call each other's own functions, past the entries. Parentheses keep macros of that name from being expanded.
"""
import json
import pathlib
import re
import sys

import libraries

LIBRARIES = [f'libdoca_{name}' for name, library in libraries.read_all().items() if library['has_hooks']]
# Functions of these headers have no entry: they concern no object of the device.
NOT_WATCHED = ('doca_log.h', 'doca_error.h', 'doca_version.h')

# Frequent functions, but for those whose failures or beginnings a rule wants to know.
FREQUENT = re.compile('|'.join(pattern for library in libraries.read_all().values() for pattern in library['frequent']))

HEAD = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* {name} - {purpose}. Written by gen_calls.py. */
"""


def watched(facts, library):
    """The functions of a library that have an entry, by name."""
    functions = facts['functions']
    return {name: functions[name] for name in sorted(facts['libraries'][library]['symbols'])
            if not functions[name]['inline'] and not functions[name].get('variadic', False) and
            functions[name]['header'] not in NOT_WATCHED}


def all_watched(facts):
    return {name: entry for library in LIBRARIES for name, entry in watched(facts, library).items()}


def includes(functions):
    return [f'#include <{header}>' for header in sorted({entry['header'] for entry in functions.values()})]


def labels(facts):
    return [HEAD.format(name='call_labels.h', purpose="assembler names of the libraries' own public functions"),
            *(f'#pragma redefine_extname {name} shim_{name}' for name in all_watched(facts))]


def numbers(facts):
    return [HEAD.format(name='call_functions.h', purpose='numbers of the public functions'),
            '#ifndef SHIM_CALL_FUNCTIONS_H', '#define SHIM_CALL_FUNCTIONS_H', '', 'enum shim_function {',
            *(f'\tSHIM_FN_{name},' for name in all_watched(facts)), '\tSHIM_NUM_FUNCTIONS,', '};', '',
            *objects(facts), '#endif']


def x_macro(name, comment, rows):
    return [f'/* {comment} */', f'#define {name}(X) \\', *(f'\tX({row}) \\' for row in rows), '']


def objects(facts):
    """Lists of the functions that create and end objects, and that allocate tasks."""
    created, ended, contexts = [], [], []
    last = {name: len(entry['params']) - 1 for name, entry in all_watched(facts).items()}
    for entry in (entry for library in libraries.read_all().values() for entry in library['objects']):
        for name in entry['functions']:
            if name not in last:
                sys.exit(f'{entry["name"]} of a library.toml: the interface facts have no function {name}')
            if name.endswith(('_destroy', '_close')):
                ended.append(f'{name}, "{entry["name"]}"')
                contexts += [name] if entry['is'] in ('context', 'accelerator') else []
            else:
                created.append(f'{name}, {last[name]}, "{entry["name"]}"')
    tasks = [f'{name}, {last[name]}' for name in last if re.search('_alloc(ate)?_init$', name)]
    return [*x_macro('SHIM_CREATE', 'Functions that create an object: the parameter where they store its handle, and its name.', created),
            *x_macro('SHIM_DESTROY', 'Functions whose first argument is an object that they destroy, and its name.', ended),
            *x_macro('SHIM_DESTROY_CTX', 'Those that destroy a context.', contexts),
            *x_macro('SHIM_ALLOC_TASK', 'Functions that allocate a task: the parameter where they store it.', tasks)]


def handles(entry):
    """The parameters that are handles of objects: a bit for each."""
    return sum(1 << i for i, (_, ctype) in enumerate(entry['params'])
               if re.fullmatch(r'(const )?struct doca_\w+ \*', ctype))


def names(facts, renamed=None):
    lines = [HEAD.format(name='call_names.c', purpose='names of the public functions and of their parameters'),
             '#include "shim/check/base/call_names.h"', '',
             'const struct shim_function_names shim_function_names[SHIM_NUM_FUNCTIONS] = {']
    for name, entry in all_watched(facts).items():
        shown = (renamed or {}).get(name, name)
        params = ', '.join(f'"{param}"' for param, _ in entry['params'])
        is_error = 'true' if entry['ret'] == 'doca_error_t' else 'false'
        lines.append(f'\t[SHIM_FN_{name}] = {{ "{shown}", {{ {params} }}, {handles(entry):#x}, {is_error} }},')
    return [*lines, '};']


def older_names(facts):
    sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / 'workq'))
    import gen_renamed_symbols  # pylint: disable=import-outside-toplevel
    return names(facts, gen_renamed_symbols.RENAMED | gen_renamed_symbols.LOGGED_AS)


def as_number(name, ctype):
    if ctype == 'union doca_data':
        return f'{name}.u64'
    return f'(uint64_t)(uintptr_t){name}'


def declare(name, ctype):
    return f'{ctype}{name}' if ctype.endswith('*') else f'{ctype} {name}'


def values_of(entry, shown):
    """The arguments as numbers, in the order of the entry @shown; those that @entry lacks are 0."""
    own = dict(entry['params'])
    return [as_number(param, own[param]) if param in own else '0' for param, _ in shown['params']]


def entry_of(name, entry, own_prefix='shim_', shown=None):
    """The entry of a function that the library has as @own_prefix and its name. Hooks see the arguments of @shown."""
    params = [declare(param, ctype) for param, ctype in entry['params']]
    args = [param for param, _ in entry['params']]
    ret, values = entry['ret'], values_of(entry, shown or entry)
    keep, back = ('', '') if ret == 'void' else (f'{declare("result", ret)} = ', 'return ')
    has_hooks = '!shim_hooks_are_paused()' if FREQUENT.fullmatch(name) else 'shim_call_hooks != NULL'
    return f"""\
extern __typeof__({name}) {own_prefix}{name} __attribute__((visibility("default")));

static APART {declare('watched_' + name, ret)}({', '.join(['const void *caller', *params])})
{{
	const uint64_t args[] = {{ {', '.join(values) or '0'} }};
	struct shim_call call = {{ .function = SHIM_FN_{name}, .args = args, .caller = caller }};

	shim_call_hooks->enter(&call);
	{keep}{own_prefix}{name}({', '.join(args)});
	{'call.result = ' + as_number('result', ret) + ';' if keep else ''}
	shim_call_hooks->leave(&call);
	{'return result;' if keep else ''}
}}

{declare(f'({name})', ret)}({', '.join(params) or 'void'})
{{
	if (__builtin_expect({has_hooks}, 0))
		{back}watched_{name}({', '.join(['__builtin_return_address(0)', *args])});
	else
		{back}{own_prefix}{name}({', '.join(args)});
}}
"""


def entries_head(library, functions):
    return [HEAD.format(name=f'{library}_entries.c', purpose=f'the entries of the public functions of {library}'),
            *includes(functions), '', '#include "call_functions.h"', '#include "shim/common/base/call_hooks.h"', '',
            '/* Apart from the entries without hooks; "cold" would do that, too, but for size: stores by "rep stos" cost more than the rest. */',
            '#define APART __attribute__((noinline, section(".text.watched")))', '']


def entries(facts, library):
    functions = watched(facts, library)
    return entries_head(library, functions) + [entry_of(name, entry) for name, entry in functions.items()]


def main():
    facts = json.loads(pathlib.Path(sys.argv[1]).read_text())
    kind, rest = sys.argv[2], sys.argv[3:]
    makers = {'labels': labels, 'functions': numbers, 'names': names, 'older-names': older_names}
    if kind == 'entries':
        texts = [entries(facts, library) for library in rest[:len(rest) // 2]]
    else:
        texts = [makers[kind](facts)]
    for lines, output in zip(texts, rest[-len(texts):], strict=True):
        pathlib.Path(output).write_text('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()
