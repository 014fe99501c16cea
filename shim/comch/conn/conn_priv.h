/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/conn/conn_priv.h - Comch's objects, and how a connection carries messages.
 *
 *   server --o             o-- client         endpoints: contexts of the control path
 *            |             |
 *        connection === connection            one at each end; two rings, one for each direction
 *         |      |         |     |
 *   consumer  producer  producer consumer     contexts of the data path, on any thread
 *
 * The session makes a connection (sim/session/channel.h): handshake messages carry
 * the descriptors of its rings and doorbells. After that, messages go through
 * shared memory alone; the session reports the death of the other process.
 *
 *   send      send task --> send queue --> ring of the peer --> doorbell of the peer
 *   receive   doorbell --> connection --> own ring [--> delay queue] --> callback
 *
 * A sent message passes eight files up to its callback: common/pe/task_submit.c, endpoint/send_task.c,
 * conn/send_queue.c, conn/conn_core.c, sim/shm/ring.c and doorbell.c; then common/pe/pe_progress.c and
 * endpoint/endpoint.c report it. A received message passes six: pe_progress.c, endpoint.c, doorbell.c,
 * endpoint/connection.c, endpoint/recv.c and ring.c. Where messages take time, a send also passes
 * conn/timing.c, and a receive conn/delay_queue.c and sim/msg/delay_list.c. sim/trace counts each message.
 *
 * Faults are decorators in files of their own (fault_priv.h): of a send task, of a message that is
 * received, of a client's connect, and of the notice of a peer's death.
 *
 * Threads: an endpoint and its connections belong to the thread that drives
 * their progress engine. Consumers and producers have threads of their own, and
 * take the connection's lock. No thread holds that lock while it calls the session:
 * the session's thread takes the lock too.
 */
#ifndef SHIM_COMCH_CONN_PRIV_H
#define SHIM_COMCH_CONN_PRIV_H

#include <doca_comch.h>
#include <errno.h>
#include <pthread.h>
#include <sys/queue.h>

#include "callbacks.h"
#include "conn_state.h"
#include "sim/msg/delay_list.h"
#include "peer_msgs.h"
#include "shim/common/pe/ctx_life.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/common/pe/pe_vclock.h"
#include "shim/common/pe/task_priv.h"
#include "shim/common/pe/task_submit.h"
#include "sim/session/channel.h"
#include "sim/shm/doorbell.h"
#include "sim/shm/ring.h"
#include "sim/shm/segment.h"

struct comch_announcement;
struct comch_pending_announce;
struct comch_remote_consumer;

/* ---- sends ---- */

struct doca_comch_task_send {
	struct doca_task task; /* first: a send task is a doca_task */
	struct doca_comch_connection *connection;
	uint64_t connection_serial; /* tells the connection from a later one at the same address */
	const void *msg;
	void *copy; /* of @msg, while the task waits for room; NULL = none */
	uint32_t len;
	/* Writes the message: comch_send_write() or a decorator of it. Returns 0 (@result and @due_ns are set), -EAGAIN
	 * (no room), or -EPROTO or -ECONNABORTED (the connection is lost). */
	int (*write)(struct doca_comch_task_send *send);
	doca_error_t result;
	uint64_t due_ns; /* the task completes then: 0 = now, SIM_JOB_NEVER_DUE = with the connection's end */
	STAILQ_ENTRY(doca_comch_task_send) link;
};

STAILQ_HEAD(comch_send_list, doca_comch_task_send);

/* ---- endpoints: servers and clients ---- */

#define COMCH_LISTENER_SLOT (SIM_DOORBELL_SLOTS - 1) /* the slot in a server's doorbells that clients ring to connect */

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
	struct comch_callbacks cc_callbacks;
	bool is_comm_channel; /* a Comm Channel endpoint drives it (endpoint/comm_channel_hooks.h) */
	int status_fd;        /* eventfd that is written when clients come or go; -1 = none */
	/* While not idle: */
	struct shim_task_pool *send_pool;
	struct comch_send_list completed; /* sends to report */
	struct comch_send_list deferred;  /* sends to report when they are due */
	doca_error_t injected_status;     /* Comm Channel: result of a call that a fault fails; SUCCESS = none */
	struct sim_segment doorbell_memory;
	int doorbell_fd;
	struct sim_doorbells doorbells;
	uint8_t *record_buf;                  /* holds one record; NULL while a callback uses it */
	struct doca_comch_connection **slots; /* by slot in the doorbells */
	uint32_t num_slots, num_connections;
	uint32_t num_idle_turns;                /* calls of progress that found no ring */
	const struct pcie_comch_timing *timing; /* time that messages take; NULL = none */
	uint64_t busy_until_ps;                 /* session time at which the sender is free again */
	bool drained;                           /* progressed since it began to stop */
	bool may_have_pending_record;           /* of a connection */
	bool recv_paused;                       /* progress leaves incoming messages where they are ... */
	bool has_pending_recv;                  /* ... and has left one */
};

/* Room for the largest record: a message with its header. A consumer's record is smaller. */
#define COMCH_MAX_RECORD_BYTES(endpoint) (sizeof(struct comch_msg_hdr) + (endpoint)->max_msg_bytes)

/* ---- connections ---- */

struct comch_counters {
	uint64_t sent, sent_bytes, received, received_bytes;
};

enum comch_data_path_kind { COMCH_CONSUMER, COMCH_PRODUCER, COMCH_NUM_DATA_PATH_KINDS };

/* A consumer or a producer, as its connection sees it. */
struct comch_data_path {
	struct doca_ctx ctx;                      /* first */
	struct doca_comch_connection *connection; /* held */
	enum comch_data_path_kind kind;
	uint32_t id;
	LIST_ENTRY(comch_data_path) link; /* in the connection's list, while started */
};

struct doca_comch_connection {
	struct shim_object object;
	_Atomic uint32_t refs;
	uint64_t serial;                 /* unique in the process */
	struct comch_endpoint *endpoint; /* NULL after the endpoint released it; changes under the lock */
	enum comch_state state;          /* changes in the endpoint's thread, under the lock */
	uint32_t slot;                   /* in the endpoint's doorbells */
	struct sim_channel *channel;
	_Atomic bool channel_event; /* the channel's status changed, or it has handshake messages */
	int status;                 /* of the channel, at the last poll */
	bool is_dead;               /* the process at the other end died; perhaps a fault hides that until ... */
	uint64_t notice_ns;         /* ... this session time */
	/* Shared with the other end: */
	int in_fd; /* -1 once it is passed on */
	struct sim_segment in_memory, out_memory, peer_doorbell_memory;
	struct sim_ring in, out;
	struct sim_doorbell_shared *peer_doorbells;
	uint32_t peer_slot;
	uint32_t peer_engine;          /* shim_pe_vclock_engine() of the other end's engine */
	uint64_t seen_head, seen_tail; /* of the rings, at the last progress (comch_connection_has_missed_ring()) */
	bool seen_closed;
	int peer_wake_fd;                                        /* -1 = none: wake the peer through the session */
	struct comch_send_list send_queue;                       /* sends that wait for room in the ring */
	STAILQ_HEAD(, comch_pending_announce) pending_announces; /* announcements whose record was not read yet */
	bool has_pending_record;                                 /* a record was read before its announcement came */
	struct comch_consumer_record pending_record;
	bool has_pending_recv;             /* progress left a message, or the end, where it is */
	struct sim_delay_list delay_queue; /* received messages that are not due */
	_Atomic bool abort_requested;
	_Atomic bool notify_requested; /* comch_connection_request_notify_peer() */
	union doca_data user_data;
	struct comch_counters counters, snapshot;
	uint64_t stream_id; /* in recordings: of the client's messages; the server's stream has the next number */
	struct sim_trace_conn_stats trace_stream;
	/* For consumers and producers. The lock protects: */
	pthread_mutex_t lock;
	LIST_HEAD(, comch_data_path) data_paths;         /* started ones of this end */
	STAILQ_HEAD(, comch_announcement) announcements; /* consumers of this end that come or go */
	LIST_HEAD(, comch_remote_consumer) remotes;      /* consumers of the other end */
	uint32_t num_objects[COMCH_NUM_DATA_PATH_KINDS]; /* of this end */
	uint32_t next_id;
	_Atomic bool has_announcements; /* read without the lock */
	_Atomic int lost_error;         /* -errno: the other end is gone */
};

/* ---- conn_core.c: below all other files of a connection ---- */

void comch_connection_hold(struct doca_comch_connection *connection);
void comch_connection_put(struct doca_comch_connection *connection);

/* Whether consumers or producers of the connection are started. */
bool comch_connection_is_busy(struct doca_comch_connection *connection);

/* Ring the other end's doorbell, and wake the other end if it sleeps. In virtual time, it looks at @due_ns (0 = now). */
void comch_connection_notify_peer(struct doca_comch_connection *connection, uint64_t due_ns);

/* Have the endpoint's thread wake the other end through the session. For threads that can't wake it by themselves. */
void comch_connection_request_notify_peer(struct doca_comch_connection *connection);

/* Have the connection's own endpoint progress it. Any thread; the caller holds the lock. */
void comch_connection_notify_self(struct doca_comch_connection *connection);

/* Session callback: the channel has an event. */
void comch_connection_on_channel_event(void *connection);

/* Poll the channel at the next progress. */
void comch_connection_schedule_poll(struct doca_comch_connection *connection);

/* Write @status_fd: a client came or went. Any thread. */
void comch_endpoint_signal_status(const struct comch_endpoint *endpoint);

/* Enter @state, which must follow the current one. @lost < 0 is kept as lost_error, and wakes consumers and producers. */
void comch_connection_set_state(struct doca_comch_connection *connection, enum comch_state state, int lost);

/* Have the endpoint end the connection with -ECONNABORTED at its next progress. Any thread. */
void comch_connection_abort(struct doca_comch_connection *connection);

/* The status of tasks that the connection's end fails. */
doca_error_t comch_connection_end_status(const struct doca_comch_connection *connection);

/* -errno if the other end is gone: it has closed the connection, or its channel has ended; else 0. What it wrote before is
 * still to be read. */
static inline int comch_connection_get_end(const struct doca_comch_connection *connection)
{
	if (doca_unlikely(connection->status < 0))
		return connection->status;
	return sim_ring_is_closed(&connection->in) ? -ECONNRESET : 0;
}

/* Virtual time: whether the connection waits until the other end says that there is room. Room that is seen earlier is not
 * used: when a participant polls without a message is the machine's choice. */
bool comch_connection_waits_for_room(const struct doca_comch_connection *connection);

/* Write a message, with a header or without one (NULL). Returns 0, -EAGAIN or -EPROTO. */
int comch_connection_write_record(struct doca_comch_connection *connection, const struct comch_msg_hdr *hdr,
				  const void *msg, uint32_t len);

/* ---- timing.c: how long messages take by the card's model ---- */

/* NULL = no time: functional sessions, and cards without figures. */
const struct pcie_comch_timing *comch_timing_of(const struct doca_dev *dev);

/* The header of a message that is sent now; zeroed without timing. In virtual time, the calling thread is busy then. */
struct comch_msg_hdr comch_timing_hdr(const struct comch_endpoint *endpoint);

/* Charge the sender for a message. */
void comch_timing_charge_send(struct comch_endpoint *endpoint);

/* When the sender is free again after its last message; 0 = now. */
uint64_t comch_timing_send_end_ns(const struct comch_endpoint *endpoint);

/* Write a message that is delivered by @hdr, and charge the sender. Returns 0, -EAGAIN or -EPROTO. */
int comch_timing_write(struct doca_comch_connection *connection, const struct comch_msg_hdr *hdr, const void *msg,
		       uint32_t len);

/* Write a message as the model has it. Returns 0, -EAGAIN or -EPROTO. */
static inline int comch_connection_write(struct doca_comch_connection *connection, const void *msg, uint32_t len)
{
	struct comch_msg_hdr hdr;

	if (doca_likely(!connection->endpoint->timing))
		return comch_connection_write_record(connection, NULL, msg, len);
	hdr = comch_timing_hdr(connection->endpoint);
	return comch_timing_write(connection, &hdr, msg, len);
}

/* Whether the ring has room for a message of @len bytes, whatever its header. If not, the peer rings when there is some. */
static inline bool comch_connection_arm_space(struct doca_comch_connection *connection, uint32_t len)
{
	return sim_ring_arm_space(&connection->out, sizeof(struct comch_msg_hdr) + len);
}

/* ---- send_queue.c: send tasks of a connection ---- */

/* The write() of a send task. */
int comch_send_write(struct doca_comch_task_send *send);

/* Count a message as sent. */
void comch_send_count(struct doca_comch_task_send *send);

/* The message of a task: a task that waits has a copy. */
static inline const void *comch_send_msg(const struct doca_comch_task_send *send)
{
	return doca_unlikely(send->copy != NULL) ? send->copy : send->msg;
}

/* Write the task's message, or queue the task behind others or for room. Returns 0, or -errno: the connection is lost
 * (the task is in the queue). */
int comch_send_queue_submit(struct doca_comch_task_send *send);

/* Write the messages that there is room for. Returns 0, or -errno: the connection is lost. */
int comch_send_queue_flush(struct doca_comch_connection *connection);

/* The connection ended: complete its tasks, with @status if their message was not sent. */
void comch_send_queue_fail(struct doca_comch_connection *connection, doca_error_t status);

/* Move deferred tasks that are due to the completed ones. */
void comch_send_complete_due(struct comch_endpoint *endpoint);

/* Report one completed task to the user. Returns whether there was one. */
bool comch_send_complete_next(struct comch_endpoint *endpoint);

/* ---- delay_queue.c: received messages that are not due ---- */

struct comch_delayed_msg {
	struct sim_delay_item item; /* first */
	uint64_t modelled_ns;
	uint64_t seq;      /* in its stream, for the recording; 0 = recorded already */
	uint32_t wire_len; /* for the recording */
	bool is_recorded;
	uint32_t len;
	uint8_t bytes[];
};

static inline bool comch_delay_queue_has_msgs(const struct doca_comch_connection *connection)
{
	return !sim_delay_list_is_empty(&connection->delay_queue);
}

/* Copy a message into the queue: twice, if @hdr says so. The recording names @wire_len bytes. */
void comch_delay_queue_push(struct doca_comch_connection *connection, const struct comch_msg_hdr *hdr,
			    const uint8_t *bytes, uint32_t len, uint32_t wire_len);

/* Whether the next record of the ring is to be read: a message stays there until the model's time of its arrival. If not, the
 * endpoint's alarm is set. */
bool comch_delay_queue_may_read(const struct doca_comch_connection *connection);

/* Whether the first message is due. If not, the endpoint's alarm is set. */
bool comch_delay_queue_is_due(struct doca_comch_connection *connection);

/* Remove the message that is due. The caller frees it. */
struct comch_delayed_msg *comch_delay_queue_pop(struct doca_comch_connection *connection);

void comch_delay_queue_clear(struct doca_comch_connection *connection);

/* The endpoint's alarm expired: have its connections look at their queues, and at a connect that is deferred. */
void comch_delay_queue_on_alarm(struct comch_endpoint *endpoint);

#endif
