/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of other machines for memory of this one.
 *
 * Those of a stream are executed in their order: behind one that a job does, they wait. Those behind one that failed are not executed,
 * until the requester's machine says that it has all answers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "near.h"
#include "pcie_model/arith.h"
#include "sim/base/queue.h"
#include "sim/fabric/served/served.h"
#include "sim/rdma/memory.h"
#include "sim/shm/sync_cell.h"

#define MAX_WAITING_BYTES (64u << 20) /* of all machines: those that keep to their limits have less */

/* A request that waits, or that a job does. */
struct request {
	struct job job;
	struct gateway *gateway;
	struct near *near;
	struct near_stream *stream; /* NULL = it is of none */
	struct gateway_frame frame; /* its body is @bytes */
	struct gateway_frame answer;
	size_t size_bytes;
	STAILQ_ENTRY(request) entry;
	uint8_t bytes[];
};

struct near_stream {
	uint32_t machine;
	uint64_t number;
	bool is_failed, is_busy; /* a job does one of its requests */
	STAILQ_HEAD(, request) waiting;
	LIST_ENTRY(near_stream) entry;
};

/* ---- one request ---- */

/* Of a sync event, which is mapped here. */
static int operate_event(struct near *near, const struct sim_far_operands *operands, uint64_t *ret_before)
{
	const bool has_cell = near->remote->region.len_bytes >= sizeof(struct sim_sync_cell);
	struct sim_sync_cell *cell = (struct sim_sync_cell *)(void *)near->remote->base;
	struct sim_range_guard guard;
	bool must_wake = false, is_lost;

	if (!sim_remote_acquire(near->remote))
		return -EIO;
	sim_range_guard_begin(&guard, cell, has_cell ? sizeof(*cell) : sizeof(cell->value), &near->remote->mapping);
	if (operands->op == SIM_FAR_GET_EVENT)
		*ret_before = atomic_load(&cell->value);
	else if (operands->op == SIM_FAR_SET_EVENT)
		*ret_before = atomic_exchange(&cell->value, operands->operand);
	else
		*ret_before = atomic_fetch_add(&cell->value, operands->operand);
	if (operands->op != SIM_FAR_GET_EVENT && has_cell)
		must_wake = sim_sync_cell_count_change(cell);
	is_lost = sim_range_guard_end(&guard);
	if (guard.guard.has_faulted)
		sim_guard_settle(&guard.guard);
	is_lost |= atomic_load(&near->remote->mapping.is_lost);
	if (must_wake && !is_lost)
		sim_sync_cell_wake(cell);
	sim_remote_release(near->remote);
	return is_lost ? -EIO : 0;
}

static int operate(struct near *near, const struct gateway_frame *request, uint8_t *ret_before)
{
	const bool is_event = near->remote->region.access & SIM_ACCESS_SYNC;
	struct sim_far_operands operands;
	struct sim_rdma_atomic atomic;
	uint64_t before = 0;
	int rc = gateway_operands_read(request, &operands);

	if (rc == 0 && (near->outlet || (operands.op > SIM_FAR_SWAP) != is_event))
		rc = -EACCES;
	if (rc == 0 && is_event) {
		rc = operate_event(near, &operands, &before);
		memcpy(ret_before, &before, sizeof(before));
		return rc;
	}
	atomic = (struct sim_rdma_atomic){ .is_swap = operands.op == SIM_FAR_SWAP,
					   .compare = operands.compare,
					   .operand = operands.operand };
	if (rc == 0)
		rc = sim_rdma_do_atomic(sim_session_atomics_lock(near->gateway->session), near->remote, request->b,
					&atomic, &before);
	memcpy(ret_before, &before, sizeof(before));
	return rc;
}

/* Do a request. @bytes has room for an answer. */
static void execute(struct near *near, const struct gateway_frame *request, uint8_t *bytes,
		    struct gateway_frame *ret_answer)
{
	struct sim_rdma_segment segment = { .addr = (uintptr_t)bytes };
	bool is_copy = near->remote->region.access & (SIM_ACCESS_READ | SIM_ACCESS_WRITE) && !near->outlet;
	struct gateway_frame answer = { .kind = GATEWAY_DONE, .id = request->id, .body = bytes };
	uint32_t len;

	switch (request->kind) {
	case GATEWAY_READ:
		len = (uint32_t)gateway_get(request->body, 4);
		segment.bytes = len;
		answer.status = len > GATEWAY_MAX_DATA ? -EMSGSIZE :
				!is_copy               ? -EACCES :
							 sim_rdma_read(&segment, 1, near->remote, request->b, len);
		answer.len_bytes = len;
		break;
	case GATEWAY_WRITE:
		segment.addr = (uintptr_t)request->body;
		segment.bytes = request->len_bytes;
		answer.status =
			!is_copy ? -EACCES : sim_rdma_write(&segment, 1, near->remote, request->b, request->len_bytes);
		break;
	default:
		answer.status = operate(near, request, bytes);
		answer.len_bytes = sizeof(uint64_t);
	}
	if (answer.status < 0)
		answer.len_bytes = 0;
	*ret_answer = answer;
}

/* ---- streams ---- */

static struct near_stream_list *list_of(struct gateway *gateway, uint64_t number)
{
	return &gateway->near_streams[number % GATEWAY_LISTS];
}

/* The stream, if there is something to remember of it. */
static struct near_stream *find_stream(struct gateway *gateway, uint32_t machine, uint64_t number)
{
	struct near_stream *stream;

	LIST_FOREACH(stream, list_of(gateway, number), entry)
		if (stream->machine == machine && stream->number == number)
			break;
	return stream;
}

/* Number 0 is none: such a request is the only one of its program. NULL also without memory. */
static struct near_stream *get_stream(struct gateway *gateway, const struct gateway_frame *frame)
{
	uint64_t number = frame->id >> GATEWAY_STREAM_SHIFT;
	struct near_stream *stream = number > 0 ? find_stream(gateway, frame->from, number) : NULL;

	if (stream || number == 0)
		return stream;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	*stream = (struct near_stream){ .machine = frame->from, .number = number };
	STAILQ_INIT(&stream->waiting);
	LIST_INSERT_HEAD(list_of(gateway, number), stream, entry);
	return stream;
}

static void free_if_idle(struct near_stream *stream)
{
	if (stream->is_failed || stream->is_busy || !STAILQ_EMPTY(&stream->waiting))
		return;
	LIST_REMOVE(stream, entry);
	free(stream);
}

static void send_answer(struct gateway *gateway, const struct near *near, const struct gateway_frame *request,
			struct gateway_frame *answer)
{
	struct near_stream *stream = answer->status < 0 ? get_stream(gateway, request) : NULL;

	if (stream)
		stream->is_failed = true;
	port_load_answer(gateway, near ? &near->load : NULL, request, answer);
}

static void refuse(struct gateway *gateway, const struct gateway_frame *request, int status)
{
	struct gateway_frame answer = { .kind = GATEWAY_DONE, .id = request->id, .status = status };

	send_answer(gateway, NULL, request, &answer);
}

/* A copy with room for the answer. NULL without memory. */
static struct request *keep(struct gateway *gateway, const struct gateway_frame *frame)
{
	size_t len = frame->kind == GATEWAY_READ ? min_u64(gateway_get(frame->body, 4), GATEWAY_MAX_DATA) : 0;
	size_t size = max_u64(max_u64(len, frame->len_bytes), sizeof(uint64_t));
	struct request *request =
		gateway->near_waiting_bytes + size <= MAX_WAITING_BYTES ? malloc(sizeof(*request) + size) : NULL;

	if (!request)
		return NULL;
	*request = (struct request){ .gateway = gateway, .frame = *frame, .size_bytes = size };
	memcpy(request->bytes, frame->body, frame->len_bytes);
	request->frame.body = request->bytes;
	gateway->near_waiting_bytes += size;
	return request;
}

static void drop(struct request *request)
{
	request->gateway->near_waiting_bytes -= request->size_bytes;
	free(request);
}

static void run_request(struct job *base)
{
	struct request *request = (struct request *)base;

	execute(request->near, &request->frame, request->bytes, &request->answer);
}

static void take_waiting(struct gateway *gateway, struct near_stream *stream);

static void end_request(struct job *base)
{
	struct request *request = (struct request *)base;
	struct gateway *gateway = request->gateway;
	struct near_stream *stream = request->stream;

	send_answer(gateway, request->near, &request->frame, &request->answer);
	request->near->num_jobs--;
	near_release_if_idle(request->near);
	drop(request);
	if (!stream)
		return;
	stream->is_busy = false;
	if (!members_has(gateway, stream->machine))
		stream->is_failed = false;
	take_waiting(gateway, stream);
}

static void execute_in_job(struct near *near, struct request *request)
{
	request->job = (struct job){ .run = run_request, .done = end_request, .is_slow = !near->is_quick };
	request->near = near;
	request->stream = get_stream(near->gateway, &request->frame);
	if (request->stream)
		request->stream->is_busy = true;
	near->num_jobs++;
	jobs_add(&near->gateway->jobs, &request->job);
}

/* Do a request now, or begin it. @kept is its copy, or NULL; it is taken over. */
static void start(struct gateway *gateway, const struct gateway_frame *frame, struct request *kept)
{
	struct near *near = near_find(gateway, frame, frame->a);
	bool needs_job = near && (frame->kind == GATEWAY_OPERATE || !near->is_quick);
	struct gateway_frame answer;
	uint8_t bytes[GATEWAY_MAX_DATA];

	if (needs_job && !kept)
		kept = keep(gateway, frame);
	if (needs_job && kept) {
		execute_in_job(near, kept);
		return;
	}
	if (!near || needs_job) {
		refuse(gateway, frame, near ? -ENOMEM : -EIO);
	} else {
		execute(near, frame, bytes, &answer);
		send_answer(gateway, near, frame, &answer);
	}
	if (kept)
		drop(kept);
}

static void take_waiting(struct gateway *gateway, struct near_stream *stream)
{
	struct request *request;

	while (!stream->is_busy && (request = STAILQ_FIRST(&stream->waiting))) {
		STAILQ_REMOVE_HEAD(&stream->waiting, entry);
		if (!stream->is_failed) {
			start(gateway, &request->frame, request);
			continue;
		}
		refuse(gateway, &request->frame, -ECANCELED);
		drop(request);
	}
	free_if_idle(stream);
}

static void append(struct gateway *gateway, struct near_stream *stream, const struct gateway_frame *frame)
{
	struct request *request = keep(gateway, frame);

	if (request)
		STAILQ_INSERT_TAIL(&stream->waiting, request, entry);
	else
		refuse(gateway, frame, -ENOMEM);
}

void near_on_request(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct near_stream *stream = find_stream(gateway, frame->from, frame->id >> GATEWAY_STREAM_SHIFT);

	if (stream && stream->is_busy)
		append(gateway, stream, frame);
	else if (stream && stream->is_failed)
		refuse(gateway, frame, -ECANCELED);
	else
		start(gateway, frame, NULL);
}

static void forget(struct near_stream *stream)
{
	struct request *request;

	while ((request = STAILQ_FIRST(&stream->waiting))) {
		STAILQ_REMOVE_HEAD(&stream->waiting, entry);
		drop(request);
	}
	stream->is_failed = false;
	free_if_idle(stream);
}

void near_on_stream(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct near_stream *stream = find_stream(gateway, frame->from, frame->id);

	if (stream)
		forget(stream);
}

void near_forget_streams(struct gateway *gateway, uint32_t machine)
{
	struct near_stream *stream, *next;

	for (uint32_t i = 0; i < GATEWAY_LISTS; i++)
		LIST_FOREACH_SAFE(stream, &gateway->near_streams[i], entry, next)
			if (stream->machine == machine)
				forget(stream);
}
