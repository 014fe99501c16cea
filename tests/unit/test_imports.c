/* SPDX-License-Identifier: BSD-3-Clause */
/* Imports of a private card, whose process exports and imports its own memory. */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/fabric/remote.h"
#include "sim/session/session.h"

#define FUNCTION     2 /* the host's, of the built-in topology */
#define DPU_FUNCTION 0
#define DEADLINE_S   30

static uint8_t memory[2][4096];

static struct sim_session *attach(void)
{
	struct sim_session_cfg cfg = { .side = "host" };
	struct sim_session *session;

	assert_int_equal(sim_session_attach(&cfg, &session), 0);
	return session;
}

static struct sim_remote *export_and_import(struct sim_session *session, uint8_t *bytes, struct sim_key *ret_key)
{
	struct sim_region region = { .addr = (uintptr_t)bytes,
				     .cpu_addr = (uintptr_t)bytes,
				     .len_bytes = sizeof(memory[0]),
				     .access = SIM_ACCESS_READ | SIM_ACCESS_WRITE | SIM_ACCESS_CHANNEL,
				     .function = FUNCTION };
	struct sim_remote *remote;

	assert_int_equal(sim_session_export(session, &region, -1, ret_key), 0);
	assert_int_equal(sim_session_import(session, ret_key, FUNCTION, &remote, NULL), 0);
	return remote;
}

struct unexport {
	struct sim_session *session;
	uint64_t key;
	int rc;
	atomic_bool done;
};

static void *unexport_thread(void *arg)
{
	struct unexport *unexport = arg;

	unexport->rc = sim_session_unexport(unexport->session, unexport->key);
	atomic_store(&unexport->done, true);
	return NULL;
}

/* A copy of the first memory runs while its export ends. The end waits for the copy; exports and imports of other
 * memory do not. */
static void test_a_revocation_that_waits_for_a_copy_holds_up_no_other_import(void **state)
{
	struct unexport unexport = { .session = attach() };
	struct sim_remote *first, *second;
	struct sim_key first_key, second_key;
	pthread_t thread;

	alarm(DEADLINE_S);
	first = export_and_import(unexport.session, memory[0], &first_key);
	assert_true(sim_remote_acquire(first));
	unexport.key = first_key.id;
	assert_int_equal(pthread_create(&thread, NULL, unexport_thread, &unexport), 0);
	while (!atomic_load(&first->revoked))
		sched_yield();

	second = export_and_import(unexport.session, memory[1], &second_key);
	sim_session_release(unexport.session, second);
	assert_int_equal(sim_session_unexport(unexport.session, second_key.id), 0);
	assert_false(atomic_load(&unexport.done));

	sim_remote_release(first);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(unexport.rc, 0);
	sim_session_release(unexport.session, first);
	sim_session_detach(unexport.session);
	alarm(0);
}

/* A copy that another thread holds until it sees that the memory's key has ended. */
struct held_copy {
	struct sim_session *session;
	struct sim_remote *remote;
	struct sim_key key;
	atomic_bool is_out;
};

static void *hold_copy(void *arg)
{
	struct held_copy *held = arg;
	struct sim_remote *again;

	while (sim_session_import(held->session, &held->key, DPU_FUNCTION, &again, NULL) == 0)
		sim_session_release(held->session, again);
	usleep(10000); /* an end that does not wait returns meanwhile */
	atomic_store(&held->is_out, true);
	sim_remote_release(held->remote);
	return NULL;
}

/* The DPU exports memory, imports it, exports that again, and imports the alias. A copy by the alias is under way while the alias and
 * its maker's import end: the memory is in use up to the copy's end. */
static void test_the_end_of_memory_waits_for_a_copy_by_an_alias_that_ended_before(void **state)
{
	const struct sim_session_cfg cfg = { .side = "dpu" };
	const struct sim_region region = { .addr = (uintptr_t)memory[0],
					   .cpu_addr = (uintptr_t)memory[0],
					   .len_bytes = sizeof(memory[0]),
					   .access = SIM_ACCESS_READ,
					   .function = DPU_FUNCTION };
	struct held_copy held = { 0 };
	struct sim_remote *imported;
	struct sim_session *session;
	struct sim_key alias;
	pthread_t thread;

	alarm(DEADLINE_S);
	assert_int_equal(sim_session_attach(&cfg, &session), 0);
	held.session = session;
	assert_int_equal(sim_session_export(session, &region, -1, &held.key), 0);
	assert_int_equal(sim_session_import(session, &held.key, DPU_FUNCTION, &imported, NULL), 0);
	assert_int_equal(sim_session_export_imported(session, imported, DPU_FUNCTION, &alias), 0);
	assert_int_equal(sim_session_import(session, &alias, DPU_FUNCTION, &held.remote, NULL), 0);
	assert_true(sim_remote_acquire(held.remote));
	sim_session_release(session, imported);
	assert_true(atomic_load(&held.remote->revoked));

	assert_int_equal(pthread_create(&thread, NULL, hold_copy, &held), 0);
	assert_int_equal(sim_session_unexport(session, held.key.id), 0);
	assert_true(atomic_load(&held.is_out));
	assert_int_equal(pthread_join(thread, NULL), 0);
	sim_session_release(session, held.remote);
	sim_session_detach(session);
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_revocation_that_waits_for_a_copy_holds_up_no_other_import),
		cmocka_unit_test(test_the_end_of_memory_waits_for_a_copy_by_an_alias_that_ended_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
