/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers on the DPA, and their completion contexts. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "callable.h"
#include "msgq.h"
#include "sim/base/log.h"
#include "sim/clock/vclock_sched.h"
#include "sim/dpa/exec/process_priv.h"
#include "sim/protocol/wire.h"

/* ---- completion contexts ---- */

int sim_dpa_consumer_completion_start(struct sim_dpa_process *process, struct sim_dpa_activity *activity,
				      uint32_t num_messages, struct sim_dpa_consumer_completion *completion)
{
	int rc = sim_dpa_completion_start(process, activity, SIM_DPA_CONSUMER_COMPLETION, num_messages,
					  &completion->ring);

	if (rc < 0)
		return rc;
	LIST_INIT(&completion->consumers);
	rc = sim_dpa_process_alloc(process, (uint64_t)completion->ring.size * SIM_DPA_MAX_IMM_BYTES, &completion->imm);
	if (rc < 0)
		sim_dpa_completion_stop(&completion->ring);
	return rc;
}

void sim_dpa_consumer_completion_stop(struct sim_dpa_consumer_completion *completion)
{
	struct sim_dpa_process *process = completion->ring.process;

	sim_dpa_completion_stop(&completion->ring);
	sim_dpa_process_free(process, completion->imm);
}

static uint8_t *imm_at(const struct sim_dpa_consumer_completion *completion, uint32_t position)
{
	return (uint8_t *)(uintptr_t)(completion->imm + position % completion->ring.size * SIM_DPA_MAX_IMM_BYTES);
}

static bool is_full(const struct sim_dpa_completion *ring)
{
	return ring->pushed - ring->acked == ring->size;
}

static struct sim_dpa_receive *take_free(struct sim_dpa_consumer *consumer)
{
	struct sim_dpa_receive *receive = SLIST_FIRST(&consumer->free);

	SLIST_REMOVE_HEAD(&consumer->free, link);
	consumer->num_free--;
	return receive;
}

static void give_back(struct sim_dpa_consumer *consumer, struct sim_dpa_receive *receive)
{
	free((void *)(uintptr_t)receive->receive.hit);
	receive->receive.hit = NULL;
	SLIST_INSERT_HEAD(&consumer->free, receive, link);
	consumer->num_free++;
}

/* The message leaves its receive for a place in the ring, which has room. The push may release the lock. */
static void deliver(struct sim_dpa_consumer *consumer, struct sim_dpa_receive *receive)
{
	struct sim_dpa_consumer_completion *completion = consumer->completion;
	const struct sim_dpa_element element = { .user_data = receive->producer, .index = receive->imm_bytes };
	bool is_lost = receive->is_lost;

	if (!is_lost)
		memcpy(imm_at(completion, completion->ring.pushed), receive->imm, receive->imm_bytes);
	give_back(consumer, receive);
	if (!is_lost)
		sim_dpa_completion_push_locked(&completion->ring, &element);
}

/* Take the next message. One that failed is lost: its sender's task has failed. */
static void take(struct sim_dpa_consumer *consumer)
{
	struct sim_dpa_receive *receive;
	struct sim_recvq_message message;
	struct sim_receive *base;

	sim_consumer_take(&consumer->queue, &base, &message);
	receive = (struct sim_dpa_receive *)base;
	receive->is_lost = message.failed || (base->hit && SIM_FAULT_HAS_ACT(base->hit, FAIL));
	receive->producer = message.producer;
	receive->imm_bytes = message.imm_bytes;
	memcpy(receive->imm, message.imm, message.imm_bytes);
	if (message.is_recorded)
		sim_trace_message(SIM_TRACE_RECEIVED, consumer->object, consumer->stream_id,
				  consumer->queue.recvq.polled, message.imm_bytes, sim_trace_now_ns(), 0);
	if (sim_consumer_must_hold(&consumer->queue, base, &message))
		sim_consumer_hold(&consumer->queue, base, &message, receive->imm, receive->imm_bytes);
	else
		deliver(consumer, receive);
}

/* Move what has arrived, and is due, to the completion context. Under the process's lock, which may be released meanwhile. */
static void pull(struct sim_dpa_consumer *consumer)
{
	struct sim_consumer *queue = &consumer->queue;

	while (!is_full(&consumer->completion->ring)) {
		struct sim_receive *due = sim_consumer_holds_any(queue) ? sim_consumer_pop_due(queue) : NULL;

		if (due)
			deliver(consumer, (struct sim_dpa_receive *)due);
		else if (sim_consumer_has_message(queue, sim_dpa_is_virtual(consumer->process)))
			take(consumer);
		else
			return;
	}
}

/* ---- consumers ---- */

static void pull_now(void *arg)
{
	struct sim_dpa_consumer *consumer = arg;

	pthread_mutex_lock(&consumer->process->lock);
	pull(consumer);
	pthread_mutex_unlock(&consumer->process->lock);
}

static void set_alarm(struct sim_consumer *queue, uint64_t due_ns)
{
	struct sim_dpa_consumer *consumer = (void *)((uint8_t *)queue - offsetof(struct sim_dpa_consumer, queue));

	sim_dpa_alarm_set(&consumer->alarm, due_ns);
}

/* Make the queue, and give it to the producers. */
static int open_queue(struct sim_dpa_consumer *consumer, const struct sim_consumer_info *info)
{
	const struct sim_consumer_cfg cfg = { .info = *info,
					      .clock = consumer->process->cfg.clock,
					      .set_alarm = set_alarm,
					      .alloc = malloc,
					      .wake_fd = -1 };
	struct sim_handshake_msg announcement;
	int rc = sim_consumer_open(&consumer->queue, &cfg, &announcement);

	if (rc < 0)
		return rc;
	rc = sim_remote_consumer_add_local(consumer->pipe, info, announcement.fds[0], pull_now, consumer);
	sim_handshake_msg_close(&announcement);
	return rc;
}

static void close_queue(struct sim_dpa_consumer *consumer)
{
	sim_dpa_process_withdraw(consumer->process, SIM_DPA_CONSUMER, consumer);
	sim_dpa_alarm_stop(&consumer->alarm);
	sim_consumer_close(&consumer->queue);
	for (uint32_t i = 0; consumer->receives && i < consumer->queue.cfg.info.num_slots; i++)
		free((void *)(uintptr_t)consumer->receives[i].receive.hit);
	free(consumer->receives);
}

static int make_receives(struct sim_dpa_consumer *consumer, uint32_t num)
{
	SLIST_INIT(&consumer->free);
	consumer->num_free = 0;
	consumer->receives = calloc(num, sizeof(*consumer->receives));
	for (uint32_t i = 0; consumer->receives && i < num; i++)
		give_back(consumer, &consumer->receives[i]);
	return consumer->receives ? 0 : -ENOMEM;
}

int sim_dpa_consumer_start(struct sim_dpa_consumer *consumer, uint32_t num_receives, uint32_t max_imm_bytes)
{
	const struct sim_consumer_info info = { .id = consumer->id,
						.num_slots = num_receives,
						.max_imm_bytes = max_imm_bytes,
						.stream_id = consumer->stream_id };
	int rc = make_receives(consumer, num_receives);

	consumer->queue = (struct sim_consumer){ 0 };
	consumer->num_pulls = 0;
	sim_dpa_alarm_init(&consumer->alarm, consumer->process, pull_now, consumer);
	consumer->handle = sim_dpa_process_export(consumer->process, SIM_DPA_CONSUMER, consumer);
	if (rc == 0)
		rc = consumer->handle ? open_queue(consumer, &info) : -ENOMEM;
	if (rc < 0) {
		close_queue(consumer);
		return rc;
	}
	pthread_mutex_lock(&consumer->process->lock);
	LIST_INSERT_HEAD(&consumer->completion->consumers, consumer, link);
	pthread_mutex_unlock(&consumer->process->lock);
	return 0;
}

void sim_dpa_consumer_stop(struct sim_dpa_consumer *consumer)
{
	struct sim_dpa_process *process = consumer->process;
	uint32_t id;

	sim_remote_consumer_remove(consumer->pipe, &consumer->id, &id);
	pthread_mutex_lock(&process->lock);
	sim_dpa_wait_changed(process, &consumer->num_pulls);
	LIST_REMOVE(consumer, link);
	pthread_mutex_unlock(&process->lock);
	close_queue(consumer);
}

/* ---- the port: no lock is held when a kernel is refused ---- */

int sim_dpa_port_consumer_take(uint64_t completion, uint64_t *ret_element)
{
	return sim_dpa_completion_take(SIM_DPA_CONSUMER_COMPLETION, completion, ret_element);
}

/* Copy the element, and find its immediate data. */
static const uint8_t *find_element(uint64_t number, struct sim_dpa_element *ret_element)
{
	struct sim_dpa_process *process = sim_dpa_enter();
	const struct sim_dpa_element *element;
	struct sim_dpa_completion *ring;
	const uint8_t *imm = NULL;

	pthread_mutex_lock(&process->lock);
	element = sim_dpa_completion_find(process, SIM_DPA_CONSUMER_COMPLETION, number, &ring);
	if (element) {
		*ret_element = *element;
		imm = imm_at((struct sim_dpa_consumer_completion *)ring, (uint32_t)number);
	}
	pthread_mutex_unlock(&process->lock);
	if (!element)
		sim_dpa_refuse_element(number);
	return imm;
}

const uint8_t *sim_dpa_port_consumer_element_imm(uint64_t number, uint32_t *ret_bytes)
{
	struct sim_dpa_element element;
	const uint8_t *imm = find_element(number, &element);

	*ret_bytes = element.index;
	return imm;
}

uint32_t sim_dpa_port_consumer_element_producer(uint64_t number)
{
	struct sim_dpa_element element;

	find_element(number, &element);
	return element.user_data;
}

/* There is room for messages that wait. A pull may start an EU, and release the lock: the consumer stays in the list. */
static void pull_all(struct sim_dpa_completion *ring)
{
	struct sim_dpa_consumer_completion *completion = (struct sim_dpa_consumer_completion *)ring;
	struct sim_dpa_consumer *consumer;

	LIST_FOREACH(consumer, &completion->consumers, link) {
		consumer->num_pulls++;
		pull(consumer);
		sim_dpa_count_down(consumer->process, &consumer->num_pulls);
	}
}

void sim_dpa_port_consumer_completion_ack(uint64_t completion, uint64_t num)
{
	sim_dpa_completion_ack(SIM_DPA_CONSUMER_COMPLETION, completion, num, pull_all);
}

void sim_dpa_port_consumer_completion_arm(uint64_t completion)
{
	sim_dpa_completion_arm(SIM_DPA_CONSUMER_COMPLETION, completion);
}

/* Post *num receives, of which it counts. Returns 0, -EINVAL (there is no room for so many) or -EAGAIN: a fault refuses one. */
static int post_receives(struct sim_dpa_consumer *consumer, uint32_t *num)
{
	const struct sim_fault_site site = { .op = SIM_OP_COMCH_CONSUMER_RECV,
					     .size = consumer->queue.cfg.info.max_imm_bytes };
	int rc = *num <= consumer->num_free ? 0 : -EINVAL;

	while (rc == 0 && *num > 0) {
		struct sim_fault_hit *hit;

		rc = sim_dpa_find_post_fault(&consumer->faults, site, &hit);
		if (rc == 0) {
			struct sim_dpa_receive *receive = take_free(consumer);

			receive->receive = (struct sim_receive){ .hit = hit };
			sim_consumer_post(&consumer->queue, &receive->receive);
			--*num;
		}
	}
	if (sim_dpa_is_virtual(
		    consumer->process)) /* the queue is no engine's: all that wait for such receives try again */
		sim_vclock_sched_post_credit(consumer->process->cfg.vclock, 0);
	return rc;
}

void sim_dpa_port_consumer_ack(uint64_t handle, uint32_t num)
{
	for (uint32_t round = 0;; round++) {
		struct sim_dpa_process *process = sim_dpa_enter();
		struct sim_dpa_consumer *consumer;
		uint32_t room = 0;
		int rc = -ENOENT;

		pthread_mutex_lock(&process->lock);
		consumer = sim_dpa_handle_find(&process->handles, SIM_DPA_CONSUMER, handle);
		if (consumer) {
			room = consumer->num_free;
			rc = post_receives(consumer, &num);
		}
		pthread_mutex_unlock(&process->lock);
		if (rc == 0)
			return;
		if (rc == -ENOENT)
			sim_dpa_refuse_as(SIM_DPA_CRASH_HANDLE, handle, "%#llx is no consumer that is started",
					  (unsigned long long)handle);
		if (rc == -EINVAL)
			sim_dpa_refuse("the kernel posts %u receives to a consumer that has room for %u", num, room);
		sim_dpa_wait_for_room(round);
	}
}
