/* SPDX-License-Identifier: BSD-3-Clause */
/* A sync event of the host, to which the DPU adds: the final value is the sum. */
#include "side.h"

#include <doca_sync_event.h>

#define MAX_TASKS 8

struct adder {
	struct side *side;
	struct doca_sync_event *event;
	struct doca_ctx *ctx;
	struct ticket tickets[MAX_TASKS];
	uint32_t depth, in_flight;
	uint64_t sum; /* of the tasks that succeeded */
	int64_t news_ms;
};

struct export
{
	uint64_t len;
	uint8_t bytes[1024];
};

static void on_added(struct doca_sync_event_task_notify_add *task, union doca_data task_data, union doca_data ctx_data)
{
	struct ticket *ticket = task_data.ptr;
	struct adder *adder = ctx_data.ptr;

	if (side_done(adder->side, doca_sync_event_task_notify_add_as_doca_task(task), ticket) == DOCA_SUCCESS)
		adder->sum += ticket->id;
	adder->in_flight--;
	adder->news_ms = side_now_ms();
}

static struct ticket *free_ticket(struct adder *adder)
{
	for (uint32_t i = 0; i < adder->depth; i++)
		if (!adder->tickets[i].in_flight)
			return &adder->tickets[i];
	return NULL;
}

/* Returns true if the task was submitted. */
static bool add(struct adder *adder, uint64_t value)
{
	static uint64_t fetched[MAX_TASKS];
	struct doca_sync_event_task_notify_add *task;
	struct ticket *ticket = free_ticket(adder);

	if (!ticket || side_state(adder->ctx) != DOCA_CTX_STATE_RUNNING)
		return false;
	ticket->id = value;
	MUST(doca_sync_event_task_notify_add_alloc_init(adder->event, value, &fetched[ticket - adder->tickets],
							(union doca_data){ .ptr = ticket }, &task));
	if (side_submit(adder->side, doca_sync_event_task_notify_add_as_doca_task(task), ticket)) {
		adder->in_flight++;
		return true;
	}
	doca_task_free(doca_sync_event_task_notify_add_as_doca_task(task));
	return false;
}

static void add_all(struct adder *adder, struct random *random)
{
	uint64_t left = random_in(random, 1, 100);

	adder->news_ms = side_now_ms();
	while (left > 0 || adder->in_flight) {
		if (side_state(adder->ctx) == DOCA_CTX_STATE_IDLE)
			MUST(doca_ctx_start(adder->ctx));
		if (left > 0 && add(adder, random_in(random, 1, 1000)))
			left--;
		if (side_step(adder->side) || !adder->in_flight || side_now_ms() - adder->news_ms < SIDE_GIVE_UP_MS)
			continue;
		adder->side->seen->hung += adder->in_flight;
		side_stop(adder->side, adder->ctx);
	}
}

static void dpu_half(struct side *side)
{
	struct random random = side_random(side, 'e');
	struct adder adder = { .side = side, .depth = (uint32_t)random_in(&random, 1, MAX_TASKS) };
	struct export export;

	if (!side_recv(side, &export, sizeof(export)))
		return;
	if (!MUST_UNLESS_ALONE(side,
			       doca_sync_event_create_from_export(side->dev, export.bytes, export.len, &adder.event)))
		return;
	adder.ctx = doca_sync_event_as_ctx(adder.event);
	MUST(doca_pe_connect_ctx(side->pe, adder.ctx));
	MUST(doca_ctx_set_user_data(adder.ctx, (union doca_data){ .ptr = &adder }));
	MUST(doca_sync_event_task_notify_add_set_conf(adder.event, on_added, on_added, adder.depth));
	MUST(doca_ctx_start(adder.ctx));
	add_all(&adder, &random);
	side_stop(side, adder.ctx);
	MUST(doca_sync_event_destroy(adder.event));
	side_send(side, &adder.sum, sizeof(adder.sum));
}

static void host_half(struct side *side)
{
	struct doca_sync_event *event;
	struct export export = { 0 };
	const uint8_t *bytes;
	uint64_t sum, value;
	size_t len;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_remote_pci(event));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, side->dev));
	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_export_to_remote_pci(event, side->dev, &bytes, &len));
	NEED(len <= sizeof(export.bytes));
	export.len = len;
	memcpy(export.bytes, bytes, len);
	side_send(side, &export, sizeof(export));
	if (side_recv(side, &sum, sizeof(sum))) {
		MUST(doca_sync_event_get(event, &value));
		NEED(value == sum);
	}
	MUST(doca_sync_event_stop(event));
	MUST(doca_sync_event_destroy(event));
}

void round_events(struct side *side)
{
	if (side->which == HOST)
		host_half(side);
	else
		dpu_half(side);
}
