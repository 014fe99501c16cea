/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of sim/trace: a recording of this process for each, and its descriptor. */
#ifndef TRACE_RIG_H
#define TRACE_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/trace/recording.h"
#include "sim/trace/trace.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

static int fd = -1;
static struct sim_trace_clock session; /* the clock of its times */

static int begin(void **state)
{
	unsetenv("BFSIM_TRACE");
	session = (struct sim_trace_clock){ .zero_ns = sim_monotonic_ns() };
	return sim_trace_begin(SIM_TRACE_UNSET, &session, &fd);
}

static int end(void **state)
{
	sim_trace_end();
	close(fd);
	fd = -1;
	return 0;
}

static inline struct sim_trace_recording read_all(void)
{
	struct sim_trace_recording recording;

	assert_int_equal(sim_trace_recording_read_fd(fd, &session, &recording), 0);
	assert_int_equal(recording.num_bad, 0);
	return recording;
}

static inline void log_line(int level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sim_trace_log(level, format, args);
	va_end(args);
}

/* One task that moves 64 bytes; timed if the sampler selects it. */
static inline void do_task(struct sim_trace_task_stats *stats, const char *reason)
{
	struct sim_trace_task_times times = { 0 };
	bool timed = sim_trace_task_stats_should_sample(stats);

	if (timed) {
		sim_trace_task_submitted(stats, &times);
		times.began_ns = times.ended_ns = sim_trace_now_ns();
	}
	sim_trace_counter_add(&stats->op->submitted, 1);
	sim_trace_counter_add(reason ? &stats->op->failed : &stats->op->completed, 1);
	if (timed || reason)
		sim_trace_task_done(stats, &times, 64, reason);
}

#endif
