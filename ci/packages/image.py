# SPDX-License-Identifier: BSD-3-Clause
"""The RUN steps of one stage of a Dockerfile, as a shell script, and its last USER and ENTRYPOINT as comments.

    image.py DOCKERFILE STAGE
    image.py --labels DOCKERFILE STAGE [--build-arg NAME=VALUE] ...

With --labels: the labels of the stage's image, with those of the stage that it begins with, as KEY=VALUE lines.
Knows the instructions that ci/Dockerfile uses, and refuses others. What a step mounts from another stage must be there.
"""
import argparse
import json
import re
import shlex
import string
import sys

parser = argparse.ArgumentParser()
parser.add_argument('--labels', action='store_true')
parser.add_argument('--build-arg', action='append', default=[])
parser.add_argument('dockerfile')
parser.add_argument('stage')
options = parser.parse_args()
given = dict(arg.split('=', 1) for arg in options.build_arg)

with open(options.dockerfile, encoding='utf-8') as file:
    lines = [line for line in file.read().split('\n') if not line.startswith('#')]
stage, entry = None, None
arguments, labels = {}, {}  # of this stage; of each stage
steps = ['set -e']
for line in '\n'.join(lines).replace('\\\n', '').split('\n'):
    if not line.strip():
        continue
    name, rest = line.split(None, 1)
    if name == 'FROM':
        base, stage = rest.split(' AS ')
        arguments, labels[stage] = {}, dict(labels.get(base, {}))
    elif name == 'ARG':
        argument, default = rest.split('=', 1)
        arguments[argument] = given.get(argument, default)
    elif name == 'LABEL':
        for label in shlex.split(rest):
            key, value = label.split('=', 1)
            labels[stage][key] = string.Template(value).substitute(arguments)
    elif stage != options.stage:
        continue
    elif name == 'RUN':
        steps.append('(' + re.sub(r'^--mount=type=bind,from=packages,source=/packages,target=/packages ', '', rest) + ')')
    elif name == 'WORKDIR':
        steps.append('mkdir -p ' + rest)
    elif name == 'ENTRYPOINT':
        entry = json.loads(rest)
    elif name not in ('USER', 'CMD'):
        sys.exit(f'{options.dockerfile}: {name} is not known here')
if entry:
    steps.append('# entry point: ' + ' '.join(entry))
print(*([f'{key}={value}' for key, value in labels[options.stage].items()] if options.labels else steps), sep='\n')
