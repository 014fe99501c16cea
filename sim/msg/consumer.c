/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers: posted receives, and those that are filled and held back. */
#include "consumer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "sim/protocol/handshake_msg.h"
#include "sim/protocol/wire.h"

/* ---- life ---- */

static int create_queue(struct sim_consumer *consumer, struct sim_handshake_msg *announcement)
{
	const struct sim_consumer_info *info = &consumer->cfg.info;
	struct sim_recvq_cfg cfg = { .num_slots = info->num_slots, .max_imm_bytes = info->max_imm_bytes };
	int rc = sim_segment_create(sim_recvq_size(&cfg), &consumer->memory, &announcement->fds[0]);

	if (rc < 0)
		return rc;
	announcement->num_fds = 1;
	sim_recvq_init(&consumer->recvq, &cfg, consumer->memory.base);
	consumer->posted = consumer->cfg.alloc(cfg.num_slots * sizeof(struct sim_receive *));
	consumer->slot_buf = consumer->cfg.alloc(cfg.max_imm_bytes + SIM_RECVQ_INLINE_BYTES);
	if (consumer->cfg.wake_fd >= 0) {
		announcement->fds[1] = fcntl(consumer->cfg.wake_fd, F_DUPFD_CLOEXEC, 0);
		if (announcement->fds[1] < 0)
			return -errno;
		announcement->num_fds = 2;
	}
	return consumer->posted && consumer->slot_buf ? 0 : -ENOMEM;
}

int sim_consumer_open(struct sim_consumer *consumer, const struct sim_consumer_cfg *cfg,
		      struct sim_handshake_msg *ret_announcement)
{
	int rc;

	*consumer = (struct sim_consumer){ .cfg = *cfg };
	sim_delay_list_init(&consumer->held);
	TAILQ_INIT(&consumer->hung);
	*ret_announcement = (struct sim_handshake_msg){ .len_bytes = sizeof(cfg->info) };
	memcpy(ret_announcement->body, &cfg->info, sizeof(cfg->info));
	rc = create_queue(consumer, ret_announcement);
	if (rc < 0) {
		sim_handshake_msg_close(ret_announcement);
		sim_consumer_close(consumer);
	}
	return rc;
}

void sim_consumer_close(struct sim_consumer *consumer)
{
	sim_segment_unmap(&consumer->memory);
	free(consumer->posted);
	free(consumer->slot_buf);
	consumer->posted = NULL;
	consumer->slot_buf = NULL;
}

/* ---- receives ---- */

void sim_consumer_post(struct sim_consumer *consumer, struct sim_receive *receive)
{
	consumer->posted[consumer->recvq.posted % consumer->recvq.num_slots] = receive;
	sim_recvq_post(&consumer->recvq, &receive->desc);
}

static bool waits_for_time(struct sim_consumer *consumer)
{
	uint64_t due_ns = sim_recvq_next_due_ns(&consumer->recvq);

	if (due_ns <= sim_clock_now_ns(consumer->cfg.clock))
		return false;
	consumer->cfg.set_alarm(consumer, due_ns);
	return true;
}

bool sim_consumer_has_message(struct sim_consumer *consumer, bool keeps_time)
{
	return !sim_delay_list_first_ready(&consumer->held) && sim_recvq_has_message(&consumer->recvq) &&
	       !(keeps_time && waits_for_time(consumer));
}

int sim_consumer_take(struct sim_consumer *consumer, struct sim_receive **ret_receive,
		      struct sim_recvq_message *ret_message)
{
	struct sim_receive *receive = consumer->posted[consumer->recvq.polled % consumer->recvq.num_slots];
	int rc = sim_recvq_poll(&consumer->recvq, &receive->desc, consumer->slot_buf, ret_message);

	*ret_receive = receive;
	if (rc < 0)
		*ret_message = (struct sim_recvq_message){ .failed = true };
	return rc;
}

/* ---- receives that are held back ---- */

void sim_consumer_hold(struct sim_consumer *consumer, struct sim_receive *receive,
		       const struct sim_recvq_message *message, uint8_t *bytes, uint32_t len)
{
	struct sim_pipe_hdr hdr = { .due_ns = message->due_ns, .reorder_by = message->reorder_by };

	if (receive->hit)
		sim_fault_apply(receive->hit, consumer->cfg.clock, &hdr, bytes, &len);
	receive->item = (struct sim_delay_item){ .due_ns = hdr.due_ns, .reorder_by = hdr.reorder_by };
	if (receive->hit && SIM_FAULT_HAS_ACT(receive->hit, HANG))
		TAILQ_INSERT_TAIL(&consumer->hung, &receive->item, link);
	else
		sim_delay_list_push(&consumer->held, &receive->item, sim_clock_now_ns(consumer->cfg.clock));
}

static struct sim_receive *receive_of(struct sim_delay_item *item)
{
	return item ? (struct sim_receive *)(void *)((uint8_t *)item - offsetof(struct sim_receive, item)) : NULL;
}

struct sim_receive *sim_consumer_pop_due(struct sim_consumer *consumer)
{
	uint64_t now_ns = sim_clock_now_ns(consumer->cfg.clock);
	uint64_t next_ns = sim_delay_list_release(&consumer->held, now_ns, false);
	const struct sim_delay_item *first = sim_delay_list_first_ready(&consumer->held);

	if (first && now_ns >= first->due_ns)
		return sim_consumer_pop_held(consumer);
	consumer->cfg.set_alarm(consumer, first ? first->due_ns : next_ns);
	return NULL;
}

struct sim_receive *sim_consumer_pop_held(struct sim_consumer *consumer)
{
	return receive_of(sim_delay_list_pop(&consumer->held));
}

struct sim_receive *sim_consumer_pop_any(struct sim_consumer *consumer)
{
	struct sim_delay_item *item = TAILQ_FIRST(&consumer->hung);
	struct sim_recvq *recvq = &consumer->recvq;

	if (item) {
		TAILQ_REMOVE(&consumer->hung, item, link);
		return receive_of(item);
	}
	consumer->num_unfilled += recvq->posted - recvq->polled;
	recvq->polled = recvq->posted;
	if (consumer->num_unfilled == 0)
		return NULL;
	return consumer->posted[(recvq->posted - consumer->num_unfilled--) % recvq->num_slots];
}
