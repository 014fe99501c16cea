/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings of records: one writer, one reader. */
#include "ring.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "sim/base/move.h"

/* Precedes each record's data. A header of kind KIND_PADDING fills the rest of the memory. */
struct record_header {
	uint32_t len;
	uint32_t kind;
};

#define KIND_PADDING UINT32_MAX

#define RESTART_BYTES 2048 /* from this offset on an empty ring restarts: a small record is still in the first page */

static uint64_t record_bytes(uint64_t len)
{
	return sizeof(struct record_header) + (len + 7) / 8 * 8;
}

/* Room for one more record than max_records, as the bytes before the end may be too few for a record; and for at
 * least four, so that a record fits whenever half of the ring is free, wherever the end is. */
static uint64_t data_size(const struct sim_ring_cfg *cfg)
{
	uint64_t records = cfg->max_records < 3 ? 3 : cfg->max_records;

	return cfg->data_bytes > 0 ? cfg->data_bytes : (records + 1) * record_bytes(cfg->max_record_bytes);
}

static uint32_t low_records(const struct sim_ring_cfg *cfg)
{
	uint32_t half = cfg->max_records / 2,
		 longest = (uint32_t)(data_size(cfg) / 2 / record_bytes(cfg->max_record_bytes));

	return longest < half ? longest : half;
}

size_t sim_ring_size(const struct sim_ring_cfg *cfg)
{
	return sizeof(struct sim_ring_shared) + data_size(cfg);
}

/* Nothing but the copy of a record's data runs under the guard. */
static bool find_any(const struct sim_guard *guard, uintptr_t addr, struct sim_guarded_memory *ret_memory)
{
	(void)guard;
	*ret_memory = (struct sim_guarded_memory){ .begin = addr, .end = addr + 1 };
	return true;
}

void sim_ring_init(struct sim_ring *ring, const struct sim_ring_cfg *cfg, void *memory)
{
	assert(cfg->data_bytes % 8 == 0 && data_size(cfg) >= 4 * record_bytes(cfg->max_record_bytes));
	*ring = (struct sim_ring){ .shared = memory,
				   .max_records = cfg->max_records,
				   .max_record_bytes = cfg->max_record_bytes,
				   .low_records = low_records(cfg),
				   .size_bytes = data_size(cfg),
				   .guard.find = find_any };
}

/* ---- the writer ---- */

/* Records and bytes that the reader has not read. Returns 0, or -EPROTO if the numbers are impossible. */
static inline int get_used(const struct sim_ring *ring, uint64_t *ret_records, uint64_t *ret_bytes)
{
	/* The tail first: a writer that has asked for space sees the reader's last tail, and with it the bytes before it. */
	const struct sim_ring_shared *shared = ring->shared;
	uint64_t tail = atomic_load(&shared->tail);
	uint64_t bytes = atomic_load_explicit(&shared->bytes_read, memory_order_acquire);

	*ret_records = ring->count - tail;
	*ret_bytes = ring->bytes - bytes;
	return *ret_records > ring->max_records || *ret_bytes > ring->size_bytes ? -EPROTO : 0;
}

static uint64_t bytes_before_end(const struct sim_ring *ring)
{
	return ring->size_bytes - ring->offset;
}

/* Bytes that a record takes at the current offset, with the padding before it. */
static uint64_t bytes_needed(const struct sim_ring *ring, size_t len)
{
	uint64_t left = bytes_before_end(ring);

	return record_bytes(len) > left ? left + record_bytes(len) : record_bytes(len);
}

static inline int check_space(const struct sim_ring *ring, size_t len)
{
	uint64_t records, bytes;
	int rc = get_used(ring, &records, &bytes);

	if (rc < 0)
		return rc;
	return records == ring->max_records || ring->size_bytes - bytes < bytes_needed(ring, len) ? -EAGAIN : 0;
}

/* Whether there was space at the last look: the reader makes no less. */
static bool had_space(const struct sim_ring *ring, size_t len)
{
	return ring->count - ring->seen_tail < ring->max_records &&
	       ring->size_bytes - (ring->bytes - ring->seen_bytes) >= bytes_needed(ring, len);
}

static __attribute__((noinline)) int check_space_again(struct sim_ring *ring, size_t len)
{
	uint64_t records, bytes;
	int rc;

	if (had_space(ring, len))
		return 0;
	rc = get_used(ring, &records, &bytes);
	if (rc < 0)
		return rc;
	ring->seen_tail = ring->count - records;
	ring->seen_bytes = ring->bytes - bytes;
	return had_space(ring, len) ? 0 : -EAGAIN;
}

static void advance(struct sim_ring *ring, uint64_t bytes)
{
	ring->bytes += bytes;
	ring->offset += bytes;
	if (ring->offset == ring->size_bytes)
		ring->offset = 0;
}

static void write_header(struct sim_ring *ring, uint32_t kind, uint32_t len)
{
	struct record_header header = { .len = len, .kind = kind };

	memcpy(ring->shared->data + ring->offset, &header, sizeof(header));
}

/* Restart if the reader has read all records; the reader compares the number of its next record with @restart. */
static void restart_if_empty(struct sim_ring *ring)
{
	if (ring->offset < RESTART_BYTES || atomic_load(&ring->shared->tail) != ring->count)
		return;
	ring->offset = 0;
	atomic_store_explicit(&ring->shared->restart, ring->count, memory_order_relaxed);
}

/* Returns 0 or -EFAULT. */
static __attribute__((noinline, cold)) int settle_faults(struct sim_ring *ring)
{
	bool is_lost = ring->guard.is_lost;

	sim_guard_settle(&ring->guard);
	return is_lost ? -EFAULT : 0;
}

static inline int write_data(struct sim_ring *ring, uint8_t *to, const void *data, size_t len)
{
	sim_guard_begin(&ring->guard);
	sim_move(to, data, len); /* @data may be in a DPA's heap */
	sim_guard_end();
	return __builtin_expect(ring->guard.has_faulted, 0) ? settle_faults(ring) : 0;
}

/* Compiled once with a head, and once without. */
static inline __attribute__((always_inline)) int write_record(struct sim_ring *ring, uint32_t kind, const void *head,
							      size_t head_len, const void *data, size_t len)
{
	size_t total = head_len + len;
	uint8_t *to;
	int rc;

	assert(total <= ring->max_record_bytes);
	restart_if_empty(ring);
	rc = __builtin_expect(ring->remembers_space, 0) ? check_space_again(ring, total) : check_space(ring, total);
	if (rc < 0)
		return rc;
	if (record_bytes(total) > bytes_before_end(ring)) {
		write_header(ring, KIND_PADDING, 0);
		advance(ring, bytes_before_end(ring));
	}
	write_header(ring, kind, (uint32_t)total);
	to = ring->shared->data + ring->offset + sizeof(struct record_header);
	if (head_len > 0)
		memcpy(to, head, head_len);
	if (len > 0)
		rc = write_data(ring, to + head_len, data, len);
	if (rc < 0)
		return rc;
	advance(ring, record_bytes(total));
	ring->count++;
	atomic_store_explicit(&ring->shared->head, ring->count, memory_order_release);
	return 0;
}

int sim_ring_write_parts(struct sim_ring *ring, uint32_t kind, const void *head, size_t head_len, const void *data,
			 size_t len)
{
	return write_record(ring, kind, head, head_len, data, len);
}

int sim_ring_write(struct sim_ring *ring, uint32_t kind, const void *data, size_t len)
{
	return write_record(ring, kind, NULL, 0, data, len);
}

bool sim_ring_arm_space(struct sim_ring *ring, size_t len)
{
	atomic_store(&ring->shared->space_wanted, 1);
	return check_space(ring, len) != -EAGAIN;
}

bool sim_ring_wants_space(const struct sim_ring *ring)
{
	return atomic_load(&ring->shared->space_wanted) != 0;
}

void sim_ring_close(struct sim_ring *ring)
{
	atomic_store_explicit(&ring->shared->closed, 1, memory_order_release);
}

bool sim_ring_is_half_free(const struct sim_ring *ring)
{
	return ring->count - atomic_load(&ring->shared->tail) <= ring->low_records;
}

/* ---- the reader ---- */

static struct record_header read_header(const struct sim_ring *ring)
{
	struct record_header header;

	memcpy(&header, ring->shared->data + ring->offset, sizeof(header));
	return header;
}

/* Move @ring to its next record, behind a restart or padding, and copy the record's header. Returns 0, -EAGAIN or -EPROTO. */
static inline int find_record(struct sim_ring *ring, struct record_header *ret_header)
{
	uint64_t waiting = atomic_load_explicit(&ring->shared->head, memory_order_acquire) - ring->count;

	if (waiting == 0)
		return -EAGAIN;
	if (waiting > ring->max_records)
		return -EPROTO;
	if (atomic_load_explicit(&ring->shared->restart, memory_order_relaxed) == ring->count)
		ring->offset = 0;
	*ret_header = read_header(ring);
	if (ret_header->kind == KIND_PADDING && ring->offset > 0) {
		advance(ring, bytes_before_end(ring));
		*ret_header = read_header(ring);
	}
	if (ret_header->kind == KIND_PADDING || ret_header->len > ring->max_record_bytes ||
	    record_bytes(ret_header->len) > bytes_before_end(ring))
		return -EPROTO;
	return 0;
}

int sim_ring_peek(const struct sim_ring *ring, uint32_t *ret_kind, void *buf, size_t len)
{
	struct sim_ring view = *ring;
	struct record_header header;
	int rc = find_record(&view, &header);

	if (rc < 0)
		return rc;
	memcpy(buf, view.shared->data + view.offset + sizeof(header), header.len < len ? header.len : len);
	*ret_kind = header.kind;
	return 0;
}

int sim_ring_begin_read(struct sim_ring *ring, uint32_t *ret_kind, const void **ret_data, size_t *ret_len)
{
	struct record_header header;
	int rc = find_record(ring, &header);

	if (rc < 0)
		return rc;
	*ret_kind = header.kind;
	*ret_len = header.len;
	*ret_data = ring->shared->data + ring->offset + sizeof(header);
	return 0;
}

void sim_ring_end_read(struct sim_ring *ring, size_t len)
{
	advance(ring, record_bytes(len));
	ring->count++;
	atomic_store_explicit(&ring->shared->bytes_read, ring->bytes, memory_order_release);
	atomic_store(&ring->shared->tail, ring->count);
}

int sim_ring_read(struct sim_ring *ring, uint32_t *ret_kind, void *buf, size_t *ret_len)
{
	const void *data;
	int rc = sim_ring_begin_read(ring, ret_kind, &data, ret_len);

	if (rc < 0)
		return rc;
	memcpy(buf, data, *ret_len);
	sim_ring_end_read(ring, *ret_len);
	return 0;
}

bool sim_ring_take_space_wish(struct sim_ring *ring)
{
	uint64_t waiting;

	/* The head is untrusted: at worst the writer is notified at the wrong time. */
	waiting = atomic_load_explicit(&ring->shared->head, memory_order_relaxed) - ring->count;
	return waiting <= ring->low_records && atomic_exchange(&ring->shared->space_wanted, 0);
}

/* ---- both ---- */

void sim_ring_arm(struct sim_ring *ring)
{
	if (!sim_ring_is_armed(ring))
		atomic_store(&ring->shared->asleep, 1);
}
