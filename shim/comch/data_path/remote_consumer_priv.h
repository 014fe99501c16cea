/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/data_path/remote_consumer_priv.h - a consumer of the other end, as our producers see it.
 *
 *   [known] --expired, or the connection ended--> [expired]      freed with its last reference
 *
 * A record and an announcement of the other end make it known. Producers look it up by
 * its id, each on its own thread, and hold it while a message is under way.
 */
#ifndef SHIM_COMCH_REMOTE_CONSUMER_PRIV_H
#define SHIM_COMCH_REMOTE_CONSUMER_PRIV_H

#include "shim/comch/conn/conn_priv.h"
#include "sim/shm/recvq.h"

struct comch_remote_consumer {
	uint32_t id;
	_Atomic uint32_t refs; /* the connection's, and one for each message under way */
	_Atomic bool expired;
	struct sim_segment memory;
	int wake_fd;
	bool has_memory; /* @key means something */
	struct sim_key key;
	uint32_t function;    /* id of ours, to import by */
	uint64_t stream_id;   /* of messages for it, on the record */
	pthread_mutex_t lock; /* protects: */
	struct sim_recvq queue;
	struct sim_remote *buffers; /* imported when first needed */
	int import_error;           /* it can't be */
	uint32_t num_import_tries;
	struct comch_remote_consumer *next;
};

/* Look it up and hold it; NULL when the connection has no such consumer (any more). */
struct comch_remote_consumer *comch_remote_consumer_get(struct doca_comch_connection *connection, uint32_t id);
void comch_remote_consumer_put(struct comch_remote_consumer *remote);

/* Under its lock: make its buffers reachable. 0, -EAGAIN (its process does not
 * answer; it may be stopped) or another -errno, for good. */
int comch_remote_consumer_import(struct comch_remote_consumer *remote);

#endif
