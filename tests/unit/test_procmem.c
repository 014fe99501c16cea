/* SPDX-License-Identifier: BSD-3-Clause */
/* The path procmem by itself: what an exporter does to its memory, its user and its program, and what it may not open to
 * importers. The exporter is a child, which has the test's memory at the same addresses. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "emulated.h"
#include "proc.h"
#include "sim/base/log.h"
#include "sim/base/pidfd.h"
#include "sim/fabric/peer_memory.h"
#include "sim/fabric/remote.h"
#include "sim/protocol/wire.h"
#include "sim/session/exports.h"

#define PAGE  4096u
#define BYTES (64 * PAGE)
#define ADDR  0x7000000000ull

enum order {
	PROTECT_READ,
	PROTECT_NONE,
	UNPROTECT,
	UNMAP_LAST, /* the last page */
	PEEK,
	FORK_AND_CHANGE, /* in a child of its own; the answer comes when the child has changed its copy */
	DROP_RIGHTS,
	EXEC,
	LIMIT_FILES,
	OPEN, /* its own memory: the answer is 0 or -errno */
	PASS, /* its memory and mappings, as two messages */
};

static uint8_t *memory; /* BYTES, private, of the test and of each exporter */
static uint8_t local[BYTES];
static struct proc exporter;
static int exporter_pidfd = -1;

/* Replies with an int. */
static int follow(enum order order, int ctl)
{
	struct sim_msg msg = { .type = SIM_MSG_DESCRIBE };
	int mem_fd = -1, maps_fd = -1, rc = 0;
	pid_t child;

	switch (order) {
	case PROTECT_READ:
		return mprotect(memory, PAGE, PROT_READ);
	case PROTECT_NONE:
		return mprotect(memory, PAGE, PROT_NONE);
	case UNPROTECT:
		return mprotect(memory, BYTES, PROT_READ | PROT_WRITE);
	case UNMAP_LAST:
		return munmap(memory + BYTES - PAGE, PAGE);
	case PEEK:
		return memory[0];
	case FORK_AND_CHANGE:
		child = fork();
		if (child == 0) {
			memset(memory, 0xee, BYTES);
			_exit(0);
		}
		return waitpid(child, NULL, 0) == child ? 0 : -1;
	case DROP_RIGHTS: /* a change of the user does the latter, too */
		return geteuid() == 0 && setuid(12345) < 0 ? -1 : prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	case EXEC:
		execl("/bin/sleep", "sleep", "600", NULL);
		return -errno;
	case LIMIT_FILES:
		return setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 1, 1 }); /* poll() takes no more than that */
	case OPEN:
	case PASS:
		rc = sim_peer_memory_open(0, true, &mem_fd, &maps_fd);
		break;
	}
	if (order == PASS) {
		rc = rc < 0 ? rc : sim_msg_send(ctl, &msg, mem_fd);
		rc = rc < 0 ? rc : sim_msg_send(ctl, &msg, maps_fd);
	}
	if (mem_fd >= 0) {
		close(mem_fd);
		close(maps_fd);
	}
	return rc;
}

static void run_exporter(int ctl, const void *arg)
{
	enum order order;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	for (;;) {
		int rc;

		proc_recv(ctl, &order, sizeof(order));
		if (order == EXEC)
			fcntl(ctl, F_SETFD, FD_CLOEXEC); /* the test sees the end of the socket then */
		rc = follow(order, ctl);
		proc_send(ctl, &rc, sizeof(rc));
	}
}

static int tell(enum order order)
{
	int rc;

	proc_send(exporter.ctl, &order, sizeof(order));
	proc_recv(exporter.ctl, &rc, sizeof(rc));
	return rc;
}

static int setup(void **state)
{
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	memset(memory, 0x11, BYTES);
	memset(local, 0x22, BYTES);
	proc_start(&exporter, run_exporter, NULL);
	exporter_pidfd = sim_pidfd_open(exporter.pid);
	return 0;
}

static int teardown(void **state)
{
	proc_kill_all();
	close(exporter_pidfd);
	munmap(memory, BYTES);
	return 0;
}

static unsigned int num_asked;
static const char *sham; /* a file that the exporter passes in place of its memory */

/* As the session's calls: an exporter that is asked passes its files. */
static int describe(void *arg, enum sim_transport transport, bool connect, struct sim_grant *ret_grant, int *ret_fd)
{
	static int maps_fd = -1;
	struct sim_msg msg;
	int rc;

	*ret_fd = -1;
	if (transport != SIM_TRANSPORT_MEM && transport != SIM_TRANSPORT_MAPS)
		return -ENOSYS;
	num_asked++;
	if (sham) {
		*ret_fd = open(sham, O_RDWR | O_CLOEXEC);
		if (*ret_fd < 0)
			*ret_fd = open(sham, O_RDONLY | O_CLOEXEC);
		return 0;
	}
	if (transport == SIM_TRANSPORT_MAPS) {
		*ret_fd = maps_fd;
		maps_fd = -1;
		return 0;
	}
	proc_send(exporter.ctl, &(enum order){ PASS }, sizeof(enum order));
	assert_int_equal(sim_msg_recv(exporter.ctl, &msg, ret_fd), 0);
	assert_int_equal(sim_msg_recv(exporter.ctl, &msg, &maps_fd), 0);
	proc_recv(exporter.ctl, &rc, sizeof(rc));
	return rc;
}

static struct sim_remote_cfg cfg_of(uint32_t access, const char *path)
{
	static uint64_t last_id = 100;

	if (is_emulated() || exporter_pidfd < 0)
		skip();
	return (struct sim_remote_cfg){
		.key = 1,
		.region = { .addr = ADDR, .cpu_addr = (uintptr_t)memory, .len_bytes = BYTES, .access = access },
		.exporter = { .id = ++last_id, .pid = exporter.pid, .uid = 1, .side = "host", .program = "test" },
		.self = { .id = 8, .uid = 1 },
		.object_fd = -1,
		.pidfd = exporter_pidfd,
		.is_own_session = true,
		.peer = { describe, NULL },
		.forced_path = path,
	};
}

static bool knows_writable(void)
{
	int mem_fd, maps_fd;
	struct sim_peer_memory *own;
	int rc = sim_peer_memory_open(0, true, &mem_fd, &maps_fd);

	rc = rc < 0 ? rc : sim_peer_memory_create(1, true, mem_fd, maps_fd, &own);
	if (rc == 0)
		sim_peer_memory_put(own);
	return rc == 0;
}

/* By that path alone, to read and write. */
static struct sim_remote *reach(void)
{
	struct sim_remote_cfg cfg = cfg_of(SIM_ACCESS_READ | SIM_ACCESS_WRITE, "procmem");
	struct sim_remote *remote;

	if (!knows_writable())
		skip();
	assert_int_equal(sim_remote_create(&cfg, &remote), 0);
	assert_string_equal(sim_remote_path(remote), "procmem");
	return remote;
}

/* By a process that can't find the exporter's: it has a descriptor of one that has ended. */
static void hide_exporter(struct sim_remote_cfg *cfg)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	cfg->pidfd = sim_pidfd_open(child);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static int read_at(struct sim_remote *remote, uint64_t at, size_t len)
{
	return sim_copy(NULL, (uintptr_t)local, remote, ADDR + at, len);
}

static int write_at(struct sim_remote *remote, uint64_t at, size_t len)
{
	return sim_copy(remote, ADDR + at, NULL, (uintptr_t)local, len);
}

/* The kernel would change them. */
static void test_pages_that_the_exporter_may_not_write_are_not_written(void **state)
{
	static const enum order protections[] = { PROTECT_READ, PROTECT_NONE };
	struct sim_remote *remote = reach();

	for (size_t i = 0; i < 2; i++) {
		memset(local, 0x22, BYTES);
		assert_int_equal(tell(protections[i]), 0);
		assert_int_equal(write_at(remote, 0, 1), -EIO);
		assert_int_equal(write_at(remote, PAGE - 1, 2), -EIO);
		assert_int_equal(write_at(remote, 0, BYTES), -EIO);
		assert_int_equal(tell(UNPROTECT), 0);
		assert_int_equal(read_at(remote, 0, BYTES), 0);
		for (size_t at = 0; at < BYTES; at++)
			assert_int_equal(local[at], 0x11);
	}
	assert_int_equal(write_at(remote, 0, BYTES), 0); /* it gave the permission again */
	sim_remote_destroy(remote);
}

static void test_the_exporters_code_is_not_written(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(SIM_ACCESS_READ | SIM_ACCESS_WRITE, "procmem");
	struct sim_remote *remote;
	uint8_t before;

	if (!knows_writable())
		skip();
	cfg.region.cpu_addr = (uintptr_t)follow;
	assert_int_equal(sim_remote_create(&cfg, &remote), 0);
	assert_int_equal(read_at(remote, 0, 1), 0);
	before = local[0]++;
	assert_int_equal(write_at(remote, 0, 1), -EIO);
	assert_int_equal(read_at(remote, 0, 1), 0);
	assert_int_equal(local[0], before);
	sim_remote_destroy(remote);
}

static void test_a_range_that_is_unmapped_in_part_is_an_error(void **state)
{
	struct sim_remote *remote = reach(), *revoked = reach();

	sim_remote_revoke(revoked);
	assert_false(sim_remote_is_unmapped(remote, ADDR, BYTES));
	assert_int_equal(tell(UNMAP_LAST), 0);
	assert_false(sim_remote_is_unmapped(revoked, ADDR, BYTES)); /* it is out of reach */
	sim_remote_destroy(revoked);
	assert_true(sim_remote_is_unmapped(remote, ADDR, BYTES));
	assert_int_equal(read_at(remote, BYTES - PAGE, 1), -EIO);
	assert_int_equal(write_at(remote, BYTES - PAGE, 1), -EIO);
	assert_int_equal(read_at(remote, 0, BYTES), -EIO);
	assert_int_equal(write_at(remote, 0, BYTES), -EIO);
	assert_int_equal(read_at(remote, 0, BYTES - PAGE), 0);
	sim_remote_destroy(remote);
}

static void test_an_exporter_that_ended_is_an_error(void **state)
{
	struct sim_remote *remote = reach();

	proc_signal(&exporter, SIGKILL);
	errno = 0; /* the kernel reads no bytes, and says no more */
	assert_int_equal(read_at(remote, 0, 1), -EIO);
	assert_int_equal(write_at(remote, 0, 1), -EIO);
	sim_remote_destroy(remote);
}

/* The pid stays, and cma would read the new program. */
static void test_an_exporter_that_executes_another_program_is_an_error(void **state)
{
	struct sim_remote *remote = reach();
	enum order order = EXEC;
	char byte;

	proc_send(exporter.ctl, &order, sizeof(order));
	assert_int_equal(recv(exporter.ctl, &byte, 1, 0), 0); /* it has closed its end */
	assert_int_equal(kill(exporter.pid, 0), 0);
	assert_int_equal(read_at(remote, 0, 1), -EIO);
	assert_int_equal(write_at(remote, 0, 1), -EIO);
	sim_remote_destroy(remote);
}

static void test_a_child_of_the_exporter_is_not_its_memory(void **state)
{
	struct sim_remote *remote = reach();

	assert_int_equal(tell(FORK_AND_CHANGE), 0);
	assert_int_equal(read_at(remote, 0, BYTES), 0);
	assert_int_equal(local[0], 0x11);
	local[0] = 0x33;
	assert_int_equal(write_at(remote, 0, 1), 0);
	assert_int_equal(tell(PEEK), 0x33);
	sim_remote_destroy(remote);
}

/* The importer's child has the descriptors, too. */
static void test_a_child_of_the_importer_goes_on(void **state)
{
	struct sim_remote *remote = reach();
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(read_at(remote, 0, BYTES) == 0 && local[0] == 0x11 ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(read_at(remote, 0, 1), 0);
	sim_remote_destroy(remote);
}

/* The right was checked when the file was opened; it cannot be opened any more. */
static void test_an_exporter_that_changes_its_user_stays_in_reach_and_is_opened_to_no_one_else(void **state)
{
	struct sim_remote *remote = reach();

	assert_int_equal(tell(DROP_RIGHTS), 0);
	assert_int_equal(read_at(remote, 0, 1), 0);
	assert_int_equal(local[0], 0x11);
	assert_int_equal(tell(OPEN), -EACCES);
	sim_remote_destroy(remote);
}

static void test_limits_of_descriptors_and_files_leave_no_trace(void **state)
{
	const struct rlimit none = { 0, RLIM_INFINITY };
	struct sim_remote *remote = reach();
	struct rlimit before;

	assert_int_equal(tell(LIMIT_FILES), 0);
	assert_int_equal(tell(OPEN), -EMFILE);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ none.rlim_cur, before.rlim_max }), 0);
	assert_int_equal(write_at(remote, 0, BYTES), 0); /* memory is no file to the limit */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(tell(PEEK), 0x22);
	sim_remote_destroy(remote);
}

static void test_an_export_to_read_opens_nothing_to_write(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(SIM_ACCESS_READ, "procmem");
	struct sim_remote *remote;

	assert_int_equal(sim_remote_create(&cfg, &remote), 0);
	assert_int_equal(read_at(remote, 0, BYTES), 0);
	assert_int_equal(write_at(remote, 0, 1), -EACCES);
	assert_int_equal(fcntl(remote->memory->mem_fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	sim_remote_destroy(remote);
}

/* cma does the large reads and the writes. */
static void test_small_reads_join_cma_where_that_works(void **state)
{
	static const size_t sizes[] = { 1, 64, 4095, 4096, 4097, BYTES };
	struct sim_remote_cfg cfg = cfg_of(SIM_ACCESS_READ | SIM_ACCESS_WRITE, NULL);
	struct sim_remote *remote;

	assert_int_equal(sim_remote_create(&cfg, &remote), 0);
	assert_string_equal(sim_remote_path(remote), "procmem");
	assert_non_null(remote->process);
	assert_int_equal(fcntl(remote->memory->mem_fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_true(sim_remote_is_direct(remote));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(local, 0x40 + (int)i, sizes[i]);
		assert_int_equal(write_at(remote, 0, sizes[i]), 0);
		memset(local, 0, BYTES);
		assert_int_equal(read_at(remote, 0, sizes[i]), 0);
		assert_int_equal(local[0], 0x40 + i);
		assert_int_equal(local[sizes[i] - 1], 0x40 + i);
		assert_true(sizes[i] == BYTES || local[sizes[i]] == 0);
	}
	assert_int_equal(tell(PROTECT_READ), 0);
	assert_int_equal(write_at(remote, 0, 1), -EIO);
	sim_remote_destroy(remote);
}

static void test_the_exporter_is_asked_only_where_the_session_says_so(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(SIM_ACCESS_READ | SIM_ACCESS_WRITE, "procmem");
	struct sim_remote *remote;

	if (!knows_writable())
		skip();
	hide_exporter(&cfg);
	num_asked = 0;
	assert_int_equal(sim_remote_create(&cfg, &remote), -ENOTSUP);
	assert_int_equal(num_asked, 0);
	cfg.passes_memory = true;
	assert_int_equal(sim_remote_create(&cfg, &remote), 0);
	assert_int_equal(num_asked, 2);
	assert_int_equal(write_at(remote, 0, BYTES), 0);
	assert_int_equal(tell(PEEK), 0x22);
	assert_int_equal(tell(PROTECT_READ), 0);
	assert_int_equal(write_at(remote, 0, 1), -EIO);
	sim_remote_destroy(remote);
	cfg.exporter.uid++; /* another user's is not asked at all */
	assert_int_equal(sim_remote_create(&cfg, &remote), -ENOTSUP);
	assert_int_equal(num_asked, 2);
	close(cfg.pidfd);
}

static void expect_opened(struct sim_exports *exports, uint64_t key, enum sim_transport transport, int mode)
{
	int fd = -1;

	assert_int_equal(sim_exports_open_memory(exports, key, key, transport, &fd), 0);
	if (!is_emulated()) { /* qemu gives a file of its own for maps */
		assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, mode);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	}
	close(fd);
}

/* Whatever the daemon asks. */
static void test_an_exporter_opens_its_memory_only_where_the_session_says_so(void **state)
{
	const struct sim_region read_only = { .cpu_addr = (uintptr_t)memory,
					      .len_bytes = BYTES,
					      .access = SIM_ACCESS_READ };
	struct sim_region writable = read_only;
	struct sim_exports *exports;
	int fd = 0;

	writable.access |= SIM_ACCESS_WRITE;
	assert_int_equal(sim_exports_create(-1, 0, &exports), 0);
	assert_int_equal(sim_exports_add(exports, 1, &read_only), 0);
	assert_int_equal(sim_exports_add(exports, 2, &writable), 0);
	for (int transport = SIM_TRANSPORT_MEM; transport <= SIM_TRANSPORT_MAPS; transport++) {
		assert_int_equal(sim_exports_open_memory(exports, 1, 1, (enum sim_transport)transport, &fd), -EPERM);
		assert_int_equal(fd, -1);
	}
	sim_exports_permit_memory(exports);
	assert_int_equal(sim_exports_open_memory(exports, 3, 3, SIM_TRANSPORT_MEM, &fd), -ESTALE);
	assert_int_equal(fd, -1);
	expect_opened(exports, 1, SIM_TRANSPORT_MEM, O_RDONLY);
	expect_opened(exports, 2, SIM_TRANSPORT_MEM, O_RDWR);
	expect_opened(exports, 2, SIM_TRANSPORT_MAPS, O_RDONLY);
	sim_exports_destroy(exports);
}

static void test_what_is_not_the_exporters_memory_is_refused(void **state)
{
	static const char *const shams[] = { "/dev/null", "/dev/zero", "/proc/self/status", "/proc/self/maps",
					     "/proc/self/exe" };

	for (size_t i = 0; i < sizeof(shams) / sizeof(shams[0]); i++) {
		struct sim_remote_cfg cfg = cfg_of(SIM_ACCESS_READ | SIM_ACCESS_WRITE, "procmem");
		struct sim_remote *remote;

		hide_exporter(&cfg);
		cfg.passes_memory = true;
		sham = shams[i];
		assert_int_equal(sim_remote_create(&cfg, &remote), -ENOTSUP);
		sham = NULL;
		close(cfg.pidfd);
	}
}

static void test_a_file_with_the_name_of_the_memory_is_refused(void **state)
{
	char dir[] = "/tmp/bfsim-procmem-XXXXXX", path[64];
	struct sim_peer_memory *unused;
	int fd;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/mem", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(sim_peer_memory_create(1, false, fd, -1, &unused), -EPROTO);
	assert_int_equal(fcntl(fd, F_GETFD), -1); /* it was taken */
	assert_int_equal(sim_peer_memory_create(1, false, -1, -1, &unused), -EPROTO);
	unlink(path);
	rmdir(dir);
}

/* ---- large copies: this process is the exporter, and a thread serves its memory ---- */

#define LARGE_BYTES (512u << 10)

struct server {
	struct sim_target *target;
	pthread_mutex_t lock; /* of the target: an exporter's has one thread */
	atomic_bool must_end;
	atomic_uint num_served;
	unsigned int num_initiators; /* that were asked for */
	struct sim_grant grant;
};

static void *serve(void *arg)
{
	struct server *server = arg;

	while (!atomic_load(&server->must_end)) {
		unsigned int served;

		pthread_mutex_lock(&server->lock);
		served = sim_target_serve(server->target);
		pthread_mutex_unlock(&server->lock);
		atomic_fetch_add(&server->num_served, served);
		if (served == 0)
			sched_yield();
	}
	return NULL;
}

static int describe_own(void *arg, enum sim_transport transport, bool connect, struct sim_grant *ret_grant, int *ret_fd)
{
	struct server *server = arg;
	int rc;

	*ret_fd = -1;
	if (transport == SIM_TRANSPORT_MEM || transport == SIM_TRANSPORT_MAPS) {
		*ret_fd = transport == SIM_TRANSPORT_MEM ? open("/proc/self/mem", O_RDWR | O_CLOEXEC) :
							   open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
		return *ret_fd < 0 ? -errno : 0;
	}
	server->num_initiators++;
	*ret_grant = server->grant;
	if (!connect)
		return 0;
	pthread_mutex_lock(&server->lock);
	rc = sim_target_connect(server->target, transport, ret_fd);
	pthread_mutex_unlock(&server->lock);
	return rc;
}

/* Read all of it. Returns whether the server took part. */
static bool is_served(struct server *server, struct sim_remote *remote, size_t len)
{
	unsigned int before = atomic_load(&server->num_served);
	uint8_t *got = malloc(len);

	assert_int_equal(sim_copy(NULL, (uintptr_t)got, remote, ADDR, len), 0);
	assert_memory_equal(got, (void *)(uintptr_t)remote->region.cpu_addr, len);
	got[0]++;
	assert_int_equal(sim_copy(remote, ADDR, NULL, (uintptr_t)got, len), 0);
	assert_memory_equal(got, (void *)(uintptr_t)remote->region.cpu_addr, len);
	free(got);
	return atomic_load(&server->num_served) > before;
}

static void expect_large_by(struct server *server, const struct sim_remote_cfg *cfg, bool by_initiator)
{
	unsigned int initiators_before = server->num_initiators;
	struct sim_remote *remote;

	assert_int_equal(sim_remote_create(cfg, &remote), 0);
	assert_string_equal(sim_remote_path(remote), "procmem");
	assert_int_equal(remote->initiator != NULL, by_initiator);
	assert_int_equal(sim_remote_is_direct(remote), !by_initiator);
	assert_int_equal(server->num_initiators > initiators_before, by_initiator);
	assert_int_equal(is_served(server, remote, LARGE_BYTES), by_initiator);
	assert_false(is_served(server, remote, 64));
	sim_remote_destroy(remote);
}

static void test_large_copies_go_by_what_was_found_faster(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(SIM_ACCESS_READ | SIM_ACCESS_WRITE, NULL);
	uint8_t *bytes = mmap(NULL, LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct server server = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct sim_remote *first;
	pthread_t thread;

	if (!knows_writable())
		skip();
	hide_exporter(&cfg);
	cfg.passes_memory = true;
	cfg.region.cpu_addr = (uintptr_t)bytes;
	cfg.region.len_bytes = LARGE_BYTES;
	cfg.peer.describe = describe_own;
	cfg.peer.arg = &server;
	assert_int_equal(sim_target_create(SIM_TARGET_MAX_CONNS, &server.target), 0);
	assert_int_equal(sim_target_expose(server.target, bytes, LARGE_BYTES, true, &server.grant), 0);
	assert_int_equal(pthread_create(&thread, NULL, serve, &server), 0);
	assert_int_equal(sim_remote_create(&cfg, &first), 0);
	assert_int_equal(server.num_initiators, 1); /* the remote has measured both ways, and kept the faster one */
	assert_int_equal(first->initiator != NULL, atomic_load(&first->memory->large) == SIM_LARGE_BY_SHM);
	assert_true(atomic_load(&first->memory->large) != SIM_LARGE_UNKNOWN);
	atomic_store(&first->memory->large, SIM_LARGE_BY_SHM);
	expect_large_by(&server, &cfg, true);
	atomic_store(&first->memory->large, SIM_LARGE_BY_MEMORY);
	expect_large_by(&server, &cfg, false);
	sim_remote_destroy(first);
	atomic_store(&server.must_end, true);
	pthread_join(thread, NULL);
	sim_target_destroy(server.target);
	close(cfg.pidfd);
	munmap(bytes, LARGE_BYTES);
}

/* That it is not is what the open says, not the kernel alone. */
static void test_memory_that_was_opened_to_read_is_not_written(void **state)
{
	struct sim_peer_memory *own = NULL;
	int mem_fd, maps_fd;
	char byte = 'a';
	int rc = sim_peer_memory_open(0, false, &mem_fd, &maps_fd);

	rc = rc < 0 ? rc : sim_peer_memory_create(1, false, mem_fd, maps_fd, &own);
	if (rc < 0)
		skip();
	assert_int_equal(sim_peer_memory_write(own, "b", (uintptr_t)&byte, 1), -EACCES);
	assert_int_equal(byte, 'a');
	sim_peer_memory_put(own);
}

static void test_remotes_of_one_exporter_share_descriptors(void **state)
{
	struct sim_remote_cfg cfg = cfg_of(SIM_ACCESS_READ, "procmem");
	struct sim_remote *first, *second;

	assert_int_equal(sim_remote_create(&cfg, &first), 0);
	assert_int_equal(sim_remote_create(&cfg, &second), 0);
	assert_ptr_equal(first->memory, second->memory);
	sim_remote_destroy(first);
	assert_int_equal(read_at(second, 0, 1), 0);
	sim_remote_destroy(second);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* ---- lists ---- */

#define NUM_PIECES 5

/* Pieces of a byte to several pages, one behind the other in the exporter's memory, and apart from each other here. */
static void adjacent_pieces(struct sim_piece pieces[NUM_PIECES], uint64_t at)
{
	static const size_t sizes[NUM_PIECES] = { 1, 64, 3 * PAGE + 5, 0, 700 };
	size_t there = at, here = 3;

	for (size_t i = 0; i < NUM_PIECES; i++) {
		pieces[i] = (struct sim_piece){ ADDR + there, local + here, sizes[i] };
		there += sizes[i];
		here += sizes[i] + 9;
	}
}

static void scattered_pieces(struct sim_piece pieces[NUM_PIECES])
{
	adjacent_pieces(pieces, 20);
	for (size_t i = 0; i < NUM_PIECES; i++)
		pieces[i].addr = ADDR + (NUM_PIECES - i) * 6 * PAGE - 7;
}

static void assert_pieces_equal(const struct sim_piece *pieces, size_t count, const uint8_t *exported)
{
	for (size_t i = 0; i < count; i++)
		assert_memory_equal(pieces[i].local, exported + (pieces[i].addr - ADDR), pieces[i].len);
}

static void fill_memory(uint8_t *bytes)
{
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 255);
}

/* An exporter with the bytes of fill_memory(). */
static void restart_exporter(void)
{
	proc_kill_all();
	close(exporter_pidfd);
	fill_memory(memory);
	proc_start(&exporter, run_exporter, NULL);
	exporter_pidfd = sim_pidfd_open(exporter.pid);
}

static void check_lists(struct sim_remote *remote)
{
	static uint8_t back[BYTES];
	struct sim_piece pieces[NUM_PIECES];

	assert_true(remote->moves_pieces);
	for (int i = 0; i < 2; i++) {
		memset(local, 0, BYTES);
		if (i == 0)
			adjacent_pieces(pieces, 13);
		else
			scattered_pieces(pieces);
		assert_int_equal(sim_copy_pieces(remote, true, pieces, NUM_PIECES), NUM_PIECES);
		assert_pieces_equal(pieces, NUM_PIECES, memory);
		assert_int_equal(pieces[NUM_PIECES - 1].local[pieces[NUM_PIECES - 1].len], 0);
		for (size_t k = 0; k < NUM_PIECES; k++)
			memset(pieces[k].local, 0x40 + (int)k, pieces[k].len);
		assert_int_equal(sim_copy_pieces(remote, false, pieces, NUM_PIECES), NUM_PIECES);
		assert_int_equal(sim_copy(NULL, (uintptr_t)back, remote, ADDR, BYTES), 0);
		assert_pieces_equal(pieces, NUM_PIECES, back);
		for (size_t k = 0; k < NUM_PIECES; k++)
			memcpy(memory + (pieces[k].addr - ADDR), pieces[k].local, pieces[k].len);
		assert_memory_equal(back, memory, BYTES); /* and no byte beside them */
	}
}

static void test_pieces_of_a_list_move_by_each_way(void **state)
{
	struct sim_remote_cfg cfg;
	struct sim_remote *remote;

	restart_exporter();
	remote = reach(); /* by the descriptor alone */
	check_lists(remote);
	sim_remote_destroy(remote);
	for (int i = 0; i < 2; i++) {
		cfg = cfg_of(SIM_ACCESS_READ | SIM_ACCESS_WRITE, i == 0 ? NULL : "cma");
		assert_int_equal(sim_remote_create(&cfg, &remote), 0);
		check_lists(remote);
		sim_remote_destroy(remote);
	}
}

static void test_pieces_up_to_the_first_that_is_not_there_move(void **state)
{
	const struct sim_piece pieces[] = { { ADDR + BYTES - 3 * PAGE, local, PAGE },
					    { ADDR + BYTES - 2 * PAGE, local + 2 * PAGE, PAGE + 100 },
					    { ADDR + BYTES - PAGE + 100, local + 4 * PAGE, 64 },
					    { ADDR, local + 5 * PAGE, 64 } };
	const struct sim_piece apart[] = { pieces[3], pieces[0], pieces[2], pieces[3] };
	struct sim_remote *remote = reach();

	assert_int_equal(tell(UNMAP_LAST), 0);
	assert_int_equal(sim_copy_pieces(remote, true, pieces, 4), 1);
	assert_int_equal(sim_copy_pieces(remote, false, pieces, 4), 0); /* the range is asked for as a whole */
	assert_int_equal(sim_copy_pieces(remote, true, apart, 4), 2);
	assert_int_equal(sim_copy_pieces(remote, false, apart, 4), 2);
	assert_int_equal(sim_copy(NULL, (uintptr_t)local, remote, pieces[2].addr, 64), -EIO);
	sim_remote_destroy(remote);
}

static void test_pieces_are_not_written_where_the_exporter_may_not(void **state)
{
	const struct sim_piece pieces[] = { { ADDR + 100, local, 64 }, { ADDR + 164, local + 100, 64 } };
	struct sim_remote *remote = reach();

	assert_int_equal(tell(PROTECT_READ), 0);
	assert_int_equal(sim_copy_pieces(remote, false, pieces, 2), 0);
	assert_int_equal(sim_copy_pieces(remote, true, pieces, 2), 2);
	assert_int_equal(tell(UNPROTECT), 0);
	assert_int_equal(tell(PEEK), 0x11);
	assert_int_equal(read_at(remote, 100, 64), 0);
	assert_int_equal(local[0], 0x11);
	sim_remote_destroy(remote);
}

/* Lengths and addresses that overflow, or lie beyond the memory or the permission. */
static void test_pieces_out_of_bounds_do_not_move(void **state)
{
	const struct sim_piece good = { ADDR, local, 8 };
	const struct sim_piece bad[] = {
		{ ADDR + BYTES - 7, local, 8 },       { ADDR - 1, local, 8 },   { ADDR, local, SIZE_MAX },
		{ ADDR + 1, local, BYTES },           { UINT64_MAX, local, 2 }, { ADDR + 8, local, SIZE_MAX - ADDR },
		{ ADDR + BYTES + 1, local, SIZE_MAX }
	};
	struct sim_remote_cfg cfg = cfg_of(SIM_ACCESS_READ, "procmem");
	struct sim_remote *remote;

	assert_int_equal(sim_remote_create(&cfg, &remote), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct sim_piece pieces[] = { good, bad[i], good };

		assert_int_equal(sim_copy_pieces(remote, true, pieces, 3), 1);
		assert_int_equal(sim_copy_pieces(remote, true, pieces + 1, 2), 0);
	}
	assert_int_equal(sim_copy_pieces(remote, false, &good, 1), 0); /* an export to read */
	sim_remote_destroy(remote);
}

static void test_pieces_of_a_revoked_memory_or_a_dead_exporter_do_not_move(void **state)
{
	const struct sim_piece pieces[] = { { ADDR, local, 8 }, { ADDR + 8, local + 100, 8 } };
	struct sim_remote *revoked = reach(), *remote = reach();
	struct sim_remote_cfg cfg = cfg_of(SIM_ACCESS_READ, "cma");
	struct sim_remote *by_cma;

	assert_int_equal(sim_remote_create(&cfg, &by_cma), 0);
	sim_remote_revoke(revoked);
	assert_int_equal(sim_copy_pieces(revoked, true, pieces, 2), 0);
	assert_int_equal(sim_copy_pieces(revoked, false, pieces, 2), 0);
	assert_int_equal(sim_copy_pieces(remote, true, pieces, 2), 2);
	proc_kill_all();
	assert_int_equal(sim_copy_pieces(remote, true, pieces, 2), 0);
	assert_int_equal(sim_copy_pieces(remote, false, pieces, 2), 0);
	assert_int_equal(sim_copy_pieces(by_cma, true, pieces, 2), 0);
	sim_remote_destroy(by_cma);
	sim_remote_destroy(remote);
	sim_remote_destroy(revoked);
}

/* A call takes SIM_MAX_PIECES; more than IOV_MAX would be refused. */
static void test_a_call_takes_a_part_of_a_long_list(void **state)
{
	static struct sim_piece pieces[3 * SIM_MAX_PIECES];
	struct sim_remote *remote = reach();

	for (size_t i = 0; i < 3 * SIM_MAX_PIECES; i++)
		pieces[i] = (struct sim_piece){ ADDR + i, local + 2 * i, 1 };
	assert_int_equal(sim_copy_pieces(remote, true, pieces, 3 * SIM_MAX_PIECES), SIM_MAX_PIECES);
	assert_int_equal(local[2 * (SIM_MAX_PIECES - 1)], 0x11);
	assert_int_equal(local[2 * SIM_MAX_PIECES], 0x22);
	sim_remote_destroy(remote);
}

static void test_pieces_without_local_memory_do_not_move(void **state)
{
	uint8_t *gone = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct sim_piece pieces[] = { { ADDR, local, 8 }, { ADDR + 8, gone, 8 }, { ADDR + 16, local, 8 } };
	struct sim_remote *remote = reach();

	assert_true(gone != MAP_FAILED);
	assert_int_equal(sim_copy_pieces(remote, true, pieces, 3), 1);
	assert_int_equal(sim_copy_pieces(remote, false, pieces, 3), 1);
	assert_int_equal(sim_copy_pieces(remote, true, pieces + 1, 2), 0);
	munmap(gone, PAGE);
	sim_remote_destroy(remote);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pages_that_the_exporter_may_not_write_are_not_written),
		TEST(test_the_exporters_code_is_not_written),
		TEST(test_a_range_that_is_unmapped_in_part_is_an_error),
		TEST(test_an_exporter_that_ended_is_an_error),
		TEST(test_an_exporter_that_executes_another_program_is_an_error),
		TEST(test_a_child_of_the_exporter_is_not_its_memory),
		TEST(test_a_child_of_the_importer_goes_on),
		TEST(test_an_exporter_that_changes_its_user_stays_in_reach_and_is_opened_to_no_one_else),
		TEST(test_limits_of_descriptors_and_files_leave_no_trace),
		TEST(test_an_export_to_read_opens_nothing_to_write),
		TEST(test_small_reads_join_cma_where_that_works),
		TEST(test_the_exporter_is_asked_only_where_the_session_says_so),
		TEST(test_an_exporter_opens_its_memory_only_where_the_session_says_so),
		TEST(test_what_is_not_the_exporters_memory_is_refused),
		TEST(test_a_file_with_the_name_of_the_memory_is_refused),
		TEST(test_large_copies_go_by_what_was_found_faster),
		TEST(test_memory_that_was_opened_to_read_is_not_written),
		TEST(test_remotes_of_one_exporter_share_descriptors),
		TEST(test_pieces_of_a_list_move_by_each_way),
		TEST(test_pieces_up_to_the_first_that_is_not_there_move),
		TEST(test_pieces_are_not_written_where_the_exporter_may_not),
		TEST(test_pieces_out_of_bounds_do_not_move),
		TEST(test_pieces_of_a_revoked_memory_or_a_dead_exporter_do_not_move),
		TEST(test_a_call_takes_a_part_of_a_long_list),
		TEST(test_pieces_without_local_memory_do_not_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
