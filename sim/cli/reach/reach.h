/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/reach/reach.h - the other machines of a session, and commands that act there (sim/control/reach.h).
 *
 *   cli_reach_begin() --> sim_reach_send() of input --> cli_reach_output(), a stream of what the helper writes --> cli_reach_end()
 *
 * A function that fails prints a message, which names the machine.
 */
#ifndef SIM_CLI_REACH_REACH_H
#define SIM_CLI_REACH_REACH_H

#include <stdbool.h>
#include <stdio.h>

#include "pcie_model/topology/topology.h"
#include "sim/control/reach.h"

/* What the links to a machine have carried since the start of this one's gateway. */
struct cli_link_counts {
	uint64_t messages_sent, bytes_sent, messages_received, bytes_received;
	uint64_t broken; /* links */
};

struct cli_machine {
	char name[PCIE_SIDE_SIZE];
	bool is_self, is_joined;
	bool is_unknown; /* this machine's gateway does not run */
	bool has_links;  /* of its own, or has had: home may pass on what is for it */
	struct cli_link_counts links;
	uint64_t clock_error_ns; /* of the difference of both clocks, as the gateways know it; 0 = they do not */
};

struct cli_machines {
	struct cli_machine *list; /* in the order of the topology; none if the session is on one machine */
	size_t count;
	const char *self; /* the name of this one; "" = the session is on one machine */
};

/* The machines of the live session in @dir. Returns 0, or -1 with a message. */
int cli_machines_read(const char *dir, struct cli_machines *ret_machines);
void cli_machines_free(struct cli_machines *machines);

/* The machine of that name, or of that side; NULL = there is none. */
const struct cli_machine *cli_machines_find(const struct cli_machines *machines, const char *name);
const struct cli_machine *cli_machines_of_side(const struct cli_machines *machines, const char *side);

struct cli_reach {
	const char *machine; /* borrowed */
	int sock;
	int32_t status;      /* the helper's, once it has ended */
	bool has_ended;      /* it has said so, or its connection has ended */
	bool was_lost;       /* the connection has ended first; a message was printed */
	int timeout_ms;      /* of each wait */
	int64_t deadline_ms; /* of all of them, by sim_monotonic_ms(); INT64_MAX = none */
	char *unread;        /* of the packet that cli_reach_output() reads from */
	size_t at, len;
};

/* Start a helper on @machine, with its words up to NULL. Returns 0, or -1. */
int cli_reach_begin(const char *dir, const char *machine, enum sim_reach_service service, const char *const *words,
		    struct cli_reach *ret_reach);

/* Print why the connection failed with @rc. Returns -1. */
int cli_reach_fail(const struct cli_reach *reach, int rc);

/* Wait for the next packet. Returns 0 or -errno, also for a connection that has ended. */
int cli_reach_recv(struct cli_reach *reach, struct sim_reach_packet *ret_packet);

/* Nothing more is awaited of the helper, though it has not ended: cli_reach_end() returns at once. */
void cli_reach_lose(struct cli_reach *reach);

/* The helper's output, up to its end, as a stream that is to be closed before cli_reach_end(). What it writes to standard error
 * appears on that of this process. NULL without memory, with a message. */
FILE *cli_reach_output(struct cli_reach *reach);

/* Read the rest, and close. Returns the helper's exit status, or -1: it was lost. */
int cli_reach_end(struct cli_reach *reach);

/* All of it: start a helper, give it @len bytes of input, and copy its output to @out (NULL = nowhere). Returns its status or -1.
 * From the helper's start on it takes SIM_REACH_TIMEOUT_MS at most. */
int cli_reach_call(const char *dir, const char *machine, const char *const *words, const void *input, size_t len,
		   FILE *out);

#endif
