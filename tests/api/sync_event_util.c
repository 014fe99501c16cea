/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events with a context, a progress engine and a trace, for their tests. */
#include "sync_event_util.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- on their own ---- */

struct doca_sync_event *se_new(struct doca_dev *dev)
{
	struct doca_sync_event *event;

	assert_ok(doca_sync_event_create(&event));
	assert_ok(doca_sync_event_add_publisher_location_cpu(event, dev));
	assert_ok(doca_sync_event_add_subscriber_location_cpu(event, dev));
	return event;
}

struct doca_sync_event *se_started(struct doca_dev *dev)
{
	struct doca_sync_event *event = se_new(dev);

	assert_ok(doca_sync_event_start(event));
	return event;
}

uint64_t se_value(struct doca_sync_event *event)
{
	uint64_t value;

	assert_ok(doca_sync_event_get(event, &value));
	return value;
}

void se_end(struct doca_sync_event *event)
{
	assert_ok(doca_sync_event_stop(event));
	assert_ok(doca_sync_event_destroy(event));
}

/* ---- as contexts: callbacks ---- */

static void note(struct se_ctx *se, const char *text)
{
	size_t used = strlen(se->trace);

	snprintf(se->trace + used, sizeof(se->trace) - used, "%s\n", text);
}

static void note_task(struct se_ctx *se, const char *kind, struct doca_task *task, uint64_t number)
{
	doca_error_t status = doca_task_get_status(task);
	char line[128];

	if (status == DOCA_SUCCESS)
		snprintf(line, sizeof(line), "%s %llu done", kind, (unsigned long long)number);
	else
		snprintf(line, sizeof(line), "%s %llu failed: %s", kind, (unsigned long long)number,
			 doca_error_get_name(status));
	note(se, line);
	if (se->on_task)
		se->on_task(se);
	doca_task_free(task);
}

#define CALLBACK(kind)                                                                                        \
	static void on_##kind(struct doca_sync_event_task_##kind *task, union doca_data number,               \
			      union doca_data ctx_data)                                                       \
	{                                                                                                     \
		note_task(ctx_data.ptr, #kind, doca_sync_event_task_##kind##_as_doca_task(task), number.u64); \
	}

CALLBACK(get)
CALLBACK(notify_set)
CALLBACK(notify_add)
CALLBACK(wait_eq)
CALLBACK(wait_neq)

static void on_state(const union doca_data ctx_data, struct doca_ctx *ctx, enum doca_ctx_states from,
		     enum doca_ctx_states to)
{
	static const char *const names[] = { "idle", "starting", "running", "stopping" };
	char line[64];

	snprintf(line, sizeof(line), "%s -> %s", names[from], names[to]);
	note(ctx_data.ptr, line);
}

/* ---- as contexts: life ---- */

struct se_ctx *se_as_ctx(struct doca_sync_event *event)
{
	struct se_ctx *se = calloc(1, sizeof(*se));
	union doca_data self = { .ptr = se };

	assert_non_null(se);
	se->event = event;
	se->ctx = doca_sync_event_as_ctx(event);
	assert_non_null(se->ctx);
	assert_ok(doca_pe_create(&se->pe));
	assert_ok(doca_pe_connect_ctx(se->pe, se->ctx));
	assert_ok(doca_ctx_set_user_data(se->ctx, self));
	assert_ok(doca_ctx_set_state_changed_cb(se->ctx, on_state));
	assert_ok(doca_sync_event_task_get_set_conf(event, on_get, on_get, SE_TASKS));
	assert_ok(doca_sync_event_task_notify_set_set_conf(event, on_notify_set, on_notify_set, SE_TASKS));
	assert_ok(doca_sync_event_task_notify_add_set_conf(event, on_notify_add, on_notify_add, SE_TASKS));
	assert_ok(doca_sync_event_task_wait_eq_set_conf(event, on_wait_eq, on_wait_eq, SE_TASKS));
	assert_ok(doca_sync_event_task_wait_neq_set_conf(event, on_wait_neq, on_wait_neq, SE_TASKS));
	return se;
}

struct se_ctx *se_run(struct doca_sync_event *event)
{
	struct se_ctx *se = se_as_ctx(event);

	assert_ok(doca_ctx_start(se->ctx));
	se->trace[0] = '\0';
	return se;
}

void se_close(struct se_ctx *se)
{
	doca_error_t result = doca_ctx_stop(se->ctx);

	assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	se_progress(se);
	assert_int_equal(se_state(se), DOCA_CTX_STATE_IDLE);
	assert_ok(doca_sync_event_destroy(se->event));
	assert_ok(doca_pe_destroy(se->pe));
	free(se);
}

int se_setup_idle(void **state)
{
	*state = se_as_ctx(se_new(api_dev()));
	return 0;
}

int se_setup_running(void **state)
{
	*state = se_run(se_new(api_dev()));
	return 0;
}

int se_teardown(void **state)
{
	se_close(*state);
	return 0;
}

enum doca_ctx_states se_state(const struct se_ctx *se)
{
	enum doca_ctx_states state;

	assert_ok(doca_ctx_get_state(se->ctx, &state));
	return state;
}

size_t se_in_flight(const struct se_ctx *se)
{
	size_t count, of_pe;

	assert_ok(doca_ctx_get_num_inflight_tasks(se->ctx, &count));
	assert_ok(doca_pe_get_num_inflight_tasks(se->pe, &of_pe));
	assert_int_equal(count, of_pe);
	return count;
}

/* ---- as contexts: tasks ---- */

struct doca_task *se_get(struct se_ctx *se, uint64_t number, uint64_t *ret)
{
	struct doca_sync_event_task_get *task;
	union doca_data data = { .u64 = number };

	assert_ok(doca_sync_event_task_get_alloc_init(se->event, ret, data, &task));
	return doca_sync_event_task_get_as_doca_task(task);
}

struct doca_task *se_set(struct se_ctx *se, uint64_t number, uint64_t value)
{
	struct doca_sync_event_task_notify_set *task;
	union doca_data data = { .u64 = number };

	assert_ok(doca_sync_event_task_notify_set_alloc_init(se->event, value, data, &task));
	return doca_sync_event_task_notify_set_as_doca_task(task);
}

struct doca_task *se_add(struct se_ctx *se, uint64_t number, uint64_t value, uint64_t *fetched)
{
	struct doca_sync_event_task_notify_add *task;
	union doca_data data = { .u64 = number };

	assert_ok(doca_sync_event_task_notify_add_alloc_init(se->event, value, fetched, data, &task));
	return doca_sync_event_task_notify_add_as_doca_task(task);
}

struct doca_task *se_wait_eq(struct se_ctx *se, uint64_t number, uint64_t value, uint64_t mask)
{
	struct doca_sync_event_task_wait_eq *task;
	union doca_data data = { .u64 = number };

	assert_ok(doca_sync_event_task_wait_eq_alloc_init(se->event, value, mask, data, &task));
	return doca_sync_event_task_wait_eq_as_doca_task(task);
}

struct doca_task *se_wait_neq(struct se_ctx *se, uint64_t number, uint64_t value, uint64_t mask)
{
	struct doca_sync_event_task_wait_neq *task;
	union doca_data data = { .u64 = number };

	assert_ok(doca_sync_event_task_wait_neq_alloc_init(se->event, value, mask, data, &task));
	return doca_sync_event_task_wait_neq_as_doca_task(task);
}

void se_progress(struct se_ctx *se)
{
	while (doca_pe_progress(se->pe))
		;
}

/* ---- sleeping ---- */

int se_handle(const struct se_ctx *se)
{
	doca_notification_handle_t handle;

	assert_ok(doca_pe_get_notification_handle(se->pe, &handle));
	return handle;
}

static bool becomes_readable(int fd, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, timeout_ms) == 1;
}

bool se_is_readable(int fd)
{
	return becomes_readable(fd, 0);
}

bool se_wait_readable(int fd)
{
	return becomes_readable(fd, SE_DEADLINE_MS);
}
