/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/sync_event_util.h - what the tests of sync events share: events on
 * their own, and events as contexts whose callbacks write a trace:
 *
 *	running -> stopping
 *	wait_eq 7 failed: DOCA_ERROR_IO_FAILED
 *
 * Tasks are numbered by the test (the task's user data); their callbacks free them.
 */
#ifndef TESTS_API_SYNC_EVENT_UTIL_H
#define TESTS_API_SYNC_EVENT_UTIL_H

#include "api_util.h"

#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

#define SE_TASKS       8 /* of each kind */
#define SE_DEADLINE_MS 60000

/* ---- events on their own ---- */

/* Published and subscribed to by this CPU; idle. */
struct doca_sync_event *se_new(struct doca_dev *dev);

/* The same, started. */
struct doca_sync_event *se_started(struct doca_dev *dev);

uint64_t se_value(struct doca_sync_event *event);

/* Stop and destroy. */
void se_end(struct doca_sync_event *event);

/* ---- events as contexts ---- */

struct se_ctx {
	struct doca_sync_event *event;
	struct doca_ctx *ctx;
	struct doca_pe *pe;
	char trace[4096];
	/* Called after a task's line in the trace, before it is freed; NULL: nothing. */
	void (*on_task)(struct se_ctx *se);
};

/* Make it one, connected and configured for SE_TASKS of each kind; idle. Takes the event. */
struct se_ctx *se_as_ctx(struct doca_sync_event *event);

/* se_as_ctx(), started, its trace empty. */
struct se_ctx *se_run(struct doca_sync_event *event);

/* Stop, progress until idle, destroy all. */
void se_close(struct se_ctx *se);

/* Tests with a context of their own in *state, on the world's device. */
#define SE_IDLE(test)    cmocka_unit_test_setup_teardown(test, se_setup_idle, se_teardown)
#define SE_RUNNING(test) cmocka_unit_test_setup_teardown(test, se_setup_running, se_teardown)
int se_setup_idle(void **state);
int se_setup_running(void **state);
int se_teardown(void **state);

enum doca_ctx_states se_state(const struct se_ctx *se);
size_t se_in_flight(const struct se_ctx *se);

/* Tasks, ready to be submitted. */
struct doca_task *se_get(struct se_ctx *se, uint64_t number, uint64_t *ret);
struct doca_task *se_set(struct se_ctx *se, uint64_t number, uint64_t value);
struct doca_task *se_add(struct se_ctx *se, uint64_t number, uint64_t value, uint64_t *fetched);
struct doca_task *se_wait_eq(struct se_ctx *se, uint64_t number, uint64_t value, uint64_t mask);
struct doca_task *se_wait_neq(struct se_ctx *se, uint64_t number, uint64_t value, uint64_t mask);

/* Progress until there is nothing to be done. */
void se_progress(struct se_ctx *se);

int se_handle(const struct se_ctx *se);
bool se_is_readable(int fd);
bool se_wait_readable(int fd);

/* Compare the lines traced since the last call, and clear the trace. */
#define assert_se_trace(se, expected)                         \
	do {                                                  \
		assert_string_equal((se)->trace, (expected)); \
		(se)->trace[0] = '\0';                        \
	} while (0)

#endif
