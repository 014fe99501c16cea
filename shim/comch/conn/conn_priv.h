/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/conn/conn_priv.h - Comch's objects, and how a connection carries messages.
 *
 *   server --o             o-- client         endpoints: contexts of the control path
 *            |             |
 *        connection === connection            one at each end; a message pipe between the two
 *         |      |         |     |
 *   consumer  producer  producer consumer     contexts of the data path, on any thread
 *
 * The session makes a connection (sim/session/channel.h): handshake messages carry
 * the addresses of its two ends. After that, messages go through a pipe
 * (sim/msg/pipe.h); the session reports the death of the other process.
 *
 *   send      send task --> pipe --> ring of the peer --> doorbell of the peer
 *   receive   doorbell --> connection --> pipe --> callback
 *
 * A sent message passes six files up to its callback: common/pe/task_submit.c, endpoint/send_task.c, sim/msg/pipe_send.c and
 * pipe_write.c, sim/shm/ring.c and doorbell.c; then common/pe/pe_progress.c and endpoint/endpoint.c report it. A received message
 * passes six: pe_progress.c, endpoint.c, doorbell.c, endpoint/connection.c, sim/msg/pipe_receive.c and ring.c. Time, faults,
 * counters and recording are the pipe's.
 *
 * Threads: an endpoint and its connections belong to the thread that drives
 * their progress engine. Consumers and producers have threads of their own, and
 * take the pipe's lock. No thread holds that lock while it calls the session:
 * the session's thread takes the lock too.
 */
#ifndef SHIM_COMCH_CONN_PRIV_H
#define SHIM_COMCH_CONN_PRIV_H

#include <doca_comch.h>
#include <errno.h>
#include <stddef.h>

#include "compat.h"
#include "shim/common/pe/ctx_life.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/common/pe/pe_vclock.h"
#include "shim/common/pe/task_priv.h"
#include "shim/common/pe/task_submit.h"
#include "sim/msg/pipe.h"
#include "sim/session/channel.h"

struct doca_comch_msgq;

struct doca_comch_task_send {
	struct doca_task task; /* first: a send task is a doca_task */
	struct doca_comch_connection *connection;
	uint64_t connection_serial; /* tells the connection from a later one at the same address */
	struct sim_pipe_send send;
};

/* ---- endpoints: servers and clients ---- */

struct comch_endpoint;

/* Where servers and clients differ. */
struct comch_endpoint_ops {
	const char *role_name;
	/* Poll the session: for a client that wants in (server, @connection NULL), or for the answer to a connect.
	 * Returns whether the user saw an event. */
	bool (*progress_connect)(struct comch_endpoint *endpoint, struct doca_comch_connection *connection);
	/* The other end of a connection is gone, and all earlier messages were delivered. */
	void (*on_disconnect)(struct comch_endpoint *endpoint, struct doca_comch_connection *connection);
};

struct comch_endpoint {
	struct doca_ctx ctx; /* first */
	const struct comch_endpoint_ops *ops;
	char name[SIM_SERVICE_NAME_SIZE];
	uint32_t max_msg_bytes, recv_queue_size, num_send_tasks;
	doca_comch_task_send_completion_cb_t send_done, send_failed;
	doca_comch_event_msg_recv_cb_t received;
	doca_comch_event_consumer_cb_t new_consumer, expired_consumer;
	struct comch_compat *compat; /* NULL = its user is a program of this generation; else the endpoint's */
	/* While not idle: */
	struct shim_task_pool *send_pool;
	struct sim_poll_group group; /* of its connections' pipes */
	uint32_t num_idle_turns;     /* calls of progress that found no ring */
	bool drained;                /* progressed since it began to stop */
};

static inline bool comch_is_comm_channel(const struct comch_endpoint *endpoint)
{
	return endpoint->compat && endpoint->compat->is_comm_channel;
}

/* Whether progress leaves what it could receive. */
static inline bool comch_is_recv_paused(const struct comch_endpoint *endpoint)
{
	return doca_unlikely(endpoint->compat != NULL) && endpoint->compat->recv_paused;
}

static inline struct comch_endpoint *comch_endpoint_of_group(struct sim_poll_group *group)
{
	return (struct comch_endpoint *)(void *)((uint8_t *)group - offsetof(struct comch_endpoint, group));
}

/* ---- connections ---- */

enum comch_data_path_kind { COMCH_CONSUMER, COMCH_PRODUCER, COMCH_NUM_DATA_PATH_KINDS };

/* A consumer or a producer, as its connection sees it. */
struct comch_data_path {
	struct doca_ctx ctx;                      /* first */
	struct doca_comch_connection *connection; /* held */
	enum comch_data_path_kind kind;
	uint32_t id;
	_Atomic bool announced;           /* the other end knows the consumer */
	LIST_ENTRY(comch_data_path) link; /* in the connection's list, while started */
};

struct doca_comch_connection {
	struct shim_object object;
	_Atomic uint32_t refs;
	uint64_t serial;                 /* unique in the process */
	struct comch_endpoint *endpoint; /* NULL after the endpoint released it; changes under the lock */
	struct doca_comch_msgq
		*msgq; /* which has it instead of an endpoint: producers and consumers of this process; NULL = none */
	void (*receives_changed)(
		struct doca_comch_connection *connection); /* by a consumer of a MsgQ; NULL = nothing */
	struct sim_pipe pipe;
	struct sim_channel *channel;
	_Atomic bool channel_event; /* the channel's status changed, or it has handshake messages */
	bool has_pending_recv;      /* Comm Channel: progress left a message, or the end, where it is */
	union doca_data user_data;
	struct sim_pipe_counters snapshot;
	uint64_t stream_id; /* in recordings: of the client's messages; the server's stream has the next number */
	/* For consumers and producers. The pipe's lock protects: */
	LIST_HEAD(, comch_data_path) data_paths;         /* started ones of this end */
	uint32_t num_objects[COMCH_NUM_DATA_PATH_KINDS]; /* of this end */
	uint32_t next_id;
};

static inline struct doca_comch_connection *comch_connection_of_pipe(struct sim_pipe *pipe)
{
	return (struct doca_comch_connection *)(void *)((uint8_t *)pipe - offsetof(struct doca_comch_connection, pipe));
}

/* The connection whose pipe has @slot in the endpoint's doorbells; NULL = none. */
static inline struct doca_comch_connection *comch_connection_at(const struct comch_endpoint *endpoint, uint32_t slot)
{
	struct sim_pipe *pipe = slot < endpoint->group.num_slots ? endpoint->group.pipes[slot] : NULL;

	return pipe ? comch_connection_of_pipe(pipe) : NULL;
}

/* ---- conn_core.c: below all other files of a connection ---- */

/* What the pipes of Comch ask of their endpoint. */
extern const struct sim_poll_group_ops comch_group_ops;

void comch_connection_hold(struct doca_comch_connection *connection);
void comch_connection_put(struct doca_comch_connection *connection);

/* Whether consumers or producers of the connection are started. */
bool comch_connection_is_busy(struct doca_comch_connection *connection);

/* Session callback: the channel has an event. */
void comch_connection_on_channel_event(void *connection);

/* Poll the connection at the next progress; and its channel, too. */
static inline void comch_connection_requeue(struct doca_comch_connection *connection)
{
	sim_doorbell_requeue(&connection->endpoint->group.doorbells, connection->pipe.slot);
}

void comch_connection_schedule_poll(struct doca_comch_connection *connection);

/* Tell Comm Channel that a client came or went. Any thread. */
void comch_endpoint_signal_status(const struct comch_endpoint *endpoint);

/* Wake the started consumers and producers: the pipe has a lost_error. */
void comch_connection_notify_data_paths(struct doca_comch_connection *connection);

/* The status of tasks that the connection's end fails: after @lost, the pipe's lost_error. */
doca_error_t comch_end_status(int lost);

#endif
