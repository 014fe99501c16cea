/* SPDX-License-Identifier: BSD-3-Clause */
/* soak: two processes with random operations under random faults, and the invariants that are checked:
 *
 *   no byte is wrong, no message lost or extra, that no injected fault explains
 *   each task completes exactly once, each context and object can be ended
 *   messages come in their order, but for those that a fault reorders
 *   after a reset of its function or a failed allocation a process works as before
 *   so does a process whose peer was killed at any point, with the next peer; the session forgets killed processes
 *   memory size and descriptor count of the processes do not grow after the warm-up
 *
 *   soak [--seconds N] [--seed N] [--calm] [--host-program COMMAND] [--dpu-program COMMAND]
 *
 * COMMAND is the soak of another build, perhaps behind an emulator: the side is that program.
 * The seed determines rounds and faults, and is printed first.
 */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <bfsim.h>

#include "processes.h"
#include "inject.h"

#define TURN_MS        20   /* between changes of the plan */
#define WARM_PART      4    /* of the time, for the warm-up ... */
#define WARM_ROUNDS    100  /* ... and so many rounds: of each kind, of the ways that there are through it */
#define GROWTH_PERCENT 15   /* of memory, above the warm size ... */
#define GROWTH_KB      2048 /* ... and this */

struct soak {
	struct shared *shared;
	struct inject inject;
	struct processes processes;
	uint64_t warm_kb[NUM_SIDES], warm_fds[NUM_SIDES];
	bool failed;
};

static void fail(struct soak *soak, const char *side, const char *what, uint64_t is, uint64_t most)
{
	fprintf(stderr, "soak: %s: %s: %llu, which may be %llu\n", side, what, (unsigned long long)is,
		(unsigned long long)most);
	soak->failed = true;
}

/* ---- invariants ---- */

static uint64_t sum(const struct soak *soak, size_t offset)
{
	uint64_t total = 0;

	for (int which = 0; which < NUM_SIDES; which++)
		total += *(const _Atomic uint64_t *)(const void *)((const char *)&soak->shared->seen[which] + offset);
	return total;
}

#define SUM(soak, field) sum((soak), offsetof(struct seen, field))

static uint64_t fired(const struct soak *soak, int which)
{
	struct bfsim_fault fault;

	return soak->shared->calm || bfsim_fault_get(soak->shared->lasting[which], &fault) < 0 ? 0 : fault.fired;
}

static void at_most(struct soak *soak, const char *what, uint64_t is, uint64_t most)
{
	if (is > most)
		fail(soak, "both", what, is, most);
}

/* A message that one rule changes and another sends twice is wrong twice, and not extra. */
static void check_copies(struct soak *soak, const char *of, uint64_t wrong, uint64_t extra, uint64_t changed,
			 uint64_t duplicated)
{
	char what[64];

	snprintf(what, sizeof(what), "wrong %s", of);
	at_most(soak, what, wrong, changed + (changed < duplicated ? changed : duplicated));
	snprintf(what, sizeof(what), "extra %s", of);
	at_most(soak, what, extra, duplicated);
	snprintf(what, sizeof(what), "wrong and extra %s", of);
	at_most(soak, what, wrong + extra, changed + duplicated);
}

static void check_bytes(struct soak *soak)
{
	at_most(soak, "wrong copies", SUM(soak, wrong_copies),
		fired(soak, LASTING_FLIP_COPY) + fired(soak, LASTING_TEAR_COPY));
	at_most(soak, "wrong outputs", SUM(soak, wrong_outputs), fired(soak, LASTING_FLIP_OUTPUT));
	at_most(soak, "missing messages", SUM(soak, missing_messages),
		fired(soak, LASTING_DROP_MESSAGE) + fired(soak, LASTING_DROP_MESSAGE_OF_DPU));
	at_most(soak, "late messages", SUM(soak, late_messages), fired(soak, LASTING_REORDER_MESSAGE));
	check_copies(soak, "messages", SUM(soak, wrong_messages), SUM(soak, extra_messages),
		     fired(soak, LASTING_FLIP_MESSAGE) + fired(soak, LASTING_TRUNCATE_MESSAGE),
		     fired(soak, LASTING_DUPLICATE_MESSAGE));
	check_copies(soak, "messages of the fast path", SUM(soak, wrong_fast), SUM(soak, extra_fast),
		     fired(soak, LASTING_FLIP_FAST) + fired(soak, LASTING_TRUNCATE_FAST),
		     fired(soak, LASTING_DUPLICATE_FAST));
	at_most(soak, "late messages of the fast path", SUM(soak, late_fast), fired(soak, LASTING_REORDER_FAST));
	at_most(soak, "missing messages of the fast path", SUM(soak, missing_fast), fired(soak, LASTING_DROP_FAST));
	at_most(soak, "wrong bytes of RDMA", SUM(soak, wrong_rdma), fired(soak, LASTING_FLIP_RDMA));
	if (soak->shared->calm)
		at_most(soak, "failed tasks, broken connections",
			SUM(soak, failed) - SUM(soak, flushed) + SUM(soak, broken), 0);
}

static void record_warm_memory(struct soak *soak)
{
	for (int which = 0; which < NUM_SIDES; which++) {
		const struct seen *seen = &soak->shared->seen[which];

		if (seen->rss_kb > soak->warm_kb[which])
			soak->warm_kb[which] = seen->rss_kb;
		if (seen->num_fds > soak->warm_fds[which])
			soak->warm_fds[which] = seen->num_fds;
	}
}

static void check_memory(struct soak *soak)
{
	for (int which = 0; which < NUM_SIDES; which++) {
		const struct seen *seen = &soak->shared->seen[which];
		uint64_t most_kb = soak->warm_kb[which] * (100 + GROWTH_PERCENT) / 100 + GROWTH_KB;

		if (which == soak->shared->victim || seen->rounds < WARM_ROUNDS)
			continue; /* processes that were restarted late, or a slow machine: no warm size */
		if (MEMORY_TELLS && seen->rss_kb > most_kb)
			fail(soak, side_names[which], "kB of memory at the end", seen->rss_kb, most_kb);
		if (seen->num_fds > soak->warm_fds[which])
			fail(soak, side_names[which], "descriptors at the end", seen->num_fds, soak->warm_fds[which]);
		printf("%-4s memory %llu kB warm, %llu kB at the end; descriptors %llu, %llu\n", side_names[which],
		       (unsigned long long)soak->warm_kb[which], (unsigned long long)seen->rss_kb,
		       (unsigned long long)soak->warm_fds[which], (unsigned long long)seen->num_fds);
	}
}

static void report(const struct soak *soak)
{
#define SHOW(what, value) printf("%-40s %llu\n", what, (unsigned long long)(value))
	SHOW("rounds", soak->shared->seen[HOST].rounds);
	SHOW("tasks completed", SUM(soak, tasks));
	SHOW("  of these with an error", SUM(soak, failed) - SUM(soak, flushed));
	SHOW("  of these given up", SUM(soak, hung));
	SHOW("submissions refused", SUM(soak, refused));
	SHOW("bytes compared", SUM(soak, bytes));
	SHOW("wrong copies", SUM(soak, wrong_copies));
	SHOW("wrong outputs of engines", SUM(soak, wrong_outputs));
	SHOW("wrong, missing, extra messages",
	     SUM(soak, wrong_messages) + SUM(soak, missing_messages) + SUM(soak, extra_messages));
	SHOW("  on the fast path", SUM(soak, wrong_fast) + SUM(soak, missing_fast) + SUM(soak, extra_fast));
	SHOW("wrong messages, reads, writes of RDMA", SUM(soak, wrong_rdma));
	SHOW("late messages, of both", SUM(soak, late_messages) + SUM(soak, late_fast));
	SHOW("function resets", SUM(soak, resets));
	SHOW("shortages of memory", SUM(soak, shortages));
	SHOW("connections refused or broken", SUM(soak, broken));
	if (soak->shared->victim != NO_SIDE)
		printf("%-40s %llu, in %llu rounds\n",
		       soak->shared->victim == HOST ? "kills of the host's process" : "kills of the DPU's process",
		       (unsigned long long)soak->processes.num_killed, (unsigned long long)SUM(soak, peer_kills));
	SHOW("passing faults added", soak->inject.num_added);
	SHOW("  removed after they fired", soak->inject.num_fired);
	for (int which = 0; which < NUM_LASTING && !soak->shared->calm; which++) {
		struct bfsim_fault fault;

		if (bfsim_fault_get(soak->shared->lasting[which], &fault) == 0)
			printf("fired %8llu of %9llu   %s\n", (unsigned long long)fault.fired,
			       (unsigned long long)fault.matched, fault.text);
	}
#undef SHOW
}

/* ---- the run ---- */

static void turn(struct soak *soak)
{
	if (processes_turn(&soak->processes) < 0)
		soak->failed = true;
	else if (!soak->shared->calm && inject_turn(&soak->inject) < 0)
		soak->failed = true;
}

static void run(struct soak *soak, int64_t seconds)
{
	int64_t start_ms = side_now_ms(), now_ms = start_ms;

	while (now_ms - start_ms < seconds * 1000 && !soak->failed) {
		usleep(TURN_MS * 1000);
		turn(soak);
		now_ms = side_now_ms();
		if (now_ms - start_ms < seconds * 1000 / WARM_PART || soak->shared->seen[HOST].rounds < WARM_ROUNDS)
			record_warm_memory(soak);
	}
}

static int soak(struct soak *soak, int64_t seconds)
{
	const struct bfsim_session_cfg cfg = { .topology = SOAK_CARD };
	struct bfsim_session *session;

	if (bfsim_session_start(&cfg, &session) < 0 || bfsim_session_enter(session, "host") < 0) {
		fprintf(stderr, "soak: %s\n", bfsim_error());
		return 1;
	}
	if (!soak->shared->calm && inject_open(&soak->inject, soak->shared) < 0)
		soak->failed = true;
	if (!soak->failed) {
		soak->failed = processes_start(&soak->processes, session, soak->shared) < 0;
		run(soak, seconds);
		soak->failed |= processes_end(&soak->processes, soak->failed) < 0;
	}
	check_bytes(soak);
	check_memory(soak);
	report(soak);
	if (bfsim_session_stop(session) < 0) {
		fprintf(stderr, "soak: %s\n", bfsim_error());
		soak->failed = true;
	}
	printf("seed %llu: %s\n", (unsigned long long)soak->shared->seed, soak->failed ? "FAILED" : "well");
	return soak->failed;
}

static unsigned long long number(const char *text)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 0);

	if (end == text || *end) {
		fprintf(stderr, "soak: %s is no number\n", text);
		exit(2);
	}
	return value;
}

struct words {
	int64_t seconds;
	uint64_t seed;
	bool calm;
	char *programs[NUM_SIDES];
	const char *side, *address; /* of a side's program */
	int shared_fd, listen_fd;
};

/* Returns 0, or -1 after getopt()'s message. */
static int read_words(int argc, char **argv, struct words *words)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'n' },
		{ "calm", no_argument, NULL, 'c' },
		{ "host-program", required_argument, NULL, 'h' },
		{ "dpu-program", required_argument, NULL, 'd' },
		{ "side", required_argument, NULL, 'S' },
		{ "address", required_argument, NULL, 'A' },
		{ "shared-fd", required_argument, NULL, 'F' },
		{ "listen-fd", required_argument, NULL, 'L' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			words->seconds = (int64_t)number(optarg);
			break;
		case 'n':
			words->seed = number(optarg);
			break;
		case 'c':
			words->calm = true;
			break;
		case 'h':
		case 'd':
			words->programs[option == 'h' ? HOST : DPU] = optarg;
			break;
		case 'S':
			words->side = optarg;
			break;
		case 'A':
			words->address = optarg;
			break;
		case 'F':
			words->shared_fd = atoi(optarg);
			break;
		case 'L':
			words->listen_fd = atoi(optarg);
			break;
		default:
			return -1;
		}
	}
	return 0;
}

static struct shared *make_shared(const struct words *words, int *ret_fd)
{
	struct shared *shared;

	*ret_fd = memfd_create("soak", MFD_CLOEXEC);
	if (*ret_fd < 0 || ftruncate(*ret_fd, sizeof(*shared)) < 0)
		return NULL;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, *ret_fd, 0);
	if (shared == MAP_FAILED)
		return NULL;
	shared->seed = words->seed;
	shared->calm = words->calm;
	shared->victim = words->calm ? NO_SIDE : processes_victim_of(words->seed);
	return shared;
}

int main(int argc, char **argv)
{
	struct words words = { .seconds = 600, .shared_fd = -1, .listen_fd = -1 };
	struct soak state = { 0 };

	if (getrandom(&words.seed, sizeof(words.seed), 0) != sizeof(words.seed))
		return 1;
	if (read_words(argc, argv, &words) < 0)
		return 2;
	if (words.side)
		return processes_be_side(words.side, words.shared_fd, words.listen_fd, words.address);
	printf("seed %llu, %lld s\n", (unsigned long long)words.seed, (long long)words.seconds);
	fflush(stdout);
	state.shared = make_shared(&words, &state.processes.shared_fd);
	if (!state.shared)
		return 1;
	memcpy(state.processes.programs, words.programs, sizeof(words.programs));
	return soak(&state, words.seconds);
}
