/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at the tasks of DMA and of sync events, and at their immediate calls.
 *
 * All tasks are on one side. Three tasks are submitted, and a fault hits the second one, or a copy that has no
 * successor: a completion that never comes holds up those after it. Another context on the same engine must not be
 * affected. */
#include <bfsim.h>
#include <doca_dma.h>
#include <doca_sync_event.h>
#include <pthread.h>
#include <unistd.h>

#include "cell.h"
#include "tasks.h"
#include "tests/api/comch_fast.h"
#include "tests/common/rest.h"

#define BYTES 64
#define NUM   3

/* ---- DMA ---- */

struct copies {
	struct comch_actor *actor;
	struct doca_dma *dma;
	struct arena *arena;
	struct doca_buf *bufs[2 * NUM];
	int num_bufs;
};

static void on_copied(struct doca_dma_task_memcpy *task, union doca_data number, union doca_data data)
{
	tasks_note(doca_dma_task_memcpy_as_task(task), "copy", number);
}

static struct copies open_dma(struct side *side)
{
	struct copies copies = { .arena = arena_open(side->dev) };

	MUST(doca_dma_create(side->dev, &copies.dma));
	MUST(doca_dma_task_memcpy_set_conf(copies.dma, on_copied, on_copied, NUM));
	copies.actor = comch_actor(side, "dma", doca_dma_as_ctx(copies.dma));
	MUST(doca_ctx_start(copies.actor->ctx));
	comch_forget(side);
	return copies;
}

static const uint8_t *source_of(const struct copies *copies, int number)
{
	return copies->arena->bytes + (size_t)number * BYTES;
}

static const uint8_t *copy_of(const struct copies *copies, int number)
{
	return copies->arena->bytes + (size_t)(NUM + number) * BYTES;
}

static void copy(struct copies *copies, int number)
{
	struct doca_buf *src = arena_empty(copies->arena, (size_t)number * BYTES, BYTES);
	struct doca_buf *dst = arena_empty(copies->arena, (size_t)(NUM + number) * BYTES, BYTES);
	struct doca_dma_task_memcpy *task;

	memset(copies->arena->bytes + (size_t)number * BYTES, number, BYTES);
	MUST(doca_buf_set_data(src, copies->arena->bytes + (size_t)number * BYTES, BYTES));
	MUST(doca_dma_task_memcpy_alloc_init(copies->dma, src, dst, (union doca_data){ .u64 = (uint64_t)number },
					     &task));
	copies->bufs[copies->num_bufs++] = src;
	copies->bufs[copies->num_bufs++] = dst;
	tasks_submit(doca_dma_task_memcpy_as_task(task), number);
}

static void close_dma(struct copies *copies)
{
	MUST(doca_dma_destroy(copies->dma));
	free(copies->actor);
	for (int i = 0; i < copies->num_bufs; i++)
		MUST(doca_buf_dec_refcount(copies->bufs[i], NULL));
	arena_close(copies->arena);
}

static bool has_succeeded(int number)
{
	if (cell_is("fail"))
		return number < 2;
	return !(cell_is("refuse") && number == 2) && !(cell_is("hang") && number == 3);
}

/* Only a success adds data to the destination; a task that failed half way shows in its bytes alone. */
static void expect_data(const struct copies *copies, int number)
{
	const struct doca_buf *dst = copies->bufs[2 * number - 1];
	void *data;
	size_t len;

	MUST(doca_buf_get_data(dst, &data));
	MUST(doca_buf_get_data_len(dst, &len));
	CHECK(data == copy_of(copies, number));
	CHECK(len == (has_succeeded(number) ? BYTES : 0));
}

static void expect_bytes(const struct copies *copies, int number)
{
	unsigned int wrong = 0, missing = 0;

	for (int i = 0; i < BYTES; i++) {
		wrong += (unsigned int)__builtin_popcount(source_of(copies, number)[i] ^ copy_of(copies, number)[i]);
		missing += copy_of(copies, number)[i] == 0;
	}
	if (number == 2 && cell_is("flip"))
		CHECK(wrong == 1);
	else if (number == 2 && cell_is("tear"))
		CHECK(missing == BYTES / 2 && copy_of(copies, 2)[BYTES / 2 - 1] == 2 &&
		      copy_of(copies, 2)[BYTES / 2] == 0);
	else if (number == 2 && cell_is("fail"))
		CHECK(missing == BYTES / 4 * 3 && copy_of(copies, 2)[BYTES / 4 - 1] == 2);
	else if (cell_is("hang") ? number == 3 : number == 2 && !cell_is("delay"))
		CHECK(missing == BYTES);
	else if (number != 3 || !cell_is("fail"))
		CHECK(wrong == 0);
}

static void dma_dpu(struct side *side)
{
	struct copies hit = open_dma(side), other = open_dma(side);
	uint64_t begin_ns = bfsim_now_ns();

	cell_arm();
	for (int number = 1; number <= NUM; number++)
		copy(&hit, number);
	tasks_expect_all(side, begin_ns);
	copy(&other, 1);
	comch_expect(side, "copy 1\n");
	CHECK(memcmp(source_of(&other, 1), copy_of(&other, 1), BYTES) == 0);
	if (!cell_is("fail"))
		tasks_stop(hit.actor, cell->on_host);
	for (int number = 1; number <= NUM; number++) {
		expect_bytes(&hit, number);
		expect_data(&hit, number);
	}
	tasks_stop(other.actor, "dma: running -> stopping\ndma: stopping -> idle\n");
	close_dma(&hit);
	close_dma(&other);
}

/* ---- sync events: tasks ---- */

struct tested_event {
	struct comch_actor *actor;
	struct doca_sync_event *event;
	uint64_t fetched;
};

static void on_added(struct doca_sync_event_task_notify_add *task, union doca_data number, union doca_data data)
{
	tasks_note(doca_sync_event_task_notify_add_as_doca_task(task), "add", number);
}

static void on_waited(struct doca_sync_event_task_wait_eq *task, union doca_data number, union doca_data data)
{
	tasks_note(doca_sync_event_task_wait_eq_as_doca_task(task), "wait", number);
}

static struct doca_sync_event *new_event(struct side *side)
{
	struct doca_sync_event *event;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_cpu(event, side->dev));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, side->dev));
	return event;
}

static struct tested_event open_event(struct side *side)
{
	struct tested_event tested = { .event = new_event(side) };

	tested.actor = comch_actor(side, "event", doca_sync_event_as_ctx(tested.event));
	MUST(doca_sync_event_task_notify_add_set_conf(tested.event, on_added, on_added, NUM));
	MUST(doca_sync_event_task_wait_eq_set_conf(tested.event, on_waited, on_waited, NUM));
	MUST(doca_ctx_start(tested.actor->ctx));
	comch_forget(side);
	return tested;
}

static uint64_t value_of(const struct tested_event *tested)
{
	uint64_t value;

	MUST(doca_sync_event_get(tested->event, &value));
	return value;
}

/* The first adds 1, the second 10, the third 100. */
static void add(struct tested_event *tested, int number)
{
	static const uint64_t amounts[] = { 1, 10, 100 };
	struct doca_sync_event_task_notify_add *task;

	MUST(doca_sync_event_task_notify_add_alloc_init(tested->event, amounts[number - 1], &tested->fetched,
							(union doca_data){ .u64 = (uint64_t)number }, &task));
	tasks_submit(doca_sync_event_task_notify_add_as_doca_task(task), number);
}

static void wait_for_5(struct tested_event *tested, int number)
{
	struct doca_sync_event_task_wait_eq *task;

	MUST(doca_sync_event_task_wait_eq_alloc_init(tested->event, 5, UINT64_MAX,
						     (union doca_data){ .u64 = (uint64_t)number }, &task));
	tasks_submit(doca_sync_event_task_wait_eq_as_doca_task(task), number);
}

static void close_event(struct tested_event *tested)
{
	MUST(doca_sync_event_destroy(tested->event));
	free(tested->actor);
}

static void updates_dpu(struct side *side)
{
	struct tested_event hit = open_event(side), other = open_event(side);
	uint64_t begin_ns = bfsim_now_ns();

	cell_arm();
	for (int number = 1; number <= NUM; number++)
		add(&hit, number);
	CHECK(value_of(&hit) == 101);
	tasks_expect_all(side, begin_ns);
	if (!cell_is("fail")) {
		CHECK(value_of(&hit) == (cell_is("delay") ? 111 : 101));
		tasks_stop(hit.actor, cell->on_host);
	}
	add(&other, 1);
	comch_expect(side, "add 1\n");
	tasks_stop(other.actor, "event: running -> stopping\nevent: stopping -> idle\n");
	close_event(&hit);
	close_event(&other);
}

static void waits_dpu(struct side *side)
{
	struct tested_event hit = open_event(side), other = open_event(side);
	uint64_t begin_ns;

	cell_arm();
	for (int number = 1; number <= NUM; number++)
		wait_for_5(&hit, number);
	begin_ns = bfsim_now_ns();
	if (!cell_is("fail"))
		MUST(doca_sync_event_update_set(hit.event, 5));
	tasks_expect_all(side, begin_ns);
	wait_for_5(&other, 1);
	MUST(doca_sync_event_update_set(other.event, 5));
	comch_expect(side, "wait 1\n");
	if (!cell_is("fail"))
		tasks_stop(hit.actor, cell->on_host);
	tasks_stop(other.actor, "event: running -> stopping\nevent: stopping -> idle\n");
	close_event(&hit);
	close_event(&other);
}

/* ---- sync events: at once ---- */

static struct doca_sync_event *called_event;
static _Atomic bool has_returned;

static doca_error_t call(void)
{
	return strcmp(cell->op, "sync_event.update") == 0 ? doca_sync_event_update_set(called_event, 7) :
							    doca_sync_event_wait_neq(called_event, 9, UINT64_MAX);
}

static void *call_in_thread(void *unused)
{
	call();
	has_returned = true;
	return unused;
}

/* The call does not return, while all else continues: the test observes that for a while. The process ends with
 * the call. */
static void see_it_hang(struct side *side)
{
	uint64_t begin_ns = bfsim_now_ns();
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, call_in_thread, NULL) == 0);
	while (bfsim_fault_unfired(NULL) != 0)
		;
	while (cell_since_ns(begin_ns) < CELL_DELAY_NS) {
		CHECK(doca_pe_progress(side->pe) == 0);
		rest_between_polls();
	}
	CHECK(!has_returned);
	cell_expect_hit();
	_exit(0);
}

static void calls_dpu(struct side *side)
{
	doca_error_t expected = cell_is("refuse") ? DOCA_ERROR_AGAIN :
				cell_is("fail")   ? DOCA_ERROR_TIME_OUT :
						    DOCA_SUCCESS;
	uint64_t begin_ns, value;

	called_event = new_event(side);
	MUST(doca_sync_event_start(called_event));
	cell_arm();
	if (cell_is("hang"))
		see_it_hang(side);
	begin_ns = bfsim_now_ns();
	EXPECT(call(), expected);
	if (cell_is("delay"))
		CHECK(cell_since_ns(begin_ns) >= CELL_DELAY_NS);
	cell_expect_hit();
	MUST(doca_sync_event_get(called_event, &value));
	CHECK(value == (expected == DOCA_SUCCESS && strcmp(cell->op, "sync_event.update") == 0 ? 7 : 0));
	MUST(call());
	MUST(doca_sync_event_stop(called_event));
	MUST(doca_sync_event_destroy(called_event));
}

#define STOPS(name) name ": running -> stopping\n"
#define IDLE(name)  name ": stopping -> idle\n"
#define IO_FAILED   " failed: DOCA_ERROR_IO_FAILED\n"
#define TIME_OUT    " failed: DOCA_ERROR_TIME_OUT\n"

/* The host's field of the cell holds the trace of stopping the context that was hit. */
static const struct cell cells[] = {
	{ "dma.memcpy", "refuse", "nth=2 refuse", dma_dpu, comch_nothing, "copy 1\ncopy 3\n",
	  STOPS("dma") IDLE("dma") },
	{ "dma.memcpy", "fail", "nth=2 fail=TIME_OUT moved=25%", dma_dpu, comch_nothing,
	  "copy 1\n" STOPS("dma") "copy 2" TIME_OUT "copy 3" IO_FAILED IDLE("dma"), NULL },
	{ "dma.memcpy", "hang", "nth=3 hang", dma_dpu, comch_nothing, "copy 1\ncopy 2\n",
	  STOPS("dma") "copy 3" IO_FAILED IDLE("dma") },
	{ "dma.memcpy", "delay", "nth=2 delay=500ms", dma_dpu, comch_nothing, "copy 1\ncopy 2\ncopy 3\n",
	  STOPS("dma") IDLE("dma") },
	{ "dma.memcpy", "flip", "nth=2 flip=1", dma_dpu, comch_nothing, "copy 1\ncopy 2\ncopy 3\n",
	  STOPS("dma") IDLE("dma") },
	{ "dma.memcpy", "tear", "nth=2 tear", dma_dpu, comch_nothing, "copy 1\ncopy 2\ncopy 3\n",
	  STOPS("dma") IDLE("dma") },
	{ "sync_event.update", "refuse", "nth=2 refuse", updates_dpu, comch_nothing, "add 1\nadd 3\n",
	  STOPS("event") IDLE("event") },
	{ "sync_event.update", "fail", "nth=2 fail=TIME_OUT", updates_dpu, comch_nothing,
	  "add 1\n" STOPS("event") "add 2" TIME_OUT "add 3\n" IDLE("event"), NULL },
	{ "sync_event.update", "hang", "nth=2 hang", updates_dpu, comch_nothing, "add 1\nadd 3\n",
	  STOPS("event") "add 2" IO_FAILED IDLE("event") },
	{ "sync_event.update", "delay", "nth=2 delay=3s", updates_dpu, comch_nothing, "add 1\nadd 3\nadd 2\n",
	  STOPS("event") IDLE("event") },
	{ "sync_event.wait", "refuse", "nth=2 refuse", waits_dpu, comch_nothing, "wait 1\nwait 3\n",
	  STOPS("event") IDLE("event") },
	{ "sync_event.wait", "fail", "nth=2 fail=TIME_OUT", waits_dpu, comch_nothing,
	  STOPS("event") "wait 2" TIME_OUT "wait 1" IO_FAILED "wait 3" IO_FAILED IDLE("event"), NULL },
	{ "sync_event.wait", "hang", "nth=2 hang", waits_dpu, comch_nothing, "wait 1\nwait 3\n",
	  STOPS("event") "wait 2" IO_FAILED IDLE("event") },
	{ "sync_event.wait", "delay", "nth=2 delay=3s", waits_dpu, comch_nothing, "wait 1\nwait 3\nwait 2\n",
	  STOPS("event") IDLE("event") },
	{ "sync_event.update", "refuse", "nth=1 refuse", calls_dpu, comch_nothing, NULL, NULL },
	{ "sync_event.update", "fail", "nth=1 fail=TIME_OUT", calls_dpu, comch_nothing, NULL, NULL },
	{ "sync_event.update", "delay", "nth=1 delay=500ms", calls_dpu, comch_nothing, NULL, NULL },
	{ "sync_event.update", "hang", "nth=1 hang", calls_dpu, comch_nothing, NULL, NULL },
	{ "sync_event.wait", "refuse", "nth=1 refuse", calls_dpu, comch_nothing, NULL, NULL },
	{ "sync_event.wait", "fail", "nth=1 fail=TIME_OUT", calls_dpu, comch_nothing, NULL, NULL },
	{ "sync_event.wait", "delay", "nth=1 delay=500ms", calls_dpu, comch_nothing, NULL, NULL },
	{ "sync_event.wait", "hang", "nth=1 hang", calls_dpu, comch_nothing, NULL, NULL },
};

int main(void)
{
	return cell_run("tasks", cells, sizeof(cells) / sizeof(cells[0]));
}
