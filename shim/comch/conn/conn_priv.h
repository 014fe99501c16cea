/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/conn/conn_priv.h - Comch inside: endpoints, their connections, and what lives on these.
 *
 *   server --o             o-- client         endpoints: contexts of the control path
 *            |             |
 *        connection === connection            one at each end; two rings, one each way
 *         |      |         |     |
 *   consumer  producer  producer consumer     contexts of the data path, on any thread
 *
 * A connection is made through the session (sim/session/channel.h): handshake messages carry
 * the descriptors of its rings and doorbells. From then on messages go through
 * shared memory alone, and the session tells of the other end's death.
 *
 * Threads: an endpoint and its connections belong to the thread that drives
 * its progress engine. Consumers and producers have their own, and meet the
 * connection under its lock. The lock is never held over a call into the session,
 * whose helper thread takes it too.
 */
#ifndef SHIM_COMCH_PRIV_H
#define SHIM_COMCH_PRIV_H

#include <doca_comch.h>
#include <pthread.h>

#include "shim/comch/endpoint/comm_channel_hooks.h"
#include "shim/common/process/fault.h"
#include "shim/common/pe/task_priv.h"
#include "sim/session/channel.h"
#include "sim/shm/doorbell.h"
#include "sim/shm/ring.h"
#include "sim/shm/segment.h"

struct comch_announcement;
struct comch_pending_announce;
struct comch_remote_consumer;
struct comch_data_path;

/* ---- control messages on their way out ---- */

struct doca_comch_task_send {
	struct doca_task task; /* first: a send task is a doca_task */
	struct doca_comch_connection *connection;
	uint64_t connection_serial; /* a later connection may have its memory */
	const void *msg;
	uint32_t len;
	doca_error_t result;
	uint64_t due_ns; /* its end is held back until then: SIM_JOB_NEVER_DUE = until its connection ends */
	struct doca_comch_task_send *next;
};

/* First in, first out; zeroed is empty. */
struct comch_send_list {
	struct doca_comch_task_send *first, *last;
};

/* ---- servers and clients ---- */

#define COMCH_LISTENER_SLOT (SIM_DOORBELL_SLOTS - 1) /* of a server's doorbells: clients want in */

struct comch_endpoint;

/* Where servers and clients differ. */
struct comch_endpoint_ops {
	const char *role_name;
	/* The session has news: a server's offers, a connection that is being made. Whether the user saw something. */
	bool (*progress_connect)(struct comch_endpoint *endpoint, struct doca_comch_connection *connection);
	/* The other end of a connection is gone, and all before that was delivered. */
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
	struct comch_callbacks cc_callbacks; /* doca_cc's (comm_channel_hooks.h) */
	bool is_comm_channel;                /* Comm Channel's (comm_channel_hooks.h) */
	int status_fd;                       /* to be written to when clients come or go; -1 = none */
	/* While not idle: */
	struct shim_task_pool *send_pool;
	struct comch_send_list completed; /* to be reported */
	struct comch_send_list deferred;  /* have ended, and are to be reported when they are due */
	doca_error_t recv_fault;          /* Comm Channel: the receive under way fails so, by a fault */
	struct sim_segment doorbell_memory;
	int doorbell_fd;
	struct sim_doorbells doorbells;
	uint8_t *record_buf;                  /* the one being delivered; NULL while a callback has it */
	struct doca_comch_connection **slots; /* by their slot in the doorbells */
	uint32_t num_slots, num_connections;
	const struct pcie_comch_timing *timing; /* what messages take; NULL = no time */
	uint64_t busy_until_ps;                 /* its sender's time, of session time */
	bool drained;                           /* progressed since it stops */
	bool recv_paused, has_pending_recv;     /* leaves what comes in where it is; has done so */
};

/* endpoint.c: what servers and clients do alike. */
doca_error_t comch_endpoint_init(struct comch_endpoint *endpoint, const struct shim_ctx_ops *ctx_ops,
				 const struct comch_endpoint_ops *ops, struct doca_dev *dev, const char *name);
doca_error_t comch_endpoint_start(struct comch_endpoint *endpoint);
void comch_endpoint_stopped(struct comch_endpoint *endpoint);
doca_error_t comch_endpoint_may_stop(const struct doca_ctx *ctx);
bool comch_endpoint_progress(struct doca_ctx *ctx);
bool comch_endpoint_arm(struct doca_ctx *ctx);
void comch_endpoint_signal_status(const struct comch_endpoint *endpoint); /* clients come or go; any thread */
size_t comch_endpoint_record_bytes(const struct comch_endpoint *endpoint);
doca_error_t comch_check_name(const char *func, const struct pcie_caps *caps, const char *name);

/* Setters and getters that both have; @func is the public function's name. */
doca_error_t comch_set_max_msg_size(const char *func, struct comch_endpoint *endpoint, uint32_t size);
doca_error_t comch_set_recv_queue_size(const char *func, struct comch_endpoint *endpoint, uint32_t size);
doca_error_t comch_set_consumer_events(const char *func, struct comch_endpoint *endpoint,
				       doca_comch_event_consumer_cb_t new_cb,
				       doca_comch_event_consumer_cb_t expired_cb);
doca_error_t comch_set_recv_cb(const char *func, struct comch_endpoint *endpoint, doca_comch_event_msg_recv_cb_t cb);

/* send_task.c: the task. */
extern const struct shim_task_type comch_send_type;
doca_error_t comch_send_set_conf(const char *func, struct comch_endpoint *endpoint,
				 doca_comch_task_send_completion_cb_t done, doca_comch_task_send_completion_cb_t failed,
				 uint32_t count);
doca_error_t comch_send_alloc(const char *func, struct comch_endpoint *endpoint, struct doca_comch_connection *peer,
			      const void *msg, uint32_t len, struct doca_comch_task_send **ret_task);
void comch_send_flush_queue(struct doca_comch_connection *connection); /* what there is room for now */
void comch_send_fail_queue(struct doca_comch_connection *connection, doca_error_t status);
void comch_send_complete_due(struct comch_endpoint *endpoint);  /* those that are due by now */
bool comch_send_complete_next(struct comch_endpoint *endpoint); /* one ended task */

/* ---- connections ---- */

enum comch_state {
	COMCH_OPENING,
	COMCH_OPEN,
	COMCH_LOST,   /* the other end is gone; the user is told next */
	COMCH_CLOSED, /* consumers and producers may still hold it */
};

/* What a ring's record is. */
enum comch_record {
	COMCH_MESSAGE = 1,
	COMCH_CONSUMER_NEW, /* a struct comch_consumer_record; its announcement came, or comes, through the session */
	COMCH_CONSUMER_EXPIRED, /* the same */
	COMCH_RECORDED_MESSAGE, /* whose receipt shall be on the record (sim/trace/trace.h), as its sending is */
	COMCH_MESSAGE_WITH_HDR, /* a struct comch_msg_hdr, and a message */
};

/* What the model, or a fault, has the receiver of a message do. */
struct comch_msg_hdr {
	uint64_t due_ns;      /* deliver it then, and what came behind it later; 0 = now */
	uint64_t modelled_ns; /* not before, even if the other end is gone; 0 = now */
	uint32_t reorder_by;  /* deliver so many later ones first, if they come soon */
	uint16_t duplicate;   /* deliver it again at once */
	uint16_t is_recorded; /* as COMCH_RECORDED_MESSAGE */
};

/* A message that is held back here (delay_queue.c). */
struct comch_delayed_msg {
	struct comch_delayed_msg *next;
	uint64_t due_ns;      /* not delivered before ... */
	uint64_t modelled_ns; /* ... or, when the other end is gone, before this */
	uint64_t seq;         /* in its stream, for the record; 0 = it is there already */
	uint32_t wire_len;    /* likewise */
	bool is_recorded;
	uint64_t reorder_deadline_ns; /* not overtaken any more after */
	uint32_t reorder_by;          /* later ones that are to overtake it */
	uint32_t len;
	uint8_t bytes[];
};

struct comch_delay_queue {
	struct comch_delayed_msg *ready;     /* in order; the first may be late */
	struct comch_delayed_msg *reordered; /* to be overtaken */
};

struct comch_consumer_record {
	uint32_t id;
};

struct comch_counters {
	uint64_t sent, sent_bytes, received, received_bytes;
};

struct doca_comch_connection {
	struct shim_object object;
	_Atomic uint32_t refs;
	uint64_t serial;                 /* no two have the same */
	struct comch_endpoint *endpoint; /* NULL once it let go; the lock protects that change */
	enum comch_state state; /* changed by its thread, under the lock, for those of consumers and producers */
	uint32_t slot;          /* in our doorbells */
	struct sim_channel *channel;
	_Atomic bool channel_event; /* the session has news of it */
	int status;                 /* of the channel, when last asked */
	/* Shared with the other end: */
	int in_fd; /* until it is passed on */
	struct sim_segment in_memory, out_memory, peer_doorbell_memory;
	struct sim_ring in, out;
	struct sim_doorbell_shared *peer_doorbells;
	uint32_t peer_slot;
	int peer_wake_fd;                                 /* -1 = none: wake it by way of the session */
	struct comch_send_list send_queue;                /* for room */
	struct comch_pending_announce *pending_announces; /* of consumers whose record is still in the ring */
	bool has_pending_record; /* taken out of the ring, but its announcement is not here yet */
	struct comch_consumer_record pending_record;
	bool has_pending_recv;                /* something of it is left where it is */
	struct comch_delay_queue delay_queue; /* messages that are held back */
	_Atomic bool is_broken;               /* a fault broke it */
	union doca_data user_data;
	struct comch_counters counters, snapshot;
	uint64_t stream_id; /* of what the client sends, on the record; the server's is the one behind it */
	struct sim_trace_conn_stats trace_stream;
	/* Consumers and producers; the lock protects: */
	pthread_mutex_t lock;
	struct comch_data_path *data_paths;       /* started ones, of ours */
	struct comch_announcement *announcements; /* oldest first */
	struct comch_remote_consumer *remotes;    /* consumers of the other end */
	uint32_t num_consumers, num_producers;    /* objects, of ours */
	uint32_t next_id;
	_Atomic int lost_error; /* -errno: the other end is gone */
};

/* connection.c. A new connection has a slot in the endpoint's doorbells, and its ring for what comes in. */
int comch_connection_new(struct comch_endpoint *endpoint, struct doca_comch_connection **ret_connection);
void comch_connection_make_handshake(struct doca_comch_connection *connection, struct sim_handshake_msg *ret_msg);
int comch_connection_handshake(struct doca_comch_connection *connection,
			       struct sim_handshake_msg *msg);                 /* takes the message's descriptors */
void comch_connection_on_channel_event(void *connection);                      /* for the session */
void comch_connection_schedule_poll(struct doca_comch_connection *connection); /* at its channel, at the next step */
void comch_connection_recv_announces(struct doca_comch_connection *connection);
bool comch_connection_progress(struct doca_comch_connection *connection);
int comch_connection_write(struct doca_comch_connection *connection, const void *msg,
			   uint32_t len); /* a message: 0, -EAGAIN or -EPROTO */
int comch_connection_write_plain(struct doca_comch_connection *connection, const void *msg,
				 uint32_t len); /* the same, that comes at once */
void comch_connection_finish_write(struct doca_comch_connection *connection, uint32_t len,
				   uint64_t at_ns); /* it was written; see sim_trace_conn_stats_sample_ns() */
void comch_connection_notify_peer(struct doca_comch_connection *connection); /* the other end has news to look at */
void comch_connection_notify_self(
	struct doca_comch_connection *connection); /* our own endpoint has; under the lock, any thread */
void comch_connection_set_state(struct doca_comch_connection *connection, enum comch_state state,
				int lost); /* lost: -errno, or 0 */
void comch_connection_set_lost(struct doca_comch_connection *connection, int status);
void comch_connection_close(struct doca_comch_connection *connection, int reason);
void comch_connection_release(struct doca_comch_connection *connection); /* the endpoint's hold on a closed one */
void comch_connection_hold(struct doca_comch_connection *connection);
void comch_connection_put(struct doca_comch_connection *connection);
bool comch_connection_is_busy(struct doca_comch_connection *connection); /* consumers or producers are started */

/* timing.c: how long messages take by the card's model. None in functional sessions. */
const struct pcie_comch_timing *comch_timing_of(const struct doca_dev *dev);
uint64_t comch_timing_arrival_ns(const struct comch_endpoint *endpoint); /* one that is sent now; 0 = now */
void comch_timing_charge_send(struct comch_endpoint *endpoint);          /* it was */
uint64_t comch_timing_send_end_ns(
	const struct comch_endpoint *endpoint); /* when the last one has cost its sender what it costs */

/* fault.c: faults at messages on their way out, and at connections. */
extern const struct shim_task_fault_ops comch_send_fault_ops;
int comch_connection_write_with_hdr(struct doca_comch_connection *connection, const struct sim_fault_hit *hit,
				    const void *msg, uint32_t len); /* 0, -EAGAIN or -EPROTO */
/* Ask, and send or not, where a message can't wait: as comch_connection_send(). */
int comch_fault_send(struct doca_comch_connection *connection, const void *msg, uint32_t len);
bool comch_fault_query(const struct comch_endpoint *endpoint, enum sim_op op, uint64_t size,
		       struct sim_fault_hit *ret_hit);
void comch_fault_break_connection(
	struct doca_comch_connection *connection); /* any thread; the endpoint's next step says so */

/* delay_queue.c: messages that come in and are not due, and faults at them. A connection that is lost holds nothing back. */
static inline bool comch_delay_queue_has_msgs(const struct doca_comch_connection *connection)
{
	return connection->delay_queue.ready || connection->delay_queue.reordered;
}
bool comch_delay_queue_is_due(
	struct doca_comch_connection *connection); /* whether there is one to deliver; else it sets the alarm */
struct comch_delayed_msg *comch_delay_queue_pop(struct doca_comch_connection *connection); /* that one; the caller's */
/* A record that was read, of a message: 0 (it is here, or lost), 1 (the user's receive failed) or -errno (the connection ends). */
int comch_delay_queue_push_record(struct doca_comch_connection *connection, uint32_t kind, uint8_t *record, size_t len);
void comch_delay_queue_clear(struct doca_comch_connection *connection);
void comch_delay_queue_on_alarm(struct comch_endpoint *endpoint); /* the alarm rang */

/* handshake.c: handshake messages. */
void comch_close_handshake_fds(struct sim_handshake_msg *msg);

/* ---- the data path, as connections see it ---- */

/* What consumers and producers have in common. */
struct comch_data_path {
	struct doca_ctx ctx;                      /* first */
	struct doca_comch_connection *connection; /* held */
	uint32_t *count;                          /* of the connection's objects of this kind */
	uint32_t id;
	struct comch_data_path *next; /* in the connection's list */
};

/* data_path.c. A connection has a number of consumers, and of producers, that its device permits; the @count of each is in it. */
doca_error_t comch_data_path_init(const char *func, struct comch_data_path *data_path, const struct shim_ctx_ops *ops,
				  struct doca_comch_connection *connection, uint32_t *count);
void comch_data_path_fini(struct comch_data_path *data_path);
int comch_data_path_attach(struct comch_data_path *data_path); /* started: -ENOTCONN without an open connection */
void comch_data_path_detach(struct comch_data_path *data_path);
doca_error_t comch_connection_end_status(
	const struct doca_comch_connection *connection); /* what became of it, for tasks */

/* consumer_announce.c: consumers come and go; the endpoint's thread tells the other end. */
struct comch_consumer_info {
	uint32_t id;
	uint32_t num_slots, max_imm_bytes;
	uint32_t has_memory; /* @key and @addr mean something */
	uint64_t stream_id;  /* of messages for it, on the record */
	struct sim_key key;
};

/* Announce @data_path, a consumer, with this message: shim_pe_notify() and *announced when the
 * other end knows. Takes the message's descriptors, also when it fails. 0, -ENOMEM or -ENOTCONN. */
int comch_announce_new_consumer(struct comch_data_path *data_path, struct sim_handshake_msg *msg,
				_Atomic bool *announced);
void comch_announce_expired_consumer(struct comch_data_path *data_path);
void comch_announce_flush(struct doca_comch_connection *connection); /* in the endpoint's thread */
void comch_announcements_drop(struct doca_comch_connection *connection);
int comch_handle_consumer_record(struct doca_comch_connection *connection, uint32_t kind, const void *data, size_t len);
bool comch_retry_consumer_record(struct doca_comch_connection *connection); /* for the record that waits */
void comch_queue_announce_msg(struct doca_comch_connection *connection, struct sim_handshake_msg *msg);
void comch_pending_announces_drop(struct doca_comch_connection *connection);
void comch_remote_consumers_drop(struct doca_comch_connection *connection);

/* Let one that is still known expire, and call the user. Whether there was one; then the connection may be closed. */
bool comch_expire_next_remote_consumer(struct doca_comch_connection *connection);

#endif
