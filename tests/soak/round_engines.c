/* SPDX-License-Identifier: BSD-3-Clause */
/* The other engines: each process has a machine (machine.h) work on slots of memory, of its own or, on the DPU, of the host.
 * A task that succeeds has the right output; one that fails adds no data to its destination. Nothing writes to the sources,
 * and nothing behind a destination's room. */
#include "machine.h"

#include <doca_buf_inventory.h>

#define MAX_SLOTS  32
#define MAX_BYTES  16384 /* of a slot */
#define GUARD_BYTE 0x5a

struct plan {
	uint32_t num_slots, slot_bytes, depth;
	int which; /* machine */
	uint64_t seed;
};

struct job {
	struct ticket ticket;
	struct doca_buf *src, *dst;
	uint32_t slot;
	size_t given_bytes; /* of the source, to a task that takes pieces */
	struct worker *worker;
	bool used;
};

/* What a process does in a round. */
struct worker {
	struct side *side;
	const struct plan *plan;
	struct machine machine;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *src_map;
	uint8_t *src;              /* may be the other side's */
	struct side_memory out[2]; /* of the steps */
	size_t src_bytes[MAX_SLOTS];
	size_t written[2][MAX_SLOTS];
	struct job jobs[MACHINE_MAX_TASKS];
	uint32_t step, next, num_in_flight;
	int64_t news_ms;
};

static struct plan make_plan(const struct side *side)
{
	struct random random = side_random(side, 'e');

	return (struct plan){
		.num_slots = (uint32_t)random_in(&random, 1, MAX_SLOTS),
		.slot_bytes = (uint32_t)random_in(&random, 1, MAX_BYTES / MACHINE_TEXT_UNIT) * MACHINE_TEXT_UNIT,
		.depth = (uint32_t)random_in(&random, 1, MACHINE_MAX_TASKS),
		.which = (int)random_in(&random, 0, NUM_MACHINES - 1),
		.seed = random_in(&random, 0, UINT32_MAX),
	};
}

/* Two slots have the same text, so that digests can be compared. */
static uint64_t pattern_of(const struct plan *plan, uint32_t slot)
{
	return random_mix(plan->seed + slot / 2);
}

/* The halves of a text that is encoded are the same, so that there is something to encode. */
static void make_text(const struct plan *plan, uint32_t slot, uint8_t *text)
{
	size_t half = plan->slot_bytes / 2;

	pattern_fill(text, plan->slot_bytes, pattern_of(plan, slot));
	if (machines[plan->which].encode)
		memcpy(text + half, text, half);
}

/* Returns how many bytes a slot's source has, and sets them. */
static size_t make_source(const struct plan *plan, uint32_t slot, uint8_t *source)
{
	uint8_t text[MAX_BYTES];

	if (!machines[plan->which].encode) {
		make_text(plan, slot, source);
		return plan->slot_bytes;
	}
	make_text(plan, slot, text);
	return machines[plan->which].encode(text, plan->slot_bytes, source);
}

static void fill(const struct plan *plan, uint8_t *src)
{
	uint8_t source[2 * MAX_BYTES];

	for (uint32_t slot = 0; slot < plan->num_slots; slot++) {
		size_t len = make_source(plan, slot, source);

		NEED(len <= plan->slot_bytes);
		memcpy(src + (size_t)slot * plan->slot_bytes, source, len);
	}
}

/* Whether nobody wrote to the sources. */
static bool is_unchanged(const struct plan *plan, const uint8_t *src)
{
	uint8_t source[2 * MAX_BYTES];

	for (uint32_t slot = 0; slot < plan->num_slots; slot++) {
		size_t len = make_source(plan, slot, source);

		if (memcmp(src + (size_t)slot * plan->slot_bytes, source, len) != 0)
			return false;
	}
	return true;
}

/* The room of a slot of output; the last byte is not given to the task. */
static size_t room(const struct plan *plan)
{
	return plan->slot_bytes + MACHINE_MAX_EXTRA;
}

static uint8_t *out_of(const struct worker *worker, uint32_t step, uint32_t slot)
{
	return worker->out[step].addr + slot * room(worker->plan);
}

/* ---- tasks ---- */

static void give_back(struct job *job)
{
	MUST(doca_buf_dec_refcount(job->src, NULL));
	MUST(doca_buf_dec_refcount(job->dst, NULL));
	job->used = false;
}

static bool takes_pieces(const struct worker *worker)
{
	return worker->machine.ops->set_last_piece != NULL;
}

/* The next piece of the source; every second slot has one alone. */
static void give_piece(struct job *job, struct doca_task *task)
{
	const struct worker *worker = job->worker;
	uint8_t *text = worker->src + (size_t)job->slot * worker->plan->slot_bytes;
	size_t left = worker->plan->slot_bytes - job->given_bytes;
	size_t len = left > MACHINE_PIECE_BYTES && job->slot % 2 == 0 ? MACHINE_PIECE_BYTES : left;

	MUST(doca_buf_set_data(job->src, text + job->given_bytes, len));
	job->given_bytes += len;
	if (len == left)
		worker->machine.ops->set_last_piece(task);
}

/* Returns whether the task is in flight again, with its next piece. */
static bool goes_on(struct job *job, struct doca_task *task)
{
	struct worker *worker = job->worker;

	if (!takes_pieces(worker) || job->given_bytes == worker->plan->slot_bytes)
		return false;
	if (side_state(worker->machine.ctx) != DOCA_CTX_STATE_RUNNING)
		return false;
	give_piece(job, task);
	return side_submit(worker->side, task, &job->ticket);
}

static void on_end(void *job_of_task, struct doca_task *task)
{
	struct job *job = job_of_task;
	struct worker *worker = job->worker;
	doca_error_t status = side_ended(worker->side, task, &job->ticket);
	bool has_ended = !takes_pieces(worker) || job->given_bytes == worker->plan->slot_bytes;
	size_t written;

	worker->news_ms = side_now_ms();
	if (status == DOCA_SUCCESS && goes_on(job, task))
		return;
	doca_task_free(task);
	MUST(doca_buf_get_data_len(job->dst, &written));
	NEED(status == DOCA_SUCCESS && has_ended ? written > 0 : written == 0);
	worker->written[worker->step][job->slot] = written;
	worker->num_in_flight--;
	give_back(job);
}

static struct job *free_job(struct worker *worker)
{
	for (uint32_t i = 0; i < worker->plan->depth; i++)
		if (!worker->jobs[i].used)
			return &worker->jobs[i];
	return NULL;
}

static void take_bufs(struct worker *worker, struct job *job)
{
	const struct plan *plan = worker->plan;
	uint8_t *text = worker->src + (size_t)job->slot * plan->slot_bytes;

	if (worker->step == 0)
		MUST(doca_buf_inventory_buf_get_by_data(worker->inventory, worker->src_map, text,
							worker->src_bytes[job->slot], &job->src));
	else
		MUST(doca_buf_inventory_buf_get_by_data(worker->inventory, worker->out[0].mmap,
							out_of(worker, 0, job->slot), worker->written[0][job->slot],
							&job->src));
	MUST(doca_buf_inventory_buf_get_by_addr(worker->inventory, worker->out[worker->step].mmap,
						out_of(worker, worker->step, job->slot), room(plan) - 1, &job->dst));
}

/* Begin the next task of the step. */
static void feed(struct worker *worker)
{
	struct job *job = free_job(worker);
	struct doca_task *task;

	if (!job || side_state(worker->machine.ctx) != DOCA_CTX_STATE_RUNNING)
		return;
	if (worker->step == 1 && worker->written[0][worker->next] == 0) { /* the first step failed */
		worker->next++;
		return;
	}
	*job = (struct job){ .slot = worker->next, .worker = worker, .used = true };
	take_bufs(worker, job);
	task = worker->machine.ops->alloc(&worker->machine, worker->step, job->src, job->dst,
					  (union doca_data){ .ptr = job });
	if (takes_pieces(worker))
		give_piece(job, task);
	if (side_submit(worker->side, task, &job->ticket)) {
		worker->num_in_flight++;
		worker->next++;
		return;
	}
	doca_task_free(task);
	give_back(job);
}

/* A context stops by itself after a failure, and is started again. */
static void mend(struct worker *worker)
{
	if (side_state(worker->machine.ctx) == DOCA_CTX_STATE_IDLE)
		MUST(doca_ctx_start(worker->machine.ctx));
}

/* No completion for a while: give up the hanging tasks. */
static void give_up_hanging(struct worker *worker)
{
	if (side_now_ms() - worker->news_ms < SIDE_GIVE_UP_MS)
		return;
	worker->side->seen->hung += worker->num_in_flight;
	side_stop(worker->side, worker->machine.ctx);
	NEED(worker->num_in_flight == 0);
}

static void run_step(struct worker *worker, uint32_t step)
{
	worker->step = step;
	worker->next = 0;
	worker->news_ms = side_now_ms();
	while (worker->next < worker->plan->num_slots || worker->num_in_flight) {
		mend(worker);
		if (worker->next < worker->plan->num_slots)
			feed(worker);
		if (!side_step(worker->side) && worker->num_in_flight)
			give_up_hanging(worker);
	}
}

/* ---- the round ---- */

static void open_outputs(struct worker *worker)
{
	size_t len = worker->plan->num_slots * room(worker->plan);

	for (uint32_t step = 0; step < worker->machine.ops->num_steps; step++) {
		side_memory_open(worker->side, len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, false, &worker->out[step]);
		memset(worker->out[step].addr, GUARD_BYTE, len);
	}
}

static void inspect(const struct worker *worker)
{
	const struct plan *plan = worker->plan;
	uint32_t last = worker->machine.ops->num_steps - 1;
	uint8_t text[MAX_BYTES];

	for (uint32_t slot = 0; slot < plan->num_slots; slot++) {
		size_t written = worker->written[last][slot];

		for (uint32_t step = 0; step <= last; step++)
			NEED(out_of(worker, step, slot)[room(plan) - 1] == GUARD_BYTE);
		if (written == 0)
			continue;
		make_text(plan, slot, text);
		worker->side->seen->wrong_outputs +=
			!worker->machine.ops->is_right(out_of(worker, last, slot), written, text, plan->slot_bytes);
		worker->side->seen->bytes += written;
	}
}

static void work(struct worker *worker)
{
	uint8_t source[2 * MAX_BYTES];

	for (uint32_t slot = 0; slot < worker->plan->num_slots; slot++)
		worker->src_bytes[slot] = make_source(worker->plan, slot, source);
	MUST(doca_buf_inventory_create(2 * MACHINE_MAX_TASKS, &worker->inventory));
	MUST(doca_buf_inventory_start(worker->inventory));
	machine_open(&worker->machine, worker->side, worker->plan->which, on_end);
	open_outputs(worker);
	for (uint32_t step = 0; step < worker->machine.ops->num_steps; step++)
		run_step(worker, step);
	inspect(worker);
	machine_close(&worker->machine, worker->side);
	for (uint32_t step = 0; step < worker->machine.ops->num_steps; step++)
		side_memory_close(&worker->out[step]);
	MUST(doca_buf_inventory_destroy(worker->inventory));
}

struct place {
	uint64_t addr, desc_len;
	uint8_t desc[1024];
};

/* The host lends its texts to the DPU, and works on them itself. */
static void host_half(struct side *side, const struct plan *plan)
{
	struct worker worker = { .side = side, .plan = plan };
	struct side_memory memory;
	struct place place = { 0 };
	const void *desc;
	size_t desc_len;

	side_memory_open(side, (size_t)plan->num_slots * plan->slot_bytes, DOCA_ACCESS_FLAG_PCI_READ_ONLY, false,
			 &memory);
	fill(plan, memory.addr);
	MUST(doca_mmap_export_pci(memory.mmap, side->dev, &desc, &desc_len));
	NEED(desc_len <= sizeof(place.desc));
	place.addr = (uintptr_t)memory.addr;
	place.desc_len = desc_len;
	memcpy(place.desc, desc, desc_len);
	side_send(side, &place, sizeof(place));
	worker.src = memory.addr;
	worker.src_map = memory.mmap;
	work(&worker);
	side_meet(side); /* the DPU is done with the memory */
	NEED(is_unchanged(plan, memory.addr));
	side_memory_close(&memory);
}

static void dpu_half(struct side *side, const struct plan *plan)
{
	struct worker worker = { .side = side, .plan = plan };
	struct place place;

	if (!side_recv(side, &place, sizeof(place)))
		return;
	if (!MUST_UNLESS_ALONE(
		    side, doca_mmap_create_from_export(NULL, place.desc, place.desc_len, side->dev, &worker.src_map)))
		return;
	worker.src = (uint8_t *)(uintptr_t)place.addr;
	work(&worker);
	side_meet(side);
	MUST(doca_mmap_destroy(worker.src_map));
}

void round_engines(struct side *side)
{
	struct plan plan = make_plan(side);

	if (side->which == HOST)
		host_half(side, &plan);
	else
		dpu_half(side, &plan);
}
