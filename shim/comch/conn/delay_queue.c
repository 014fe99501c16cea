/* SPDX-License-Identifier: BSD-3-Clause */
/* Received messages that are not due: they take time by the model, or a fault delays or reorders them.
 *
 *   ring --the model's time--> read --> [reordered] --> [ready, in order] --due--> delivered
 *
 * A message stays in the ring until the model's time of its arrival. So the room in the ring does not depend on when the
 * receiver polls. While a ready message is not due, the connection reads no further records. When the other end is gone,
 * messages wait for their modelled time only: neither a fault nor a reorder holds them up, and a sender that leaves does
 * not make its last messages faster. */
#include <stdlib.h>
#include <string.h>

#include "conn_priv.h"
#include "pcie_model/arith.h"
#include "sim/base/log.h"

/* Bounds on what the other end's header may ask for: */
#define MAX_REORDERED   1024                 /* messages of one connection */
#define MAX_MODELLED_NS UINT64_C(1000000000) /* an honest message takes some ms, with a long queue before it */

static struct comch_delayed_msg *first_ready(const struct doca_comch_connection *connection)
{
	return (struct comch_delayed_msg *)sim_delay_list_first_ready(&connection->delay_queue);
}

/* A time that no honest message has is ignored. */
static uint64_t limit_modelled_ns(uint64_t modelled_ns, uint64_t now_ns)
{
	return modelled_ns > now_ns && modelled_ns - now_ns > MAX_MODELLED_NS ? now_ns : modelled_ns;
}

bool comch_delay_queue_may_read(const struct doca_comch_connection *connection)
{
	struct comch_msg_hdr hdr = { 0 };
	uint64_t now_ns = shim_now_ns();
	uint32_t kind;

	if (sim_ring_peek(&connection->in, &kind, &hdr, sizeof(hdr)) < 0 || kind != COMCH_MESSAGE_WITH_HDR ||
	    limit_modelled_ns(hdr.modelled_ns, now_ns) <= now_ns)
		return true;
	shim_ctx_set_alarm(&connection->endpoint->ctx, hdr.modelled_ns);
	return false;
}

/* @seq is the message's number in its stream, for the recording; 0 = it is recorded already. */
static void push_copy(struct doca_comch_connection *connection, const struct comch_msg_hdr *hdr, const uint8_t *bytes,
		      uint32_t len, uint64_t seq, uint32_t wire_len)
{
	struct sim_delay_list *queue = &connection->delay_queue;
	struct comch_delayed_msg *message = malloc(sizeof(*message) + len);
	uint64_t now_ns = shim_now_ns();

	if (!message) {
		sim_err("no memory for a Comch message that is delivered later: the message of %u bytes is lost", len);
		return;
	}
	*message = (struct comch_delayed_msg){
		.item = { .due_ns = hdr->due_ns,
			  .reorder_by = queue->num_reordered < MAX_REORDERED ? hdr->reorder_by : 0 },
		.modelled_ns = limit_modelled_ns(hdr->modelled_ns, now_ns),
		.seq = seq,
		.wire_len = wire_len,
		.is_recorded = hdr->is_recorded,
		.len = len
	};
	memcpy(message->bytes, bytes, len);
	sim_delay_list_push(queue, &message->item, now_ns);
}

void comch_delay_queue_push(struct doca_comch_connection *connection, const struct comch_msg_hdr *hdr,
			    const uint8_t *bytes, uint32_t len, uint32_t wire_len)
{
	push_copy(connection, hdr, bytes, len, connection->in.count, wire_len);
	if (hdr->duplicate)
		push_copy(connection, hdr, bytes, len, 0, 0);
}

bool comch_delay_queue_is_due(struct doca_comch_connection *connection)
{
	bool is_gone =
		comch_connection_get_end(connection) < 0; /* before the look at the ring: it was its last record then */
	bool was_last = is_gone && !sim_ring_has_record(&connection->in);
	uint64_t now_ns = shim_now_ns();
	uint64_t next_ns = sim_delay_list_release(&connection->delay_queue, now_ns, was_last);
	const struct comch_delayed_msg *first = first_ready(connection);

	if (first)
		next_ns = is_gone ? first->modelled_ns : first->item.due_ns;
	if (first && now_ns >= next_ns)
		return true;
	shim_ctx_set_alarm(&connection->endpoint->ctx, next_ns);
	return false;
}

struct comch_delayed_msg *comch_delay_queue_pop(struct doca_comch_connection *connection)
{
	return (struct comch_delayed_msg *)sim_delay_list_pop(&connection->delay_queue);
}

void comch_delay_queue_clear(struct doca_comch_connection *connection)
{
	struct comch_delayed_msg *message;

	while ((message = comch_delay_queue_pop(connection)))
		free(message);
}

static bool has_deferred_connect(const struct doca_comch_connection *connection)
{
	return connection->state == COMCH_OPENING && !connection->channel;
}

static bool waits_for_time(const struct doca_comch_connection *connection)
{
	return comch_delay_queue_has_msgs(connection) || has_deferred_connect(connection) ||
	       (connection->state == COMCH_OPEN && connection->endpoint->timing &&
		sim_ring_has_record(&connection->in));
}

void comch_delay_queue_on_alarm(struct comch_endpoint *endpoint)
{
	for (uint32_t i = 0; i < endpoint->num_slots; i++) {
		struct doca_comch_connection *connection = endpoint->slots[i];

		if (connection && connection->is_dead && connection->state == COMCH_OPEN)
			comch_connection_schedule_poll(connection);
		else if (connection && waits_for_time(connection))
			sim_doorbell_requeue(&endpoint->doorbells, i);
	}
}
