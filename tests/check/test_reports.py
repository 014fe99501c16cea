#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reports of the checker, as files, and mutes.

    test_reports.py BFSIM BREAKER
"""
import csv
import datetime
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import sarif_shape

RULE = 'BFC-TASK-001'
TIMEOUT_S = 60


def run(*command, status=0, **env):
    """Run a command; its standard error."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith('BFSIM_CHECK')}
    done = subprocess.run(command, env=clean | env, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == status, f'{command}: status {done.returncode}, not {status}:\n{done.stderr}'
    return done.stderr


def bfsim_run(words, *options, status=70, **env):
    return run(BFSIM, 'run', '--check', *options, '--dpu', f'{BREAKER} {words}', status=status, **env)


def bare(words, *, status=0, **env):
    return run(BREAKER, *words.split(), status=status, BFSIM_CHECK='api', BFSIM_SIDE='dpu', **env)


def load(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def mutes(*entries):
    write('mutes.yaml', 'mutes:\n' + ''.join(f'  - {entry}\n' for entry in entries))
    return 'mutes.yaml'


def says(pattern, text):
    assert re.search(pattern, text, re.M), f'nothing matches {pattern}:\n{text}'


def silent(pattern, text):
    assert not re.search(pattern, text, re.M), f'{pattern} matches:\n{text}'


# ---- formats ----

def test_json_has_all_hits_and_counts():
    bfsim_run('first second first', '--check-report', 'r.json')
    report = load('r.json')
    assert report['version'] == 1 and report['complete'] and report['mode'] == 'api'
    assert [hit['count'] for hit in report['hits']] == [2, 1]
    hit = report['hits'][0]
    assert hit['rule'] == RULE and hit['stack'][0]['function'] == 'break_rule' and hit['process']['side'] == 'dpu'


def test_json_of_a_clean_run_is_complete_and_empty():
    bfsim_run('ok', '--check-report', 'r.json', status=0)
    report = load('r.json')
    assert report['complete'] and report['hits'] == []


def test_sarif_shows_hits_at_their_lines():
    os.mkdir('.git')  # the source root; the program's sources are elsewhere
    bfsim_run('first second', '--check-report', 'r.sarif')
    log = load('r.sarif')
    sarif_shape.check(log)
    results = log['runs'][0]['results']
    lines = [result['locations'][0]['physicalLocation']['region']['startLine'] for result in results]
    assert len(results) == 2 and lines[1] == lines[0] + 2, lines
    where = results[0]['locations'][0]['physicalLocation']['artifactLocation']
    assert where['uri'].startswith('file:///') and where['uri'].endswith('/tests/check/breaker.c'), where
    assert '/../' not in where['uri']
    assert results[0]['ruleId'] == RULE and results[0]['level'] == 'error'
    assert results[0]['relatedLocations'] and len(results[0]['stacks']) > 1


def test_sarif_paths_below_the_source_root_are_relative():
    source = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(source))
    target = os.path.join(os.getcwd(), 'r.sarif')
    directory = os.getcwd()
    os.chdir(source)
    try:
        bfsim_run('first', '--check-report', target)
    finally:
        os.chdir(directory)
    run_of = load(target)['runs'][0]
    where = run_of['results'][0]['locations'][0]['physicalLocation']['artifactLocation']
    if not os.path.exists(os.path.join(root, '.git')):  # a source tree without a repository: the working directory
        root = source
    assert where['uri'] == os.path.relpath(os.path.join(source, 'breaker.c'), root), where
    assert run_of['originalUriBaseIds'][where['uriBaseId']]['uri'] == f'file://{root}/'


def test_junit_fails_for_rules_that_were_hit():
    bfsim_run('first', '--check-report', 'r.xml')
    suite = xml.etree.ElementTree.parse('r.xml').getroot().find('testsuite')
    cases = {case.get('name').split()[0]: case for case in suite.findall('testcase')}
    rules = json.loads(subprocess.run([BFSIM, 'rules', '--json'], capture_output=True, check=True).stdout)['rules']
    assert set(cases) == {rule['id'] for rule in rules} and int(suite.get('tests')) == len(cases)
    assert suite.get('failures') == '1' and suite.get('errors') == '0'
    failure = cases[RULE].find('failure')
    assert 'break_rule' in failure.text and failure.get('type') == 'error'


def test_junit_has_no_failure_when_nothing_counts():
    bfsim_run('first', '--check-report', 'r.xml', '--check-fail', 'none', status=0)
    suite = xml.etree.ElementTree.parse('r.xml').getroot().find('testsuite')
    assert suite.get('failures') == '0' and suite.find('.//system-out') is not None


# ---- mistakes, crashes ----

def test_mistakes_end_the_command_before_programs_start():
    never = 'exit=9'
    says(r"--check-report r.html: the name must end in \.json, \.sarif", bfsim_run(never, '--check-report', 'r.html', status=2))
    says('cannot write .*/nowhere/r.json: No such file', bfsim_run(never, '--check-report', './nowhere/r.json', status=2))
    says('Is a directory', bfsim_run(never, '--check-report', make_directory('d.json'), status=2))
    says('give --check, too', run(BFSIM, 'run', '--check-report', 'r.json', '--dpu', 'true', status=2))


def make_directory(name):
    os.mkdir(name)
    return name


def test_killed_programs_leave_what_was_found():
    for word, number in (('kill', signal.SIGKILL), ('segv', signal.SIGSEGV)):
        bfsim_run(f'first {word}', '--check-report', f'{word}.json', status=128 + number)
        report = load(f'{word}.json')
        assert [hit['rule'] for hit in report['hits']] == [RULE] and report['complete']


def test_killed_bare_programs_leave_what_was_found():
    for word, number in (('kill', signal.SIGKILL), ('segv', signal.SIGSEGV)):
        bare(f'first second {word}', status=-number, BFSIM_CHECK_REPORT=f'{word}.json')
        report = load(f'{word}.json')
        assert len(report['hits']) == 2 and not report['complete']
        bare(f'first {word}', status=-number, BFSIM_CHECK_REPORT=f'{word}.sarif')
        sarif_shape.check(load(f'{word}.sarif'))
        bare(f'first {word}', status=-number, BFSIM_CHECK_REPORT=f'{word}.xml')
        suite = xml.etree.ElementTree.parse(f'{word}.xml').getroot().find('testsuite')
        assert suite.get('errors') == '1' and suite.get('failures') == '0'
    assert not glob.glob('*.tmp')


def test_bare_programs_write_reports():
    bare('first first', BFSIM_CHECK_REPORT='r-%p.json')
    (path,) = glob.glob('r-*.json')
    report = load(path)
    assert report['complete'] and report['hits'][0]['count'] == 2
    assert path == f'r-{report["hits"][0]["process"]["pid"]}.json'


def test_a_forked_child_has_a_report_of_its_own():
    bare('first fork second', BFSIM_CHECK_REPORT='r.json')
    (child,) = glob.glob('r.*.json')
    parent_hits, child_hits = load('r.json')['hits'], load(child)['hits']
    assert len(parent_hits) == 1 and len(child_hits) == 1
    assert child == f'r.{child_hits[0]["process"]["pid"]}.json'


def test_bare_programs_say_why_there_is_no_report():
    says(r'BFSIM_CHECK_REPORT=r.txt: the name must end in', bare('first', BFSIM_CHECK_REPORT='r.txt'))
    says('BFSIM_CHECK_REPORT: cannot write .*nowhere/r.json: No such file', bare('ok', BFSIM_CHECK_REPORT='nowhere/r.json'))


def test_bare_programs_fail_when_asked():
    bare('first', status=70, BFSIM_CHECK_FAIL='error')
    bare('first', status=70, BFSIM_CHECK_FAIL='hint')
    bare('first', status=0, BFSIM_CHECK_FAIL='none')
    bare('ok', status=0, BFSIM_CHECK_FAIL='error')
    bare('first exit=3', status=3, BFSIM_CHECK_FAIL='error')
    says('BFSIM_CHECK_FAIL=no: give error', bare('first', status=70, BFSIM_CHECK_FAIL='no'))


# ---- traces, reports of a run, commands ----

def test_hits_are_events_of_traces():
    bfsim_run('first second first', '--trace', 't.json')
    bfsim_run('first second first', '--trace', 't.csv')
    hits = [event for event in load('t.json')['traceEvents'] if event.get('cat') == 'check']
    assert [hit['name'] for hit in hits] == [RULE, RULE] and 'context is stopping' in hits[0]['args']['text']
    with open('t.csv', encoding='utf-8') as file:
        rows = [row for row in csv.DictReader(file) if row['event'] == 'hit']
    assert len(rows) == 2 and rows[0]['status'] == RULE and 'context is stopping' in rows[0]['text']


def test_hits_are_in_the_page_of_a_run():
    bfsim_run('first', '--report', 'page.html', '--trace', 't.bfsim')
    run(BFSIM, 'report', 't.bfsim', '-o', 'again.html')
    for name in ('page.html', 'again.html'):
        with open(name, encoding='utf-8') as file:
            page = file.read()
        data = json.loads(re.search(r'id="bfsim-report">(.*?)</script>', page, re.S)[1])
        assert [(hit['rule'], hit['severity']) for hit in data['hits']] == [(RULE, 'error')], data['hits']
        assert 'Rules that were broken' in page and 'the dma context is stopping' in page
        assert data['hits'][0]['remedy'] and data['hits'][0]['remedy'].split(',')[0] in page and 'Rules broken</dt><dd class="bad">1' in page
        # A trace has no source lines.
        assert re.fullmatch(r'breaker\.c:\d+' if name == 'page.html' else '', os.path.basename(data['hits'][0]['place']))
        assert data['hits'][0]['place'] in page
        ended = 'Ended with status 70: the checker found <a href="#hits">1 broken rule</a>.'
        assert (ended in page) == (name == 'page.html')
    bfsim_run('ok', '--report', 'clean.html', status=0)
    with open('clean.html', encoding='utf-8') as file:
        page = file.read()
        assert 'Rules that were broken' not in page and 'Rules broken</dt><dd>0' in page


def test_stats_and_ps_show_the_checker():
    run(BFSIM, 'up', '--session', 's')
    try:
        start = [BFSIM, 'exec', '--session', 's', '--on', 'dpu']
        run(*start, '--check', '--', BREAKER, 'first', 'second', status=70)
        says(rf'dpu +breaker +no +{RULE} +2$', output(BFSIM, 'stats', '--session', 's'))
        stats = json.loads(output(BFSIM, 'stats', '--session', 's', '--json'))
        assert stats['processes'][0]['hits'] == {RULE: 2}
        for options, shown in ([], '-'), (['--check'], 'api'), (['--check=races'], 'races: plain'):
            with subprocess.Popen([*start, *options, '--', BREAKER, 'ok', 'wait'], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as program:
                assert program.stdout.readline() == 'waiting\n'
                says(rf' breaker +\d+ +\d+ +{shown}$', output(BFSIM, 'ps', '--session', 's'))
                (process,) = json.loads(output(BFSIM, 'ps', '--session', 's', '--json'))['processes']
                assert process['check'] == shown.strip('-'), process
                program.communicate('\n')
    finally:
        run(BFSIM, 'down', '--session', 's')


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True).stdout


# ---- mutes ----

def test_muted_hits_do_not_count_and_are_reported_as_muted():
    file = mutes('{rule: submit-not-running, site: {function: "break_*"}, reason: known}')
    for extension in ('json', 'sarif', 'xml'):
        err = bfsim_run('first first', '--check-mutes', file, '--check-report', f'r.{extension}', status=0)
        says('no rule was broken', err)
        says('muted: 2 hits', err)
        silent('submit-not-running|muted nothing', err)
    assert load('r.json')['hits'][0]['muted'] == {'reason': 'known', 'line': 2}
    log = load('r.sarif')
    sarif_shape.check(log)
    assert log['runs'][0]['results'][0]['suppressions'] == [{'kind': 'external', 'justification': 'known'}]
    assert xml.etree.ElementTree.parse('r.xml').getroot().find('testsuite').get('failures') == '0'
    silent(RULE, bare('first', BFSIM_CHECK_MUTES=file, BFSIM_CHECK_FAIL='error'))


def test_mutes_match_rule_function_file_line_and_object():
    bfsim_run('first', '--check-report', 'r.json')
    frame = load('r.json')['hits'][0]['stack'][0]
    matching = ['function: main', 'file: breaker.c', 'file: "check/breaker.c"', f'file: "breaker.c:{frame["line"]}"',
                'object: dma', 'function: main, object: "d*", file: breaker.c']
    for site in matching:
        bfsim_run('first', '--check-mutes', mutes(f'{{rule: "*", site: {{{site}}}, reason: known}}'), status=0)
    for site in ('function: other', 'file: reaker.c', 'file: "breaker.c:1"', 'object: other',
                 f'function: main, file: "breaker.c:{frame["line"]}"'):
        err = bfsim_run('first', '--check-mutes', mutes(f'{{rule: {RULE}, site: {{{site}}}, reason: known}}'))
        says(r'mutes.yaml:2: the mute of BFC-TASK-001 muted nothing', err)


def test_expired_mutes_do_not_mute_and_are_named():
    today = datetime.date.today()
    day = datetime.timedelta(days=1)
    err = bfsim_run('first', '--check-mutes', mutes(f'{{rule: {RULE}, reason: was known, expires: {today - day}}}'))
    says(f'mutes.yaml:2: the mute of {RULE} expired on {today - day}.*was known', err)
    bfsim_run('first', '--check-mutes', mutes(f'{{rule: {RULE}, reason: known, expires: {today + day}}}'), status=0)


def test_bare_programs_name_unused_mutes():
    file = mutes(f'{{rule: {RULE}, reason: known}}')
    says('muted nothing', bare('ok', BFSIM_CHECK_MUTES=file))
    silent('muted nothing', bare('first', BFSIM_CHECK_MUTES=file))


WRONG_MUTES = [
    ('{rule: no-such-rule, reason: known}', 'rule: no rule is called "no-such-rule"'),
    (f'{{rule: {RULE}}}', 'reason: is missing'),
    (f'{{rule: {RULE}, reason: " "}}', 'reason: expected a text'),
    ('{reason: known}', 'rule: is missing'),
    ('{rule: "*", reason: known}', 'it would mute everything'),
    (f'{{rule: {RULE}, reason: known, expires: 2026-02-30}}', 'expires: "2026-02-30" is not a day'),
    (f'{{rule: {RULE}, reason: known, expires: soon}}', 'expires: "soon" is not a day'),
    (f'{{rule: {RULE}, reason: known, until: 2030-01-01}}', 'until: unknown field'),
    (f'{{rule: {RULE}, reason: known, site: {{line: 3}}}}', 'site.line: unknown field'),
    (f'{{rule: {RULE}, reason: known, site: main}}', 'site: expected a mapping'),
    (f'{{rule: {RULE}, reason: known, site: {{file: "a.c:x"}}}}', 'file: "x" is not a line number'),
    ('just text', 'mutes[1]: expected a mapping'),
    ('{rule: [', 'not YAML'),
]


def test_wrong_mutes_are_errors_with_their_line():
    for entry, message in WRONG_MUTES:
        file = mutes(f'{{rule: {RULE}, reason: known}}', entry)
        err = bfsim_run('exit=9', '--check-mutes', file, status=2)
        says(r'--check-mutes: mutes.yaml:[34]: .*' + re.escape(message), err)
        assert len(err.splitlines()) == 1, err
    says('BFSIM_CHECK_MUTES: mutes.yaml:[34]: .*not YAML.*nothing is muted', bare('ok', BFSIM_CHECK_MUTES=file))
    says('none.yaml: No such file', bfsim_run('exit=9', '--check-mutes', 'none.yaml', status=2))
    write('mutes.yaml', '- a\n')
    says('mutes.yaml:1: expected "mutes:"', bfsim_run('exit=9', '--check-mutes', 'mutes.yaml', status=2))


# ---- bfsim exec ----

def test_exec_takes_the_same_options():
    run(BFSIM, 'up', '--session', 's')
    try:
        start = [BFSIM, 'exec', '--session', 's', '--on', 'dpu', '--check', '--check-report', 'r.json']
        run(*start, '--', BREAKER, 'first', status=70)
        assert len(load('r.json')['hits']) == 1
        run(*start, '--check-fail', 'none', '--', BREAKER, 'first', status=0)
        file = mutes(f'{{rule: {RULE}, reason: known}}')
        silent(RULE, run(*start, '--check-mutes', file, '--', BREAKER, 'first', status=0))
        assert 'muted' in load('r.json')['hits'][0]
        says('cannot write .*nowhere', run(*start[:-1], 'nowhere/r.json', '--', BREAKER, 'exit=9', status=2))
        says('reason: is missing', run(*start, '--check-mutes', mutes(f'rule: {RULE}'), '--', BREAKER, 'exit=9', status=2))
    finally:
        run(BFSIM, 'down', '--session', 's')


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith('test_')]
    print(f'1..{len(tests)}')
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        problem = None
        with tempfile.TemporaryDirectory() as directory:
            os.chdir(directory)
            try:
                test()
            except Exception as error:  # pylint: disable=broad-except
                problem = f'{type(error).__name__}: {error}'
            os.chdir('/')
        failed += problem is not None
        print(f'{"not ok" if problem else "ok"} {number} {name}', flush=True)
        if problem:
            print('\n'.join('# ' + line for line in problem.splitlines()), flush=True)
    sys.exit(failed > 0)


if __name__ == '__main__':
    BFSIM, BREAKER = (os.path.abspath(path) for path in sys.argv[1:])
    main()
