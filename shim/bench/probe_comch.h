/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/bench/probe_comch.h - one end of a connection that is measured. */
#ifndef SHIM_BENCH_PROBE_COMCH_H
#define SHIM_BENCH_PROBE_COMCH_H

#include <doca_comch.h>
#include <doca_pe.h>

#include "probe.h"

struct probe_end {
	const struct probe_comch_cfg *cfg;
	struct doca_dev *dev;
	struct doca_dev_rep *rep; /* the server's */
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	struct doca_comch_server *server; /* one of the two */
	struct doca_comch_client *client;
	struct doca_comch_connection *connection;
	uint32_t consumer; /* id of the other end's; 0 = not known yet */
	bool is_over;      /* the other end has disconnected, or this one is about to */
	/* Of the client: */
	struct doca_task **free_tasks;
	unsigned int num_free;
	uint64_t num_sent, *sent_ns; /* of messages under way, by their number modulo the depth */
	struct probe_times times;
};

/* probe_fast.c: measure sends to the other end's consumer, and be that consumer until the other end disconnects. */
void probe_produce(struct probe_end *end);
void probe_consume(struct probe_end *end);

#endif
