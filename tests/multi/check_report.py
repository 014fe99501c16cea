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
    data = json.loads(page.data)

    def op(name, side=None, context=None):
        pids = [p['pid'] for p in data['processes'] if side in (None, p['side'])]
        found = [o for o in data['operations']
                 if o['operation'] == name and o['pid'] in pids and context in (None, o['context'])]
        assert len(found) == 1, f'{len(found)} operations {name} of {side}, {context}'
        return found[0]

    def near(a, b):
        return abs(a - b) < abs(b) / 100

    names = {'data': data, 'op': op, 'near': near, 'text': ' '.join(' '.join(page.texts).split()), 'count': page.tags.count}
    for expression in sys.argv[2:]:
        if not eval(f'({expression})', names):
            problems.append(f'not true: {expression}')
    if problems:
        print('\n'.join(problems[:20]))
        print(json.dumps(data)[:4000])
        sys.exit(1)


main()
