# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium, driven through the DevTools protocol over a pair of pipes: no port, no library besides Python's.

    with Browser() as browser:
        page = browser.open(path)
        page.set_width(420)
        page.evaluate('document.title')

Messages are JSON, each ended by a zero byte: Chromium reads them at descriptor 3 and writes them at descriptor 4. The
profile is a new directory, which is removed at the end together with the browser's processes.
"""
import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ('chromium', 'chromium-browser', 'google-chrome')
OPTIONS = ('--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
           '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--hide-scrollbars', '--remote-debugging-pipe')
PATIENCE_S = 60


def find_program():
    """The browser's path, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self):
        self._profile = tempfile.mkdtemp(prefix='bfsim-browser-')
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        self._received, self._number, self._events = b'', 0, []
        # The shell gives the pipes the numbers that the browser wants.
        self._process = subprocess.Popen(
            ['sh', '-c', f'exec "$@" 3<&{to_browser} 4>&{from_browser}', 'sh', find_program(), *OPTIONS,
             f'--user-data-dir={self._profile}', 'about:blank'],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, env={**os.environ, 'HOME': self._profile})
        os.close(to_browser)
        os.close(from_browser)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call('Browser.close')
            self._process.wait(PATIENCE_S)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    def _receive(self, deadline):
        while b'\0' not in self._received:
            if not select.select([self._in], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f'the browser is silent for {PATIENCE_S} s')
            data = os.read(self._in, 1 << 20)
            if not data:
                raise OSError('the browser has ended')
            self._received += data
        message, _, self._received = self._received.partition(b'\0')
        return json.loads(message)

    def call(self, method, session=None, **params):
        """The result of a method; events that arrive meanwhile are kept."""
        self._number += 1
        message = {'id': self._number, 'method': method, 'params': params, **({'sessionId': session} if session else {})}
        os.write(self._out, json.dumps(message).encode() + b'\0')
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self._receive(deadline)
            if answer.get('id') == self._number:
                if 'error' in answer:
                    raise OSError(f'{method}: {answer["error"]["message"]}')
                return answer['result']
            self._events.append(answer)

    def wait_for(self, method, session):
        """The parameters of the first event of that name, which may have arrived already."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            for event in self._events:
                if event.get('method') == method and event.get('sessionId') == session:
                    self._events.remove(event)
                    return event['params']
            self._events.append(self._receive(deadline))

    def events_of(self, method, session):
        """The parameters of all events of that name until now."""
        return [e['params'] for e in self._events if e.get('method') == method and e.get('sessionId') == session]

    def open(self, path):
        return Page(self, pathlib.Path(path).resolve().as_uri())


class Page:
    def __init__(self, browser, url):
        self._browser = browser
        target = browser.call('Target.createTarget', url='about:blank')['targetId']
        self._session = browser.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log'):
            self._call(f'{domain}.enable')
        self._call('Page.navigate', url=url)
        browser.wait_for('Page.loadEventFired', self._session)

    def _call(self, method, **params):
        return self._browser.call(method, self._session, **params)

    def set_width(self, width, height=900):
        self._call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)

    def evaluate(self, expression):
        result = self._call('Runtime.evaluate', expression=expression, returnByValue=True)
        if 'exceptionDetails' in result:
            raise OSError(f'{expression[:200]}: {result["exceptionDetails"]}')
        return result['result'].get('value')

    def complaints(self):
        """Errors and warnings on the console, and exceptions, as texts."""
        events = self._browser.events_of
        return ([e['exceptionDetails']['text'] for e in events('Runtime.exceptionThrown', self._session)] +
                [e['entry']['text'] for e in events('Log.entryAdded', self._session) if e['entry']['level'] in ('error', 'warning')] +
                [str(e['args']) for e in events('Runtime.consoleAPICalled', self._session) if e['type'] in ('error', 'warning', 'assert')])

    def requests(self):
        """What the page has loaded besides itself."""
        return self.evaluate('performance.getEntriesByType("resource").map(r => r.name)')

    def save_screenshot(self, path, max_height=4000):
        """The whole page, up to that height."""
        height = self.evaluate('document.documentElement.scrollHeight')
        width = self.evaluate('document.documentElement.clientWidth')
        image = self._call('Page.captureScreenshot', captureBeyondViewport=True,
                           clip={'x': 0, 'y': 0, 'width': width, 'height': min(height, max_height), 'scale': 1})
        pathlib.Path(path).write_bytes(base64.b64decode(image['data']))
