/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner of a private card (sim/session/owner.h): what a fault of a function ends. The process is the DPU. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/api/bfsim.h"
#include "sim/fabric/remote.h"
#include "sim/session/imports.h"
#include "sim/session/owner.h"
#include "sim/session/session_priv.h"
#include "unordered.h"

#define FUNCTION   0
#define OTHER      1
#define REP        2 /* the host's 03:00.0, whose representor FUNCTION has */
#define DEADLINE_S 30

static uint8_t memory[2][64];
static struct sim_session *session;

static int set_up(void **state)
{
	const struct sim_session_cfg cfg = { .side = "dpu" };

	alarm(DEADLINE_S);
	return sim_session_attach(&cfg, &session);
}

static int tear_down(void **state)
{
	assert_int_equal(bfsim_fault_clear(), 0);
	sim_session_detach(session);
	alarm(0);
	return 0;
}

static int listen(uint64_t number, uint32_t rep, const char *name)
{
	const struct sim_service service = { .function = FUNCTION, .rep = rep, .name = name };

	return session->owner->channels->listen(session->owner, number, &service);
}

static struct sim_remote *export_and_import(uint8_t *bytes, uint32_t function, struct sim_key *ret_key)
{
	const struct sim_region region = { .addr = (uintptr_t)bytes,
					   .cpu_addr = (uintptr_t)bytes,
					   .len_bytes = sizeof(memory[0]),
					   .access = SIM_ACCESS_READ,
					   .function = function };
	struct sim_remote *remote;

	assert_int_equal(sim_session_export(session, &region, -1, ret_key), 0);
	assert_int_equal(sim_session_import(session, ret_key, OTHER, &remote, NULL), 0);
	return remote;
}

/* Two exports, as the reset ends one after the other; that of another function stays. */
static void test_reset_of_a_function_ends_its_exports_and_services(void **state)
{
	struct sim_remote *remotes[3], *again;
	struct sim_key keys[3];

	for (int i = 0; i < 3; i++)
		remotes[i] = export_and_import(memory[i % 2], i < 2 ? FUNCTION : OTHER, &keys[i]);
	assert_int_equal(listen(1, REP, "s"), 0);
	assert_int_equal(listen(2, REP, "s"), -EADDRINUSE);
	assert_int_equal(bfsim_fault_add("function side=dpu device=03:00.0 reset", NULL), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(atomic_load(&remotes[i]->revoked), i < 2);
		if (i < 2)
			assert_true(sim_session_import(session, &keys[i], OTHER, &again, NULL) < 0);
		sim_session_release(session, remotes[i]);
	}
	assert_int_equal(listen(2, REP, "s"), 0);
}

static void test_representor_that_is_gone_has_no_service(void **state)
{
	assert_int_equal(listen(1, REP, "s"), 0);
	assert_int_equal(bfsim_fault_add("function side=host rep_remove", NULL), 0);
	assert_int_equal(listen(2, REP, "s"), -ENODEV);
	assert_int_equal(listen(3, SIM_NETWORK, "s"), 0);
	assert_int_equal(bfsim_fault_clear(), 0);
	assert_int_equal(bfsim_fault_add("function side=host add", NULL), 0);
	assert_int_equal(listen(2, REP, "s"), 0); /* the one of before has ended */
}

/* ---- threads: the thread sanitizer looks on ---- */

#define NUM_THREADS 3
#define ROUNDS      100

static pthread_barrier_t begin; /* of all, so that they meet */

static void *work(void *arg)
{
	const uint64_t number = (uintptr_t)arg;
	const struct sim_service service = { .function = FUNCTION,
					     .rep = REP,
					     .name = (const char[]){ (char)('a' + number), 0 } };
	static uint8_t bytes[NUM_THREADS][64];

	pthread_barrier_wait(&begin);
	for (int i = 0; i < ROUNDS; i++) {
		const struct sim_region region = { .addr = (uintptr_t)bytes[number],
						   .cpu_addr = (uintptr_t)bytes[number],
						   .len_bytes = sizeof(bytes[0]),
						   .access = SIM_ACCESS_READ,
						   .function = FUNCTION };
		struct sim_remote *remote, *alias;
		struct sim_key key, alias_key;

		if (sim_session_export(session, &region, -1, &key) != 0 ||
		    sim_session_import(session, &key, OTHER, &remote, NULL) != 0 ||
		    sim_session_export_imported(session, remote, OTHER, &alias_key) != 0 ||
		    sim_session_import(session, &alias_key, FUNCTION, &alias, NULL) != 0 ||
		    session->owner->channels->listen(session->owner, number + 1, &service) != 0)
			abort();
		sim_imports_revoke_stale(session->imports);
		session->owner->channels->unlisten(session->owner, number + 1);
		if (i % 2)
			sim_session_release(session, alias);
		if (sim_session_unexport(session, key.id) != 0)
			abort();
		if (i % 2 == 0)
			sim_session_release(session, alias);
		sim_session_release(session, remote);
	}
	return NULL;
}

/* Resets of functions that nobody here uses take the same locks. */
static void test_threads_use_the_card_at_once(void **state)
{
	pthread_t threads[NUM_THREADS];

	pthread_barrier_init(&begin, NULL, NUM_THREADS + 1);
	for (uintptr_t i = 0; i < NUM_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
	pthread_barrier_wait(&begin);
	for (int i = 0; i < 20; i++)
		assert_int_equal(bfsim_fault_add("function side=host reset", NULL), 0);
	for (int i = 0; i < NUM_THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	pthread_barrier_destroy(&begin);
}

/* ---- each call takes the lock ---- */

static struct sim_key origin; /* exported, and imported once */
static struct sim_region more;

static void export_more(void *arg)
{
	struct sim_key key;

	if (session->owner->memory->export(session->owner, &more, -1, &key) != 0)
		abort();
}

static void export_alias(void *arg)
{
	struct sim_key key;

	if (session->owner->memory->export_alias(session->owner, origin.id, OTHER, &key) != 0)
		abort();
}

static void import_origin(void *arg)
{
	struct sim_imported imported;

	if (session->owner->memory->import(session->owner, &origin, OTHER, &imported) != 0)
		abort();
}

static void unimport_origin(void *arg)
{
	session->owner->memory->unimport(session->owner, origin.id);
}

static void set_path(void *arg)
{
	session->owner->memory->set_path(session->owner, origin.id, "", "");
}

static void revoke_key(void *key)
{
	session->owner->memory->revoke(session->owner, ((struct sim_key *)key)->id);
}

static void listen_to_network(void *arg)
{
	if (listen(1, SIM_NETWORK, "s") != 0)
		abort();
}

static void unlisten(void *arg)
{
	session->owner->channels->unlisten(session->owner, 1);
}

static void add_fault(void *rule)
{
	if (bfsim_fault_add(rule, NULL) != 0)
		abort();
}

/* Those that read stand beside those that write the same. */
static void test_each_call_takes_the_cards_lock(void **state)
{
	static struct unordered calls;
	struct sim_remote *imported = export_and_import(memory[0], FUNCTION, &origin);
	struct sim_key keys[2];

	more = (struct sim_region){ .addr = (uintptr_t)memory[1],
				    .cpu_addr = (uintptr_t)memory[1],
				    .len_bytes = sizeof(memory[1]),
				    .access = SIM_ACCESS_READ,
				    .function = OTHER };
	for (int i = 0; i < 2; i++)
		assert_int_equal(sim_session_export(session, &more, -1, &keys[i]), 0);
	unordered_run(&calls, export_more, NULL);
	unordered_run(&calls, export_alias, NULL);
	unordered_run(&calls, revoke_key, &keys[0]);
	unordered_run(&calls, import_origin, NULL);
	unordered_run(&calls, set_path, NULL);
	unordered_run(&calls, unimport_origin, NULL);
	unordered_run(&calls, revoke_key, &keys[1]);
	unordered_run(&calls, listen_to_network, NULL);
	unordered_run(&calls, add_fault, "function side=host rep_remove");
	unordered_run(&calls, unlisten, NULL);
	unordered_run(&calls, listen_to_network, NULL);
	unordered_run(&calls, add_fault, "function side=dpu device=03:00.0 reset");
	unordered_run(&calls, listen_to_network, NULL); /* the reset has ended the service */
	unordered_run(&calls, export_more, NULL);
	unordered_end(&calls);
	sim_session_release(session, imported);
	assert_int_equal(bfsim_fault_clear(), 0);
	assert_int_equal(bfsim_fault_add("function side=host add", NULL), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reset_of_a_function_ends_its_exports_and_services),
		TEST(threads_use_the_card_at_once),
		TEST(each_call_takes_the_cards_lock),
		TEST(representor_that_is_gone_has_no_service),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
