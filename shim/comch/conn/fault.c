/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at messages on their way out, and at connections.
 *
 * What is wrong with a message it is when it is written, and how long it takes. Who writes it may not
 * come by again, so what takes time is left to who reads it: the record says
 * when it is due, or behind how many others, and late.c sees to it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shim/comch/comch_priv.h"
#include "shim/common/base/check.h"


static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

bool comch_strikes(const struct comch_endpoint *endpoint, enum sim_op op, uint64_t size, struct sim_strike *ret_strike)
{
	struct sim_site site = {.op = op, .function = shim_dev_function(endpoint->ctx.dev)->id, .size = size};

	return sim_faults_any(endpoint->ctx.faults, op) &&
	       shim_strikes(endpoint->ctx.faults, &site, endpoint->ctx.recorded_as, ret_strike);
}

/* ---- messages ---- */

static void send_site(const struct doca_task *task, struct sim_site *ret_site)
{
	ret_site->size = ((const struct doca_comch_task_send *)(const void *)task)->len;
}

const struct shim_strike_ops comch_send_strike = {
	.op = SIM_OP_COMCH_SEND,
	.site = send_site,
};

static struct comch_mark mark_of(const struct comch_endpoint *endpoint, const struct sim_strike *strike)
{
	struct comch_mark mark = {.twice = SHIM_STRIKE_DOES(strike, DUPLICATE), .modelled_ns = comch_comes_ns(endpoint)};

	mark.due_ns = mark.modelled_ns;
	if (SHIM_STRIKE_DOES(strike, DELAY))
		mark.due_ns = (mark.due_ns ? mark.due_ns : shim_now_ns()) + strike->delay_ns;
	if (SHIM_STRIKE_DOES(strike, REORDER))
		mark.behind = strike->behind;
	return mark;
}

int comch_strike_write(struct doca_comch_connection *connection, const struct sim_strike *strike, const void *msg,
		       uint32_t len)
{
	uint64_t at_ns = sim_trace_talk_turn(&connection->talk);
	uint32_t left = SHIM_STRIKE_DOES(strike, TRUNCATE) ? (uint32_t)smaller(len, strike->truncate_bytes) : len;
	struct comch_mark mark = mark_of(connection->endpoint, strike);
	uint8_t *record = malloc(sizeof(mark) + left);
	int rc;

	if (!record) {
		sim_err("no memory for a fault, or for the time that it takes: a message of %u bytes is sent as it is", len);
		return comch_connection_write_untimed(connection, msg, len);
	}
	mark.is_recorded = at_ns != 0;
	memcpy(record, &mark, sizeof(mark));
	memcpy(record + sizeof(mark), msg, left);
	if (SHIM_STRIKE_DOES(strike, FLIP))
		sim_strike_flip(strike, record + sizeof(mark), left);
	rc = sim_ring_write(&connection->out, COMCH_MARKED, record, sizeof(mark) + left);
	free(record);
	if (rc == 0) {
		comch_timing_sent(connection->endpoint);
		comch_connection_sent(connection, left, at_ns);
	}
	return rc;
}

/* There is room for the message, and nobody else who would take it. */
static int send_struck(struct doca_comch_connection *connection, const struct sim_strike *strike, const void *msg,
		       uint32_t len)
{
	if (SHIM_STRIKE_DOES(strike, REFUSE))
		return (int)strike->refuse_status;
	if (SHIM_STRIKE_DOES(strike, FAIL))
		return (int)strike->status;
	if (SHIM_STRIKE_DOES(strike, BREAK))
		return -ECONNABORTED;
	if (!SHIM_STRIKE_DOES(strike, DROP))
		return comch_strike_write(connection, strike, msg, len);
	comch_timing_sent(connection->endpoint);
	return 0;
}

/* A message that there is no room for was not sent: the plan isn't asked. */
int comch_strike_send(struct doca_comch_connection *connection, const void *msg, uint32_t len)
{
	struct sim_strike strike;

	if (!sim_ring_want_room(&connection->out, sizeof(struct comch_mark) + len))
		return -EAGAIN;
	return comch_strikes(connection->endpoint, SIM_OP_COMM_CHANNEL_SEND, len, &strike) ?
		       send_struck(connection, &strike, msg, len) :
		       comch_connection_write(connection, msg, len);
}

/* ---- connections ---- */

void comch_strike_break(struct doca_comch_connection *connection)
{
	atomic_store(&connection->is_broken, true);
	pthread_mutex_lock(&connection->lock);
	comch_connection_kick(connection);
	pthread_mutex_unlock(&connection->lock);
}
