/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/reports/common/talk.h - a Comch server or client, with counters of its callbacks. */
#ifndef TESTS_REPORTS_TALK_H
#define TESTS_REPORTS_TALK_H

#include <doca_comch.h>

#include "report.h"

#define TALK_NUM_TASKS 32

struct talk {
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	struct doca_comch_server *server; /* or: */
	struct doca_comch_client *client;
	/* The last one of a server; a client's, once talk_connect() has returned. */
	struct doca_comch_connection *connection;
	unsigned int connected, disconnected, sent, failed, received;
	/* What a case does in a callback; NULL = nothing more. */
	void (*on_connected)(struct talk *server, struct doca_comch_connection *connection);
	void (*on_sent)(struct talk *talk);
	void (*on_failed)(struct talk *talk);
	void (*on_state)(struct talk *talk, enum doca_ctx_states next);
};

/* Created, configured, connected to an engine, idle. The caller sets what the case does, then starts the context. */
void talk_open_server(struct talk *talk, const char *pci_addr, const char *rep_addr, const char *name);
/* The same, with the representor that @open_rep chooses. */
void talk_open_server_on(struct talk *talk, const char *pci_addr,
			 struct doca_dev_rep *(*open_rep)(struct doca_dev *dev), const char *name);
void talk_open_client(struct talk *talk, const char *pci_addr, const char *name);
void talk_close(struct talk *talk); /* the context is stopped if it is not idle */

void talk_start_server(struct talk *talk);

/* Start the client and wait until it is connected. */
void talk_connect(struct talk *talk);

/* Submit a message of one byte. Returns whether it was taken. */
bool talk_send(struct talk *talk);

/* main() of a case: "s" is the server's process, anything else the client's. */
int talk_main(int argc, char **argv, void (*serve)(void), void (*call)(void));

#endif
