/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/session.h: attachments to a private card, and to a daemon, which is a thread of the test. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "open_fds.h"
#include "proc.h"
#include "pcie_model/topology/topology.h"
#include "sim/api/bfsim.h"
#include "sim/base/log.h"
#include "sim/clock/vclock_sched.h"
#include "sim/engine/engine.h"
#include "sim/fabric/remote.h"
#include "sim/protocol/session_dir.h"
#include "sim/protocol/wire.h"
#include "sim/session/exports.h"
#include "sim/session/imports.h"
#include "sim/session/kick.h"
#include "sim/session/session_priv.h"

#define DEADLINE_S 30
#define KEY        5

static struct sim_session *session;
static unsigned int num_lines;
static char last_line[256];

static void count_line(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
	num_lines++;
	vsnprintf(last_line, sizeof(last_line), format, args);
}

static int set_up(void **state)
{
	alarm(DEADLINE_S);
	num_lines = 0;
	sim_log_set_sink(count_line);
	return 0;
}

static int tear_down(void **state)
{
	sim_log_set_sink(NULL);
	unsetenv("BFSIM_TRACE");
	alarm(0);
	return 0;
}

static void attach_with(const struct sim_session_cfg *cfg)
{
	assert_int_equal(sim_session_attach(cfg, &session), 0);
}

static void attach(void)
{
	attach_with(&(const struct sim_session_cfg){ .side = "dpu" });
}

static void detach(void)
{
	sim_session_detach(session);
	session = NULL;
}

/* ---- what a session calls ---- */

static bool has_no_epoll;

int __real_epoll_create1(int flags);
int __wrap_epoll_create1(int flags);

int __wrap_epoll_create1(int flags)
{
	if (!has_no_epoll)
		return __real_epoll_create1(flags);
	errno = EMFILE;
	return -1;
}

static bool kicks_were_closed; /* when the session destroyed its engine */

void __real_sim_engine_destroy(struct sim_engine *engine);
void __wrap_sim_engine_destroy(struct sim_engine *engine);

void __wrap_sim_engine_destroy(struct sim_engine *engine)
{
	int fd = -1;

	kicks_were_closed = session && sim_kicks_describe(session->kicks, &fd) < 0;
	if (fd >= 0)
		close(fd);
	__real_sim_engine_destroy(engine);
}

static struct sim_engine *advanced;

uint64_t __real_sim_engine_advance_own(struct sim_engine *engine);
uint64_t __wrap_sim_engine_advance_own(struct sim_engine *engine);

uint64_t __wrap_sim_engine_advance_own(struct sim_engine *engine)
{
	advanced = engine;
	return __real_sim_engine_advance_own(engine);
}

/* ---- private cards ---- */

static void test_recording_that_is_off_or_there_already_is_no_reason_to_warn(void **state)
{
	struct sim_session *first;

	setenv("BFSIM_TRACE", "off", 1);
	attach();
	detach();
	unsetenv("BFSIM_TRACE");
	attach();
	first = session;
	attach();
	detach();
	sim_session_detach(first);
	assert_int_equal(num_lines, 0);
}

static void test_level_of_recording_that_does_not_exist_is_one_line(void **state)
{
	setenv("BFSIM_TRACE", "loud", 1);
	attach();
	detach();
	assert_int_equal(num_lines, 1);
}

static void test_attachment_leaves_no_descriptor(void **state)
{
	const struct sim_session_cfg refused[] = { { .side = "nowhere" },
						   { .side = "dpu", .topology = "/proc/there-is-none" },
						   { .side = "dpu", .dir = "/proc/there-is-none" },
						   { .side = "dpu", .dir = "/" } };
	unsigned int num_fds;

	attach();
	detach(); /* what a process keeps from then on */
	num_fds = count_open_fds();
	attach();
	detach();
	assert_int_equal(count_open_fds(), num_fds);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		assert_true(sim_session_attach(&refused[i], &session) < 0);
		assert_null(session);
		assert_int_equal(count_open_fds(), num_fds);
	}
}

static void test_without_a_descriptor_for_its_thread_there_is_no_session(void **state)
{
	const struct sim_session_cfg cfg = { .side = "dpu", .forced_path = "shm" };

	has_no_epoll = true;
	assert_int_equal(sim_session_attach(&cfg, &session), -EMFILE);
	has_no_epoll = false;
	assert_null(session);
}

static void test_session_has_a_forced_path_if_it_is_given_one(void **state)
{
	attach();
	assert_false(sim_session_has_forced_path(session));
	detach();
	attach_with(&(const struct sim_session_cfg){ .side = "dpu", .forced_path = "shm" });
	assert_true(sim_session_has_forced_path(session));
	detach();
}

/* Processes of one namespace know each other by their pids. */
static void test_session_knows_its_pid_namespace(void **state)
{
	struct stat st;

	assert_int_equal(stat("/proc/self/ns/pid", &st), 0);
	attach();
	assert_int_equal(sim_session_pid_ns(session), st.st_ino);
	detach();
}

static void test_no_kick_comes_once_the_engine_is_gone(void **state)
{
	attach();
	detach();
	assert_true(kicks_were_closed);
}

/* The memory is another function's. */
static void test_reset_of_a_function_ends_its_imports(void **state)
{
	static uint8_t memory[64];
	const struct sim_region region = { .addr = (uintptr_t)memory,
					   .cpu_addr = (uintptr_t)memory,
					   .len_bytes = sizeof(memory),
					   .access = SIM_ACCESS_READ,
					   .function = 1 };
	struct sim_remote *ended, *stays;
	struct sim_key key;

	attach();
	assert_int_equal(sim_session_export(session, &region, -1, &key), 0);
	assert_int_equal(sim_session_import(session, &key, 0, &ended, NULL), 0);
	assert_int_equal(sim_session_import(session, &key, 1, &stays, NULL), 0);
	assert_int_equal(bfsim_fault_add("function side=dpu device=03:00.0 reset", NULL), 0);
	assert_true(atomic_load(&ended->revoked));
	assert_false(atomic_load(&stays->revoked));
	sim_session_release(session, ended);
	sim_session_release(session, stays);
	assert_int_equal(bfsim_fault_clear(), 0);
	detach();
}

static pid_t fork_child(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	return pid;
}

static void expect_success(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_process_that_leaves_serves_its_memory_no_more(void **state)
{
	pid_t pid = fork_child();

	if (pid == 0) {
		static uint8_t memory[64];
		const struct sim_session_cfg cfg = { .side = "dpu" };
		const struct sim_region region = { .cpu_addr = (uintptr_t)memory,
						   .len_bytes = sizeof(memory),
						   .access = SIM_ACCESS_READ };
		struct sim_grant grant;
		int fd;

		if (sim_session_attach(&cfg, &session) != 0 || sim_exports_add(session->exports, KEY, &region) != 0 ||
		    sim_exports_describe(session->exports, KEY, KEY, SIM_TRANSPORT_TCP, false, &grant, &fd) != 0)
			_exit(1);
		sim_session_leave(session);
		_exit(sim_exports_describe(session->exports, KEY, KEY, SIM_TRANSPORT_TCP, false, &grant, &fd) < 0 ? 0 :
														    2);
	}
	expect_success(pid);
}

static void test_forked_child_that_abandons_a_session_can_attach_anew(void **state)
{
	unsigned int num_fds;
	pid_t pid;

	attach();
	detach();
	num_fds = count_open_fds();
	attach();
	num_fds = count_open_fds() - num_fds; /* of the session */
	pid = fork_child();
	if (pid == 0) {
		const struct sim_session_cfg cfg = { .side = "host" };

		num_fds = count_open_fds() - num_fds;
		sim_session_abandon(session);
		if (count_open_fds() != num_fds || sim_session_attach(&cfg, &session) != 0)
			_exit(1);
		sim_session_detach(session);
		_exit(0);
	}
	expect_success(pid);
	detach();
}

/* ---- virtual time ---- */

static void test_turns_are_of_virtual_time(void **state)
{
	for (enum sim_clock_mode clock = SIM_CLOCK_FUNCTIONAL; clock <= SIM_CLOCK_VIRTUAL; clock++) {
		attach_with(&(const struct sim_session_cfg){ .side = "dpu", .clock = clock });
		assert_int_equal(sim_clock_mode(sim_session_clock(session)), clock);
		assert_int_equal(sim_session_vclock(session) != NULL, clock == SIM_CLOCK_VIRTUAL);
		detach();
	}
}

/* The rank of a thread's participant. */
static uint64_t rank_of(const char *side, const char *launch)
{
	struct sim_vclock_source *source;
	uint64_t rank;

	attach_with(&(const struct sim_session_cfg){ .side = side, .clock = SIM_CLOCK_VIRTUAL, .launch = launch });
	assert_int_equal(
		sim_vclock_source_create(sim_session_vclock(session), &(struct sim_vclock_source_cfg){ 0 }, &source),
		0);
	rank = atomic_load(&sim_clock_page(sim_session_clock(session))->participants[0].rank);
	sim_vclock_source_destroy(source);
	detach();
	return rank;
}

static void test_dpus_run_before_hosts_and_those_that_a_command_started_in_their_order(void **state)
{
	assert_true(rank_of("dpu", "1:0:0") < rank_of("dpu", "2:0:0"));
	assert_true(rank_of("dpu", "2:0:0") < rank_of("dpu", NULL));
	assert_true(rank_of("dpu", NULL) < rank_of("host", "1:0:0"));
	assert_true(rank_of("dpu", "4294967295:0:0") < rank_of("host", "1:0:0"));
	assert_true(rank_of("dpu", "1:0:0") < rank_of("host", "4294967295:0:0"));
}

static void test_thread_that_blocks_does_what_is_due_in_the_engine_first(void **state)
{
	const struct sim_vclock_source_cfg cfg = { 0 };
	struct sim_vclock_source *sources[2];

	attach_with(&(const struct sim_session_cfg){ .side = "dpu", .clock = SIM_CLOCK_VIRTUAL });
	for (int i = 0; i < 2; i++)
		assert_int_equal(sim_vclock_source_create(sim_session_vclock(session), &cfg, &sources[i]), 0);
	advanced = NULL;
	sim_vclock_sched_detach_thread(sim_session_vclock(session));
	assert_ptr_equal(advanced, sim_session_engine(session));
	for (int i = 0; i < 2; i++)
		sim_vclock_source_destroy(sources[i]);
	detach();
}

/* ---- a daemon ---- */

static struct {
	char *dir;
	int dir_fd, lock, listening, state_fd;
	struct sim_segment state;
	pthread_t thread;
} card;

static void reply(int sock, struct sim_msg *msg)
{
	const bool is_attach = msg->type == SIM_MSG_ATTACH;

	memset(&msg->body, 0, sizeof(msg->body)); /* monotonic_ns, too: the clock of another namespace */
	msg->is_reply = 1;
	msg->status = 0;
	sim_msg_send(sock, msg, is_attach ? card.state_fd : -1);
}

/* One process after the other, until nobody can connect. */
static void *serve(void *arg)
{
	int sock, fd;

	while ((sock = accept(card.listening, NULL, NULL)) >= 0) {
		struct sim_msg msg;

		while (sim_msg_recv(sock, &msg, &fd) == 0) {
			if (fd >= 0)
				close(fd);
			if (msg.type != SIM_MSG_DETACH)
				reply(sock, &msg);
		}
		close(sock);
	}
	return NULL;
}

static int set_up_daemon(void **state)
{
	const char *yaml = pcie_topology_default_yaml();

	set_up(state);
	setenv("BFSIM_TRACE", "off", 1);
	card.dir = proc_make_dir();
	card.dir_fd = sim_session_dir_open(card.dir, false);
	card.lock = sim_session_dir_lock(card.dir_fd);
	card.listening = sim_session_dir_listen(card.dir_fd);
	assert_true(card.listening >= 0);
	return sim_session_dir_write(card.dir_fd, SIM_SESSION_TOPOLOGY, yaml, strlen(yaml));
}

static void begin_daemon(enum sim_clock_mode mode)
{
	assert_int_equal(sim_shared_state_create(mode, &card.state, &card.state_fd), 0);
	assert_int_equal(pthread_create(&card.thread, NULL, serve, NULL), 0);
}

static void end_daemon(void)
{
	shutdown(card.listening, SHUT_RDWR);
	pthread_join(card.thread, NULL);
	sim_segment_unmap(&card.state);
	close(card.state_fd);
}

static int tear_down_daemon(void **state)
{
	if (card.listening >= 0)
		close(card.listening);
	close(card.lock);
	close(card.dir_fd);
	proc_remove_dir(card.dir);
	return tear_down(state);
}

static int attach_to_daemon(enum sim_clock_mode clock)
{
	const struct sim_session_cfg cfg = { .dir = card.dir, .side = "dpu", .clock = clock };

	return sim_session_attach(&cfg, &session);
}

static void test_session_without_a_topology_is_closed(void **state)
{
	unsigned int num_fds = count_open_fds();

	assert_int_equal(unlinkat(card.dir_fd, SIM_SESSION_TOPOLOGY, 0), 0);
	assert_int_equal(attach_to_daemon(SIM_CLOCK_FUNCTIONAL), -ENOENT);
	assert_int_equal(count_open_fds(), num_fds);
}

static void test_log_tells_a_dead_daemon_from_none(void **state)
{
	close(card.listening);
	card.listening = -1;
	assert_int_equal(attach_to_daemon(SIM_CLOCK_FUNCTIONAL), -ECONNREFUSED);
	assert_int_equal(num_lines, 1);
	assert_non_null(strstr(last_line, "died"));
	sim_session_dir_remove_files(card.dir_fd);
	assert_int_equal(attach_to_daemon(SIM_CLOCK_FUNCTIONAL), -ENOENT);
	assert_int_equal(num_lines, 2);
	assert_non_null(strstr(last_line, "no session"));
}

static void test_clock_of_the_environment_that_has_no_effect_is_one_line(void **state)
{
	sim_session_dir_remove_files(card.dir_fd);
	assert_int_equal(attach_to_daemon(SIM_CLOCK_FUNCTIONAL), -ENOENT);
	assert_int_equal(num_lines, 1);
	assert_int_equal(attach_to_daemon(SIM_CLOCK_TIMED), -ENOENT);
	assert_int_equal(num_lines, 1 + 2);
}

static void test_timed_session_is_not_for_processes_of_another_time_namespace(void **state)
{
	begin_daemon(SIM_CLOCK_TIMED);
	assert_int_equal(attach_to_daemon(SIM_CLOCK_FUNCTIONAL), -EXDEV);
	assert_int_equal(num_lines, 1);
	end_daemon();
}

static void test_other_sessions_warn_processes_of_another_time_namespace(void **state)
{
	begin_daemon(SIM_CLOCK_FUNCTIONAL);
	assert_int_equal(attach_to_daemon(SIM_CLOCK_FUNCTIONAL), 0);
	assert_int_equal(num_lines, 1);
	detach();
	end_daemon();
}

/* How often the shared state is mapped. */
static unsigned int count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long inode;
	unsigned int count = 0;
	struct stat st;
	char line[512];

	assert_non_null(maps);
	assert_int_equal(fstat(card.state_fd, &st), 0);
	while (fgets(line, sizeof(line), maps))
		count += sscanf(line, "%*s %*s %*s %*s %lu", &inode) == 1 && inode == st.st_ino;
	fclose(maps);
	return count;
}

static void test_session_of_a_daemon_leaves_neither_descriptor_nor_mapping(void **state)
{
	begin_daemon(SIM_CLOCK_FUNCTIONAL);
	unsigned int num_fds = count_open_fds(), num_mappings = count_mappings();

	assert_int_equal(attach_to_daemon(SIM_CLOCK_FUNCTIONAL), 0);
	assert_true(count_mappings() > num_mappings);
	detach();
	assert_int_equal(count_mappings(), num_mappings);
	end_daemon(); /* with its end of the socket; the state's descriptor was open before */
	assert_int_equal(count_open_fds() + 1, num_fds);
}

#define TEST(name)        cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
#define DAEMON_TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up_daemon, tear_down_daemon)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(recording_that_is_off_or_there_already_is_no_reason_to_warn),
		TEST(level_of_recording_that_does_not_exist_is_one_line),
		TEST(attachment_leaves_no_descriptor),
		TEST(without_a_descriptor_for_its_thread_there_is_no_session),
		TEST(session_has_a_forced_path_if_it_is_given_one),
		TEST(session_knows_its_pid_namespace),
		TEST(no_kick_comes_once_the_engine_is_gone),
		TEST(reset_of_a_function_ends_its_imports),
		TEST(process_that_leaves_serves_its_memory_no_more),
		TEST(forked_child_that_abandons_a_session_can_attach_anew),
		TEST(turns_are_of_virtual_time),
		TEST(dpus_run_before_hosts_and_those_that_a_command_started_in_their_order),
		TEST(thread_that_blocks_does_what_is_due_in_the_engine_first),
		DAEMON_TEST(session_without_a_topology_is_closed),
		DAEMON_TEST(log_tells_a_dead_daemon_from_none),
		DAEMON_TEST(clock_of_the_environment_that_has_no_effect_is_one_line),
		DAEMON_TEST(timed_session_is_not_for_processes_of_another_time_namespace),
		DAEMON_TEST(other_sessions_warn_processes_of_another_time_namespace),
		DAEMON_TEST(session_of_a_daemon_leaves_neither_descriptor_nor_mapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
