/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that come in and are not due yet, as they take time or by a fault; and faults at them: late, out of
 * order, twice, wrong, or lost.
 *
 *   ring --read--> [reordered: others overtake it] --> [ready, in order] --due--> delivered
 *
 * While one that is ready is late, nothing more is read: messages keep their
 * order unless a fault reorders them. One that is set aside waits for as many
 * later ones as the fault says, but not for long: who sent it may wait for an
 * answer. When the other end is gone, faults hold nothing back any more, and the model does, so that who
 * sends and goes does not make its last messages faster. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shim/comch/conn/conn_priv.h"
#include "shim/common/base/check.h"

#define REORDER_TIMEOUT_NS 100000000u /* our choice */
#define MAX_REORDERED      1024       /* of one connection: what the other end says is not believed ... */
#define MAX_MODELLED_NS \
	UINT64_C(1000000000) /* ... as to how long its message takes, either: with a long queue before it, some ms */

/* ---- lists ---- */

static void append(struct comch_delayed_msg **list, struct comch_delayed_msg *message)
{
	while (*list)
		list = &(*list)->next;
	message->next = NULL;
	*list = message;
}

static struct comch_delayed_msg *unlink_first(struct comch_delayed_msg **list)
{
	struct comch_delayed_msg *first = *list;

	*list = first->next;
	return first;
}

static void free_all(struct comch_delayed_msg **list)
{
	while (*list)
		free(unlink_first(list));
}

void comch_delay_queue_clear(struct doca_comch_connection *connection)
{
	free_all(&connection->delay_queue.ready);
	free_all(&connection->delay_queue.reordered);
}

/* ---- putting ---- */

static bool is_full(const struct comch_delay_queue *queue)
{
	uint32_t count = 0;

	for (const struct comch_delayed_msg *message = queue->reordered; message; message = message->next)
		count++;
	return count >= MAX_REORDERED;
}

/* Those before @message are overtaken by it. */
static void release_overtaken(struct comch_delay_queue *queue, const struct comch_delayed_msg *message)
{
	struct comch_delayed_msg **link = &queue->reordered;

	while (*link && *link != message) {
		if (--(*link)->reorder_by > 0)
			link = &(*link)->next;
		else
			append(&queue->ready, unlink_first(link));
	}
}

/* @number of the stream is on the record when the message is delivered; 0 = never. */
static void push_msg(struct comch_delay_queue *queue, const struct comch_msg_hdr *hdr, const uint8_t *bytes,
		     uint32_t len, uint64_t seq, uint32_t wire_len)
{
	struct comch_delayed_msg *message = malloc(sizeof(*message) + len);
	bool is_reordered = hdr->reorder_by > 0 && !is_full(queue);
	uint64_t now_ns = shim_now_ns();

	if (!message) {
		sim_err("no memory for a message that is late: one of %u bytes is lost", len);
		return;
	}
	*message = (struct comch_delayed_msg){ .due_ns = hdr->due_ns,
					       .modelled_ns = hdr->modelled_ns,
					       .reorder_by = hdr->reorder_by,
					       .seq = seq,
					       .wire_len = wire_len,
					       .is_recorded = hdr->is_recorded,
					       .len = len };
	memcpy(message->bytes, bytes, len);
	if (message->modelled_ns > now_ns && message->modelled_ns - now_ns > MAX_MODELLED_NS)
		message->modelled_ns = now_ns;
	if (is_reordered)
		message->reorder_deadline_ns = now_ns + REORDER_TIMEOUT_NS;
	append(is_reordered ? &queue->reordered : &queue->ready, message);
	release_overtaken(queue, message);
}

/* What a fault here adds to what one at the sender had in store. */
static void merge_fault(struct comch_msg_hdr *hdr, const struct sim_fault_hit *hit)
{
	if (SHIM_HIT_HAS_ACT(hit, DELAY))
		hdr->due_ns = (hdr->due_ns ? hdr->due_ns : shim_now_ns()) + hit->delay_ns;
	if (SHIM_HIT_HAS_ACT(hit, REORDER) && hit->reorder_by > hdr->reorder_by)
		hdr->reorder_by = hit->reorder_by;
	hdr->duplicate |= SHIM_HIT_HAS_ACT(hit, DUPLICATE);
}

/* A message as the sender meant it to come. */
static int apply_recv_faults(struct doca_comch_connection *connection, struct comch_msg_hdr *hdr, uint8_t *bytes,
			     uint32_t len)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	enum sim_op op = endpoint->is_comm_channel ? SIM_OP_COMM_CHANNEL_RECV : SIM_OP_COMCH_RECV;
	uint64_t seq = connection->in.count;
	struct sim_fault_hit hit = { 0 };
	uint32_t wire_len = len;

	if (comch_fault_query(endpoint, op, len, &hit))
		merge_fault(hdr, &hit);
	if (SHIM_HIT_HAS_ACT(&hit, BREAK) || SHIM_HIT_HAS_ACT(&hit, FAIL) || SHIM_HIT_HAS_ACT(&hit, DROP))
		sim_trace_conn_stats_received(&connection->trace_stream, seq, len,
					      hdr->is_recorded); /* as far as we got it */
	if (SHIM_HIT_HAS_ACT(&hit, BREAK))
		return -ECONNABORTED;
	if (SHIM_HIT_HAS_ACT(&hit, FAIL))
		endpoint->recv_fault = (doca_error_t)hit.status;
	if (SHIM_HIT_HAS_ACT(&hit, FAIL) || SHIM_HIT_HAS_ACT(&hit, DROP))
		return SHIM_HIT_HAS_ACT(&hit, FAIL);
	if (SHIM_HIT_HAS_ACT(&hit, TRUNCATE) && hit.truncate_bytes < len)
		len = hit.truncate_bytes;
	if (SHIM_HIT_HAS_ACT(&hit, FLIP))
		sim_fault_hit_flip(&hit, bytes, len);
	push_msg(&connection->delay_queue, hdr, bytes, len, seq, wire_len);
	if (hdr->duplicate)
		push_msg(&connection->delay_queue, hdr, bytes, len, 0, 0);
	return 0;
}

int comch_delay_queue_push_record(struct doca_comch_connection *connection, uint32_t kind, uint8_t *record, size_t len)
{
	struct comch_msg_hdr hdr = { .is_recorded = kind == COMCH_RECORDED_MESSAGE };
	size_t before = kind == COMCH_MESSAGE_WITH_HDR ? sizeof(hdr) : 0;
	int rc;

	if (len < before || len - before > connection->endpoint->max_msg_bytes)
		return -EPROTO;
	memcpy(&hdr, record, before);
	rc = apply_recv_faults(connection, &hdr, record + before, (uint32_t)(len - before));
	if (comch_delay_queue_has_msgs(connection))
		sim_doorbell_requeue(&connection->endpoint->doorbells, connection->slot);
	return rc;
}

/* ---- taking ---- */

/* Nothing comes any more: what is left is delivered as it is. */
static bool peer_has_ended(const struct doca_comch_connection *connection)
{
	return connection->status < 0 && !sim_ring_has_record(&connection->in);
}

/* Those set aside that have waited long enough. Returns when the next one has. */
static uint64_t release_timed_out(struct doca_comch_connection *connection, uint64_t now_ns)
{
	struct comch_delayed_msg **link = &connection->delay_queue.reordered;
	uint64_t next_ns = SIM_JOB_NEVER_DUE;

	while (*link) {
		if (now_ns < (*link)->reorder_deadline_ns && !peer_has_ended(connection)) {
			if ((*link)->reorder_deadline_ns < next_ns)
				next_ns = (*link)->reorder_deadline_ns;
			link = &(*link)->next;
			continue;
		}
		append(&connection->delay_queue.ready, unlink_first(link));
	}
	return next_ns;
}

bool comch_delay_queue_is_due(struct doca_comch_connection *connection)
{
	uint64_t now_ns = shim_now_ns(), next_ns = release_timed_out(connection, now_ns);
	const struct comch_delayed_msg *first = connection->delay_queue.ready;

	if (first)
		next_ns = connection->status < 0 ? first->modelled_ns : first->due_ns;
	if (first && now_ns >= next_ns)
		return true;
	shim_alarm_set(&connection->endpoint->ctx, next_ns);
	return false;
}

struct comch_delayed_msg *comch_delay_queue_pop(struct doca_comch_connection *connection)
{
	return unlink_first(&connection->delay_queue.ready);
}

/* ---- the alarm ---- */

static bool has_deferred_connect(const struct doca_comch_connection *connection)
{
	return connection->state == COMCH_OPENING && !connection->channel;
}

void comch_delay_queue_on_alarm(struct comch_endpoint *endpoint)
{
	for (uint32_t i = 0; i < endpoint->num_slots; i++)
		if (endpoint->slots[i] &&
		    (comch_delay_queue_has_msgs(endpoint->slots[i]) || has_deferred_connect(endpoint->slots[i])))
			sim_doorbell_requeue(&endpoint->doorbells, i);
}
