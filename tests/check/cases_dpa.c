/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about the DPA. */
#include <doca_dpa.h>
#include <doca_sync_event.h>
#include <doca_mmap.h>
#include <stdio.h>
#include <unistd.h>

#include "cases.h"

/* Device code of tests/api/dpa/kernels.c. */
extern struct doca_dpa_app *dpa_test_app;
doca_dpa_func_t post_copies, take_completions, get_window, nap;
doca_dpa_func_t load, get_event, notify, run_thread, wait_for_ever, follow_event;

struct storage {
	doca_dpa_dev_sync_event_t event;
	uint64_t runs, rank;
	bool finishes;
};

static struct doca_dev *dev;
static int num_open; /* contexts */

static void open_dev(void)
{
	struct doca_devinfo **list;
	uint32_t num = 0;

	MUST(doca_devinfo_create_list(&list, &num));
	for (uint32_t i = 0; i < num && !dev; i++)
		if (doca_dpa_cap_is_supported(list[i]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_destroy_list(list));
	CHECK(dev);
}

static struct doca_dpa *open_dpa(void)
{
	struct doca_dpa *dpa;

	if (num_open++ == 0)
		open_dev();
	MUST(doca_dpa_create(dev, &dpa));
	MUST(doca_dpa_set_app(dpa, dpa_test_app));
	MUST(doca_dpa_start(dpa));
	return dpa;
}

static void close_dpa(struct doca_dpa *dpa)
{
	MUST(doca_dpa_destroy(dpa));
	if (--num_open == 0)
		MUST(doca_dev_close(dev));
}

/* The file that tells of a fatal kernel. */
static void close_fatal(struct doca_dpa *dpa)
{
	char path[64];

	close_dpa(dpa);
	snprintf(path, sizeof(path), "/tmp/doca_dpa_fatal.%d.crash", (int)getpid());
	CHECK(unlink(path) == 0);
}

static struct doca_sync_event *open_event(struct doca_dpa *dpa, doca_dpa_dev_sync_event_t *ret_handle)
{
	struct doca_sync_event *event;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_cpu(event, dev));
	MUST(doca_sync_event_add_publisher_location_dpa(event, dpa));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, dev));
	MUST(doca_sync_event_add_subscriber_location_dpa(event, dpa));
	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_get_dpa_handle(event, dpa, ret_handle));
	return event;
}

/* ---- kernels that end ---- */

/* The kernel says that it runs, and waits for what nobody sets. */
static void stop_waiting_kernel(void)
{
	struct doca_dpa *dpa = open_dpa();
	doca_dpa_dev_sync_event_t handle;
	struct doca_sync_event *event = open_event(dpa, &handle);

	MUST(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, NULL, 0, 1, wait_for_ever, handle));
	MUST(doca_sync_event_wait_gt(event, 0, UINT64_MAX));
	MUST(doca_dpa_stop(dpa));
	MUST(doca_sync_event_destroy(event));
	close_dpa(dpa);
}

/* The kernel has what it waits for, and is about to end. */
static void stop_ended_kernel(void)
{
	struct doca_dpa *dpa = open_dpa();
	doca_dpa_dev_sync_event_t heard, said;
	struct doca_sync_event *to_dpa = open_event(dpa, &heard), *to_host = open_event(dpa, &said);

	MUST(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, NULL, 0, 1, follow_event, heard, said));
	MUST(doca_sync_event_update_set(to_dpa, 7));
	MUST(doca_sync_event_wait_gt(to_host, 8, UINT64_MAX));
	MUST(doca_dpa_stop(dpa));
	MUST(doca_sync_event_destroy(to_dpa));
	MUST(doca_sync_event_destroy(to_host));
	close_dpa(dpa);
}

/* ---- memory ---- */

static void load_at(bool is_heap)
{
	struct doca_dpa *dpa = open_dpa();
	uint64_t value = 5, got = 0;
	doca_dpa_dev_uintptr_t addr;

	MUST(doca_dpa_mem_alloc(dpa, sizeof(value), &addr));
	MUST(doca_dpa_h2d_memcpy(dpa, addr, &value, sizeof(value)));
	EXPECT(doca_dpa_rpc(dpa, load, &got, is_heap ? (uint64_t)addr : (uint64_t)(uintptr_t)&value),
	       is_heap ? DOCA_SUCCESS : DOCA_ERROR_DRIVER);
	if (is_heap)
		close_dpa(dpa);
	else
		close_fatal(dpa);
}

static void load_from_program(void)
{
	load_at(false);
}

static void load_from_heap(void)
{
	load_at(true);
}

static void copy_exchanged(void)
{
	struct doca_dpa *dpa = open_dpa();
	uint64_t value = 5;
	doca_dpa_dev_uintptr_t addr;

	MUST(doca_dpa_mem_alloc(dpa, sizeof(value), &addr));
	EXPECT(doca_dpa_h2d_memcpy(dpa, (doca_dpa_dev_uintptr_t)(uintptr_t)&value, (void *)(uintptr_t)addr,
				   sizeof(value)),
	       DOCA_ERROR_DRIVER);
	close_dpa(dpa);
}

/* ---- handles ---- */

static void use_event_of(bool is_own)
{
	struct doca_dpa *dpa = open_dpa(), *other = open_dpa();
	doca_dpa_dev_sync_event_t handle;
	struct doca_sync_event *event = open_event(is_own ? dpa : other, &handle);
	uint64_t value;

	EXPECT(doca_dpa_rpc(dpa, get_event, &value, handle), is_own ? DOCA_SUCCESS : DOCA_ERROR_DRIVER);
	MUST(doca_sync_event_destroy(event));
	close_dpa(other);
	if (is_own)
		close_dpa(dpa);
	else
		close_fatal(dpa);
}

static void use_others_event(void)
{
	use_event_of(false);
}

static void use_own_event(void)
{
	use_event_of(true);
}

/* ---- notifications ---- */

/* A thread that is notified twice. */
static void notify_thread(bool is_run, bool finishes)
{
	struct doca_dpa *dpa = open_dpa();
	struct storage storage = { .finishes = finishes };
	struct doca_sync_event *event = open_event(dpa, &storage.event);
	struct doca_dpa_notification_completion *notification;
	doca_dpa_dev_notification_completion_t handle;
	struct doca_dpa_thread *thread;
	doca_dpa_dev_uintptr_t addr;
	uint64_t value;

	MUST(doca_dpa_mem_alloc(dpa, sizeof(storage), &addr));
	MUST(doca_dpa_h2d_memcpy(dpa, addr, &storage, sizeof(storage)));
	MUST(doca_dpa_thread_create(dpa, &thread));
	MUST(doca_dpa_thread_set_func_arg(thread, run_thread, 1));
	MUST(doca_dpa_thread_set_local_storage(thread, addr));
	MUST(doca_dpa_thread_start(thread));
	MUST(doca_dpa_notification_completion_create(dpa, thread, &notification));
	MUST(doca_dpa_notification_completion_start(notification));
	MUST(doca_dpa_notification_completion_get_dpa_handle(notification, &handle));
	if (is_run)
		MUST(doca_dpa_thread_run(thread));
	MUST(doca_dpa_rpc(dpa, notify, &value, handle));
	if (is_run)
		MUST(doca_sync_event_wait_gt(event, 0, UINT64_MAX));
	for (int i = 0; finishes && i < 1000; i++) /* one of them comes after the end of the thread's kernel */
		MUST(doca_dpa_rpc(dpa, notify, &value, handle));
	if (is_run && !finishes) {
		MUST(doca_dpa_rpc(dpa, notify, &value, handle));
		MUST(doca_sync_event_wait_gt(event, 1, UINT64_MAX));
	}
	MUST(doca_dpa_notification_completion_destroy(notification));
	MUST(doca_dpa_thread_destroy(thread));
	MUST(doca_sync_event_destroy(event));
	close_dpa(dpa);
}

static void notify_thread_that_is_not_run(void)
{
	notify_thread(false, false);
}

static void notify_finished_thread(void)
{
	notify_thread(true, true);
}

static void notify_thread_twice(void)
{
	notify_thread(true, false);
}

/* ---- completions: of copies in the heap ---- */

#define QUEUE 4

struct copies {
	struct doca_dpa *dpa;
	struct doca_dpa_completion *completion;
	doca_dpa_dev_completion_t completion_handle;
	struct doca_dpa_async_ops *queue;
	doca_dpa_dev_async_ops_t queue_handle;
	struct doca_mmap *map;
	doca_dpa_dev_mmap_t map_handle;
	doca_dpa_dev_uintptr_t addr;
};

/* @thread may be NULL. */
static void open_copies(struct copies *copies, struct doca_dpa *dpa, struct doca_dpa_thread *thread)
{
	copies->dpa = dpa;
	MUST(doca_dpa_completion_create(dpa, QUEUE, &copies->completion));
	if (thread)
		MUST(doca_dpa_completion_set_thread(copies->completion, thread));
	MUST(doca_dpa_completion_start(copies->completion));
	MUST(doca_dpa_completion_get_dpa_handle(copies->completion, &copies->completion_handle));
	MUST(doca_dpa_async_ops_create(dpa, 2 * QUEUE, 0, &copies->queue));
	MUST(doca_dpa_async_ops_attach(copies->queue, copies->completion));
	MUST(doca_dpa_async_ops_start(copies->queue));
	MUST(doca_dpa_async_ops_get_dpa_handle(copies->queue, &copies->queue_handle));
	MUST(doca_dpa_mem_alloc(dpa, 128, &copies->addr));
	MUST(doca_mmap_create(&copies->map));
	MUST(doca_mmap_set_dpa_memrange(copies->map, dpa, copies->addr, 128));
	MUST(doca_mmap_start(copies->map));
	MUST(doca_mmap_dev_get_dpa_handle(copies->map, dev, &copies->map_handle));
}

static void post(const struct copies *copies, uint64_t num)
{
	uint64_t value;

	MUST(doca_dpa_rpc(copies->dpa, post_copies, &value, copies->queue_handle, copies->map_handle, copies->addr,
			  num));
}

static void close_copies(const struct copies *copies)
{
	MUST(doca_dpa_async_ops_destroy(copies->queue));
	MUST(doca_mmap_destroy(copies->map));
	MUST(doca_dpa_completion_destroy(copies->completion));
}

/* The queue has room for four completions. */
static void take_four(bool acks)
{
	struct doca_dpa *dpa = open_dpa();
	struct copies copies;
	uint64_t num;

	open_copies(&copies, dpa, NULL);
	post(&copies, QUEUE);
	MUST(doca_dpa_rpc(dpa, take_completions, &num, copies.completion_handle, (uint64_t)acks));
	CHECK(num == QUEUE);
	post(&copies, 1);
	close_copies(&copies);
	close_dpa(dpa);
}

static void take_without_ack(void)
{
	take_four(false);
}

static void take_and_ack(void)
{
	take_four(true);
}

/* A thread that two completions activate; it does what the arguments say. */
static void sleep_between(bool arms, bool acks)
{
	struct {
		doca_dpa_dev_completion_t completion;
		doca_dpa_dev_sync_event_t event;
		uint64_t arms, acks;
	} napper = { .arms = arms, .acks = acks };
	struct doca_dpa *dpa = open_dpa();
	struct doca_sync_event *event = open_event(dpa, &napper.event);
	struct doca_dpa_thread *thread;
	doca_dpa_dev_uintptr_t arg;
	struct copies copies;

	MUST(doca_dpa_mem_alloc(dpa, sizeof(napper), &arg));
	MUST(doca_dpa_thread_create(dpa, &thread));
	MUST(doca_dpa_thread_set_func_arg(thread, nap, arg));
	MUST(doca_dpa_thread_start(thread));
	open_copies(&copies, dpa, thread);
	napper.completion = copies.completion_handle;
	MUST(doca_dpa_h2d_memcpy(dpa, arg, &napper, sizeof(napper)));
	MUST(doca_dpa_thread_run(thread));
	post(&copies, 1);
	MUST(doca_sync_event_wait_gt(event, 0, UINT64_MAX));
	post(&copies, 1);
	if (arms)
		MUST(doca_sync_event_wait_gt(event, 1, UINT64_MAX));
	close_copies(&copies);
	MUST(doca_dpa_thread_destroy(thread));
	MUST(doca_sync_event_destroy(event));
	close_dpa(dpa);
}

static void sleep_unarmed(void)
{
	sleep_between(false, true);
}

static void sleep_unacked(void)
{
	sleep_between(true, false);
}

static void sleep_armed(void)
{
	sleep_between(true, true);
}

/* ---- windows ---- */

#define NUM_WORDS 64

/* The map fills the last line of the window. */
static void use_window(bool is_ended, uint64_t offset)
{
	static _Alignas(64) uint64_t words[NUM_WORDS];
	struct doca_dpa *dpa = open_dpa();
	doca_dpa_dev_mmap_t handle;
	uint64_t pointer, value;
	struct doca_mmap *map;
	bool is_well = !is_ended && offset < NUM_WORDS * sizeof(*words);

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_memrange(map, words, NUM_WORDS * sizeof(*words)));
	MUST(doca_mmap_start(map));
	MUST(doca_mmap_dev_get_dpa_handle(map, dev, &handle));
	MUST(doca_dpa_rpc(dpa, get_window, &pointer, handle, (uint64_t)(uintptr_t)words));
	if (is_ended)
		MUST(doca_mmap_destroy(map));
	EXPECT(doca_dpa_rpc(dpa, load, &value, pointer + offset), is_well ? DOCA_SUCCESS : DOCA_ERROR_DRIVER);
	if (!is_ended)
		MUST(doca_mmap_destroy(map));
	if (is_well)
		close_dpa(dpa);
	else
		close_fatal(dpa);
}

static void use_window_of_ended_map(void)
{
	use_window(true, 0);
}

static void use_window_behind_its_map(void)
{
	use_window(false, NUM_WORDS * sizeof(uint64_t));
}

static void use_window_to_its_last_word(void)
{
	use_window(false, (NUM_WORDS - 1) * sizeof(uint64_t));
}

const struct check_case dpa_cases[] = {
	{ "dpa-kernel-never-ends", stop_waiting_kernel, stop_ended_kernel },
	{ "dpa-memory-of-other-side", load_from_program, load_from_heap },
	{ "dpa-memory-of-other-side@copy", copy_exchanged, load_from_heap },
	{ "dpa-foreign-handle", use_others_event, use_own_event },
	{ "dpa-notification-unheard", notify_thread_that_is_not_run, notify_thread_twice },
	{ "dpa-notification-unheard@finished", notify_finished_thread, notify_thread_twice },
	{ "dpa-completion-not-acked", take_without_ack, take_and_ack },
	{ "dpa-completion-not-acked@activations", sleep_unacked, sleep_armed },
	{ "dpa-window-misuse", use_window_of_ended_map, use_window_to_its_last_word },
	{ "dpa-window-misuse@range", use_window_behind_its_map, use_window_to_its_last_word },
	{ "dpa-notification-not-armed", sleep_unarmed, sleep_armed },
	{ 0 },
};
