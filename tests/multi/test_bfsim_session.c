/* SPDX-License-Identifier: BSD-3-Clause */
/* <bfsim.h>: sessions that a test starts. Each test runs in a process of its own. */
#include "bfsim_util.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_dev.h>
#include <doca_graph.h>
#include <doca_pe.h>

#define ON_SIDE "on-side" /* run this program again; its exit status names its side */
enum { SIDE_IS_HOST = 10, SIDE_IS_DPU = 20 };

static struct bfsim_session *start(void)
{
	struct bfsim_session *session;

	NEED_OK(bfsim_session_start(NULL, &session));
	return session;
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* On the host the built-in card's first function is b1:00.0, on the DPU it is 03:00.0. */
static int side_as_status(void)
{
	struct doca_devinfo **list;
	uint32_t count;
	uint8_t is_host;

	MUST(doca_devinfo_create_list(&list, &count));
	CHECK(count > 0);
	MUST(doca_devinfo_is_equal_pci_addr(list[0], "b1:00.0", &is_host));
	MUST(doca_devinfo_destroy_list(list));
	return is_host ? SIDE_IS_HOST : SIDE_IS_DPU;
}

/* Start this program again with @env; its status. */
static int run_again(char **env)
{
	char *const argv[] = { "again", ON_SIDE, NULL };
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		execve("/proc/self/exe", argv, env);
		_exit(1);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_programs_start_on_the_side_of_their_environment(void)
{
	struct bfsim_session *session = start();
	char **on_host, **on_dpu;

	setenv("BFSIM_TOPOLOGY", "/nowhere.yaml", 1); /* of private cards: not passed on */
	NEED_OK(bfsim_session_env(session, "host", &on_host));
	NEED_OK(bfsim_session_env(session, "dpu", &on_dpu));
	CHECK(run_again(on_host) == SIDE_IS_HOST);
	CHECK(run_again(on_dpu) == SIDE_IS_DPU);
	free(on_host);
	free(on_dpu);
	NEED_OK(bfsim_session_stop(session));
}

static void test_stopped_session_leaves_nothing(void)
{
	struct bfsim_session *session = start();
	char *dir = strdup(bfsim_session_dir(session));

	CHECK(exists(dir));
	NEED_OK(bfsim_session_stop(session));
	CHECK(!exists(dir));
	CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	free(dir);
}

/* The test is killed: the daemon removes the directory when it ends. */
static void test_session_ends_with_a_test_that_is_killed(void)
{
	char dir[256] = "", event[512];
	int pipe_fds[2], watch = inotify_init1(IN_CLOEXEC);
	pid_t pid;

	CHECK(watch >= 0 && pipe(pipe_fds) == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		const char *made = bfsim_session_dir(start());

		CHECK(write(pipe_fds[1], made, strlen(made)) > 0);
		pause();
	}
	CHECK(read(pipe_fds[0], dir, sizeof(dir) - 1) > 0);
	CHECK(inotify_add_watch(watch, dir, IN_DELETE_SELF) >= 0);
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
	CHECK(read(watch, event, sizeof(event)) > 0);
	CHECK(!exists(dir));
}

/* The session has one plan: a rule of the test hits a copy of its child. */
static void test_rules_of_a_session_hit_in_all_its_processes(void)
{
	struct bfsim_session *session = start();
	struct bfsim_fault fault;
	uint32_t id;
	pid_t pid;

	NEED_OK(bfsim_session_enter(session, "host"));
	NEED_OK(bfsim_fault_add("dma.memcpy side=dpu fail=IO_FAILED", &id));
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		struct rig *rig;

		NEED_OK(bfsim_session_enter(session, "dpu"));
		rig = rig_start(rig_open(NULL));
		rig_submit_small(rig, 1);
		rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
		CHECK(strstr(rig->trace->text, "task 1 failed: DOCA_ERROR_IO_FAILED"));
		rig_close(rig);
		NEED_OK(bfsim_fault_add("dma.memcpy hang", NULL));
		_exit(0);
	}
	wait_well(pid);
	NEED_OK(bfsim_fault_get(id, &fault));
	CHECK(fault.matched == 1 && fault.fired == 1);
	CHECK(bfsim_fault_unfired(&fault) == 1 && fault.id == 2);
	NEED_OK(bfsim_fault_remove(2));
	NEED_ERROR(bfsim_fault_remove(2), -ENOENT, "there is no rule 2");
	NEED_OK(bfsim_fault_seed(3));
	NEED_OK(bfsim_fault_clear());
	NEED_ERROR(bfsim_fault_get(id, &fault), -ENOENT, "there is no rule 1");
	CHECK(bfsim_now_ns() > 0);
	NEED_OK(bfsim_session_stop(session));
}

/* No process has work: virtual time does not advance. */
static void test_session_has_the_clock_that_was_asked_for(void)
{
	struct bfsim_session_cfg cfg = { .clock = "virtual" };
	struct bfsim_session *session;
	uint64_t now_ns;

	NEED_OK(bfsim_session_start(&cfg, &session));
	NEED_OK(bfsim_session_enter(session, "dpu"));
	now_ns = bfsim_now_ns();
	CHECK(bfsim_now_ns() == now_ns);
	NEED_OK(bfsim_session_stop(session));
	session = start();
	NEED_OK(bfsim_session_enter(session, "dpu"));
	now_ns = bfsim_now_ns();
	CHECK(bfsim_now_ns() > now_ns);
	NEED_OK(bfsim_session_stop(session));
}

/* Of three copies by the DPU the second fails. */
static void test_tasks_of_ended_processes_are_counted(void)
{
	struct bfsim_session *session = start();
	struct bfsim_tasks tasks;
	pid_t pid;

	NEED_OK(bfsim_session_enter(session, "host"));
	NEED_ERROR(bfsim_tasks(NULL, NULL, NULL), -EINVAL, "NULL");
	NEED_OK(bfsim_fault_add("dma.memcpy nth=2 fail=IO_FAILED", NULL));
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		struct rig *rig;

		NEED_OK(bfsim_session_enter(session, "dpu"));
		rig = rig_open(NULL);
		for (uint64_t i = 0; i < 3; i++) {
			if (rig_state(rig) == DOCA_CTX_STATE_IDLE)
				rig_start(rig);
			rig_submit_small(rig, i);
			rig_drain(rig);
			if (i == 1)
				rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
		}
		rig_close(rig);
		exit(0);
	}
	wait_well(pid);
	NEED_OK(bfsim_tasks("dpu", "DMA memcpy", &tasks));
	CHECK(tasks.submitted == 3 && tasks.completed == 2 && tasks.failed == 1 && tasks.bytes == 128);
	NEED_OK(bfsim_tasks(NULL, NULL, &tasks));
	CHECK(tasks.submitted == 3);
	NEED_OK(bfsim_tasks("host", NULL, &tasks));
	CHECK(tasks.submitted == 0);
	NEED_OK(bfsim_tasks(NULL, "Comch send", &tasks));
	CHECK(tasks.submitted == 0);
	NEED_OK(bfsim_session_stop(session));
}

/* A counter without events is 0; an unknown name is an error, so that a typing error cannot prove the absence of
 * failures. The process asks first without a device, then with one. */
static void test_tasks_of_kinds_and_sides_that_do_not_exist_are_no_answer(void)
{
	struct bfsim_session *session = start();
	struct bfsim_tasks tasks = { .failed = 99 };
	struct rig *rig;

	NEED_OK(bfsim_session_enter(session, "dpu"));
	NEED_ERROR(bfsim_tasks("hots", NULL, &tasks), -ENOENT, "no side \"hots\"; its sides are: dpu, host");
	rig = rig_open(NULL);
	NEED_ERROR(bfsim_tasks("hots", NULL, &tasks), -ENOENT, "no side \"hots\"; its sides are: dpu, host");
	NEED_ERROR(bfsim_tasks("dpu", "dma.memcpy", &tasks), -ENOENT, "the kinds are: ");
	CHECK(tasks.failed == 99);
	NEED_OK(bfsim_tasks("host", "sync event get", &tasks));
	CHECK(tasks.failed == 0);
	rig_close(rig);
	NEED_OK(bfsim_session_stop(session));
}

static void copy_one(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	rig_submit_small(rig, 0);
	rig_drain(rig);
	CHECK(rig_small_is_done(rig, 0));
	rig_close(rig);
}

static void test_process_stays_on_its_card_while_a_device_is_open(void)
{
	struct bfsim_session *session = start(), *other = start();
	struct rig *rig = rig_open(NULL);

	NEED_ERROR(bfsim_session_enter(session, "dpu"), -EBUSY, "private card");
	CHECK(!getenv("BFSIM_SESSION"));
	rig_close(rig);
	NEED_OK(bfsim_session_enter(session, "dpu"));
	rig = rig_open(NULL);
	NEED_ERROR(bfsim_session_enter(other, "dpu"), -EBUSY, bfsim_session_dir(session));
	rig_close(rig);
	NEED_OK(bfsim_session_stop(other));
	NEED_OK(bfsim_session_stop(session));
}

/* In functional time, before and behind the attach. */
static void test_slow_links_are_refused_without_model_time(void)
{
	struct bfsim_session_cfg cfg = { .clock = "virtual" };
	struct bfsim_session *session = start();

	NEED_OK(bfsim_session_enter(session, "dpu"));
	NEED_ERROR(bfsim_fault_add("link degrade=gen1x1", NULL), -ENOTSUP, "another clock");
	copy_one();
	NEED_ERROR(bfsim_fault_add("net.link rate=10M", NULL), -ENOTSUP, "another clock");
	CHECK(bfsim_fault_unfired(NULL) == 0);
	NEED_OK(bfsim_session_stop(session));
	NEED_OK(bfsim_session_start(&cfg, &session));
	NEED_OK(bfsim_session_enter(session, "dpu"));
	NEED_OK(bfsim_fault_add("net.link rate=10M", NULL));
	NEED_OK(bfsim_session_stop(session));
}

/* Tests with a session each: no rule, time or copy count of one session is left in the next. */
static void test_process_enters_one_session_after_another(void)
{
	static const char *const clocks[] = { "virtual", "functional", "timed", "virtual" };
	struct bfsim_tasks tasks;

	copy_one(); /* on the private card */
	for (int i = 0; i < 4; i++) {
		struct bfsim_session_cfg cfg = { .clock = clocks[i] };
		struct bfsim_session *session;

		NEED_OK(bfsim_session_start(&cfg, &session));
		NEED_OK(bfsim_session_enter(session, i % 2 ? "dpu" : "host"));
		CHECK(bfsim_fault_unfired(NULL) == 0);
		CHECK(strcmp(clocks[i], "virtual") != 0 || bfsim_now_ns() == 0);
		NEED_OK(bfsim_fault_add("dma.memcpy nth=2 hang", NULL));
		CHECK(side_as_status() == (i % 2 ? SIDE_IS_DPU : SIDE_IS_HOST));
		copy_one();
		NEED_OK(bfsim_tasks(NULL, NULL, &tasks));
		CHECK(tasks.completed == 1);
		NEED_OK(bfsim_session_stop(session));
		CHECK(!getenv("BFSIM_SESSION"));
	}
	copy_one();
}

/* Handles of a released card are as stale as destroyed ones. */
static void test_lists_of_a_session_that_was_left_are_no_longer_good(void)
{
	char addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	struct bfsim_session *session = start();
	struct doca_devinfo_rep **reps;
	struct doca_devinfo **list;
	struct doca_devinfo_rep *rep;
	struct doca_devinfo *info;
	struct doca_dev *dev;
	uint32_t count;

	NEED_OK(bfsim_session_enter(session, "dpu"));
	MUST(doca_devinfo_create_list(&list, &count));
	MUST(doca_dev_open(list[0], &dev));
	MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &count));
	MUST(doca_dev_close(dev));
	info = list[0];
	rep = reps[0];
	NEED_OK(bfsim_session_stop(session));
	CHECK(doca_devinfo_get_pci_addr_str(info, addr) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_devinfo_rep_get_pci_addr_str(rep, addr) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_devinfo_destroy_list(list) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_devinfo_rep_destroy_list(reps) == DOCA_ERROR_INVALID_VALUE);
}

/* A graph has no device, and runs by the session's time. */
static void test_process_stays_on_its_card_while_a_graph_is_there(void)
{
	struct bfsim_session *session = start();
	struct doca_graph *graph;
	struct doca_pe *pe;

	CHECK(side_as_status() == SIDE_IS_DPU); /* attaches */
	MUST(doca_pe_create(&pe));
	MUST(doca_graph_create(pe, &graph));
	NEED_ERROR(bfsim_session_enter(session, "host"), -EBUSY, "private card");
	MUST(doca_graph_destroy(graph));
	MUST(doca_pe_destroy(pe));
	NEED_OK(bfsim_session_enter(session, "host"));
	CHECK(side_as_status() == SIDE_IS_HOST);
	NEED_OK(bfsim_session_stop(session));
}

/* How many calls of setenv() work before memory runs out; -1 = all. libbfsim calls it, too. */
static int setenv_calls_left = -1;

int setenv(const char *name, const char *value, int overwrite)
{
	int (*libc_setenv)(const char *, const char *, int);

	if (setenv_calls_left == 0) {
		errno = ENOMEM;
		return -1;
	}
	if (setenv_calls_left > 0)
		setenv_calls_left--;
	*(void **)&libc_setenv = dlsym(RTLD_NEXT, "setenv");
	return libc_setenv(name, value, overwrite);
}

static void check_variables(const char *session, const char *side, const char *topology)
{
	CHECK(session ? strcmp(getenv("BFSIM_SESSION"), session) == 0 : !getenv("BFSIM_SESSION"));
	CHECK(strcmp(getenv("BFSIM_SIDE"), side) == 0);
	CHECK(topology ? strcmp(getenv("BFSIM_TOPOLOGY"), topology) == 0 : !getenv("BFSIM_TOPOLOGY"));
}

static void test_enter_without_memory_changes_no_variable(void)
{
	struct bfsim_session *session = start();

	setenv("BFSIM_TOPOLOGY", "/nowhere.yaml", 1);
	for (int calls = 0; calls < 2; calls++) {
		setenv_calls_left = calls;
		NEED_ERROR(bfsim_session_enter(session, "host"), -ENOMEM, "memory");
		setenv_calls_left = -1;
		check_variables(NULL, "dpu", "/nowhere.yaml");
	}
	NEED_OK(bfsim_session_enter(session, "dpu"));
	setenv_calls_left = 1;
	NEED_ERROR(bfsim_session_enter(session, "host"), -ENOMEM, "memory");
	setenv_calls_left = -1;
	check_variables(bfsim_session_dir(session), "dpu", NULL);
	NEED_OK(bfsim_session_stop(session));
	check_variables(NULL, "dpu", "/nowhere.yaml");
}

static void test_stop_gives_the_environment_back(void)
{
	struct bfsim_session *session = start();

	setenv("BFSIM_TOPOLOGY", "/nowhere.yaml", 1);
	NEED_OK(bfsim_session_enter(session, "host"));
	NEED_OK(bfsim_session_enter(session, "host"));
	CHECK(strcmp(getenv("BFSIM_SESSION"), bfsim_session_dir(session)) == 0);
	CHECK(strcmp(getenv("BFSIM_SIDE"), "host") == 0);
	CHECK(!getenv("BFSIM_TOPOLOGY"));
	NEED_OK(bfsim_session_stop(session));
	CHECK(!getenv("BFSIM_SESSION"));
	CHECK(strcmp(getenv("BFSIM_SIDE"), "dpu") == 0);
	CHECK(strcmp(getenv("BFSIM_TOPOLOGY"), "/nowhere.yaml") == 0);
}

static void test_child_leaves_the_session_to_its_parent(void)
{
	struct bfsim_session *session = start();
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		NEED_OK(bfsim_session_stop(session));
		_exit(0);
	}
	wait_well(pid);
	CHECK(exists(bfsim_session_dir(session)));
	NEED_OK(bfsim_session_enter(session, "dpu"));
	CHECK(side_as_status() == SIDE_IS_DPU);
	NEED_OK(bfsim_session_stop(session));
}

static void test_two_sessions_know_nothing_of_each_other(void)
{
	struct bfsim_session *one = start(), *other = start();

	NEED_OK(bfsim_session_enter(one, "dpu"));
	NEED_OK(bfsim_fault_add("dma.memcpy hang", NULL));
	NEED_OK(bfsim_session_enter(other, "dpu"));
	CHECK(bfsim_fault_unfired(NULL) == 0);
	NEED_OK(bfsim_session_enter(one, "dpu"));
	CHECK(bfsim_fault_unfired(NULL) == 1);
	NEED_OK(bfsim_session_stop(other));
	NEED_OK(bfsim_session_stop(one));
}

static void test_session_that_is_over_is_an_error(void)
{
	struct bfsim_session *session = start();
	char *dir = strdup(bfsim_session_dir(session));

	NEED_OK(bfsim_session_stop(session));
	setenv("BFSIM_SESSION", dir, 1);
	NEED_ERROR(bfsim_fault_add("dma.memcpy hang", NULL), -ENOENT, dir);
	CHECK(bfsim_now_ns() == 0);
	CHECK(mkdir(dir, 0700) == 0);
	NEED_ERROR(bfsim_fault_unfired(NULL), -ECONNREFUSED, "has ended");
	CHECK(rmdir(dir) == 0);
	free(dir);
}

static void test_mistakes_are_errors_that_say_so(void)
{
	struct bfsim_session_cfg cfg = { .topology = "wrong.yaml" };
	struct bfsim_session *session;
	FILE *file = fopen("wrong.yaml", "w");
	char **env;

	CHECK(file && fputs("cards:\n  - profile: no-such-card\n", file) >= 0 && fclose(file) == 0);
	NEED_ERROR(bfsim_session_start(&cfg, &session), -EINVAL, "wrong.yaml:2");
	cfg = (struct bfsim_session_cfg){ .clock = "sundial" };
	NEED_ERROR(bfsim_session_start(&cfg, &session), -EINVAL, "functional, timed or virtual");
	cfg.clock = NULL;
	cfg.topology = "missing.yaml";
	NEED_ERROR(bfsim_session_start(&cfg, &session), -ENOENT, "missing.yaml");
	cfg = (struct bfsim_session_cfg){ .clock = "sundial" };
	NEED_ERROR(bfsim_session_start(&cfg, &session), -EINVAL, "sundial");
	NEED_ERROR(bfsim_session_start(NULL, NULL), -EINVAL, "NULL");
	setenv("BFSIM_BFSIMD", "/nowhere/bfsimd", 1);
	NEED_ERROR(bfsim_session_start(NULL, &session), -ENOENT, "/nowhere/bfsimd");
	setenv("BFSIM_BFSIMD", "/bin/false", 1);
	NEED_ERROR(bfsim_session_start(NULL, &session), -ECHILD, "/bin/false");
	unsetenv("BFSIM_BFSIMD");
	session = start();
	NEED_ERROR(bfsim_session_enter(session, "moon"), -ENOENT, "no side \"moon\"");
	NEED_ERROR(bfsim_session_env(session, "moon", &env), -ENOENT, "no side \"moon\"");
	NEED_ERROR(bfsim_session_env(session, "host", NULL), -EINVAL, "NULL");
	NEED_ERROR(bfsim_session_env(NULL, "host", &env), -EINVAL, "NULL");
	NEED_ERROR(bfsim_session_enter(NULL, "host"), -EINVAL, "NULL");
	CHECK(!bfsim_session_dir(NULL));
	NEED_OK(bfsim_session_stop(NULL));
	NEED_OK(bfsim_session_stop(session));
}

int main(int argc, char **argv)
{
	static const struct own_test tests[] = {
		OWN_TEST(test_programs_start_on_the_side_of_their_environment),
		OWN_TEST(test_stopped_session_leaves_nothing),
		OWN_TEST(test_session_ends_with_a_test_that_is_killed),
		OWN_TEST(test_rules_of_a_session_hit_in_all_its_processes),
		OWN_TEST(test_session_has_the_clock_that_was_asked_for),
		OWN_TEST(test_slow_links_are_refused_without_model_time),
		OWN_TEST(test_tasks_of_ended_processes_are_counted),
		OWN_TEST(test_tasks_of_kinds_and_sides_that_do_not_exist_are_no_answer),
		OWN_TEST(test_process_stays_on_its_card_while_a_device_is_open),
		OWN_TEST(test_process_enters_one_session_after_another),
		OWN_TEST(test_lists_of_a_session_that_was_left_are_no_longer_good),
		OWN_TEST(test_process_stays_on_its_card_while_a_graph_is_there),
		OWN_TEST(test_enter_without_memory_changes_no_variable),
		OWN_TEST(test_stop_gives_the_environment_back),
		OWN_TEST(test_child_leaves_the_session_to_its_parent),
		OWN_TEST(test_two_sessions_know_nothing_of_each_other),
		OWN_TEST(test_session_that_is_over_is_an_error),
		OWN_TEST(test_mistakes_are_errors_that_say_so),
	};

	if (argc > 1 && strcmp(argv[1], ON_SIDE) == 0)
		return side_as_status();
	return OWN_RUN(tests);
}
