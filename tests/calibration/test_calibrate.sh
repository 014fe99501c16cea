#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ci/calibrate: its verdicts on the measurements in the tree, and on others.
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
	same 8 "$(grep -c '^MAPE BlueField-[23] [a-zA-Z_]* [0-9.]* over [0-9]* rows$' out)"
	tail -n 8 out >last
	says '^MAPE BlueField-3 throughput_GBps ' last
	status 0 calibrate --data "$ci/calibration/rdma_measurements.csv" --goal 10
	same 3 "$(grep -c '^MAPE BlueField-3 rdma_' out)"
}

test_each_row_is_predicted_or_left_out_for_a_reason() {
	status 0 calibrate
	same "$(($(cat "$ci"/calibration/bluefield_measurements.csv "$ci"/calibration/rdma_measurements.csv | wc -l) - 2))" \
		"$(grep -c '^row ' out)"
	same 0 "$(grep '^row ' out | grep -Evc ' predicted [0-9.e+]+ error [+-][0-9.]+ %$| left out: .{10,}$')"
}

# mean_error PATTERN: of the rows of ./out that match, with its sign.
mean_error() {
	grep -E "$1" out | sed 's/.* error \([-+][0-9.]*\) %$/\1/' | awk '{ sum += $1 } END { print sum / NR }'
}

# One table of one program has fixed and mixed sizes. The fit does not use the mixed ones. If a change of size cost time that the
# model lacks, the model's error would be larger there.
test_mixed_sizes_are_predicted_as_well_as_fixed_ones() {
	status 0 calibrate --data "$ci/calibration/mixed_measurements.csv" --goal 15
	same 18 "$(grep -c ' error ' out)"
	same 6 "$(grep -c ' 544 B ' out)"
	awk -v fixed="$(mean_error ' (64|1024) B ')" -v mixed="$(mean_error ' 544 B ')" \
		'BEGIN { difference = mixed - fixed; exit !(difference > -2 && difference < 2) }'
}

# A time of its own for each change of size would show: 64 and 1024 bytes in turns take what both take.
test_jobs_of_two_sizes_take_the_mean_of_their_times() {
	rows 'BlueField-3,BF3,host_to_dpu,dma_read,64,128,,rate_Mops,3.6,me,none' \
		'BlueField-3,BF3,host_to_dpu,dma_read,65536,128,,rate_Mops,0.55,me,none' \
		'BlueField-3,BF3,host_to_dpu,dma_read,32800,128,,rate_Mops,1,me,"alternates 64 and 65536 bytes"'
	status 0 calibrate --data rows.csv
	sed -n 's/.* predicted \([0-9.]*\) .*/\1/p' out | awk '{ period[NR] = 1 / $1 } END {
		mean = (period[1] + period[2]) / 2; exit !(NR == 3 && period[3] > 0.9 * period[2] / 2 && period[3] < 1.02 * mean) }'
}

# 4 KiB in the window that the source used: an Arm core's 278 ns a task are 14.7 GB/s.
test_other_measurements_are_predicted_too() {
	rows 'BlueField-3 (some host),BF3,dpu_to_host,dma_write,4096,64,,throughput_GBps,14.7,me,none'
	status 0 calibrate --data rows.csv
	says '^row +2 BlueField-3 .* predicted 14\.[0-9]+ error' out
	says '^MAPE BlueField-3 throughput_GBps 0\.[0-9] over 1 rows$' out
}

# A half round trip of a write of 256 KiB, at 100 Gb/s in packets of 1 KiB: 23 us for the wire, and 3.4 us.
test_requests_over_the_network_are_predicted_too() {
	rows 'BlueField-3,BF3,host_to_remote_host,rdma_write,262144,1,1,latency_us,26.4,me,path MTU 1024' \
		'BlueField-3,BF3,host_to_remote_host,rdma_write,262144,1,1,latency_us,25.1,me,path MTU 4096' \
		'BlueField-3,BF3,host_to_same_host_loopback,rdma_read,64,1,1,rate_Mops,0.37,me,none' \
		'ConnectX-7,CX7,host_to_remote_host,rdma_send,64,1,1,latency_us,2.7,me,none' \
		'BlueField-3,BF3,host_to_remote_host,rdma_write,64,1,4,rate_Mops,1,me,none' \
		'BlueField-3,BF3,dpu_local,rdma_write,64,1,1,latency_us,1,me,none'
	status 0 calibrate --data rows.csv
	says '^4 rows used, 2 left out$' out
	says '^MAPE BlueField-3 rdma_latency_us [0-2]\.[0-9] over 2 rows$' out
	says '^MAPE ConnectX-7 rdma_latency_us [0-2]\.[0-9] over 1 rows$' out
	says 'row +6 .*left out: several connections at a time' out
	says 'row +7 .*left out: its direction is "dpu_local"' out
}

# Sixteen at a time fill the wire, which one does not.
test_a_window_of_requests_fills_the_wire() {
	rows 'BlueField-3,BF3,host_to_remote_host,rdma_write,8192,1,1,throughput_GBps,1.3,me,path MTU 1024' \
		'BlueField-3,BF3,host_to_remote_host,rdma_write,8192,16,1,throughput_GBps,11.57,me,path MTU 1024'
	status 0 calibrate --data rows.csv --goal 10
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

test_a_broken_row_leaves_the_others_alone() {
	rows 'BlueField-3,BF3,dpu_to_host' \
		'BlueField-3,BF3,dpu_to_host,dma_write,4096,64,,throughput_GBps,nan,me,none' \
		'BlueField-3,BF3,dpu_to_host,dma_write,4096,64,,throughput_GBps,inf,me,none' \
		'BlueField-3,BF3,dpu_to_host,dma_write,9999999999999,64,,throughput_GBps,14.7,me,none' \
		'BlueField-3,BF3,dpu_to_host,dma_write,0.5,64,,throughput_GBps,14.7,me,none' \
		'BlueField-3,BF3,dpu_to_host,dma_write,4096,0,,throughput_GBps,14.7,me,none' \
		'BlueField-3,BF3,dpu_to_host,dma_write,4096,64,-1,throughput_GBps,14.7,me,none' \
		'ConnectX-7,CX7,dpu_to_host,dma_write,4096,64,,throughput_GBps,14.7,me,none' \
		'BlueField-3,BF3,dpu_to_host,dma_write,4096,64,,throughput_GBps,14.7,me,PCIe Gen9' \
		'BlueField-3,BF3,dpu_to_host,dma_write,4096,64,,throughput_GBps,14.7,me,none,and,more'
	status 0 calibrate --data rows.csv
	says '^2 rows used, 8 left out$' out
	says 'row +2 .*left out: it has fewer columns' out
	says 'row +3 .*left out: its value is no number' out
	says 'row +5 .*left out: its size is above' out
	says 'row +6 .*left out: its size is no whole number' out
	says 'row +7 .*left out: its queue_depth' out
	says 'row +8 .*left out: its threads' out
	says 'row +9 .*left out: ConnectX-7 has no engine' out
	says '^MAPE BlueField-3 throughput_GBps 0\.[0-9] over 2 rows$' out
}

# A byte order mark, CRLF, an empty line, columns in another order and none for source and note.
test_a_file_that_a_spreadsheet_wrote_is_read() {
	printf '\357\273\277value,metric,device,direction,operation,size_bytes,queue_depth,threads\r\n' >rows.csv
	printf '\r\n14.7,throughput_GBps,BlueField-3,dpu_to_host,dma_write,4096,64,\r\n' >>rows.csv
	status 0 calibrate --data rows.csv
	says '^row +3 BlueField-3 .* predicted 14\.[0-9]+ error' out
}

test_a_file_without_rows_or_text_is_refused() {
	rows
	head -n 1 rows.csv >header.csv
	status 1 calibrate --data header.csv --goal 15
	says 'header.csv: there are no rows' err
	: >empty.csv
	status 1 calibrate --data empty.csv
	says "empty.csv: there is no column 'device'" err
	printf '\377\376\000' >binary.csv
	status 1 calibrate --data binary.csv
	says '^calibrate: binary.csv: ' err
	lacks Traceback err
}

run_tests "$0" "$work"
