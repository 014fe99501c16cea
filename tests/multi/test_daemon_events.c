/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that hit at a time: they kill or stop processes, or the daemon. Survivors get errors, and no process stays
 * stopped. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "actor.h"
#include "sim/clock/participant.h"
#include "sim/control/control.h"
#include "sim/daemon/daemon.h"
#include "sim/protocol/session_dir.h"

#define NS_PER_MS UINT64_C(1000000)

static struct actor host, dpu;

static void end_card(void)
{
	daemon_stop(&test_session.daemon);
	assert_int_equal(proc_num_files(test_session.dir), 0);
}

static uint32_t add(const char *text)
{
	int dir_fd = sim_session_dir_open(test_session.dir, false);
	char file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;
	uint32_t id;

	if (sim_rule_parse(text, &rule, file, &error))
		fail_msg("%s: %s", text, error.text);
	assert_int_equal(sim_control_add_fault(dir_fd, &rule, NULL, &id), 0);
	close(dir_fd);
	return id;
}

static struct sim_shared_state *map_shared_state(struct sim_segment *segment)
{
	int dir_fd = sim_session_dir_open(test_session.dir, false);

	assert_int_equal(sim_control_map_shared_state(dir_fd, segment), 0);
	close(dir_fd);
	return sim_shared_state_of(segment);
}

static uint64_t now_ns(void)
{
	struct sim_segment segment;
	uint64_t ns = sim_shared_state_now_ns(map_shared_state(&segment));

	sim_segment_unmap(&segment);
	return ns;
}

static void note_counts(void *arg, const struct sim_plan_rule *rule)
{
	uint64_t *counts = arg;

	counts[0] += rule->matched;
	counts[1] += rule->fired;
}

static void expect_counts(uint64_t matched, uint64_t fired)
{
	uint64_t counts[2] = { 0, 0 };
	struct sim_segment segment;

	sim_plan_each(&map_shared_state(&segment)->plan, note_counts, counts);
	sim_segment_unmap(&segment);
	assert_int_equal(counts[0], matched);
	assert_int_equal(counts[1], fired);
}

/* The process's state as a letter, as in ps. */
static char state_of(pid_t pid)
{
	char path[64], text[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return 'X';
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	return strrchr(text, ')')[2];
}

static void expect_soon(pid_t pid, char state, bool is)
{
	int64_t end = proc_now_ms() + PROC_DEADLINE_MS;

	while ((state_of(pid) == state) != is) {
		if (proc_now_ms() > end)
			fail_msg("the process is %c", state_of(pid));
		sched_yield();
	}
}

static void expect_fds_soon(pid_t pid, int num_fds)
{
	int64_t end = proc_now_ms() + PROC_DEADLINE_MS;

	while (proc_num_fds(pid) > num_fds)
		assert_true(proc_now_ms() < end);
}

static void expect_no_children(pid_t pid)
{
	int64_t end = proc_now_ms() + PROC_DEADLINE_MS;
	char path[64], text[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	do {
		assert_true(proc_now_ms() < end);
		file = fopen(path, "r");
		assert_non_null(file);
		text[0] = '\0';
		if (!fgets(text, sizeof(text), file))
			text[0] = '\0';
		fclose(file);
	} while (text[0]);
}

/* A child of this process; its parent gets SIGCHLD when it continues, but may not see it in time while stopped. */
static void expect_stopped_and_on(pid_t pid)
{
	int64_t end = proc_now_ms() + PROC_DEADLINE_MS;
	siginfo_t info = { .si_code = 0 };

	while (info.si_code != CLD_CONTINUED) {
		if (proc_now_ms() > end)
			fail_msg("the process is %c", state_of(pid));
		assert_int_equal(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WCONTINUED | WNOHANG), 0);
		sched_yield();
	}
}

static void expect_killed(struct proc *proc)
{
	int status = proc_wait(proc);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void attach_both(void)
{
	assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), 0);
	assert_int_equal(actor_attach(&dpu, test_session.dir, "dpu", NULL), 0);
}

static void detach_both(void)
{
	actor_detach(&dpu);
	actor_detach(&host);
}

/* The first error within the deadline. */
static int soon_read_error(const struct actor_key *key)
{
	int64_t end = proc_now_ms() + PROC_DEADLINE_MS;
	int rc;

	do {
		rc = actor_read(&dpu, key);
	} while (rc == 0 && proc_now_ms() < end);
	return rc;
}

/* ---- processes ---- */

static void test_process_is_killed_when_the_rule_begins_and_its_importers_get_errors(void **state)
{
	struct actor_key key;
	uint64_t from_ns;
	char rule[80];

	attach_both();
	assert_int_equal(actor_export(&host, ACTOR_MEMFD, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	from_ns = now_ns() + 200 * NS_PER_MS;
	snprintf(rule, sizeof(rule), "peer side=host from=%lluns kill", (unsigned long long)from_ns);
	add(rule);
	assert_int_equal(soon_read_error(&key), -EIO);
	assert_true(now_ns() >= from_ns);
	expect_killed(&host.proc);
	expect_counts(1, 1);
	actor_detach(&dpu);
	end_card();
}

static void test_rule_that_began_hits_those_that_are_there_oldest_first(void **state)
{
	struct actor other;

	attach_both();
	assert_int_equal(actor_attach(&other, test_session.dir, "dpu", NULL), 0);
	add("peer nth=2 kill");
	expect_killed(&dpu.proc);
	expect_counts(2, 1);
	actor_detach(&other);
	actor_detach(&host);
	end_card();
}

static void attach_and_stay(int ctl, const void *arg)
{
	struct sim_session_cfg cfg = { .dir = test_session.dir, .side = "host" };
	struct sim_session *session;
	char byte;

	if (sim_session_attach(&cfg, &session) == 0)
		recv(ctl, &byte, 1, 0);
}

static void test_rule_hits_a_process_that_comes_later(void **state)
{
	struct proc late;

	add("peer side=host nth=2 kill");
	attach_both();
	proc_start(&late, attach_and_stay, NULL);
	expect_killed(&late);
	expect_counts(2, 1);
	actor_detach(&dpu);
	actor_detach(&host);
	end_card();
}

static void test_rule_that_is_over_spares_later_processes(void **state)
{
	add("peer until=1ns kill");
	attach_both();
	expect_counts(0, 0);
	actor_detach(&dpu);
	actor_detach(&host);
	end_card();
}

static void test_paused_process_stops_and_goes_on(void **state)
{
	int64_t from_ms;
	struct actor_key key;

	attach_both();
	from_ms = proc_now_ms();
	add("peer side=host pause=1s");
	expect_stopped_and_on(host.proc.pid);
	assert_true(proc_now_ms() - from_ms >= 1000);
	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
	actor_detach(&dpu);
	actor_detach(&host);
	end_card();
}

static void test_process_goes_on_when_the_daemon_ends_before(void **state)
{
	attach_both();
	add("peer side=host pause=3600s");
	expect_soon(host.proc.pid, 'T', true);
	end_card();
	expect_soon(host.proc.pid, 'T', false);
	actor_detach(&dpu);
	actor_detach(&host);
}

static void test_killed_daemon_leaves_no_process_stopped(void **state)
{
	attach_both();
	add("peer side=host pause=3600s");
	expect_soon(host.proc.pid, 'T', true);
	add("daemon kill");
	expect_killed(&test_session.daemon);
	expect_soon(host.proc.pid, 'T', false);
	actor_detach(&dpu);
	actor_detach(&host);
}

/* SIGKILL, so that the daemon sends no last message. */
static void test_daemon_that_is_killed_from_outside_leaves_no_process_stopped(void **state)
{
	attach_both();
	add("peer side=host pause=3600s");
	add("peer side=dpu pause=1800s");
	add("peer pause=3600s"); /* again: the two stops are one pause */
	expect_soon(host.proc.pid, 'T', true);
	expect_soon(dpu.proc.pid, 'T', true);
	proc_signal(&test_session.daemon, SIGKILL);
	expect_soon(host.proc.pid, 'T', false);
	expect_soon(dpu.proc.pid, 'T', false);
	detach_both();
}

/* Nothing is left: neither children of the daemon nor their descriptors. */
static void test_guards_of_paused_processes_end_with_the_pause(void **state)
{
	int fds;

	attach_both();
	fds = proc_num_fds(test_session.daemon.pid);
	add("peer pause=1s"); /* a stop that has not been taken when the pause ends leaves no trace */
	expect_stopped_and_on(host.proc.pid);
	expect_soon(dpu.proc.pid, 'T', false);
	expect_no_children(test_session.daemon.pid);
	expect_fds_soon(test_session.daemon.pid, fds); /* our connection may be about to be closed */
	detach_both();
	end_card();
}

/* ---- the daemon ---- */

static void test_when_the_daemon_is_killed_both_sides_get_errors(void **state)
{
	struct actor_key key, more;

	attach_both();
	assert_int_equal(actor_export(&host, ACTOR_MEMFD, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	add("daemon kill");
	expect_killed(&test_session.daemon);
	assert_int_equal(soon_read_error(&key), -EIO);
	assert_int_equal(actor_export(&host, ACTOR_MEMFD, &more), -ESHUTDOWN);
	actor_detach(&dpu);
	actor_detach(&host);
}

static void test_paused_daemon_answers_late(void **state)
{
	int64_t from_ms;
	struct actor_key key;

	attach_both();
	from_ms = proc_now_ms();
	add("daemon pause=400ms");
	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
	assert_true(proc_now_ms() - from_ms >= 400);
	expect_counts(1, 1);
	actor_detach(&dpu);
	actor_detach(&host);
	end_card();
}

static void test_paused_daemon_can_be_ended(void **state)
{
	add("daemon pause=3600s");
	end_card();
}

/* ---- functions ---- */

/* Each data path: the importer requires it. */
static const struct {
	const char *path;
	enum actor_memory memory;
} ways[] = {
	{ "mapped", ACTOR_MEMFD },  { "procmem", ACTOR_ANONYMOUS }, { "cma", ACTOR_ANONYMOUS },
	{ "shm", ACTOR_ANONYMOUS }, { "tcp", ACTOR_ANONYMOUS },
};

/* Memory of the host, imported by the DPU, each through its first function. */
static void share(size_t way, struct actor_key *ret_key)
{
	assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), 0);
	assert_int_equal(actor_attach(&dpu, test_session.dir, "dpu", ways[way].path), 0);
	assert_int_equal(actor_export(&host, ways[way].memory, ret_key), 0);
	assert_int_equal(actor_import(&dpu, ret_key), 0);
	assert_string_equal(dpu.path, ways[way].path);
	assert_int_equal(actor_read(&dpu, ret_key), 0);
}

static void test_exports_through_a_function_end_when_it_is_reset(void **state)
{
	struct actor_key key, fresh;

	for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
		share(way, &key);
		add("function device=b1:00.1 reset"); /* not the one that it was exported through */
		assert_int_equal(actor_read(&dpu, &key), 0);
		add("function device=b1:00.0 reset");
		assert_int_equal(soon_read_error(&key), -EIO);
		assert_int_equal(actor_import(&dpu, &key), -ESTALE);
		assert_int_equal(actor_unexport(&host, &key), -ESTALE);
		assert_int_equal(actor_export(&host, ways[way].memory, &fresh), 0);
		assert_int_equal(actor_import(&dpu, &fresh), 0);
		assert_int_equal(actor_read(&dpu, &fresh), 0);
		detach_both();
	}
	end_card();
}

/* The exports still exist and can be imported again. */
static void test_imports_through_a_function_end_when_it_is_reset(void **state)
{
	struct actor_key key;

	for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
		share(way, &key);
		add("function device=03:00.1 reset"); /* not the one that it was imported through */
		assert_int_equal(actor_read(&dpu, &key), 0);
		add("function device=03:00.0 reset");
		assert_int_equal(soon_read_error(&key), -EIO);
		assert_int_equal(actor_import(&dpu, &key), 0);
		assert_int_equal(actor_read(&dpu, &key), 0);
		add("function device=03:00.0 remove");
		assert_int_equal(soon_read_error(&key), -EIO);
		add("function device=03:00.0 add");
		assert_int_equal(actor_unexport(&host, &key), 0);
		detach_both();
	}
	end_card();
}

static void test_a_process_that_reads_all_the_time_gets_an_error_when_either_function_is_reset(void **state)
{
	static const char *const rules[] = { "function device=b1:00.0 reset", "function device=03:00.0 reset" };
	struct actor_request request = { .op = ACTOR_READ_UNTIL_ERROR };
	struct actor_key key;
	int reads;

	for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
		for (size_t i = 0; i < 2; i++) {
			share(way, &key);
			request.fill = key.fill;
			actor_begin(&dpu, &request);
			proc_recv(dpu.proc.ctl, &reads, sizeof(reads));
			add(rules[i]);
			assert_int_equal(actor_finish(&dpu).rc, -EIO);
			detach_both();
		}
	}
	end_card();
}

/* The host ends its export after the reset did, while a copy is held: it waits for the copy all the same. */
static void test_a_copy_that_a_reset_interrupts_is_waited_for(void **state)
{
	const struct actor_request halted = { .op = ACTOR_READ_HALTED };
	struct actor_request unexport = { .op = ACTOR_UNEXPORT };
	struct actor_reply reply;
	struct actor_key key;
	char byte;

	share(0, &key);
	actor_begin(&dpu, &halted);
	proc_recv(dpu.proc.ctl, &byte, 1); /* inside */
	add("function device=b1:00.0 reset");
	proc_recv(dpu.proc.ctl, &byte, 1); /* the importer knows */
	unexport.memory = key.number;
	actor_begin(&host, &unexport);
	assert_false(proc_readable_within(host.proc.ctl, 100));
	proc_send(dpu.proc.ctl, "", 1);
	reply = actor_finish(&dpu);
	assert_int_equal(reply.rc, 0);
	assert_int_equal(reply.fill, key.fill);
	assert_int_equal(actor_finish(&host).rc, -ESTALE);
	detach_both();
	end_card();
}

/* ---- virtual time, and processes that the daemon cannot see ---- */

static void run_virtual(int ctl, const void *arg)
{
	struct sim_daemon_cfg cfg = { .dir = test_session.dir, .clock = SIM_CLOCK_VIRTUAL, .ready_fd = dup(ctl) };
	int rc = sim_daemon_run(&cfg);

	send(ctl, &rc, sizeof(rc), MSG_NOSIGNAL);
}

static void start_card(proc_body *body)
{
	char byte;

	end_card();
	proc_start(&test_session.daemon, body, NULL);
	proc_recv(test_session.daemon.ctl, &byte, 1);
}

static void test_in_virtual_time_a_rule_begins_when_time_gets_there(void **state)
{
	struct sim_segment segment;
	struct sim_shared_state *shared;
	struct actor_key key;

	start_card(run_virtual);
	attach_both();
	add("peer side=dpu kill"); /* although no time has passed since the session began */
	expect_killed(&dpu.proc);
	add("peer side=host from=2s kill");
	shared = map_shared_state(&segment);
	sim_clock_page_force_time(&shared->clock, 2000 * NS_PER_MS - 1);
	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
	assert_int_equal(actor_unexport(&host, &key), 0);
	sim_clock_page_force_time(&shared->clock, 2000 * NS_PER_MS);
	expect_killed(&host.proc);
	sim_segment_unmap(&segment);
	expect_counts(2, 2);
	end_card();
}

static void run_in_namespace(int ctl, const void *arg)
{
	struct sim_daemon_cfg cfg = { .dir = test_session.dir, .ready_fd = dup(ctl) };
	int status, rc;
	pid_t pid;

	if (unshare(CLONE_NEWPID) < 0) {
		proc_send(ctl, "n", 1);
		return;
	}
	pid = fork();
	if (pid == 0) {
		rc = sim_daemon_run(&cfg);
		send(ctl, &rc, sizeof(rc), MSG_NOSIGNAL);
		_exit(0);
	}
	close(cfg.ready_fd);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	_exit(0);
}

static void test_process_that_the_daemon_does_not_see_is_not_hit_and_not_counted(void **state)
{
	int dir_fd, rc;
	struct sim_msg msg = { .type = SIM_MSG_SHUTDOWN };
	char byte;

	end_card();
	proc_start(&test_session.daemon, run_in_namespace, NULL);
	proc_recv(test_session.daemon.ctl, &byte, 1);
	if (byte == 'n')
		skip();
	add("peer kill");
	attach_both();
	expect_counts(0, 0);
	actor_detach(&dpu);
	actor_detach(&host);
	dir_fd = sim_session_dir_open(test_session.dir, false);
	assert_int_equal(sim_control_exchange(dir_fd, &msg, -1, NULL), 0);
	close(dir_fd);
	proc_recv(test_session.daemon.ctl, &rc, sizeof(rc));
	assert_int_equal(rc, 0);
	proc_end(&test_session.daemon);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup, session_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_process_is_killed_when_the_rule_begins_and_its_importers_get_errors),
		TEST(test_rule_that_began_hits_those_that_are_there_oldest_first),
		TEST(test_rule_hits_a_process_that_comes_later),
		TEST(test_rule_that_is_over_spares_later_processes),
		TEST(test_paused_process_stops_and_goes_on),
		TEST(test_process_goes_on_when_the_daemon_ends_before),
		TEST(test_killed_daemon_leaves_no_process_stopped),
		TEST(test_daemon_that_is_killed_from_outside_leaves_no_process_stopped),
		TEST(test_guards_of_paused_processes_end_with_the_pause),
		TEST(test_when_the_daemon_is_killed_both_sides_get_errors),
		TEST(test_paused_daemon_answers_late),
		TEST(test_paused_daemon_can_be_ended),
		TEST(test_exports_through_a_function_end_when_it_is_reset),
		TEST(test_imports_through_a_function_end_when_it_is_reset),
		TEST(test_a_copy_that_a_reset_interrupts_is_waited_for),
		TEST(test_a_process_that_reads_all_the_time_gets_an_error_when_either_function_is_reset),
		TEST(test_in_virtual_time_a_rule_begins_when_time_gets_there),
		TEST(test_process_that_the_daemon_does_not_see_is_not_hit_and_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
