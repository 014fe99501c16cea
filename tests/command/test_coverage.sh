#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim coverage: the state of functions, from facts and sources.
#
#   test_coverage.sh BFSIM BFSIMD SOURCES CLI_PEER       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
sources=$(realpath "$3")
use_bfsim "$1"

test_a_function_is_shown_with_its_tests() {
	status 0 bfsim coverage doca_dma_task_memcpy_alloc_init
	says '^doca_dma_task_memcpy_alloc_init \(libdoca_dma\): works$' out
	says '^  releases    2.5 .*3.0 3.3$' out
	for test in $(sed -n 's/^  tests  *//p' out); do
		grep -q doca_dma_task_memcpy_alloc_init "$sources/tests/$test"
	done
	status 0 bfsim coverage doca_buf_arr_get_gpu_handle
	says 'NOT_SUPPORTED$' out
	status 0 bfsim coverage doca_dma_set_ordered_completions
	says '^  difference  doca_dma_set_ordered_completions is allowed while' out
	status 0 bfsim coverage doca_workq_submit
	says '^  releases    .*2.2' out
}

test_a_function_that_is_missing_is_a_failure() {
	status 1 bfsim coverage doca_flow_init
	says 'no release .* has doca_flow_init|: missing$' out || says 'no release' err
	status 1 bfsim coverage doca_dma_task_memcpy_aloc_init
	says 'did you mean doca_dma_task_memcpy_alloc_init' err
}

test_libraries_and_patterns_choose() {
	status 0 bfsim coverage
	says '^libdoca_argp +[0-9]+ +0 +0 +0$' out
	status 0 bfsim coverage dma
	mv out dma
	status 0 bfsim coverage libdoca_dma
	cmp dma out
	status 0 bfsim coverage 'doca_dma_cap_*'
	says '^doca_dma_cap_task_memcpy_is_supported +works' out
	! grep -q doca_dma_create out
}

test_json_and_html_have_all_functions() {
	status 0 bfsim coverage --json
	mv out all.json
	status 0 bfsim coverage --html
	python3 - <<-'EOF2'
		import json, re
		functions = json.load(open('all.json'))
		assert len(functions) > 1000
		assert {f['state'] for f in functions} <= {'works', 'partly', 'NOT_SUPPORTED', 'missing'}
		for f in functions:
		    assert f['state'] != 'partly' or f['difference'] or f['releases'], f
		page = open('out').read()
		assert len(re.findall('<tr><td>', page)) == len(functions)
	EOF2
}

run_tests "$0" "$work"
