#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The applications in virtual time, in perturbed schedules: the same trace each time (tests/multi/perturbed.sh).
#
#   test_perturbed_apps.sh BFSIM APPS       (TAP)
#
# shellcheck disable=SC2016

multi=$(dirname "$0")/../multi
. "$multi/tap.sh"
. "$multi/sessions.sh"
. "$multi/perturbed.sh"

apps=$(realpath "$2")
use_bfsim "$1"
start_load

test_dma_copy_from_the_host() {
	head -c 300001 /dev/urandom >in
	always_the_same --host "exec '$apps/dma_copy/dma_copy_host' -p b1:00.0 -f in" \
		--dpu "rm -f copied; exec '$apps/dma_copy/dma_copy_dpu' -p 03:00.0 -r b1:00.0 -f copied"
	cmp in copied
}

test_dma_copy_to_the_host_over_each_path() {
	head -c 300001 /dev/urandom >in
	for path in shm tcp; do
		export BFSIM_PATH=$path
		always_the_same --host "rm -f copied; exec '$apps/dma_copy/dma_copy_host' -p b1:00.0 -f copied" \
			--dpu "exec '$apps/dma_copy/dma_copy_dpu' -p 03:00.0 -r b1:00.0 -f in"
		cmp in copied
	done
}

test_pipeline_of_engines() {
	head -c 20000 /dev/urandom | od -An -tx1 -v | head -c 20000 >in
	cat >card.yaml <<-END
		cards:
		- profile: bluefield-2
		  functions:
		  - {side: host, type: pf, pci: "3b:00.0"}
		  - {side: dpu, type: pf, pci: "03:00.0", represents: ["host/3b:00.0"]}
	END
	always_the_same --topology card.yaml --host "exec '$apps/pipeline_host' 3b:00.0 in copied" \
		--dpu "exec '$apps/pipeline_dpu' 03:00.0 3b:00.0"
	cmp in copied
}

test_hello() {
	always_the_same --host "exec '$apps/hello_host' b1:00.1 'good morning'" --dpu "exec '$apps/hello_dpu' 03:00.1 b1:00.1"
}

run_tests "$0" "$work"
