/* SPDX-License-Identifier: BSD-3-Clause */
/* One process of the soak: device, engine, counters, deadlines. */
#include "side.h"
#include "tests/common/emulated.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <doca_log.h>

static const struct side *self; /* for messages */

void side_fail(const char *file, int line, const char *what, const char *is)
{
	fprintf(stderr, "soak: %s, round %llu, %s:%d: not so: %s%s%s\n", self && self->which == DPU ? "dpu" : "host",
		self ? (unsigned long long)self->round : 0, file, line, what, is[0] ? ": " : "", is);
	abort();
}

bool side_went_well(struct side *side, doca_error_t result, const char *file, int line, const char *call)
{
	int64_t start_ms = side_now_ms();

	if (result == DOCA_SUCCESS)
		return true;
	while (!side_is_alone(side)) {
		if (side_now_ms() - start_ms > SIDE_DEADLINE_MS)
			side_fail(file, line, call, doca_error_get_name(result));
		side_step(side);
	}
	return false;
}

int64_t side_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct random side_random(const struct side *side, uint64_t purpose)
{
	return random_of(side->shared->seed, purpose, side->round);
}

/* ---- tasks and contexts ---- */

bool side_submit(struct side *side, struct doca_task *task, struct ticket *ticket)
{
	doca_error_t result;

	NEED(!ticket->in_flight);
	ticket->in_flight = true;
	result = doca_task_submit(task);
	if (result == DOCA_SUCCESS)
		return true;
	ticket->in_flight = false;
	side->seen->refused++;
	return false;
}

doca_error_t side_ended(struct side *side, struct doca_task *task, struct ticket *ticket)
{
	doca_error_t status = doca_task_get_status(task);

	NEED(ticket->in_flight);
	ticket->in_flight = false;
	side->seen->tasks++;
	side->seen->failed += status != DOCA_SUCCESS;
	return status;
}

doca_error_t side_done(struct side *side, struct doca_task *task, struct ticket *ticket)
{
	doca_error_t status = side_ended(side, task, ticket);

	doca_task_free(task);
	return status;
}

enum doca_ctx_states side_state(struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	MUST(doca_ctx_get_state(ctx, &state));
	return state;
}

void side_stop(struct side *side, struct doca_ctx *ctx)
{
	size_t in_flight;

	if (side_state(ctx) == DOCA_CTX_STATE_RUNNING || side_state(ctx) == DOCA_CTX_STATE_STARTING) {
		doca_error_t result = doca_ctx_stop(ctx);

		NEED(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	}
	SIDE_UNTIL(side, side_state(ctx) == DOCA_CTX_STATE_IDLE);
	MUST(doca_ctx_get_num_inflight_tasks(ctx, &in_flight));
	NEED(in_flight == 0);
}

/* ---- memory ---- */

void side_memory_open(struct side *side, size_t len, uint32_t access, bool shared, struct side_memory *ret_memory)
{
	struct side_memory memory = { .len = len };
	int fd = shared ? memfd_create("soak", MFD_CLOEXEC) : -1;

	NEED(!shared || (fd >= 0 && ftruncate(fd, (off_t)len) == 0));
	memory.addr = mmap(NULL, len, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	NEED(memory.addr != MAP_FAILED);
	if (shared)
		close(fd);
	MUST(doca_mmap_create(&memory.mmap));
	MUST(doca_mmap_set_memrange(memory.mmap, memory.addr, len));
	MUST(doca_mmap_set_permissions(memory.mmap, access));
	MUST(doca_mmap_add_dev(memory.mmap, side->dev));
	MUST(doca_mmap_start(memory.mmap));
	*ret_memory = memory;
}

void side_memory_close(struct side_memory *memory)
{
	MUST(doca_mmap_destroy(memory->mmap));
	munmap(memory->addr, memory->len);
}

/* ---- the process ---- */

void side_dev_open(struct side *side)
{
	struct doca_devinfo **list;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	NEED(count > 0);
	MUST(doca_dev_open(list[0], &side->dev));
	MUST(doca_devinfo_destroy_list(list));
	if (side->which == DPU) {
		struct doca_devinfo_rep **reps;

		MUST(doca_devinfo_rep_create_list(side->dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &count));
		NEED(count > 0);
		MUST(doca_dev_rep_open(reps[0], &side->rep));
		MUST(doca_devinfo_rep_destroy_list(reps));
	}
	MUST(doca_pe_create(&side->pe));
}

void side_dev_close(struct side *side)
{
	MUST(doca_pe_destroy(side->pe));
	if (side->rep)
		MUST(doca_dev_rep_close(side->rep));
	MUST(doca_dev_close(side->dev));
	side->rep = NULL;
}

static uint64_t rss_kb(void)
{
	unsigned long long kb = 0;
	FILE *file = fopen("/proc/self/status", "re");
	char line[128];

	NEED(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %llu kB", &kb) == 1)
			break;
	fclose(file);
	return kb;
}

static uint64_t num_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	uint64_t count = 0;

	NEED(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void play(struct side *side)
{
	static void (*const rounds[])(struct side * side) = { round_dma,    round_messages, round_fast,
							      round_events, round_maps,     round_function,
							      round_alloc,  round_engines,  round_rdma };
	struct random random = side_random(side, 'p');
	uint64_t which = random_in(&random, 0, sizeof(rounds) / sizeof(rounds[0]) - 1);

	rounds[which](side);
	side_meet(side);
	if (random_in(&random, 0, 15) == 0) { /* now and then everything is closed */
		side_dev_close(side);
		side_dev_open(side);
	}
	side->seen->rss_kb = is_emulated() ? 0 : rss_kb(); /* the emulator's code buffer grows */
	side->seen->num_fds = num_fds();
	side->seen->rounds++;
	side->seen->peer_kills += side->is_alone;
}

/* At the end: helpers may be about to close descriptors of the last round. */
static void settle(struct side *side)
{
	int64_t start_ms = side_now_ms();

	side->is_alone = true; /* the other ends, too, and is not waited for any more */
	while (side_now_ms() - start_ms < SIDE_SETTLE_MS) {
		uint64_t now = num_fds();

		if (now < side->seen->num_fds)
			side->seen->num_fds = now;
		side_step(side);
	}
}

/* The host decides, so that both stop behind the same round. */
static bool go_on(struct side *side)
{
	uint8_t stop = side->shared->stop;

	do {
		if (side->ctl_fd < 0 || side->is_alone)
			side_join(side);
		if (side->which == HOST)
			side_send(side, &stop, 1);
		else
			side_recv(side, &stop, 1);
	} while (side->is_alone);
	return !stop;
}

void side_run(const struct side *start, struct shared *shared)
{
	struct side side = *start;

	side.ctl_fd = -1;
	side.shared = shared;
	side.seen = &shared->seen[side.which];
	self = &side;
	/* Failures are intended, and descriptors are refused on purpose. */
	MUST(doca_log_level_set_global_sdk_limit(getenv("SOAK_LOG") ? DOCA_LOG_LEVEL_INFO : DOCA_LOG_LEVEL_CRIT));
	side_dev_open(&side);
	while (go_on(&side)) {
		side.round++;
		play(&side);
	}
	settle(&side);
	side_dev_close(&side);
}
