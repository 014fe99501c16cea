/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU cost of idle processes on a card: after some traffic, all of them sleep side by side for IDLE_S seconds.
 * A broken meter shows zero as well, so a process with a little work is measured along with them: if that reads
 * zero, the figure fails. */
#include <dirent.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dma.h"
#include "exporter.h"
#include "fig.h"
#include "memory.h"

#define IDLE_S    3
#define SETTLE_MS 300 /* remains of the traffic end, such as a timer without work */
#define LEN       (1u << 20)
#define BLOCK     4096u
#define SEED      5

#ifdef BENCH_LIBFABRIC
static const char *const paths[] = { NULL, "shm", "tcp" };
#else
static const char *const paths[] = { NULL };
#endif
#define NUM_PATHS (sizeof(paths) / sizeof(paths[0]))

struct importer {
	const struct bench_card *card;
	const struct bench_export *import;
	const char *path;
};

/* CPU time that a process used in all its threads. */
struct usage {
	uint64_t ticks, ns;
	unsigned int threads;
};

static uint64_t read_ticks(const char *task)
{
	unsigned long user = 0, system = 0;
	char path[320], line[512], *fields = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "%s/stat", task);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file))
		fields = strrchr(line, ')'); /* the name before it may hold anything */
	if (fields && sscanf(fields, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
		user = system = 0;
	fclose(file);
	return user + system;
}

/* Finer than ticks. */
static uint64_t read_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
		return 0;
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static struct usage usage_of(pid_t pid)
{
	struct usage usage = { .ns = read_ns(pid) };
	char dir_name[32], task[300];
	struct dirent *entry;
	DIR *dir;

	snprintf(dir_name, sizeof(dir_name), "/proc/%d/task", (int)pid);
	dir = opendir(dir_name);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(task, sizeof(task), "%s/%s", dir_name, entry->d_name);
		usage.ticks += read_ticks(task);
		usage.threads++;
	}
	if (dir)
		closedir(dir);
	return usage;
}

/* ---- the idle processes ---- */

/* An application that waits for completions: asleep on its engine's descriptor. */
static int sleep_on_engine(struct bench_dma *dma, int fd)
{
	struct pollfd fds[] = { { .fd = fd, .events = POLLIN }, { .events = POLLIN } };

	if (doca_pe_get_notification_handle(dma->pe, &fds[1].fd) != DOCA_SUCCESS ||
	    doca_pe_request_notification(dma->pe) != DOCA_SUCCESS || bench_send(fd, "", 1) < 0)
		return -1;
	while (poll(fds, 2, -1) > 0 && !fds[0].revents)
		;
	return 0;
}

static int run_importer(void *arg, int fd)
{
	const struct importer *importer = arg;
	struct bench_dma_cfg cfg = { .pci = BENCH_DPU_PCI,
				     .import = importer->import,
				     .block_bytes = BLOCK,
				     .num_blocks = LEN / BLOCK,
				     .depth = 8 };
	struct bench_dma dma;
	int rc;

	bench_card_enter(importer->card, "dpu", importer->path);
	cfg.target = bench_memory_new(LEN);
	if (!cfg.target)
		return -1;
	rc = bench_dma_open(&cfg, &dma);
	if (rc == 0)
		rc = bench_dma_copy(&dma, 0, cfg.num_blocks);
	if (rc == 0)
		rc = bench_memory_check(cfg.target, LEN, SEED);
	if (rc == 0)
		rc = sleep_on_engine(&dma, fd);
	bench_dma_close(&dma);
	return rc;
}

static int run_sleeper(void *arg, int fd)
{
	bench_wait_for_end(fd);
	return 0;
}

/* The control: the cost of a thread that ticks without work. */
static int run_ticker(void *arg, int fd)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };

	while (poll(&end, 1, 1) == 0)
		;
	return 0;
}

struct idlers {
	const struct bench_report *report;
	struct bench_card card;
	struct bench_process sleeper, ticker;
	struct bench_exporter exporters[NUM_PATHS];
	struct importer importers[NUM_PATHS];
	struct bench_process importing[NUM_PATHS];
};

static int start_pair(struct idlers *idlers, size_t i)
{
	char ready;

	idlers->exporters[i] = (struct bench_exporter){ .card = &idlers->card, .len = LEN, .seed = SEED, .memfd = -1 };
	if (bench_exporter_start(&idlers->exporters[i]) < 0)
		return -1;
	idlers->importers[i] = (struct importer){ &idlers->card, &idlers->exporters[i].export, paths[i] };
	if (bench_process_fork(run_importer, &idlers->importers[i], &idlers->importing[i]) < 0)
		return -1;
	if (bench_receive(idlers->importing[i].fd, &ready, 1) < 0)
		return bench_fail("reading over path %s failed", paths[i] ? paths[i] : "(best)");
	return 0;
}

static int start_all(struct idlers *idlers)
{
	if (bench_card_up(&idlers->card) < 0 || bench_process_fork(run_sleeper, NULL, &idlers->sleeper) < 0 ||
	    bench_process_fork(run_ticker, NULL, &idlers->ticker) < 0)
		return -1;
	for (size_t i = 0; i < NUM_PATHS; i++)
		if (start_pair(idlers, i) < 0)
			return -1;
	return 0;
}

static int end_all(struct idlers *idlers)
{
	int rc = bench_process_end(&idlers->sleeper);

	rc |= bench_process_end(&idlers->ticker);
	for (size_t i = 0; i < NUM_PATHS; i++) {
		rc |= bench_process_end(&idlers->importing[i]);
		rc |= bench_exporter_end(&idlers->exporters[i]);
	}
	return rc | bench_card_down(&idlers->card);
}

/* ---- the measurement ---- */

#define MAX_WATCHED (3 + 2 * NUM_PATHS)

#define CONTROL 1 /* its index among the measured processes; the sleeper is the first */

struct watched {
	char name[40];
	pid_t pid;
	struct usage before, after;
};

static void watch(struct watched *watched, const char *what, const char *path, pid_t pid)
{
	snprintf(watched->name, sizeof(watched->name), "idle %s%s%s", what, path ? ", " : "", path ? path : "");
	watched->pid = pid;
}

static unsigned int list(struct idlers *idlers, struct watched *watched)
{
	unsigned int count = 0;

	watch(&watched[count++], "sleeper", NULL, idlers->sleeper.pid);
	watch(&watched[count++], "control, wakes each ms", NULL, idlers->ticker.pid);
	watch(&watched[count++], "daemon", NULL, idlers->card.daemon.pid);
	for (size_t i = 0; i < NUM_PATHS; i++) {
		const char *path = paths[i] ? paths[i] : "best path";

		watch(&watched[count++], "exporter", path, idlers->exporters[i].process.pid);
		watch(&watched[count++], "importer", path, idlers->importing[i].pid);
	}
	return count;
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

static int report_idler(const struct idlers *idlers, const struct watched *watched, const struct watched *sleeper)
{
	struct bench_row row = { .baseline_name = "a process that sleeps",
				 .unit = "ticks",
				 .ratio = NAN,
				 .goal = BENCH_OURS_AT_MOST,
				 .limit = 0 };

	if (watched == sleeper + CONTROL)
		row.goal = BENCH_NO_GOAL;
	memcpy(row.name, watched->name, sizeof(row.name));
	row.ours = (double)(watched->after.ticks - watched->before.ticks);
	row.baseline = (double)(sleeper->after.ticks - sleeper->before.ticks);
	snprintf(row.note, sizeof(row.note), "in %d s; %u threads, %.1f us on a CPU", IDLE_S, watched->after.threads,
		 (double)(watched->after.ns - watched->before.ns) / 1000);
	return bench_report_row(idlers->report, &row);
}

/* Whether the numbers are valid: all processes survived, and the control's work shows. */
static int check_meter(const struct watched *watched, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (watched[i].before.threads == 0 || watched[i].after.threads == 0)
			return bench_fail("%s: process %d ended, or /proc does not show it", watched[i].name,
					  (int)watched[i].pid);
	if (watched[CONTROL].after.ns <= watched[CONTROL].before.ns)
		return bench_fail(
			"the CPU clock of a process that works stands still: idleness can't be measured here");
	return 0;
}

static int measure(struct idlers *idlers)
{
	struct watched watched[MAX_WATCHED];
	unsigned int count = list(idlers, watched);
	int rc;

	sleep_ms(SETTLE_MS);
	for (unsigned int i = 0; i < count; i++)
		watched[i].before = usage_of(watched[i].pid);
	sleep_ms(IDLE_S * 1000);
	for (unsigned int i = 0; i < count; i++)
		watched[i].after = usage_of(watched[i].pid);
	rc = check_meter(watched, count);
	for (unsigned int i = 1; i < count && rc == 0; i++)
		rc = report_idler(idlers, &watched[i], &watched[0]);
	return rc;
}

int bench_fig_idle(const struct bench_report *report)
{
	struct idlers idlers = { .report = report };
	int rc = start_all(&idlers);

	if (rc == 0)
		rc = measure(&idlers);
	return end_all(&idlers) < 0 ? -1 : rc;
}
