/* SPDX-License-Identifier: BSD-3-Clause */
/* Producers on the DPA. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "callable.h"
#include "msgq.h"
#include "pcie_model/arith.h"
#include "sim/base/log.h"
#include "sim/dpa/exec/process_priv.h"
#include "sim/dpa/memory/map.h"
#include "sim/base/move.h"
#include "sim/clock/clock.h"

#define COPY_NS     1800 /* a dma_copy alone */
#define LONG_IMM_NS 290  /* more, with more than 16 bytes of immediate data */

/* A message of a kernel, and the copy before it. */
struct message {
	uint32_t consumer_id;
	bool is_unreported; /* no completion, unless it fails */
	bool has_copy;      /* to be done */
	struct sim_dpa_span dst, src;
	struct sim_fault_hit *hit; /* NULL = none */
	uint32_t imm_bytes;
	uint8_t imm[SIM_DPA_MAX_IMM_BYTES];
};

struct sim_dpa_pending {
	STAILQ_ENTRY(sim_dpa_pending) link;
	struct message message;
};

/* A completion that a fault delays, or one behind it. */
struct sim_dpa_held {
	STAILQ_ENTRY(sim_dpa_held) link;
	uint32_t type;
	uint64_t due_ns;
};

/* ---- life ---- */

static void push_due(void *producer);

int sim_dpa_producer_start(struct sim_dpa_producer *producer)
{
	STAILQ_INIT(&producer->pending);
	STAILQ_INIT(&producer->held);
	producer->num_pending = 0;
	producer->num_calls = 0;
	producer->has_failed = producer->is_hung = false;
	pthread_mutex_init(&producer->lock, NULL);
	sim_dpa_alarm_init(&producer->alarm, producer->process, push_due, producer);
	producer->handle = sim_dpa_process_export(producer->process, SIM_DPA_PRODUCER, producer);
	return producer->handle ? 0 : -ENOMEM;
}

static void drop_first(struct sim_dpa_producer *producer)
{
	struct sim_dpa_pending *pending = STAILQ_FIRST(&producer->pending);

	STAILQ_REMOVE_HEAD(&producer->pending, link);
	producer->num_pending--;
	free(pending->message.hit);
	free(pending);
}

static struct sim_dpa_held *pop_held(struct sim_dpa_producer *producer)
{
	struct sim_dpa_held *held = STAILQ_FIRST(&producer->held);

	if (held)
		STAILQ_REMOVE_HEAD(&producer->held, link);
	return held;
}

void sim_dpa_producer_stop(struct sim_dpa_producer *producer)
{
	struct sim_dpa_process *process = producer->process;
	struct sim_dpa_held *held;

	sim_dpa_process_withdraw(process, SIM_DPA_PRODUCER, producer);
	pthread_mutex_lock(&process->lock);
	sim_dpa_wait_changed(process, &producer->num_calls);
	pthread_mutex_unlock(&process->lock);
	sim_dpa_alarm_stop(&producer->alarm);
	while (producer->num_pending > 0)
		drop_first(producer);
	while ((held = pop_held(producer)))
		free(held);
	pthread_mutex_destroy(&producer->lock);
}

/* ---- completions: under the producer's lock ---- */

static int push(struct sim_dpa_producer *producer, uint32_t type)
{
	return sim_dpa_completion_push(producer->completion,
				       &(struct sim_dpa_element){ .type = type, .user_data = producer->user_data });
}

/* Without memory, the completion comes at once. */
static int hold_completion(struct sim_dpa_producer *producer, uint32_t type, uint64_t due_ns)
{
	struct sim_dpa_held *held = malloc(sizeof(*held));

	if (!held)
		return push(producer, type);
	*held = (struct sim_dpa_held){ .type = type, .due_ns = due_ns };
	if (STAILQ_EMPTY(&producer->held))
		sim_dpa_alarm_set(&producer->alarm, due_ns);
	STAILQ_INSERT_TAIL(&producer->held, held, link);
	return 0;
}

/* Push a completion, no earlier than @due_ns and behind those that are held. Returns 0, or -ENOBUFS: the ring is full. */
static int complete_at(struct sim_dpa_producer *producer, uint32_t type, uint64_t due_ns)
{
	if (producer->is_hung)
		return 0;
	return due_ns > 0 || !STAILQ_EMPTY(&producer->held) ? hold_completion(producer, type, due_ns) :
							      push(producer, type);
}

static int complete(struct sim_dpa_producer *producer, uint32_t type)
{
	return complete_at(producer, type, 0);
}

static void report_lost(const struct sim_dpa_producer *producer)
{
	sim_err("DPA producer %u: its completion context is full: a completion is lost", producer->id);
}

/* The alarm's. */
static void push_due(void *arg)
{
	struct sim_dpa_producer *producer = arg;
	uint64_t now_ns = sim_clock_now_ns(producer->process->cfg.clock);
	struct sim_dpa_held *held;

	pthread_mutex_lock(&producer->lock);
	while ((held = STAILQ_FIRST(&producer->held)) && held->due_ns <= now_ns) {
		if (push(producer, pop_held(producer)->type) < 0)
			report_lost(producer);
		free(held);
	}
	if (held)
		sim_dpa_alarm_set(&producer->alarm, held->due_ns);
	pthread_mutex_unlock(&producer->lock);
}

/* The message fails, and later ones will. */
static int fail(struct sim_dpa_producer *producer, const char *reason)
{
	if (!producer->has_failed)
		sim_err("DPA producer %u: %s; its sends fail from now on", producer->id, reason);
	producer->has_failed = true;
	return complete(producer, SIM_DPA_SEND_FAILED);
}

/* ---- messages: under the producer's lock ---- */

/* Returns NULL, or why the copy can't be done. */
static const char *copy(struct message *message)
{
	int rc = message->has_copy ? sim_dpa_map_copy(&message->dst, &message->src) : 0;

	message->has_copy = false;
	switch (rc) {
	case 0:
		return NULL;
	case -ENOENT:
		return "its copy names a memory map that is not there";
	case -EFAULT:
		return "its copy is outside of a memory map";
	case -EACCES:
		return "the destination's memory map does not permit writes";
	default:
		return "its copy's memory is gone";
	}
}

static int fill(struct sim_dpa_producer *producer, struct sim_remote_consumer *remote, const struct message *message)
{
	struct sim_remote_send send = { .pipe = producer->pipe,
					.remote = remote,
					.clock = producer->process->cfg.clock,
					.vclock = producer->process->cfg.vclock,
					.object = producer->object };
	const struct sim_recvq_message out = { .producer = producer->id,
					       .imm = message->imm,
					       .imm_bytes = message->imm_bytes };

	return message->hit ? sim_remote_send_fill_with_fault(&send, message->hit, out, NULL) :
			      sim_remote_send_fill(&send, out, NULL);
}

/* Returns 0, -EAGAIN (no receive), or -ENOBUFS: a completion has no room. */
static int send_to(struct sim_dpa_producer *producer, const struct message *message, uint64_t due_ns)
{
	struct sim_remote_consumer *remote = sim_remote_consumer_get(producer->pipe, message->consumer_id);
	int rc = remote ? sim_remote_consumer_reserve(remote, 0, message->imm_bytes) : -ENOENT;

	if (rc == 0)
		rc = fill(producer, remote, message);
	if (remote)
		sim_remote_consumer_put(remote);
	if (rc == -EAGAIN)
		return rc;
	if (rc == -E2BIG)
		return fail(producer, "its message is longer than what the consumer takes");
	if (rc < 0)
		return fail(producer, "its message's consumer is not there");
	return message->is_unreported ? 0 : complete_at(producer, SIM_DPA_SENT, due_ns);
}

static int send_now(struct sim_dpa_producer *producer, struct message *message, uint64_t due_ns)
{
	const char *problem = copy(message);

	return problem ? fail(producer, problem) : send_to(producer, message, due_ns);
}

/* ---- under a fault ---- */

/* Flip bits where the copy has come to. Returns NULL or a problem. */
static const char *flip_copied(const struct sim_fault_hit *hit, const struct sim_dpa_span *dst)
{
	struct sim_dpa_map *map = sim_dpa_map_hold(dst->map);
	int rc = map ? 0 : -ENOENT;

	for (uint32_t i = 0; i < hit->flip_bits && i < dst->len * 8 && rc == 0; i++) {
		uint64_t bit = sim_fault_hit_bit(hit, i, dst->len * 8);
		uint8_t byte;

		rc = sim_dpa_map_read(map, dst->addr + bit / 8, &byte, 1);
		byte ^= (uint8_t)(1u << bit % 8);
		if (rc == 0)
			rc = sim_dpa_map_write(map, dst->addr + bit / 8, &byte, 1);
	}
	sim_dpa_map_release(map);
	return rc < 0 ? "its copy's memory is gone" : NULL;
}

/* The fault's data is what is copied, as long as the copy is to be done. Afterwards it is no more. */
static const char *copy_with_fault(struct message *message)
{
	struct sim_fault_hit *hit = message->hit;
	const char *problem = NULL;

	if (!message->has_copy)
		return NULL;
	if (SIM_FAULT_HAS_ACT(hit, TRUNCATE) && hit->truncate_bytes < message->dst.len)
		message->dst.len = message->src.len = hit->truncate_bytes;
	problem = copy(message);
	if (!problem && SIM_FAULT_HAS_ACT(hit, FLIP))
		problem = flip_copied(hit, &message->dst);
	hit->actions &= ~(SIM_ACT_BIT(SIM_ACT_TRUNCATE) | SIM_ACT_BIT(SIM_ACT_FLIP));
	return problem;
}

static int send_with_fault(struct sim_dpa_producer *producer, struct message *message)
{
	const struct sim_fault_hit *hit = message->hit;
	uint64_t due_ns = 0;
	const char *problem;

	if (SIM_FAULT_HAS_ACT(hit, BREAK))
		sim_remote_consumers_abort(producer->pipe);
	if (SIM_FAULT_HAS_ACT(hit, FAIL) || SIM_FAULT_HAS_ACT(hit, BREAK))
		return fail(producer, "a fault rule fails its message");
	if (SIM_FAULT_HAS_ACT(hit, HANG))
		producer->is_hung = true;
	if (SIM_FAULT_HAS_ACT(hit, HANG) || SIM_FAULT_HAS_ACT(hit, DROP))
		return message->is_unreported ? 0 : complete(producer, SIM_DPA_SENT);
	if (SIM_FAULT_HAS_ACT(hit, DELAY))
		due_ns = add_saturating_u64(sim_clock_now_ns(producer->process->cfg.clock), hit->delay_ns);
	problem = copy_with_fault(message);
	return problem ? fail(producer, problem) : send_to(producer, message, due_ns);
}

/* ---- the order of messages ---- */

static int send_or_fail(struct sim_dpa_producer *producer, struct message *message)
{
	if (producer->has_failed)
		return complete(producer, SIM_DPA_SEND_FAILED);
	if (producer->pipe->lost_error < 0)
		return fail(producer, "its message queue is broken");
	return message->hit ? send_with_fault(producer, message) : send_now(producer, message, 0);
}

/* Returns 0, -ENOBUFS, -ENOSPC (too many messages wait) or -ENOMEM. Takes the hit, if it is 0. */
static int queue(struct sim_dpa_producer *producer, const struct message *message)
{
	struct sim_dpa_pending *pending;

	if (producer->num_pending == producer->num_sends)
		return -ENOSPC;
	pending = malloc(sizeof(*pending));
	if (!pending)
		return -ENOMEM;
	pending->message = *message;
	STAILQ_INSERT_TAIL(&producer->pending, pending, link);
	producer->num_pending++;
	return 0;
}

/* Send what waits. Returns 0 (all is sent), -EAGAIN, or -ENOBUFS: a completion had no room, and more may wait. */
static int flush(struct sim_dpa_producer *producer)
{
	int rc = 0;

	while (rc == 0 && producer->num_pending > 0) {
		rc = send_or_fail(producer, &STAILQ_FIRST(&producer->pending)->message);
		if (rc != -EAGAIN)
			drop_first(producer);
	}
	return rc;
}

/* Send the message behind those that wait. */
static int post(struct sim_dpa_producer *producer, struct message *message)
{
	int rc = flush(producer);

	if (rc == 0)
		rc = send_or_fail(producer, message);
	if (rc == -EAGAIN)
		rc = queue(producer, message);
	else
		free(message->hit);
	return rc;
}

void sim_dpa_producer_retry(struct sim_dpa_producer *producer)
{
	/* A message is about to wait perhaps, as it has just found no receive: look behind its post. */
	pthread_mutex_lock(&producer->lock);
	while (flush(producer) == -ENOBUFS)
		report_lost(producer);
	pthread_mutex_unlock(&producer->lock);
}

/* ---- the port: no lock is held when a kernel is refused ---- */

/* While held, the producer does not stop. */
static struct sim_dpa_producer *hold(uint64_t handle)
{
	struct sim_dpa_process *process = sim_dpa_enter();
	struct sim_dpa_producer *producer;

	pthread_mutex_lock(&process->lock);
	producer = sim_dpa_handle_find(&process->handles, SIM_DPA_PRODUCER, handle);
	if (producer)
		producer->num_calls++;
	pthread_mutex_unlock(&process->lock);
	if (!producer)
		sim_dpa_refuse_as(SIM_DPA_CRASH_HANDLE, handle, "%#llx is no producer that is started",
				  (unsigned long long)handle);
	return producer;
}

static void release(struct sim_dpa_producer *producer)
{
	struct sim_dpa_process *process = producer->process;

	pthread_mutex_lock(&process->lock);
	sim_dpa_count_down(process, &producer->num_calls);
	pthread_mutex_unlock(&process->lock);
}

int sim_dpa_port_producer_is_consumer_empty(uint64_t handle, uint32_t consumer_id)
{
	struct sim_dpa_producer *producer = hold(handle);
	struct sim_remote_consumer *remote = sim_remote_consumer_get(producer->pipe, consumer_id);
	bool is_empty = producer->num_pending > 0 || !remote || !sim_remote_consumer_has_receive(remote);

	if (remote)
		sim_remote_consumer_put(remote);
	release(producer);
	if (is_empty)
		sim_dpa_eu_poll_empty(sim_dpa_eu_current());
	return is_empty;
}

static void refuse_post(int rc, uint32_t num_sends)
{
	switch (rc) {
	case -ENOBUFS:
		sim_dpa_refuse("the producer's completion context is full: acknowledge completions in time");
	case -ENOSPC:
		sim_dpa_refuse("the consumer posts no receives, and %u messages of the producer wait already",
			       num_sends);
	default:
		sim_dpa_refuse("no memory for a message that waits");
	}
}

/* Copy the message from the kernel's memory, which may be gone: before anything is held. */
static void take_message(struct message *message, const uint8_t *imm, uint32_t imm_bytes, uint32_t consumer_id,
			 uint32_t flags)
{
	if (imm_bytes > SIM_DPA_MAX_IMM_BYTES)
		sim_dpa_refuse("%u bytes of immediate data; a message has up to %d", imm_bytes, SIM_DPA_MAX_IMM_BYTES);
	*message = (struct message){ .consumer_id = consumer_id,
				     .is_unreported = flags & SIM_DPA_POST_OPTIMIZE_REPORTS,
				     .imm_bytes = imm_bytes };
	if (imm_bytes)
		sim_move(message->imm, imm, imm_bytes);
}

/* Published for a BlueField-3 (jukebox03/thrift_dpumesh_extended, transport benchmark notes). A message alone was not measured. */
static void spend(bool has_copy, const struct message *message)
{
	sim_dpa_eu_spend(sim_dpa_eu_current(),
			 (has_copy ? COPY_NS : 0) + (has_copy && message->imm_bytes > 16 ? LONG_IMM_NS : 0));
}

/* Returns as post(), or -EAGAIN: a fault refuses the post. */
static int post_once(struct sim_dpa_producer *producer, struct message *message)
{
	const struct sim_fault_site site = { .op = SIM_OP_COMCH_PRODUCER_SEND,
					     .size = message->has_copy ? message->src.len : message->imm_bytes,
					     .addr = message->has_copy ? message->src.addr : 0 };
	int rc = sim_dpa_find_post_fault(&producer->faults, site, &message->hit);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&producer->lock);
	rc = post(producer, message);
	pthread_mutex_unlock(&producer->lock);
	return rc;
}

static void post_checked(uint64_t handle, struct message *message)
{
	bool has_copy = message->has_copy;
	uint32_t num_sends, round = 0;
	int rc;

	for (;;) {
		struct sim_dpa_producer *producer = hold(handle);

		num_sends = producer->num_sends;
		rc = post_once(producer, message);
		release(producer);
		if (rc != -EAGAIN)
			break;
		sim_dpa_wait_for_room(round++);
	}
	sim_dpa_eu_current()->num_empty_polls = 0;
	spend(has_copy, message);
	if (rc < 0)
		refuse_post(rc, num_sends);
}

void sim_dpa_port_producer_send(uint64_t handle, uint32_t consumer_id, const uint8_t *imm, uint32_t imm_bytes,
				uint32_t flags)
{
	struct message message;

	take_message(&message, imm, imm_bytes, consumer_id, flags);
	post_checked(handle, &message);
}

void sim_dpa_port_producer_copy(uint64_t handle, const struct sim_dpa_producer_copy *copy)
{
	struct message message;

	take_message(&message, copy->imm, copy->imm_bytes, copy->consumer_id, copy->flags);
	message.has_copy = true;
	message.dst = copy->dst;
	message.src = copy->src;
	post_checked(handle, &message);
}
