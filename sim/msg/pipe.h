/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/msg/pipe.h - one end of a message pipe: records to another end and back, in memory that the two share.
 *
 *             this end                                                     the other end
 *   submit --> [send queue] --room--> ===== ring of the other end =====> read --due--> event
 *   event <--due-- [delay queue] <--read <===== ring of this end ======= write <-- submit
 *                                      doorbells and wake-up sockets
 *
 *   [opening] --connect--> [open] --peer gone, invalid record, abort--> [lost] --> [closed]
 *       |                     '------------close------------------------------------^
 *       '---close-----------------------------------------------------------------'
 *
 * Each end creates a ring, in which it receives. A carrier (the session, or the test, or the program itself if both ends
 * are in one process) passes the ends' addresses to each other: handshake messages with the descriptors of the rings, the
 * doorbells and the wake-up sockets (records.h). Afterwards messages go through shared memory alone. The carrier also
 * brings announcements, which have descriptors, and tells the end of the other process.
 *
 * A message that is sent waits here for room, and its send ends when it is written; where messages take time, when the
 * sender is free again. A message that is received stays in the ring up to the model's time of its arrival, so that the
 * room does not depend on when the receiver polls; delays and reorders of faults hold it in the delay queue.
 *
 * An **announcement** tells the other end of an object of this end (a consumer, for instance). The carrier brings it; a
 * record in the ring orders it with messages: the other end knows the object before any message that is sent afterwards.
 *
 * Faults are a decorator (fault.h) around the write of a message, the receipt and the peer's status.
 *
 * Errors are -errno. The peer is not trusted: an impossible record is -EPROTO, which ends the pipe. Ownership: the owner
 * embeds the pipe, and each send, in its own objects. Threads: those of poll_group.h; the functions under "any thread"
 * take the pipe's lock, under which the owner may keep objects of its own. No thread holds the lock while it calls the
 * carrier.
 */
#ifndef SIM_MSG_PIPE_H
#define SIM_MSG_PIPE_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "delay_list.h"
#include "poll_group.h"
#include "records.h"
#include "sim/protocol/handshake_msg.h"
#include "sim/shm/ring.h"
#include "sim/trace/trace.h"

/* ---- sends ---- */

/* A message that is sent. The owner sets the first part. Its memory is read until the submission returns; if there is no
 * memory for a copy, until the send ends. */
struct sim_pipe_send {
	struct sim_pipe *pipe;
	const void *msg;
	uint32_t len;                    /* 1 to max_msg_bytes */
	const struct sim_fault_hit *hit; /* the fault that hits it; NULL = none */
	uint64_t task_ns;                /* in recordings: when its task was submitted; 0 = not recorded */
	/* Set at its end: 0 (sent), -ECANCELED (a fault fails it: hit->status), -EFAULT (its memory is gone) or the status that
	 * sim_pipe_end_sends() gives. */
	int result;
	bool is_sent;    /* it counts as sent, be it in vain */
	uint64_t due_ns; /* it ends then: 0 = now, SIM_CLOCK_NEVER_NS = with the pipe's end */
	void *copy;      /* while it waits for room; NULL = none */
	STAILQ_ENTRY(sim_pipe_send) link;
};

/* Take the group's next send that ended; there is one. */
static inline struct sim_pipe_send *sim_poll_group_pop_completed(struct sim_poll_group *group)
{
	struct sim_pipe_send *send = STAILQ_FIRST(&group->completed);

	STAILQ_REMOVE_HEAD(&group->completed, link);
	return send;
}

/* ---- events ---- */

enum sim_pipe_event_kind {
	SIM_PIPE_RECEIVED,       /* a message */
	SIM_PIPE_RECEIVE_FAILED, /* a fault fails the receipt of a message, with @status */
	SIM_PIPE_OBJECT_NEW,     /* the other end announced @id; the event owns the announcement's descriptors */
	SIM_PIPE_OBJECT_GONE,    /* the other end withdrew @id */
};

struct sim_pipe_event {
	enum sim_pipe_event_kind kind;
	uint32_t len;
	uint8_t *bytes;  /* of a message */
	uint32_t status; /* enum sim_status */
	uint32_t id;
	struct sim_handshake_msg announcement; /* written for SIM_PIPE_OBJECT_NEW only */
	void *memory;                          /* of sim_pipe_release_event(): what holds @bytes */
	size_t memory_bytes;                   /* of a record buffer; SIZE_MAX = it is none */
};

/* ---- the pipe ---- */

/* The states:
 *
 *   [opening] --connected--> [open] --peer gone, protocol error, abort--> [lost]
 *       |                       |                                           |
 *       |                       | closed by this end                        | reported to the user
 *       '--refused, stopped-> [closed] <------------------------------------'
 *
 * An open pipe carries messages. A lost one delivers nothing more: its owner reports the end to the user and then closes
 * it.
 */
enum sim_pipe_state { SIM_PIPE_OPENING, SIM_PIPE_OPEN, SIM_PIPE_LOST, SIM_PIPE_CLOSED, SIM_PIPE_NUM_STATES };

/* Write @to to *@state if the picture has that edge. Returns whether it has; else the state stays. */
bool sim_pipe_state_set(enum sim_pipe_state *state, enum sim_pipe_state to);

struct sim_pipe_counters {
	uint64_t sent, sent_bytes, received, received_bytes;
};

#define SIM_PIPE_NO_SLOT UINT32_MAX

struct sim_pipe_announcement;
struct sim_pipe_arrival;
struct sim_remote_consumer;

struct sim_pipe {
	const struct sim_poll_group_ops *ops;
	struct sim_poll_group *group; /* NULL after it left the group; changes under the lock */
	enum sim_pipe_state state;    /* changes in the group's thread, under the lock */
	uint32_t slot;                /* in the group's doorbells */
	int peer_status;    /* 0; -errno = the peer is gone, as the carrier says (sim_pipe_set_peer_status()) */
	bool is_dead;       /* the peer's process died; perhaps a fault hides that until ... */
	uint64_t notice_ns; /* ... this time */
	/* Shared with the other end: */
	int in_fd; /* -1 once it is passed on, or if the ring is in the group's memory; then there is no @in_memory */
	struct sim_segment in_memory, out_memory, peer_doorbell_memory;
	struct sim_ring in, out;
	struct sim_doorbell_shared *peer_doorbells;
	uint32_t peer_slot;
	uint32_t peer_engine;          /* of virtual time */
	int peer_wake_fd;              /* -1 = none: ops->wake_peer() */
	uint64_t seen_head, seen_tail; /* of the rings, at the last step (sim_pipe_has_missed_ring()) */
	bool seen_closed;
	struct sim_pipe_sends send_queue;         /* wait for room in the ring */
	struct sim_delay_list delay_queue;        /* received messages that are not due */
	STAILQ_HEAD(, sim_pipe_arrival) arrivals; /* announcements of the other end whose record was not read yet */
	bool is_awaiting;                         /* the record of @awaited_id was read before its announcement came */
	uint32_t awaited_id;
	struct sim_pipe_counters counters;
	struct sim_trace_conn_stats trace; /* the owner opens and closes it */
	_Atomic bool abort_requested, wake_peer_requested;
	pthread_mutex_t lock;                               /* protects: */
	STAILQ_HEAD(, sim_pipe_announcement) announcements; /* of objects of this end that come or go */
	LIST_HEAD(, sim_remote_consumer) remote_consumers;  /* of the other end */
	_Atomic bool has_announcements;                     /* read without the lock */
	_Atomic int lost_error;                             /* -errno: the other end is gone */
};

/* ---- life ---- */

/* Initialise an opening pipe of @group, with a slot and a ring of its own. Returns 0, -ENOMEM (also: no slot is free) or
 * another -errno: then the caller closes the pipe. */
int sim_pipe_open(struct sim_pipe *pipe, struct sim_poll_group *group);

/* Initialise an open pipe that has no other end: producers and consumers of this process alone, for which remote_consumer.h keeps
 * the consumers. It carries no records; sim_remote_consumers_drop() and sim_pipe_fini() end it. */
void sim_pipe_open_local(struct sim_pipe *pipe, const struct sim_poll_group_ops *ops);

/* Write the pipe's address, to be carried to the other end. @wake_fd and @engine are those of the group's thread. The
 * descriptors stay the pipe's and the owner's. Once it is carried, the pipe's own descriptor of its ring can be closed. */
void sim_pipe_get_address(const struct sim_pipe *pipe, uint32_t engine, uint64_t stream_id, int wake_fd,
			  struct sim_handshake_msg *ret_msg);
void sim_pipe_close_in_fd(struct sim_pipe *pipe);

/* Read an address. Returns 0, or -EPROTO: it is malformed, or of another version. */
int sim_pipe_parse_address(const struct sim_handshake_msg *msg, struct sim_pipe_address *ret_address);

/* The other end is at @address, which came with @msg: map its memory. @max_records: of its ring. @takes_wake_fd: keep its
 * wake-up socket. The pipe opens by sim_pipe_set_state(). Returns 0, -EPROTO or another -errno. */
int sim_pipe_connect(struct sim_pipe *pipe, struct sim_handshake_msg *msg, const struct sim_pipe_address *address,
		     uint32_t max_records, bool takes_wake_fd);

/* An open pipe: write the last announcements and the end. Returns 0, or -EPROTO: the pipe is lost, and no end is written. */
int sim_pipe_finish(struct sim_pipe *pipe);

/* End all sends, with -EIO those that were not sent, drop messages and announcements, and free the memory. */
void sim_pipe_close(struct sim_pipe *pipe);

/* A closed pipe. First: no thread reaches the group by it any more. Second: no thread uses the pipe any more. */
void sim_pipe_leave(struct sim_pipe *pipe);
void sim_pipe_fini(struct sim_pipe *pipe);

/* Enter @state, which must follow the current one. @lost < 0 is kept as lost_error, if none was. */
void sim_pipe_set_state(struct sim_pipe *pipe, enum sim_pipe_state state, int lost);

/* The carrier's word on the other end: 0, -EINPROGRESS or -errno. -EPIPE means that its process died, which a fault may hide
 * for a while. */
void sim_pipe_set_peer_status(struct sim_pipe *pipe, int status);

/* -errno if the other end is gone: it has closed the pipe, or the carrier says so; else 0. What it wrote before is still to
 * be read. */
static inline int sim_pipe_get_end(const struct sim_pipe *pipe)
{
	if (__builtin_expect(pipe->peer_status < 0, 0))
		return pipe->peer_status;
	return sim_ring_is_closed(&pipe->in) ? -ECONNRESET : 0;
}

/* ---- sending ---- */

/* Write the message, or queue it behind others or for room. Returns 0, or -errno: the pipe is lost, and the send is queued. */
int sim_pipe_submit(struct sim_pipe_send *send);

/* Write a message now. Returns 0, -EAGAIN (no room), -EFAULT (its memory is gone), -EPROTO or -ECONNABORTED (the pipe is
 * lost), or -ECANCELED: a fault fails or refuses it with the enum sim_status *ret_status. */
int sim_pipe_send_now(struct sim_pipe *pipe, const void *msg, uint32_t len, uint32_t *ret_status);

/* After -EAGAIN: whether there is room by now. If not, the group's thread is woken when there is some. */
bool sim_pipe_has_room(struct sim_pipe *pipe, uint32_t len);

/* The pipe ends: end its sends; with @status (-errno) those that were not sent. */
void sim_pipe_end_sends(struct sim_pipe *pipe, int status);

/* ---- one step of an open pipe, when its slot rang ---- */

/* Send what waits: announcements, messages. Returns 0, or -errno: the pipe is lost. */
int sim_pipe_flush(struct sim_pipe *pipe);

/* The same, then receive the next event. Returns 1 (*ret_event is set; release it), 0 (none), -ENOMEM (try again later) or
 * another -errno: the pipe is lost. The slot is polled again if there may be more. */
int sim_pipe_poll(struct sim_pipe *pipe, struct sim_pipe_event *ret_event);

/* Free the event's memory, or give it back to @group, which may have been closed, and even opened again, meanwhile. */
void sim_pipe_free_event(struct sim_pipe_event *event);

static inline void sim_pipe_release_event(struct sim_poll_group *group, struct sim_pipe_event *event)
{
	if (event->memory && event->memory_bytes == group->record_bytes && !group->record_buf)
		group->record_buf = event->memory;
	else
		sim_pipe_free_event(event);
}

/* Whether sim_pipe_poll() would find something now. */
bool sim_pipe_has_event(struct sim_pipe *pipe);

/* Whether the other end wrote a record, or made the room that this end waits for, since the last step. */
bool sim_pipe_has_missed_ring(const struct sim_pipe *pipe);

/* The carrier has brought an announcement: keep it until its record is read. Takes its descriptors. Returns 0, -ENOMEM,
 * -ENOBUFS (too many have no record yet) or -EPROTO (it is not of @body_bytes). */
int sim_pipe_add_arrival(struct sim_pipe *pipe, struct sim_handshake_msg *msg, size_t body_bytes);

/* ---- any thread ---- */

/* Have the group's thread poll the pipe. The caller holds the lock. */
void sim_pipe_kick(struct sim_pipe *pipe);

/* Have the group's thread end the pipe with -ECONNABORTED. */
void sim_pipe_abort(struct sim_pipe *pipe);

/* Have the group's thread wake the other end by the carrier. */
void sim_pipe_request_wake_peer(struct sim_pipe *pipe);

/* Announce the object of @arg; ops->announced(@arg) follows. Takes the message's descriptors in any case. Returns 0, -ENOMEM
 * or -ENOTCONN. */
int sim_pipe_announce(struct sim_pipe *pipe, uint32_t id, void *arg, struct sim_handshake_msg *msg);

/* The object of @arg is gone: withdraw what was announced. */
void sim_pipe_withdraw(struct sim_pipe *pipe, uint32_t id, const void *arg);

#endif
