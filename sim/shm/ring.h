/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/shm/ring.h - records from one process to another, in order, through shared memory.
 *
 *            tail           head
 *   |.........[rec][rec][rec]..........|      one writer, one reader, no lock
 *
 * The reader creates the memory, and with it decides how many records, and of
 * what size, may wait for it. A full ring refuses; a writer that then asks for
 * room is to be told of it by the reader: when half of the ring is free, so that
 * the two do not take turns record by record.
 *
 * A ring that is empty begins anew at its first byte now and then, so that one
 * that is never full does not walk through all of its memory: few pages are ever
 * touched, and those stay in the caches.
 *
 * What was written stays when the writer dies. Neither side trusts the other: a
 * head, tail or length that can't be ends the ring with -EPROTO, and a record is
 * copied out before it is looked at.
 */
#ifndef SIM_SHM_RING_H
#define SIM_SHM_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_ring_shared {
	_Alignas(64) _Atomic uint64_t head; /* records written; the writer's */
	_Atomic uint64_t restart;           /* the last record that the ring began anew with; the writer's */
	_Alignas(64) _Atomic uint64_t tail; /* records read; the reader's */
	_Atomic uint64_t bytes_read;        /* in bytes, with what was skipped */
	_Alignas(64) _Atomic uint32_t space_wanted;
	_Alignas(64) uint8_t data[];
};

/* How large a ring is. */
struct sim_ring_cfg {
	uint32_t max_records; /* that may wait, > 0 */
	uint32_t max_record_bytes;
};

/* One side's view. */
struct sim_ring {
	struct sim_ring_shared *shared;
	uint32_t max_records;
	uint32_t max_record_bytes;
	uint64_t size_bytes; /* of the data */
	uint64_t count;      /* records written, or read, by this side */
	uint64_t bytes;      /* in bytes, with what was skipped */
	uint64_t offset;     /* of the next record */
};

/* Bytes that a ring takes, and the view of one that lies at @memory (zeroed when the reader created it). */
size_t sim_ring_size(const struct sim_ring_cfg *cfg);
void sim_ring_init(struct sim_ring *ring, const struct sim_ring_cfg *cfg, void *memory);

/* Write one record, of @head_len bytes at @head and then @len at @data: together at most max_record_bytes. Returns 0,
 * -EAGAIN (no room) or -EPROTO. */
int sim_ring_write_parts(struct sim_ring *ring, uint32_t kind, const void *head, size_t head_len, const void *data,
			 size_t len);

static inline int sim_ring_write(struct sim_ring *ring, uint32_t kind, const void *data, size_t len)
{
	return sim_ring_write_parts(ring, kind, NULL, 0, data, len);
}

/* A writer that found no room wants to be told. Whether there is some meanwhile: then nobody will tell. */
bool sim_ring_arm_space(struct sim_ring *ring, size_t len);

/* Take the next into @buf, which has max_record_bytes. Returns 0, -EAGAIN (none) or -EPROTO. */
int sim_ring_read(struct sim_ring *ring, uint32_t *ret_kind, void *buf, size_t *ret_len);

/* Reader: whether one waits. */
bool sim_ring_has_record(const struct sim_ring *ring);

/* Reader, after a read: whether the writer is to be told of room, now. */
bool sim_ring_needs_notify(struct sim_ring *ring);

#endif
