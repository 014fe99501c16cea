# SPDX-License-Identifier: BSD-3-Clause
"""Names in sources, read as text: what a header defines and declares, what a file takes, what comments mention. For ci/structure."""
import collections
import os
import re

COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
IDENTIFIER = re.compile(r'[A-Za-z_]\w*')
STRUCT = re.compile(r'^(?:struct|union) (\w+) \{\n(.*?)^\}', re.M | re.S)
MEMBER = re.compile(r'(\w+)(?:\[[^\]]*\])*(?: : \d+)?[;,]|\(\*(?:_Atomic )?(\w+)\)\(')
INLINE = re.compile(r'^static (?:__always_)?inline [^;{]*?\b(\w+)\(', re.M)
MACRO = re.compile(r'^#\s*define (\w+)', re.M)
UNDEF = re.compile(r'^#\s*undef (\w+)', re.M)
ENUM = re.compile(r'^enum (\w+) \{', re.M)
DECLARATION = re.compile(r'^(?:extern )?(?:const )?(?:struct |enum |unsigned )?\w[\w ]*[ *]\**(\w+)\((?:[^;{}]|\n)*?\)[^;{}]*;', re.M)
VARIABLE = re.compile(r'^extern [^;{}()]*?\b(\w+)(?:\[[^\]]*\])?(?: __attribute__[^;]*)?;', re.M)
ACCESS = re.compile(r'(?:->|\.)(\w+)')

FILE_NAME = re.compile(r'(?<![\w./<{}*$-])((?:\.\./)?[A-Za-z0-9][\w./-]*\.(?:c|h|cc|cpp|py|sh|toml|md))(?![\w/])')
PLACEHOLDER = re.compile('NAME|GROUP|PREFIX')  # of a recipe
HASH_COMMENT = re.compile(r'^\s*#.*', re.M)


def comments_of(name, text):
    """The comments of a file; a document as a whole."""
    if name.endswith('.md'):
        return [text]
    return (COMMENT if name.endswith(('.c', '.h', '.cc', '.cpp')) else HASH_COMMENT).findall(text)


class Mentions:
    """The names of files that comments and documents mention, and which of them are no files."""

    def __init__(self, names, others):
        """@names: paths of all files, which are mentioned by any part from a folder on; @others: names of other files."""
        self.known = {name[at:] for name in names for at in [0] + [m.end() for m in re.finditer('/', name)]}
        self.others = others

    def is_known(self, mention):
        return mention in self.known or {mention, os.path.basename(mention)} & self.others or PLACEHOLDER.search(mention)

    def find_missing(self, name, text):
        found = {re.sub(r'^\.+/', '', mention) for comment in comments_of(name, text) for mention in FILE_NAME.findall(comment)}
        return sorted(mention for mention in found if not self.is_known(mention))


class Source:
    """A C file: its text without comments and strings, and the names in it."""

    def __init__(self, name, text):
        self.name = name
        self.num_lines = text.count('\n')
        self.code = STRING.sub('""', COMMENT.sub('', text))
        self.identifiers = set(IDENTIFIER.findall(self.code))
        self.accesses = set(ACCESS.findall(self.code))

    def declared(self):
        """Functions and variables that the header declares."""
        return set(DECLARATION.findall(self.code)) | set(VARIABLE.findall(self.code))

    def defined(self):
        """Macros, inline functions and enums that the header defines."""
        return set(MACRO.findall(self.code)) - set(UNDEF.findall(self.code)) | set(INLINE.findall(self.code)) | set(ENUM.findall(self.code))

    def structs(self):
        """Structs that the header defines: {tag: names of members}."""
        return {tag: {a or b for a, b in MEMBER.findall(body)} for tag, body in STRUCT.findall(self.code)}

    def opens(self, tag, members):
        """Whether the file needs the definition of a struct: it has one by value, or accesses a member."""
        return tag in self.identifiers and (
            bool(members & self.accesses) or
            re.search(r'(?:struct|union) %s(?:\)| \w+[;,\[ ])' % tag, self.code) is not None)


def unit_of(name):
    """A .c file and its header are one unit, whatever the ending of the names: folder/stem."""
    return re.sub(r'(_priv)?\.[ch]$', '', name)


def read_uses(sources):
    """Arrows between units of one folder, by the names that a header defines: {from: {to: names}}."""
    headers = collections.defaultdict(list)
    for source in sources:
        if source.name.endswith('.h'):
            headers[os.path.dirname(source.name)].append((unit_of(source.name), source.defined(), source.structs()))
    arrows = collections.defaultdict(lambda: collections.defaultdict(set))
    for source in sources:
        start = unit_of(source.name)
        for unit, defined, structs in headers[os.path.dirname(source.name)]:
            if unit != start:
                names = defined & source.identifiers
                names |= {tag for tag, members in structs.items() if source.opens(tag, members)}
                if names:
                    arrows[start][unit] |= names
    return arrows
