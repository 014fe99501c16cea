/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at receives: late, out of order, never, or failed.
 *
 *   filled --> [aside: others overtake it] --> [ready, in order] --due--> finished
 *          \-> [hung] --the consumer stops--> finished
 *
 * What came stands in the user's buffer already; it is the end of his task that
 * is held back. Both ends' faults meet here: the receive's own, and those of the
 * message, which its producer has left beside it. As with control messages
 * (late.c), one that is late holds up those behind it, one that hangs does not. */
#include <string.h>

#include "consumer_priv.h"
#include "shim/common/mem/buf_priv.h"

#define ASIDE_NS 100000000u /* our choice */

typedef struct doca_comch_consumer_task_post_recv recv_task;

/* ---- the plan ---- */

static void post_recv_site(const struct doca_task *task, struct sim_site *ret_site)
{
	const struct doca_buf *buf = ((const recv_task *)(const void *)task)->buf;

	if (!buf)
		return;
	ret_site->addr = (uintptr_t)buf->data + buf->data_len;
	ret_site->size = (uint64_t)(buf->head + buf->len - (buf->data + buf->data_len));
}

const struct shim_strike_ops comch_post_recv_strike = {
	.op = SIM_OP_COMCH_CONSUMER_RECV,
	.site = post_recv_site,
};

/* ---- lists ---- */

static void append(recv_task **list, recv_task *recv)
{
	while (*list)
		list = &(*list)->next;
	recv->next = NULL;
	*list = recv;
}

static recv_task *unlink_first(recv_task **list)
{
	recv_task *first = *list;

	if (first)
		*list = first->next;
	return first;
}

/* Those before @recv are overtaken by it. */
static void overtake(struct comch_late_recvs *late, const recv_task *recv)
{
	recv_task **link = &late->aside;

	while (*link && *link != recv) {
		if (--(*link)->behind > 0)
			link = &(*link)->next;
		else
			append(&late->ready, unlink_first(link));
	}
}

/* ---- holding ---- */

/* The last bytes of the buffer's data are what came, or there is only immediate data. */
static void flip(recv_task *recv, const struct sim_recvq_message *message)
{
	struct doca_buf *buf = recv->buf;
	uint8_t *bytes;

	if (message->len_bytes == 0) {
		sim_strike_flip(recv->task.strike, recv->imm, recv->imm_len);
		return;
	}
	bytes = buf->data + buf->data_len - message->len_bytes;
	sim_strike_flip(recv->task.strike, (void *)(uintptr_t)shim_buf_cpu_addr(buf, bytes), message->len_bytes);
}

static void strike(recv_task *recv, const struct sim_recvq_message *message)
{
	if (shim_task_is_struck(&recv->task, FAIL))
		recv->result = (doca_error_t)recv->task.strike->status;
	if (shim_task_is_struck(&recv->task, FLIP) && recv->result == DOCA_SUCCESS)
		flip(recv, message);
	if (shim_task_is_struck(&recv->task, DELAY))
		recv->due_ns = (recv->due_ns ? recv->due_ns : shim_now_ns()) + recv->task.strike->delay_ns;
}

bool comch_recv_hold(struct doca_comch_consumer *consumer, recv_task *recv, const struct sim_recvq_message *message,
		     doca_error_t result)
{
	struct comch_late_recvs *late = &consumer->late;

	if (doca_likely(!recv->task.strike && !message->due_ns && !message->behind && !comch_recvs_are_late(consumer)))
		return false;
	recv->due_ns = message->due_ns;
	recv->behind = message->behind;
	recv->result = result;
	strike(recv, message);
	if (shim_task_is_struck(&recv->task, HANG)) {
		append(&late->hung, recv);
		return true;
	}
	if (recv->behind)
		recv->aside_ns = shim_now_ns() + ASIDE_NS;
	append(recv->behind ? &late->aside : &late->ready, recv);
	overtake(late, recv);
	return true;
}

/* ---- taking ---- */

/* Those set aside that have waited long enough. Returns when the next one has. */
static uint64_t end_waiting(struct comch_late_recvs *late, uint64_t now_ns)
{
	recv_task **link = &late->aside;
	uint64_t next_ns = SIM_JOB_NEVER_DUE;

	while (*link) {
		if (now_ns >= (*link)->aside_ns) {
			append(&late->ready, unlink_first(link));
			continue;
		}
		if ((*link)->aside_ns < next_ns)
			next_ns = (*link)->aside_ns;
		link = &(*link)->next;
	}
	return next_ns;
}

recv_task *comch_recv_take_late(struct doca_comch_consumer *consumer)
{
	uint64_t now_ns = shim_now_ns(), next_ns = end_waiting(&consumer->late, now_ns);
	const recv_task *first = consumer->late.ready;

	if (first && now_ns >= first->due_ns)
		return unlink_first(&consumer->late.ready);
	if (first)
		next_ns = first->due_ns;
	shim_alarm_set(&consumer->fast.ctx, next_ns);
	return NULL;
}

recv_task *comch_recv_take_any(struct doca_comch_consumer *consumer)
{
	struct comch_late_recvs *late = &consumer->late;

	return unlink_first(late->ready ? &late->ready : &late->aside);
}
