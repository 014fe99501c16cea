# SPDX-License-Identifier: BSD-3-Clause
"""The RUN steps of one stage of a Dockerfile, as a shell script, and its last USER and ENTRYPOINT as comments.

    image.py DOCKERFILE STAGE

Knows the instructions that ci/Dockerfile uses, and refuses others. What a step mounts from another stage must be there.
"""
import json
import re
import sys

dockerfile, wanted = sys.argv[1:]
with open(dockerfile, encoding='utf-8') as file:
    lines = [line for line in file.read().split('\n') if not line.startswith('#')]
stage, entry = None, None
print('set -e')
for line in '\n'.join(lines).replace('\\\n', '').split('\n'):
    if not line.strip():
        continue
    name, rest = line.split(None, 1)
    if name == 'FROM':
        stage = rest.split(' AS ')[1]
    elif stage != wanted:
        continue
    elif name == 'RUN':
        print('(' + re.sub(r'^--mount=type=bind,from=packages,source=/packages,target=/packages ', '', rest) + ')')
    elif name == 'WORKDIR':
        print('mkdir -p', rest)
    elif name == 'ENTRYPOINT':
        entry = json.loads(rest)
    elif name not in ('USER', 'LABEL', 'CMD'):
        sys.exit(f'{dockerfile}: {name} is not known here')
if entry:
    print('# entry point:', *entry)
