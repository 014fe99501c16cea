#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Read "doca_caps --list-rep-devs" as Kubernetes' sriovnet does, and print what was found.

    caps_rep_devs.py levels < OUTPUT     one line a representor: device, address, and its attributes as KEY=VALUE
    caps_rep_devs.py vuid VUID < OUTPUT  the device and address of the only representor with that VUID

A level is four spaces. A device is at level 0, a representor at 2, an attribute of it (two words) at 3. Any other line at
level 0 ends the device, any other one at level 2 the representor; lines at other levels do not count.
"""
import sys


def representors(lines):
    device, current = '', None
    for line in lines:
        words = line.split()
        level = (len(line) - len(line.lstrip(' '))) // 4
        if not words:
            continue
        if level == 0:
            device, current = words[1] if words[0] == 'PCI:' else '', None
            if device and len(words) != 2:
                sys.exit(f'not an address: {line}')
        elif level == 2 and device:
            current = None
            if words[0] == 'representor-PCI:':
                current = (device, line.strip().split(' ', 1)[1].strip(), {})
                yield current
        elif level == 3 and current and len(words) == 2:
            current[2][words[0]] = words[1]


def main():
    found = list(representors(sys.stdin.read().splitlines()))
    if sys.argv[1] == 'vuid':
        found = [entry for entry in found if entry[2].get('vuid') == sys.argv[2]]
        if len(found) != 1:
            sys.exit(f'{len(found)} representors have the VUID {sys.argv[2]}')
        print(*found[0][:2])
        return
    for device, address, attributes in found:
        print(device, address, *(f'{key}={value}' for key, value in attributes.items()))


if __name__ == '__main__':
    main()
