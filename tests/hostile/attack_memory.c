/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations that fail: over each data path in both processes (tests/multi/test_path_oom.c), and in a server or client
 * of Comch while its peer is honest. */
#include "hostile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_malloc.h"

#define MAX_ONE_IN 400
#define PER_ROUND  20 /* failures in each process: 1,000 over the rounds of ci/hostile */

static int run_server(struct bout *bout)
{
	return strcmp(bout->path, "comch") == 0 ? role_server(bout, -1) : role_fast_server(bout, -1);
}

static int run_client(struct bout *bout)
{
	return strcmp(bout->path, "comch") == 0 ? role_client(bout, -1) : role_fast_client(bout, -1);
}

static void begin_failing(struct bout *bout)
{
	failing_malloc_count_in(&bout->tally->tried);
	failing_malloc_set(1 + (unsigned int)bout_random(bout, MAX_ONE_IN), bout_random(bout, 1 << 20));
}

static int run_poor_server(struct bout *bout, int sock)
{
	begin_failing(bout);
	return run_server(bout);
}

static int run_poor_client(struct bout *bout, int sock)
{
	begin_failing(bout);
	return run_client(bout);
}

static int run_rich_server(struct bout *bout, int sock)
{
	return run_server(bout);
}

static int run_rich_client(struct bout *bout, int sock)
{
	return run_client(bout);
}

static void fail_in_comch(struct bout *bout)
{
	bool is_server = bout_random(bout, 2);

	bout_connect_within(bout, 300);
	setenv("BFSIM_PATH", "", 1);
	bout_session(bout);
	bout_start(bout, "server", "dpu", is_server ? run_poor_server : run_rich_server, -1);
	bout_start(bout, "client", "host", is_server ? run_rich_client : run_poor_client, -1);
}

/* The program starts a session of its own. */
static void fail_in_program(struct bout *bout)
{
	char failures[16];

	snprintf(failures, sizeof(failures), "%d", PER_ROUND);
	setenv("FAILURES", failures, 1);
	if (program_run(bout, &(struct program){ bout->dir, "tests/multi/test_path_oom", { "" } }) == 0)
		bout->tally->tried += 2 * PER_ROUND;
	else
		bout_defect(bout, &bout->tally->wrong, "failed", "test_path_oom");
}

const struct attack attack_memory = { "memory", attack_all_paths, 50, 1, fail_in_program };

static const char *const comch_paths[] = { "comch", "fast", NULL };

const struct attack attack_memory_comch = { "memory", comch_paths, 200, 1, fail_in_comch };
