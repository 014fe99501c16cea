/* SPDX-License-Identifier: BSD-3-Clause */
/* DPA threads: configuration, affinity, groups, and what activates them. */
#include <string.h>

#include "dpa_util.h"

static struct doca_dev *dev;

/* unreachable: doca_dpa_thread_create DOCA_ERROR_NO_MEMORY: the pool of threads is small
 * unreachable: doca_dpa_thread_destroy DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_thread_stop DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_thread_get_id DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_thread_group_create DOCA_ERROR_NO_MEMORY: a group is small
 * unreachable: doca_dpa_thread_group_destroy DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_thread_group_destroy DOCA_ERROR_BAD_STATE: nothing holds a group
 * unreachable: doca_dpa_thread_group_start DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_thread_group_stop DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_thread_group_stop DOCA_ERROR_BAD_STATE: nothing holds a group
 * unreachable: doca_dpa_completion_create DOCA_ERROR_NO_MEMORY: the pool of completions is small
 * unreachable: doca_dpa_completion_destroy DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_completion_stop DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_notification_completion_create DOCA_ERROR_NO_MEMORY: the pool is small
 * unreachable: doca_dpa_notification_completion_destroy DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_notification_completion_destroy DOCA_ERROR_BAD_STATE: nothing holds it
 * unreachable: doca_dpa_notification_completion_stop DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_notification_completion_stop DOCA_ERROR_BAD_STATE: nothing holds it
 */

/* A thread with its storage and an event that counts its runs. */
struct rig {
	struct doca_dpa *dpa;
	struct doca_dpa_thread *thread;
	struct doca_dpa_notification_completion *notification;
	doca_dpa_dev_notification_completion_t handle;
	struct doca_sync_event *event;
	doca_dpa_dev_uintptr_t storage;
};

static void open_rig(struct rig *rig, struct doca_dpa *dpa, struct doca_dpa_eu_affinity *affinity, bool finishes)
{
	struct storage storage = { .finishes = finishes };

	rig->dpa = dpa;
	rig->event = dpa_event_new(dpa, &storage.event);
	assert_ok(doca_dpa_mem_alloc(dpa, sizeof(storage), &rig->storage));
	assert_ok(doca_dpa_h2d_memcpy(dpa, rig->storage, &storage, sizeof(storage)));
	assert_ok(doca_dpa_thread_create(dpa, &rig->thread));
	assert_ok(doca_dpa_thread_set_func_arg(rig->thread, run_thread, 5));
	assert_ok(doca_dpa_thread_set_local_storage(rig->thread, rig->storage));
	if (affinity)
		assert_ok(doca_dpa_thread_set_affinity(rig->thread, affinity));
	assert_ok(doca_dpa_thread_start(rig->thread));
	assert_ok(doca_dpa_notification_completion_create(dpa, rig->thread, &rig->notification));
	assert_ok(doca_dpa_notification_completion_start(rig->notification));
	assert_ok(doca_dpa_notification_completion_get_dpa_handle(rig->notification, &rig->handle));
}

static void close_rig(struct rig *rig)
{
	assert_ok(doca_dpa_notification_completion_destroy(rig->notification));
	assert_ok(doca_dpa_thread_destroy(rig->thread));
	assert_ok(doca_sync_event_destroy(rig->event));
	assert_ok(doca_dpa_mem_free(rig->dpa, rig->storage));
}

static void notify_thread(struct rig *rig)
{
	uint64_t value;

	assert_ok(doca_dpa_rpc(rig->dpa, notify, &value, rig->handle));
}

static struct storage read_storage(struct rig *rig)
{
	struct storage storage;

	assert_ok(doca_dpa_d2h_memcpy(rig->dpa, &storage, rig->storage, sizeof(storage)));
	return storage;
}

/* ---- activation ---- */

static void test_each_notification_runs_the_thread_once(void **state)
{
	struct rig rig;

	open_rig(&rig, *state, NULL, false);
	assert_ok(doca_dpa_thread_run(rig.thread));
	for (uint64_t i = 0; i < 100; i++) {
		notify_thread(&rig);
		dpa_event_wait(rig.event, i);
	}
	assert_int_equal(read_storage(&rig).runs, 500);
	close_rig(&rig);
}

static void test_notification_before_the_run_is_kept(void **state)
{
	struct rig rig;
	uint64_t value;

	open_rig(&rig, *state, NULL, false);
	notify_thread(&rig);
	notify_thread(&rig);
	assert_ok(doca_sync_event_get(rig.event, &value));
	assert_int_equal(value, 0);
	assert_ok(doca_dpa_thread_run(rig.thread));
	dpa_event_wait(rig.event, 0);
	notify_thread(&rig);
	dpa_event_wait(rig.event, 1);
	close_rig(&rig);
}

static void test_finished_thread_does_not_run_again(void **state)
{
	struct rig rig, other;

	open_rig(&rig, *state, NULL, true);
	open_rig(&other, *state, NULL, false);
	assert_ok(doca_dpa_thread_run(rig.thread));
	assert_ok(doca_dpa_thread_run(other.thread));
	notify_thread(&rig);
	dpa_event_wait(rig.event, 0);
	notify_thread(&rig);
	notify_thread(&other);
	dpa_event_wait(other.event, 0);
	assert_int_equal(read_storage(&rig).runs, 5);
	close_rig(&other);
	close_rig(&rig);
}

static void test_threads_of_one_unit_take_turns(void **state)
{
	struct doca_dpa_eu_affinity *affinity;
	struct rig rigs[4];

	assert_ok(doca_dpa_eu_affinity_create(*state, &affinity));
	assert_ok(doca_dpa_eu_affinity_set(affinity, 3));
	for (int i = 0; i < 4; i++) {
		open_rig(&rigs[i], *state, affinity, false);
		assert_ok(doca_dpa_thread_run(rigs[i].thread));
	}
	for (uint64_t round = 0; round < 20; round++) {
		for (int i = 0; i < 4; i++)
			notify_thread(&rigs[i]);
		for (int i = 0; i < 4; i++)
			dpa_event_wait(rigs[i].event, round);
	}
	for (int i = 0; i < 4; i++)
		close_rig(&rigs[i]);
	assert_ok(doca_dpa_eu_affinity_destroy(affinity));
}

static void test_running_thread_is_ended_by_its_stop(void **state)
{
	doca_dpa_dev_notification_completion_t handle;
	struct doca_dpa_notification_completion *notification;
	struct doca_dpa_thread *thread;
	doca_dpa_dev_sync_event_t event_handle;
	struct doca_sync_event *event = dpa_event_new(*state, &event_handle);
	uint64_t value;

	assert_ok(doca_dpa_thread_create(*state, &thread));
	assert_ok(doca_dpa_thread_set_func_arg(thread, wait_for_ever, event_handle));
	assert_ok(doca_dpa_thread_start(thread));
	assert_ok(doca_dpa_thread_run(thread));
	assert_ok(doca_dpa_notification_completion_create(*state, thread, &notification));
	assert_ok(doca_dpa_notification_completion_start(notification));
	assert_ok(doca_dpa_notification_completion_get_dpa_handle(notification, &handle));
	assert_ok(doca_dpa_rpc(*state, notify, &value, handle));
	dpa_event_wait(event, 0);
	assert_ok(doca_dpa_notification_completion_destroy(notification));
	assert_ok(doca_dpa_thread_stop(thread));
	assert_ok(doca_dpa_thread_destroy(thread));
	assert_ok(doca_dpa_rpc(*state, count_calls, &value));
	assert_ok(doca_sync_event_destroy(event));
}

/* ---- configuration ---- */

/* provokes: doca_dpa_thread_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_destroy DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_thread_stop DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_stop DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_thread_start DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_start DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_thread_run DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_run DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_thread_get_id DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_get_id DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_thread_set_func_arg DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_set_func_arg DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_thread_get_func_arg DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_set_local_storage DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_set_local_storage DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_thread_get_local_storage DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_set_affinity DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_set_affinity DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_thread_get_affinity DOCA_ERROR_INVALID_VALUE */
static void test_thread_is_configured_before_its_start(void **state)
{
	const struct doca_dpa_eu_affinity *set;
	struct doca_dpa_eu_affinity *affinity;
	struct doca_dpa_notification_completion *notification;
	struct doca_dpa_thread *thread;
	doca_dpa_dev_uintptr_t storage;
	doca_dpa_func_t *func;
	uint64_t arg;
	uint32_t id;

	assert_invalid(doca_dpa_thread_create(NULL, &thread));
	assert_invalid(doca_dpa_thread_create(*state, NULL));
	assert_ok(doca_dpa_thread_create(*state, &thread));
	assert_ok(doca_dpa_eu_affinity_create(*state, &affinity));
	assert_doca(doca_dpa_thread_start(thread), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_thread_run(thread), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_thread_get_id(thread, &id), DOCA_ERROR_BAD_STATE);
	assert_invalid(doca_dpa_thread_set_func_arg(thread, NULL, 0));
	assert_ok(doca_dpa_thread_set_func_arg(thread, run_thread, 3));
	assert_ok(doca_dpa_thread_get_func_arg(thread, &func, &arg));
	assert_true(func == run_thread && arg == 3);
	assert_ok(doca_dpa_thread_set_local_storage(thread, 64));
	assert_ok(doca_dpa_thread_get_local_storage(thread, &storage));
	assert_int_equal(storage, 64);
	assert_invalid(doca_dpa_thread_set_affinity(thread, NULL));
	assert_ok(doca_dpa_thread_set_affinity(thread, affinity));
	assert_ok(doca_dpa_thread_get_affinity(thread, &set));
	assert_ptr_equal(set, affinity);
	assert_ok(doca_dpa_thread_start(thread));
	assert_ok(doca_dpa_thread_get_id(thread, &id));
	assert_doca(doca_dpa_thread_set_func_arg(thread, run_thread, 3), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_thread_set_local_storage(thread, 64), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_thread_set_affinity(thread, affinity), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_notification_completion_create(*state, thread, &notification));
	assert_doca(doca_dpa_thread_stop(thread), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_thread_destroy(thread), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_notification_completion_destroy(notification));
	assert_ok(doca_dpa_thread_stop(thread));
	assert_ok(doca_dpa_thread_destroy(thread));
	assert_ok(doca_dpa_eu_affinity_destroy(affinity));
	assert_invalid(doca_dpa_thread_destroy(NULL));
	assert_invalid(doca_dpa_thread_stop(NULL));
	assert_invalid(doca_dpa_thread_start(NULL));
	assert_invalid(doca_dpa_thread_run(NULL));
	assert_invalid(doca_dpa_thread_get_id(NULL, &id));
	assert_invalid(doca_dpa_thread_get_func_arg(NULL, &func, &arg));
	assert_invalid(doca_dpa_thread_set_local_storage(NULL, 64));
	assert_invalid(doca_dpa_thread_get_local_storage(NULL, &storage));
	assert_invalid(doca_dpa_thread_get_affinity(NULL, &set));
}

/* provokes: doca_dpa_thread_start DOCA_ERROR_DRIVER
 * provokes: doca_dpa_eu_affinity_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_eu_affinity_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_eu_affinity_destroy DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_eu_affinity_set DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_eu_affinity_clear DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_eu_affinity_get DOCA_ERROR_INVALID_VALUE */
static void test_thread_does_not_start_outside_of_the_partition(void **state)
{
	struct doca_dpa_eu_affinity *affinity;
	struct doca_dpa_thread *thread;
	unsigned int eu;

	assert_invalid(doca_dpa_eu_affinity_create(NULL, &affinity));
	assert_ok(doca_dpa_eu_affinity_create(*state, &affinity));
	assert_invalid(doca_dpa_eu_affinity_get(affinity, &eu));
	assert_invalid(doca_dpa_eu_affinity_set(NULL, 1));
	assert_ok(doca_dpa_eu_affinity_set(affinity, 190));
	assert_ok(doca_dpa_eu_affinity_get(affinity, &eu));
	assert_int_equal(eu, 190);
	assert_ok(doca_dpa_thread_create(*state, &thread));
	assert_ok(doca_dpa_thread_set_func_arg(thread, run_thread, 0));
	assert_ok(doca_dpa_thread_set_affinity(thread, affinity));
	assert_doca(doca_dpa_thread_start(thread), DOCA_ERROR_DRIVER);
	assert_doca(doca_dpa_eu_affinity_destroy(affinity), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_eu_affinity_set(affinity, 189));
	assert_ok(doca_dpa_thread_start(thread));
	assert_ok(doca_dpa_eu_affinity_clear(affinity));
	assert_invalid(doca_dpa_eu_affinity_clear(NULL));
	assert_ok(doca_dpa_thread_destroy(thread));
	assert_ok(doca_dpa_eu_affinity_destroy(affinity));
	assert_invalid(doca_dpa_eu_affinity_destroy(NULL));
}

/* provokes: doca_dpa_thread_group_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_group_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_group_get_num_threads DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_group_set_thread DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_group_set_thread DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_thread_group_start DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_thread_group_start DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_thread_group_stop DOCA_ERROR_INVALID_VALUE */
static void test_group_gives_ranks(void **state)
{
	struct doca_dpa_tg *group;
	struct rig rigs[2];
	unsigned int num;

	assert_invalid(doca_dpa_thread_group_create(*state, 0, &group));
	assert_ok(doca_dpa_thread_group_create(*state, 2, &group));
	assert_ok(doca_dpa_thread_group_get_num_threads(group, &num));
	assert_int_equal(num, 2);
	assert_invalid(doca_dpa_thread_group_get_num_threads(NULL, &num));
	for (int i = 0; i < 2; i++)
		open_rig(&rigs[i], *state, NULL, false);
	assert_ok(doca_dpa_thread_group_set_thread(group, rigs[0].thread, 1));
	assert_invalid(doca_dpa_thread_group_set_thread(group, rigs[1].thread, 2));
	assert_doca(doca_dpa_thread_group_set_thread(group, rigs[0].thread, 0), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_thread_group_start(group), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_thread_group_set_thread(group, rigs[1].thread, 0));
	assert_ok(doca_dpa_thread_group_start(group));
	assert_doca(doca_dpa_thread_group_set_thread(group, rigs[1].thread, 0), DOCA_ERROR_BAD_STATE);
	for (int i = 0; i < 2; i++) {
		assert_ok(doca_dpa_thread_run(rigs[i].thread));
		notify_thread(&rigs[i]);
		dpa_event_wait(rigs[i].event, 0);
		assert_int_equal(read_storage(&rigs[i]).rank, 1 - i);
	}
	assert_ok(doca_dpa_thread_group_stop(group));
	assert_invalid(doca_dpa_thread_group_stop(NULL));
	assert_invalid(doca_dpa_thread_group_start(NULL));
	assert_ok(doca_dpa_thread_group_destroy(group));
	assert_invalid(doca_dpa_thread_group_destroy(NULL));
	for (int i = 0; i < 2; i++)
		close_rig(&rigs[i]);
}

/* ---- completions and notifications ---- */

/* provokes: doca_dpa_completion_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_completion_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_completion_get_queue_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_completion_set_thread DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_completion_set_thread DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_completion_get_thread DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_completion_start DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_completion_start DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_completion_start DOCA_ERROR_DRIVER
 * provokes: doca_dpa_completion_stop DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_completion_get_dpa_handle DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_completion_get_dpa_handle DOCA_ERROR_BAD_STATE */
static void test_completion_belongs_to_a_started_thread(void **state)
{
	struct doca_dpa *fatal = dpa_open_fatal(), *stopped = dpa_new();
	struct doca_dpa_completion *completion, *other;
	struct doca_dpa_thread *thread, *found;
	doca_dpa_dev_completion_t handle;
	unsigned int size;
	uint64_t value;

	assert_invalid(doca_dpa_completion_create(*state, 0, &completion));
	assert_invalid(doca_dpa_completion_create(NULL, 8, &completion));
	assert_ok(doca_dpa_completion_create(*state, 8, &completion));
	assert_ok(doca_dpa_completion_get_queue_size(completion, &size));
	assert_int_equal(size, 8);
	assert_invalid(doca_dpa_completion_get_queue_size(NULL, &size));
	assert_ok(doca_dpa_thread_create(*state, &thread));
	assert_ok(doca_dpa_thread_set_func_arg(thread, run_thread, 0));
	assert_doca(doca_dpa_completion_set_thread(completion, thread), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_thread_start(thread));
	assert_ok(doca_dpa_completion_set_thread(completion, thread));
	assert_invalid(doca_dpa_completion_set_thread(completion, NULL));
	assert_ok(doca_dpa_completion_get_thread(completion, &found));
	assert_ptr_equal(found, thread);
	assert_invalid(doca_dpa_completion_get_thread(NULL, &found));
	assert_doca(doca_dpa_completion_get_dpa_handle(completion, &handle), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_completion_start(completion));
	assert_doca(doca_dpa_completion_set_thread(completion, thread), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_completion_get_dpa_handle(completion, &handle));
	assert_invalid(doca_dpa_completion_get_dpa_handle(completion, NULL));
	assert_ok(doca_dpa_rpc(*state, poll_completion, &value, handle));
	assert_int_equal(value, 0);
	assert_doca(doca_dpa_thread_destroy(thread), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_completion_stop(completion));
	assert_ok(doca_dpa_completion_destroy(completion));
	assert_ok(doca_dpa_thread_destroy(thread));
	assert_ok(doca_dpa_completion_create(fatal, 8, &completion));
	assert_doca(doca_dpa_completion_start(completion), DOCA_ERROR_DRIVER);
	assert_ok(doca_dpa_completion_create(stopped, 8, &other));
	assert_doca(doca_dpa_completion_start(other), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_completion_destroy(completion));
	assert_ok(doca_dpa_completion_destroy(other));
	assert_invalid(doca_dpa_completion_destroy(NULL));
	assert_invalid(doca_dpa_completion_start(NULL));
	assert_invalid(doca_dpa_completion_stop(NULL));
	assert_ok(doca_dpa_destroy(fatal));
	assert_ok(doca_dpa_destroy(stopped));
}

/* provokes: doca_dpa_notification_completion_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_notification_completion_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_notification_completion_get_thread DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_notification_completion_start DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_notification_completion_start DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_notification_completion_start DOCA_ERROR_DRIVER
 * provokes: doca_dpa_notification_completion_stop DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_notification_completion_get_dpa_handle DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_notification_completion_get_dpa_handle DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_thread_run DOCA_ERROR_DRIVER */
static void test_notification_belongs_to_a_started_thread(void **state)
{
	struct doca_dpa_notification_completion *notification;
	doca_dpa_dev_notification_completion_t handle;
	struct doca_dpa *fatal = dpa_open();
	struct doca_dpa_thread *thread, *found;
	uint64_t value;

	assert_ok(doca_dpa_thread_create(fatal, &thread));
	assert_ok(doca_dpa_thread_set_func_arg(thread, run_thread, 0));
	assert_invalid(doca_dpa_notification_completion_create(fatal, NULL, &notification));
	assert_ok(doca_dpa_notification_completion_create(fatal, thread, &notification));
	assert_ok(doca_dpa_notification_completion_get_thread(notification, &found));
	assert_ptr_equal(found, thread);
	assert_invalid(doca_dpa_notification_completion_get_thread(NULL, &found));
	assert_doca(doca_dpa_notification_completion_start(notification), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_notification_completion_get_dpa_handle(notification, &handle), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_thread_start(thread));
	assert_ok(doca_dpa_notification_completion_start(notification));
	assert_ok(doca_dpa_notification_completion_get_dpa_handle(notification, &handle));
	assert_ok(doca_dpa_notification_completion_stop(notification));
	assert_doca(doca_dpa_rpc(fatal, notify, &value, handle), DOCA_ERROR_DRIVER);
	dpa_remove_crash_file(NULL);
	assert_doca(doca_dpa_notification_completion_start(notification), DOCA_ERROR_DRIVER);
	assert_doca(doca_dpa_thread_run(thread), DOCA_ERROR_DRIVER);
	assert_ok(doca_dpa_notification_completion_destroy(notification));
	assert_ok(doca_dpa_thread_destroy(thread));
	assert_invalid(doca_dpa_notification_completion_destroy(NULL));
	assert_invalid(doca_dpa_notification_completion_start(NULL));
	assert_invalid(doca_dpa_notification_completion_stop(NULL));
	assert_invalid(doca_dpa_notification_completion_get_dpa_handle(NULL, &handle));
	assert_ok(doca_dpa_destroy(fatal));
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, dpa_setup, dpa_teardown)

static const struct CMUnitTest on_card[] = {
	TEST(each_notification_runs_the_thread_once),
	TEST(notification_before_the_run_is_kept),
	TEST(finished_thread_does_not_run_again),
	TEST(threads_of_one_unit_take_turns),
	TEST(running_thread_is_ended_by_its_stop),
	TEST(thread_is_configured_before_its_start),
	TEST(thread_does_not_start_outside_of_the_partition),
	TEST(group_gives_ranks),
	TEST(completion_belongs_to_a_started_thread),
	TEST(notification_belongs_to_a_started_thread),
};

int main(void)
{
	return API_RUN({ .name = "dpu", .side = "dpu", .dev = &dev, API_WITH(on_card) });
}
