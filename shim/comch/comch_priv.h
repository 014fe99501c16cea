/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/comch_priv.h - Comch inside: endpoints, their connections, and what lives on these.
 *
 *   server --o             o-- client         endpoints: contexts of the control path
 *            |             |
 *        connection === connection            one at each end; two rings, one each way
 *         |      |         |     |
 *   consumer  producer  producer consumer     contexts of the fast path, on any thread
 *
 * A connection is made through the session (sim/session/channel.h): letters carry
 * the descriptors of its rings and inboxes. From then on messages go through
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

#include "comm_channel_hooks.h"
#include "shim/common/process/fault.h"
#include "shim/common/pe/task_priv.h"
#include "sim/session/channel.h"
#include "sim/shm/doorbell.h"
#include "sim/shm/ring.h"
#include "sim/shm/segment.h"

struct comch_announcement;
struct comch_kept;
struct comch_remote;
struct comch_fast;

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
struct comch_sends {
	struct doca_comch_task_send *first, *last;
};

/* ---- servers and clients ---- */

#define COMCH_OFFERS_SLOT (SIM_INBOX_SLOTS - 1) /* of a server's inbox: clients want in */

struct comch_endpoint;

/* Where servers and clients differ. */
struct comch_endpoint_ops {
	const char *noun;
	/* The session has news: a server's offers, a connection that is being made. Whether the user saw something. */
	bool (*arrange)(struct comch_endpoint *endpoint, struct doca_comch_connection *connection);
	/* The other end of a connection is gone, and all before that was delivered. */
	void (*lost)(struct comch_endpoint *endpoint, struct doca_comch_connection *connection);
};

struct comch_endpoint {
	struct doca_ctx ctx; /* first */
	const struct comch_endpoint_ops *ops;
	char name[SIM_SERVICE_NAME_SIZE];
	uint32_t max_msg_bytes, recv_queue_size, num_send_tasks;
	doca_comch_task_send_completion_cb_t send_done, send_failed;
	doca_comch_event_msg_recv_cb_t received;
	doca_comch_event_consumer_cb_t new_consumer, expired_consumer;
	struct comch_callbacks earlier; /* doca_cc's (earlier.h) */
	bool is_channel;               /* Comm Channel's (earlier.h) */
	int status_fd;                 /* to be written to when clients come or go; -1 = none */
	/* While not idle: */
	struct shim_task_pool *sends;
	struct comch_sends ended;      /* to be reported */
	struct comch_sends late;       /* have ended, and are to be reported when they are due */
	doca_error_t receive_failed;   /* Comm Channel: the receive under way fails so, by a fault */
	struct sim_segment inbox_memory;
	int inbox_fd;
	struct sim_inbox inbox;
	uint8_t *record;               /* the one being delivered; NULL while a callback has it */
	struct doca_comch_connection **slots; /* by their slot in the inbox */
	uint32_t num_slots, num_connections;
	const struct pcie_comch_timing *timing; /* what messages take; NULL = no time */
	uint64_t busy_until_ps;        /* its sender's time, of session time */
	bool rested;                   /* progressed since it stops */
	bool holds, has_held;          /* leaves what comes in where it is; has done so */
};

/* endpoint.c: what servers and clients do alike. */
doca_error_t comch_endpoint_init(struct comch_endpoint *endpoint, const struct shim_ctx_ops *ctx_ops,
				 const struct comch_endpoint_ops *ops, struct doca_dev *dev, const char *name);
doca_error_t comch_endpoint_start(struct comch_endpoint *endpoint);
void comch_endpoint_stopped(struct comch_endpoint *endpoint);
doca_error_t comch_endpoint_may_stop(const struct doca_ctx *ctx);
bool comch_endpoint_progress(struct doca_ctx *ctx);
bool comch_endpoint_arm(struct doca_ctx *ctx);
void comch_endpoint_status_changed(const struct comch_endpoint *endpoint); /* clients come or go; any thread */
size_t comch_endpoint_record_bytes(const struct comch_endpoint *endpoint);
doca_error_t comch_check_name(const char *func, const struct pcie_caps *caps, const char *name);

/* Setters and getters that both have; @func is the public function's name. */
doca_error_t comch_set_max_msg_size(const char *func, struct comch_endpoint *endpoint, uint32_t size);
doca_error_t comch_set_recv_queue_size(const char *func, struct comch_endpoint *endpoint, uint32_t size);
doca_error_t comch_set_consumer_events(const char *func, struct comch_endpoint *endpoint,
				       doca_comch_event_consumer_cb_t new_cb, doca_comch_event_consumer_cb_t expired_cb);
doca_error_t comch_set_received(const char *func, struct comch_endpoint *endpoint, doca_comch_event_msg_recv_cb_t cb);

/* send.c: the task. */
extern const struct shim_task_type comch_send_type;
doca_error_t comch_send_set_conf(const char *func, struct comch_endpoint *endpoint,
				 doca_comch_task_send_completion_cb_t done, doca_comch_task_send_completion_cb_t failed,
				 uint32_t count);
doca_error_t comch_send_alloc(const char *func, struct comch_endpoint *endpoint, struct doca_comch_connection *peer,
			      const void *msg, uint32_t len, struct doca_comch_task_send **ret_task);
void comch_send_waiting(struct doca_comch_connection *connection);                     /* what there is room for now */
void comch_send_fail_waiting(struct doca_comch_connection *connection, doca_error_t why);
void comch_send_late(struct comch_endpoint *endpoint);                                 /* those that are due by now */
bool comch_send_report(struct comch_endpoint *endpoint);                               /* one ended task */

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
	COMCH_CONSUMER_NEW,     /* a struct comch_consumer_record; its letter came, or comes, through the session */
	COMCH_CONSUMER_EXPIRED, /* the same */
	COMCH_RECORDED_MESSAGE, /* whose receipt shall be on the record (sim/trace/trace.h), as its sending is */
	COMCH_MARKED,           /* a struct comch_mark, and a message */
};

/* What the model, or a fault, has the receiver of a message do. */
struct comch_mark {
	uint64_t due_ns;  /* deliver it then, and what came behind it later; 0 = now */
	uint64_t modelled_ns; /* not before, even if the other end is gone; 0 = now */
	uint32_t behind;  /* deliver so many later ones first, if they come soon */
	uint16_t twice;   /* deliver it again at once */
	uint16_t is_recorded; /* as COMCH_RECORDED_MESSAGE */
};

/* A message that is held back here (late.c). */
struct comch_message {
	struct comch_message *next;
	uint64_t due_ns;   /* not delivered before ... */
	uint64_t modelled_ns; /* ... or, when the other end is gone, before this */
	uint64_t number;   /* in its stream, for the record; 0 = it is there already */
	uint32_t came_len; /* likewise */
	bool is_recorded;
	uint64_t aside_ns; /* not overtaken any more after */
	uint32_t behind;   /* later ones that are to overtake it */
	uint32_t len;
	uint8_t bytes[];
};

struct comch_late {
	struct comch_message *ready;  /* in order; the first may be late */
	struct comch_message *aside;  /* to be overtaken */
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
	uint64_t serial;                  /* no two have the same */
	struct comch_endpoint *endpoint;  /* NULL once it let go; the lock protects that change */
	enum comch_state state;           /* changed by its thread, under the lock, for those of consumers and producers */
	uint32_t slot;                    /* in our inbox */
	struct sim_channel *channel;
	_Atomic bool mail;                /* the session has news of it */
	int status;                       /* of the channel, when last asked */
	/* Shared with the other end: */
	int in_fd;                        /* until it is passed on */
	struct sim_segment in_memory, out_memory, peer_inbox_memory;
	struct sim_ring in, out;
	struct sim_inbox_shared *peer_inbox;
	uint32_t peer_slot;
	int peer_wake_fd;                 /* -1 = none: wake it by way of the session */
	struct comch_sends waiting;       /* for room */
	struct comch_kept *letters;       /* of consumers whose record is still in the ring */
	bool has_record;                  /* taken out of the ring, but its letter is not here yet */
	struct comch_consumer_record record;
	bool is_held;                     /* something of it is left where it is */
	struct comch_late late;           /* messages that are held back */
	_Atomic bool is_broken;           /* a fault broke it */
	union doca_data user_data;
	struct comch_counters counters, shown;
	uint64_t stream;                  /* of what the client sends, on the record; the server's is the one behind it */
	struct sim_trace_talk talk;
	/* Consumers and producers; the lock protects: */
	pthread_mutex_t lock;
	struct comch_fast *fast;          /* started ones, of ours */
	struct comch_announcement *announcements; /* oldest first */
	struct comch_remote *remotes;     /* consumers of the other end */
	uint32_t num_consumers, num_producers; /* objects, of ours */
	uint32_t next_id;
	_Atomic int lost;                 /* -errno: the other end is gone */
};

/* connection.c. A new connection has a slot in the endpoint's inbox, and its ring for what comes in. */
int comch_connection_new(struct comch_endpoint *endpoint, struct doca_comch_connection **ret_connection);
void comch_connection_introduce(struct doca_comch_connection *connection, struct sim_letter *ret_letter);
int comch_connection_meet(struct doca_comch_connection *connection, struct sim_letter *letter); /* takes the letter's descriptors */
void comch_connection_notify(void *connection);          /* for the session */
void comch_connection_look(struct doca_comch_connection *connection);   /* at its channel, at the next step */
void comch_connection_take_letters(struct doca_comch_connection *connection);
bool comch_connection_step(struct doca_comch_connection *connection);
int comch_connection_write(struct doca_comch_connection *connection, const void *msg, uint32_t len); /* a message: 0, -EAGAIN or -EPROTO */
int comch_connection_write_untimed(struct doca_comch_connection *connection, const void *msg, uint32_t len); /* the same, that comes at once */
void comch_connection_sent(struct doca_comch_connection *connection, uint32_t len, uint64_t at_ns); /* it was written; see sim_trace_talk_turn() */
void comch_connection_tell(struct doca_comch_connection *connection);   /* the other end has news to look at */
void comch_connection_kick(struct doca_comch_connection *connection);   /* our own endpoint has; under the lock, any thread */
void comch_connection_go(struct doca_comch_connection *connection, enum comch_state state, int lost); /* lost: -errno, or 0 */
void comch_connection_lost(struct doca_comch_connection *connection, int status);
void comch_connection_close(struct doca_comch_connection *connection, int reason);
void comch_connection_let_go(struct doca_comch_connection *connection); /* the endpoint's hold on a closed one */
void comch_connection_hold(struct doca_comch_connection *connection);
void comch_connection_put(struct doca_comch_connection *connection);
bool comch_connection_is_busy(struct doca_comch_connection *connection); /* consumers or producers are started */

/* timing.c: how long messages take by the card's model. None in functional sessions. */
const struct pcie_comch_timing *comch_timing_of(const struct doca_dev *dev);
uint64_t comch_comes_ns(const struct comch_endpoint *endpoint);  /* one that is sent now; 0 = now */
void comch_timing_sent(struct comch_endpoint *endpoint);         /* it was */
uint64_t comch_left_ns(const struct comch_endpoint *endpoint);   /* when the last one has cost its sender what it costs */

/* strike.c: faults at messages on their way out, and at connections. */
extern const struct shim_strike_ops comch_send_strike;
int comch_strike_write(struct doca_comch_connection *connection, const struct sim_strike *strike, const void *msg,
		       uint32_t len);                            /* 0, -EAGAIN or -EPROTO */
/* Ask, and send or not, where a message can't wait: as comch_connection_send(). */
int comch_strike_send(struct doca_comch_connection *connection, const void *msg, uint32_t len);
bool comch_strikes(const struct comch_endpoint *endpoint, enum sim_op op, uint64_t size, struct sim_strike *ret_strike);
void comch_strike_break(struct doca_comch_connection *connection); /* any thread; the endpoint's next step says so */

/* late.c: messages that come in and are not due, and faults at them. A connection that is lost holds nothing back. */
static inline bool comch_late_has(const struct doca_comch_connection *connection)
{
	return connection->late.ready || connection->late.aside;
}
bool comch_late_is_due(struct doca_comch_connection *connection); /* whether there is one to deliver; else it sets the alarm */
struct comch_message *comch_late_take(struct doca_comch_connection *connection); /* that one; the caller's */
/* A record that was read, of a message: 0 (it is here, or lost), 1 (the user's receive failed) or -errno (the connection ends). */
int comch_late_put(struct doca_comch_connection *connection, uint32_t kind, uint8_t *record, size_t len);
void comch_late_drop(struct doca_comch_connection *connection);
void comch_late_look(struct comch_endpoint *endpoint);           /* the alarm rang */

/* meet.c: letters. */
void comch_letter_drop(struct sim_letter *letter);

/* ---- the fast path, as connections see it ---- */

/* What consumers and producers have in common. */
struct comch_fast {
	struct doca_ctx ctx; /* first */
	struct doca_comch_connection *connection; /* held */
	uint32_t *count;         /* of the connection's objects of this kind */
	uint32_t id;
	struct comch_fast *next; /* in the connection's list */
};

/* fast.c. A connection has a number of consumers, and of producers, that its device permits; the @count of each is in it. */
doca_error_t comch_fast_init(const char *func, struct comch_fast *fast, const struct shim_ctx_ops *ops,
			     struct doca_comch_connection *connection, uint32_t *count);
void comch_fast_fini(struct comch_fast *fast);
int comch_fast_join(struct comch_fast *fast);  /* started: -ENOTCONN without an open connection */
void comch_fast_leave(struct comch_fast *fast);
doca_error_t comch_fast_why(const struct doca_comch_connection *connection); /* what became of it, for tasks */

/* announce.c: consumers come and go; the endpoint's thread tells the other end. */
struct comch_consumer_letter {
	uint32_t id;
	uint32_t num_slots, max_imm_bytes;
	uint32_t has_memory;   /* @key and @addr mean something */
	uint64_t stream;       /* of messages for it, on the record */
	struct sim_key key;
};

/* Announce @fast, a consumer, with this letter: shim_pe_notify() and *told when the
 * other end knows. Takes the letter's descriptors, also when it fails. 0, -ENOMEM or -ENOTCONN. */
int comch_announce(struct comch_fast *fast, struct sim_letter *letter, _Atomic bool *told);
void comch_announce_end(struct comch_fast *fast);
void comch_announce_flush(struct doca_comch_connection *connection); /* in the endpoint's thread */
void comch_announcements_drop(struct doca_comch_connection *connection);
int comch_take_consumer_record(struct doca_comch_connection *connection, uint32_t kind, const void *data, size_t len);
bool comch_take_late_letter(struct doca_comch_connection *connection); /* for the record that waits */
void comch_keep_letter(struct doca_comch_connection *connection, struct sim_letter *letter);
void comch_letters_drop(struct doca_comch_connection *connection);
void comch_remotes_drop(struct doca_comch_connection *connection);

/* Let one that is still known expire, and call the user. Whether there was one; then the connection may be closed. */
bool comch_expire_next_remote(struct doca_comch_connection *connection);

#endif
