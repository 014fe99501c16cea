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
	says '^  releases    2.5 .*3.0 3.1 3.3$' out
	for test in $(sed -n 's/^  tests  *//p' out); do
		grep -q doca_dma_task_memcpy_alloc_init "$sources/tests/$test"
	done
	status 0 bfsim coverage doca_buf_arr_get_gpu_handle
	says 'NOT_SUPPORTED$' out
	status 0 bfsim coverage doca_dma_set_ordered_completions
	says '^  difference  doca_dma_set_ordered_completions is allowed while' out
	status 0 bfsim coverage doca_devinfo_rep_get_host_index
	says '^doca_devinfo_rep_get_host_index \(libdoca_common\): works$' out
	says '^  releases    3.1 3.3$' out
	status 0 bfsim coverage doca_workq_submit
	says '^  releases    .*2.2' out
	status 0 bfsim coverage doca_rdma_task_receive_get_result_length
	says ': works$' out
	says '^  releases    2.5$' out
	status 0 bfsim coverage doca_rdma_srq_create
	says 'NOT_SUPPORTED$' out
}

# Each function that the device headers declare, also the inline ones.
test_device_functions_are_listed() {
	status 0 bfsim coverage doca_dpa_dev_comch_producer_dma_copy
	says '^doca_dpa_dev_comch_producer_dma_copy \(libdoca_dpa_dev_comm\): works$' out
	says '^  releases    3.0 3.1 3.3$' out
	status 0 bfsim coverage doca_dpa_dev_buf_get_len
	says ' \(libdoca_dpa_dev\): ' out
	status 0 bfsim coverage doca_dpa_dev_completion_element_get_timestamp
	says '^  releases    not known$' out
	for name in devemu_pci_msix_raise verbs_qp_commit_send; do
		status 0 bfsim coverage "doca_dpa_dev_$name"
		says 'NOT_SUPPORTED$' out
	done
	for name in verbs_send_wr_set_opcode log trace trace_flush yield rdma_post_write; do
		status 0 bfsim coverage "doca_dpa_dev_$name"
		lacks 'NOT_SUPPORTED' out
	done
	status 0 bfsim coverage --json 'doca_dpa_dev_*'
	python3 - "$sources" <<-'EOF2'
		import json, pathlib, sys
		functions = {f['function']: f for f in json.load(open('out'))}
		facts = json.loads((pathlib.Path(sys.argv[1]) / 'shim/abi/facts-dpa-dev.json').read_text())
		assert set(facts['functions']) <= set(functions), set(facts['functions']) - set(functions)
		for name in facts['functions']:
		    assert functions[name]['state'] != 'NOT_SUPPORTED', functions[name]
	EOF2
}

test_a_function_that_is_missing_is_a_failure() {
	status 1 bfsim coverage doca_flow_init
	says '^bfsim: doca_flow_init: bfsim has no list of libdoca_flow, and does not simulate it$' err
	status 1 bfsim coverage doca_dma_task_memcpy_aloc_init
	says 'did you mean doca_dma_task_memcpy_alloc_init' err
}

test_a_library_without_a_list_is_said_to_have_none() {
	for name in flow libdoca_flow 'doca_flow_*' libdoca_flow.so.2; do
		status 1 bfsim coverage "$name"
		says 'no list of libdoca_flow, and does not simulate it$' err
	done
	for pair in eth:eth doca_flow_ct_init:flow_ct doca_gpu_create:gpunetio rmax:rmax rivermax:rmax 'doca_verbs_*:verbs' \
		telemetry_exporter:telemetry_exporter doca_telemetry_pcc_create:telemetry mgmt:mgmt gpi:gpi; do
		status 1 bfsim coverage "${pair%:*}"
		says "no list of libdoca_${pair#*:}, and" err
	done
	status 1 bfsim coverage flowers
	says 'no release from 1.5 to 3.3 that is known has flowers' err
}

# Neither a comment nor a text is a test.
test_a_function_that_no_test_names_is_untested() {
	status 0 bfsim coverage --json
	python3 - "$sources" <<-'EOF2'
		import json, pathlib, sys
		functions = json.load(open('out'))
		untested = [f for f in functions if f['state'] == 'untested']
		assert untested and not any(f['num-tests'] for f in untested)
		assert all(f['num-tests'] for f in functions if f['state'] == 'works')
		sources = [path.read_text(errors='replace') for path in (pathlib.Path(sys.argv[1]) / 'tests' / 'api').glob('*.c')]
		for f in untested:
		    assert not any(f['function'] + '(' in text for text in sources), f
	EOF2
}

test_libraries_and_patterns_choose() {
	status 0 bfsim coverage
	says '^libdoca_argp +[0-9]+ +[0-9]+ +0 +0 +0$' out
	says '^libdoca_dpa +[1-9][0-9]+ +0 +0 +0 +[1-9][0-9]*$' out
	says '^all( +[1-9][0-9]*){5}$' out
	status 0 bfsim coverage dma
	mv out dma
	status 0 bfsim coverage libdoca_dma
	cmp dma out
	status 0 bfsim coverage 'doca_dma_cap_*'
	says '^doca_dma_cap_task_memcpy_is_supported +works' out
	lacks doca_dma_create out
}

test_json_and_html_have_all_functions() {
	status 0 bfsim coverage --json
	mv out all.json
	status 0 bfsim coverage --html
	python3 - <<-'EOF2'
		import json, re
		functions = json.load(open('all.json'))
		assert len(functions) > 1000
		assert {f['state'] for f in functions} <= {'works', 'untested', 'partly', 'NOT_SUPPORTED', 'missing'}
		for f in functions:
		    assert f['state'] != 'partly' or f['difference'] or f['releases'], f
		page = open('out').read()
		assert len(re.findall('<tr><td>', page)) == len(functions)
		for library in {f['library'] for f in functions}:
		    chapter = page[page.index(f'<section id="{library}">'):]
		    chapter = re.sub('<[^>]*>', '', chapter[:chapter.index('</section>')]).replace('&nbsp;', ' ')
		    states = [f['state'] for f in functions if f['library'] == library]
		    assert f'{len(states)} functions: ' in chapter, library
		    for state in set(states):
		        assert f'{states.count(state)} {state}' in chapter, (library, state)
	EOF2
}

run_tests "$0" "$work"
