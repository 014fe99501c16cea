/* SPDX-License-Identifier: BSD-3-Clause */
/* Applications that fork, through the public API: a child is a process of its own on the card. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_dev.h>
#include <doca_log.h>
#include <doca_mmap.h>

#include "cmocka_test.h"
#include "session_util.h"
#include "doca_device.h"

#define NUM_FORKS 12 /* of each test; each takes as long as two busy threads keep it */

static int setup(void **state)
{
	session_setup(state);
	setenv("BFSIM_SIDE", "host", 1);
	return 0;
}

static void use_devices(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t count;

	CHECK(doca_devinfo_create_list(&list, &count) == DOCA_SUCCESS && count == 2);
	CHECK(doca_dev_open(list[0], &dev) == DOCA_SUCCESS);
	CHECK(doca_devinfo_destroy_list(list) == DOCA_SUCCESS);
	CHECK(doca_dev_close(dev) == DOCA_SUCCESS);
}

/* The parent uses devices, then its child does; both stay alive. */
static void use_fork_use(int ctl, const void *arg)
{
	pid_t pid;
	char byte;

	use_devices();
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		alarm(PROC_DEADLINE_MS / 1000); /* at the latest */
		pid = getpid();
		use_devices();
		proc_send(ctl, &pid, sizeof(pid));
		for (;;)
			pause();
	}
	recv(ctl, &byte, 1, 0);
}

static void test_a_child_attaches_by_itself_and_outlives_its_parent(void **state)
{
	struct proc parent;
	pid_t pid, child;

	proc_start(&parent, use_fork_use, NULL);
	pid = parent.pid;
	proc_recv(parent.ctl, &child, sizeof(child));
	proc_adopt(child);
	assert_true(daemon_knows(test_session.dir, pid));
	assert_true(daemon_knows(test_session.dir, child));
	proc_signal(&parent, SIGKILL);
	assert_true(daemon_forgets(test_session.dir, pid));
	assert_true(daemon_knows(test_session.dir, child));
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_true(daemon_forgets(test_session.dir, child));
	daemon_stop(&test_session.daemon);
}

static void *use_devices_in_thread(void *arg)
{
	use_devices();
	return arg;
}

/* One thread attaches for the first time while another forks: the child neither hangs on a lock nor takes over its
 * parent's connection. */
static void fork_while_attaching(int ctl, const void *arg)
{
	pthread_t thread;
	pid_t pid;
	int status;

	CHECK(pthread_create(&thread, NULL, use_devices_in_thread, NULL) == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		alarm(2 * PROC_DEADLINE_MS / 1000); /* after its parent was printed, if that waits for it */
		use_devices();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	pthread_join(thread, NULL);
}

/* A sanitizer's own allocator has locks that a fork may catch, and leaves them to the child as they are. */
static void skip_under_sanitizers(void)
{
	if (PROC_IS_SLOW) {
		daemon_stop(&test_session.daemon);
		skip();
	}
}

static void test_a_fork_during_the_first_use_does_no_harm(void **state)
{
	skip_under_sanitizers();
	for (int i = 0; i < NUM_FORKS; i++) {
		struct proc proc;

		proc_start(&proc, fork_while_attaching, NULL);
		proc_end(&proc);
	}
	daemon_stop(&test_session.daemon);
	assert_int_equal(proc_num_files(test_session.dir), 0);
}

/* ---- forks while other threads are in the library ---- */

static void export_memory(struct doca_dev *dev)
{
	static char memory[4096];
	const void *descriptor;
	struct doca_mmap *map;
	size_t len;

	CHECK(doca_mmap_create(&map) == DOCA_SUCCESS);
	CHECK(doca_mmap_set_memrange(map, memory, sizeof(memory)) == DOCA_SUCCESS);
	CHECK(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE) == DOCA_SUCCESS);
	CHECK(doca_mmap_add_dev(map, dev) == DOCA_SUCCESS);
	CHECK(doca_mmap_start(map) == DOCA_SUCCESS);
	CHECK(doca_mmap_export_pci(map, dev, &descriptor, &len) == DOCA_SUCCESS);
	CHECK(doca_mmap_destroy(map) == DOCA_SUCCESS);
}

static void list_representors(struct doca_dev *dev)
{
	struct doca_devinfo_rep **list;
	uint32_t count;

	CHECK(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count) == DOCA_SUCCESS);
	CHECK(doca_devinfo_rep_destroy_list(list) == DOCA_SUCCESS);
}

static void register_source(struct doca_dev *unused)
{
	int own;

	CHECK(doca_log_register_source("fork", &own) == DOCA_SUCCESS);
	CHECK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO) == DOCA_SUCCESS);
	CHECK(doca_log_unregister_source(own) == DOCA_SUCCESS);
}

static void flush_slowly(char *line)
{
	usleep(100);
}

static int source; /* a log of lines, opened before the threads start */

static void log_line(struct doca_dev *unused)
{
	CHECK(doca_log(DOCA_LOG_LEVEL_INFO, source, "file", 1, "func", "a line") == DOCA_SUCCESS);
}

struct busy {
	const char *side;
	void (*work)(struct doca_dev *dev);
	struct doca_dev *dev;
	atomic_bool stop;
};

static void *work_on(void *arg)
{
	struct busy *busy = arg;

	while (!atomic_load(&busy->stop))
		busy->work(busy->dev);
	return NULL;
}

/* A fork at any point of the other threads' calls leaves a child that can make the same calls. */
static void fork_among_threads(int ctl, const void *arg)
{
	static char line[256];
	struct busy busy = *(const struct busy *)arg;
	struct doca_log_backend *backend;
	pthread_t threads[2];
	int status;

	setenv("BFSIM_SIDE", busy.side, 1);
	CHECK(doca_log_backend_create_with_buf(line, sizeof(line), flush_slowly, &backend) == DOCA_SUCCESS);
	CHECK(doca_log_register_source("lines", &source) == DOCA_SUCCESS);
	busy.dev = device_open(NULL);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, work_on, &busy) == 0);
	for (int i = 0; i < NUM_FORKS; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (pid == 0) {
			alarm(2 * PROC_DEADLINE_MS / 1000); /* after its parent was printed, if that waits for it */
			busy.work(device_open(NULL));
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
		proc_send(ctl, "f", 1);
	}
	atomic_store(&busy.stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* A fork that takes longer than the deadline hangs. All of them together took longer on a machine that gave the process a hundredth of
 * a CPU: the stacks of three such runs showed processes that went on. */
static void await_fork(struct proc *proc)
{
	char byte;

	if (!proc_readable_within(proc->ctl, PROC_DEADLINE_MS))
		proc_print_waits(proc->pid);
	proc_recv(proc->ctl, &byte, 1);
}

static void expect_forks_do_well(const char *side, void (*work)(struct doca_dev *dev))
{
	const struct busy busy = { .side = side, .work = work };
	struct proc proc;

	skip_under_sanitizers();
	proc_start(&proc, fork_among_threads, &busy);
	for (int i = 0; i < NUM_FORKS; i++)
		await_fork(&proc);
	proc_end(&proc);
	daemon_stop(&test_session.daemon);
}

static void test_a_fork_among_exports_does_no_harm(void **state)
{
	expect_forks_do_well("host", export_memory);
}

static void test_a_fork_among_lists_of_representors_does_no_harm(void **state)
{
	expect_forks_do_well("dpu", list_representors);
}

static void test_a_fork_among_registrations_does_no_harm(void **state)
{
	expect_forks_do_well("host", register_source);
}

static void test_a_fork_while_lines_are_flushed_does_no_harm(void **state)
{
	expect_forks_do_well("host", log_line);
}

/* A child walks its parent's device list: programs fork a worker for each device so. */
static void open_what_the_parent_listed(struct doca_devinfo **list)
{
	struct doca_dev *dev;
	uint8_t is_equal;

	CHECK(doca_devinfo_is_equal_pci_addr(list[1], "b1:00.0", &is_equal) == DOCA_SUCCESS && !is_equal);
	CHECK(doca_devinfo_is_equal_pci_addr(list[1], "b1:00.1", &is_equal) == DOCA_SUCCESS && is_equal);
	CHECK(doca_dev_open(list[1], &dev) == DOCA_SUCCESS);
	CHECK(doca_dev_as_devinfo(dev) == list[1]);
	CHECK(doca_dev_close(dev) == DOCA_SUCCESS);
	CHECK(doca_devinfo_destroy_list(list) == DOCA_SUCCESS);
	CHECK(doca_devinfo_destroy_list(list) == DOCA_ERROR_INVALID_VALUE);
	use_devices();
}

/* @arg: the child's BFSIM_SIDE, or NULL for its parent's. */
static void list_then_fork(int ctl, const void *arg)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t count;
	int status;
	pid_t pid;

	CHECK(doca_devinfo_create_list(&list, &count) == DOCA_SUCCESS && count == 2);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		alarm(2 * PROC_DEADLINE_MS / 1000); /* after its parent was printed, if that waits for it */
		if (arg) {
			setenv("BFSIM_SIDE", arg, 1);
			CHECK(doca_dev_open(list[1], &dev) == DOCA_ERROR_INVALID_VALUE);
			use_devices();
		} else {
			open_what_the_parent_listed(list);
		}
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(doca_dev_open(list[1], &dev) == DOCA_SUCCESS);
	CHECK(doca_dev_close(dev) == DOCA_SUCCESS);
	CHECK(doca_devinfo_destroy_list(list) == DOCA_SUCCESS);
}

static void run(proc_body *body, const void *arg)
{
	struct proc proc;

	proc_start(&proc, body, arg);
	proc_end(&proc);
}

static void test_a_child_opens_the_devices_that_its_parent_listed(void **state)
{
	run(list_then_fork, NULL);
	daemon_stop(&test_session.daemon);
}

static void test_on_a_private_card_a_child_opens_them_on_its_own(void **state)
{
	unsetenv("BFSIM_SESSION");
	run(list_then_fork, NULL);
	daemon_stop(&test_session.daemon);
}

static void test_a_child_on_another_side_is_refused_its_parents_devices(void **state)
{
	run(list_then_fork, "dpu");
	daemon_stop(&test_session.daemon);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, session_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_child_attaches_by_itself_and_outlives_its_parent),
		TEST(test_a_fork_during_the_first_use_does_no_harm),
		TEST(test_a_child_opens_the_devices_that_its_parent_listed),
		TEST(test_on_a_private_card_a_child_opens_them_on_its_own),
		TEST(test_a_child_on_another_side_is_refused_its_parents_devices),
		TEST(test_a_fork_among_exports_does_no_harm),
		TEST(test_a_fork_among_lists_of_representors_does_no_harm),
		TEST(test_a_fork_among_registrations_does_no_harm),
		TEST(test_a_fork_while_lines_are_flushed_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
