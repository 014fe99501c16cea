# SPDX-License-Identifier: BSD-3-Clause
"""The dev container refers to what there is: files of the sources, and directories that the image's build installs.

    check_devcontainer.py SOURCES BUILD
"""
import json
import os
import re
import subprocess
import sys


def in_any_tree(path):
    return re.sub('/sdk/[^/]+/', '/sdk/TREE/', path)


sources, build = sys.argv[1:]
folder = os.path.join(sources, '.devcontainer')
with open(os.path.join(folder, 'devcontainer.json'), encoding='utf-8') as file:
    container = json.load(file)

dockerfile = os.path.join(folder, container['build']['dockerfile'])
assert os.path.samefile(os.path.join(folder, container['build']['context']), sources)
with open(dockerfile, encoding='utf-8') as file:
    assert '/packages/bfsim-sdk-*' in file.read(), 'the image lacks the SDK trees'
with open(os.path.join(sources, 'share', 'packaging', 'debian', 'rules'), encoding='utf-8') as file:
    prefix = '/' + re.search(r'^tree = (\S+)', file.read(), re.MULTILINE).group(1)

program, *sets = container['postCreateCommand'].split(' && ')[0].split()
assert os.access(os.path.join(sources, program), os.X_OK)
with open(os.path.join(sources, program), encoding='utf-8') as file:
    known = re.findall(r'^set_(\w+)=', file.read(), re.MULTILINE)
assert set(sets) <= set(known), f'{sets}: {program} knows {known}'

# Several trees install the same files; meson lists one of them.
plan = json.loads(subprocess.check_output(['meson', 'introspect', '--installed', build]))
installed = {in_any_tree(os.path.dirname(path)) for path in plan.values()}
own = next(path for path in installed if path.endswith('/pkgconfig') and '/sdk/TREE/' in path).split('/sdk/')[0]
for path in container['containerEnv']['PKG_CONFIG_PATH'].split(':'):
    assert path.startswith(prefix + '/'), f'{path} is not in {prefix}'
    assert re.match('/sdk/(host|dpu)/', path[len(prefix):]), f'{path} is in no tree'
    here = in_any_tree(own + path[len(prefix):])
    assert here in installed, f'{path}: nothing is installed there'
