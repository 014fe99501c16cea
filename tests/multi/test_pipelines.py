#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The templates for users' own pipelines (share/ci), run as they stand with the example comch_hello as the application.

Left out are only the steps that fetch and install bfsim: what "meson install" lays down takes their place.

    test_pipelines.py BUILD_DIR TEMPLATES_DIR APPLICATION_DIR
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print('SKIPPED: no yaml module for Python (Debian: python3-yaml)')
    sys.exit(77)


def github_steps(template):
    (job,) = template['jobs'].values()
    commands = {step['name']: step['run'] for step in job['steps'] if 'run' in step}
    assert 'meson install' in commands.pop('Install bfsim')
    kept = [step['with']['path'] for step in job['steps'] if 'upload-artifact' in step.get('uses', '')]
    return list(commands.values()), kept[0].split()


def gitlab_steps(template):
    (job,) = template.values()
    assert any('meson install' in command for command in job['before_script'])
    return job['script'], job['artifacts']['paths']


def run_steps(commands, kept, application, environment):
    with tempfile.TemporaryDirectory() as work:
        repository = os.path.join(work, 'repository')
        shutil.copytree(application, repository)
        for command in commands:
            print('$', command.strip(), flush=True)
            subprocess.run(['bash', '-eo', 'pipefail', '-c', command], cwd=repository, env=environment, check=True)
        for pattern in kept:
            assert len(glob.glob(os.path.join(repository, pattern))) == 2, pattern + ': one of each run'


def main(build, templates, application):
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(['meson', 'install', '-C', build, '--no-rebuild', '--destdir', work], check=True,
                       stdout=subprocess.DEVNULL)
        (command,) = glob.glob(work + '/**/bin/bfsim', recursive=True)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(('BFSIM_', 'LD_LIBRARY'))}
        environment['PATH'] = os.path.dirname(command) + ':' + environment['PATH']
        for name, steps_of in (('github.yml', github_steps), ('gitlab-ci.yml', gitlab_steps)):
            with open(os.path.join(templates, name)) as file:
                run_steps(*steps_of(yaml.safe_load(file)), application, environment)


if __name__ == '__main__':
    main(*sys.argv[1:])
