/* SPDX-License-Identifier: BSD-3-Clause */
/* Imports of a private card, whose process exports and imports its own memory. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "open_fds.h"
#include "sim/fabric/remote.h"
#include "sim/session/imports.h"
#include "sim/session/session_priv.h"
#include "sim/state/function_status.h"
#include "sim/shm/wake.h"
#include "unordered.h"

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

struct unexport { /* or the release of an import */
	struct sim_session *session;
	uint64_t key;
	struct sim_remote *remote;
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

/* The descriptor that wakes the owner of an inbox: of one that is refused there is none, what is no such descriptor reads as none. */
static void test_the_descriptor_of_an_inbox_wakes_its_owner(void **state)
{
	struct sim_session *session = attach();
	struct sim_region region = { .addr = (uintptr_t)memory[0],
				     .cpu_addr = (uintptr_t)memory[0],
				     .access = SIM_ACCESS_READ | SIM_ACCESS_WRITE | SIM_ACCESS_CHANNEL,
				     .function = FUNCTION };
	struct sim_remote *inbox;
	struct sim_wake wake;
	struct sim_key key;
	int fd, free_fd;

	assert_int_equal(sim_wake_open(&wake), 0);
	assert_true(sim_session_export_inbox(session, &region, -1, wake.send_fd, &key) < 0);
	region.len_bytes = sizeof(memory[0]);
	for (int i = 0; i < 3; i++) {
		const int given[] = { wake.send_fd, STDIN_FILENO, -1 };

		assert_int_equal(sim_session_export_inbox(session, &region, -1, given[i], &key), 0);
		assert_int_equal(sim_session_import(session, &key, FUNCTION, &inbox, NULL), 0);
		free_fd = dup(STDIN_FILENO);
		close(free_fd);
		fd = sim_session_get_wake_fd(session, inbox);
		assert_int_equal(fd, i == 0 ? free_fd : -1);
		if (fd >= 0)
			close(fd);
		assert_int_equal(dup(STDIN_FILENO), free_fd); /* none is left open */
		close(free_fd);
		sim_session_release(session, inbox);
		assert_int_equal(sim_session_unexport(session, key.id), 0);
	}
	sim_wake_close(&wake);
	sim_session_detach(session);
}

static void test_the_end_of_an_export_ends_no_other_import(void **state)
{
	struct sim_session *session = attach();
	struct sim_key first_key, second_key;
	struct sim_remote *first = export_and_import(session, memory[0], &first_key),
			  *second = export_and_import(session, memory[1], &second_key);

	assert_int_equal(sim_session_unexport(session, first_key.id), 0);
	sim_imports_drain(session->imports, SIM_ANY_KEY);
	assert_true(atomic_load(&first->revoked));
	assert_false(atomic_load(&second->revoked));
	sim_session_release(session, first);
	sim_session_release(session, second);
	sim_session_detach(session);
}

/* Both orders of the list: one of two imports that ended is in use. */
static void test_imports_are_drained_when_no_copy_is_left(void **state)
{
	for (int busy = 0; busy < 2; busy++) {
		struct sim_session *session = attach();
		struct sim_key keys[2];
		struct sim_remote *remotes[2];

		for (int i = 0; i < 2; i++)
			remotes[i] = export_and_import(session, memory[i], &keys[i]);
		assert_true(sim_remote_acquire(remotes[busy]));
		sim_imports_revoke_all(session->imports);
		assert_false(sim_imports_is_drained(session->imports, SIM_ANY_KEY));
		assert_true(sim_imports_is_drained(session->imports, keys[!busy].id));
		sim_remote_release(remotes[busy]);
		assert_true(sim_imports_is_drained(session->imports, SIM_ANY_KEY));
		for (int i = 0; i < 2; i++)
			sim_session_release(session, remotes[i]);
		sim_session_detach(session);
	}
}

/* ---- what happens while the owner is asked for an import ---- */

static struct sim_session *asking;
static const struct sim_owner_memory_ops *real_ops;
static void (*meanwhile)(uint64_t key);

static void revoke_meanwhile(uint64_t key)
{
	sim_imports_revoke_key(asking->imports, key, key);
	assert_true(sim_imports_is_drained(asking->imports, key)); /* it has no memory yet */
}

static void reset_function_meanwhile(uint64_t key)
{
	/* the next generation */
	atomic_fetch_add(&sim_shared_state_of(&asking->shared)->functions.status_words[FUNCTION],
			 SIM_FUNCTION_BITS + 1);
}

static int import_with_event(struct sim_owner *owner, const struct sim_key *key, uint32_t function,
			     struct sim_imported *ret_imported)
{
	int rc = real_ops->import(owner, key, function, ret_imported);

	meanwhile(key->id);
	return rc;
}

static void test_import_that_ends_before_it_is_open_is_never_usable(void **state)
{
	void (*const events[])(uint64_t key) = { revoke_meanwhile, reset_function_meanwhile };

	for (int i = 0; i < 2; i++) {
		struct sim_owner_memory_ops ops;
		struct sim_remote *remote;
		struct sim_key key;

		asking = attach();
		real_ops = asking->owner->memory;
		ops = *real_ops;
		ops.import = import_with_event;
		meanwhile = events[i];
		asking->owner->memory = &ops;
		remote = export_and_import(asking, memory[0], &key);
		asking->owner->memory = real_ops;
		assert_true(atomic_load(&remote->revoked));
		assert_false(sim_remote_acquire(remote));
		sim_session_release(asking, remote);
		sim_session_detach(asking);
	}
}

/* ---- descriptors of the owner's answer ---- */

static int import_with_descriptors(struct sim_owner *owner, const struct sim_key *key, uint32_t function,
				   struct sim_imported *ret_imported)
{
	int rc = real_ops->import(owner, key, function, ret_imported);

	ret_imported->object_fd = dup(STDIN_FILENO);
	ret_imported->pidfd = dup(STDIN_FILENO);
	return rc;
}

/* The object is not the memory, and the process needs no path to itself: nothing of the answer is kept. */
static void test_descriptors_of_the_answer_are_closed(void **state)
{
	struct sim_owner_memory_ops ops;
	struct sim_remote *remote;
	unsigned int num_fds;
	struct sim_key key;

	asking = attach();
	real_ops = asking->owner->memory;
	ops = *real_ops;
	ops.import = import_with_descriptors;
	asking->owner->memory = &ops;
	num_fds = count_open_fds();
	remote = export_and_import(asking, memory[0], &key);
	sim_session_release(asking, remote);
	assert_int_equal(count_open_fds(), num_fds);
	asking->owner->memory = real_ops;
	sim_session_detach(asking);
}

/* ---- why an import ends ---- */

static void test_import_ends_for_its_export_or_for_the_function_of_its_exporter(void **state)
{
	struct sim_session *session = attach();
	struct sim_key key;
	struct sim_remote *remote = export_and_import(session, memory[0], &key);

	assert_int_equal(sim_session_unexport(session, key.id), 0);
	assert_int_equal(atomic_load(&remote->revoke_cause), SIM_REVOKED_EXPORT);
	sim_session_release(session, remote);

	remote = export_and_import(session, memory[0], &key);
	/* the next generation */
	atomic_fetch_add(&sim_shared_state_of(&session->shared)->functions.status_words[FUNCTION],
			 SIM_FUNCTION_BITS + 1);
	sim_imports_revoke_key(session->imports, key.id, key.id);
	assert_int_equal(atomic_load(&remote->revoke_cause), SIM_REVOKED_EXPORTER);
	sim_session_release(session, remote);
	sim_session_detach(session);
}

static void *release_thread(void *arg)
{
	struct unexport *release = arg;

	sim_session_release(release->session, release->remote);
	atomic_store(&release->done, true);
	return NULL;
}

static void test_release_waits_for_a_copy_of_another_thread(void **state)
{
	struct unexport release = { .session = attach() };
	struct sim_key key;
	pthread_t thread;

	alarm(DEADLINE_S);
	release.remote = export_and_import(release.session, memory[0], &key);
	assert_true(sim_remote_acquire(release.remote));
	assert_int_equal(pthread_create(&thread, NULL, release_thread, &release), 0);
	usleep(10000); /* a release that does not wait returns meanwhile */
	assert_false(atomic_load(&release.done));
	sim_remote_release(release.remote);
	assert_int_equal(pthread_join(thread, NULL), 0);
	sim_session_detach(release.session);
	alarm(0);
}

/* ---- locks: the thread sanitizer looks on ---- */

static struct unordered calls;

static struct sim_key exported;

static void import_exported(void *ret_remote)
{
	if (sim_session_import(asking, &exported, FUNCTION, ret_remote, NULL) != 0)
		abort();
}

static void release(void *remote)
{
	sim_session_release(asking, remote);
}

static void revoke_unknown_key(void *arg)
{
	sim_imports_revoke_key(asking->imports, UINT64_MAX, UINT64_MAX);
}

static void revoke_key(void *key)
{
	sim_imports_revoke_key(asking->imports, *(uint64_t *)key, UINT64_MAX);
}

static void revoke_stale(void *arg)
{
	sim_imports_revoke_stale(asking->imports);
}

static void revoke_all(void *arg)
{
	sim_imports_revoke_all(asking->imports);
}

static void look_whether_drained(void *arg)
{
	sim_imports_is_drained(asking->imports, SIM_ANY_KEY);
}

/* Each one beside an import, which changes the list. */
static void test_each_call_takes_the_lock_of_the_imports(void **state)
{
	static void (*const looks[])(void *arg) = { revoke_unknown_key, revoke_stale, look_whether_drained,
						    revoke_all };
	enum { NUM_LOOKS = sizeof(looks) / sizeof(looks[0]) };
	struct sim_remote *first, *others[1 + NUM_LOOKS];

	asking = attach();
	first = export_and_import(asking, memory[0], &exported);
	unordered_run(&calls, import_exported, &others[NUM_LOOKS]);
	unordered_run(&calls, release, first);
	for (int i = 0; i < NUM_LOOKS; i++) {
		unordered_run(&calls, import_exported, &others[i]);
		unordered_run(&calls, looks[i], NULL);
	}
	unordered_end(&calls);
	for (int i = 0; i <= NUM_LOOKS; i++)
		sim_session_release(asking, others[i]);
	sim_session_detach(asking);
}

static void revoke_in_thread(uint64_t key)
{
	static uint64_t asked_key;

	asked_key = key;
	unordered_run(&calls, revoke_key, &asked_key);
}

/* An import that the owner grants, then one that it refuses: another thread looks at the list meanwhile. */
static void test_import_takes_the_lock_again_after_the_owners_answer(void **state)
{
	struct sim_owner_memory_ops ops;
	struct sim_remote *remote;
	struct sim_key key;

	asking = attach();
	real_ops = asking->owner->memory;
	ops = *real_ops;
	ops.import = import_with_event;
	meanwhile = revoke_in_thread;
	asking->owner->memory = &ops;
	remote = export_and_import(asking, memory[0], &key);
	sim_session_release(asking, remote);
	key.id = UINT64_MAX;
	assert_int_equal(sim_session_import(asking, &key, FUNCTION, &remote, NULL), -ESTALE);
	asking->owner->memory = real_ops;
	unordered_end(&calls);
	sim_session_detach(asking);
}

/* ---- refusals ---- */

/* No port reaches another one. */
static const char two_cards[] = "cards:\n"
				"  - name: left\n"
				"    profile: bluefield-3\n"
				"    functions:\n"
				"      - {side: host, type: pf, pci: \"b1:00.0\"}\n"
				"      - {side: host, type: pf, pci: \"b1:00.1\"}\n"
				"  - name: right\n"
				"    profile: bluefield-3\n"
				"    functions:\n"
				"      - {side: host, type: pf, pci: \"ca:00.0\"}\n"
				"network:\n"
				"  switches: [{name: alone}]\n"
				"  links: []\n";

/* The caller names the exporter's function to the user. */
static void test_refusal_names_the_function_of_the_exporter(void **state)
{
	static const struct {
		uint32_t access;
		int rc;
	} refused[] = { { SIM_ACCESS_CHANNEL, -EXDEV }, { SIM_ACCESS_NET, -EPERM } };
	struct sim_session_cfg cfg = { .side = "host" };
	struct sim_region region = { .addr = (uintptr_t)memory[0],
				     .cpu_addr = (uintptr_t)memory[0],
				     .len_bytes = sizeof(memory[0]),
				     .function = 1 };
	int fd = memfd_create("topology", MFD_CLOEXEC);
	struct sim_session *session;
	struct sim_remote *remote;
	struct sim_key key;
	char path[64];

	assert_int_equal(write(fd, two_cards, strlen(two_cards)), (ssize_t)strlen(two_cards));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	cfg.topology = path;
	assert_int_equal(sim_session_attach(&cfg, &session), 0);
	for (int i = 0; i < 2; i++) {
		uint32_t exporter = 77;

		region.access = SIM_ACCESS_READ | refused[i].access;
		assert_int_equal(sim_session_export(session, &region, -1, &key), 0);
		assert_int_equal(sim_session_import(session, &key, 2, &remote, &exporter), refused[i].rc);
		assert_int_equal(exporter, 1);
	}
	sim_session_detach(session);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_revocation_that_waits_for_a_copy_holds_up_no_other_import),
		cmocka_unit_test(test_the_end_of_memory_waits_for_a_copy_by_an_alias_that_ended_before),
		cmocka_unit_test(test_the_descriptor_of_an_inbox_wakes_its_owner),
		cmocka_unit_test(test_the_end_of_an_export_ends_no_other_import),
		cmocka_unit_test(test_imports_are_drained_when_no_copy_is_left),
		cmocka_unit_test(test_import_that_ends_before_it_is_open_is_never_usable),
		cmocka_unit_test(test_descriptors_of_the_answer_are_closed),
		cmocka_unit_test(test_import_ends_for_its_export_or_for_the_function_of_its_exporter),
		cmocka_unit_test(test_release_waits_for_a_copy_of_another_thread),
		cmocka_unit_test(test_each_call_takes_the_lock_of_the_imports),
		cmocka_unit_test(test_import_takes_the_lock_again_after_the_owners_answer),
		cmocka_unit_test(test_refusal_names_the_function_of_the_exporter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
