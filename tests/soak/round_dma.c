/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies: the DPU reads the host's memory and writes it, the host copies in its own.
 *
 * Memory is cut into slots, one for each copy. Before, each holds its pattern of before;
 * what a copy writes has another. A copy that went well leaves the new pattern;
 * one that failed a part of the new, and the old behind it. Anything else is wrong bytes.
 * When the host is killed the DPU's copies fail; when the DPU is, each of its copies may have been anywhere.
 */
#include "side.h"

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dma.h>

#define MAX_SLOTS 64
#define MAX_CTXS  3
#define MAX_DEPTH 8

/* The result of each copy of a round, sent to the host; none if the DPU was killed (torn). */
enum fate { FATE_NONE, FATE_DONE, FATE_FAILED, FATE_TORN };

struct plan {
	uint32_t num_slots, slot_bytes, num_ctxs, depth;
	bool shared;
	uint64_t seed;
};

struct job {
	struct ticket ticket;
	struct doca_buf *src, *dst;
	uint32_t slot;
	struct copier *copier;
	bool used;
};

/* One context with its tasks. */
struct engine {
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct job jobs[MAX_DEPTH];
	uint32_t num_in_flight;
};

/* All copies of one process in a round. */
struct copier {
	struct side *side;
	const struct plan *plan;
	struct doca_buf_inventory *inventory;
	struct engine engines[MAX_CTXS];
	/* Direction of slot @i: from near to far memory, or back. */
	struct doca_mmap *near_map, *far_map;
	uint8_t *near, *far; /* addresses; far may be the other side's */
	uint32_t next;
	uint8_t fate[MAX_SLOTS];
	int64_t news_ms;
};

/* ---- contents ---- */

static struct plan make_plan(const struct side *side)
{
	struct random random = side_random(side, 'd');
	struct plan plan = {
		.num_slots = (uint32_t)random_in(&random, 1, MAX_SLOTS),
		.slot_bytes = (uint32_t)(random_in(&random, 0, 3) ? random_in(&random, 1, 4096) :
								    random_in(&random, 1, 131072)),
		.num_ctxs = (uint32_t)random_in(&random, 1, MAX_CTXS),
		.depth = (uint32_t)random_in(&random, 1, MAX_DEPTH),
		.shared = random_bool(&random),
	};

	plan.seed = random_in(&random, 0, UINT32_MAX);
	return plan;
}

static bool is_to_far(const struct plan *plan, uint32_t slot)
{
	return random_mix(plan->seed + slot) & 1;
}

/* Patterns of near memory and of far memory; a successful copy leaves its source's pattern in its destination. */
static uint64_t pattern_of(const struct plan *plan, uint32_t slot, bool is_far)
{
	return random_mix(plan->seed + slot) * 2 + is_far;
}

static void fill(const struct plan *plan, uint8_t *addr, bool is_far)
{
	for (uint32_t slot = 0; slot < plan->num_slots; slot++)
		pattern_fill(addr + (size_t)slot * plan->slot_bytes, plan->slot_bytes, pattern_of(plan, slot, is_far));
}

/* A failed copy: @old behind some of @new. */
static bool is_part(const uint8_t *bytes, size_t len, uint64_t new, uint64_t old)
{
	uint8_t was[131072];
	size_t moved = pattern_prefix(bytes, len, new);

	pattern_fill(was, len, old);
	return memcmp(bytes + moved, was + moved, len - moved) == 0;
}

/* A copy of a killed process: some bytes are new, in any order, as a processor need not copy them in order. */
static bool is_mixed(const uint8_t *bytes, size_t len, uint64_t new, uint64_t old)
{
	uint8_t will[131072], was[131072];

	pattern_fill(will, len, new);
	pattern_fill(was, len, old);
	for (size_t at = 0; at < len; at++)
		if (bytes[at] != will[at] && bytes[at] != was[at])
			return false;
	return true;
}

/* Whether the slot of near (far) memory holds what it should after a copy with that result. */
static bool is_right(const struct plan *plan, const uint8_t *addr, uint32_t slot, bool is_far, enum fate fate)
{
	const uint8_t *bytes = addr + (size_t)slot * plan->slot_bytes;
	uint64_t here = pattern_of(plan, slot, is_far), there = pattern_of(plan, slot, !is_far);

	if (is_to_far(plan, slot) != is_far || fate == FATE_NONE) /* the memory was only read, or not accessed */
		return pattern_is(bytes, plan->slot_bytes, here);
	if (fate == FATE_DONE)
		return pattern_is(bytes, plan->slot_bytes, there);
	if (fate == FATE_TORN)
		return is_mixed(bytes, plan->slot_bytes, there, here);
	return is_part(bytes, plan->slot_bytes, there, here);
}

static void inspect(struct side *side, const struct plan *plan, const uint8_t *addr, bool is_far, const uint8_t *fate)
{
	for (uint32_t slot = 0; slot < plan->num_slots; slot++) {
		side->seen->wrong_copies += !is_right(plan, addr, slot, is_far, fate[slot]);
		side->seen->bytes += plan->slot_bytes;
	}
}

/* ---- copies ---- */

static void on_done(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct job *job = task_data.ptr;
	struct engine *engine = ctx_data.ptr;
	struct copier *copier = job->copier;
	doca_error_t status = side_done(copier->side, doca_dma_task_memcpy_as_task(task), &job->ticket);

	copier->fate[job->slot] = status == DOCA_SUCCESS ? FATE_DONE : FATE_FAILED;
	copier->news_ms = side_now_ms();
	MUST(doca_buf_dec_refcount(job->src, NULL));
	MUST(doca_buf_dec_refcount(job->dst, NULL));
	job->used = false;
	engine->num_in_flight--;
}

static void engine_open(struct copier *copier, struct engine *engine)
{
	MUST(doca_dma_create(copier->side->dev, &engine->dma));
	engine->ctx = doca_dma_as_ctx(engine->dma);
	MUST(doca_dma_task_memcpy_set_conf(engine->dma, on_done, on_done, copier->plan->depth));
	MUST(doca_ctx_set_user_data(engine->ctx, (union doca_data){ .ptr = engine }));
	MUST(doca_pe_connect_ctx(copier->side->pe, engine->ctx));
	MUST(doca_ctx_start(engine->ctx));
}

static void engine_close(struct copier *copier, struct engine *engine)
{
	side_stop(copier->side, engine->ctx);
	NEED(engine->num_in_flight == 0);
	MUST(doca_dma_destroy(engine->dma));
}

static struct job *free_job(const struct copier *copier, struct engine *engine)
{
	for (uint32_t i = 0; i < copier->plan->depth; i++)
		if (!engine->jobs[i].used)
			return &engine->jobs[i];
	return NULL;
}

static struct doca_buf *buf_of(struct copier *copier, struct doca_mmap *map, uint8_t *addr, uint32_t slot, bool is_src)
{
	uint32_t len = copier->plan->slot_bytes;
	struct doca_buf *buf;

	addr += (size_t)slot * len;
	if (is_src)
		MUST(doca_buf_inventory_buf_get_by_data(copier->inventory, map, addr, len, &buf));
	else
		MUST(doca_buf_inventory_buf_get_by_addr(copier->inventory, map, addr, len, &buf));
	return buf;
}

/* Begin the next copy. Returns true if it was submitted. */
static bool engine_feed(struct copier *copier, struct engine *engine)
{
	bool far = is_to_far(copier->plan, copier->next);
	struct job *job = free_job(copier, engine);
	struct doca_dma_task_memcpy *task;

	if (!job || side_state(engine->ctx) != DOCA_CTX_STATE_RUNNING)
		return false;
	*job = (struct job){ .slot = copier->next, .copier = copier, .used = true };
	job->src = buf_of(copier, far ? copier->near_map : copier->far_map, far ? copier->near : copier->far, job->slot,
			  true);
	job->dst = buf_of(copier, far ? copier->far_map : copier->near_map, far ? copier->far : copier->near, job->slot,
			  false);
	MUST(doca_dma_task_memcpy_alloc_init(engine->dma, job->src, job->dst, (union doca_data){ .ptr = job }, &task));
	if (side_submit(copier->side, doca_dma_task_memcpy_as_task(task), &job->ticket)) {
		engine->num_in_flight++;
		copier->next++;
		return true;
	}
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	MUST(doca_buf_dec_refcount(job->src, NULL));
	MUST(doca_buf_dec_refcount(job->dst, NULL));
	job->used = false;
	return false;
}

/* A context stops by itself after a failure, and is started again. */
static void engine_mend(struct engine *engine)
{
	if (side_state(engine->ctx) != DOCA_CTX_STATE_IDLE)
		return;
	NEED(engine->num_in_flight == 0);
	MUST(doca_ctx_start(engine->ctx));
}

static uint32_t num_in_flight(const struct copier *copier)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < copier->plan->num_ctxs; i++)
		count += copier->engines[i].num_in_flight;
	return count;
}

/* No completion for a while: give up the hanging tasks. */
static void give_up_hanging(struct copier *copier)
{
	if (side_now_ms() - copier->news_ms < SIDE_GIVE_UP_MS)
		return;
	copier->side->seen->hung += num_in_flight(copier);
	for (uint32_t i = 0; i < copier->plan->num_ctxs; i++)
		if (copier->engines[i].num_in_flight)
			side_stop(copier->side, copier->engines[i].ctx);
	NEED(num_in_flight(copier) == 0);
}

static void copier_run(struct copier *copier)
{
	const struct plan *plan = copier->plan;

	MUST(doca_buf_inventory_create(2 * MAX_CTXS * MAX_DEPTH, &copier->inventory));
	MUST(doca_buf_inventory_start(copier->inventory));
	for (uint32_t i = 0; i < plan->num_ctxs; i++)
		engine_open(copier, &copier->engines[i]);
	copier->news_ms = side_now_ms();
	while (copier->next < plan->num_slots || num_in_flight(copier)) {
		for (uint32_t i = 0; i < plan->num_ctxs && copier->next < plan->num_slots; i++) {
			engine_mend(&copier->engines[i]);
			engine_feed(copier, &copier->engines[i]);
		}
		if (!side_step(copier->side) && num_in_flight(copier))
			give_up_hanging(copier);
	}
	for (uint32_t i = 0; i < plan->num_ctxs; i++)
		engine_close(copier, &copier->engines[i]);
	MUST(doca_buf_inventory_destroy(copier->inventory));
}

/* ---- the round ---- */

/* Within one process, between two memories of its own. */
static void copy_local(struct side *side, const struct plan *plan)
{
	size_t len = (size_t)plan->num_slots * plan->slot_bytes;
	struct side_memory near, far;
	struct copier copier = { .side = side, .plan = plan };

	side_memory_open(side, len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, plan->shared, &near);
	side_memory_open(side, len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, false, &far);
	copier.near_map = near.mmap, copier.near = near.addr;
	copier.far_map = far.mmap, copier.far = far.addr;
	fill(plan, near.addr, false);
	fill(plan, far.addr, true);
	copier_run(&copier);
	inspect(side, plan, near.addr, false, copier.fate);
	inspect(side, plan, far.addr, true, copier.fate);
	side_memory_close(&near);
	side_memory_close(&far);
}

struct place {
	uint64_t addr, desc_len;
	uint8_t desc[1024];
};

static void host_half(struct side *side, const struct plan *plan)
{
	size_t len = (size_t)plan->num_slots * plan->slot_bytes, desc_len;
	uint8_t fate[MAX_SLOTS];
	struct side_memory memory;
	struct place place = { 0 };
	const void *desc;

	side_memory_open(side, len, DOCA_ACCESS_FLAG_PCI_READ_WRITE, plan->shared, &memory);
	fill(plan, memory.addr, true);
	MUST(doca_mmap_export_pci(memory.mmap, side->dev, &desc, &desc_len));
	NEED(desc_len <= sizeof(place.desc));
	place.addr = (uintptr_t)memory.addr;
	place.desc_len = desc_len;
	memcpy(place.desc, desc, desc_len);
	side_send(side, &place, sizeof(place));
	copy_local(side, plan);
	if (!side_recv(side, fate, sizeof(fate)))
		memset(fate, FATE_TORN, sizeof(fate));
	inspect(side, plan, memory.addr, true, fate);
	side_memory_close(&memory);
}

static void copy_to_host(struct side *side, const struct plan *plan, struct copier *copier)
{
	struct side_memory near;

	side_memory_open(side, (size_t)plan->num_slots * plan->slot_bytes, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, false,
			 &near);
	fill(plan, near.addr, false);
	copier->near_map = near.mmap, copier->near = near.addr;
	copier_run(copier);
	inspect(side, plan, near.addr, false, copier->fate);
	side_memory_close(&near);
}

static void dpu_half(struct side *side, const struct plan *plan)
{
	struct copier copier = { .side = side, .plan = plan };
	struct place place;

	if (!side_recv(side, &place, sizeof(place)))
		return;
	copier.far = (uint8_t *)(uintptr_t)place.addr;
	if (!MUST_UNLESS_ALONE(
		    side, doca_mmap_create_from_export(NULL, place.desc, place.desc_len, side->dev, &copier.far_map)))
		return;
	copy_to_host(side, plan, &copier);
	MUST(doca_mmap_destroy(copier.far_map));
	side_send(side, copier.fate, sizeof(copier.fate));
}

void round_dma(struct side *side)
{
	struct plan plan = make_plan(side);

	if (side->which == HOST)
		host_half(side, &plan);
	else
		dpu_half(side, &plan);
}
