#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The report and the coverage page in a real browser: what a reader sees at three widths, and whether it is what --json says.

    test_pages.py BFSIM BENCH_PROBE HELLO_HOST HELLO_DPU

Without a browser the test is skipped (status 77); with BFSIM_REQUIRE_BROWSER=1 it fails, as in ci/test, which installs one.
With BFSIM_SCREENSHOTS=DIR, pictures of the pages go there.
"""
import decimal
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402

WIDTHS = (420, 800, 1400)
LAYOUT = (pathlib.Path(__file__).parent / 'layout.js').read_text(encoding='utf-8')
BFSIM, PROBE, HELLO_HOST, HELLO_DPU = (os.path.realpath(path) for path in sys.argv[1:5])

# The texts of a table's cells, row by row, as they are laid out.
TABLE = '''[...document.querySelectorAll('[aria-label="%s"] tbody tr')].map(r => [...r.cells].map(c => c.innerText.trim()))'''
TILES = '''Object.fromEntries([...document.querySelectorAll('dl div')].map(d => [d.querySelector('dt').innerText, d.querySelector('dd').innerText]))'''
# Each plot: title, caption, tooltips and heights (in thousandths) of its bars, marks with their positions in percent.
PLOTS = '''[...document.querySelectorAll('figure')].map(f => ({
	title: f.querySelector('figcaption b').innerText, caption: f.querySelector('figcaption').innerText,
	bars: [...f.querySelectorAll('rect')].map(r => [r.querySelector('title').textContent, +r.getAttribute('height'),
		r.getBoundingClientRect().height / f.querySelector('svg').getBoundingClientRect().height]),
	marks: [...f.querySelectorAll('.mark')].map(m => [m.innerText.trim(), m.title,
		(m.getBoundingClientRect().left - f.querySelector('.plot').getBoundingClientRect().left) / f.querySelector('.plot').clientWidth]),
	labels: [...f.querySelectorAll('.x span')].map(s => s.innerText)}))'''
CHAPTERS = '''[...document.querySelectorAll('section')].map(s => [s.id, s.querySelector('.sum').innerText.replace(/\\u00a0/g, ' '),
	[...s.querySelectorAll('tbody tr')].filter(r => !r.hidden && !s.hidden).map(r => [...r.cells].map(c => c.textContent))])'''

TIME_UNITS = (' ns', ' µs', ' ms', ' s')


def human(value, units):
    """Three digits and a unit, as the page's numbers: half of the last digit is rounded up."""
    value, unit = decimal.Decimal(value), 0
    while unit + 1 < len(units) and value >= 1000:
        value, unit = value / 1000, unit + 1
    step = decimal.Decimal('1') if unit == 0 or value >= 100 else decimal.Decimal('0.1') if value >= 10 else decimal.Decimal('0.01')
    value = value.quantize(step, decimal.ROUND_HALF_UP)
    if unit + 1 < len(units) and value >= 1000:
        value, unit = value / 1000, unit + 1
    digits = 0 if unit == 0 or value >= 100 else 1 if value >= 10 else 2
    return f'{value:.{digits}f}{units[unit]}'


def either(value, to_text):
    """What the page may show of a value that was rounded down to a whole number."""
    return {to_text(value), to_text(value + 0.5), to_text(value + 1)}


def figure_text(key, value):
    if key.endswith('_bytes_per_s'):
        return human(value, (' B/s', ' kB/s', ' MB/s', ' GB/s', ' TB/s'))
    units = {'bytes': (' B', ' kB', ' MB', ' GB'), 'rate_per_s': ('', ' k', ' M', ' G')}
    return human(value, TIME_UNITS if key.endswith('_ns') else units[key]) if key.endswith('_ns') or key in units else str(value)


def figure_cells(key, figure):
    """Before, now, difference and ratio of a figure of a comparison, as its page has them."""
    difference, ratio = figure['difference'], figure['ratio']
    sign = '' if not difference else '+' if difference > 0 else '\u2212'
    digits = 0 if ratio is None else 3 if ratio < 0.095 else 2 if ratio < 9.995 else 1 if ratio < 99.95 else 0
    return [*('–' if figure[side] is None else figure_text(key, figure[side]) for side in ('before', 'now')),
            '–' if difference is None else sign + figure_text(key, abs(difference)),
            '–' if ratio is None else f'{ratio:.{digits}f}']


def run(*command, cwd):
    return subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE, text=True).stdout


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='bfsim-pages-'))
        for name in ('BFSIM_SESSION', 'BFSIM_SIDE', 'BFSIM_LOG_LEVEL', 'BFSIM_TRACE'):
            os.environ.pop(name, None)
        os.environ['XDG_RUNTIME_DIR'] = os.environ['TMPDIR'] = cls.work
        cls.browser = cls.enterClassContext(browser.Browser())

    def open(self, page):
        path = pathlib.Path(self.work, page)
        opened = self.browser.open(path)
        self.addCleanup(lambda: self.assertEqual((opened.complaints(), opened.requests()), ([], [])))
        return opened

    def check_layout(self, page, name):
        """Nothing is cut at any width; pictures, if they are wanted."""
        for width in WIDTHS:
            page.set_width(width)
            self.assertEqual(page.evaluate(LAYOUT), [], f'{name} at {width} pixels')
            if os.environ.get('BFSIM_SCREENSHOTS'):
                page.save_screenshot(pathlib.Path(os.environ['BFSIM_SCREENSHOTS'], f'{name}-{width}.png'))

    def report(self, name, *options):
        """A run, the page that it writes, and the figures that --json gives of the same run."""
        run(BFSIM, 'run', '--quiet', '--allow-unused-faults', '--report', f'{name}-run.html', '--trace', f'{name}.bfsim', '--trace-level', 'full', *options,
            cwd=self.work)
        run(BFSIM, 'report', f'{name}.bfsim', '-o', f'{name}.html', cwd=self.work)
        figures = json.loads(run(BFSIM, 'report', f'{name}.bfsim', '--json', cwd=self.work))
        self.check_layout(self.open(f'{name}-run.html'), f'{name}-run')
        page = self.open(f'{name}.html')
        self.check_layout(page, name)
        return page, figures

    # ---- the report ----

    def expect_table(self, page, label, rows):
        for width in (WIDTHS[0], WIDTHS[-1]):
            page.set_width(width)
            self.assertEqual(page.evaluate(TABLE % label), [[str(cell) for cell in row] for row in rows], f'{label} at {width}')

    def expect_tiles(self, page, figures):
        tasks = [op for op in figures['operations'] if 'completed' in op]
        expected = {
            'Clock': figures['clock'], 'Processes': len(figures['processes']),
            'Tasks completed': sum(op['completed'] for op in tasks), 'Tasks failed': sum(op['failed'] for op in tasks),
            'Messages recorded': sum(op['recorded'] for op in figures['operations'] if op['operation'] == 'message'),
            'Faults injected': len(figures['faults']), 'Warnings and errors': len(figures['warnings'])}
        tiles = page.evaluate(TILES)
        self.assertEqual({name: tiles[name] for name in expected}, {name: str(value) for name, value in expected.items()})

    def expect_tables(self, page, figures):
        processes = {p['pid']: f'{p["side"]}: {p["program"]} ({p["pid"]})' for p in figures['processes']}
        self.expect_table(page, 'Cards', [[c['name'], c['model'], c['link'], c['mode']] for c in figures['cards']])
        self.expect_table(page, 'Processes', [
            [p['side'], p['program'], p['paths'] or '–', p['level'], p['pid'], p['records'], p['lost_records']]
            for p in figures['processes']])
        self.expect_table(page, 'Latency of each operation', [
            [processes[op['pid']], op['context'], op['operation'], op.get('completed', op['recorded']) + op.get('failed', 0),
             op.get('failed', op['recorded_failed']), op['timed'],
             *(human(op['latency_ns'][p], TIME_UNITS) if op['timed'] else '–' for p in ('p50', 'p90', 'p99', 'p99.9', 'max'))]
            for op in figures['operations']])
        if figures['faults']:
            self.expect_table(page, 'Hits of faults', [
                [human(f['time_ns'] - figures['first_ns'], TIME_UNITS), f['rule'], processes[f['pid']], f['context'], f['operation'],
                 f['match'], human(f['bytes'], (' B', ' kB', ' MB')),
                 human(f['delay_ns'], TIME_UNITS) if f['delay_ns'] else '–'] for f in figures['faults']])

    def expect_bars(self, plot, values, to_texts):
        """A bar for each value that is not 0, as high as its share of the largest, whose tooltip ends with the number."""
        top, shown = max(values), [value for value in values if value]
        self.assertEqual(len(plot['bars']), len(shown), plot['title'])
        for (tooltip, height, drawn), value in zip(plot['bars'], shown):
            self.assertIn(tooltip.rpartition(': ')[2], to_texts(value), tooltip)
            self.assertAlmostEqual(height / 1000, max(value / top, 0.01), delta=0.002)
            self.assertAlmostEqual(drawn, max(value / top, 0.01), delta=0.01)

    def expect_plots(self, page, figures):
        plots = page.evaluate(PLOTS)
        slice_ns, length_ns = figures['slice_ns'], figures['slice_ns'] * 60
        for op in sorted(figures['operations'], key=lambda op: -op['recorded']):
            latency = plots.pop(0)
            self.assertIn(f'of {op["timed"]} ' if op['timed'] > 1 else 'of one ', latency['caption'])
            self.expect_bars(latency, [b['count'] for b in op['histogram']], lambda n: {human(n, ('', ' k', ' M'))})
            self.assertEqual([m[:2] for m in latency['marks']], [
                [p, f'{p}: {human(op["latency_ns"][p], TIME_UNITS)}'] for p in ('p50', 'p99')])
            self.assertLessEqual(latency['marks'][0][2], latency['marks'][1][2])
            throughput = plots.pop(0)
            if sum(op['bytes_by_slice']):
                rates = [b * 10**9 // slice_ns for b in op['bytes_by_slice']]
                units = (' B/s', ' kB/s', ' MB/s', ' GB/s')
                self.assertIn(re.search('at most (.*?),', throughput['caption'])[1], either(max(rates), lambda n: human(n, units)))
                self.expect_bars(throughput, rates, lambda n: either(n, lambda n: human(n, units)))
            faults = [f for f in figures['faults'] if (f['pid'], f['context']) == (op['pid'], op['context'])]
            self.assertEqual(len(throughput['marks']), len({(f['time_ns'] - figures['first_ns']) // slice_ns for f in faults}))
            for mark, fault in zip(throughput['marks'], faults):
                self.assertAlmostEqual(mark[2], (fault['time_ns'] - figures['first_ns']) / length_ns, delta=0.005)
            if max(op.get('in_flight_by_slice', [0])):
                depth = plots.pop(0)
                self.assertIn(f'at most {max(op["in_flight_by_slice"])} in flight', depth['caption'])
                self.expect_bars(depth, op['in_flight_by_slice'], lambda n: {human(n, ('', ' k'))})
        for way in (link[name] for link in figures['links'] for name in ('to_card', 'to_host')):
            if way['bytes']:
                link = plots.pop(0)
                self.assertIn(human(way['payload_bps'], (' b/s', ' kb/s', ' Mb/s', ' Gb/s')), link['caption'])
        self.assertEqual(plots, [])

    def check_figures(self, page, figures):
        page.set_width(WIDTHS[-1])
        self.expect_tiles(page, figures)
        self.expect_tables(page, figures)
        page.set_width(WIDTHS[0])
        self.expect_plots(page, figures)

    def test_report_of_copies_with_faults(self):
        page, figures = self.report(
            'copies', '--clock', 'virtual', '--fault', 'dma.memcpy nth=40 delay=200us', '--fault', 'dma.memcpy nth=9999 hang',
            '--host', f'exec {PROBE} export d 1048576', '--dpu', f'exec {PROBE} read d 65536 16 1 256')
        self.assertEqual(len(figures['faults']), 1)
        self.check_figures(page, figures)

    def test_report_of_messages_and_long_names(self):
        name = 'a_program_whose_name_is_as_long_as_the_names_of_programs_that_people_write'
        os.symlink(HELLO_DPU, pathlib.Path(self.work, name))
        page, figures = self.report('messages', '--host', HELLO_HOST, '--dpu', './' + name)
        self.assertTrue(any(op['operation'] == 'message' for op in figures['operations']))
        self.check_figures(page, figures)

    # ---- two runs ----

    def compare(self, before, now):
        """The page that compares two runs of report(), and its figures as --json gives them."""
        name = f'{before}-{now}'
        figures = json.loads(run(BFSIM, 'report', '--compare', f'{before}.bfsim', f'{now}.bfsim', '--json', cwd=self.work))
        run(BFSIM, 'report', '--compare', f'{before}.bfsim', f'{now}.bfsim', '-o', f'{name}.html', cwd=self.work)
        page = self.open(f'{name}.html')
        self.check_layout(page, name)
        return page, figures

    def expect_figures(self, page, label, tables):
        """Tables of figures, in their order: the text of each number, of its difference and of its ratio is that of --json."""
        rows = iter(page.evaluate(TABLE % label))
        for figures in tables:
            for key, figure in figures.items():
                title, *cells = next(rows)
                self.assertEqual(cells, figure_cells(key, figure), (label, title))
        self.assertEqual(list(rows), [])

    def expect_latency_pairs(self, page, pairs):
        plots = page.evaluate(PLOTS)
        self.assertEqual(len(plots), len(pairs))
        for plot, pair in zip(plots, pairs):
            sides = [[b[side] / pair['figures']['timed'][side] for b in pair['histogram'] if b[side]] for side in ('before', 'now')]
            top, bars = max(max(side) for side in sides), plot['bars']
            self.assertEqual([b[0].split(', ')[0] for b in bars], ['before'] * len(sides[0]) + ['now'] * len(sides[1]))
            for (tooltip, height, drawn), share in zip(bars, sides[0] + sides[1]):
                self.assertAlmostEqual(height / 1000, max(share / top, 0.01), delta=0.002)
                self.assertAlmostEqual(drawn, max(share / top, 0.01), delta=0.01)
                if share >= 0.01:
                    self.assertAlmostEqual(float(tooltip.split(': ')[1].split()[0]), share * 100, delta=0.1)
            marks = [(f'{p} {side}', pair['figures'][f'{p}_ns'][side]) for p in ('p50', 'p99') for side in ('before', 'now')]
            self.assertEqual([m[:2] for m in plot['marks']], [[m, f'{m}: {human(ns, TIME_UNITS)}'] for m, ns in marks])
            places = [place for _, place in sorted(zip((ns for _, ns in marks), (m[2] for m in plot['marks'])))]
            self.assertEqual(places, sorted(places))  # on one axis

    def check_comparison(self, page, figures):
        page.set_width(WIDTHS[-1])
        pairs = [op for op in figures['operations'] if op['before'] and op['now']]
        self.expect_figures(page, 'Run', [figures['run']])
        self.expect_figures(page, 'Operation', [pair['figures'] for pair in pairs])
        self.expect_latency_pairs(page, pairs)
        names = {json.dumps(side): f'{side["side"]}: {side["program"]} ({side["pid"]})'
                 for pair in figures['processes'] for side in (pair['before'], pair['now']) if side}
        self.expect_table(page, 'Processes', [
            [cell for side in (pair['before'], pair['now'])
             for cell in ([names[json.dumps(side)], side['paths'] or '–', side['level']] if side else '–––')]
            for pair in figures['processes']])
        if figures['differences']:
            self.expect_table(page, 'Differences', [[d['of'], d['before'], d['now']] for d in figures['differences']])
        if figures['faults']:
            self.expect_table(page, 'Faults', [[f['rule'], *figure_cells('count', f)] for f in figures['faults']])
        singles = [('now' if op['now'] else 'before', op) for op in figures['operations'] if not (op['before'] and op['now'])]
        if singles:
            self.expect_table(page, 'Operations of one run', [
                [run, f'{op[run]["side"]}: {op[run]["program"]} ({op[run]["pid"]})', op[run]['context'], op['operation'],
                 op['figures']['ended'][run], op['figures']['failed'][run],
                 *(human(op['figures'][p][run], TIME_UNITS) if p in op['figures'] else '–' for p in ('p50_ns', 'p99_ns'))]
                for run, op in singles])
        return pairs, singles

    def test_two_runs_side_by_side(self):
        host, copy = f'exec {PROBE} export {{}} {{}}', f'exec {PROBE} read {{}} {{}} 16 1 256'
        self.report('small', '--clock', 'virtual', '--fault', 'dma.memcpy nth=7 delay=90us', '--host', host.format('s', 65536), '--dpu', copy.format('s', 4096))
        self.report('large', '--clock', 'virtual', '--fault', 'dma.memcpy nth=40 delay=200us', '--host', host.format('l', 1048576), '--dpu', copy.format('l', 65536),
                    '--dpu', HELLO_DPU, '--host', HELLO_HOST)
        page, figures = self.compare('small', 'large')
        pairs, singles = self.check_comparison(page, figures)
        copies, = (pair for pair in pairs if pair['operation'] == 'DMA memcpy')
        self.assertEqual((copies['figures']['bytes']['ratio'], copies['figures']['ended']['difference']), (16, 0))
        self.assertIn('message', [op['operation'] for _, op in singles])
        self.assertEqual([(f['before'], f['now']) for f in figures['faults']], [(1, None), (None, 1)])
        page, figures = self.compare('large', 'large')
        pairs, singles = self.check_comparison(page, figures)
        self.assertEqual((figures['differences'], singles), ([], []))
        self.assertTrue(all(f['difference'] == 0 for pair in pairs for f in pair['figures'].values()))

    # ---- the coverage ----

    def test_coverage(self):
        pathlib.Path(self.work, 'coverage.html').write_text(run(BFSIM, 'coverage', '--html', cwd=self.work), encoding='utf-8')
        functions = json.loads(run(BFSIM, 'coverage', '--json', cwd=self.work))
        page = self.open('coverage.html')
        self.check_layout(page, 'coverage')
        libraries = sorted({f['library'] for f in functions})
        chapters = page.evaluate(CHAPTERS)
        self.assertEqual([c[0] for c in chapters], libraries)
        for library, total, rows in chapters:
            of_library = [f for f in functions if f['library'] == library]
            states = [f['state'] for f in of_library]
            counts = ', '.join(f'{states.count(s)} {s}' for s in ('works', 'untested', 'partly', 'NOT_SUPPORTED', 'missing') if s in states)
            self.assertEqual(total, f'{len(states)} functions: {counts}')
            self.assertEqual([[*row[:3], row[4]] for row in rows],
                             [[f['function'], f['state'], f['releases'], f['difference'] or ''] for f in of_library])
        self.check_search(page, functions)

    def check_search(self, page, functions):
        page.evaluate('''(q => { q.value = 'dma missing'; q.dispatchEvent(new Event('input')) })(document.getElementById('q'))''')
        found = [row[0] for _, _, rows in page.evaluate(CHAPTERS) for row in rows]
        self.assertEqual(found, [f['function'] for f in sorted(functions, key=lambda f: (f['library'], f['function']))
                                 if f['state'] == 'missing' and ('dma' in f['function'] or 'dma' in f['library'])])
        self.assertTrue(found)


if __name__ == '__main__':
    if not browser.find_program():
        print('there is no browser: install Debian\'s package chromium')
        sys.exit(1 if os.environ.get('BFSIM_REQUIRE_BROWSER') == '1' else 77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
