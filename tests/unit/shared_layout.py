#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compare the layout of what processes share with a list: sizes and offsets, and the numbers of names, from the libraries'
debug information.

    shared_layout.py [--update] LIST WIRE_H OPERATIONS_H LIBRARY ...

Each compiler and each architecture has to produce the layout of the list, as processes of both share a session. A member that
is a pointer is an error, and so are bytes of a message that are no member's: whatever was there would leave the process. The list has the version of the wire: the number in WIRE_H and the checksum of fault rules in
OPERATIONS_H. A change of anything else needs a higher number, without which --update refuses. Exit status 77: the libraries
have no debug information.
"""
import pathlib
import re
import subprocess
import sys

# struct NAME, or NAME in FILE for a name that other files use as well.
SHARED = """
sim_msg sim_shared_state sim_clock_launch
sim_ring_shared sim_recvq_shared sim_doorbell_shared record_header:ring.c slot:recvq.c
served_ring served_request served_reply sim_grant
sim_trace_head sim_trace_record sim_trace_ring sim_trace_thread sim_trace_object sim_trace_op
sim_sync_cell
sim_pipe_hdr sim_pipe_object sim_consumer_info sim_pipe_address descriptor:descriptor.c
sim_inbox_head sim_inbox_shared rdma_cm_request
sim_far_slot sim_far_queue_shared
""".split()
MESSAGES = 'sim_msg served_request served_reply sim_pipe_hdr sim_pipe_object sim_consumer_info sim_pipe_address descriptor sim_inbox_head rdma_cm_request sim_far_slot'.split()
# Enumerations whose numbers are shared.
NUMBERS = 'sim_op sim_act sim_status sim_msg_type'.split()
ENTRY = re.compile(r'^ *<(\d+)><([0-9a-f]+)>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)')
FIELD = re.compile(r'^ +<[0-9a-f]+> +DW_AT_(\w+) *: (.*)$')
KEPT = ('name', 'byte_size', 'data_member_location', 'type', 'upper_bound', 'count', 'encoding', 'declaration')


def value(text):
    text = re.sub(r'^\((?:alt )?(?:indirect|indexed)[^)]*\): ', '', text.split('\t')[0])
    number = re.match(r'<?(0x[0-9a-f]+|\d+)>?\s*(?:\(.*)?$', text)
    return int(number.group(1), 0) if number else text.strip()


class Types:
    """The entries of one library, by offset. Children follow their parent."""

    def __init__(self, library):
        self.entries, self.children, self.roots = {}, {}, {}
        parents, entry, unit = [], {}, ''
        text = subprocess.run(['readelf', '--debug-dump=info', library], capture_output=True, text=True, errors='replace').stdout
        for line in text.splitlines():
            match = ENTRY.match(line)
            if match:
                depth, offset = int(match.group(1)), int(match.group(2), 16)
                entry = {'tag': match.group(3), 'at': offset}
                self.entries[offset] = entry
                parents[depth:] = [offset]
                if depth:
                    self.children.setdefault(parents[depth - 1], []).append(offset)
                continue
            match = FIELD.match(line)
            if not match or match.group(1) not in KEPT:
                continue
            entry[match.group(1)] = value(match.group(2))
            if match.group(1) == 'name':
                if entry['tag'] == 'compile_unit':
                    unit = str(entry['name']).split('/')[-1]
                elif entry['tag'] in ('structure_type', 'enumeration_type'):
                    for name in (entry['name'], f'{entry["name"]}:{unit}'):
                        self.roots.setdefault(name, []).append(entry)

    def find(self, name):
        whole = [entry for entry in self.roots.get(name, []) if 'declaration' not in entry]
        return whole[0] if whole else None

    def numbers(self, name, entry):
        names = [self.entries[child]['name'] for child in self.children.get(entry['at'], [])]
        return f'enum {name} ' + ' '.join(names)

    def resolve(self, entry):
        while entry['tag'] in ('typedef', 'const_type', 'volatile_type', 'atomic_type'):
            entry = self.entries[entry['type']]
        return entry

    def array(self, entry):
        """The type of the elements, and their number; a flexible array has 0."""
        number = 1
        for child in self.children.get(entry['at'], []):
            bound = self.entries[child]
            number *= bound['upper_bound'] + 1 if isinstance(bound.get('upper_bound'), int) else bound.get('count', 0)
        return self.resolve(self.entries[entry['type']]), number

    def size(self, entry):
        entry = self.resolve(entry)
        if entry['tag'] == 'array_type':
            element, number = self.array(entry)
            return self.size(element) * number
        return entry.get('byte_size', 0)

    def gaps(self, entry):
        """(where it ends, size in bytes) of each gap between the members of a structure, and after the last."""
        end = 0
        members = [self.entries[child] for child in self.children.get(entry['at'], [])]
        for member in [*(one for one in members if one['tag'] == 'member'), None]:
            at = member.get('data_member_location', 0) if member else entry['byte_size']
            if at > end:
                yield f'.{member["name"]}' if member and 'name' in member else 'the end', at - end
            end = at + (self.size(self.entries[member['type']]) if member else 0)

    def lines(self, name, entry, offset, errors):
        """A line for each member of a structure or union, and for the members of members."""
        yield f'{name} {offset} {self.size(entry)}'
        entry = self.resolve(entry)
        if entry['tag'] == 'array_type':
            entry, number = self.array(entry)
            yield f'{name}[] {number}'
        if entry['tag'] == 'pointer_type':
            errors.append(f'{name} is a pointer')
        if entry['tag'] not in ('structure_type', 'union_type'):
            return
        if entry['tag'] == 'structure_type' and name.split('.')[0] in MESSAGES:
            errors += [f'{name} has {gap} bytes before {at} that are no member\'s: name them `reserved\'' for at, gap in self.gaps(entry)]
        for child in self.children.get(entry['at'], []):
            member = self.entries[child]
            if member['tag'] == 'member':
                yield from self.lines(f'{name}.{member.get("name", "")}', self.entries[member['type']],
                                      offset + member.get('data_member_location', 0), errors)


def layout(libraries):
    """The lines of the list, and errors."""
    lines, errors, missing = [], [], {*SHARED, *NUMBERS}
    for library in libraries:
        types = Types(library)
        if not types.roots:
            print('no debug information in', library)
            sys.exit(77)
        for name in sorted(missing):
            entry = types.find(name)
            if entry:
                missing.discard(name)
                lines += [types.numbers(name, entry)] if name in NUMBERS else types.lines(name.split(':')[0], entry, 0, errors)
    return lines, errors + [f'{name} is in none of the libraries' for name in sorted(missing)]


def remedy(old, new, command):
    if new == old:
        return [f'What processes share has changed: raise the number in SIM_WIRE_VERSION (sim/protocol/wire.h) from {new[0]} to {new[0] + 1},',
                'so that processes of two builds refuse each other. Then write the list anew:', f'  {command}']
    return ['The version of the wire has changed, and what processes share perhaps. Write the list anew:', f'  {command}']


def read_version(*headers):
    """The number and the checksum."""
    text = '\n'.join(pathlib.Path(header).read_text() for header in headers)
    return [int(re.search(rf'#define {name} \(?(\w+)', text).group(1).rstrip('u'), 0)
            for name in ('SIM_WIRE_VERSION', 'SIM_RULES_CHECKSUM')]


def main():
    args = sys.argv[1:]
    update = args[0] == '--update'
    expected, header, operations, *libraries = args[update:]
    version = read_version(header, operations)
    first, *wanted = pathlib.Path(expected).read_text().splitlines()
    old = [int(word, 0) for word in first.split()[1:]]
    lines, errors = layout(libraries)
    changes = [f'not in the list: {line}' for line in lines if line not in set(wanted)]
    changes += [f'only in the list: {line}' for line in wanted if line not in set(lines)]
    if update and not errors and (version != old or not changes):
        pathlib.Path(expected).write_text('\n'.join([f'SIM_WIRE_VERSION {version[0]} {version[1]:#06x}', *lines]) + '\n')
    elif changes or version != old:
        command = f'{sys.argv[0]} --update {expected} {header} {operations} {" ".join(libraries)}'
        errors += [*changes[:40], *remedy(old, version, command)]
    print('\n'.join(errors) or f'{len(lines)} sizes and offsets of {len(SHARED)} structures, numbers of {len(NUMBERS)} lists of names')
    sys.exit(bool(errors))


if __name__ == '__main__':
    main()
