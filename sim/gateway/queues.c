/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of requests for memory of other machines. */
#include "queues.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "far.h"
#include "sim/base/queue.h"
#include "sim/fabric/remote.h"
#include "sim/rdma/far_queue.h"

#define INDEX_SHIFT  48
#define STREAM_SHIFT GATEWAY_STREAM_SHIFT
#define USE_SHIFT    6 /* below it, the number of the slot */
#define NUM_STREAMS  65536

_Static_assert(SIM_FAR_SLOTS == 1 << USE_SHIFT, "an id has a slot in its lowest bits");

/* A slot's use. */
struct use {
	bool is_pending;
	uint16_t stream;
	uint16_t kind;
	uint32_t number; /* of the use, in the id */
	uint32_t machine;
	uint32_t bytes;        /* of the request or the answer */
	uint32_t answer_bytes; /* without an error */
};

struct queue {
	struct gateway *gateway;
	struct sim_remote *remote;
	struct sim_far_queue_shared *shared;
	int wake_fd;
	uint32_t index;
	uint32_t num_taken, num_returned, num_pending;
	uint32_t machine; /* of the last request */
	struct use uses[SIM_FAR_SLOTS];
	uint8_t *failed; /* a bit for each stream; NULL = none has failed */
	atomic_bool is_revoked;
	bool is_ending;
	LIST_ENTRY(queue) entry;
};

struct queues {
	pthread_mutex_t lock; /* protects the list, which jobs read */
	LIST_HEAD(, queue) all;
	struct queue *by_index[QUEUES_MAX + 1]; /* 0 is none */
	uint32_t last_index;
};

int queues_open(struct gateway *gateway)
{
	gateway->queues = calloc(1, sizeof(*gateway->queues));
	if (!gateway->queues)
		return -ENOMEM;
	pthread_mutex_init(&gateway->queues->lock, NULL);
	return 0;
}

/* ---- life ---- */

struct release_job {
	struct job job;
	struct sim_session *session;
	struct sim_remote *remote;
	int wake_fd;
	struct queue *queue; /* NULL = there was none */
};

static void run_release(struct job *base)
{
	struct release_job *job = (struct release_job *)base;

	sim_session_release(job->session, job->remote);
	if (job->wake_fd >= 0)
		close(job->wake_fd);
}

static void end_release(struct job *base)
{
	struct release_job *job = (struct release_job *)base;

	if (job->queue)
		free(job->queue->failed);
	free(job->queue);
	free(job);
}

static void release(struct gateway *gateway, struct sim_remote *remote, int wake_fd, struct queue *queue)
{
	struct release_job *job = calloc(1, sizeof(*job));

	if (!job)
		return;
	*job = (struct release_job){ .job = { .run = run_release, .done = end_release },
				     .session = gateway->session,
				     .remote = remote,
				     .wake_fd = wake_fd,
				     .queue = queue };
	jobs_add(&gateway->jobs, &job->job);
}

bool queues_has(struct gateway *gateway, uint64_t key)
{
	struct queue *queue;

	pthread_mutex_lock(&gateway->queues->lock);
	LIST_FOREACH(queue, &gateway->queues->all, entry)
		if (queue->remote->key == key)
			break;
	pthread_mutex_unlock(&gateway->queues->lock);
	return queue != NULL;
}

bool queues_is_valid(const struct sim_remote *remote)
{
	return remote->region.access & SIM_ACCESS_INBOX && remote->base &&
	       remote->region.len_bytes == sizeof(struct sim_far_queue_shared) && (uintptr_t)remote->base % 64 == 0;
}

/* In the thread that revokes. */
static void on_revoked(void *arg)
{
	struct queue *queue = arg;

	atomic_store(&queue->is_revoked, true);
	jobs_wake(&queue->gateway->jobs);
}

/* Returns 0 if all are used. */
static uint32_t find_index(struct queues *queues)
{
	for (uint32_t i = 0; i < QUEUES_MAX; i++) {
		queues->last_index = queues->last_index % QUEUES_MAX + 1;
		if (!queues->by_index[queues->last_index])
			return queues->last_index;
	}
	return 0;
}

void queues_add(struct gateway *gateway, struct sim_remote *remote, int wake_fd)
{
	struct queues *queues = gateway->queues;
	uint32_t index = queues_has(gateway, remote->key) ? 0 : find_index(queues);
	struct queue *queue = index > 0 ? calloc(1, sizeof(*queue)) : NULL;

	if (!queue) {
		release(gateway, remote, wake_fd, NULL);
		return;
	}
	*queue = (struct queue){ .gateway = gateway,
				 .remote = remote,
				 .shared = (struct sim_far_queue_shared *)(void *)remote->base,
				 .wake_fd = wake_fd,
				 .index = index };
	queues->by_index[index] = queue;
	pthread_mutex_lock(&queues->lock);
	LIST_INSERT_HEAD(&queues->all, queue, entry);
	pthread_mutex_unlock(&queues->lock);
	sim_remote_on_revoked(remote, on_revoked, queue);
}

/* A queue that has ended stays until the answers to its requests have come, so that its index means no other one. */
static void free_if_idle(struct queue *queue)
{
	struct gateway *gateway = queue->gateway;

	if (!queue->is_ending || queue->num_pending > 0)
		return;
	gateway->queues->by_index[queue->index] = NULL;
	release(gateway, queue->remote, queue->wake_fd, queue);
}

void queues_end_revoked(struct gateway *gateway)
{
	struct queue *queue, *next;

	LIST_FOREACH_SAFE(queue, &gateway->queues->all, entry, next) {
		if (!atomic_load(&queue->is_revoked))
			continue;
		pthread_mutex_lock(&gateway->queues->lock);
		LIST_REMOVE(queue, entry);
		pthread_mutex_unlock(&gateway->queues->lock);
		queue->is_ending = true;
		free_if_idle(queue);
	}
}

/* ---- streams ---- */

static bool has_failed(const struct queue *queue, uint16_t stream)
{
	return queue->failed && queue->failed[stream / 8] & 1u << stream % 8;
}

static void begin_stream(struct queue *queue, uint16_t stream)
{
	if (queue->failed)
		queue->failed[stream / 8] &= (uint8_t) ~(1u << stream % 8);
}

/* Without memory, requests behind the failed one are executed. */
static void fail_stream(struct queue *queue, uint16_t stream)
{
	if (!queue->failed)
		queue->failed = calloc(NUM_STREAMS / 8, 1);
	if (queue->failed)
		queue->failed[stream / 8] |= (uint8_t)(1u << stream % 8);
}

static bool is_pending(const struct queue *queue, uint16_t stream)
{
	for (uint32_t i = 0; i < SIM_FAR_SLOTS; i++)
		if (queue->uses[i].is_pending && queue->uses[i].stream == stream)
			return true;
	return false;
}

static uint64_t id_of(const struct queue *queue, uint32_t slot)
{
	const struct use *use = &queue->uses[slot];

	return (uint64_t)queue->index << INDEX_SHIFT | (uint64_t)use->stream << STREAM_SHIFT |
	       (uint32_t)(use->number << USE_SHIFT | slot);
}

/* ---- slots ---- */

static void return_slot(struct queue *queue, uint32_t slot, int status)
{
	struct sim_far_queue_shared *shared = queue->shared;

	if (queue->is_ending)
		return;
	shared->slots[slot].status = status;
	shared->returns[queue->num_returned % SIM_FAR_SLOTS] = slot;
	atomic_store(&shared->num_returned, ++queue->num_returned);
	queue->gateway->wakes_programs =
		atomic_load(&shared->requester_asleep) && atomic_exchange(&shared->requester_asleep, 0);
	queue->gateway->has_answered |= !queue->gateway->wakes_programs;
	if (queue->gateway->wakes_programs && queue->wake_fd >= 0)
		sim_wake_send(queue->wake_fd);
}

/* The program may change a slot at any time: @wanted is a copy. */
static int check(struct queue *queue, const struct sim_far_slot *wanted, struct far **ret_far)
{
	void *far;
	int rc;

	if (wanted->is_first)
		begin_stream(queue, wanted->stream);
	if (has_failed(queue, wanted->stream))
		return -ECANCELED;
	if (wanted->kind > SIM_SERVED_FAR_OP || wanted->len_bytes > SIM_FAR_SLOT_BYTES ||
	    (wanted->kind == SIM_SERVED_FAR_OP && wanted->len_bytes != sizeof(struct sim_far_operands)))
		return -EPROTO;
	rc = sim_target_find_far(queue->gateway->target, &wanted->grant, wanted->kind, wanted->offset,
				 wanted->len_bytes, &far);
	if (rc == 0)
		*ret_far = far;
	return rc;
}

static int send_request(struct queue *queue, uint32_t slot, const struct sim_far_slot *wanted, const struct far *far)
{
	struct use *use = &queue->uses[slot];

	*use = (struct use){ .stream = wanted->stream,
			     .kind = wanted->kind,
			     .number = use->number + 1,
			     .machine = far->machine,
			     .bytes = wanted->len_bytes,
			     .answer_bytes = far_answer_bytes(wanted->kind, wanted->len_bytes) };
	return far_send(far, wanted->kind, wanted->offset, wanted->len_bytes, queue->shared->data[slot],
			id_of(queue, slot));
}

static void take_slot(struct queue *queue, uint32_t slot)
{
	struct sim_far_slot wanted;
	struct far *far = NULL;
	int rc;

	if (slot >= SIM_FAR_SLOTS || queue->uses[slot].is_pending)
		return;
	memcpy(&wanted, &queue->shared->slots[slot], sizeof(wanted));
	atomic_signal_fence(memory_order_seq_cst); /* the copy is checked, not the slot */
	rc = check(queue, &wanted, &far);
	if (rc == 0 && send_request(queue, slot, &wanted, far) < 0)
		rc = -EIO;
	if (rc < 0) {
		fail_stream(queue, wanted.stream);
		return_slot(queue, slot, rc);
		return;
	}
	queue->uses[slot].is_pending = true;
	queue->num_pending++;
	queue->machine = far->machine;
	queue->gateway->machines[far->machine].pending_bytes += wanted.len_bytes;
}

static bool may_take(const struct queue *queue)
{
	return queue->num_pending == 0 || queue->gateway->machines[queue->machine].pending_bytes < QUEUES_MAX_BYTES;
}

/* At most as many as there are slots: the program is not trusted. */
static bool poll_queue(struct queue *queue)
{
	uint32_t num_posted = atomic_load_explicit(&queue->shared->num_posted, memory_order_acquire), i = 0;

	if (queue->num_taken == num_posted)
		return false;
	for (; i < SIM_FAR_SLOTS && queue->num_taken != num_posted && may_take(queue); i++)
		take_slot(queue, *(volatile uint32_t *)&queue->shared->posts[queue->num_taken++ % SIM_FAR_SLOTS]);
	return i > 0;
}

bool queues_poll(struct gateway *gateway)
{
	struct queue *queue;
	bool found = false;

	LIST_FOREACH(queue, &gateway->queues->all, entry)
		found |= poll_queue(queue);
	return found;
}

bool queues_have_posts(const struct gateway *gateway)
{
	const struct queue *queue;

	LIST_FOREACH(queue, &gateway->queues->all, entry)
		if (atomic_load(&queue->shared->num_posted) != queue->num_taken && may_take(queue))
			return true;
	return false;
}

bool queues_arm(struct gateway *gateway)
{
	struct queue *queue;
	bool found = false;

	LIST_FOREACH(queue, &gateway->queues->all, entry) {
		atomic_store(&queue->shared->gateway_asleep, 1);
		found |= atomic_load(&queue->shared->num_posted) != queue->num_taken && may_take(queue);
	}
	return found;
}

void queues_disarm(struct gateway *gateway)
{
	struct queue *queue;

	LIST_FOREACH(queue, &gateway->queues->all, entry)
		if (atomic_load_explicit(&queue->shared->gateway_asleep, memory_order_relaxed))
			atomic_store_explicit(&queue->shared->gateway_asleep, 0, memory_order_relaxed);
}

/* ---- answers ---- */

static void end_use(struct queue *queue, uint32_t slot, int status)
{
	struct use *use = &queue->uses[slot];
	struct gateway *gateway = queue->gateway;

	use->is_pending = false;
	queue->num_pending--;
	gateway->machines[use->machine].pending_bytes -= use->bytes;
	if (status < 0)
		fail_stream(queue, use->stream);
	if (status < 0 && !is_pending(queue, use->stream))
		gateway_send(
			gateway, use->machine,
			&(struct gateway_frame){ .kind = GATEWAY_STREAM, .id = id_of(queue, slot) >> STREAM_SHIFT });
	return_slot(queue, slot, status);
	free_if_idle(queue);
}

bool queues_on_done(struct gateway *gateway, const struct gateway_frame *frame)
{
	uint32_t index = (uint32_t)(frame->id >> INDEX_SHIFT), slot = frame->id % SIM_FAR_SLOTS;
	struct queue *queue = index <= QUEUES_MAX ? gateway->queues->by_index[index] : NULL;
	struct use *use = queue ? &queue->uses[slot] : NULL;
	int status = frame->status;

	if (index == 0)
		return false;
	if (!use || !use->is_pending || use->machine != frame->from || id_of(queue, slot) != frame->id)
		return true;
	if (status == 0 && frame->len_bytes != use->answer_bytes)
		status = -EIO;
	if (status == 0 && use->answer_bytes > 0 && !queue->is_ending)
		memcpy(queue->shared->data[slot], frame->body, use->answer_bytes);
	end_use(queue, slot, status);
	return true;
}

static void fail_all(struct queue *queue, uint32_t machine)
{
	uint32_t left = queue->num_pending; /* the last one may free the queue */

	for (uint32_t i = 0; i < SIM_FAR_SLOTS && left > 0; i++) {
		if (!queue->uses[i].is_pending)
			continue;
		left--;
		if (queue->uses[i].machine == machine)
			end_use(queue, i, -EIO);
	}
}

void queues_machine_lost(struct gateway *gateway, uint32_t machine)
{
	for (uint32_t i = 1; i <= QUEUES_MAX; i++)
		if (gateway->queues->by_index[i])
			fail_all(gateway->queues->by_index[i], machine);
}
