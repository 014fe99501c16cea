/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that come in and are not due yet, as they take time or by a fault; and faults at them: late, out of
 * order, twice, wrong, or lost.
 *
 *   ring --read--> [aside: others overtake it] --> [ready, in order] --due--> delivered
 *
 * While one that is ready is late, nothing more is read: messages keep their
 * order unless a fault reorders them. One that is set aside waits for as many
 * later ones as the fault says, but not for long: who sent it may wait for an
 * answer. When the other end is gone, faults hold nothing back any more, and the model does, so that who
 * sends and goes does not make its last messages faster. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shim/comch/comch_priv.h"
#include "shim/common/base/check.h"

#define ASIDE_NS 100000000u /* our choice */
#define MAX_ASIDE 1024      /* of one connection: what the other end says is not believed ... */
#define MAX_MODELLED_NS UINT64_C(1000000000) /* ... as to how long its message takes, either: with a long queue before it, some ms */

/* ---- lists ---- */

static void append(struct comch_message **list, struct comch_message *message)
{
	while (*list)
		list = &(*list)->next;
	message->next = NULL;
	*list = message;
}

static struct comch_message *unlink_first(struct comch_message **list)
{
	struct comch_message *first = *list;

	*list = first->next;
	return first;
}

static void drop_all(struct comch_message **list)
{
	while (*list)
		free(unlink_first(list));
}

void comch_late_drop(struct doca_comch_connection *connection)
{
	drop_all(&connection->late.ready);
	drop_all(&connection->late.aside);
}

/* ---- putting ---- */

static bool is_full(const struct comch_late *late)
{
	uint32_t count = 0;

	for (const struct comch_message *message = late->aside; message; message = message->next)
		count++;
	return count >= MAX_ASIDE;
}

/* Those before @message are overtaken by it. */
static void overtake(struct comch_late *late, const struct comch_message *message)
{
	struct comch_message **link = &late->aside;

	while (*link && *link != message) {
		if (--(*link)->behind > 0)
			link = &(*link)->next;
		else
			append(&late->ready, unlink_first(link));
	}
}

/* @number of the stream is on the record when the message is delivered; 0 = never. */
static void put(struct comch_late *late, const struct comch_mark *mark, const uint8_t *bytes, uint32_t len,
		uint64_t number, uint32_t came_len)
{
	struct comch_message *message = malloc(sizeof(*message) + len);
	bool is_aside = mark->behind > 0 && !is_full(late);
	uint64_t now_ns = shim_now_ns();

	if (!message) {
		sim_err("no memory for a message that is late: one of %u bytes is lost", len);
		return;
	}
	*message = (struct comch_message){.due_ns = mark->due_ns, .modelled_ns = mark->modelled_ns,
					 .behind = mark->behind, .number = number, .came_len = came_len,
					 .is_recorded = mark->is_recorded, .len = len};
	memcpy(message->bytes, bytes, len);
	if (message->modelled_ns > now_ns && message->modelled_ns - now_ns > MAX_MODELLED_NS)
		message->modelled_ns = now_ns;
	if (is_aside)
		message->aside_ns = now_ns + ASIDE_NS;
	append(is_aside ? &late->aside : &late->ready, message);
	overtake(late, message);
}

/* What a fault here adds to what one at the sender had in store. */
static void add_to(struct comch_mark *mark, const struct sim_strike *strike)
{
	if (SHIM_STRIKE_DOES(strike, DELAY))
		mark->due_ns = (mark->due_ns ? mark->due_ns : shim_now_ns()) + strike->delay_ns;
	if (SHIM_STRIKE_DOES(strike, REORDER) && strike->behind > mark->behind)
		mark->behind = strike->behind;
	mark->twice |= SHIM_STRIKE_DOES(strike, DUPLICATE);
}

/* A message as the sender meant it to come. */
static int take_in(struct doca_comch_connection *connection, struct comch_mark *mark, uint8_t *bytes, uint32_t len)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	enum sim_op op = endpoint->is_channel ? SIM_OP_COMM_CHANNEL_RECV : SIM_OP_COMCH_RECV;
	uint64_t number = connection->in.count;
	struct sim_strike strike = {0};
	uint32_t came_len = len;

	if (comch_strikes(endpoint, op, len, &strike))
		add_to(mark, &strike);
	if (SHIM_STRIKE_DOES(&strike, BREAK) || SHIM_STRIKE_DOES(&strike, FAIL) || SHIM_STRIKE_DOES(&strike, DROP))
		sim_trace_talk_received(&connection->talk, number, len, mark->is_recorded); /* as far as we got it */
	if (SHIM_STRIKE_DOES(&strike, BREAK))
		return -ECONNABORTED;
	if (SHIM_STRIKE_DOES(&strike, FAIL))
		endpoint->receive_failed = (doca_error_t)strike.status;
	if (SHIM_STRIKE_DOES(&strike, FAIL) || SHIM_STRIKE_DOES(&strike, DROP))
		return SHIM_STRIKE_DOES(&strike, FAIL);
	if (SHIM_STRIKE_DOES(&strike, TRUNCATE) && strike.truncate_bytes < len)
		len = strike.truncate_bytes;
	if (SHIM_STRIKE_DOES(&strike, FLIP))
		sim_strike_flip(&strike, bytes, len);
	put(&connection->late, mark, bytes, len, number, came_len);
	if (mark->twice)
		put(&connection->late, mark, bytes, len, 0, 0);
	return 0;
}

int comch_late_put(struct doca_comch_connection *connection, uint32_t kind, uint8_t *record, size_t len)
{
	struct comch_mark mark = {.is_recorded = kind == COMCH_RECORDED_MESSAGE};
	size_t before = kind == COMCH_MARKED ? sizeof(mark) : 0;
	int rc;

	if (len < before || len - before > connection->endpoint->max_msg_bytes)
		return -EPROTO;
	memcpy(&mark, record, before);
	rc = take_in(connection, &mark, record + before, (uint32_t)(len - before));
	if (comch_late_has(connection))
		sim_inbox_again(&connection->endpoint->inbox, connection->slot);
	return rc;
}

/* ---- taking ---- */

/* Nothing comes any more: what is left is delivered as it is. */
static bool has_ended(const struct doca_comch_connection *connection)
{
	return connection->status < 0 && !sim_ring_has_record(&connection->in);
}

/* Those set aside that have waited long enough. Returns when the next one has. */
static uint64_t end_waiting(struct doca_comch_connection *connection, uint64_t now_ns)
{
	struct comch_message **link = &connection->late.aside;
	uint64_t next_ns = SIM_JOB_NEVER_DUE;

	while (*link) {
		if (now_ns < (*link)->aside_ns && !has_ended(connection)) {
			if ((*link)->aside_ns < next_ns)
				next_ns = (*link)->aside_ns;
			link = &(*link)->next;
			continue;
		}
		append(&connection->late.ready, unlink_first(link));
	}
	return next_ns;
}

bool comch_late_is_due(struct doca_comch_connection *connection)
{
	uint64_t now_ns = shim_now_ns(), next_ns = end_waiting(connection, now_ns);
	const struct comch_message *first = connection->late.ready;

	if (first)
		next_ns = connection->status < 0 ? first->modelled_ns : first->due_ns;
	if (first && now_ns >= next_ns)
		return true;
	shim_alarm_set(&connection->endpoint->ctx, next_ns);
	return false;
}

struct comch_message *comch_late_take(struct doca_comch_connection *connection)
{
	return unlink_first(&connection->late.ready);
}

/* ---- the alarm ---- */

static bool is_to_be_called(const struct doca_comch_connection *connection)
{
	return connection->state == COMCH_OPENING && !connection->channel;
}

void comch_late_look(struct comch_endpoint *endpoint)
{
	for (uint32_t i = 0; i < endpoint->num_slots; i++)
		if (endpoint->slots[i] && (comch_late_has(endpoint->slots[i]) || is_to_be_called(endpoint->slots[i])))
			sim_inbox_again(&endpoint->inbox, i);
}
