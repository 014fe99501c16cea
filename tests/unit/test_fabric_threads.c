/* SPDX-License-Identifier: BSD-3-Clause */
/* What the remotes of a process share, used by several threads at once: the processes of peers, their memory, the connections to
 * them. The thread sanitizer finds a lock that is missing; without it, so does a count that is wrong. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/base/pidfd.h"
#include "sim/fabric/peer_memory.h"
#include "sim/fabric/peer_process.h"
#include "sim/fabric/served/served.h"

#define THREADS    4
#define ROUNDS     300
#define PROCESS_ID 7

static void run_threads(void *body(void *arg))
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, body, NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		void *result;

		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_null(result);
	}
}

/* A thread's result is NULL, or names what failed. */
static void *use_process(void *arg)
{
	int pidfd = sim_pidfd_open(getpid());

	for (int i = 0; i < ROUNDS; i++) {
		struct sim_peer_process *process;

		if (sim_peer_process_get(pidfd, &process) < 0 || process->pid != getpid())
			return "the process";
		sim_peer_process_put(process);
	}
	close(pidfd);
	return NULL;
}

static void test_threads_share_the_process_of_a_peer(void **state)
{
	run_threads(use_process);
}

static void *use_memory(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct sim_peer_memory *memory = sim_peer_memory_find(PROCESS_ID, false);

		if (!memory && sim_peer_memory_create(PROCESS_ID, false, open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
						      -1, &memory) < 0)
			return "its memory";
		sim_peer_memory_put(memory);
	}
	return NULL;
}

static void test_threads_share_the_memory_of_a_peer(void **state)
{
	run_threads(use_memory);
	assert_null(sim_peer_memory_find(PROCESS_ID, false));
}

static unsigned int num_asked; /* one thread at a time asks */

/* A peer that does not answer: an initiator takes and returns the connection, and fails. */
static int describe(void *arg, enum sim_transport transport, bool connect, struct sim_grant *ret_grant, int *ret_fd)
{
	num_asked++;
	return -ETIMEDOUT;
}

static void *use_initiator(void *arg)
{
	const struct sim_initiator_cfg cfg = { .transport = SIM_TRANSPORT_TCP,
					       .target_id = PROCESS_ID,
					       .describe = describe };

	for (int i = 0; i < ROUNDS; i++) {
		struct sim_initiator *initiator;

		if (sim_initiator_create(&cfg, &initiator) != -ETIMEDOUT)
			return "an initiator";
	}
	return NULL;
}

static void test_threads_share_the_connection_to_a_peer(void **state)
{
	run_threads(use_initiator);
	assert_int_equal(num_asked, THREADS * ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_share_the_process_of_a_peer),
		cmocka_unit_test(test_threads_share_the_memory_of_a_peer),
		cmocka_unit_test(test_threads_share_the_connection_to_a_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
