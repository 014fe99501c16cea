/* SPDX-License-Identifier: BSD-3-Clause */
/* copier.h - copy one range of memory to another by DMA tasks, several in flight.
 *
 *   create --> start --> [copying] --> done --> result, destroy
 *                         ^     | a task completes and goes on with the next chunk,
 *                         +-----+ while there is one and none has failed
 *
 * The range is cut into chunks, one to a task. On either side a chunk can be a
 * chain of several buffers, which the engine gathers from and scatters to. A
 * copier is one DMA context on a progress engine that the program drives, by
 * polling or by sleeping, and that may have other contexts too:
 *
 *   while (!copier_is_done(copier))
 *           doca_pe_progress(pe);
 *
 * Several copiers can share the work: each takes every step-th chunk.
 */
#ifndef COPIER_H
#define COPIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

struct copier;
struct doca_dev;
struct doca_mmap;
struct doca_pe;

/* One end of the copy. */
struct copier_end {
	struct doca_mmap *mmap;
	uint8_t *addr;   /* where the range starts, in the map's terms */
	uint32_t pieces; /* buffers to a chunk, from 1 */
};

/* The device, the engine and the maps are borrowed and outlive the copier. */
struct copier_cfg {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct copier_end source, target;
	size_t len_bytes;     /* of the range */
	uint32_t chunk_bytes; /* of one task; the last one may be shorter */
	uint32_t depth;       /* tasks in flight at once */
	size_t first, step;   /* the chunks that are this copier's: first, first + step, ...; step from 1 */
	bool in_batches;      /* tasks that complete do not go on: each copier_start() begins depth more */
};

/* A copier that is ready to start, the caller's to destroy. Chunks or chains
 * beyond what the device can do are DOCA_ERROR_TOO_BIG. */
doca_error_t copier_create(const struct copier_cfg *cfg, struct copier **ret_copier);

/* Stop, driving the progress engine until nothing is in flight, and free. NULL is fine. */
void copier_destroy(struct copier *copier);

/* Submit tasks until depth of them are in flight. On an error, too, the program
 * drives the engine until the copier is done. */
doca_error_t copier_start(struct copier *copier);

/* Tasks in flight. */
size_t copier_in_flight(const struct copier *copier);

/* Nothing is in flight and nothing is going to be. */
bool copier_is_done(const struct copier *copier);

/* How the copy went: the first error, or DOCA_SUCCESS. */
doca_error_t copier_result(const struct copier *copier);

/* Chunks that were copied well. */
size_t copier_chunks_copied(const struct copier *copier);

/* The whole copy: create, start, poll until done, destroy. Makes @cfg->pe for it. *ret_duration_s, from start to
 * done, is written on success. */
doca_error_t copier_run(const struct copier_cfg *cfg, double *ret_duration_s);

#endif
