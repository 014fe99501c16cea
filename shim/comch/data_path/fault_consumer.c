/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at receives: late, out of order, never, or failed.
 *
 *   filled --> [reordered: others overtake it] --> [ready, in order] --due--> finished
 *          \-> [hung] --the consumer stops--> finished
 *
 * What came stands in the user's buffer already; it is the end of his task that
 * is held back. Both ends' faults meet here: the receive's own, and those of the
 * message, which its producer has left beside it. As with control messages
 * (delay_queue.c), one that is late holds up those behind it, one that hangs does not. */
#include <string.h>

#include "consumer_priv.h"
#include "shim/common/mem/buf_priv.h"

#define REORDER_TIMEOUT_NS 100000000u /* our choice */

typedef struct doca_comch_consumer_task_post_recv recv_task;

/* ---- the plan ---- */

static void post_recv_site(const struct doca_task *task, struct sim_fault_site *ret_site)
{
	const struct doca_buf *buf = ((const recv_task *)(const void *)task)->buf;

	if (!buf)
		return;
	ret_site->addr = (uintptr_t)buf->data + buf->data_len;
	ret_site->size = (uint64_t)(buf->head + buf->len - (buf->data + buf->data_len));
}

const struct shim_task_fault_ops comch_post_recv_fault_ops = {
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
static void release_overtaken(struct comch_recv_delay_queue *queue, const recv_task *recv)
{
	recv_task **link = &queue->reordered;

	while (*link && *link != recv) {
		if (--(*link)->reorder_by > 0)
			link = &(*link)->next;
		else
			append(&queue->ready, unlink_first(link));
	}
}

/* ---- holding ---- */

/* The last bytes of the buffer's data are what came, or there is only immediate data. */
static void flip_data(recv_task *recv, const struct sim_recvq_message *message)
{
	struct doca_buf *buf = recv->buf;
	uint8_t *bytes;

	if (message->len_bytes == 0) {
		sim_fault_hit_flip(recv->task.fault_hit, recv->imm, recv->imm_len);
		return;
	}
	bytes = buf->data + buf->data_len - message->len_bytes;
	sim_fault_hit_flip(recv->task.fault_hit, (void *)(uintptr_t)shim_buf_cpu_addr(buf, bytes), message->len_bytes);
}

static void apply_fault(recv_task *recv, const struct sim_recvq_message *message)
{
	if (shim_task_has_fault(&recv->task, FAIL))
		recv->result = (doca_error_t)recv->task.fault_hit->status;
	if (shim_task_has_fault(&recv->task, FLIP) && recv->result == DOCA_SUCCESS)
		flip_data(recv, message);
	if (shim_task_has_fault(&recv->task, DELAY))
		recv->due_ns = (recv->due_ns ? recv->due_ns : shim_now_ns()) + recv->task.fault_hit->delay_ns;
}

bool comch_recv_delay(struct doca_comch_consumer *consumer, recv_task *recv, const struct sim_recvq_message *message,
		      doca_error_t result)
{
	struct comch_recv_delay_queue *queue = &consumer->delay_queue;

	if (doca_likely(!recv->task.fault_hit && !message->due_ns && !message->reorder_by &&
			!comch_recv_has_delayed(consumer)))
		return false;
	recv->due_ns = message->due_ns;
	recv->reorder_by = message->reorder_by;
	recv->result = result;
	apply_fault(recv, message);
	if (shim_task_has_fault(&recv->task, HANG)) {
		append(&queue->hung, recv);
		return true;
	}
	if (recv->reorder_by)
		recv->reorder_deadline_ns = shim_now_ns() + REORDER_TIMEOUT_NS;
	append(recv->reorder_by ? &queue->reordered : &queue->ready, recv);
	release_overtaken(queue, recv);
	return true;
}

/* ---- taking ---- */

/* Those set aside that have waited long enough. Returns when the next one has. */
static uint64_t release_timed_out(struct comch_recv_delay_queue *queue, uint64_t now_ns)
{
	recv_task **link = &queue->reordered;
	uint64_t next_ns = SIM_JOB_NEVER_DUE;

	while (*link) {
		if (now_ns >= (*link)->reorder_deadline_ns) {
			append(&queue->ready, unlink_first(link));
			continue;
		}
		if ((*link)->reorder_deadline_ns < next_ns)
			next_ns = (*link)->reorder_deadline_ns;
		link = &(*link)->next;
	}
	return next_ns;
}

recv_task *comch_recv_pop_due(struct doca_comch_consumer *consumer)
{
	uint64_t now_ns = shim_now_ns(), next_ns = release_timed_out(&consumer->delay_queue, now_ns);
	const recv_task *first = consumer->delay_queue.ready;

	if (first && now_ns >= first->due_ns)
		return unlink_first(&consumer->delay_queue.ready);
	if (first)
		next_ns = first->due_ns;
	shim_alarm_set(&consumer->data_path.ctx, next_ns);
	return NULL;
}

recv_task *comch_recv_pop_any(struct doca_comch_consumer *consumer)
{
	struct comch_recv_delay_queue *queue = &consumer->delay_queue;

	return unlink_first(queue->ready ? &queue->ready : &queue->reordered);
}
