#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The verdict of ci/vendor-samples --storm on a sanitizer's report: a defect of bfsim, or of the sample.
#
#   test_blame.sh blame.awk
set -eu
blame=$1

# expect VERDICT: the log on standard input must get this verdict ("" = none).
expect() {
	said=$(awk -f "$blame")
	[ "$said" = "$1" ] && return
	echo "said '$said', not '$1'"
	exit 1
}

expect 'heap-use-after-free in sim_queue_run queue.c:7' <<'END'
dpu | ==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1
dpu | READ of size 8 at 0x1 thread T0
dpu |     #0 /lib/libasan.so.8 memcpy asan.cpp:1
dpu |     #1 /x/libbfsim.so.0 sim_queue_run queue.c:7
dpu |     #2 /x/sample main sample.c:1
END
expect '' <<'END'
host| ==1==ERROR: AddressSanitizer: SEGV on unknown address 0x8
host|     #0 /lib/libc.so.6 strlen x
host|     #1 /x/sample print sample.c:9
host|     #2 /x/libdoca_common.so.2 doca_pe_progress pe.c:1
END
expect 'leak in name_of comch.c:3' <<'END'
dpu | Direct leak of 8 byte(s) in 1 object(s) allocated from:
dpu |     #0 /lib/libasan.so.8 malloc asan.cpp:1
dpu |     #1 /x/libdoca_comch.so.2 name_of comch.c:3
dpu | 
dpu | Direct leak of 8 byte(s) in 1 object(s) allocated from:
dpu |     #0 /lib/libasan.so.8 malloc asan.cpp:1
dpu |     #1 /x/sample main sample.c:3
END
# A handle that the sample has lost, and what it held.
expect '' <<'END'
dpu | Direct leak of 152 byte(s) in 1 object(s) allocated from:
dpu |     #0 /lib/libasan.so.8 calloc asan.cpp:1
dpu |     #1 /x/libdoca_common.so.2 shim_object_new object.c:35
dpu |     #2 /x/libdoca_common.so.2 doca_mmap_create mmap.c:56
dpu | 
dpu | Indirect leak of 8 byte(s) in 1 object(s) allocated from:
dpu |     #0 /lib/libasan.so.8 calloc asan.cpp:1
dpu |     #1 /x/libdoca_common.so.2 ranges_new mmap_range.c:5
END
# A call that hangs, and a sample that polls for an event that never comes.
expect 'hangs in doca_ctx_stop()' <<'END'
==1==ERROR: AddressSanitizer: ABRT on unknown address 0x1
    #0 /lib/libc.so.6 __poll poll.c:1
    #1 /x/libbfsim.so.0 sim_wait wait.c:1
    #2 /x/libdoca_common.so.2 doca_ctx_stop ctx.c:1
    #3 /x/sample main sample.c:1
END
expect '' <<'END'
==1==ERROR: AddressSanitizer: ABRT on unknown address 0x1
    #0 /x/libdoca_common.so.2 doca_pe_progress pe.c:1
    #1 /x/sample main sample.c:1
END
expect '../shim/x.c:3:4: runtime error: shift exponent 64 is too large' <<'END'
host| ../shim/x.c:3:4: runtime error: shift exponent 64 is too large
END
