/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/repeat_peer.h - what the kinds of repeat_peer.c share. */
#ifndef TESTS_MULTI_REPEAT_PEER_H
#define TESTS_MULTI_REPEAT_PEER_H

#include <stdint.h>
#include <stdio.h>

#include "comch_endpoint.h"

/* The process. */
struct repeat_peer {
	bool is_server;
	unsigned int num_clients;
	const char *name; /* of the service */
	FILE *events;
	struct doca_dev *dev;
	struct loop loop;
	struct endpoint endpoint; /* of the kinds that use Comch */
};

extern struct repeat_peer self;

/* Print an event with its time. */
void note(const char *event, uint64_t number);

/* Start the server or the client, which is connected then; and end it: a server when its clients are gone. */
void run_endpoint(const struct endpoint_cfg *cfg);
void end_endpoint(void);

/* repeat_fast.c, repeat_sync.c */
void repeat_run_fast(void);
void repeat_run_sync(void);

#endif
