/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about what waits for the program, and about threads. Reports of the watchdog come at any time: such a
 * case goes on until it sees the report. */
#include <bfsim.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

/* ---- reports on standard error, which the case sees and passes on ---- */

struct reports {
	int read_fd, stderr_fd;
};

static struct reports watch_reports(void)
{
	struct reports reports;
	int fds[2];

	CHECK(setenv("BFSIM_CHECK_STALL_TIMEOUT", "20", 1) == 0);
	CHECK(pipe2(fds, O_CLOEXEC) == 0);
	CHECK(fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0);
	reports = (struct reports){ .read_fd = fds[0], .stderr_fd = dup(STDERR_FILENO) };
	CHECK(reports.stderr_fd >= 0 && dup2(fds[1], STDERR_FILENO) == STDERR_FILENO);
	close(fds[1]);
	return reports;
}

/* Pass on what was written. Returns whether there was a report. */
static bool see_report(const struct reports *reports)
{
	char text[65537];
	ssize_t len = read(reports->read_fd, text, sizeof(text) - 1);

	if (len <= 0)
		return false;
	text[len] = '\0';
	CHECK(write(reports->stderr_fd, text, (size_t)len) == len);
	return strstr(text, "bfsim check:") != NULL;
}

static void stop_watching(const struct reports *reports)
{
	CHECK(dup2(reports->stderr_fd, STDERR_FILENO) == STDERR_FILENO);
	see_report(reports);
}

/* ---- progress ---- */

static void engine_not_progressed(void)
{
	struct reports reports = watch_reports();
	struct rig_deadline deadline = rig_deadline();
	struct rig *rig = rig_start(rig_open(NULL));

	rig_submit_small(rig, 1);
	while (!see_report(&reports) && !rig_is_over(deadline)) {
		CHECK(rig_in_flight(rig) == 1);
		poll(NULL, 0, 1);
	}
	stop_watching(&reports);
	rig_drain(rig);
	rig_close(rig);
}

/* A fault holds the task for ever. The program gives up, and goes on with calls that progress nothing. */
static void give_up_hung_task(void)
{
	struct rig *rig;
	struct rig_deadline end;

	CHECK(setenv("BFSIM_CHECK_STALL_TIMEOUT", "20", 1) == 0);
	rig = rig_start(rig_open(NULL));
	CHECK(bfsim_fault_add("dma.memcpy nth=1 hang", NULL) == 0);
	rig_submit_small(rig, 1);
	CHECK(!doca_pe_progress(rig->pe));
	end = rig_deadline_in(200);
	while (!rig_is_over(end)) {
		CHECK(rig_in_flight(rig) == 1);
		poll(NULL, 0, 1);
	}
	rig_close(rig);
}

static void copy_in_child(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct rig *rig = rig_start(rig_open(NULL));

		rig_submit_small(rig, 1);
		rig_drain(rig);
		rig_close(rig);
		exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* The program sleeps on the engine's handle, longer than the watchdog waits: the task takes as long. */
static void sleep_on_handle(void)
{
	struct rig *rig;
	doca_notification_handle_t handle;
	struct pollfd pollfd = { .events = POLLIN };
	uint32_t id;

	CHECK(setenv("BFSIM_CHECK_STALL_TIMEOUT", "100", 1) == 0); /* five times as long without a call */
	rig = rig_start(rig_open(NULL));
	copy_in_child();
	CHECK(bfsim_fault_add("dma.memcpy nth=1 delay=1500ms", &id) == 0);
	MUST(doca_pe_get_notification_handle(rig->pe, &handle));
	pollfd.fd = handle;
	rig_submit_small(rig, 1);
	while (rig_in_flight(rig) > 0) {
		MUST(doca_pe_request_notification(rig->pe));
		CHECK(poll(&pollfd, 1, RIG_DEADLINE_S * 1000) == 1);
		MUST(doca_pe_clear_notification(rig->pe, handle));
		while (doca_pe_progress(rig->pe))
			;
	}
	rig_close(rig);
}

/* ---- the notification handle ---- */

enum sleep { BY_POLL, BY_EPOLL };

/* The program sleeps on the handle without a request, until the report. The kernel must tell what threads wait for. */
static void sleep_unarmed(enum sleep how)
{
	struct reports reports = watch_reports();
	struct rig_deadline deadline = rig_deadline();
	struct rig *rig = rig_start(rig_open(NULL));
	doca_notification_handle_t handle;
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd pollfd = { .events = POLLIN };
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);

	if (access("/proc/self/syscall", R_OK) != 0)
		exit(CASE_SKIPPED);
	MUST(doca_pe_get_notification_handle(rig->pe, &handle));
	pollfd.fd = handle;
	CHECK(epoll_fd >= 0 && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, handle, &event) == 0);
	rig_submit_small(rig, 1);
	while (!see_report(&reports) && !rig_is_over(deadline))
		CHECK((how == BY_POLL ? poll(&pollfd, 1, 1000) : epoll_wait(epoll_fd, &event, 1, 1000)) == 0);
	close(epoll_fd);
	stop_watching(&reports);
	rig_drain(rig);
	rig_close(rig);
}

static void poll_unarmed(void)
{
	sleep_unarmed(BY_POLL);
}

static void epoll_unarmed(void)
{
	sleep_unarmed(BY_EPOLL);
}

/* The program has the handle and sleeps on something else: that it does not progress is reported, in the end. */
static void sleep_elsewhere(void)
{
	struct reports reports = watch_reports();
	struct rig_deadline deadline = rig_deadline();
	struct rig *rig = rig_start(rig_open(NULL));
	doca_notification_handle_t handle;

	MUST(doca_pe_get_notification_handle(rig->pe, &handle));
	rig_submit_small(rig, 1);
	while (!see_report(&reports) && !rig_is_over(deadline))
		poll(NULL, 0, 10);
	stop_watching(&reports);
	rig_drain(rig);
	rig_close(rig);
}

enum wake { UNCLEARED, CLEARED, IN_MODE_ALL };

/* Copies one after the other, each submitted before the engine is armed. */
static void copy_by_events(enum wake wake)
{
	struct rig *rig = rig_start(rig_open(NULL));
	doca_notification_handle_t handle;
	struct pollfd pollfd = { .events = POLLIN };

	if (wake == IN_MODE_ALL)
		MUST(doca_pe_set_event_mode(rig->pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	MUST(doca_pe_get_notification_handle(rig->pe, &handle));
	pollfd.fd = handle;
	for (uint64_t i = 0; i < 40; i++) {
		rig_submit_small(rig, i);
		while (rig_in_flight(rig) > 0) {
			MUST(doca_pe_request_notification(rig->pe));
			CHECK(poll(&pollfd, 1, RIG_DEADLINE_S * 1000) == 1);
			if (wake == CLEARED)
				MUST(doca_pe_clear_notification(rig->pe, handle));
			doca_pe_progress(rig->pe);
		}
	}
	rig_close(rig);
}

static void copy_uncleared(void)
{
	copy_by_events(UNCLEARED);
}

static void copy_cleared(void)
{
	copy_by_events(CLEARED);
}

static void copy_in_mode_all(void)
{
	copy_by_events(IN_MODE_ALL);
}

/* A copy that is submitted to an armed engine: polls for it are in vain. */
static void progress_uncleared(void)
{
	struct reports reports = watch_reports();
	struct rig_deadline deadline = rig_deadline();
	struct rig *rig = rig_start(rig_open(NULL));
	doca_notification_handle_t handle;

	MUST(doca_pe_get_notification_handle(rig->pe, &handle));
	MUST(doca_pe_request_notification(rig->pe));
	rig_submit_small(rig, 1);
	while (!see_report(&reports) && !rig_is_over(deadline))
		for (int i = 0; i < 100; i++)
			CHECK(doca_pe_progress(rig->pe) == 0);
	stop_watching(&reports);
	MUST(doca_pe_clear_notification(rig->pe, handle));
	rig_drain(rig);
	rig_close(rig);
}

/* The program looks once more before it sleeps, and clears behind that. */
static void progress_and_clear(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	doca_notification_handle_t handle;
	struct pollfd pollfd = { .events = POLLIN };

	MUST(doca_pe_get_notification_handle(rig->pe, &handle));
	pollfd.fd = handle;
	for (uint64_t i = 0; i < 40; i++) {
		MUST(doca_pe_request_notification(rig->pe));
		rig_submit_small(rig, i);
		CHECK(doca_pe_progress(rig->pe) == 0);
		CHECK(poll(&pollfd, 1, RIG_DEADLINE_S * 1000) == 1);
		MUST(doca_pe_clear_notification(rig->pe, handle));
		rig_drain(rig);
	}
	rig_close(rig);
}

/* One request, and polls that return at once. */
static void poll_uncleared(void)
{
	struct reports reports = watch_reports();
	struct rig_deadline deadline = rig_deadline();
	struct rig *rig = rig_start(rig_open(NULL));
	doca_notification_handle_t handle;
	struct pollfd pollfd = { .events = POLLIN };

	MUST(doca_pe_get_notification_handle(rig->pe, &handle));
	pollfd.fd = handle;
	rig_submit_small(rig, 1);
	MUST(doca_pe_request_notification(rig->pe));
	while (!see_report(&reports) && !rig_is_over(deadline))
		for (int i = 0; i < 100; i++) {
			CHECK(poll(&pollfd, 1, RIG_DEADLINE_S * 1000) == 1);
			doca_pe_progress(rig->pe);
		}
	stop_watching(&reports);
	rig_close(rig);
}

/* ---- retries ---- */

static const struct rig_cfg two_tasks = { .num_tasks = 2 };

static struct rig *fill(void)
{
	struct rig *rig = rig_start(rig_open(&two_tasks));

	rig_submit_small(rig, 1);
	rig_submit_small(rig, 2);
	return rig;
}

static doca_error_t try_alloc(struct rig *rig, struct doca_dma_task_memcpy **ret_task)
{
	return doca_dma_task_memcpy_alloc_init(rig->dma, rig->bufs[0], rig->bufs[1], (union doca_data){ .u64 = 3 },
					       ret_task);
}

static void retry_without_progress(void)
{
	struct reports reports = watch_reports();
	struct rig_deadline deadline = rig_deadline();
	struct rig *rig = fill();
	struct doca_dma_task_memcpy *task;

	while (!see_report(&reports) && !rig_is_over(deadline))
		for (int i = 0; i < 100; i++)
			CHECK(try_alloc(rig, &task) == DOCA_ERROR_NO_MEMORY);
	stop_watching(&reports);
	rig_drain(rig);
	rig_close(rig);
}

static void retry_with_progress(void)
{
	struct rig *rig;
	struct doca_dma_task_memcpy *task;
	uint32_t id;

	/* The retries last longer than the patience. A busy machine may keep a thread waiting for as long: that is another
	 * rule's matter. */
	CHECK(setenv("BFSIM_CHECK_STALL_TIMEOUT", "20", 1) == 0);
	rig = rig_open(NULL);
	CHECK(bfsim_check_mute_begin("engine-not-progressed") == 0);
	CHECK(bfsim_fault_add("dma.memcpy nth=1 delay=200ms", &id) == 0);
	rig_close(rig);
	rig = fill();
	while (try_alloc(rig, &task) == DOCA_ERROR_NO_MEMORY)
		doca_pe_progress(rig->pe);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	rig_drain(rig);
	rig_close(rig);
}

/* ---- stop ---- */

static void tasks_not_freed(void)
{
	struct reports reports = watch_reports();
	struct rig_deadline deadline = rig_deadline();
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *first = rig_small_task(rig, 1), *second = rig_small_task(rig, 2);

	CHECK(doca_ctx_stop(rig->ctx) == DOCA_ERROR_IN_PROGRESS);
	while (!see_report(&reports) && !rig_is_over(deadline))
		doca_pe_progress(rig->pe);
	stop_watching(&reports);
	doca_task_free(first);
	doca_task_free(second);
	rig_close(rig);
}

static void free_while_stopping(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *task = rig_small_task(rig, 1);

	CHECK(doca_ctx_stop(rig->ctx) == DOCA_ERROR_IN_PROGRESS);
	doca_pe_progress(rig->pe);
	doca_task_free(task);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_close(rig);
}

static void exit_with_tasks(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	rig_small_task(rig, 1);
	CHECK(doca_ctx_stop(rig->ctx) == DOCA_ERROR_IN_PROGRESS);
}

/* The context is idle; the program leaves the rest to its exit. */
static void exit_without_tasks(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *task = rig_small_task(rig, 1);

	CHECK(doca_ctx_stop(rig->ctx) == DOCA_ERROR_IN_PROGRESS);
	doca_task_free(task);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
}

/* Only progress makes the context idle. */
static void stop_not_progressed(void)
{
	struct reports reports = watch_reports();
	struct rig_deadline deadline = rig_deadline();
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *task = rig_small_task(rig, 1);

	CHECK(doca_ctx_stop(rig->ctx) == DOCA_ERROR_IN_PROGRESS);
	doca_task_free(task);
	while (!see_report(&reports) && !rig_is_over(deadline)) {
		CHECK(rig_state(rig) == DOCA_CTX_STATE_STOPPING);
		poll(NULL, 0, 1);
	}
	stop_watching(&reports);
	rig_close(rig);
}

/* ---- threads ---- */

struct sharing {
	struct rig *rig;
	pthread_mutex_t *lock; /* NULL = none */
	_Atomic bool ends;
};

/* On a busy machine this polls for so long that it is a waste: another rule's matter. */
static void *poll_engine(void *arg)
{
	struct sharing *sharing = arg;

	CHECK(bfsim_check_mute_begin("BFC-PERF-004") == 0);
	while (!sharing->ends) {
		if (sharing->lock)
			pthread_mutex_lock(sharing->lock);
		doca_pe_progress(sharing->rig->pe);
		if (sharing->lock)
			pthread_mutex_unlock(sharing->lock);
	}
	CHECK(bfsim_check_mute_end("BFC-PERF-004") == 0);
	return NULL;
}

static void threads_share_engine(void)
{
	struct reports reports = watch_reports();
	struct rig_deadline deadline = rig_deadline();
	struct sharing sharing = { .rig = rig_start(rig_open(NULL)) };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, poll_engine, &sharing) == 0);
	while (!see_report(&reports) && !rig_is_over(deadline))
		poll(NULL, 0, 1);
	sharing.ends = true;
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	stop_watching(&reports);
	rig_close(sharing.rig);
}

static void threads_lock_engine(void)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct sharing sharing = { .rig = rig_start(rig_open(NULL)), .lock = &lock };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, poll_engine, &sharing) == 0);
	poll(NULL, 0, 100);
	sharing.ends = true;
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	rig_close(sharing.rig);
}

const struct check_case progress_cases[] = {
	{ "engine-not-progressed", engine_not_progressed, sleep_on_handle },
	{ "engine-not-progressed@hang", engine_not_progressed, give_up_hung_task },
	{ "engine-not-progressed@handle", sleep_elsewhere, sleep_on_handle },
	{ "notification-not-armed", poll_unarmed, sleep_on_handle },
	{ "notification-not-armed@epoll", epoll_unarmed, sleep_on_handle },
	{ "notification-not-cleared", copy_uncleared, copy_in_mode_all },
	{ "notification-not-cleared@poll", poll_uncleared, copy_cleared },
	{ "notification-not-cleared@progress", progress_uncleared, progress_and_clear },
	{ "retry-without-progress", retry_without_progress, retry_with_progress },
	{ "engine-not-progressed@stop", stop_not_progressed, free_while_stopping },
	{ "tasks-not-freed", tasks_not_freed, free_while_stopping },
	{ "tasks-not-freed@exit", exit_with_tasks, exit_without_tasks },
	{ "threads-share-engine", threads_share_engine, threads_lock_engine },
	{ 0 },
};
