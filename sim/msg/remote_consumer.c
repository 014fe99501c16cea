/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers of the other end: known, filled, expired. */
#include "remote_consumer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "sim/base/log.h"
#include "sim/clock/vclock_sched.h"
#include "sim/shm/wake.h"

/* ---- known consumers ---- */

static uint32_t count_consumers(struct sim_pipe *pipe)
{
	const struct sim_remote_consumer *remote;
	uint32_t count = 0;

	pthread_mutex_lock(&pipe->lock);
	LIST_FOREACH(remote, &pipe->remote_consumers, link)
		count++;
	pthread_mutex_unlock(&pipe->lock);
	return count;
}

/* Check the announcement, and map the memory that it carries. Returns 0 or -errno. */
static int create(struct sim_pipe *pipe, const struct sim_remote_consumer_limits *limits,
		  struct sim_handshake_msg *announcement, struct sim_remote_consumer **ret_remote)
{
	struct sim_remote_consumer *remote;
	struct sim_consumer_info info;
	struct sim_recvq_cfg cfg;
	int rc;

	memcpy(&info, announcement->body, sizeof(info));
	cfg = (struct sim_recvq_cfg){ .num_slots = info.num_slots, .max_imm_bytes = info.max_imm_bytes };
	if (count_consumers(pipe) >= limits->max_consumers)
		return -ENOSPC;
	if (announcement->num_fds != 2 || cfg.num_slots == 0 || cfg.num_slots > limits->max_slots ||
	    cfg.max_imm_bytes > limits->max_imm_bytes || !sim_wake_is_valid(announcement->fds[1]))
		return -EPROTO;
	remote = pipe->ops->alloc(sizeof(*remote));
	if (!remote)
		return -ENOMEM;
	*remote = (struct sim_remote_consumer){ .info = info, .refs = 1, .wake_fd = announcement->fds[1] };
	rc = sim_segment_map(announcement->fds[0], sim_recvq_size(&cfg), &remote->memory);
	if (rc < 0) {
		free(remote);
		return rc;
	}
	announcement->fds[1] = -1;
	pthread_mutex_init(&remote->lock, NULL);
	sim_recvq_init(&remote->queue, &cfg, remote->memory.base);
	*ret_remote = remote;
	return 0;
}

static void insert(struct sim_pipe *pipe, struct sim_remote_consumer *remote)
{
	pthread_mutex_lock(&pipe->lock);
	LIST_INSERT_HEAD(&pipe->remote_consumers, remote, link);
	pthread_mutex_unlock(&pipe->lock);
}

int sim_remote_consumer_add(struct sim_pipe *pipe, const struct sim_remote_consumer_limits *limits,
			    void (*release)(struct sim_remote *buffers), struct sim_handshake_msg *announcement)
{
	struct sim_remote_consumer *remote;
	int rc = create(pipe, limits, announcement, &remote);

	if (rc < 0)
		return rc;
	remote->release = release;
	insert(pipe, remote);
	return 0;
}

static void release_none(struct sim_remote *buffers)
{
	(void)buffers;
}

int sim_remote_consumer_add_local(struct sim_pipe *pipe, const struct sim_consumer_info *info, int memory,
				  void (*arrived)(void *arg), void *arg)
{
	const struct sim_recvq_cfg cfg = { .num_slots = info->num_slots, .max_imm_bytes = info->max_imm_bytes };
	struct sim_remote_consumer *remote = pipe->ops->alloc(sizeof(*remote));
	int rc;

	if (!remote)
		return -ENOMEM;
	*remote = (struct sim_remote_consumer){
		.info = *info, .refs = 1, .wake_fd = -1, .arrived = arrived, .arrived_arg = arg, .release = release_none
	};
	rc = sim_segment_map(memory, sim_recvq_size(&cfg), &remote->memory);
	if (rc < 0) {
		free(remote);
		return rc;
	}
	pthread_mutex_init(&remote->lock, NULL);
	sim_recvq_init(&remote->queue, &cfg, remote->memory.base);
	insert(pipe, remote);
	return 0;
}

/* Under the pipe's lock. */
static struct sim_remote_consumer *find(const struct sim_pipe *pipe, uint32_t id)
{
	struct sim_remote_consumer *remote;

	LIST_FOREACH(remote, &pipe->remote_consumers, link)
		if (remote->info.id == id)
			break;
	return remote;
}

bool sim_remote_consumer_remove(struct sim_pipe *pipe, const uint32_t *id, uint32_t *ret_id)
{
	struct sim_remote_consumer *remote;

	pthread_mutex_lock(&pipe->lock);
	remote = id ? find(pipe, *id) : LIST_FIRST(&pipe->remote_consumers);
	if (remote)
		LIST_REMOVE(remote, link);
	pthread_mutex_unlock(&pipe->lock);
	if (!remote)
		return false;
	*ret_id = remote->info.id;
	pthread_mutex_lock(&remote->lock); /* no call of @arrived is under way behind it */
	atomic_store(&remote->expired, true);
	pthread_mutex_unlock(&remote->lock);
	sim_remote_consumer_put(remote); /* may release the import: not under the lock */
	return true;
}

void sim_remote_consumers_abort(struct sim_pipe *pipe)
{
	const struct sim_remote_consumer *remote;

	pthread_mutex_lock(&pipe->lock);
	if (sim_pipe_state_set(&pipe->state, SIM_PIPE_LOST))
		atomic_store(&pipe->lost_error, -ECONNABORTED);
	LIST_FOREACH(remote, &pipe->remote_consumers, link)
		if (remote->wake_fd >= 0)
			sim_wake_send(remote->wake_fd);
	pthread_mutex_unlock(&pipe->lock);
}

void sim_remote_consumers_drop(struct sim_pipe *pipe)
{
	uint32_t id;

	while (sim_remote_consumer_remove(pipe, NULL, &id))
		;
}

struct sim_remote_consumer *sim_remote_consumer_get(struct sim_pipe *pipe, uint32_t id)
{
	struct sim_remote_consumer *remote;

	pthread_mutex_lock(&pipe->lock);
	remote = find(pipe, id);
	if (remote)
		atomic_fetch_add(&remote->refs, 1);
	pthread_mutex_unlock(&pipe->lock);
	return remote;
}

void sim_remote_consumer_put(struct sim_remote_consumer *remote)
{
	if (atomic_fetch_sub(&remote->refs, 1) != 1)
		return;
	remote->release(remote->buffers);
	sim_segment_unmap(&remote->memory);
	if (remote->wake_fd >= 0)
		close(remote->wake_fd);
	pthread_mutex_destroy(&remote->lock);
	free(remote);
}

/* ---- credits ---- */

int sim_remote_consumer_reserve(struct sim_remote_consumer *remote, uint32_t len, uint32_t imm_len)
{
	int rc;

	if (imm_len > remote->queue.max_imm_bytes)
		return -E2BIG;
	pthread_mutex_lock(&remote->lock);
	rc = remote->expired ? -ENOTCONN : sim_recvq_reserve(&remote->queue, len);
	pthread_mutex_unlock(&remote->lock);
	return rc;
}

void sim_remote_consumer_unreserve(struct sim_remote_consumer *remote)
{
	pthread_mutex_lock(&remote->lock);
	sim_recvq_unreserve(&remote->queue);
	pthread_mutex_unlock(&remote->lock);
}

bool sim_remote_consumer_has_receive(struct sim_remote_consumer *remote)
{
	bool has_one;

	pthread_mutex_lock(&remote->lock);
	has_one = !remote->expired && sim_recvq_next_room(&remote->queue) != UINT32_MAX;
	pthread_mutex_unlock(&remote->lock);
	return has_one;
}

/* ---- messages ---- */

static int write_buffer(struct sim_remote_consumer *remote, const struct sim_recvq_desc *desc, const void *bytes,
			uint32_t len)
{
	if (!remote->buffers)
		return remote->import_error;
	return sim_copy(remote->buffers, desc->addr, NULL, (uintptr_t)bytes, len);
}

/* Record the message before it is visible: its receiver may be quick. */
static void trace_sent(struct sim_remote_send *send, struct sim_recvq_message *message, uint64_t slot)
{
	send->sent_bytes = message->len_bytes + message->imm_bytes;
	message->is_recorded = send->is_recorded;
	if (message->is_recorded)
		sim_trace_message(SIM_TRACE_SENT, send->object, send->remote->info.stream_id, slot + 1,
				  send->sent_bytes, sim_trace_now_ns(), send->task_ns);
}

static void tell_arrived(struct sim_remote_consumer *remote)
{
	pthread_mutex_lock(&remote->lock);
	if (!remote->expired)
		remote->arrived(remote->arrived_arg);
	pthread_mutex_unlock(&remote->lock);
}

int sim_remote_send_fill(struct sim_remote_send *send, struct sim_recvq_message message, const uint8_t *bytes)
{
	struct sim_remote_consumer *remote = send->remote;
	struct sim_recvq_desc desc;
	uint64_t slot;
	int rc = 0;

	pthread_mutex_lock(&remote->lock);
	sim_recvq_claim(&remote->queue, &slot, &desc);
	pthread_mutex_unlock(&remote->lock);
	if (message.failed || remote->expired)
		rc = -EIO;
	else if (message.len_bytes > desc.len_bytes)
		rc = -EMSGSIZE;
	else if (message.len_bytes <= SIM_RECVQ_INLINE_BYTES && !send->forces_path)
		message.inlined = bytes;
	else if (bytes)
		rc = write_buffer(remote, &desc, bytes, message.len_bytes);
	if (rc < 0)
		message = (struct sim_recvq_message){ .producer = message.producer, .failed = true };
	else
		trace_sent(send, &message, slot);
	if (sim_recvq_fill(&remote->queue, slot, &message) && remote->wake_fd >= 0 &&
	    sim_wake_send(remote->wake_fd) < 0)
		sim_pipe_request_wake_peer(send->pipe);
	if (remote->arrived)
		tell_arrived(remote);
	else if (send->vclock)
		sim_vclock_sched_post(send->vclock, remote->info.engine, message.due_ns);
	return rc;
}

/* Send the message a second time, if the consumer has posted one more receive. */
static void fill_duplicate(struct sim_remote_send *send, const struct sim_recvq_message *message, const uint8_t *bytes)
{
	if (sim_remote_consumer_reserve(send->remote, message->len_bytes, 0) == 0)
		sim_remote_send_fill(send, *message, bytes);
	else
		sim_info("a fault sends a message twice to consumer %u, which has no receive for it",
			 send->remote->info.id);
}

int sim_remote_send_fill_with_fault(struct sim_remote_send *send, const struct sim_fault_hit *hit,
				    struct sim_recvq_message message, const uint8_t *bytes)
{
	struct sim_pipe_hdr hdr = { .due_ns = message.due_ns };
	uint32_t *len = message.len_bytes > 0 ? &message.len_bytes : &message.imm_bytes;
	uint8_t *copy = NULL;
	int rc;

	if (message.len_bytes > 0) {
		copy = malloc(message.len_bytes);
		if (copy)
			memcpy(copy, bytes, message.len_bytes);
		message.failed = !copy;
	}
	sim_fault_apply(hit, send->clock, &hdr, len == &message.imm_bytes ? (uint8_t *)(uintptr_t)message.imm : copy,
			len);
	message.due_ns = hdr.due_ns;
	message.reorder_by = hdr.reorder_by;
	rc = sim_remote_send_fill(send, message, copy);
	if (rc == 0 && hdr.duplicate)
		fill_duplicate(send, &message, copy);
	free(copy);
	return rc;
}
