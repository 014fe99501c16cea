/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at post receive tasks: delayed, completed out of order, failed, with wrong bits, or hung.
 *
 * The message is in the user's buffer already; a fault holds back the task's completion. Faults of both ends meet
 * here: those of the task, and those of the message, which its producer has left in the slot. A delayed task holds
 * up the tasks behind it, a hung one does not. */
#include <stddef.h>
#include <string.h>

#include "consumer_priv.h"
#include "pcie_model/arith.h"
#include "shim/common/mem/buf_priv.h"
#include "shim/common/pe/task_fault.h"

typedef struct doca_comch_consumer_task_post_recv recv_task;

static void post_recv_site(const struct doca_task *task, struct sim_fault_site *ret_site)
{
	const struct doca_buf *buf = ((const recv_task *)(const void *)task)->buf;

	if (!buf)
		return;
	ret_site->addr = (uintptr_t)shim_buf_room(buf);
	ret_site->size = shim_buf_room_bytes(buf);
}

const struct shim_task_fault_ops comch_post_recv_fault_ops = {
	.op = SIM_OP_COMCH_CONSUMER_RECV,
	.site = post_recv_site,
};

/* ---- delaying ---- */

void comch_recv_delay_init(struct doca_comch_consumer *consumer)
{
	sim_delay_list_init(&consumer->delayed);
	TAILQ_INIT(&consumer->hung);
}

/* The message is the last part of the buffer's data, or only immediate data. */
static void flip_data(recv_task *recv, const struct sim_recvq_message *message)
{
	struct doca_buf *buf = recv->buf;
	uint8_t *bytes;

	if (message->len_bytes == 0) {
		sim_fault_hit_flip(recv->task.fault_hit, recv->imm, recv->imm_len);
		return;
	}
	bytes = shim_buf_room(buf) - message->len_bytes;
	sim_fault_hit_flip(recv->task.fault_hit, (void *)(uintptr_t)shim_buf_cpu_addr(buf, bytes), message->len_bytes);
}

static void apply_fault(recv_task *recv, const struct sim_recvq_message *message)
{
	if (shim_task_has_fault(&recv->task, FAIL))
		recv->result = shim_fault_error(recv->task.fault_hit->status);
	if (shim_task_has_fault(&recv->task, FLIP) && recv->result == DOCA_SUCCESS)
		flip_data(recv, message);
	if (shim_task_has_fault(&recv->task, DELAY))
		recv->item.due_ns = add_saturating_u64(recv->item.due_ns ? recv->item.due_ns : shim_now_ns(),
						       recv->task.fault_hit->delay_ns);
}

bool comch_recv_delay(struct doca_comch_consumer *consumer, recv_task *recv, const struct sim_recvq_message *message,
		      doca_error_t result)
{
	if (doca_likely(!recv->task.fault_hit && !message->due_ns && !message->reorder_by &&
			!comch_recv_has_delayed(consumer)))
		return false;
	recv->item = (struct sim_delay_item){ .due_ns = message->due_ns, .reorder_by = message->reorder_by };
	recv->result = result;
	apply_fault(recv, message);
	if (shim_task_has_fault(&recv->task, HANG))
		TAILQ_INSERT_TAIL(&consumer->hung, &recv->item, link);
	else
		sim_delay_list_push(&consumer->delayed, &recv->item, shim_now_ns());
	return true;
}

/* ---- completing ---- */

static recv_task *recv_from_item(struct sim_delay_item *item)
{
	return item ? (recv_task *)(void *)((uint8_t *)item - offsetof(recv_task, item)) : NULL;
}

recv_task *comch_recv_pop_due(struct doca_comch_consumer *consumer)
{
	uint64_t now_ns = shim_now_ns(), next_ns = sim_delay_list_release(&consumer->delayed, now_ns, false);
	const struct sim_delay_item *first = sim_delay_list_first_ready(&consumer->delayed);

	if (first && now_ns >= first->due_ns)
		return comch_recv_pop_delayed(consumer);
	shim_ctx_set_alarm(&consumer->data_path.ctx, first ? first->due_ns : next_ns);
	return NULL;
}

recv_task *comch_recv_pop_delayed(struct doca_comch_consumer *consumer)
{
	return recv_from_item(sim_delay_list_pop(&consumer->delayed));
}

recv_task *comch_recv_pop_hung(struct doca_comch_consumer *consumer)
{
	struct sim_delay_item *item = TAILQ_FIRST(&consumer->hung);

	if (item)
		TAILQ_REMOVE(&consumer->hung, item, link);
	return recv_from_item(item);
}
