/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/exports.h: what a process exposes to peers, and for how long. The test asks as the daemon does. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "emulated.h"
#include "sim/session/exports.h"
#include "sim/session/session_priv.h"

#define KEY   5
#define OTHER 6
#define ALIAS 7
#define TAG   0x1234

static uint8_t memory[2][64];
static struct sim_exports *exports;
static int epoll_fd, free_fd; /* before the test */

/* The descriptor that the next open() would return. */
static int next_fd(void)
{
	int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);

	close(fd);
	return fd;
}

static void add(uint64_t key, uint8_t *bytes)
{
	const struct sim_region region = { .cpu_addr = (uintptr_t)bytes,
					   .len_bytes = sizeof(memory[0]),
					   .access = SIM_ACCESS_READ | SIM_ACCESS_WRITE };

	assert_int_equal(sim_exports_add(exports, key, &region), 0);
}

static int set_up(void **state)
{
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	free_fd = next_fd();
	assert_int_equal(sim_exports_create(epoll_fd, TAG, &exports), 0);
	add(KEY, memory[0]);
	add(OTHER, memory[1]);
	return 0;
}

static int tear_down(void **state)
{
	sim_exports_destroy(exports);
	assert_int_equal(next_fd(), free_fd);
	close(epoll_fd);
	return 0;
}

/* Expose the memory; the connection is closed. */
static int expose(uint64_t key, uint64_t of, bool connect, struct sim_grant *ret_grant)
{
	int fd, rc = sim_exports_describe(exports, key, of, SIM_TRANSPORT_TCP, connect, ret_grant, &fd);

	assert_int_equal(fd >= 0, rc == 0 && connect);
	if (fd >= 0)
		close(fd);
	return rc;
}

static struct sim_grant grant_of(uint64_t key, uint64_t of)
{
	struct sim_grant grant;

	assert_int_equal(expose(key, of, false, &grant), 0);
	return grant;
}

static bool is_same(const struct sim_grant *a, const struct sim_grant *b)
{
	return memcmp(a->secret, b->secret, sizeof(a->secret)) == 0;
}

/* Whether the key's exposure is still that of @before. */
static bool still_has(uint64_t key, uint64_t of, const struct sim_grant *before)
{
	const struct sim_grant now = grant_of(key, of);

	return is_same(&now, before);
}

static void test_each_export_has_a_grant_which_stays(void **state)
{
	struct sim_grant first = grant_of(KEY, KEY), second = grant_of(OTHER, OTHER);

	assert_false(is_same(&first, &second));
	assert_true(still_has(KEY, KEY, &first));
	assert_true(still_has(OTHER, OTHER, &second));
}

static void test_an_alias_has_a_grant_of_its_own(void **state)
{
	struct sim_grant origin = grant_of(KEY, KEY), alias = grant_of(ALIAS, KEY);

	assert_false(is_same(&origin, &alias));
	assert_true(still_has(ALIAS, KEY, &alias));
}

/* No export; an alias of none; a key that is an alias of other memory, or no alias. */
static void test_keys_that_do_not_fit_are_stale(void **state)
{
	struct sim_grant grant;

	grant_of(ALIAS, KEY);
	assert_int_equal(expose(99, 99, true, &grant), -ESTALE);
	assert_int_equal(expose(99, 98, true, &grant), -ESTALE);
	assert_int_equal(expose(ALIAS, OTHER, true, &grant), -ESTALE);
	assert_int_equal(expose(OTHER, KEY, true, &grant), -ESTALE);
}

/* With the memory go its aliases, and no other. A key of the same number that comes later is exposed anew. */
static void test_the_end_of_memory_ends_its_aliases(void **state)
{
	struct sim_grant other = grant_of(OTHER, OTHER), of_other = grant_of(ALIAS + 1, OTHER), grant;

	grant_of(KEY, KEY);
	grant_of(ALIAS, KEY);
	sim_exports_remove(exports, KEY);
	assert_int_equal(expose(ALIAS, KEY, false, &grant), -ESTALE);
	assert_int_equal(expose(KEY, KEY, false, &grant), -ESTALE);
	assert_true(still_has(OTHER, OTHER, &other));
	assert_true(still_has(ALIAS + 1, OTHER, &of_other));
}

static void test_the_end_of_an_alias_ends_nothing_else(void **state)
{
	struct sim_grant origin = grant_of(KEY, KEY), alias = grant_of(ALIAS, KEY);

	sim_exports_remove_alias(exports, 99);
	sim_exports_remove_alias(exports, KEY);
	assert_true(still_has(KEY, KEY, &origin));
	sim_exports_remove_alias(exports, ALIAS);
	assert_true(still_has(KEY, KEY, &origin));
	assert_false(still_has(ALIAS, KEY, &alias));
}

/* One that was never exposed goes, too: it has no grant that could end another one's. */
static void test_the_end_of_an_export_that_nobody_asked_for_ends_nothing_else(void **state)
{
	struct sim_grant first = grant_of(KEY, KEY);

	sim_exports_remove(exports, OTHER);
	assert_true(still_has(KEY, KEY, &first));
}

static void test_the_descriptor_that_wakes_is_copied_of_an_inbox_alone(void **state)
{
	struct sim_grant grant;
	int fd;

	assert_int_equal(sim_exports_describe(exports, KEY, KEY, SIM_TRANSPORT_WAKE, false, &grant, &fd), -ESTALE);
	assert_int_equal(fd, -1);
	assert_int_equal(sim_exports_describe(exports, 99, 99, SIM_TRANSPORT_WAKE, false, &grant, &fd), -ESTALE);
	assert_int_equal(fd, -1);
}

/* Also if a child has a copy of its descriptor then. */
static void test_the_target_is_watched_until_it_is_closed(void **state)
{
	struct epoll_event event;
	struct sim_grant grant;
	pid_t child;
	int fd;

	assert_int_equal(sim_exports_describe(exports, KEY, KEY, SIM_TRANSPORT_TCP, true, &grant, &fd), 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(epoll_wait(epoll_fd, &event, 1, 10000), 1);
	assert_int_equal(event.data.u64, TAG);
	child = fork();
	assert_true(child >= 0);
	while (child == 0)
		pause();
	sim_exports_close(exports);
	assert_int_equal(epoll_wait(epoll_fd, &event, 1, 0), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(expose(KEY, KEY, true, &grant), -ESTALE);
	close(fd);
	sim_exports_remove(exports, KEY); /* exposed, by a target that is closed */
}

static void test_memory_is_opened_if_that_is_permitted(void **state)
{
	int fd;

	assert_int_equal(sim_exports_open_memory(exports, KEY, KEY, SIM_TRANSPORT_MEM, &fd), -EPERM);
	assert_int_equal(fd, -1);
	sim_exports_permit_memory(exports);
	assert_int_equal(sim_exports_open_memory(exports, 99, 99, SIM_TRANSPORT_MEM, &fd), -ESTALE);
	assert_int_equal(fd, -1);
	assert_int_equal(sim_exports_open_memory(exports, KEY, KEY, SIM_TRANSPORT_MEM, &fd), 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
	assert_int_equal(sim_exports_open_memory(exports, KEY, KEY, SIM_TRANSPORT_MAPS, &fd), 0);
	if (!is_emulated()) /* qemu gives a file of its own for maps */
		assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	close(fd);
}

/* ---- threads: the thread sanitizer looks on ---- */

#define ROUNDS 50

static pthread_barrier_t begin;
static atomic_uint num_rounds;
static atomic_bool is_over, is_served;

static void *export_memory(void *arg)
{
	const uint64_t key = (uintptr_t)arg, alias = key + 1;

	pthread_barrier_wait(&begin);
	for (int i = 0; !atomic_load(&is_over); i++) {
		const struct sim_region region = { .cpu_addr = (uintptr_t)memory[0], .len_bytes = sizeof(memory[0]) };
		struct sim_grant grant;
		int fds[3]; /* -1 = none, as the target is closed */

		if (sim_exports_add(exports, key, &region) < 0)
			break;
		sim_exports_describe(exports, key, key, SIM_TRANSPORT_TCP, i < ROUNDS / 2, &grant, &fds[0]);
		sim_exports_describe(exports, alias, key, SIM_TRANSPORT_TCP, false, &grant, &fds[1]);
		sim_exports_open_memory(exports, key, key, SIM_TRANSPORT_MEM, &fds[2]);
		for (int j = 0; j < 3; j++)
			if (fds[j] >= 0)
				close(fds[j]);
		sim_exports_remove_alias(exports, alias);
		sim_exports_remove(exports, key);
		atomic_fetch_add(&num_rounds, 1);
	}
	return NULL;
}

static void *serve(void *arg)
{
	pthread_barrier_wait(&begin);
	while (!atomic_load(&is_served))
		sim_exports_serve(exports, 0);
	return NULL;
}

static void *look_for_buffers(void *arg)
{
	pthread_barrier_wait(&begin);
	for (; !atomic_load(&is_over); sched_yield())
		sim_exports_has_buffers(exports);
	return NULL;
}

static void *trim(void *arg)
{
	pthread_barrier_wait(&begin);
	for (; !atomic_load(&is_over); sched_yield())
		sim_exports_trim(exports);
	return NULL;
}

static void *remove_alias_that_is_none(void *arg)
{
	pthread_barrier_wait(&begin);
	for (; !atomic_load(&is_over); sched_yield())
		sim_exports_remove_alias(exports, OTHER);
	return NULL;
}

/* All of its exports are one. */
static int owner_export(struct sim_owner *owner, const struct sim_region *region, int object_fd,
			struct sim_key *ret_key)
{
	ret_key->id = KEY;
	return 0;
}

static void *export_inbox(void *arg)
{
	const struct sim_owner_memory_ops ops = { .export = owner_export };
	struct sim_owner owner = { .memory = &ops };
	struct sim_session session = { .owner = &owner, .exports = exports };
	const struct sim_region region = { 0 };
	struct sim_key key;

	pthread_barrier_wait(&begin);
	for (; !atomic_load(&is_over); sched_yield())
		if (sim_session_export_inbox(&session, &region, -1, STDIN_FILENO, &key) < 0)
			abort();
	return NULL;
}

static void await_rounds(unsigned int count)
{
	const unsigned int from = atomic_load(&num_rounds);

	while (atomic_load(&num_rounds) - from < count)
		sched_yield();
}

static void test_peers_connect_while_the_process_serves(void **state)
{
	struct sim_grant grant = grant_of(KEY, KEY); /* there is a target from the begin on */
	pthread_t thread;

	atomic_store(&is_served, false);
	pthread_barrier_init(&begin, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, serve, NULL), 0);
	pthread_barrier_wait(&begin);
	for (int i = 0; i < 4 * ROUNDS; i++)
		assert_int_equal(expose(KEY, KEY, true, &grant), 0);
	atomic_store(&is_served, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_barrier_destroy(&begin);
}

static void test_threads_export_and_serve_at_once_and_beside_the_end(void **state)
{
	void *(*const bodies[])(void *arg) = {
		serve, export_memory, export_memory, look_for_buffers, trim, remove_alias_that_is_none, export_inbox
	};
	enum { NUM_THREADS = sizeof(bodies) / sizeof(bodies[0]) };
	pthread_t threads[NUM_THREADS];
	struct sim_grant grant;

	grant_of(KEY, KEY);
	atomic_store(&is_served, false);
	pthread_barrier_init(&begin, NULL, NUM_THREADS + 1);
	for (uintptr_t i = 0; i < NUM_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, bodies[i], (void *)(100 * (i + 1))), 0);
	pthread_barrier_wait(&begin);
	sim_exports_permit_memory(exports);
	await_rounds(ROUNDS);
	atomic_store(&is_served, true);
	assert_int_equal(pthread_join(threads[0], NULL), 0);
	sim_exports_close(exports);
	await_rounds(ROUNDS);
	atomic_store(&is_over, true);
	for (int i = 1; i < NUM_THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	pthread_barrier_destroy(&begin);
	assert_int_equal(expose(KEY, KEY, true, &grant), -ESTALE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_export_has_a_grant_which_stays),
		TEST(test_an_alias_has_a_grant_of_its_own),
		TEST(test_keys_that_do_not_fit_are_stale),
		TEST(test_the_end_of_memory_ends_its_aliases),
		TEST(test_the_end_of_an_alias_ends_nothing_else),
		TEST(test_the_end_of_an_export_that_nobody_asked_for_ends_nothing_else),
		TEST(test_the_descriptor_that_wakes_is_copied_of_an_inbox_alone),
		TEST(test_the_target_is_watched_until_it_is_closed),
		TEST(test_memory_is_opened_if_that_is_permitted),
		TEST(test_peers_connect_while_the_process_serves),
		TEST(test_threads_export_and_serve_at_once_and_beside_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
