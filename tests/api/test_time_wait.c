/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that block in virtual time: in doca_sync_event_wait_...(), while another thread copies. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include <doca_log.h>
#include <doca_sync_event.h>

#include "cmocka_test.h"
#include "dma_util.h"
#include "time_util.h"

/* An engine with one task, which is submitted again and again. */
struct copier {
	struct rig *rig;
	struct doca_clock *clock;
	struct doca_buf *to;
	struct doca_task *task;
	bool is_back;
};

static void on_task(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	struct copier *copier = rig->arg;

	CHECK(doca_dma_task_memcpy_as_task(task) == copier->task);
	copier->is_back = true;
}

static void copier_open(struct copier *copier, size_t arena_bytes)
{
	const struct rig_cfg cfg = { .arena_bytes = arena_bytes };

	*copier = (struct copier){ .rig = rig_start(rig_open(&cfg)) };
	MUST(doca_clock_create(copier->rig->dev, &copier->clock));
	copier->to = rig_dst(copier->rig, 4096, 64);
	copier->task = rig_task(copier->rig, 0, rig_src(copier->rig, 0, 64), copier->to);
	copier->rig->on_task = on_task;
	copier->rig->arg = copier;
}

static void copier_close(struct copier *copier)
{
	doca_task_free(copier->task);
	MUST(doca_clock_destroy(copier->clock));
	rig_close(copier->rig);
}

static void copy(struct copier *copier)
{
	copier->is_back = false;
	copier->rig->trace->text[0] = '\0';
	MUST(doca_buf_reset_data_len(copier->to));
	MUST(doca_task_submit(copier->task));
	while (!copier->is_back)
		doca_pe_progress(copier->rig->pe);
}

/* ---- one blocks until the other, between copies, sets a sync event ---- */

enum memory { OWN, GIVEN };

struct signal {
	struct doca_sync_event *event;
	uint64_t word; /* where the value is, if it is given */
	bool plainly;  /* it is stored, not set */
	atomic_bool is_heard;
	uint64_t set_ns, heard_ns;
	pthread_barrier_t barrier;
};

static void signal_open(struct signal *signal, struct doca_dev *dev, enum memory memory)
{
	MUST(doca_sync_event_create(&signal->event));
	MUST(doca_sync_event_add_publisher_location_cpu(signal->event, dev));
	MUST(doca_sync_event_add_subscriber_location_cpu(signal->event, dev));
	if (memory == GIVEN)
		MUST(doca_sync_event_set_addr(signal->event, &signal->word));
	MUST(doca_sync_event_start(signal->event));
	pthread_barrier_init(&signal->barrier, NULL, 2);
}

static void signal_close(struct signal *signal)
{
	MUST(doca_sync_event_destroy(signal->event));
	pthread_barrier_destroy(&signal->barrier);
}

static void *hears(void *arg)
{
	struct signal *signal = arg;
	struct copier copier;

	copier_open(&copier, RIG_ARENA_BYTES);
	pthread_barrier_wait(&signal->barrier); /* all have begun */
	MUST(doca_sync_event_wait_eq(signal->event, 1, UINT64_MAX));
	signal->heard_ns = now_ns(copier.clock);
	signal->is_heard = true;
	copier_close(&copier);
	return NULL;
}

static void give_signal(struct signal *signal)
{
	if (signal->plainly)
		__atomic_store_n(&signal->word, 1,
				 __ATOMIC_RELAXED); /* an ordinary one, that a thread checker permits */
	else
		MUST(doca_sync_event_update_set(signal->event, 1));
}

/* Copies, sets the event at the fifth copy, and copies on until the waiting thread has reacted. */
static void copies_and_sets(int out, enum memory memory, bool plainly)
{
	struct signal signal = { .plainly = plainly };
	struct copier copier;
	pthread_t thread;

	copier_open(&copier, RIG_ARENA_BYTES);
	signal_open(&signal, copier.rig->dev, memory);
	CHECK(pthread_create(&thread, NULL, hears, &signal) == 0);
	pthread_barrier_wait(&signal.barrier);
	for (unsigned int i = 0; i < 5 || !signal.is_heard; i++) {
		copy(&copier);
		if (i != 4)
			continue;
		signal.set_ns = now_ns(copier.clock);
		give_signal(&signal);
	}
	pthread_join(thread, NULL);
	CHECK(signal.heard_ns >= signal.set_ns);
	dprintf(out, "set at %" PRIu64, signal.set_ns);
	if (!plainly) /* this time differs from run to run */
		dprintf(out, ", heard at %" PRIu64, signal.heard_ns);
	signal_close(&signal);
	copier_close(&copier);
}

static void sets_own(int out)
{
	copies_and_sets(out, OWN, false);
}

static void sets_given(int out)
{
	copies_and_sets(out, GIVEN, false);
}

static void stores(int out)
{
	copies_and_sets(out, GIVEN, true);
}

static void *waits_in_vain(void *arg)
{
	struct signal *signal = arg;
	struct copier copier;

	copier_open(&copier, RIG_ARENA_BYTES);
	pthread_barrier_wait(&signal->barrier);
	CHECK(doca_sync_event_wait_eq(signal->event, 1, UINT64_MAX) != DOCA_SUCCESS);
	copier_close(&copier);
	return NULL;
}

/* Its engine is not polled while it waits for the other thread to leave the event. */
static void stops_the_event(int out)
{
	struct signal signal = { 0 };
	struct doca_log_backend *log;
	struct copier copier;
	pthread_t thread;

	MUST(doca_log_backend_create_with_fd_sdk(out, &log));
	MUST(doca_log_backend_set_sdk_level(log, DOCA_LOG_LEVEL_WARNING));
	copier_open(&copier, RIG_ARENA_BYTES);
	signal_open(&signal, copier.rig->dev, OWN);
	CHECK(pthread_create(&thread, NULL, waits_in_vain, &signal) == 0);
	pthread_barrier_wait(&signal.barrier);
	copy(&copier); /* it ends when the other waits */
	MUST(doca_sync_event_stop(signal.event));
	pthread_join(thread, NULL);
	dprintf(out, "stopped\n");
	signal_close(&signal);
	copier_close(&copier);
}

/* ---- one blocks, or polls, with a task that it has submitted and not polled; the other copies meanwhile ---- */

#define OWNED_BYTES 262144

enum waits { POLLS, BLOCKS, IN_CALLS };

struct owner {
	struct copier copier;
	struct signal signal;
	enum waits waits;
};

static bool is_set(const struct owner *owner)
{
	uint64_t value;

	MUST(doca_sync_event_get(owner->signal.event, &value));
	return value == 1;
}

static void *owns_a_task(void *arg)
{
	struct owner *owner = arg;
	struct copier *copier = &owner->copier;
	struct rig *rig;

	copier_open(copier, 2 * OWNED_BYTES);
	rig = copier->rig;
	doca_task_free(copier->task);
	copier->task = rig_task(rig, 0, rig_src(rig, 0, OWNED_BYTES), rig_dst(rig, OWNED_BYTES, OWNED_BYTES));
	pthread_barrier_wait(&owner->signal.barrier);
	MUST(doca_task_submit(copier->task));
	if (owner->waits == BLOCKS)
		MUST(doca_sync_event_wait_eq(owner->signal.event, 1, UINT64_MAX));
	for (unsigned int i = 0; i < 8 && owner->waits == IN_CALLS; i++)
		MUST(doca_sync_event_update_set(owner->signal.event, 0)); /* takes 2.5 us */
	while (!copier->is_back || !is_set(owner))
		doca_pe_progress(rig->pe);
	owner->signal.heard_ns = now_ns(copier->clock);
	owner->signal.is_heard = true;
	copier_close(copier);
	return NULL;
}

/* Says when each of its copies ended, and whether the owner's bytes were there. */
static void copies_beside(int out, enum waits waits)
{
	struct owner owner = { .waits = waits };
	struct copier copier;
	pthread_t thread;

	copier_open(&copier, RIG_ARENA_BYTES);
	signal_open(&owner.signal, copier.rig->dev, OWN);
	CHECK(pthread_create(&thread, NULL, owns_a_task, &owner) == 0);
	pthread_barrier_wait(&owner.signal.barrier);
	for (unsigned int i = 0; i < 20; i++) {
		copy(&copier);
		dprintf(out, "%" PRIu64 "%s\n", now_ns(copier.clock),
			rig_was_copied(owner.copier.rig, OWNED_BYTES, 0, OWNED_BYTES) ? " copied" : "");
	}
	MUST(doca_sync_event_update_set(owner.signal.event, 1));
	while (!owner.signal.is_heard)
		copy(&copier);
	pthread_join(thread, NULL);
	if (waits == BLOCKS) /* by a poll the owner hears of it later, as no task of its own waits for the event */
		dprintf(out, "heard at %" PRIu64 "\n", owner.signal.heard_ns);
	signal_close(&owner.signal);
	copier_close(&copier);
}

static void owner_polls(int out)
{
	copies_beside(out, POLLS);
}

static void owner_blocks(int out)
{
	copies_beside(out, BLOCKS);
}

static void owner_makes_calls(int out)
{
	copies_beside(out, IN_CALLS);
}

/* The thread returns at that time: the setting thread continues after the waiting thread has run. */
static void test_thread_that_blocks_for_a_sync_event_goes_on_at_the_virtual_time_of_the_change(void **state)
{
	static program *const programs[] = { sets_own, sets_given };
	unsigned long long set_ns, heard_ns;
	struct text text;

	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		run("virtual", programs[i], &text);
		assert_int_equal(sscanf(text.chars, "set at %llu, heard at %llu", &set_ns, &heard_ns), 2);
		assert_true(set_ns > 5 * 1000);
		assert_int_equal(heard_ns, set_ns);
		assert_same_each_time("virtual", programs[i]);
	}
}

/* A plain store, of which the library is not notified, while another thread always has work. */
static void test_thread_that_blocks_in_virtual_time_notices_a_plain_store(void **state)
{
	assert_same_each_time("virtual", stores);
}

/* Else no thread would continue before the scheduler gave up on the blocked one, with a warning. */
static void test_stop_does_not_wait_for_the_turn_of_the_thread_that_waits_for_the_event(void **state)
{
	struct text text;

	run("virtual", stops_the_event, &text);
	assert_non_null(strstr(text.chars, "stopped\n"));
	assert_null(strstr(text.chars, "virtual time no longer waits"));
}

static size_t count(const char *text, const char *word)
{
	size_t number = 0;

	for (; (text = strstr(text, word)); text++)
		number++;
	return number;
}

/* The owner's task runs before any of the other thread's copies ends, and takes the card's engine as long, whichever way the owner
 * waits: nothing depends on the library's own thread, which runs the tasks that nobody polls, by the machine's time. */
static void test_task_of_a_thread_that_blocks_runs_as_that_of_one_that_polls(void **state)
{
	struct text polls, blocks, calls;

	setenv("BFSIM_TOPOLOGY", API_DATA_DIR "/timing.yaml", 1);
	run("virtual", owner_polls, &polls);
	run("virtual", owner_blocks, &blocks);
	assert_int_equal(count(polls.chars, "copied"), 20);
	assert_memory_equal(blocks.chars, polls.chars, strlen(polls.chars));
	assert_same_each_time("virtual", owner_blocks);
	run("virtual", owner_makes_calls, &calls);
	assert_string_equal(calls.chars, polls.chars);
	unsetenv("BFSIM_TOPOLOGY");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_task_of_a_thread_that_blocks_runs_as_that_of_one_that_polls),
		cmocka_unit_test(test_thread_that_blocks_for_a_sync_event_goes_on_at_the_virtual_time_of_the_change),
		cmocka_unit_test(test_thread_that_blocks_in_virtual_time_notices_a_plain_store),
		cmocka_unit_test(test_stop_does_not_wait_for_the_turn_of_the_thread_that_waits_for_the_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
