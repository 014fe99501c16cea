/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* In front of each record's data. One of kind SKIP fills the end of the memory. */
struct head {
	uint32_t len;
	uint32_t kind;
};

#define SKIP UINT32_MAX

#define RESTART_BYTES 2048 /* from here on an empty ring begins anew: a small record is still in its first page */

static uint64_t whole(uint64_t len)
{
	return sizeof(struct head) + (len + 7) / 8 * 8;
}

/* One more than may wait of the largest records, as what is left before the end may be too short for one; and at
 * least four, so that one fits whenever half is free, wherever the end lies. */
static uint64_t data_size(const struct sim_ring_cfg *cfg)
{
	uint64_t records = cfg->max_records < 3 ? 3 : cfg->max_records;

	return (records + 1) * whole(cfg->max_record_bytes);
}

size_t sim_ring_size(const struct sim_ring_cfg *cfg)
{
	return sizeof(struct sim_ring_shared) + data_size(cfg);
}

void sim_ring_init(struct sim_ring *ring, const struct sim_ring_cfg *cfg, void *memory)
{
	*ring = (struct sim_ring){.shared = memory, .max_records = cfg->max_records,
				  .max_record_bytes = cfg->max_record_bytes, .size_bytes = data_size(cfg)};
}

/* ---- the writer ---- */

/* What the reader has not read yet; -EPROTO if that can't be. */
static int used(const struct sim_ring *ring, uint64_t *ret_records, uint64_t *ret_bytes)
{
	uint64_t bytes = atomic_load_explicit(&ring->shared->bytes_read, memory_order_acquire);
	uint64_t tail = atomic_load(&ring->shared->tail);

	*ret_records = ring->count - tail;
	*ret_bytes = ring->bytes - bytes;
	return *ret_records > ring->max_records || *ret_bytes > ring->size_bytes ? -EPROTO : 0;
}

static uint64_t left_before_end(const struct sim_ring *ring)
{
	return ring->size_bytes - ring->offset;
}

/* Bytes that a record takes here, with what must be skipped before it. */
static uint64_t needs(const struct sim_ring *ring, size_t len)
{
	uint64_t left = left_before_end(ring);

	return whole(len) > left ? left + whole(len) : whole(len);
}

static int has_room(const struct sim_ring *ring, size_t len)
{
	uint64_t records, bytes;
	int rc = used(ring, &records, &bytes);

	if (rc < 0)
		return rc;
	return records == ring->max_records || ring->size_bytes - bytes < needs(ring, len) ? -EAGAIN : 0;
}

static void advance(struct sim_ring *ring, uint64_t bytes)
{
	ring->bytes += bytes;
	ring->offset += bytes;
	if (ring->offset == ring->size_bytes)
		ring->offset = 0;
}

static void put_head(struct sim_ring *ring, uint32_t kind, uint32_t len)
{
	struct head head = {.len = len, .kind = kind};

	memcpy(ring->shared->data + ring->offset, &head, sizeof(head));
}

/* If the reader has read all: it finds the next record by its number. */
static void begin_anew(struct sim_ring *ring)
{
	if (ring->offset < RESTART_BYTES || atomic_load(&ring->shared->tail) != ring->count)
		return;
	ring->offset = 0;
	atomic_store_explicit(&ring->shared->restart, ring->count, memory_order_relaxed);
}

int sim_ring_write(struct sim_ring *ring, uint32_t kind, const void *data, size_t len)
{
	int rc;

	assert(len <= ring->max_record_bytes && kind != SKIP);
	begin_anew(ring);
	rc = has_room(ring, len);
	if (rc < 0)
		return rc;
	if (whole(len) > left_before_end(ring)) {
		put_head(ring, SKIP, 0);
		advance(ring, left_before_end(ring));
	}
	put_head(ring, kind, (uint32_t)len);
	if (len > 0)
		memcpy(ring->shared->data + ring->offset + sizeof(struct head), data, len);
	advance(ring, whole(len));
	ring->count++;
	atomic_store_explicit(&ring->shared->head, ring->count, memory_order_release);
	return 0;
}

bool sim_ring_want_room(struct sim_ring *ring, size_t len)
{
	atomic_store(&ring->shared->wants_room, 1);
	return has_room(ring, len) != -EAGAIN;
}

/* ---- the reader ---- */

bool sim_ring_has_record(const struct sim_ring *ring)
{
	return atomic_load_explicit(&ring->shared->head, memory_order_acquire) != ring->count;
}

static struct head get_head(const struct sim_ring *ring)
{
	struct head head;

	memcpy(&head, ring->shared->data + ring->offset, sizeof(head));
	return head;
}

int sim_ring_read(struct sim_ring *ring, uint32_t *ret_kind, void *buf, size_t *ret_len)
{
	uint64_t waiting = atomic_load_explicit(&ring->shared->head, memory_order_acquire) - ring->count;
	struct head head;

	if (waiting == 0)
		return -EAGAIN;
	if (waiting > ring->max_records)
		return -EPROTO;
	if (atomic_load_explicit(&ring->shared->restart, memory_order_relaxed) == ring->count)
		ring->offset = 0;
	head = get_head(ring);
	if (head.kind == SKIP && ring->offset > 0) {
		advance(ring, left_before_end(ring));
		head = get_head(ring);
	}
	if (head.kind == SKIP || head.len > ring->max_record_bytes || whole(head.len) > left_before_end(ring))
		return -EPROTO;
	memcpy(buf, ring->shared->data + ring->offset + sizeof(head), head.len);
	*ret_kind = head.kind;
	*ret_len = head.len;
	advance(ring, whole(head.len));
	ring->count++;
	atomic_store_explicit(&ring->shared->bytes_read, ring->bytes, memory_order_release);
	atomic_store(&ring->shared->tail, ring->count);
	return 0;
}

bool sim_ring_must_tell(struct sim_ring *ring)
{
	uint64_t waiting;

	if (!atomic_load(&ring->shared->wants_room))
		return false;
	/* The head is the writer's word: at worst it is told at the wrong time. */
	waiting = atomic_load_explicit(&ring->shared->head, memory_order_relaxed) - ring->count;
	return waiting <= ring->max_records / 2 && atomic_exchange(&ring->shared->wants_room, 0);
}
