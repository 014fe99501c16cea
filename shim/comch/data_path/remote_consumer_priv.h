/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/data_path/remote_consumer_priv.h - a consumer of the other end, as this end's producers see it.
 *
 *   record and announcement --> [known] --expired, or the connection ended--> [expired] --last reference--> freed
 *
 * Producers look the consumer up by its id, each on its own thread, and hold it while
 * a message is under way.
 */
#ifndef SHIM_COMCH_REMOTE_CONSUMER_PRIV_H
#define SHIM_COMCH_REMOTE_CONSUMER_PRIV_H

#include "data_path_priv.h"
#include "sim/shm/recvq.h"

struct comch_remote_consumer {
	uint32_t id;
	_Atomic uint32_t refs; /* the connection's, and one for each message under way */
	_Atomic bool expired;
	struct sim_segment memory;
	int wake_fd;
	bool has_memory; /* @key is set */
	struct sim_key key;
	uint32_t engine;      /* shim_pe_vclock_engine() of its engine */
	uint32_t function;    /* id of this end's function, for the import */
	uint64_t stream_id;   /* in recordings: of messages to it */
	pthread_mutex_t lock; /* protects: */
	struct sim_recvq queue;
	struct sim_remote *buffers; /* imported at the first need */
	int import_error;           /* the import failed for good */
	uint32_t num_import_tries;
	LIST_ENTRY(comch_remote_consumer) link;
};

/* Look a consumer up and hold it; NULL = the connection has no such consumer (any more). */
struct comch_remote_consumer *comch_remote_consumer_get(struct doca_comch_connection *connection, uint32_t id);
void comch_remote_consumer_put(struct comch_remote_consumer *remote);

/* Under its lock: import its memory. Returns 0, -EAGAIN (its process does not
 * answer; it may be stopped) or another -errno, for good. */
int comch_remote_consumer_import(struct comch_remote_consumer *remote);

#endif
