/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that a target serves to initiators, over each transport. A thread serves, as the helper thread does; what the daemon
 * does between two processes is a call here. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asleep.h"
#include "cmocka_test.h"
#include "proc.h"
#include "sim/base/monotonic.h"
#include "sim/fabric/served/served_priv.h"

#define MIB  (1u << 20)
#define PAGE 4096u

/* The exporter. */
static struct {
	pthread_mutex_t lock;
	pthread_t thread;
	struct sim_target *target;
	int stop_fd;
	atomic_bool is_paused;
} server;

static enum sim_transport transport;

static void serve(void)
{
	pthread_mutex_lock(&server.lock);
	if (!atomic_load(&server.is_paused))
		sim_target_serve(server.target);
	pthread_mutex_unlock(&server.lock);
}

static bool may_sleep(int *ret_fd)
{
	bool may;

	pthread_mutex_lock(&server.lock);
	*ret_fd = sim_target_fd(server.target);
	may = atomic_load(&server.is_paused) || sim_target_may_sleep(server.target);
	pthread_mutex_unlock(&server.lock);
	return may;
}

/* Does not spin after a request, so that any request may find it asleep. */
static void *server_thread(void *unused)
{
	for (;;) {
		struct pollfd fds[] = { { .fd = server.stop_fd, .events = POLLIN }, { .events = POLLIN } };
		int timeout_ms;

		serve();
		timeout_ms = may_sleep(&fds[1].fd) ? -1 : 0;
		poll(fds, atomic_load(&server.is_paused) ? 1 : 2, timeout_ms);
		if (fds[0].revents) {
			eventfd_t count;

			eventfd_read(server.stop_fd, &count);
			if (count < 1000)
				continue;
			return unused;
		}
	}
}

static void pause_server(bool pause)
{
	atomic_store(&server.is_paused, pause);
	eventfd_write(server.stop_fd, 1);
	pthread_mutex_lock(&server.lock); /* a request in progress ends */
	pthread_mutex_unlock(&server.lock);
}

static int setup(void **state)
{
	transport = *(const enum sim_transport *)*state;
	pthread_mutex_init(&server.lock, NULL);
	atomic_store(&server.is_paused, false);
	server.stop_fd = eventfd(0, EFD_CLOEXEC);
	return sim_target_create(SIM_TARGET_MAX_CONNS, &server.target) < 0 ||
	       pthread_create(&server.thread, NULL, server_thread, NULL) != 0;
}

static int teardown(void **state)
{
	eventfd_write(server.stop_fd, 1000);
	pthread_join(server.thread, NULL);
	sim_target_destroy(server.target);
	close(server.stop_fd);
	return 0;
}

static struct sim_grant expose(void *addr, size_t len, bool writable)
{
	struct sim_grant grant;

	pthread_mutex_lock(&server.lock);
	assert_int_equal(sim_target_expose(server.target, addr, len, writable, &grant), 0);
	pthread_mutex_unlock(&server.lock);
	return grant;
}

static void hide(const struct sim_grant *grant)
{
	pthread_mutex_lock(&server.lock);
	sim_target_hide(server.target, grant);
	pthread_mutex_unlock(&server.lock);
}

static int describe(void *arg, enum sim_transport which, bool connect, struct sim_grant *ret_grant, int *ret_fd)
{
	int rc = 0;

	*ret_grant = *(const struct sim_grant *)arg;
	if (!connect)
		return 0;
	pthread_mutex_lock(&server.lock);
	rc = sim_target_connect(server.target, which, ret_fd);
	pthread_mutex_unlock(&server.lock);
	return rc;
}

static int try_initiator(struct sim_grant *grant, size_t len, bool writable, struct sim_initiator **ret_initiator)
{
	const struct sim_initiator_cfg cfg = { .transport = transport,
					       .target_id = 1,
					       .len_bytes = len,
					       .is_writable = writable,
					       .describe = describe,
					       .arg = grant };

	return sim_initiator_create(&cfg, ret_initiator);
}

static struct sim_initiator *initiator_to(struct sim_grant *grant, size_t len, bool writable)
{
	struct sim_initiator *initiator = NULL;

	assert_int_equal(try_initiator(grant, len, writable, &initiator), 0);
	return initiator;
}

static int read_from(struct sim_initiator *initiator, void *to, uint64_t offset, size_t len)
{
	return sim_initiator_copy(initiator, false, to, offset, len, NULL);
}

static int write_to(struct sim_initiator *initiator, void *from, uint64_t offset, size_t len)
{
	return sim_initiator_copy(initiator, true, from, offset, len, NULL);
}

static void fill(uint8_t *bytes, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(seed + i + (i >> 8));
}

static uint8_t *map_memory(size_t len)
{
	uint8_t *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	return memory;
}

/* Sizes around the limits: one byte, a small buffer, pieces, all slots, a request of the stream. */
static void test_bytes_written_are_read_back(void **state)
{
	static const size_t sizes[] = {
		1, 64, 1024, 1025, 4097, 65536, 65537, 4 * 65536 + 1, MIB, MIB + 3, 9 * MIB + 1
	};
	size_t max = 9 * MIB + 1 + 16;
	uint8_t *memory = map_memory(max), *local = map_memory(max), *back = map_memory(max);
	struct sim_grant grant = expose(memory, max, true);
	struct sim_initiator *initiator = initiator_to(&grant, max, true);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fill(local, sizes[i], (unsigned int)i);
		assert_int_equal(write_to(initiator, local, 7, sizes[i]), 0);
		assert_memory_equal(memory + 7, local, sizes[i]);
		assert_int_equal(read_from(initiator, back, 7, sizes[i]), 0);
		assert_memory_equal(back, local, sizes[i]);
	}
	assert_int_equal(read_from(initiator, back, 7, 0), 0);
	assert_int_equal(memory[6], 0);
	sim_initiator_destroy(initiator);
	munmap(memory, max);
	munmap(local, max);
	munmap(back, max);
}

static void test_an_initiator_checks_bounds_and_permission(void **state)
{
	const struct sim_far_operands add_one = { .op = SIM_FAR_ADD, .operand = 1 };
	uint8_t memory[100] = { 0 }, local[100] = { 1 };
	struct sim_grant grant = expose(memory, sizeof(memory), false), open = expose(memory, sizeof(memory), true);
	struct sim_initiator *initiator = initiator_to(&grant, sizeof(memory), false);
	struct sim_initiator *reader = initiator_to(&open, sizeof(memory), false); /* of what others may write */
	uint64_t before;

	assert_int_equal(read_from(initiator, local, 1, 100), -EFAULT);
	assert_int_equal(read_from(initiator, local, 101, 0), -EFAULT);
	assert_int_equal(read_from(initiator, local, UINT64_MAX, 2), -EFAULT);
	assert_int_equal(write_to(initiator, local, 0, 1), -EACCES);
	assert_int_equal(read_from(initiator, local, 100, 0), 0);
	assert_int_equal(write_to(reader, local, 0, 1), -EACCES);
	assert_int_equal(memory[0], 0);
	assert_int_equal(sim_initiator_operate(initiator, &add_one, 0, NULL, &before), -EOPNOTSUPP);
	sim_initiator_destroy(reader);
	sim_initiator_destroy(initiator);
}

/* An importer that believes more than its grant says. */
static void test_the_target_checks_bounds_and_permission(void **state)
{
	uint8_t memory[100] = { 0 }, local[300] = { 1 };
	struct sim_grant grant = expose(memory, sizeof(memory), false);
	struct sim_initiator *initiator = initiator_to(&grant, sizeof(local), true);

	assert_int_equal(read_from(initiator, local, 1, 100), -EFAULT);
	assert_int_equal(read_from(initiator, local, 200, 100), -EFAULT);
	assert_int_equal(write_to(initiator, local, 0, 1), -EACCES);
	assert_int_equal(read_from(initiator, local, 0, 100), 0);
	assert_int_equal(memory[0], 0);
	sim_initiator_destroy(initiator);
}

static void test_a_wrong_grant_is_refused(void **state)
{
	uint8_t memory[100] = { 0 };
	struct sim_grant grant = expose(memory, sizeof(memory), true), wrong = grant;
	struct sim_initiator *initiator = NULL;

	wrong.secret[SIM_GRANT_SECRET_SIZE - 1] ^= 1;
	assert_int_equal(try_initiator(&wrong, sizeof(memory), true, &initiator), -ESTALE);
	wrong = grant;
	wrong.index = 5;
	assert_int_equal(try_initiator(&wrong, sizeof(memory), true, &initiator), -ESTALE);
	wrong.index = UINT32_MAX;
	assert_int_equal(try_initiator(&wrong, sizeof(memory), true, &initiator), -ESTALE);
	wrong = (struct sim_grant){ .index = 5 }; /* a free entry, whose secret is zero */
	assert_int_equal(try_initiator(&wrong, sizeof(memory), true, &initiator), -ESTALE);
	assert_null(initiator);
}

static void test_hidden_memory_is_refused_and_others_stay(void **state)
{
	uint8_t hidden[64] = { 1 }, other[64] = { 2 }, local[64];
	struct sim_grant grant = expose(hidden, sizeof(hidden), true), other_grant = expose(other, sizeof(other), true);
	struct sim_initiator *initiator = initiator_to(&grant, sizeof(hidden), true);
	struct sim_initiator *other_initiator = initiator_to(&other_grant, sizeof(other), true);

	hide(&grant);
	assert_int_equal(read_from(initiator, local, 0, 64), -ESTALE);
	assert_int_equal(write_to(initiator, local, 0, 64), -ESTALE);
	assert_int_equal(read_from(other_initiator, local, 0, 64), 0);
	assert_int_equal(local[0], 2);
	(void)expose(other, sizeof(other), true); /* in the same entry of the table, with another secret */
	assert_int_equal(read_from(initiator, local, 0, 64), -ESTALE);
	sim_initiator_destroy(initiator);
	sim_initiator_destroy(other_initiator);
}

/* As by munmap(), but nothing else is mapped there meanwhile. */
static void take_away(uint8_t *memory, size_t len)
{
	assert_int_equal(mprotect(memory, len, PROT_NONE), 0);
}

/* The exporter's application unmaps memory that it has exported: an error, and the connection stays in step. */
static void test_unmapped_memory_is_an_error_and_the_rest_stays(void **state)
{
	size_t len = 3 * MIB;
	uint8_t *memory = map_memory(len), *local = map_memory(len);
	struct sim_grant grant = expose(memory, len, true);
	struct sim_initiator *initiator = initiator_to(&grant, len, true);

	fill(memory, len, 3);
	take_away(memory + MIB + PAGE, PAGE);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(read_from(initiator, local, 0, len), -EFAULT);
		assert_int_equal(write_to(initiator, local, MIB, 2 * PAGE), -EFAULT);
		assert_int_equal(read_from(initiator, local, MIB + PAGE, 8), -EFAULT);
		assert_int_equal(write_to(initiator, local, MIB + PAGE, 8), -EFAULT);
		assert_int_equal(read_from(initiator, local, 2 * MIB, MIB), 0);
		assert_memory_equal(local, memory + 2 * MIB, MIB);
	}
	sim_initiator_destroy(initiator);
	munmap(memory, len);
	munmap(local, len);
}

struct flipper {
	pthread_t thread;
	uint8_t *memory;
	size_t len;
	atomic_bool stop;
};

static void *flip(void *arg)
{
	struct flipper *flipper = arg;

	while (!atomic_load(&flipper->stop)) {
		mprotect(flipper->memory, flipper->len, PROT_NONE);
		mprotect(flipper->memory, flipper->len, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

/* The end of the memory goes and comes while it is copied: each copy is whole or fails, and the one after it works. */
static void test_memory_that_goes_and_comes_during_copies(void **state)
{
	size_t len = MIB + MIB / 2;
	struct flipper flipper = { .memory = map_memory(len), .len = len };
	uint8_t *local = map_memory(len);
	struct sim_grant grant = expose(flipper.memory, len, true);
	struct sim_initiator *initiator = initiator_to(&grant, len, true);

	fill(flipper.memory, len, 5);
	flipper.memory += MIB;
	flipper.len = len - MIB;
	assert_int_equal(pthread_create(&flipper.thread, NULL, flip, &flipper), 0);
	for (int i = 0; i < 100; i++) {
		int rc = read_from(initiator, local, 0, len);

		assert_true(rc == 0 || rc == -EFAULT);
		assert_int_equal(read_from(initiator, local, 0, MIB), 0);
		rc = write_to(initiator, local, 0, len);
		assert_true(rc == 0 || rc == -EFAULT);
	}
	atomic_store(&flipper.stop, true);
	pthread_join(flipper.thread, NULL);
	assert_int_equal(read_from(initiator, local, 0, len), 0);
	assert_memory_equal(local, flipper.memory - MIB, MIB);
	sim_initiator_destroy(initiator);
	munmap(flipper.memory - MIB, len);
	munmap(local, len);
}

/* Of the rings of this process. */
static long ring_bytes(void)
{
	long bytes = 0;

	for (int fd = 0; fd < 1024; fd++) {
		char path[64], target[64] = "";
		struct stat stat;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, target, sizeof(target) - 1) > 0 && strncmp(target, "/memfd:bfsim", 12) == 0 &&
		    fstat(fd, &stat) == 0)
			bytes += stat.st_blocks * 512;
	}
	return bytes;
}

static void trim(void)
{
	pthread_mutex_lock(&server.lock);
	assert_int_equal(sim_target_has_buffers(server.target), ring_bytes() > 64 * 1024);
	sim_target_trim(server.target);
	pthread_mutex_unlock(&server.lock);
}

/* A large copy needs a MiB at most; a trim gives it back, and the next copy gets it anew. Small copies need none. */
static void test_buffers_of_large_copies_are_given_back(void **state)
{
	const size_t len = (PROC_IS_SLOW ? 4 : 16) * MIB;
	uint8_t *memory = map_memory(len), *local = map_memory(len);
	struct sim_grant grant = expose(memory, len, true);
	struct sim_initiator *initiator = initiator_to(&grant, len, true);

	for (int i = 0; i < 100; i++)
		assert_int_equal(read_from(initiator, local, 0, 1024), 0);
	assert_true(ring_bytes() <= 64 * 1024);
	for (unsigned int i = 0; i < 3; i++) {
		fill(memory, len, i);
		assert_int_equal(read_from(initiator, local, 0, len), 0);
		assert_memory_equal(local, memory, len);
		fill(local, len, i + 10);
		assert_int_equal(write_to(initiator, local, 0, len), 0);
		assert_memory_equal(local, memory, len);
		assert_true(ring_bytes() > 512 * 1024 && ring_bytes() <= MIB + 64 * 1024);
		trim();
		assert_true(ring_bytes() <= 64 * 1024);
		trim();
	}
	sim_initiator_destroy(initiator);
	munmap(memory, len);
	munmap(local, len);
}

static void *trim_often(void *arg)
{
	while (!atomic_load((atomic_bool *)arg)) {
		pthread_mutex_lock(&server.lock);
		sim_target_trim(server.target);
		pthread_mutex_unlock(&server.lock);
		sched_yield();
	}
	return NULL;
}

static void test_a_trim_takes_no_byte_of_a_copy(void **state)
{
	uint8_t *memory = map_memory(MIB), *local = map_memory(MIB);
	struct sim_grant grant = expose(memory, MIB, true);
	struct sim_initiator *initiator = initiator_to(&grant, MIB, true);
	atomic_bool stop = false;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, trim_often, &stop), 0);
	for (unsigned int i = 0; i < 50; i++) {
		fill(local, MIB, i);
		assert_int_equal(write_to(initiator, local, 0, MIB), 0);
		assert_memory_equal(local, memory, MIB);
		fill(memory, MIB, i + 10);
		assert_int_equal(read_from(initiator, local, 0, MIB), 0);
		assert_memory_equal(local, memory, MIB);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	sim_initiator_destroy(initiator);
	munmap(memory, MIB);
	munmap(local, MIB);
}

static void test_memory_that_is_unmapped_as_a_whole_can_be_reached(void **state)
{
	uint8_t *memory = map_memory(PAGE), local[8];
	struct sim_grant grant = expose(memory, PAGE, true);
	struct sim_initiator *initiator;

	take_away(memory, PAGE);
	initiator = initiator_to(&grant, PAGE, true);
	assert_int_equal(read_from(initiator, local, 0, 8), -EFAULT);
	sim_initiator_destroy(initiator);
	munmap(memory, PAGE);
}

static void fail_at_fault(int number)
{
	static const char text[] = "a fault of the target's reached the program's handler\n";

	(void)number;
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(EXIT_FAILURE);
}

/* The target steps before a handler that the program installs while copies go on. */
static void test_faults_do_not_reach_a_handler_of_the_program(void **state)
{
	const struct sigaction own = { .sa_handler = fail_at_fault };
	uint8_t *memory = map_memory(PAGE), local[64];
	struct sim_grant grant = expose(memory, PAGE, true);
	struct sim_initiator *initiator = initiator_to(&grant, PAGE, true);
	struct sigaction before;

	assert_int_equal(read_from(initiator, local, 0, sizeof(local)), 0);
	assert_int_equal(sigaction(SIGSEGV, &own, &before), 0);
	for (int i = 0; i < 300; i++)
		assert_int_equal(read_from(initiator, local, 0, sizeof(local)), 0);
	take_away(memory, PAGE);
	assert_int_equal(read_from(initiator, local, 0, sizeof(local)), -EFAULT);
	assert_int_equal(write_to(initiator, local, 0, sizeof(local)), -EFAULT);
	sigaction(SIGSEGV, &before, NULL);
	sim_initiator_destroy(initiator);
	munmap(memory, PAGE);
}

static int num_open_fds(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* The server thread closes its ends when it sees that the importer's end is closed. */
static void await_open_fds(int count)
{
	while (num_open_fds() != count)
		sched_yield();
}

static void test_initiators_share_a_connection(void **state)
{
	enum { NUM = 2000 };
	static struct sim_grant grants[NUM];
	static struct sim_initiator *initiators[NUM];
	static uint8_t memory[NUM][8];
	int before = num_open_fds(), with_one;
	uint8_t local[8];

	for (int i = 0; i < NUM; i++) {
		memset(memory[i], i, sizeof(memory[i]));
		grants[i] = expose(memory[i], sizeof(memory[i]), true);
	}
	initiators[0] = initiator_to(&grants[0], 8, true);
	with_one = num_open_fds();
	for (int i = 1; i < NUM; i++)
		initiators[i] = initiator_to(&grants[i], 8, true);
	assert_int_equal(num_open_fds(), with_one);
	for (int i = 0; i < NUM; i++) {
		assert_int_equal(read_from(initiators[i], local, 0, 8), 0);
		assert_memory_equal(local, memory[i], 8);
		hide(&grants[i]);
		sim_initiator_destroy(initiators[i]);
	}
	await_open_fds(before);
}

/* No stranger can connect: nothing listens. */
static void test_nothing_listens(void **state)
{
	uint8_t memory[8] = { 0 };
	struct sim_grant grant = expose(memory, sizeof(memory), true);
	struct sim_initiator *initiator = initiator_to(&grant, sizeof(memory), true);

	for (int fd = 0; fd < 1024; fd++) {
		int is_listening = 0;
		socklen_t len = sizeof(is_listening);

		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &len) == 0)
			assert_false(is_listening);
	}
	sim_initiator_destroy(initiator);
}

static void *copy_in_thread(void *initiator)
{
	static uint8_t bytes[MIB];

	return (void *)(intptr_t)write_to(initiator, bytes, 0, sizeof(bytes));
}

struct writer {
	pthread_t thread;
	struct sim_initiator *initiator;
	atomic_int tid;
	atomic_bool is_done;
	int rc;
};

static void *write_once(void *arg)
{
	struct writer *writer = arg;
	uint8_t byte = 1;

	atomic_store(&writer->tid, (int)syscall(SYS_gettid));
	writer->rc = write_to(writer->initiator, &byte, 0, 1);
	atomic_store(&writer->is_done, true);
	return NULL;
}

/* Until it waits in the kernel: for the target, or for another thread that does. */
static void start_and_await_sleep(struct writer *writer)
{
	assert_int_equal(pthread_create(&writer->thread, NULL, write_once, writer), 0);
	while (!is_asleep(atomic_load(&writer->tid)))
		sched_yield();
}

/* One connection serves all threads; a revocation reaches those that wait for their turn too. */
static void test_threads_take_turns(void **state)
{
	const atomic_bool revoked = true;
	static uint8_t memory[8];
	uint8_t byte;
	struct sim_grant grant = expose(memory, sizeof(memory), true);
	struct sim_initiator *initiator = initiator_to(&grant, sizeof(memory), true);
	struct writer first = { .initiator = initiator }, second = { .initiator = initiator };

	pause_server(true);
	start_and_await_sleep(&first);
	assert_int_equal(sim_initiator_copy(initiator, false, &byte, 0, 1, &revoked), -EIO);
	assert_false(atomic_load(&first.is_done));
	start_and_await_sleep(&second);
	pause_server(false);
	pthread_join(first.thread, NULL);
	pthread_join(second.thread, NULL);
	assert_int_equal(first.rc, 0);
	assert_int_equal(second.rc, 0);
	sim_initiator_destroy(initiator);
}

/* Requests that have been served keep no helper thread awake. */
static void test_a_target_that_has_served_may_sleep(void **state)
{
	static uint8_t memory[8];
	struct sim_grant grant = expose(memory, sizeof(memory), true);
	struct writer writer = { .initiator = initiator_to(&grant, sizeof(memory), true) };
	int looks = 0;

	pause_server(true);
	start_and_await_sleep(&writer);
	while (!atomic_load(&writer.is_done))
		sim_target_serve(server.target);
	pthread_join(writer.thread, NULL);
	while (!sim_target_may_sleep(server.target) && ++looks < 100)
		sim_target_serve(server.target);
	assert_true(looks < 100);
	pause_server(false);
	sim_initiator_destroy(writer.initiator);
}

/* The exporter leaves while a copy waits for it. */
static void test_a_target_that_is_closed_ends_the_wait(void **state)
{
	uint8_t *memory = map_memory(MIB);
	struct sim_grant grant = expose(memory, MIB, true);
	struct sim_initiator *initiator = initiator_to(&grant, MIB, true);
	struct sim_target *closed = server.target;
	pthread_t thread;
	void *rc;

	pause_server(true);
	pthread_create(&thread, NULL, copy_in_thread, initiator);
	usleep(1000); /* likely to be waiting; no result depends on it */
	pthread_mutex_lock(&server.lock);
	assert_int_equal(sim_target_create(SIM_TARGET_MAX_CONNS, &server.target), 0);
	sim_target_destroy(closed);
	pthread_mutex_unlock(&server.lock);
	pthread_join(thread, &rc);
	assert_int_equal((intptr_t)rc, -EIO);
	pause_server(false);
	assert_int_equal(write_to(initiator, memory, 0, 1),
			 -ESTALE); /* a new connection, to a target without that memory */
	sim_initiator_destroy(initiator);
	munmap(memory, MIB);
}

static atomic_bool is_revoked;

static void *revoke_soon(void *unused)
{
	usleep(1000);
	atomic_store(&is_revoked, true);
	return unused;
}

static void test_a_revocation_ends_the_wait_and_the_next_copy_connects_anew(void **state)
{
	/* By TCP, the target may serve the copy that was given up as late as behind the test. */
	static uint8_t memories[2][64];
	uint8_t *memory = memories[transport == SIM_TRANSPORT_TCP], local[64] = { 0 };
	struct sim_grant grant = expose(memory, sizeof(local), true);
	struct sim_initiator *initiator = initiator_to(&grant, sizeof(local), true);
	pthread_t thread;

	memory[0] = 5;
	atomic_store(&is_revoked, false);
	pause_server(true);
	pthread_create(&thread, NULL, revoke_soon, NULL);
	assert_int_equal(sim_initiator_copy(initiator, true, local, 0, sizeof(local), &is_revoked), -EIO);
	pthread_join(thread, NULL);
	assert_int_equal(sim_initiator_copy(initiator, true, local, 0, sizeof(local), &is_revoked), -EIO);
	if (transport == SIM_TRANSPORT_SHM) { /* given up: the target does not serve it later */
		pause_server(false);
		assert_int_equal(memory[0], 5);
	}
	pause_server(false);
	assert_int_equal(read_from(initiator, local, 0, sizeof(local)), 0);
	sim_initiator_destroy(initiator);
}

/* The connections are the parent's: the target sees its end although a child lives. */
static void test_a_forked_child_closes_the_connections(void **state)
{
	uint8_t memory[8] = { 0 };
	struct sim_grant grant = expose(memory, sizeof(memory), true);
	int before = num_open_fds(), with_initiator, status;
	struct sim_initiator *initiator = initiator_to(&grant, sizeof(memory), true);
	pid_t child;

	with_initiator = num_open_fds();
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(num_open_fds() == with_initiator - 1 ? 0 : 1); /* the target is not abandoned here */
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(read_from(initiator, memory, 0, 0), 0);
	sim_initiator_destroy(initiator);
	await_open_fds(before);
}

/* A target that sends a byte now and then is never silent for long. */
static void test_a_call_ends_although_the_target_makes_some_progress(void **state)
{
	const uint64_t long_ago_ns = sim_monotonic_ns() - 11 * SIM_NS_PER_S;
	struct served_wait small = { .sock = server.stop_fd, .len_bytes = 8, .begin_ns = long_ago_ns };
	struct served_wait large = { .sock = server.stop_fd, .len_bytes = 100 * MIB, .begin_ns = long_ago_ns };

	served_wait_restart(&small);
	assert_int_equal(served_wait_round(&small), -ETIMEDOUT);
	served_wait_restart(&large);
	assert_int_equal(served_wait_round(&large), 0);
}

/* ---- importers that break the rules ---- */

static int connect_raw(void)
{
	struct sim_grant unused = { 0 };
	int fd = -1;

	assert_int_equal(describe(&unused, transport, true, &unused, &fd), 0);
	return fd;
}

static void expect_hang_up(int fd)
{
	char byte;
	ssize_t got;
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	do {
		poll(&ready, 1, -1);
		got = recv(fd, &byte, 1, 0);
	} while (got > 0);
	close(fd);
}

static struct served_ring *map_raw_ring(int fd, struct served_initiator_ring *ring)
{
	struct served_wait wait = { .sock = fd, .events = POLLIN };

	assert_int_equal(served_initiator_ring_open(fd, ring, &wait), 0);
	return ring->segment.base;
}

static void break_the_ring(int kind)
{
	struct served_initiator_ring initiator;
	int fd = connect_raw();
	struct served_ring *ring = map_raw_ring(fd, &initiator);

	ring->slots[0].request.len_bytes = kind == 0 ? UINT32_MAX : 8;
	if (kind == 2) {
		memset(ring, 0xff, sizeof(*ring));
	} else {
		atomic_store(&ring->posted, kind == 0 ? 1 : SERVED_RING_SLOTS + 1);
	}
	/* The target may have seen the ring, and hung up, by now. */
	assert_true(send(fd, "", 1, MSG_NOSIGNAL) == 1 || kind != 0);
	if (kind == 0) { /* a request that makes no sense is answered */
		while (atomic_load(&ring->done) != 1)
			sched_yield();
		assert_int_equal(ring->slots[0].status, -EPROTO);
		close(fd);
	} else {
		expect_hang_up(fd);
	}
	sim_segment_unmap(&initiator.segment);
}

/* A child that holds all descriptors and ran no handler of fork(), as after vfork() in posix_spawn() and system(). */
static pid_t hold_descriptors(void)
{
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	assert_true(child >= 0);
	if (child > 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves it */
	for (;;)
		pause();
}

/* The importer breaks the rules once more after the target has hung up. */
static void test_a_connection_that_ended_is_not_watched_though_a_child_holds_it(void **state)
{
	struct served_request wrong = { .len_bytes = SERVED_MAX_STREAM_BYTES + 1 };
	struct served_initiator_ring initiator = { .num_posted = 0 };
	struct epoll_event event;
	pid_t child;
	int fd;

	pause_server(true);
	fd = connect_raw();
	if (transport == SIM_TRANSPORT_SHM)
		atomic_store(&map_raw_ring(fd, &initiator)->posted, 100000);
	child = hold_descriptors();
	assert_true(send(fd, &wrong, sizeof(wrong), MSG_NOSIGNAL) > 0);
	for (int i = 0; i < 100; i++)
		sim_target_serve(server.target);
	assert_true(send(fd, &wrong, sizeof(wrong), MSG_NOSIGNAL) > 0);
	assert_int_equal(epoll_wait(sim_target_fd(server.target), &event, 1, 0), 0);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(fd);
	sim_segment_unmap(&initiator.segment);
	pause_server(false);
}

static void break_the_stream(int kind)
{
	struct served_request request = { .len_bytes = SERVED_MAX_STREAM_BYTES + 1 };
	int fd = connect_raw();

	if (kind == 0) {
		assert_int_equal(send(fd, &request, sizeof(request), 0), sizeof(request));
		expect_hang_up(fd);
		return;
	}
	request.len_bytes = MIB;
	request.kind = kind == 1 ? SIM_SERVED_WRITE : SIM_SERVED_READ;
	assert_int_equal(send(fd, &request, kind == 2 ? 3 : sizeof(request), 0), kind == 2 ? 3 : sizeof(request));
	close(fd); /* in the middle of a request */
}

static void test_importers_that_break_the_rules_do_not_harm_others(void **state)
{
	uint8_t memory[64] = { 9 }, local[64];
	struct sim_grant grant = expose(memory, sizeof(memory), true);
	struct sim_initiator *initiator = initiator_to(&grant, sizeof(memory), true);
	int before = num_open_fds();

	for (int kind = 0; kind < 3; kind++) {
		if (transport == SIM_TRANSPORT_SHM)
			break_the_ring(kind);
		else
			break_the_stream(kind);
		assert_int_equal(read_from(initiator, local, 0, 64), 0);
		assert_int_equal(local[0], 9);
	}
	await_open_fds(before);
	sim_initiator_destroy(initiator);
}

/* An importer that asks for bytes and does not take them; a ring has room for all that is asked. */
static void test_an_importer_that_does_not_read_blocks_no_other(void **state)
{
	uint8_t *memory = map_memory(MIB), local[64];
	struct sim_grant grant = expose(memory, MIB, true);
	const struct served_request request = { .grant = grant, .len_bytes = MIB };
	struct sim_initiator *initiator = initiator_to(&grant, MIB, true);
	int fd;

	fd = connect_raw();
	for (int i = 0; i < 100; i++)
		if (send(fd, &request, sizeof(request), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			break;
	for (int i = 0; i < 100; i++)
		assert_int_equal(read_from(initiator, local, 0, 64), 0);
	close(fd);
	sim_initiator_destroy(initiator);
	munmap(memory, MIB);
}

static void test_connections_beyond_the_limit_are_refused(void **state)
{
	int fds[1024], count = 0, before = num_open_fds(), rc;
	struct sim_grant unused = { 0 };

	pause_server(true);
	while ((rc = describe(&unused, transport, true, &unused, &fds[count])) == 0)
		count++;
	assert_true(rc == -EUSERS || rc == -EMFILE);
	assert_true(count >= 256);
	while (count > 0)
		close(fds[--count]);
	pause_server(false);
	await_open_fds(before);
}

#define TEST_OVER(test, of)                                                                                    \
	{                                                                                                      \
		.name = #test " (" #of ")", .test_func = test, .setup_func = setup, .teardown_func = teardown, \
		.initial_state = &(enum sim_transport)                                                         \
		{                                                                                              \
			of                                                                                     \
		}                                                                                              \
	}
#define TEST(test) TEST_OVER(test, SIM_TRANSPORT_SHM), TEST_OVER(test, SIM_TRANSPORT_TCP)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bytes_written_are_read_back),
		TEST(test_an_initiator_checks_bounds_and_permission),
		TEST(test_the_target_checks_bounds_and_permission),
		TEST(test_a_wrong_grant_is_refused),
		TEST(test_hidden_memory_is_refused_and_others_stay),
		TEST(test_unmapped_memory_is_an_error_and_the_rest_stays),
		TEST(test_memory_that_goes_and_comes_during_copies),
		TEST_OVER(test_buffers_of_large_copies_are_given_back, SIM_TRANSPORT_SHM),
		TEST_OVER(test_a_trim_takes_no_byte_of_a_copy, SIM_TRANSPORT_SHM),
		TEST(test_memory_that_is_unmapped_as_a_whole_can_be_reached),
		TEST(test_faults_do_not_reach_a_handler_of_the_program),
		TEST(test_initiators_share_a_connection),
		TEST(test_nothing_listens),
		TEST(test_threads_take_turns),
		TEST(test_a_target_that_has_served_may_sleep),
		TEST(test_a_target_that_is_closed_ends_the_wait),
		TEST(test_a_revocation_ends_the_wait_and_the_next_copy_connects_anew),
		TEST(test_a_forked_child_closes_the_connections),
		TEST(test_a_call_ends_although_the_target_makes_some_progress),
		TEST(test_importers_that_break_the_rules_do_not_harm_others),
		TEST(test_a_connection_that_ended_is_not_watched_though_a_child_holds_it),
		TEST_OVER(test_an_importer_that_does_not_read_blocks_no_other, SIM_TRANSPORT_TCP),
		TEST(test_connections_beyond_the_limit_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
