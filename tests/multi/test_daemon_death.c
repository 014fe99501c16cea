/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that die, stop or fork: survivors get an error soon, and the card keeps no state of the dead ones. */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "actor.h"
#include "sim/protocol/session_dir.h"
#include "sim/protocol/wire.h"

#define SOON_MS    5000 /* from a death to the survivor's error, on a busy machine too: half of a call's timeout */
#define TIMEOUT_MS 2000 /* of an exporter with a stopped importer: REVOKE_TIMEOUT_MS */

static struct actor host, dpu;

static int setup(void **state)
{
	session_setup(state);
	assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), 0);
	assert_int_equal(actor_attach(&dpu, test_session.dir, "dpu", NULL), 0);
	return 0;
}

/* The first error within the deadline: an importer learns of an end shortly after the card. */
static int soon_read_error(struct actor *importer, const struct actor_key *key)
{
	int64_t end = proc_now_ms() + PROC_DEADLINE_MS;
	int rc;

	do {
		rc = actor_read(importer, key);
	} while (rc == 0 && proc_now_ms() < end);
	return rc;
}

static void end_card(void)
{
	daemon_stop(&test_session.daemon);
	assert_int_equal(proc_num_files(test_session.dir), 0);
}

static void expect_error_of_a_killed_exporter(enum actor_memory memory)
{
	struct actor_request read = { .op = ACTOR_READ_UNTIL_ERROR };
	struct actor_key key;
	int64_t killed_ms;
	int reads;

	assert_int_equal(actor_export(&host, memory, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	read.fill = key.fill;
	actor_begin(&dpu, &read);
	proc_recv(dpu.proc.ctl, &reads, sizeof(reads));
	killed_ms = proc_now_ms();
	proc_signal(&host.proc, SIGKILL);
	assert_int_equal(actor_finish(&dpu).rc, -EIO);
	assert_in_range(proc_now_ms() - killed_ms, 0, SOON_MS);
	/* The exporter's memory in an object is still mapped in the importer, and the card refuses access to it. */
	assert_int_equal(actor_read(&dpu, &key), -EIO);
	assert_int_equal(actor_write(&dpu, 1), -EIO);
	assert_int_equal(actor_import(&dpu, &key), -ESTALE);
}

static void test_a_killed_exporter_fails_its_importers_and_can_start_anew(void **state)
{
	struct actor_key key;

	for (int memory = ACTOR_ANONYMOUS; memory <= ACTOR_MEMFD; memory++) {
		pid_t pid = host.proc.pid;

		expect_error_of_a_killed_exporter((enum actor_memory)memory);
		assert_true(daemon_forgets(test_session.dir, pid));
		assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), 0);
		assert_int_equal(actor_export(&host, (enum actor_memory)memory, &key), 0);
		assert_int_equal(actor_import(&dpu, &key), 0);
		assert_int_equal(actor_read(&dpu, &key), 0);
	}
	actor_detach(&dpu);
	actor_detach(&host);
	end_card();
}

static void test_a_killed_importer_does_not_hold_up_its_exporter(void **state)
{
	struct actor_request read = { .op = ACTOR_READ_UNTIL_ERROR };
	struct actor_key key;
	int reads, fds = proc_num_fds(test_session.daemon.pid);

	assert_int_equal(actor_export(&host, ACTOR_MEMFD, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	read.fill = key.fill;
	actor_begin(&dpu, &read);
	proc_recv(dpu.proc.ctl, &reads, sizeof(reads));
	proc_signal(&dpu.proc, SIGKILL);
	assert_int_equal(actor_unexport(&host, &key), 0);
	actor_detach(&host);
	/* Descriptors: each process had two, the object one. */
	assert_in_range(proc_num_fds(test_session.daemon.pid), fds - 4, fds);
	end_card();
}

/* ---- the daemon ---- */

static void test_when_the_daemon_is_killed_both_sides_get_errors(void **state)
{
	struct actor_request read = { .op = ACTOR_READ_UNTIL_ERROR };
	struct actor_key key, other;
	int64_t killed_ms;
	int reads;

	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	read.fill = key.fill;
	actor_begin(&dpu, &read);
	proc_recv(dpu.proc.ctl, &reads, sizeof(reads));
	killed_ms = proc_now_ms();
	proc_signal(&test_session.daemon, SIGKILL);
	assert_int_equal(actor_finish(&dpu).rc, -EIO);
	assert_in_range(proc_now_ms() - killed_ms, 0, SOON_MS);
	assert_int_equal(actor_import(&dpu, &key), -ESHUTDOWN);
	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &other), -ESHUTDOWN);
	assert_int_equal(actor_unexport(&host, &key), -ESHUTDOWN);
	actor_detach(&dpu);
	actor_detach(&host);
}

static void test_a_stale_session_is_refused_and_started_again(void **state)
{
	struct actor_key key;

	proc_signal(&test_session.daemon, SIGKILL);
	proc_signal(&host.proc, SIGKILL);
	proc_signal(&dpu.proc, SIGKILL);
	assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), -ECONNREFUSED);
	proc_end(&host.proc);
	daemon_start(&test_session.daemon, test_session.dir, NULL);
	assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), 0);
	assert_int_equal(actor_attach(&dpu, test_session.dir, "dpu", NULL), 0);
	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	assert_int_equal(actor_read(&dpu, &key), 0);
	actor_detach(&dpu);
	actor_detach(&host);
	end_card();
}

static void test_when_the_daemon_is_asked_to_end_its_processes_get_errors(void **state)
{
	struct actor_key key;

	assert_int_equal(actor_export(&host, ACTOR_MEMFD, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	end_card();
	assert_int_equal(actor_import(&dpu, &key), -ESHUTDOWN);
	assert_int_equal(actor_unexport(&host, &key), -ESHUTDOWN);
	actor_detach(&dpu);
	actor_detach(&host);
}

/* ---- stopped processes ---- */

#define TRIES 5 /* other programs may keep a process off the CPU for as long as the timeout */

/* Have the DPU import memory, and end the export. Returns true if the end did not wait for the timeout. */
static bool is_answered_at_once(void)
{
	struct actor_key fresh;
	int64_t from_ms, took_ms;

	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &fresh), 0);
	assert_int_equal(actor_import(&dpu, &fresh), 0);
	assert_int_equal(actor_read(&dpu, &fresh), 0);
	from_ms = proc_now_ms();
	assert_int_equal(actor_unexport(&host, &fresh), 0);
	took_ms = proc_now_ms() - from_ms;
	assert_int_equal(took_ms < TIMEOUT_MS ? actor_read(&dpu, &fresh) : soon_read_error(&dpu, &fresh), -EIO);
	return took_ms < TIMEOUT_MS;
}

static void test_a_stopped_importer_is_waited_for_until_the_timeout(void **state)
{
	struct actor_key key, other;
	int tries = 1;
	struct actor second;
	int64_t from_ms;

	assert_int_equal(actor_attach(&second, test_session.dir, "dpu", NULL), 0);
	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
	assert_int_equal(actor_export(&host, ACTOR_MEMFD, &other), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	assert_int_equal(actor_import(&second, &other), 0);
	proc_signal(&dpu.proc, SIGSTOP);
	from_ms = proc_now_ms();
	assert_int_equal(actor_unexport(&host, &key), 0);
	assert_true(proc_now_ms() - from_ms >= TIMEOUT_MS / 2); /* the exporter waited for the importer */
	assert_int_equal(actor_read(&second, &other), 0);       /* other processes continue */
	proc_signal(&dpu.proc, SIGCONT);
	assert_int_equal(soon_read_error(&dpu, &key), -EIO);
	while (!is_answered_at_once()) /* the importer replies again */
		assert_true(tries++ < TRIES);
	actor_detach(&second);
	actor_detach(&dpu);
	actor_detach(&host);
	end_card();
}

/* A process imports several keys through the daemon and then sends nothing: the exporter waits for the first, and
 * for no other. */
static void test_an_importer_that_is_silent_is_waited_for_once(void **state)
{
	enum { EXPORTS = 6 };
	int dir_fd = sim_session_dir_open(test_session.dir, false), sock = sim_session_dir_connect(dir_fd), fd;
	struct sim_msg msg = { .type = SIM_MSG_ATTACH, .body.attach = { .pid = getpid(), .side = "dpu" } };
	struct actor_key keys[EXPORTS];
	int64_t from_ms;

	assert_int_equal(sim_msg_send(sock, &msg, -1), 0);
	assert_int_equal(sim_msg_recv(sock, &msg, &fd), 0);
	assert_int_equal(msg.status, 0);
	for (int i = 0; i < EXPORTS; i++) {
		assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &keys[i]), 0);
		msg = (struct sim_msg){ .type = SIM_MSG_IMPORT, .body.import = { .key = keys[i].key, .function = 0 } };
		assert_int_equal(sim_msg_send(sock, &msg, -1), 0);
		assert_int_equal(sim_msg_recv(sock, &msg, &fd), 0);
		assert_int_equal(msg.status, 0);
	}
	from_ms = proc_now_ms();
	for (int i = 0; i < EXPORTS; i++)
		assert_int_equal(actor_unexport(&host, &keys[i]), 0);
	assert_true(proc_now_ms() - from_ms < EXPORTS / 2 * TIMEOUT_MS);
	close(sock);
	close(dir_fd);
	actor_detach(&dpu);
	actor_detach(&host);
	end_card();
}

/* ---- forks ---- */

static void expect_gone_although_a_child_lives(bool abandon)
{
	struct actor_key key;
	pid_t pid = host.proc.pid, child;

	assert_int_equal(actor_export(&host, ACTOR_MEMFD, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	child = actor_fork(&host, abandon);
	assert_int_equal(actor_read(&dpu, &key), 0); /* the fork itself ended no session */
	proc_signal(&host.proc, SIGKILL);
	assert_true(daemon_forgets(test_session.dir, pid));
	assert_int_equal(soon_read_error(&dpu, &key), -EIO);
	assert_int_equal(kill(child, SIGKILL), 0); /* the process ran until now */
	assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), 0);
}

/* With the child's help, and without: a child made by clone(2) runs no handler. For the latter the daemon watches
 * processes, which needs Linux 5.3. */
static void test_a_forked_child_does_not_keep_its_dead_parent_attached(void **state)
{
	int pidfd = pidfd_open(getpid(), 0);

	expect_gone_although_a_child_lives(true);
	if (pidfd >= 0)
		expect_gone_although_a_child_lives(false);
	close(pidfd);
	actor_detach(&dpu);
	actor_detach(&host);
	end_card();
}

static void test_a_dead_child_does_not_end_its_parents_attachment(void **state)
{
	struct actor_key key;

	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	for (int abandon = 0; abandon < 2; abandon++)
		assert_int_equal(kill(actor_fork(&host, abandon), SIGKILL), 0);
	assert_int_equal(actor_read(&dpu, &key), 0);
	assert_true(daemon_knows(test_session.dir, host.proc.pid));
	actor_detach(&dpu);
	actor_detach(&host);
	end_card();
}

/* ---- /dev/shm ---- */

static int count_shm_files_of(pid_t pid)
{
	DIR *shm = opendir("/dev/shm");
	char prefix[32];
	int count = 0;

	snprintf(prefix, sizeof(prefix), "bfsim-%d-", (int)pid);
	for (struct dirent *entry = readdir(shm); entry; entry = readdir(shm))
		count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	closedir(shm);
	return count;
}

static void test_processes_killed_while_they_use_shm_leave_no_files_there(void **state)
{
	pid_t pids[2] = { host.proc.pid };
	struct actor over_shm;
	struct actor_key key;

	assert_int_equal(actor_attach(&over_shm, test_session.dir, "dpu", "shm"), 0);
	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
	assert_int_equal(actor_import(&over_shm, &key), 0);
	pids[1] = over_shm.proc.pid;
	assert_int_equal(actor_read(&over_shm, &key), 0);
	assert_int_equal(count_shm_files_of(pids[0]), 0); /* path shm uses memory without a name */
	proc_signal(&host.proc, SIGKILL);
	proc_signal(&over_shm.proc, SIGKILL);
	for (int i = 0; i < 2; i++) {
		assert_true(daemon_forgets(test_session.dir, pids[i]));
		assert_int_equal(count_shm_files_of(pids[i]), 0);
	}
	actor_detach(&dpu);
	end_card();
}

/* Nobody is left to clean up after them. */
static void test_processes_whose_daemon_was_killed_leave_no_files_in_shm(void **state)
{
	struct actor over_shm;
	struct actor_key key;
	pid_t pids[2];

	assert_int_equal(actor_attach(&over_shm, test_session.dir, "dpu", "shm"), 0);
	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
	assert_int_equal(actor_import(&over_shm, &key), 0);
	assert_int_equal(actor_read(&over_shm, &key), 0);
	pids[0] = host.proc.pid;
	pids[1] = over_shm.proc.pid;
	proc_signal(&test_session.daemon, SIGKILL);
	actor_detach(&host); /* the exporter ends first */
	actor_detach(&over_shm);
	actor_detach(&dpu);
	for (int i = 0; i < 2; i++)
		assert_int_equal(count_shm_files_of(pids[i]), 0);
}

/* ---- PID namespaces ---- */

/* Attach, export one memory and send its key, from a namespace where this process has pid 1. */
static void export_from_namespace(int ctl, const void *arg)
{
	const char *const *dir_and_kind = arg;
	struct sim_session_cfg cfg = { .dir = dir_and_kind[0], .side = "host" };
	bool shared = dir_and_kind[1] != NULL;
	int fd = shared ? memfd_create("inner", MFD_CLOEXEC) : -1;
	struct sim_session *session;
	struct actor_key key = { .fill = 0x5a };
	struct sim_region region = { .len_bytes = ACTOR_BYTES, .access = SIM_ACCESS_READ };
	void *memory;
	pid_t pid;
	char byte;

	if (unshare(CLONE_NEWPID) < 0) {
		key.number = -1;
		proc_send(ctl, &key, sizeof(key));
		return;
	}
	pid = fork();
	if (pid > 0) {
		int end;

		CHECK(waitpid(pid, &end, 0) == pid && end == 0);
		_exit(0); /* ... and its helpers would be in the namespace, too */
	}
	if (shared)
		CHECK(ftruncate(fd, ACTOR_BYTES) == 0);
	memory = mmap(NULL, ACTOR_BYTES, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd,
		      0);
	CHECK(memory != MAP_FAILED);
	memset(memory, key.fill, ACTOR_BYTES);
	region.addr = region.cpu_addr = (uintptr_t)memory;
	CHECK(sim_session_attach(&cfg, &session) == 0);
	while (strcmp(sim_session_topology(session)->functions[region.function].side, "host") != 0)
		region.function++; /* the first one: the importer's function holds its representor */
	CHECK(sim_session_export(session, &region, fd, &key.key) == 0);
	proc_send(ctl, &key, sizeof(key));
	recv(ctl, &byte, 1, 0); /* until the test is done */
	sim_session_detach(session);
	_exit(0); /* a leak checker finds no /proc of its own here ... */
}

/* The exporter has another pid here than there. The kernel translates the daemon's descriptor of it. */
static void test_an_exporter_in_an_inner_pid_namespace_is_reached_by_the_daemons_descriptor(void **state)
{
	const char *arg[2] = { test_session.dir, NULL };
	struct actor cma;
	struct proc inner;
	struct actor_key key;

	assert_int_equal(actor_attach(&cma, test_session.dir, "dpu", "cma"), 0);
	for (int shared = 0; shared < 2; shared++) {
		arg[1] = shared ? "shared" : NULL;
		proc_start(&inner, export_from_namespace, arg);
		proc_recv(inner.ctl, &key, sizeof(key));
		if (key.number < 0)
			skip();
		assert_int_equal(actor_import(&cma, &key), 0);
		assert_int_equal(actor_read(&cma, &key), 0);
		if (shared) {
			assert_int_equal(actor_import(&dpu, &key), 0);
			assert_string_equal(dpu.path, "mapped");
			assert_int_equal(actor_read(&dpu, &key), 0);
		}
		proc_end(&inner);
	}
	actor_detach(&cma);
	actor_detach(&dpu);
	actor_detach(&host);
	end_card();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, session_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_killed_exporter_fails_its_importers_and_can_start_anew),
		TEST(test_a_killed_importer_does_not_hold_up_its_exporter),
		TEST(test_when_the_daemon_is_killed_both_sides_get_errors),
		TEST(test_a_stale_session_is_refused_and_started_again),
		TEST(test_when_the_daemon_is_asked_to_end_its_processes_get_errors),
		TEST(test_a_stopped_importer_is_waited_for_until_the_timeout),
		TEST(test_an_importer_that_is_silent_is_waited_for_once),
		TEST(test_a_forked_child_does_not_keep_its_dead_parent_attached),
		TEST(test_a_dead_child_does_not_end_its_parents_attachment),
		TEST(test_processes_killed_while_they_use_shm_leave_no_files_there),
		TEST(test_processes_whose_daemon_was_killed_leave_no_files_in_shm),
		TEST(test_an_exporter_in_an_inner_pid_namespace_is_reached_by_the_daemons_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
