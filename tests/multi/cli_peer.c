/* SPDX-License-Identifier: BSD-3-Clause */
/* A process for test_cli.sh: attaches to the session in its
 * environment, exports or imports some memory, or listens or asks for a
 * connection, prints "ready", and runs until its standard input ends.
 *
 *   cli_peer export KEYFILE     cli_peer import KEYFILE
 *   cli_peer listen NAME        cli_peer connect NAME
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/session/channel.h"

#define MEMORY_BYTES 12345
#define TIMEOUT_MS   60000

static uint8_t memory[MEMORY_BYTES];

/* The first function of this side. */
static const struct pcie_function *own_function(const struct sim_session *session)
{
	const struct pcie_topology *topology = sim_session_topology(session);

	for (size_t i = 0; i < topology->num_functions; i++) {
		if (strcmp(topology->functions[i].side, sim_session_side(session)) == 0)
			return &topology->functions[i];
	}
	return NULL;
}

static int export_to(struct sim_session *session, const char *key_file)
{
	struct sim_region region = { .addr = (uintptr_t)memory,
				     .cpu_addr = (uintptr_t)memory,
				     .len_bytes = MEMORY_BYTES,
				     .access = SIM_ACCESS_READ | SIM_ACCESS_WRITE,
				     .function = own_function(session)->id };
	struct sim_key key;
	FILE *out;
	int rc = sim_session_export(session, &region, -1, &key);

	out = rc == 0 ? fopen(key_file, "w") : NULL;
	if (!out || fwrite(&key, sizeof(key), 1, out) != 1 || fclose(out) != 0)
		return 1;
	return 0;
}

static int import_from(struct sim_session *session, const char *key_file, struct sim_remote **ret_remote)
{
	struct sim_key key;
	FILE *in = fopen(key_file, "r");

	if (!in || fread(&key, sizeof(key), 1, in) != 1 || fclose(in) != 0)
		return 1;
	return sim_session_import(session, &key, own_function(session)->id, ret_remote, NULL);
}

static void no_notify(void *arg)
{
}

static int listen_as(struct sim_session *session, const char *name, struct sim_listener **ret_listener)
{
	const struct pcie_function *function = own_function(session);
	const struct sim_service service = { .function = function->id, .rep = function->reps[0], .name = name };

	return sim_session_listen(session, &service, no_notify, NULL, ret_listener);
}

static int connect_to(struct sim_session *session, const char *name, struct sim_channel **ret_channel)
{
	const struct sim_handshake_msg hello = { 0 };

	return sim_session_connect(session, own_function(session)->id, name, TIMEOUT_MS, &hello, no_notify, NULL,
				   ret_channel);
}

int main(int argc, char **argv)
{
	struct sim_session_cfg cfg = { .dir = getenv("BFSIM_SESSION"), .side = getenv("BFSIM_SIDE") };
	struct sim_session *session;
	struct sim_remote *remote = NULL;
	struct sim_listener *listener = NULL;
	struct sim_channel *channel = NULL;
	int rc;

	if (argc != 3 || !cfg.dir || !cfg.side || sim_session_attach(&cfg, &session) < 0)
		return EXIT_FAILURE;
	if (strcmp(argv[1], "export") == 0)
		rc = export_to(session, argv[2]);
	else if (strcmp(argv[1], "import") == 0)
		rc = import_from(session, argv[2], &remote);
	else if (strcmp(argv[1], "listen") == 0)
		rc = listen_as(session, argv[2], &listener);
	else
		rc = connect_to(session, argv[2], &channel);
	if (rc == 0) {
		puts("ready");
		fflush(stdout);
		while (getchar() != EOF)
			;
	}
	sim_channel_close(session, channel, -ECONNRESET);
	sim_session_unlisten(session, listener);
	sim_session_release(session, remote);
	sim_session_detach(session);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
