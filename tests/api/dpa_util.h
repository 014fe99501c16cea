/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/dpa_util.h - a started DPA context with the kernels of dpa/kernels.c. */
#ifndef TESTS_DPA_UTIL_H
#define TESTS_DPA_UTIL_H

#include <doca_dpa.h>
#include <doca_sync_event.h>

#include "api_util.h"

/* Written by dpacc. */
extern struct doca_dpa_app *dpa_test_app;
doca_dpa_func_t add, count_calls, load, load_or_line, store, divide, jump, run_for_ever, recurse_deeply, say,
	trace_numbers, get_event, read_time_us, measure_cycles, reschedule_rpc, set_device, fill_table, poll_completion,
	notify, record_rank, follow_event, run_thread, wait_for_ever;

/* As device code has it. */
struct storage {
	doca_dpa_dev_sync_event_t event;
	uint64_t runs, rank;
	bool finishes;
};

/* A context of api_dev() with the application, not started. */
struct doca_dpa *dpa_new(void);

/* The same, started. */
struct doca_dpa *dpa_open(void);

/* A context whose kernel was fatal. The crash file is removed. */
struct doca_dpa *dpa_open_fatal(void);

/* Remove the file that tells of a fatal kernel; the test fails if there is none. */
void dpa_remove_crash_file(const char *log_path);

/* A started event, published and heard by CPU and DPA. */
struct doca_sync_event *dpa_event_new(struct doca_dpa *dpa, doca_dpa_dev_sync_event_t *ret_handle);

/* Wait until the event is greater; a test that hangs is ended by the runner. */
void dpa_event_wait(struct doca_sync_event *event, uint64_t value);

/* Setup and teardown of a test that has a started context as its state. */
int dpa_setup(void **state);
int dpa_teardown(void **state);

#endif
