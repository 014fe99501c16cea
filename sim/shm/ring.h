/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/shm/ring.h - a ring of records from one process to another, in shared memory.
 *
 *            tail           head
 *   |.........[rec][rec][rec]..........|      one writer, one reader, no lock
 *
 * The reader creates the memory, and so decides how many records, and of what
 * size, the ring holds. A write to a full ring fails; if the writer then asks for
 * space, the reader notifies it when half of the ring is free, so that the
 * two do not take turns record by record.
 *
 * An empty ring restarts at its first byte now and then. So a ring that is
 * never full uses only its first pages, which stay in the caches.
 *
 * Order of accesses, for C11 and weak machines:
 *
 *   record     the writer's bytes and @restart --> head (release)        the reader: head (acquire) --> bytes, @restart
 *   end        the writer: head --> closed (release)                     the reader: closed (acquire) --> head
 *   room       the reader's copy --> bytes_read (release), tail          the writer: tail, bytes_read (acquire) --> bytes
 *   space      writer: space_wanted = 1, then tail     reader: tail, then space_wanted            all seq_cst: one of the
 *              two sees the other's store. The writer loads bytes_read after that tail, so it is as new as the tail.
 *   sleep      writer: head, doorbell, then asleep     reader: asleep = 1, then doorbell, head    the doorbell's and
 *              asleep are seq_cst: the reader sees the ring of the doorbell, or the writer sees that the reader sleeps.
 *
 * Records stay readable when the writer dies, or closes the ring. Neither side trusts the other: an
 * impossible head, tail or length ends the ring with -EPROTO, and a record is
 * copied before it is checked.
 */
#ifndef SIM_SHM_RING_H
#define SIM_SHM_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/memory_guard.h"

struct sim_ring_shared {
	_Alignas(64) _Atomic uint64_t head; /* records written; stored by the writer */
	_Atomic uint64_t restart;           /* number of the record at the last restart; stored by the writer */
	_Atomic uint32_t closed;            /* the writer writes no more; stored by the writer */
	_Alignas(64) _Atomic uint64_t tail; /* records read; stored by the reader */
	_Atomic uint64_t bytes_read;        /* with the bytes that were skipped; stored by the reader */
	/* Both look at these for each record, and change them seldom: no line that is written for each record has them. */
	_Alignas(64) _Atomic uint32_t space_wanted;
	_Atomic uint32_t asleep; /* the writer is to wake the reader */
	_Alignas(64) uint8_t data[];
};

struct sim_ring_cfg {
	uint32_t max_records; /* written and not read, > 0 */
	uint32_t max_record_bytes;
	uint32_t
		data_bytes; /* a multiple of 8 that holds four of the longest records or more; 0 = max_records of them */
};

/* One side's view. */
struct sim_ring {
	struct sim_ring_shared *shared;
	uint32_t max_records;
	uint32_t max_record_bytes;
	uint32_t low_records; /* as many records waiting, or fewer, leave half of the ring free */
	uint64_t size_bytes;  /* of the data */
	uint64_t count;       /* records written, or read, by this side */
	uint64_t bytes;       /* with the bytes that were skipped */
	uint64_t offset;      /* of the next record */
	/* Writer: look at the tail only when the space that was seen is used up. Set by the caller, if the tail's line costs more than the
	 * late notice of a tail that cannot be. */
	bool remembers_space;
	uint64_t seen_tail, seen_bytes; /* at the last look */
	struct sim_guard guard;         /* of the data that is being written, which is the program's */
};

/* The size of a ring in bytes; and a view of the ring at @memory, which is zeroed when the reader created it. */
size_t sim_ring_size(const struct sim_ring_cfg *cfg);
void sim_ring_init(struct sim_ring *ring, const struct sim_ring_cfg *cfg, void *memory);

/* Write one record, of @head_len bytes at @head and then @len at @data: together at most max_record_bytes. Returns 0,
 * -EAGAIN (no room), -EPROTO or -EFAULT (the data is not in memory; nothing was written). */
int sim_ring_write_parts(struct sim_ring *ring, uint32_t kind, const void *head, size_t head_len, const void *data,
			 size_t len);

int sim_ring_write(struct sim_ring *ring, uint32_t kind, const void *data, size_t len);

/* Writer, after -EAGAIN: ask for space. Returns whether there is room for @len bytes by now; if not, the reader
 * notifies the writer. */
bool sim_ring_arm_space(struct sim_ring *ring, size_t len);

/* Writer: whether the reader has notified a writer that asked for space, as far as the ring's numbers show. */
bool sim_ring_is_half_free(const struct sim_ring *ring);

/* Writer: whether it asked for space, and the reader has not notified it. */
bool sim_ring_wants_space(const struct sim_ring *ring);

/* Writer: this was the last record. The writer notifies the reader. */
void sim_ring_close(struct sim_ring *ring);

/* Reader: whether the writer has closed the ring. A reader that sees this before it finds no record has read all of them. */
static inline bool sim_ring_is_closed(const struct sim_ring *ring)
{
	return atomic_load_explicit(&ring->shared->closed, memory_order_acquire) != 0;
}

/* Copy up to @len bytes of the next record, which stays in the ring, to @buf. Returns 0, -EAGAIN (there is none) or -EPROTO. */
int sim_ring_peek(const struct sim_ring *ring, uint32_t *ret_kind, void *buf, size_t len);

/* Read the next record into @buf, which has max_record_bytes. Returns 0, -EAGAIN (none) or -EPROTO. */
int sim_ring_read(struct sim_ring *ring, uint32_t *ret_kind, void *buf, size_t *ret_len);

/* The same without a copy: find the next record, whose bytes the writer may change at any moment; and leave it behind. */
int sim_ring_begin_read(struct sim_ring *ring, uint32_t *ret_kind, const void **ret_data, size_t *ret_len);
void sim_ring_end_read(struct sim_ring *ring, size_t len);

/* Reader: whether there is a record to read. */
static inline bool sim_ring_has_record(const struct sim_ring *ring)
{
	return atomic_load_explicit(&ring->shared->head, memory_order_acquire) != ring->count;
}

/* What the other side stores. A side that compares two of them learns of a change for which no doorbell rang. These loads,
 * sim_ring_arm() and sim_ring_must_wake() are sequentially consistent: the reader sees the record, or the writer sees that the
 * reader sleeps. */
static inline uint64_t sim_ring_get_head(const struct sim_ring *ring)
{
	return atomic_load(&ring->shared->head);
}

static inline uint64_t sim_ring_get_tail(const struct sim_ring *ring)
{
	return atomic_load(&ring->shared->tail);
}

/* Reader, before it sleeps: the writer's next sim_ring_must_wake() returns true, once. */
void sim_ring_arm(struct sim_ring *ring);

/* Reader: whether it has armed the ring, and the writer has not been told to wake it since. */
static inline bool sim_ring_is_armed(const struct sim_ring *ring)
{
	return atomic_load_explicit(&ring->shared->asleep, memory_order_relaxed) != 0;
}

/* Writer, after it rang the reader's doorbell: whether to wake the reader. */
static inline bool sim_ring_must_wake(struct sim_ring *ring)
{
	return atomic_load(&ring->shared->asleep) && atomic_exchange(&ring->shared->asleep, 0);
}

/* Reader, after a read: whether to notify the writer that there is space, as it asked. */
bool sim_ring_take_space_wish(struct sim_ring *ring);

static inline bool sim_ring_needs_notify(struct sim_ring *ring)
{
	return __builtin_expect(atomic_load(&ring->shared->space_wanted) != 0, 0) && sim_ring_take_space_wish(ring);
}

#endif
