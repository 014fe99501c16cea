/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that die, stop or vanish while memory is accessed through libfabric: the other side gets an error or
 * continues soon, and no call hangs. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "ofi_exporter.h"

#define TIMEOUT_MS 5000
#define SOON_MS    4000 /* on a busy machine too; the wait for an unresponsive process is longer */
#define MIB        (1u << 20)
#define KILLS      10 /* each at another moment of the transfer */

static const atomic_bool never;

static struct sim_ofi_link *connect_to(const struct sim_ofi_desc *desc, size_t len)
{
	struct sim_ofi_link *link = NULL;

	assert_int_equal(sim_ofi_link_create(desc, len, TIMEOUT_MS, NULL, NULL, &link), 0);
	return link;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void remove_shm_files(const struct exporter *exporter)
{
	assert_true(sim_ofi_shm_cleanup(exporter->shm_prefix) >= 0);
	assert_int_equal(count_shm_files(exporter->shm_prefix), 0);
}

/* Acts as the daemon: kills the exporter and sets the importers' gone flag. */
struct killer {
	struct exporter *exporter;
	int go_fd[2]; /* a byte: kill it now */
	atomic_bool gone;
	int64_t gone_ms;
};

static void *run_killer(void *arg)
{
	struct killer *killer = arg;
	char byte;

	if (read(killer->go_fd[0], &byte, 1) == 1)
		exporter_kill(killer->exporter);
	killer->gone_ms = now_ms();
	atomic_store(&killer->gone, true);
	return NULL;
}

static int transfer_until_error(struct sim_ofi_link *link, struct killer *killer, bool write_it, int before)
{
	uint8_t *buf = calloc(8, MIB);
	int rc = 0;

	for (int i = 0; rc == 0; i++) {
		if (i == before)
			assert_int_equal(write(killer->go_fd[1], "", 1), 1);
		rc = write_it ? sim_ofi_link_write(link, buf, 0, 8 * MIB, &killer->gone) :
				sim_ofi_link_read(link, buf, 0, 8 * MIB, &killer->gone);
	}
	free(buf);
	return rc;
}

static void test_killed_exporter_fails_transfers_with_eio_soon(void **state)
{
	for (int i = 0; i < KILLS; i++) {
		struct killer killer = { .gone = false };
		struct exporter exporter;
		struct sim_ofi_desc desc;
		struct sim_ofi_link *link;
		pthread_t thread;

		assert_int_equal(exporter_start(&exporter, *state), 0);
		exporter_expose(&exporter, 8 * MIB, true, 1, &desc);
		link = connect_to(&desc, 8 * MIB);
		killer.exporter = &exporter;
		assert_int_equal(pipe(killer.go_fd), 0);
		assert_int_equal(pthread_create(&thread, NULL, run_killer, &killer), 0);
		assert_int_equal(transfer_until_error(link, &killer, i % 2, i), -EIO);
		pthread_join(thread, NULL);
		assert_true(now_ms() - killer.gone_ms < SOON_MS);
		assert_int_equal(sim_ofi_link_read(link, &i, 0, 1, NULL), -EIO); /* even without a GONE message */
		sim_ofi_link_destroy(link);
		close(killer.go_fd[0]);
		close(killer.go_fd[1]);
		remove_shm_files(&exporter);
	}
}

static void close_ports(const int *fds, uint32_t num)
{
	while (num-- > 0)
		close(fds[num]);
}

/* Keep the dead exporter's port closed: the kernel might give it to the next program. Returns false if another
 * program has it. */
static bool hold_port(const struct sim_ofi_desc *desc, int fds[SIM_OFI_MAX_ADDRS])
{
	for (uint32_t i = 0; i < desc->num_addrs; i++) {
		const struct sockaddr *addr = (const struct sockaddr *)desc->addr[i];

		fds[i] = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (bind(fds[i], addr, desc->addr_len[i]) == 0)
			continue;
		assert_int_equal(errno, EADDRINUSE);
		close_ports(fds, i + 1);
		return false;
	}
	return true;
}

/* Over tcp its port is held (let_go()), and stays closed. */
static void start_and_kill(struct exporter *exporter, const char *provider, struct sim_ofi_desc *ret_desc,
			   int held[SIM_OFI_MAX_ADDRS])
{
	bool is_tcp = strcmp(provider, "tcp") == 0, is_ours;

	do {
		assert_int_equal(exporter_start(exporter, provider), 0);
		exporter_expose(exporter, 4096, true, 1, ret_desc);
		exporter_kill(exporter);
		is_ours = !is_tcp || hold_port(ret_desc, held);
	} while (!is_ours);
}

static void test_dead_exporter_can_not_be_connected_to(void **state)
{
	struct sim_ofi_link *link = NULL;
	int held[SIM_OFI_MAX_ADDRS];
	struct exporter exporter;
	struct sim_ofi_desc desc;
	int64_t before;

	start_and_kill(&exporter, *state, &desc, held);
	before = now_ms();
	assert_int_equal(sim_ofi_link_create(&desc, 4096, TIMEOUT_MS, NULL, NULL, &link), -EHOSTUNREACH);
	assert_true(now_ms() - before < TIMEOUT_MS); /* refused, with further attempts */
	if (strcmp(*state, "tcp") == 0)
		close_ports(held, desc.num_addrs);
	remove_shm_files(&exporter);
}

/* Accept one connection and exit. */
static void *open_once(void *arg)
{
	int listener = *(const int *)arg, fd = accept(listener, NULL, NULL);

	close(listener);
	close(fd);
	return NULL;
}

/* libfabric alone retries a port for ever, so the link checks whether the port is open; the port may be closed
 * after the check. */
static void test_exporter_that_dies_when_it_was_just_reached_can_not_be_connected_to(void **state)
{
	struct sim_ofi_link *link = NULL;
	int held[SIM_OFI_MAX_ADDRS], listener;
	struct exporter exporter;
	struct sim_ofi_desc desc;
	pthread_t thread;
	int64_t before;

	if (strcmp(*state, "tcp") != 0)
		skip();
	start_and_kill(&exporter, *state, &desc, held);
	close_ports(held + 1, desc.num_addrs - 1);
	desc.num_addrs = 1; /* 127.0.0.1 */
	listener = held[0];
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(pthread_create(&thread, NULL, open_once, &listener), 0);
	before = now_ms();
	assert_int_equal(sim_ofi_link_create(&desc, 4096, TIMEOUT_MS, NULL, NULL, &link), -EHOSTUNREACH);
	assert_true(now_ms() - before < TIMEOUT_MS);
	pthread_join(thread, NULL);
	remove_shm_files(&exporter);
}

/* The waiting thread calls the nudge, so that thread may be the first to learn of the end. */
static void set_gone(void *arg)
{
	atomic_store((atomic_bool *)arg, true);
}

static void test_gone_ends_the_wait_for_an_exporter_that_does_not_serve(void **state)
{
	uint8_t buf[4096], untouched[4096];
	atomic_bool gone = false;
	struct sim_ofi_link *link, *other;
	struct exporter exporter;
	struct sim_ofi_desc desc;
	uint8_t byte = 0;

	assert_int_equal(exporter_start(&exporter, *state), 0);
	exporter_expose(&exporter, sizeof(buf), true, 7, &desc);
	assert_int_equal(sim_ofi_link_create(&desc, sizeof(buf), TIMEOUT_MS, set_gone, &gone, &link), 0);
	other = connect_to(&desc, sizeof(buf));
	memset(buf, 1, sizeof(buf));
	memcpy(untouched, buf, sizeof(buf));
	atomic_store(&gone, false);
	kill(exporter.pid, SIGSTOP);
	assert_int_equal(waitpid(exporter.pid, NULL, WUNTRACED), exporter.pid);
	assert_int_equal(sim_ofi_link_read(link, buf, 0, sizeof(buf), &gone), -EIO);
	kill(exporter.pid, SIGCONT);
	/* The exporter serves again; a late answer to the old request does not reach the buffer. */
	assert_int_equal(sim_ofi_link_read(other, &byte, 0, 1, &never), 0);
	assert_int_equal(byte, 7);
	assert_memory_equal(buf, untouched, sizeof(buf));
	sim_ofi_link_destroy(link);
	sim_ofi_link_destroy(other);
	exporter_stop(&exporter);
}

static void test_exporter_that_does_not_serve_can_not_be_connected_to(void **state)
{
	struct sim_ofi_link *link = NULL;
	struct exporter exporter;
	struct sim_ofi_desc desc;

	assert_int_equal(exporter_start(&exporter, *state), 0);
	exporter_expose(&exporter, 4096, true, 7, &desc);
	desc.num_addrs = 1;
	kill(exporter.pid, SIGSTOP);
	assert_int_equal(waitpid(exporter.pid, NULL, WUNTRACED), exporter.pid);
	assert_int_equal(sim_ofi_link_create(&desc, 4096, 50, NULL, NULL, &link), -ETIMEDOUT);
	kill(exporter.pid, SIGCONT);
	link = connect_to(&desc, 4096); /* remains of the attempt do no harm */
	sim_ofi_link_destroy(link);
	exporter_stop(&exporter);
}

/* Write for ever, report the first write, and wait to be killed. */
static void importer_process(const struct sim_ofi_desc *desc, int fd, bool write_it)
{
	uint8_t *buf = calloc(1, MIB);
	struct sim_ofi_link *link = NULL;
	char prefix[SIM_OFI_SHM_PREFIX_SIZE];
	int rc;

	sim_ofi_shm_prefix(prefix);
	rc = sim_ofi_link_create(desc, MIB, TIMEOUT_MS, NULL, NULL, &link);
	for (int i = 0; rc == 0; i++) {
		rc = write_it ? sim_ofi_link_write(link, buf, 0, MIB, NULL) :
				sim_ofi_link_read(link, buf, 0, MIB, NULL);
		if (i == 0 && write(fd, prefix, sizeof(prefix)) != sizeof(prefix))
			rc = -EPIPE;
	}
	sim_ofi_link_destroy(link);
	free(buf);
	_exit(1);
}

static void kill_busy_importer(const struct sim_ofi_desc *desc, bool write_it)
{
	char prefix[SIM_OFI_SHM_PREFIX_SIZE];
	pid_t pid;
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		importer_process(desc, fd[1], write_it);
	close(fd[1]);
	assert_int_equal(read(fd[0], prefix, sizeof(prefix)), sizeof(prefix));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(fd[0]);
	assert_true(sim_ofi_shm_cleanup(prefix) >= 0);
}

static void test_killed_importers_do_not_keep_the_exporter_from_serving_others(void **state)
{
	struct exporter exporter;
	struct sim_ofi_desc desc, untouched;
	struct sim_ofi_link *link;
	uint8_t byte = 0;

	assert_int_equal(exporter_start(&exporter, *state), 0);
	exporter_expose(&exporter, MIB, true, 5, &desc);
	exporter_expose(&exporter, MIB, true, 6, &untouched);
	for (int i = 0; i < 2 * KILLS; i++) {
		/* Connected earlier, by another process: the link recovers by itself. */
		link = connect_to(&untouched, MIB);
		kill_busy_importer(&desc, i % 2);
		assert_int_equal(sim_ofi_link_read(link, &byte, 0, 1, &never), 0);
		assert_int_equal(byte, 6);
		sim_ofi_link_destroy(link);
	}
	exporter_stop(&exporter);
	assert_int_equal(count_shm_files(exporter.shm_prefix), 0);
}

/* An importer uses one memory while the exporter ends the exposure of another, and of its own. */
static void test_memory_hidden_under_an_importer_is_not_touched_any_more(void **state)
{
	struct exporter exporter;
	struct sim_ofi_desc desc;

	assert_int_equal(exporter_start(&exporter, *state), 0);
	for (int i = 0; i < KILLS; i++) {
		char prefix[SIM_OFI_SHM_PREFIX_SIZE];
		int status, fd[2], mem = exporter_expose(&exporter, MIB, true, 5, &desc);
		pid_t pid;

		assert_int_equal(pipe(fd), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			importer_process(&desc, fd[1], i % 2);
		close(fd[1]);
		assert_int_equal(read(fd[0], prefix, sizeof(prefix)), sizeof(prefix));
		exporter_hide(&exporter, mem); /* unmaps it: a late access would crash the exporter */
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status)); /* the writer got an error */
		sim_ofi_shm_cleanup(prefix);
		close(fd[0]);
	}
	exporter_stop(&exporter);
}

/* shm only: a connection attempt by a foreign process. */
static int connect_and_send(const struct sim_ofi_desc *desc, size_t len_of_nonsense)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char nonsense[400];
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "/dev/shm/%.80s.sock", (const char *)desc->addr[0]);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	memset(nonsense, 0xa5, sizeof(nonsense));
	if (len_of_nonsense > 0)
		assert_int_equal(send(fd, nonsense, len_of_nonsense, MSG_NOSIGNAL), len_of_nonsense);
	return fd;
}

static void test_foreign_connections_to_the_listener_refuse_importers_only_when_it_is_full(void **state)
{
	enum { NUM = 200 };
	struct exporter exporter;
	struct sim_ofi_desc desc;
	struct sim_ofi_link *link = NULL;
	int fds[NUM];

	if (strcmp(*state, "shm") != 0)
		skip();
	assert_int_equal(exporter_start(&exporter, *state), 0);
	exporter_expose(&exporter, 4096, true, 1, &desc);
	for (size_t i = 1; i < 400; i++)
		close(connect_and_send(&desc, i));
	for (int i = 0; i < NUM; i++)
		fds[i] = connect_and_send(&desc, 0);
	assert_int_equal(sim_ofi_link_create(&desc, 4096, TIMEOUT_MS, NULL, NULL, &link), -EUSERS);
	for (int i = 0; i < NUM; i++)
		close(fds[i]);
	link = connect_to(&desc, 4096);
	sim_ofi_link_destroy(link);
	exporter_stop(&exporter);
}

static void test_files_of_a_killed_process_are_cleaned(void **state)
{
	struct exporter exporter;

	assert_int_equal(exporter_start(&exporter, *state), 0);
	exporter_kill(&exporter);
	if (strcmp(*state, "shm") == 0)
		assert_true(count_shm_files(exporter.shm_prefix) > 0);
	assert_int_equal(sim_ofi_shm_cleanup(exporter.shm_prefix), strcmp(*state, "shm") == 0 ? 2 : 0);
	assert_int_equal(count_shm_files(exporter.shm_prefix), 0);
}

static void test_cleaning_refuses_what_is_no_prefix_of_ours(void **state)
{
	(void)state;
	assert_int_equal(sim_ofi_shm_cleanup(""), -EINVAL);
	assert_int_equal(sim_ofi_shm_cleanup("bfsim-"), -EINVAL);
	assert_int_equal(sim_ofi_shm_cleanup("bfsim-12-"), -EINVAL);
	assert_int_equal(sim_ofi_shm_cleanup("bfsim-12-00000000000000ff"), -EINVAL);
	assert_int_equal(sim_ofi_shm_cleanup("other-12-00000000000000ff-"), -EINVAL);
	assert_int_equal(sim_ofi_shm_cleanup("bfsim-12-00000000000000ff-"), 0);
}

#define TEST(name, provider)                                                                    \
	{                                                                                       \
#name " over " provider, test_##name, NULL, NULL, (void *)(uintptr_t)(provider) \
	}

#define TESTS(provider)                                                                                            \
	{                                                                                                          \
		TEST(killed_exporter_fails_transfers_with_eio_soon, provider),                                     \
			TEST(dead_exporter_can_not_be_connected_to, provider),                                     \
			TEST(exporter_that_dies_when_it_was_just_reached_can_not_be_connected_to, provider),       \
			TEST(gone_ends_the_wait_for_an_exporter_that_does_not_serve, provider),                    \
			TEST(exporter_that_does_not_serve_can_not_be_connected_to, provider),                      \
			TEST(killed_importers_do_not_keep_the_exporter_from_serving_others, provider),             \
			TEST(memory_hidden_under_an_importer_is_not_touched_any_more, provider),                   \
			TEST(foreign_connections_to_the_listener_refuse_importers_only_when_it_is_full, provider), \
			TEST(files_of_a_killed_process_are_cleaned, provider),                                     \
			TEST(cleaning_refuses_what_is_no_prefix_of_ours, provider),                                \
	}

/* Loads libfabric, here and for all the children. */
static bool have(const char *provider)
{
	struct sim_ofi_target *target = NULL;
	int rc = sim_ofi_target_create(provider, &target);

	sim_ofi_target_destroy(target);
	if (rc < 0)
		printf("SKIPPED: libfabric has no %s here (%s)\n", provider, strerror(-rc));
	return rc == 0;
}

int main(void)
{
	const struct CMUnitTest shm[] = TESTS("shm");
	const struct CMUnitTest tcp[] = TESTS("tcp");
	int failed = 0;

	if (have("shm"))
		failed += cmocka_run_group_tests_name("shm", shm, NULL, NULL);
	if (have("tcp"))
		failed += cmocka_run_group_tests_name("tcp", tcp, NULL, NULL);
	return failed;
}
