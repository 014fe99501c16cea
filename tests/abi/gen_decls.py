#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sources that compile only if the public headers agree with the facts.

    gen_decls.py FACTS OUTPUT LIBRARY...    write a program that refers to every function of the libraries

header_source() is for check_decls.py. Each source includes its header alone, which proves that the header needs no
other before it. The text of a failed assertion names the header and the declaration. Functions that the header marks
experimental are checked only with DOCA_ALLOW_EXPERIMENTAL_API; without it, the include alone must not warn.
"""
import json
import pathlib
import sys

C_PRELUDE = """\
#include <stddef.h>
#define SAME(type, ...) __builtin_types_compatible_p(type, __VA_ARGS__)
#define SAME_FUNC(name, ...) SAME(__typeof__(name), __VA_ARGS__)
#define TYPE_OF(expr) __typeof__(expr)
#define MUST(cond, text) _Static_assert(cond, text)
"""

CPP_PRELUDE = """\
#include <cstddef>
#include <type_traits>
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wignored-attributes" /* a format attribute is no part of a type */
#endif
#define SAME(type, ...) (std::is_same<type, __VA_ARGS__>::value)
#define SAME_FUNC(name, ...) SAME(decltype(name), __VA_ARGS__)
#define TYPE_OF(expr) std::remove_reference<decltype(expr)>::type
#define MUST(cond, text) static_assert(cond, text)
"""


def c_type(text):
    """A type in the spelling of the facts -> in portable source."""
    return text.replace('struct __va_list_tag *', 'va_list')


def signature(entry):
    params = ', '.join(c_type(ptype) for _, ptype in entry['params']) or 'void'
    if entry.get('variadic'):
        params += ', ...'
    return f"{c_type(entry['ret'])} ({params})"


def of_header(table, header):
    return sorted((name, entry) for name, entry in table.items() if entry['header'] == header)


class Source:
    def __init__(self, header, lang):
        self.header = header
        self.lang = lang
        prelude = C_PRELUDE if lang == 'c' else CPP_PRELUDE
        self.lines = [f'#include <{header}>', '', prelude]

    def must(self, condition, what):
        self.lines.append(f'MUST({condition}, "{self.header}: {what}");')

    def add(self, *lines):
        self.lines.extend(lines)

    def macro_defined(self, name):
        self.add(f'#ifndef {name}', f'#error "{self.header}: {name} is not defined"', '#endif')


def check_macros(src, facts):
    for name in facts['headers'].get(src.header, {'macros': []})['macros']:  # facts of some headers lack the others
        src.macro_defined(name)
    for name, entry in of_header(facts['macros'], src.header):
        src.macro_defined(name)
        src.must(f"({name}) == {entry['value']}", f"{name} is not {entry['value']}")


def check_enums(src, facts):
    for tag, entry in of_header(facts['enums'], src.header):
        values = sorted(entry['values'].items(), key=lambda item: (item[1], item[0]))
        src.must(f'sizeof(enum {tag}) == 4', f'enum {tag} is not 4 bytes')
        for name, value in values:
            src.must(f'(int){name} == {value}', f'{name} is not {value}')
            if src.lang == 'cpp':
                src.must(f'SAME(decltype({name}), enum {tag})', f'{name} is not of enum {tag}')
        if src.lang == 'c':
            no_other_enumerator(src, tag, values)


def no_other_enumerator(src, tag, values):
    """-Wswitch warns of an enumerator that the header has and the facts lack."""
    src.add(f'void abi_all_of_{tag}(enum {tag} value);', f'void abi_all_of_{tag}(enum {tag} value)', '{',
            '\tswitch (value) {')
    seen = set()
    for name, value in values:
        if value not in seen:
            src.add(f'\tcase {name}:')
        seen.add(value)
    src.add('\t\tbreak;', '\t}', '}')


def check_structs(src, facts):
    for tag, entry in of_header(facts['structs'], src.header):
        full = f"{entry['tag']} {tag}"
        src.must(f"sizeof({full}) == {entry['size']}", f"{full} is not {entry['size']} bytes")
        for field, ftype in entry['fields']:
            offset = entry['offsets'][field]
            src.must(f'offsetof({full}, {field}) == {offset}', f'{full}.{field} is not at {offset}')
            src.must(f'SAME(TYPE_OF((({full} *)0)->{field}), {c_type(ftype)})',
                     f'{full}.{field} is not {ftype}')


def check_typedefs(src, facts):
    for name, entry in of_header(facts['typedefs'], src.header):
        src.must(f"SAME({name}, {c_type(entry['type'])})", f"{name} is not {entry['type']}")


def check_functions(src, facts):
    found = of_header(facts['functions'], src.header)
    for stable in (True, False):
        group = [item for item in found if (item[1]['stability'] == 'stable') == stable]
        if not group:
            continue
        if not stable:
            src.add('#ifdef DOCA_ALLOW_EXPERIMENTAL_API')
        for name, entry in group:
            sig = signature(entry)
            src.must(f'SAME_FUNC({name}, {sig})', f'{name} is not {sig}')
        if not stable:
            src.add('#endif')


def check_build_config(src):
    for kind, names in (('side', ('HOST', 'DPU')), ('processor', ('X86', 'ARM'))):
        a, b = (f'defined(DOCA_ARCH_{name})' for name in names)
        src.add(f'#if {a} == {b}', f'#error "{src.header}: not exactly one {kind} is defined"', '#endif')
    for side in ('HOST', 'DPU'):
        src.add(f'#if defined(ABI_TREE_{side}) && !defined(DOCA_ARCH_{side})',
                f'#error "{src.header}: the tree of the {side} defines another side"', '#endif')


def header_source(facts, header, lang):
    src = Source(header, lang)
    check_macros(src, facts)
    if header == 'doca_build_config.h':
        check_build_config(src)
    check_enums(src, facts)
    check_structs(src, facts)
    check_typedefs(src, facts)
    check_functions(src, facts)
    src.add('MUST(1, "a header may have nothing to check");')
    return '\n'.join(src.lines) + '\n'


def link_source(facts, libraries):
    """A program with the address of each function: it links only if all exist under their C names."""
    names = sorted(name for lib in libraries for name in facts['libraries'][lib]['symbols'])
    lines = [f'#include <{header}>' for header in sorted(facts['headers'])]
    lines += ['#include <stdio.h>', '', 'typedef void (*function)(void);',
              'static const struct {', '\tconst char *name;', '\tfunction address;', '} all[] = {']
    lines += [f'\t{{"{name}", (function){name}}},' for name in names]
    lines += ['};', '', 'int main(void)', '{', '\tsize_t i, missing = 0;', '',
              '\tfor (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {',
              '\t\tif (!*(const volatile function *)&all[i].address) {',
              '\t\t\tprintf("%s is missing\\n", all[i].name);', '\t\t\tmissing++;', '\t\t}', '\t}',
              '\treturn missing != 0;', '}']
    return '\n'.join(lines) + '\n'


def main():
    facts, output, *libraries = sys.argv[1:]
    pathlib.Path(output).write_text(link_source(json.loads(pathlib.Path(facts).read_text()), libraries))


if __name__ == '__main__':
    main()
