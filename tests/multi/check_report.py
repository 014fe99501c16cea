#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hold a report's page against what a page must be, and its figures against what is expected.

    check_report.py FILE [EXPRESSION ...]

Each EXPRESSION is Python that must be true, with
    data            the figures that stand in the page
    op(name, ...)   the operation of that name, of the process with that side or context, if given
    text            what a reader sees, in one line
    count(tag)      how many elements of that kind there are
    near(a, b)      they differ by less than 1 %
Says what is wrong and exits with 1.
"""
import html.parser
import json
import re
import sys

VOID = {'meta', 'br', 'hr', 'img', 'input', 'link'}
problems = []


class Page(html.parser.HTMLParser):
    """Elements end in the order in which they began, ids are unique, nothing is loaded."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.tags, self.texts, self.data = [], [], [], [], ''

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        attributes = dict(attrs)
        self.ids += [attributes['id']] if 'id' in attributes else []
        for name in ('src', 'srcset', 'data', 'action'):
            if name in attributes:
                problems.append(f'<{tag}> loads {attributes[name]}')
        if not attributes.get('href', '#').startswith('#'):
            problems.append(f'<{tag}> leads to {attributes["href"]}')
        if tag == 'script' and attributes.get('type') != 'application/json':
            problems.append('a script that runs')
        if tag == 'svg' and not (attributes.get('role') == 'img' and attributes.get('aria-label')):
            problems.append('a picture without words')
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            problems.append(f'</{tag}> at {self.getpos()} ends something else')

    def handle_data(self, data):
        if self.open and self.open[-1] == 'script':
            self.data += data
        elif self.open and self.open[-1] != 'style':
            self.texts.append(data)


def media_block(css, query):
    """The rules of an @media block, up to its closing brace."""
    start = css.index('@media ' + query) + len('@media ' + query) + 1
    depth = 1
    for end in range(start, len(css)):
        depth += {'{': 1, '}': -1}.get(css[end], 0)
        if depth == 0:
            return css[start:end]
    raise AssertionError(f'{query} does not end')


def check_style(source):
    """Each colour is defined for light, dark and paper; a narrow window names the columns that it stacks."""
    css = source[source.index('<style>'):source.index('</style>')]
    used = set(re.findall(r'var\((--[a-z]+)\)', css))
    for name, rules in (('light', css[:css.index('@media')]), ('dark', media_block(css, '(prefers-color-scheme:dark)')),
                        ('paper', media_block(css, 'print'))):
        defined = set(re.findall(r'(--[a-z]+):#', rules))
        if defined != used:
            problems.append(f'colours of {name}: {sorted(defined ^ used)} are used or defined, and not both')
    if re.search(r'[{;](color|background|fill):#', css):
        problems.append('a colour that is the same in light and dark')
    if 'overflow:visible' not in media_block(css, 'print'):
        problems.append('tables are cut on paper')
    for frame in re.findall(r'<div class="frame.*?</thead>', source, re.DOTALL):
        columns = re.findall(r'<th[^>]*>([^<]*)</th>', frame)
        if re.findall(r"--c\d+:'([^']*)';", frame) != columns:
            problems.append(f'a narrow window does not have the headings {columns}')


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        source = file.read()
    page = Page()
    page.feed(source)
    page.close()
    if not source.startswith('<!DOCTYPE html>'):
        problems.append('no HTML')
    if page.open:
        problems.append(f'never end: {page.open}')
    if len(page.ids) != len(set(page.ids)):
        problems.append(f'ids are not unique: {page.ids}')
    if re.search(r'https?:|//[a-z]|@import|url\(', source):
        problems.append('refers to something elsewhere')
    check_style(source)
    sections = [f'#{name}' for name in re.findall(r'<h2 id="([^"]*)"', source)]
    if re.findall(r'href="([^"]*)"', source[source.index('<nav>'):source.index('</nav>')]) != sections:
        problems.append(f'the navigation does not have the sections {sections}')
    data = json.loads(page.data)

    def op(name, side=None, context=None):
        pids = [p['pid'] for p in data['processes'] if side in (None, p['side'])]
        found = [o for o in data['operations']
                 if o['operation'] == name and o['pid'] in pids and context in (None, o['context'])]
        assert len(found) == 1, f'{len(found)} operations {name} of {side}, {context}'
        return found[0]

    def near(a, b):
        return abs(a - b) < abs(b) / 100

    names = {'data': data, 'op': op, 'near': near, 'text': ' '.join(' '.join(page.texts).split()), 'count': page.tags.count, 're': re}
    for expression in sys.argv[2:]:
        if not eval(f'({expression})', names):
            problems.append(f'not true: {expression}')
    if problems:
        print('\n'.join(problems[:20]))
        print(json.dumps(data)[:4000])
        sys.exit(1)


main()
