/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between memories, each of which is this process's own or a remote one. One process is enough: it copies
 * in place when the remote has its own id, and through cma when the remote has another. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "emulated.h"
#include "far.h"
#include "sim/base/memory_guard.h"
#include "sim/base/memory_signals.h"
#include "sim/base/pidfd.h"
#include "sim/fabric/peer_process.h"
#include "sim/fabric/remote.h"
#include "sim/base/log.h"

#define SIZE 100000 /* three bounce buffers of 32768 and a rest */
#define PAGE 4096u
#define ADDR 0x7000000000ull /* the address that applications use: not where it is mapped */

static uint8_t exported[2][SIZE], local[SIZE], before[SIZE];
static int own_pidfd = -1;

static int no_describe(void *arg, enum sim_transport transport, bool connect, struct sim_grant *ret_grant, int *ret_fd)
{
	return -ENOSYS;
}

static struct sim_remote_cfg cfg_of(const void *memory, size_t len)
{
	struct sim_remote_cfg cfg = {
		.key = 1,
		.region = { .addr = ADDR,
			    .cpu_addr = (uintptr_t)memory,
			    .len_bytes = len,
			    .access = SIM_ACCESS_READ | SIM_ACCESS_WRITE },
		.exporter = { .id = 7, .pid = getpid(), .uid = 1, .side = "host", .program = "test" },
		.self = { .id = 8, .uid = 1 },
		.object_fd = -1,
		.pidfd = own_pidfd,
		.is_own_session = true,
		.peer = { no_describe, NULL },
	};

	return cfg;
}

/* Valgrind has no pidfd_open(). */
static void need_cma(const struct sim_remote_cfg *cfg)
{
	if (is_emulated() || cfg->pidfd < 0)
		skip();
}

static struct sim_remote *create(struct sim_remote_cfg *cfg, const char *path)
{
	struct sim_remote *remote = NULL;

	if (strcmp(path, "in-place") && strcmp(path, "mapped"))
		need_cma(cfg);
	if (strcmp(path, "in-place") == 0)
		cfg->self.id = cfg->exporter.id;
	cfg->forced_path = path;
	assert_int_equal(sim_remote_create(cfg, &remote), 0);
	assert_string_equal(sim_remote_path(remote), path);
	return remote;
}

/* The whole of exported[@number] over @path. */
static struct sim_remote *reach(int number, const char *path)
{
	struct sim_remote_cfg cfg = cfg_of(exported[number], SIZE);

	return create(&cfg, path);
}

static void fill(uint8_t *bytes, unsigned int seed)
{
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(i * 31 + seed + i / 256);
}

static int setup(void **state)
{
	fill(exported[0], 1);
	fill(exported[1], 2);
	fill(local, 3);
	memcpy(before, local, SIZE);
	return 0;
}

static uint64_t here(void *bytes)
{
	return (uintptr_t)bytes;
}

static const char *const paths[] = { "in-place", "cma", "procmem" };

#define NUM_PATHS (sizeof(paths) / sizeof(paths[0]))

static void test_bytes_are_read(void **state)
{
	for (size_t p = 0; p < NUM_PATHS; p++) {
		struct sim_remote *remote = reach(0, paths[p]);

		setup(state);
		assert_int_equal(sim_copy(NULL, here(local + 7), remote, ADDR + 13, 5000), 0);
		assert_memory_equal(local + 7, exported[0] + 13, 5000);
		assert_memory_equal(local, before, 7);
		assert_memory_equal(local + 5007, before + 5007, SIZE - 5007);
		sim_remote_destroy(remote);
	}
}

static void test_bytes_are_written(void **state)
{
	for (size_t p = 0; p < NUM_PATHS; p++) {
		struct sim_remote *remote = reach(0, paths[p]);

		setup(state);
		memcpy(before, exported[0], SIZE);
		assert_int_equal(sim_copy(remote, ADDR + 11, NULL, here(local), SIZE - 11), 0);
		assert_memory_equal(exported[0] + 11, local, SIZE - 11);
		assert_memory_equal(exported[0], before, 11);
		sim_remote_destroy(remote);
	}
}

static void test_bytes_move_between_two_remotes(void **state)
{
	const struct sim_remote_cfg cfg = cfg_of(exported[0], SIZE);

	need_cma(&cfg); /* before anything is made */
	for (size_t p = 0; p < NUM_PATHS * NUM_PATHS; p++) {
		struct sim_remote *from = reach(0, paths[p / NUM_PATHS]), *to = reach(1, paths[p % NUM_PATHS]);

		setup(state);
		assert_int_equal(sim_copy(to, ADDR, from, ADDR, SIZE), 0);
		assert_memory_equal(exported[1], exported[0], SIZE);
		sim_remote_destroy(to);
		sim_remote_destroy(from);
	}
}

static void test_bytes_move_within_this_process(void **state)
{
	assert_int_equal(sim_copy(NULL, here(local), NULL, here(exported[0]), SIZE), 0);
	assert_memory_equal(local, exported[0], SIZE);
	assert_int_equal(sim_copy(NULL, here(local + 1), NULL, here(local), SIZE - 1), 0); /* overlapping */
	assert_memory_equal(local + 1, exported[0], SIZE - 1);
}

static void test_bounds_are_those_of_the_export(void **state)
{
	static const struct {
		uint64_t addr;
		size_t len;
		int rc;
	} cases[] = {
		{ ADDR, SIZE, 0 },
		{ ADDR, 0, 0 },
		{ ADDR + SIZE, 0, 0 },
		{ ADDR + SIZE - 1, 1, 0 },
		{ ADDR - 1, 1, -EFAULT },
		{ ADDR - 1, 0, -EFAULT },
		{ ADDR + SIZE, 1, -EFAULT },
		{ ADDR + SIZE + 1, 0, -EFAULT },
		{ ADDR, SIZE + 1, -EFAULT },
		{ ADDR + 1, SIZE, -EFAULT },
		{ ADDR + 1, SIZE_MAX, -EFAULT },
		{ UINT64_MAX, 2, -EFAULT },
		{ 0, 1, -EFAULT },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sim_remote *remote = reach(0, paths[i % NUM_PATHS]);

		assert_int_equal(sim_copy(NULL, here(local), remote, cases[i].addr, cases[i].len), cases[i].rc);
		assert_int_equal(sim_copy(remote, cases[i].addr, NULL, here(local), cases[i].len), cases[i].rc);
		sim_remote_destroy(remote);
	}
}

static void test_permissions_are_those_of_the_export(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(exported[0], SIZE);
	struct sim_remote *remote;

	cfg.region.access = SIM_ACCESS_READ;
	remote = create(&cfg, "cma");
	memcpy(before, exported[0], SIZE);
	assert_int_equal(sim_copy(remote, ADDR, NULL, here(local), 1), -EACCES);
	assert_int_equal(sim_copy(NULL, here(local), remote, ADDR, 1), 0);
	assert_memory_equal(exported[0], before, SIZE);
	sim_remote_destroy(remote);
	cfg.region.access = 0;
	remote = create(&cfg, "cma");
	assert_int_equal(sim_copy(NULL, here(local), remote, ADDR, 1), -EACCES);
	sim_remote_destroy(remote);
}

static void test_the_best_path_is_chosen_and_the_others_say_why_not(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(exported[0], SIZE);
	struct sim_remote *remote;

	if (is_emulated() || own_pidfd < 0)
		skip();
	assert_int_equal(sim_remote_create(&cfg, &remote), 0);
	assert_string_equal(sim_remote_path(remote), "procmem");
	assert_string_equal(remote->reason, "mapped: not in a shared object");
	sim_remote_destroy(remote);
	cfg.self.id = cfg.exporter.id;
	assert_int_equal(sim_remote_create(&cfg, &remote), 0);
	assert_string_equal(sim_remote_path(remote), "in-place");
	assert_string_equal(remote->reason, "");
	sim_remote_destroy(remote);
}

static void quiet(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
}

static int ended_describe(void *arg, enum sim_transport transport, bool connect, struct sim_grant *ret_grant,
			  int *ret_fd)
{
	return -ESTALE;
}

static void fail_if_logged(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
	fail_msg("logged: %s", format);
}

static void test_an_export_that_ended_meanwhile_is_what_is_wrong_and_no_path(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(exported[0], SIZE);
	struct sim_remote *remote = NULL;

	cfg.exporter.uid = 2; /* not reachable by cma */
	cfg.peer.describe = ended_describe;
	sim_log_set_sink(fail_if_logged);
	assert_int_equal(sim_remote_create(&cfg, &remote), -ESTALE);
	sim_log_set_sink(NULL);
	assert_null(remote);
}

static void expect_no_path(const struct sim_remote_cfg *cfg)
{
	struct sim_remote *remote = NULL;

	sim_log_set_sink(quiet);
	assert_int_equal(sim_remote_create(cfg, &remote), -ENOTSUP);
	sim_log_set_sink(NULL);
	assert_null(remote);
}

static void test_a_forced_path_that_does_not_work_is_refused(void **state)
{
	static const char *const useless[] = { "in-place", "mapped", "shm", "tcp", "telepathy", "" };
	struct sim_remote_cfg cfg = cfg_of(exported[0], SIZE);

	for (size_t i = 0; i < sizeof(useless) / sizeof(useless[0]); i++) {
		cfg.forced_path = useless[i];
		expect_no_path(&cfg);
	}
}

static unsigned int num_describes;

static int silent_describe(void *arg, enum sim_transport transport, bool connect, struct sim_grant *ret_grant,
			   int *ret_fd)
{
	num_describes++;
	return -ETIMEDOUT;
}

/* Each wait takes ten seconds. */
static void test_an_exporter_that_does_not_answer_is_asked_once(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(exported[0], SIZE);
	struct sim_remote *remote = NULL;

	cfg.exporter.uid = 2; /* not reachable by cma */
	cfg.peer.describe = silent_describe;
	num_describes = 0;
	sim_log_set_sink(quiet);
	assert_int_equal(sim_remote_create(&cfg, &remote), -ETIMEDOUT);
	sim_log_set_sink(NULL);
	assert_null(remote);
	assert_int_equal(num_describes, 1);
}

static char logged[1024];

static void keep(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
	vsnprintf(logged, sizeof(logged), format, args);
}

static int busy_describe(void *arg, enum sim_transport transport, bool connect, struct sim_grant *ret_grant,
			 int *ret_fd)
{
	return -EUSERS;
}

static void test_the_reasons_against_all_paths_are_whole(void **state)
{
	static const char end[] = "; tcp: too many processes access the exporter's memory";
	struct sim_remote_cfg cfg = cfg_of(exported[0], SIZE);
	struct sim_remote *remote = NULL;

	cfg.exporter.uid = 2; /* not reachable by cma */
	cfg.peer.describe = busy_describe;
	sim_log_set_sink(keep);
	assert_int_equal(sim_remote_create(&cfg, &remote), -ENOTSUP);
	sim_log_set_sink(NULL);
	assert_true(strlen(logged) > sizeof(end));
	assert_string_equal(logged + strlen(logged) - strlen(end), end);
}

/* Start a child that ends when *@ret_end_fd is closed. */
static pid_t start_child(int *ret_end_fd)
{
	int pipe_fds[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(pipe_fds[1]);
		_exit(read(pipe_fds[0], &byte, 1) != 0);
	}
	close(pipe_fds[0]);
	*ret_end_fd = pipe_fds[1];
	return pid;
}

/* The process is what the pidfd says, and not the pid that somebody wrote down. */
static void test_the_process_of_the_pidfd_is_reached_and_no_other(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(exported[0], SIZE);
	struct sim_remote *remote;
	int end_fd;
	pid_t child;

	fill(exported[0], 9);
	child = start_child(&end_fd);
	fill(exported[0], 1);
	cfg.pidfd = sim_pidfd_open(child);
	remote = create(&cfg, "cma");
	assert_int_equal(sim_copy(NULL, here(local), remote, ADDR, SIZE), 0);
	assert_memory_not_equal(local, exported[0], SIZE);
	close(end_fd);
	assert_int_equal(waitpid(child, NULL, 0), child);
	sim_remote_destroy(remote);
	expect_no_path(&cfg); /* it has ended */
	close(cfg.pidfd);
}

static void test_cma_needs_a_pidfd_and_one_user(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(exported[0], SIZE);

	cfg.pidfd = -1;
	expect_no_path(&cfg);
	cfg = cfg_of(exported[0], SIZE);
	cfg.exporter.uid++;
	expect_no_path(&cfg);
	cfg = cfg_of(exported[0], SIZE);
	cfg.is_own_session = false;
	expect_no_path(&cfg);
	cfg = cfg_of(exported[0], SIZE);
	cfg.pidfd = STDERR_FILENO; /* not a pidfd */
	expect_no_path(&cfg);
}

/* The object begins 5000 bytes before the memory: neither a page's beginning nor its end. */
static void test_memory_in_a_shared_object_is_mapped(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(NULL, SIZE);
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct sim_remote *remote;

	assert_int_equal(ftruncate(fd, 5000 + SIZE), 0);
	assert_int_equal(pwrite(fd, exported[0], SIZE, 5000), SIZE);
	cfg.object_fd = fd;
	cfg.region.object_offset = 5000;
	remote = create(&cfg, "mapped");
	close(fd); /* the mapping does not need it any more */
	assert_int_equal(sim_copy(NULL, here(local), remote, ADDR, SIZE), 0);
	assert_memory_equal(local, exported[0], SIZE);
	assert_int_equal(sim_copy(remote, ADDR + SIZE - 1, NULL, here(exported[1]), 1), 0);
	assert_int_equal(remote->base[SIZE - 1], exported[1][0]);
	sim_remote_destroy(remote);
}

/* The value of a sync event is accessed in place: it is mapped with every forced path, and never copied. */
static void test_a_sync_events_value_is_mapped_and_not_copied(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(NULL, 16);
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct sim_remote *remote;
	uint8_t there = 0;

	assert_int_equal(ftruncate(fd, 16), 0);
	cfg.region.access = SIM_ACCESS_SYNC;
	cfg.object_fd = fd;
	cfg.forced_path = "cma";
	assert_int_equal(sim_remote_create(&cfg, &remote), 0);
	assert_string_equal(sim_remote_path(remote), "mapped");
	assert_int_equal(sim_copy(NULL, here(local), remote, ADDR, 1), -EACCES);
	assert_int_equal(sim_copy(remote, ADDR, NULL, here(local), 1), -EACCES);
	assert_true(sim_remote_acquire(remote));
	remote->base[3] = 8;
	sim_remote_release(remote);
	assert_int_equal(pread(fd, &there, 1, 3), 1);
	assert_int_equal(there, 8);
	sim_remote_revoke(remote);
	assert_false(sim_remote_acquire(remote));
	sim_remote_destroy(remote);
	close(fd);
}

static void test_a_sync_events_value_in_no_object_is_out_of_reach(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(exported[0], 16);
	struct sim_remote *remote = NULL;

	cfg.region.access = SIM_ACCESS_SYNC;
	assert_int_equal(sim_remote_create(&cfg, &remote), -ENOTSUP);
	assert_null(remote);
}

/* A mapping of huge pages begins at a multiple of one. Needs a free one on the machine. */
static void test_memory_in_huge_pages_is_mapped_from_the_middle_of_one(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(NULL, SIZE);
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_HUGETLB);
	struct sim_remote *remote;
	struct stat object;
	uint8_t *bytes;

	if (fd < 0)
		skip();
	assert_int_equal(fstat(fd, &object), 0);
	assert_int_equal(ftruncate(fd, object.st_blksize), 0);
	bytes = mmap(NULL, (size_t)object.st_blksize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED) {
		close(fd);
		skip();
	}
	memcpy(bytes + 5000, exported[0], SIZE);
	cfg.object_fd = fd;
	cfg.region.object_offset = 5000;
	remote = create(&cfg, "mapped");
	assert_int_equal(sim_copy(NULL, here(local), remote, ADDR, SIZE), 0);
	assert_memory_equal(local, exported[0], SIZE);
	sim_remote_destroy(remote);
	munmap(bytes, (size_t)object.st_blksize);
	close(fd);
}

static void test_an_object_shorter_than_the_memory_is_not_mapped(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(exported[0], SIZE);
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, SIZE), 0);
	cfg.forced_path = "mapped";
	cfg.object_fd = fd;
	cfg.region.object_offset = 1;
	expect_no_path(&cfg);
	cfg.region.object_offset = UINT64_MAX;
	expect_no_path(&cfg);
	cfg.region.object_offset = SIZE + 1; /* behind the object's end: what is left of it would wrap */
	expect_no_path(&cfg);
	cfg.region.object_offset = 0;
	cfg.region.len_bytes = UINT64_MAX;
	expect_no_path(&cfg);
	close(fd);
}

static void test_memory_that_the_exporter_unmapped_is_an_io_error(void **state)
{
	uint8_t *memory = mmap(FAR_AWAY, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sim_remote_cfg cfg = cfg_of(memory, SIZE);
	struct sim_remote *remote = create(&cfg, "cma");

	munmap(memory, SIZE);
	sim_log_set_sink(quiet);
	assert_int_equal(sim_copy(NULL, here(local), remote, ADDR, SIZE), -EIO);
	assert_int_equal(sim_copy(remote, ADDR, NULL, here(local), SIZE), -EIO);
	sim_log_set_sink(NULL);
	sim_remote_destroy(remote);
}

/* A system call fails at local memory that is gone, so the copy accesses it itself, and the guard hears of the fault. */
static void test_own_memory_that_is_gone_is_lost(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(exported[0], SIZE);
	struct sim_remote *remote = create(&cfg, "cma");
	uint8_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(page, MAP_FAILED);
	sim_memory_signals_install();
	assert_int_equal(munmap(page, PAGE), 0);
	for (int is_write = 0; is_write < 2; is_write++) {
		struct sim_range_guard range;

		sim_range_guard_begin(&range, page, PAGE, NULL);
		if (is_write)
			sim_copy(remote, ADDR, NULL, (uintptr_t)page, PAGE);
		else
			sim_copy(NULL, (uintptr_t)page, remote, ADDR, PAGE);
		assert_true(sim_range_guard_end(&range));
		assert_int_equal(range.guard.fault, SIM_MEMORY_UNMAPPED);
		sim_guard_settle(&range.guard);
		assert_int_equal(msync(page, PAGE, MS_ASYNC), -1); /* a hole again */
	}
	sim_remote_destroy(remote);
}

/* The child has our memory at the same addresses. It is dead before its state is set to gone. */
static void test_an_exporter_that_died_is_an_io_error(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(exported[0], SIZE);
	struct sim_remote *remote;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	cfg.pidfd = sim_pidfd_open(pid);
	remote = create(&cfg, "cma");
	close(cfg.pidfd);
	assert_int_equal(sim_copy(NULL, here(local), remote, ADDR, SIZE), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	sim_log_set_sink(quiet);
	assert_int_equal(sim_copy(NULL, here(local), remote, ADDR, SIZE), -EIO);
	sim_log_set_sink(NULL);
	sim_remote_destroy(remote);
}

static void test_remotes_of_one_exporter_share_a_descriptor(void **state)
{
	struct sim_remote *remote = reach(0, "cma"), *other = reach(1, "cma");

	assert_ptr_equal(remote->process, other->process);
	sim_remote_destroy(remote);
	assert_int_equal(sim_copy(NULL, here(local), other, ADDR, SIZE), 0);
	sim_remote_destroy(other);
}

/* A child with @pid, or with any pid if that is 0; -1 where the kernel or our rights do not permit to choose the
 * pid. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = pid ? (uintptr_t)&pid : 0,
				   .set_tid_size = pid ? 1 : 0 };
	pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return child;
}

static void reap(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The exporter dies, and another process has its pid before the death was noticed, with memory at the same
 * addresses. */
static void test_a_process_that_got_the_exporters_pid_is_not_touched(void **state)
{
	const struct timespec after_last_check = { .tv_nsec = 2 * SIM_PEER_PROCESS_CHECK_NS };
	struct sim_remote_cfg cfg = cfg_of(exported[0], SIZE);
	struct iovec here_iov = { before, SIZE }, there_iov = { exported[0], SIZE };
	const struct sim_piece piece = { ADDR, local, SIZE };
	pid_t exporter = fork_as(0), stranger;
	struct sim_remote *remote;

	if (exporter < 0) /* valgrind has neither clone3() nor pidfd_open() */
		skip();
	cfg.pidfd = sim_pidfd_open(exporter);
	remote = create(&cfg, "cma");
	close(cfg.pidfd);
	assert_int_equal(sim_copy(remote, ADDR, NULL, here(local), SIZE), 0);
	reap(exporter);
	stranger = fork_as(exporter);
	if (stranger < 0) {
		sim_remote_destroy(remote);
		skip();
	}
	assert_int_equal(stranger, exporter);
	nanosleep(&after_last_check, NULL);
	sim_log_set_sink(quiet);
	assert_int_equal(sim_copy(remote, ADDR, NULL, here(local), SIZE), -EIO);
	assert_int_equal(sim_copy(NULL, here(local), remote, ADDR, SIZE), -EIO);
	assert_int_equal(sim_copy_pieces(remote, false, &piece, 1), 0);
	assert_int_equal(sim_copy_pieces(remote, true, &piece, 1), 0);
	sim_log_set_sink(NULL);
	assert_int_equal(process_vm_readv(stranger, &here_iov, 1, &there_iov, 1, 0), SIZE);
	assert_memory_equal(before, exported[0], SIZE);
	sim_remote_destroy(remote);
	reap(stranger);
}

static void test_revoked_memory_is_not_reached_any_more(void **state)
{
	for (size_t p = 0; p < NUM_PATHS; p++) {
		struct sim_remote *remote = reach(0, paths[p]), *other = reach(1, paths[p]);

		sim_remote_set_cause(remote, SIM_REVOKED_FUNCTION);
		sim_remote_revoke(remote);
		sim_remote_set_cause(remote, SIM_REVOKED_SESSION);
		sim_remote_revoke(remote); /* again: by the daemon's end, for instance */
		assert_int_equal(atomic_load(&remote->revoke_cause), SIM_REVOKED_FUNCTION); /* the first one */
		memcpy(before, exported[0], SIZE);
		assert_int_equal(sim_copy(NULL, here(local), remote, ADDR, 1), -EIO);
		assert_int_equal(sim_copy(remote, ADDR, NULL, here(local), 1), -EIO);
		assert_int_equal(sim_copy(other, ADDR, remote, ADDR, 1), -EIO);
		assert_int_equal(sim_copy(remote, ADDR, other, ADDR, 1), -EIO);
		assert_memory_equal(exported[0], before, SIZE);
		sim_remote_revoke(other); /* no copy is inside: this returns */
		sim_remote_destroy(other);
		sim_remote_destroy(remote);
	}
}

struct revoker {
	struct sim_remote *remote;
	atomic_bool returned;
};

static void *run_revocation(void *arg)
{
	struct revoker *revoker = arg;

	sim_remote_revoke(revoker->remote);
	atomic_store(&revoker->returned, true);
	return NULL;
}

static void test_a_revocation_waits_for_the_copy_inside(void **state)
{
	struct revoker revoker = { .remote = reach(0, "cma") };
	pthread_t thread;

	atomic_fetch_add(&revoker.remote->in_flight, 1); /* as a copy does while it runs */
	assert_int_equal(pthread_create(&thread, NULL, run_revocation, &revoker), 0);
	while (!atomic_load(&revoker.remote->revoked))
		sched_yield();
	for (int i = 0; i < 100; i++)
		sched_yield();
	assert_false(atomic_load(&revoker.returned));
	assert_int_equal(sim_copy(NULL, here(local), revoker.remote, ADDR, 1), -EIO);
	atomic_fetch_sub(&revoker.remote->in_flight, 1);
	pthread_join(thread, NULL);
	assert_true(atomic_load(&revoker.returned));
	sim_remote_destroy(revoker.remote);
}

static void *copy_until_gone(void *arg)
{
	uint8_t mine[4096];

	while (sim_copy(NULL, here(mine), arg, ADDR, sizeof(mine)) == 0)
		;
	return NULL;
}

/* After the revocation the memory may be reused at once. A thread checker detects a copy that is still inside then. */
static void test_memory_is_free_when_the_revocation_returns(void **state)
{
	for (int round = 0; round < 50; round++) {
		struct sim_remote *remote = reach(0, "in-place");
		pthread_t threads[3];

		for (int i = 0; i < 3; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, copy_until_gone, remote), 0);
		sim_remote_revoke(remote);
		memset(exported[0], round, SIZE);
		for (int i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
		sim_remote_destroy(remote);
	}
}

static void test_destroying_nothing_is_fine(void **state)
{
	sim_remote_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bytes_are_read),
		TEST(test_bytes_are_written),
		TEST(test_bytes_move_between_two_remotes),
		TEST(test_bytes_move_within_this_process),
		TEST(test_bounds_are_those_of_the_export),
		TEST(test_permissions_are_those_of_the_export),
		TEST(test_the_best_path_is_chosen_and_the_others_say_why_not),
		TEST(test_a_forced_path_that_does_not_work_is_refused),
		TEST(test_an_exporter_that_does_not_answer_is_asked_once),
		TEST(test_the_reasons_against_all_paths_are_whole),
		TEST(test_an_export_that_ended_meanwhile_is_what_is_wrong_and_no_path),
		TEST(test_the_process_of_the_pidfd_is_reached_and_no_other),
		TEST(test_cma_needs_a_pidfd_and_one_user),
		TEST(test_memory_in_a_shared_object_is_mapped),
		TEST(test_a_sync_events_value_is_mapped_and_not_copied),
		TEST(test_a_sync_events_value_in_no_object_is_out_of_reach),
		TEST(test_memory_in_huge_pages_is_mapped_from_the_middle_of_one),
		TEST(test_an_object_shorter_than_the_memory_is_not_mapped),
		TEST(test_memory_that_the_exporter_unmapped_is_an_io_error),
		TEST(test_own_memory_that_is_gone_is_lost),
		TEST(test_an_exporter_that_died_is_an_io_error),
		TEST(test_remotes_of_one_exporter_share_a_descriptor),
		TEST(test_a_process_that_got_the_exporters_pid_is_not_touched),
		TEST(test_revoked_memory_is_not_reached_any_more),
		TEST(test_a_revocation_waits_for_the_copy_inside),
		TEST(test_memory_is_free_when_the_revocation_returns),
		TEST(test_destroying_nothing_is_fine),
	};

	own_pidfd = sim_pidfd_open(getpid());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
