/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/data_path/remote_consumer_priv.h - a consumer of the other end, as our producers see it.
 *
 *   [known] --expired, or the connection ended--> [gone]      freed with its last reference
 *
 * A record and a letter of the other end make it known. Producers look it up by
 * its id, each on its own thread, and hold it while a message is under way.
 */
#ifndef SHIM_COMCH_REMOTE_PRIV_H
#define SHIM_COMCH_REMOTE_PRIV_H

#include "shim/comch/comch_priv.h"
#include "sim/shm/recvq.h"

struct comch_remote {
	uint32_t id;
	_Atomic uint32_t refs;       /* the connection's, and one for each message under way */
	_Atomic bool gone;
	struct sim_segment memory;
	int wake_fd;
	bool has_memory;             /* @key means something */
	struct sim_key key;
	uint32_t function;           /* id of ours, to import by */
	uint64_t stream;             /* of messages for it, on the record */
	pthread_mutex_t lock;        /* protects: */
	struct sim_recvq queue;
	struct sim_remote *buffers;  /* imported when first needed */
	int import_error;            /* it can't be */
	uint32_t num_tries;
	struct comch_remote *next;
};

/* Look it up and hold it; NULL when the connection has no such consumer (any more). */
struct comch_remote *comch_remote_get(struct doca_comch_connection *connection, uint32_t id);
void comch_remote_put(struct comch_remote *remote);

/* Under its lock: make its buffers reachable. 0, -EAGAIN (its process does not
 * answer; it may be stopped) or another -errno, for good. */
int comch_remote_reach(struct comch_remote *remote);

#endif
