/* SPDX-License-Identifier: BSD-3-Clause */
/* Kills at random moments: of an exporter, an importer, a Comch server, a client, or the daemon. */
#include "hostile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KILL_WITHIN_MS 120

static void kill_one(struct bout *bout, struct party *first, struct party *second)
{
	struct party *const choice[] = { first, second, first, second, bout->daemon };

	bout->tally->wants_survivor = true;
	bout_kill_within(bout, choice[bout_random(bout, 5)], KILL_WITHIN_MS);
}

static void kill_dma(struct bout *bout)
{
	struct party *exporter, *importer;
	int socks[2];

	bout_session(bout);
	bout_pair(socks);
	exporter = bout_start(bout, "exporter", "host", role_exporter, socks[0]);
	importer = bout_start(bout, "importer", "dpu", role_importer, socks[1]);
	close(socks[0]);
	close(socks[1]);
	kill_one(bout, exporter, importer);
}

const struct attack attack_kill_dma = { "kill-dma", attack_all_paths, 250, 2, kill_dma };

static void kill_comch(struct bout *bout)
{
	struct party *server, *client;

	bout_connect_within(bout, 1000);
	bout_session(bout);
	server = bout_start(bout, "server", "dpu", role_server, -1);
	client = bout_start(bout, "client", "host", role_client, -1);
	kill_one(bout, server, client);
}

const struct attack attack_kill_comch = { "kill-comch", attack_no_path, 250, 2, kill_comch };

static void kill_fast(struct bout *bout)
{
	struct party *server, *client;

	bout_connect_within(bout, 1000);
	bout_session(bout);
	server = bout_start(bout, "server", "dpu", role_fast_server, -1);
	client = bout_start(bout, "client", "host", role_fast_client, -1);
	kill_one(bout, server, client);
}

const struct attack attack_kill_fast = { "kill-fast", attack_all_paths, 100, 1, kill_fast };

/* ---- other sessions: each clock, two cards ---- */

static const char *const session_kinds[] = { "timed", "virtual", "cards", NULL };

static void kill_in_session(struct bout *bout)
{
	struct party *exporter, *importer;
	bool has_cards = strcmp(bout->path, "cards") == 0;
	int socks[2];

	setenv("BFSIM_PATH", attack_all_paths[bout->round % 5], 1);
	if (has_cards)
		bout->topology = getenv("TWO_CARDS");
	else
		bout->clock = bout->path;
	bout_session(bout);
	bout_pair(socks);
	exporter = bout_start(bout, "exporter", "host", role_exporter, socks[0]);
	importer = bout_start(bout, "importer", has_cards ? "left/dpu" : "dpu", role_importer, socks[1]);
	close(socks[0]);
	close(socks[1]);
	kill_one(bout, exporter, importer);
}

const struct attack attack_kill_session = { "kill-session", session_kinds, 100, 2, kill_in_session };
