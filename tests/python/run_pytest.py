# SPDX-License-Identifier: BSD-3-Clause
"""Runs a file of tests by pytest, without the user's plugins and caches.  run_pytest.py FILE [ARGUMENT...]"""
import os
import sys

try:
    import pytest
except ImportError:
    sys.exit(f"{sys.executable} has no pytest: ci/deps test installs Debian's python3-pytest")

os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
sys.dont_write_bytecode = True
sys.exit(pytest.main(["-p", "no:cacheprovider", "-q", "-c", os.devnull, *sys.argv[1:]]))
