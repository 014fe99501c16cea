#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The labels of both images of ci/Dockerfile, with the arguments that "ci/package image-args" prints.

    image_labels.py TOP VERSION
"""
import subprocess
import sys

PREFIX = 'org.opencontainers.image.'
top, version = sys.argv[1:]


def labels_of(stage, *arguments):
    command = [sys.executable, f'{top}/ci/packages/image.py', '--labels', *arguments, f'{top}/ci/Dockerfile', stage]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(line.split('=', 1) for line in text.splitlines())


def expect(labels, name, value):
    if labels.get(PREFIX + name) != value:
        sys.exit(f'label {PREFIX}{name} is {labels.get(PREFIX + name)!r}, not {value!r}')


args = subprocess.run([f'{top}/ci/package', 'image-args'], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
if f'VERSION={version}' not in args:
    sys.exit(f'ci/package image-args does not name version {version}: {args}')
for image in 'run', 'dev':
    expect(labels_of(image, *args), 'version', version)
    found = labels_of(image, '--build-arg', 'REVISION=0123abcd', '--build-arg', 'SOURCE=https://example.org/bfsim')
    expect(found, 'revision', '0123abcd')
    expect(found, 'source', 'https://example.org/bfsim')
    expect(found, 'title', 'bfsim')
    expect(labels_of(image), 'revision', 'unknown')
