#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ci/calibrate from outside: what it says of the measurements in the tree, and of others.
#
#   test_calibrate.sh PREDICT        (TAP; PREDICT is the program of ci/calibration/predict.c)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"

predict=$(realpath "$1")
ci=$(cd "$here/../../ci" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

calibrate() { "$ci/calibrate" --model "$predict" "$@"; }
columns=device,generation,direction,operation,size_bytes,queue_depth,threads,metric,value,source,note

# rows LINE...: a file of measurements with these
rows() {
	echo "$columns" >rows.csv
	printf '%s\n' "$@" >>rows.csv
}

test_the_model_meets_the_goal_on_the_measurements_in_the_tree() {
	status 0 calibrate --goal 15
	same 5 "$(grep -c '^MAPE BlueField-[23] [a-zA-Z_]* [0-9.]* over [0-9]* rows$' out)"
	tail -n 5 out >last
	says '^MAPE BlueField-3 throughput_GBps ' last
}

test_each_row_is_predicted_or_left_out_for_a_reason() {
	status 0 calibrate
	same "$(($(wc -l <"$ci/calibration/bluefield_measurements.csv") - 1))" "$(grep -c '^row ' out)"
	same 0 "$(grep '^row ' out | grep -Evc ' predicted [0-9.e+]+ error [+-][0-9.]+ %$| left out: .{10,}$')"
}

# 4 KiB in the window that the source used: an Arm core's 278 ns a task are 14.7 GB/s.
test_other_measurements_are_predicted_too() {
	rows 'BlueField-3 (some host),BF3,dpu_to_host,dma_write,4096,64,,throughput_GBps,14.7,me,none'
	status 0 calibrate --data rows.csv
	says '^row +2 BlueField-3 .* predicted 14\.[0-9]+ error' out
	says '^MAPE BlueField-3 throughput_GBps 0\.[0-9] over 1 rows$' out
}

test_a_wrong_prediction_misses_the_goal() {
	rows 'BlueField-3,BF3,dpu_to_host,dma_write,4096,64,,throughput_GBps,50,me,none'
	status 1 calibrate --data rows.csv --goal 15
	says '^calibrate: BlueField-3 throughput_GBps is above 15 %$' err
}

test_what_cannot_be_predicted_is_left_out() {
	rows 'BlueField-9,BF9,dpu_to_host,dma_write,4096,64,,throughput_GBps,50,me,none' \
		'BlueField-3,BF3,dpu_to_host,levitate,4096,64,,throughput_GBps,50,me,none' \
		'BlueField-3,BF3,sideways,dma_write,4096,64,,throughput_GBps,50,me,none' \
		'BlueField-3,BF3,dpu_to_host,dma_write,4096,64,,furlongs,50,me,none' \
		'BlueField-3,BF3,dpu_to_host,dma_write,4096,64,,throughput_GBps,,me,none' \
		'BlueField-3,BF3,dpu_to_host,dma_write,,64,,throughput_GBps,50,me,none' \
		'BlueField-3,BF3,dpu_local,dma_memcpy,8192,32,1,latency_us,11.2,me,p99; none'
	status 0 calibrate --data rows.csv
	says '^0 rows used, 7 left out$' out
	says 'row +2 .*no profile is for BlueField-9' out
	says 'row +3 .*nothing here is called levitate' out
	says 'row +6 .*its value is no number' out
	says 'row +8 .*left out: a tail' out
}

test_a_file_that_is_no_table_of_measurements_is_refused() {
	status 2 calibrate --data absent.csv
	says 'there is no file absent.csv' err
	printf 'a,b\n1,2\n' >other.csv
	status 1 calibrate --data other.csv
	says "other.csv: there is no column 'device'" err
}

run_tests "$0" "$work"
