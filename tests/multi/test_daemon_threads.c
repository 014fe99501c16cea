/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads of one process import, read and release while other processes
 * export and end their exports. Run it under a thread checker too. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "session_util.h"
#include "sim/fabric/remote.h"
#include "sim/session/session.h"

#define EXPORTERS     2
#define THREADS       4
#define ROUNDS        60
#define BYTES         65536
#define HOST_FUNCTION 2 /* of the built-in topology */
#define DPU_FUNCTION  0

/* An exporter publishes its current key here. */
struct slot {
	pthread_mutex_t lock;
	bool filled;
	struct sim_key key;
	uint8_t fill;
	atomic_uint reads; /* of the current key */
};

static struct shared_keys {
	struct slot slots[EXPORTERS];
	atomic_uint exporters_left;
} * shared_keys; /* shared by all processes */

static int setup(void **state)
{
	pthread_mutexattr_t shared;

	session_setup(state);
	shared_keys = mmap(NULL, sizeof(*shared_keys), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared_keys != MAP_FAILED);
	atomic_store(&shared_keys->exporters_left, EXPORTERS);
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	for (int i = 0; i < EXPORTERS; i++)
		pthread_mutex_init(&shared_keys->slots[i].lock, &shared);
	pthread_mutexattr_destroy(&shared);
	return 0;
}

static int teardown(void **state)
{
	munmap(shared_keys, sizeof(*shared_keys));
	return session_teardown(state);
}

static struct sim_session *attach(const char *side)
{
	struct sim_session_cfg cfg = { .dir = test_session.dir, .side = side };
	struct sim_session *session;

	CHECK(sim_session_attach(&cfg, &session) == 0);
	return session;
}

static void publish(struct slot *slot, const struct sim_key *key, uint8_t fill)
{
	pthread_mutex_lock(&slot->lock);
	slot->key = *key;
	slot->fill = fill;
	slot->filled = true;
	atomic_store(&slot->reads, 0);
	pthread_mutex_unlock(&slot->lock);
}

static bool read_slot(struct slot *slot, struct sim_key *ret_key, uint8_t *ret_fill)
{
	bool filled;

	pthread_mutex_lock(&slot->lock);
	filled = slot->filled;
	*ret_key = slot->key;
	*ret_fill = slot->fill;
	pthread_mutex_unlock(&slot->lock);
	return filled;
}

/* Export, wait for some reader, end the export, and overwrite the memory at once. */
static void export_again_and_again(int ctl, const void *arg)
{
	struct slot *slot = &shared_keys->slots[*(const int *)arg];
	struct sim_session *session = attach("host");
	int fd = memfd_create("threads", MFD_CLOEXEC);
	uint8_t *memory;

	CHECK(ftruncate(fd, BYTES) == 0);
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(memory != MAP_FAILED);
	for (int round = 0; round < ROUNDS; round++) {
		struct sim_region region = { .addr = (uintptr_t)memory,
					     .cpu_addr = (uintptr_t)memory,
					     .len_bytes = BYTES,
					     .access = SIM_ACCESS_READ,
					     .function = HOST_FUNCTION };
		struct sim_key key;

		memset(memory, round, BYTES);
		/* In turns reached through its object and through cma. */
		CHECK(sim_session_export(session, &region, round % 2 ? fd : -1, &key) == 0);
		publish(slot, &key, (uint8_t)round);
		while (atomic_load(&slot->reads) == 0)
			sched_yield();
		CHECK(sim_session_unexport(session, key.id) == 0);
		memset(memory, 0xff, BYTES);
	}
	atomic_fetch_sub(&shared_keys->exporters_left, 1);
	sim_session_detach(session);
	munmap(memory, BYTES);
	close(fd);
}

static void read_some(struct slot *slot, struct sim_remote *remote, uint8_t fill)
{
	uint8_t bytes[BYTES];
	int rc = 0;

	for (int i = 0; i < 4 && rc == 0; i++) {
		rc = sim_copy(NULL, (uintptr_t)bytes, remote, remote->region.addr, BYTES);
		CHECK(rc == 0 || rc == -EIO);
		if (rc == 0)
			CHECK(bytes[0] == fill && memcmp(bytes, bytes + 1, BYTES - 1) == 0);
		atomic_fetch_add(&slot->reads, 1);
	}
}

static void *import_again_and_again(void *arg)
{
	struct sim_session *session = arg;

	for (unsigned int i = 0; atomic_load(&shared_keys->exporters_left) > 0; i++) {
		struct slot *slot = &shared_keys->slots[i % EXPORTERS];
		struct sim_remote *remote;
		struct sim_key key;
		uint8_t fill;
		int rc;

		if (!read_slot(slot, &key, &fill))
			continue;
		rc = sim_session_import(session, &key, DPU_FUNCTION, &remote, NULL);
		CHECK(rc == 0 || rc == -ESTALE);
		if (rc < 0)
			continue;
		read_some(slot, remote, fill);
		sim_session_release(session, remote);
	}
	return NULL;
}

static void import_in_threads(int ctl, const void *arg)
{
	struct sim_session *session = attach("dpu");
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, import_again_and_again, session) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	sim_session_detach(session);
}

static void test_imports_by_threads_race_with_ends_of_exports(void **state)
{
	struct proc exporters[EXPORTERS], importer;

	for (int i = 0; i < EXPORTERS; i++)
		proc_start(&exporters[i], export_again_and_again, &i);
	proc_start(&importer, import_in_threads, NULL);
	for (int i = 0; i < EXPORTERS; i++)
		proc_end(&exporters[i]);
	proc_end(&importer);
	daemon_stop(&test_session.daemon);
	assert_int_equal(proc_num_files(test_session.dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_imports_by_threads_race_with_ends_of_exports, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
