#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The GitHub Action and the GitLab component, run step by step as they stand, by the examples of share/ci: the application is
comch_hello. What "meson install" lays down is what their cache brings.

    test_pipelines.py BUILD_DIR SOURCE_DIR
"""
import contextlib
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print('SKIPPED: no yaml module for Python (Debian: python3-yaml)')
    sys.exit(77)

# A device is closed while a memory map is on it.
MISUSE = '''
#include <doca_dev.h>
#include <doca_mmap.h>
int main(void)
{
	static char memory[4096];
	struct doca_devinfo **list;
	struct doca_mmap *map;
	struct doca_dev *dev;
	uint32_t count;

	if (doca_devinfo_create_list(&list, &count) != DOCA_SUCCESS || doca_dev_open(list[0], &dev) != DOCA_SUCCESS)
		return 1;
	doca_devinfo_destroy_list(list);
	doca_mmap_create(&map);
	doca_mmap_set_memrange(map, memory, sizeof(memory));
	doca_mmap_add_dev(map, dev);
	doca_mmap_start(map);
	doca_dev_close(dev);
	doca_mmap_destroy(map);
	return doca_dev_close(dev) != DOCA_SUCCESS;
}
'''
SCENARIO = '''
sides:
  dpu: ./dpu
  host: {command: ./host, output: 'the DPU answers: hello, host'}
copy: [host, dpu]
seeds: 1..3
'''


class Job:
    """A run of the action: its inputs, a directory with the application, and the files by which steps talk to GitHub."""

    def __init__(self, action, source, work, environment, inputs):
        known = action['inputs']
        assert set(inputs) <= set(known), f'no such input: {set(inputs) - set(known)}'
        self.action, self.work = action, work
        self.values = {'inputs.' + name: inputs.get(name, entry['default']) for name, entry in known.items()}
        self.values |= {'runner.temp': str(work / 'temp'), 'github.server_url': 'https://example.com',
                        'github.action_repository': 'OWNER/bfsim'}
        self.environment = environment | {'GITHUB_ACTION_PATH': str(source), 'GITHUB_STEP_SUMMARY': str(work / 'summary')}
        self.output, self.failed = '', False

    def expand(self, text):
        return re.sub(r'\$\{\{ *([\w.-]+) *\}\}', lambda match: self.values[match.group(1)], text)

    def run_step(self, step):
        talk = {name: self.work / name for name in ('GITHUB_PATH', 'GITHUB_OUTPUT')}
        for file in talk.values():
            file.write_text('')
        environment = self.environment | {name: str(file) for name, file in talk.items()}
        environment |= {name: self.expand(value) for name, value in step.get('env', {}).items()}
        assert '${{' not in step['run'], 'an input in a script is code; give it by the environment'
        done = subprocess.run(['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', step['run']], env=environment,
                              cwd=self.work / 'repository', stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(f"== {step['name']}: {done.returncode}\n{done.stdout}", flush=True)
        self.output += done.stdout
        self.failed |= done.returncode != 0
        for line in talk['GITHUB_PATH'].read_text().split():
            self.environment['PATH'] = line + ':' + self.environment['PATH']
        for line in talk['GITHUB_OUTPUT'].read_text().splitlines():
            name, value = line.split('=', 1)
            self.values[f"steps.{step['id']}.outputs.{name}"] = value

    def run(self):
        for step in self.action['runs']['steps']:
            if 'uses' in step:
                assert re.search(r'@[0-9a-f]{40}$', step['uses']), step['uses'] + ': pin it by its commit'
                for value in step['with'].values():
                    self.expand(value)
            elif not self.failed or 'always()' in str(step.get('if')):
                self.run_step(step)
        return self

    def results(self):
        return self.work / 'repository' / self.values['steps.run.outputs.results']

    def summary(self):
        return (self.work / 'summary').read_text()


@contextlib.contextmanager
def job(action, source, installed, environment, inputs, **files):
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        shutil.copytree(source / 'tests' / 'apps' / 'comch_hello', work / 'repository')
        (work / 'temp').mkdir()
        (work / 'temp' / 'bfsim').symlink_to(installed)
        for file, text in files.items():
            (work / 'repository' / file.replace('_', '.')).write_text(text)
        yield Job(action, source, work, environment, inputs).run()


def test_action(source, installed, environment):
    action = yaml.safe_load((source / 'action.yml').read_text())
    (example,) = yaml.safe_load((source / 'share' / 'ci' / 'github.yml').read_text())['jobs'].values()
    uses, inputs = example['steps'][-1]['uses'], example['steps'][-1]['with']
    assert uses.startswith('OWNER/bfsim@') and any(re.search(r'^actions/checkout@[0-9a-f]{40}$', step.get('uses', '')) for step in example['steps'])
    assert not [name for name, entry in action['inputs'].items() if entry.get('required')]

    with job(action, source, installed, environment, inputs) as done:
        assert not done.failed and 'bfsim: passed' in done.summary()
        assert sorted(os.listdir(done.results())) == ['bfsim.log', 'check.sarif', 'report.html', 'status', 'trace.bfsim']
        assert '::error' not in done.output

    # Without inputs it installs, and no more.
    with job(action, source, installed, environment, {}) as done:
        assert not done.failed and 'bfsim 0' in done.output and not (done.work / 'summary').exists()

    # Late messages; a fault that never hits fails the job.
    with job(action, source, installed, environment, inputs | {'faults': '# late\ncomch.send delay=uniform(1ms,2ms)\n',
                                                               'seed': '1..2', 'clock': 'virtual', 'check': 'off'}) as done:
        assert not done.failed and '2 seeds: 2 ok' in done.output
    with job(action, source, installed, environment, inputs | {'faults': 'dma.memcpy fail=IO_FAILED'}) as done:
        assert done.failed and 'bfsim: failed' in done.summary()
        cause = 'fault 1 never hit: dma.memcpy fail=IO_FAILED'
        assert done.summary().splitlines()[2].startswith(cause) and '::error title=bfsim::' + cause in done.output

    # A program that dies with the peer waiting: what both were doing is told as on the terminal.
    with job(action, source, installed, environment, inputs | {'faults': 'comch.send side=dpu hang', 'seed': '1',
                                                               'host': 'until bfsim stats --json | grep -q comch_server; do sleep 0.05; done; kill -KILL $$'}) as done:
        assert done.failed and 'failed (status 137)' in done.summary()
        cause = 'the command on host ended with status 137 (SIGKILL); ending the others'
        assert done.summary().splitlines()[2] == cause and '::error title=bfsim::' + cause in done.output
        for told in 'bfsim:   host: had not attached', 'bfsim: dpu runs, as process', 'comch_server #1 on mlx5_':
            assert told in done.summary() and re.search('::error title=bfsim::.*' + re.escape(told), done.output), told

    # A scenario that is wrong.
    with job(action, source, installed, environment, inputs | {'host': '', 'dpu': '', 'tests': 'wrong.yaml'},
             wrong_yaml='sids: {dpu: true}\n') as done:
        assert done.failed and 'wrong.yaml:1: sids: unknown field; did you mean sides' in done.summary().splitlines()[2]

    # Scenarios, one of which fails.
    tests = inputs | {'host': '', 'dpu': '', 'tests': 'good.yaml bad.yaml'}
    with job(action, source, installed, environment, tests, good_yaml=SCENARIO,
             bad_yaml=SCENARIO.replace('hello, host', 'goodbye').replace('1..3', '1')) as done:
        assert done.failed and '3 of 4 scenarios passed' in done.summary()
        assert '::error title=bfsim test%3A bad seed 1::no line of host matches' in done.output and (done.results() / 'failures').is_dir()

    # A hit of the checker, on its line.
    misuse = {'build-dpu': 'cc -g misuse.c -o misuse $(pkg-config --cflags --libs doca-common)', 'dpu': './misuse'}
    with job(action, source, installed, environment, misuse, misuse_c=MISUSE) as done:
        line = MISUSE.splitlines().index('	doca_dev_close(dev);') + 1
        assert done.failed and f'::error file=misuse.c,line={line},title=BFC-DEV-005::doca_dev_close: ' in done.output
        assert '| error | BFC-DEV-005 | 1 |' in done.summary() and 'failed (status 70)' in done.summary()

    # The other inputs hold for scenarios as well: two seeds instead of the scenario's three.
    with job(action, source, installed, environment, tests | {'tests': 'good.yaml', 'seed': '4..5'}, good_yaml=SCENARIO) as done:
        assert not done.failed and '2 of 2 scenarios passed' in done.summary()
    known = subprocess.run([installed / 'bin' / 'bfsim', 'test', '--help'], stdout=subprocess.PIPE, text=True, check=True).stdout
    if '--fault' in known:
        with job(action, source, installed, environment, tests | {'tests': 'good.yaml', 'faults': 'comch.send nth=99 drop'},
                 good_yaml=SCENARIO) as done:
            assert done.failed, 'a fault that was never applied passed'


# Instead of the command: writes its arguments, a line each.
LISTS_ARGUMENTS = '#!/bin/sh\nprintf "%s\\n" "$@" >arguments\n'


def test_inputs_of_tests(source, environment):
    """Each input reaches "bfsim test", or is refused by its name."""
    inputs = {'TESTS': 'a.yaml b.yaml', 'SEED': '1..5', 'CHECK': 'races', 'CLOCK': 'virtual', 'TOPOLOGY': 'card.yaml',
              'GENERATION': 'task', 'TIMEOUT': '7', 'FAULTS': '# late\ncomch.send nth=99 drop\ndma.memcpy p=0.5 delay=1ms\n'}
    with tempfile.TemporaryDirectory() as work:
        command = pathlib.Path(work) / 'bfsim'
        command.write_text(LISTS_ARGUMENTS)
        command.chmod(0o755)

        def run(**changed):
            arguments = pathlib.Path(work) / 'arguments'
            arguments.unlink(missing_ok=True)
            variables = {'BFSIM_JOB_' + name: value for name, value in (inputs | changed).items()}
            done = subprocess.run([source / 'share' / 'ci' / 'bfsim-job', 'run'], cwd=work, text=True, stderr=subprocess.PIPE,
                                  env=environment | variables | {'PATH': work + ':' + environment['PATH']})
            return done, arguments.read_text().splitlines() if arguments.exists() else None

        done, arguments = run()
        assert done.returncode == 0 and arguments[0] == 'test' and arguments[-2:] == ['a.yaml', 'b.yaml'], arguments
        assert sorted(arguments[1:-2]) == sorted([
            '--junit=bfsim-results/junit.xml', '--bundles=bfsim-results/failures', '--seeds=1..5', '--check=races', '--clock=virtual',
            '--topology=card.yaml', '--generation=task', '--timeout=7', '--fault=comch.send nth=99 drop',
            '--fault=dma.memcpy p=0.5 delay=1ms']), arguments
        done, arguments = run(**{name: '' for name in inputs if name != 'TESTS'})
        assert arguments[1:-2] == ['--junit=bfsim-results/junit.xml', '--bundles=bfsim-results/failures'], arguments
        done, arguments = run(FAULTS='plan.yaml')
        assert '--fault-plan=plan.yaml' in arguments, arguments
        done, arguments = run(CHECK='off')
        assert done.returncode == 1 and arguments is None and 'check: off' in done.stderr, done
        done, arguments = run(TESTS='', HOST='./host', CHECK='', FAULTS='plan.yaml')
        assert {'run', '--check=api', '--timeout=7', '--fault-plan=plan.yaml', '--require-faults'} <= set(arguments), arguments


def tools(folder, names):
    """A directory for PATH that has these tools alone."""
    folder.mkdir()
    for name in names.split():
        (folder / name).symlink_to(shutil.which(name))
    return str(folder)


def test_missing_tools(source, environment):
    """A tool that is missing, and can't be installed, is named; the summary, for want of Python, turns no job red."""
    job = source / 'share' / 'ci' / 'bfsim-job'
    with tempfile.TemporaryDirectory() as work:
        environment = environment | {'PATH': tools(pathlib.Path(work) / 'bin', 'sh dirname uname id cat'), 'BFSIM_JOB_VERSION': '1.2.3',
                                     'BFSIM_JOB_PREFIX': work + '/there', 'BFSIM_JOB_RELEASES': 'file://' + work,
                                     'BFSIM_JOB_BUILD_DPU': 'make dpu'}
        for step, status, words in (('install', 1, 'curl, which is missing'), ('build', 1, 'no compiler'), ('publish', 0, 'need python3')):
            done = subprocess.run([shutil.which('sh'), job, step], env=environment, cwd=work, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            assert done.returncode == status and words in done.stdout, (step, done)


def test_key(source, environment):
    """The cache's key changes with each file that could be installed."""
    def key():
        return subprocess.run([copy / 'share' / 'ci' / 'bfsim-job', 'key'], env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout

    with tempfile.TemporaryDirectory() as work:
        copy = pathlib.Path(work)
        for name in 'share', 'man', 'doc', 'sim/cli/doctor':
            shutil.copytree(source / name, copy / name, symlinks=True)
        keys = [key()]
        for name in 'share/topologies/two-cards.yaml', 'man/bfsim.1', 'doc/faults.md', 'sim/cli/doctor/doctor.c':
            with open(copy / name, 'a', encoding='utf-8') as file:
                file.write('\n')
            keys.append(key())
        (copy / 'build').mkdir()
        (copy / 'build' / 'log').write_text('')
        assert key() == keys[-1] and len(set(keys)) == len(keys), keys


def test_release(source, installed, environment):
    """A release is fetched where there is one; what is not there is said, and what is not its file is refused."""
    with tempfile.TemporaryDirectory() as work:
        name = f'bfsim-1.2.3-linux-{os.uname().machine}'
        os.mkdir(work + '/v1.2.3')
        subprocess.run(['tar', '-C', installed.parent, '--transform', f's,^{installed.name},{name},', '-czf',
                        f'{work}/v1.2.3/{name}.tar.gz', installed.name], check=True)
        subprocess.run('sha256sum *.tar.gz >SHA256SUMS-$(uname -m)', shell=True, cwd=work + '/v1.2.3', check=True)
        command = [source / 'share' / 'ci' / 'bfsim-job', 'install']
        environment = environment | {'BFSIM_JOB_PREFIX': work + '/there/bfsim', 'BFSIM_JOB_RELEASES': 'file://' + work}
        for version in '1.2.3', 'v1.2.3':
            subprocess.run(command, env=environment | {'BFSIM_JOB_VERSION': version}, check=True)
            shutil.rmtree(work + '/there')
        done = subprocess.run(command, env=environment | {'BFSIM_JOB_VERSION': '1.2.4'}, stderr=subprocess.PIPE, text=True)
        assert done.returncode != 0 and 'there is no release 1.2.4' in done.stderr
        assert not os.path.exists(work + '/there/bfsim')
        with open(f'{work}/v1.2.3/{name}.tar.gz', 'ab') as file:
            file.write(b'more')
        done = subprocess.run(command, env=environment | {'BFSIM_JOB_VERSION': '1.2.3'}, stderr=subprocess.PIPE, text=True)
        assert done.returncode != 0 and 'checksum' in done.stderr and not os.path.exists(work + '/there/bfsim')


def test_workflows(source, environment):
    """What the repository runs itself is pinned, and a release has the files that the job fetches."""
    del environment
    text = (source / '.github' / 'workflows' / 'release.yml').read_text()
    for job in yaml.safe_load(text)['jobs'].values():
        for step in job['steps']:
            assert 'uses' not in step or re.search(r'@[0-9a-f]{40}$', step['uses']), step
    assert 'ci/package release ' in text
    made, fetched = (source / 'ci/packages/release.sh').read_text(), (source / 'share/ci/bfsim-job').read_text()
    assert 'SHA256SUMS-$machine' in made and 'SHA256SUMS-$(uname -m)' in fetched


def test_component(source, installed, environment):
    head, body = (source / 'templates' / 'bfsim.yml').read_text().split('\n---\n')
    known = yaml.safe_load(head)['spec']['inputs']
    (include,) = yaml.safe_load((source / 'share' / 'ci' / 'gitlab-ci.yml').read_text())['include']
    inputs = {name: entry['default'] for name, entry in known.items()} | include['inputs']
    assert set(inputs) == set(known)
    assert '$[[ component.sha ]]' in yaml.safe_load(re.sub(r'\$\[\[ inputs[^]]*\]\]', 'x', body))['x']['cache']['key'], 'a cache of another commit'
    body = re.sub(r'\$\[\[ inputs\.([\w-]+) \]\]', lambda match: inputs[match.group(1)].replace("'", "''"), body)
    commit = subprocess.run(['git', '-C', source, 'rev-parse', 'HEAD'], stdout=subprocess.PIPE, text=True).stdout.strip()
    body = body.replace('$[[ component.sha ]]', commit).replace(include['inputs']['repository'], str(source))
    ((name, template),) = yaml.safe_load(body).items()
    assert name == 'bfsim'
    with tempfile.TemporaryDirectory() as work:
        repository = pathlib.Path(work) / 'repository'
        shutil.copytree(source / 'tests' / 'apps' / 'comch_hello', repository)
        (repository / '.bfsim').symlink_to(installed)
        # What before_script clones is the commit that the component was pinned to.
        if commit:
            clone = '\n'.join(line for line in template['before_script'] if not line.startswith('apt-get'))
            subprocess.run(['bash', '-eo', 'pipefail', '-c', clone], cwd=repository, check=True, env=environment)
            head = ['git', '-C', repository / '.bfsim-source', 'rev-parse', 'HEAD']
            assert subprocess.run(head, stdout=subprocess.PIPE, text=True).stdout.strip() == commit
            shutil.rmtree(repository / '.bfsim-source')
        (repository / '.bfsim-source').symlink_to(source)
        variables = {key: value['value'] if isinstance(value, dict) else value.replace('$CI_PROJECT_DIR', str(repository))
                     for key, value in template['variables'].items()}
        subprocess.run(['bash', '-eo', 'pipefail', '-c', '\n'.join(template['script'])], cwd=repository, check=True,
                       env=environment | variables)
        assert template['artifacts']['paths'] == ['bfsim-results']
        for report in template['artifacts']['reports']['junit'][1:] + ['bfsim-results/report.html']:
            assert (repository / report).exists(), report


def main(build, source):
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(['meson', 'install', '-C', build, '--no-rebuild', '--destdir', work], check=True,
                       stdout=subprocess.DEVNULL)
        (command,) = glob.glob(work + '/**/bin/bfsim', recursive=True)
        installed = pathlib.Path(command).parents[1]
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(('BFSIM_', 'LD_LIBRARY', 'GITHUB_'))}
        for test in test_action, test_release, test_component:
            test(pathlib.Path(source), installed, environment)
        for test in test_inputs_of_tests, test_missing_tools, test_key, test_workflows:
            test(pathlib.Path(source), environment)


if __name__ == '__main__':
    main(*sys.argv[1:])
