/* SPDX-License-Identifier: BSD-3-Clause */
/* The receipt of messages, now or when they are due, and of announcements.
 *
 *   ring --the model's time--> read --> [reordered] --> [ready, in order] --due--> event
 *                                \--------------------------------------------------^
 *
 * A message stays in the ring until the model's time of its arrival. So the room in the ring does not depend on when the
 * receiver polls. While a ready message is not due, the pipe reads no further records. When the other end is gone,
 * messages wait for their modelled time only: neither a fault nor a reorder holds them up, and a sender that leaves does
 * not make its last messages faster. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "pcie_model/arith.h"
#include "pipe_priv.h"

/* Bounds on what the other end's header may ask for: */
#define MAX_REORDERED   1024                 /* messages of one pipe */
#define MAX_MODELLED_NS UINT64_C(1000000000) /* an honest message takes some ms, with a long queue before it */

struct delayed_msg {
	struct sim_delay_item item; /* first */
	uint64_t modelled_ns;
	uint64_t seq;      /* in its stream, for the recording; 0 = recorded already */
	uint32_t wire_len; /* for the recording */
	bool is_recorded;
	uint32_t len;
	uint8_t bytes[];
};

/* ---- messages that are not due ---- */

/* A time that no honest message has is ignored. */
static uint64_t limit_modelled_ns(uint64_t modelled_ns, uint64_t now_ns)
{
	return modelled_ns > now_ns && modelled_ns - now_ns > MAX_MODELLED_NS ? now_ns : modelled_ns;
}

/* @seq is the message's number in its stream, for the recording; 0 = it is recorded already. */
static void hold_copy(struct sim_pipe *pipe, const struct sim_pipe_hdr *hdr, const uint8_t *bytes, uint32_t len,
		      uint64_t seq, uint32_t wire_len)
{
	struct sim_delay_list *queue = &pipe->delay_queue;
	struct delayed_msg *message = malloc(sizeof(*message) + len);
	uint64_t now_ns = sim_poll_group_now_ns(pipe->group);

	if (!message) {
		sim_err("no memory for a Comch message that is delivered later: the message of %u bytes is lost", len);
		return;
	}
	*message = (struct delayed_msg){ .item = { .due_ns = hdr->due_ns,
						   .reorder_by =
							   queue->num_reordered < MAX_REORDERED ? hdr->reorder_by : 0 },
					 .modelled_ns = limit_modelled_ns(hdr->modelled_ns, now_ns),
					 .seq = seq,
					 .wire_len = wire_len,
					 .is_recorded = hdr->is_recorded,
					 .len = len };
	memcpy(message->bytes, bytes, len);
	sim_delay_list_push(queue, &message->item, now_ns);
}

/* Copy a message into the queue: twice, if @hdr says so. The recording names @wire_len bytes. */
static void hold_message(struct sim_pipe *pipe, const struct sim_pipe_hdr *hdr, const uint8_t *bytes, uint32_t len,
			 uint32_t wire_len)
{
	hold_copy(pipe, hdr, bytes, len, pipe->in.count, wire_len);
	if (hdr->duplicate)
		hold_copy(pipe, hdr, bytes, len, 0, 0);
}

/* Whether the first message that is held is due. If not, the alarm is set. */
static bool is_held_due(struct sim_pipe *pipe)
{
	bool is_gone = sim_pipe_get_end(pipe) < 0; /* before the look at the ring: it was its last record then */
	bool was_last = is_gone && !sim_ring_has_record(&pipe->in);
	uint64_t now_ns = sim_poll_group_now_ns(pipe->group);
	uint64_t next_ns = sim_delay_list_release(&pipe->delay_queue, now_ns, was_last);
	const struct delayed_msg *first = (const struct delayed_msg *)sim_delay_list_first_ready(&pipe->delay_queue);

	if (first)
		next_ns = is_gone ? first->modelled_ns : first->item.due_ns;
	if (first && now_ns >= next_ns)
		return true;
	sim_pipe_set_alarm(pipe, next_ns);
	return false;
}

void sim_pipe_drop_messages(struct sim_pipe *pipe)
{
	struct sim_delay_item *item;

	while ((item = sim_delay_list_pop(&pipe->delay_queue)))
		free(item); /* the first member of its message */
}

/* ---- delivery ---- */

static void count_received(struct sim_pipe *pipe, uint32_t len)
{
	pipe->counters.received++;
	pipe->counters.received_bytes += len;
}

static int deliver_held(struct sim_pipe *pipe, struct sim_pipe_event *ret_event)
{
	struct delayed_msg *message = (struct delayed_msg *)sim_delay_list_pop(&pipe->delay_queue);

	sim_pipe_requeue(pipe); /* there may be more */
	if (message->seq)
		sim_trace_conn_stats_received(&pipe->trace, message->seq, message->wire_len, message->is_recorded);
	count_received(pipe, message->len);
	ret_event->kind = SIM_PIPE_RECEIVED;
	ret_event->bytes = message->bytes;
	ret_event->len = message->len;
	ret_event->memory = message;
	ret_event->memory_bytes = SIZE_MAX;
	return 1;
}

void sim_pipe_free_event(struct sim_pipe_event *event)
{
	free(event->memory);
}

/* ---- one record ---- */

static int read_record(struct sim_pipe *pipe, uint8_t *record, uint32_t *ret_kind, size_t *ret_len)
{
	int rc = sim_ring_read(&pipe->in, ret_kind, record, ret_len);

	if (rc < 0)
		return rc;
	if (sim_ring_needs_notify(&pipe->in))
		sim_pipe_notify_peer(pipe, 0);
	if (sim_ring_has_record(&pipe->in) || sim_pipe_get_end(pipe) < 0) /* it comes after the last record */
		sim_pipe_requeue(pipe);
	return 0;
}

/* A message that is delivered later, or that a fault may hit. Returns 0, 1 (the receipt failed) or -errno. */
static int defer_message(struct sim_pipe *pipe, uint32_t kind, uint8_t *record, size_t record_len,
			 struct sim_pipe_event *ret_event)
{
	struct sim_pipe_hdr hdr = { .is_recorded = kind == SIM_PIPE_RECORDED_MESSAGE };
	size_t hdr_bytes = kind == SIM_PIPE_MESSAGE_WITH_HDR ? sizeof(hdr) : 0;
	uint32_t wire_len, len;
	int rc = 0;

	if (record_len == 0 || record_len < hdr_bytes || record_len - hdr_bytes > pipe->group->cfg.max_msg_bytes)
		return -EPROTO;
	wire_len = len = (uint32_t)(record_len - hdr_bytes);
	memcpy(&hdr, record, hdr_bytes);
	if (unlikely(sim_pipe_fault_may_hit(pipe->group, pipe->group->cfg.faults->receive)))
		rc = sim_pipe_fault_receive(pipe, &hdr, record + hdr_bytes, &len, &ret_event->status);
	if (rc == 0)
		hold_message(pipe, &hdr, record + hdr_bytes, len, wire_len);
	if (sim_pipe_holds_messages(pipe))
		sim_pipe_requeue(pipe);
	if (rc != -ECANCELED)
		return rc == -ENODATA ? 0 : rc;
	ret_event->kind = SIM_PIPE_RECEIVE_FAILED;
	return 1;
}

/* Returns 1 (*ret_event is set), 0 (not delivered yet) or -errno. */
static int handle_message(struct sim_pipe *pipe, uint32_t kind, uint8_t *record, size_t len,
			  struct sim_pipe_event *ret_event)
{
	const struct sim_poll_group *group = pipe->group;

	/* An empty message is refused, too. */
	if (unlikely(kind == SIM_PIPE_MESSAGE_WITH_HDR || len - 1 >= group->cfg.max_msg_bytes ||
		     sim_pipe_holds_messages(pipe) || sim_pipe_fault_may_hit(group, group->cfg.faults->receive)))
		return defer_message(pipe, kind, record, len, ret_event);
	sim_trace_conn_stats_received(&pipe->trace, pipe->in.count, len, kind == SIM_PIPE_RECORDED_MESSAGE);
	count_received(pipe, (uint32_t)len);
	ret_event->kind = SIM_PIPE_RECEIVED;
	ret_event->bytes = record;
	ret_event->len = (uint32_t)len;
	return 1;
}

/* A record of an object of the other end. Returns 1 (*ret_event is set), 0 (its announcement has not come) or -EPROTO. */
static int handle_object(struct sim_pipe *pipe, uint32_t kind, const uint8_t *record, size_t len,
			 struct sim_pipe_event *ret_event)
{
	struct sim_pipe_object object;

	if (len != sizeof(object) || (kind != SIM_PIPE_ANNOUNCED && kind != SIM_PIPE_WITHDRAWN))
		return -EPROTO;
	memcpy(&object, record, sizeof(object));
	if (kind == SIM_PIPE_ANNOUNCED)
		return sim_pipe_take_arrival(pipe, object.id, ret_event);
	ret_event->kind = SIM_PIPE_OBJECT_GONE;
	ret_event->id = object.id;
	return 1;
}

/* Returns as sim_pipe_receive(), or -EAGAIN: the ring is empty. */
static int handle_next_record(struct sim_pipe *pipe, struct sim_pipe_event *ret_event)
{
	struct sim_poll_group *group = pipe->group;
	uint8_t *record = likely(group->record_buf != NULL) ? group->record_buf : malloc(group->record_bytes);
	uint32_t kind;
	size_t len;
	int rc;

	if (!record) { /* there may be memory the next time */
		sim_pipe_requeue(pipe);
		return -ENOMEM;
	}
	group->record_buf = NULL;
	ret_event->memory = record;
	ret_event->memory_bytes = group->record_bytes;
	rc = read_record(pipe, record, &kind, &len);
	if (rc == 0 &&
	    (kind == SIM_PIPE_MESSAGE || kind == SIM_PIPE_RECORDED_MESSAGE || kind == SIM_PIPE_MESSAGE_WITH_HDR))
		rc = handle_message(pipe, kind, record, len, ret_event);
	else if (rc == 0)
		rc = handle_object(pipe, kind, record, len, ret_event);
	if (unlikely(rc != 1))
		sim_pipe_release_event(group, ret_event);
	return rc;
}

/* ---- one step ---- */

/* The ring was empty. Returns 0, or -errno if no record can come any more. */
static int find_end(struct sim_pipe *pipe)
{
	int end = sim_pipe_get_end(pipe);

	if (end == 0)
		return 0;
	if (!sim_ring_has_record(&pipe->in) && !sim_pipe_holds_messages(pipe))
		return end;
	/* The ring was not empty any more when the other end closed it, or reordered messages come now. */
	sim_pipe_requeue(pipe);
	return 0;
}

/* Where messages take time: whether the next record of the ring is to be read. A message stays there until the model's time of its arrival. If not, the
 * alarm is set. */
static bool may_read(const struct sim_pipe *pipe)
{
	struct sim_pipe_hdr hdr = { 0 };
	uint64_t now_ns = sim_poll_group_now_ns(pipe->group);
	uint32_t kind;

	if (sim_ring_peek(&pipe->in, &kind, &hdr, sizeof(hdr)) < 0 || kind != SIM_PIPE_MESSAGE_WITH_HDR ||
	    limit_modelled_ns(hdr.modelled_ns, now_ns) <= now_ns)
		return true;
	sim_pipe_set_alarm(pipe, hdr.modelled_ns);
	return false;
}

static inline int receive(struct sim_pipe *pipe, struct sim_pipe_event *ret_event)
{
	int rc;

	if (unlikely(sim_pipe_holds_messages(pipe))) {
		if (is_held_due(pipe))
			return deliver_held(pipe, ret_event);
		if (sim_delay_list_first_ready(&pipe->delay_queue))
			return 0; /* no later message overtakes it; the alarm is set */
	}
	if (unlikely(pipe->is_awaiting)) {
		if (sim_pipe_take_arrival(pipe, pipe->awaited_id, ret_event)) {
			ret_event->memory = NULL;
			sim_pipe_requeue(pipe);
			return 1;
		}
		if (pipe->peer_status == 0)
			return 0;
		sim_pipe_set_awaiting(pipe, false, 0); /* the carrier ended without it */
	}
	if (unlikely(pipe->group->cfg.timing != NULL) && !may_read(pipe))
		return 0;
	rc = handle_next_record(pipe, ret_event);
	return rc == -EAGAIN ? find_end(pipe) : rc;
}

bool sim_pipe_has_event(struct sim_pipe *pipe)
{
	if (unlikely(sim_pipe_holds_messages(pipe)) && is_held_due(pipe))
		return true;
	if (sim_delay_list_first_ready(&pipe->delay_queue))
		return false;
	return pipe->is_awaiting || (sim_ring_has_record(&pipe->in) && (!pipe->group->cfg.timing || may_read(pipe))) ||
	       (sim_pipe_get_end(pipe) < 0 && !sim_ring_has_record(&pipe->in));
}

/* Remember the ends of both rings: a later record of the peer rings again. */
static inline void note_seen(struct sim_pipe *pipe)
{
	pipe->seen_head = sim_ring_get_head(&pipe->in);
	pipe->seen_closed = sim_ring_is_closed(&pipe->in);
	pipe->seen_tail = sim_ring_get_tail(&pipe->out);
}

bool sim_pipe_has_missed_ring(const struct sim_pipe *pipe)
{
	bool wants_room = !STAILQ_EMPTY(&pipe->send_queue) || pipe->has_announcements;

	if (pipe->state != SIM_PIPE_OPEN)
		return false;
	return pipe->seen_head != sim_ring_get_head(&pipe->in) || pipe->seen_closed != sim_ring_is_closed(&pipe->in) ||
	       (wants_room && pipe->seen_tail != sim_ring_get_tail(&pipe->out) && sim_ring_is_half_free(&pipe->out));
}

static inline int flush(struct sim_pipe *pipe)
{
	int rc = 0;

	note_seen(pipe);
	if (unlikely(pipe->wake_peer_requested) && atomic_exchange(&pipe->wake_peer_requested, false))
		pipe->ops->wake_peer(pipe);
	if (unlikely(pipe->abort_requested))
		return -ECONNABORTED;
	if (unlikely(pipe->has_announcements))
		rc = sim_pipe_flush_announcements(pipe);
	if (rc == 0 && unlikely(!STAILQ_EMPTY(&pipe->send_queue)))
		rc = sim_pipe_flush_sends(pipe);
	return rc;
}

int sim_pipe_flush(struct sim_pipe *pipe)
{
	return flush(pipe);
}

int sim_pipe_poll(struct sim_pipe *pipe, struct sim_pipe_event *ret_event)
{
	int rc = flush(pipe);

	return likely(rc == 0) ? receive(pipe, ret_event) : rc;
}
