/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix of attacks and data paths: options, rounds, the table. */
#include "hostile.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "proc.h"

static const struct attack *const attacks[] = {
	&attack_kill_dma,        &attack_kill_comch,   &attack_kill_fast,  &attack_kill_session, &attack_descriptor,
	&attack_cards,           &attack_protocol,     &attack_flood,      &attack_connection,   &attack_comch,
	&attack_forge,           &attack_exporter,     &attack_state,      &attack_signals,      &attack_stop,
	&attack_limits,          &attack_fork,
#ifdef HAS_FAILING_MALLOC
	&attack_memory,          &attack_memory_comch,
#endif
	&attack_workq,           &attack_report,       &attack_recording,  &attack_kill_rdma,    &attack_rdma,
	&attack_rdma_descriptor, &attack_rdma_silent,  &attack_rdma_order, &attack_dpa,          &attack_kill_dpa
};

struct options {
	uint64_t seed;
	bool is_short;
	const char *only; /* ATTACK, or ATTACK/PATH */
	unsigned int rounds, patience_s;
	int round; /* -1 = all */
};

static const char usage[] = "usage: hostile [--short] [--seed N] [--only ATTACK[/PATH]] [--rounds N] [--round N]\n"
			    "               [--patience SECONDS]\n";

static struct options read_options(int argc, char **argv)
{
	struct options options = { .seed = (uint64_t)time(NULL), .round = -1, .patience_s = 10 };

	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(argv[i], "--short") == 0) {
			options.is_short = true;
			continue;
		}
		if (value && strcmp(argv[i], "--seed") == 0)
			options.seed = strtoull(value, NULL, 0);
		else if (value && strcmp(argv[i], "--only") == 0)
			options.only = value;
		else if (value && strcmp(argv[i], "--rounds") == 0)
			options.rounds = (unsigned int)atoi(value);
		else if (value && strcmp(argv[i], "--round") == 0)
			options.round = atoi(value);
		else if (value && strcmp(argv[i], "--patience") == 0)
			options.patience_s = (unsigned int)atoi(value);
		else {
			fputs(usage, stderr);
			exit(2);
		}
		i++;
	}
	return options;
}

static bool is_wanted(const struct options *options, const struct attack *attack, const char *path)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/%s", attack->name, path);
	return !options->only || strcmp(options->only, attack->name) == 0 || strcmp(options->only, name) == 0;
}

static void run_round(const struct options *options, const struct attack *attack, const char *path, unsigned int round,
		      struct tally *tally)
{
	struct bout bout = { .attack = attack->name,
			     .path = path,
			     .round = round,
			     .patience_s = options->patience_s,
			     .seed = options->seed,
			     .tally = tally };

	bout_begin(&bout);
	attack->run(&bout);
	bout_end(&bout);
}

static unsigned int num_rounds(const struct options *options, const struct attack *attack)
{
	if (options->rounds)
		return options->rounds;
	return options->is_short ? attack->short_rounds : attack->rounds;
}

/* Kills may all have hit a process that the others need, or came before any had begun: a round without shows whether they work. */
static void find_survivor(const struct options *options, const struct attack *attack, const char *path,
			  unsigned int rounds, struct tally *tally)
{
	tally->is_spared = true;
	run_round(options, attack, path, rounds, tally);
	tally->is_spared = false;
	if (tally->survived > 0)
		return;
	tally->wrong++;
	printf("--- %s/%s: no process ended well, also without a kill. Is %s of the same version as the programs?\n",
	       attack->name, path, getenv("BFSIMD"));
}

/* Returns the number of defects. */
static unsigned int run_cell(const struct options *options, const struct attack *attack, const char *path)
{
	unsigned int rounds = num_rounds(options, attack);
	struct tally *tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int defects;
	int64_t start = proc_now_ms();

	CHECK(tally != MAP_FAILED);
	if (options->round >= 0)
		run_round(options, attack, path, (unsigned int)options->round, tally);
	else
		for (unsigned int round = 0; round < rounds; round++)
			run_round(options, attack, path, round, tally);
	if (tally->wants_survivor && tally->survived == 0 && options->round < 0)
		find_survivor(options, attack, path, rounds, tally);
	printf("%-12s %-7s %8u %8u %8u %6u %7u %5u %5u %6.1f\n", attack->name, path, tally->tried, tally->refused,
	       tally->survived, tally->wrong, tally->crashed, tally->hung, tally->left,
	       (double)(proc_now_ms() - start) / 1000);
	fflush(stdout);
	defects = tally->wrong + tally->crashed + tally->hung + tally->left;
	munmap(tally, sizeof(*tally));
	return defects;
}

/* For the last line: the table of a whole run is longer than what a CI service shows. */
static void add_cell(char *where, size_t size, const char *attack, const char *path)
{
	size_t len = strlen(where);

	snprintf(where + len, size - len, " %s/%s", attack, path);
}

static void prepare(void)
{
	sigset_t child;

	CHECK(getenv("BFSIMD"));
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	setenv("BFSIM_TRACE", "off", 0);
	unsetenv("BFSIM_TOPOLOGY");
	unsetenv("BFSIM_CLOCK");
}

int main(int argc, char **argv)
{
	struct options options = read_options(argc, argv);
	unsigned int defects = 0, num_cells = 0;
	char where[1024] = "";

	prepare();
	printf("seed %llu\n%-12s %-7s %8s %8s %8s %6s %7s %5s %5s %6s\n", (unsigned long long)options.seed, "attack",
	       "path", "tried", "refused", "survived", "wrong", "crashed", "hung", "left", "s");
	fflush(stdout);
	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++)
		for (const char *const *path = attacks[i]->paths; *path; path++)
			if (is_wanted(&options, attacks[i], *path) && num_rounds(&options, attacks[i]) > 0) {
				unsigned int in_cell = run_cell(&options, attacks[i], *path);

				if (in_cell > 0)
					add_cell(where, sizeof(where), attacks[i]->name, *path);
				defects += in_cell;
				num_cells++;
			}
	if (num_cells == 0) {
		fprintf(stderr, "hostile: no attack of %s was run\n", options.only ? options.only : "this program");
		return 2;
	}
	printf("%u defects%s%s\n", defects, defects > 0 ? ", in" : "", where);
	return defects > 0;
}
