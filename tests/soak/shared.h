/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/soak/shared.h - memory that the soak's processes share.
 *
 *   parent    owns the session, adds and removes faults, checks the others' memory, and kills one of
 *             them now and then (processes.h)
 *   host, dpu play rounds: the seed and the round's number determine the next round;
 *             they exchange the rest as control messages over a socket (side.h)
 *
 * All three map this memory. Each member names its writer; the others read it.
 */
#ifndef TESTS_SOAK_SHARED_H
#define TESTS_SOAK_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* False with a sanitizer, which keeps freed memory and shadows the rest: then the memory size is not checked. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MEMORY_TELLS false
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY_TELLS false
#endif
#ifndef MEMORY_TELLS
#define MEMORY_TELLS true
#endif

enum { HOST, DPU, NUM_SIDES, NO_SIDE = NUM_SIDES };

/* Rules that stay for the whole run, so that their effects can be counted exactly. */
enum {
	LASTING_FLIP_COPY,
	LASTING_TEAR_COPY,
	LASTING_FLIP_OUTPUT,
	LASTING_FLIP_MESSAGE,
	LASTING_DROP_MESSAGE,        /* of the host's ... */
	LASTING_DROP_MESSAGE_OF_DPU, /* ... and behind it the DPU's, so that each knows how many will come */
	LASTING_DUPLICATE_MESSAGE,
	LASTING_TRUNCATE_MESSAGE,
	LASTING_REORDER_MESSAGE,
	LASTING_FLIP_FAST,
	LASTING_DROP_FAST,
	LASTING_DUPLICATE_FAST,
	LASTING_TRUNCATE_FAST,
	LASTING_REORDER_FAST,
	LASTING_FLIP_RDMA,
	NUM_LASTING,
};

/* Observations of a side. Each wrong or missing message needs an injected fault; a task that does not complete
 * exactly once ends its process. */
struct seen {
	_Atomic uint64_t rounds;
	_Atomic uint64_t tasks, failed, refused;      /* all completed; of these with an error; not submitted */
	_Atomic uint64_t flushed;                     /* of the failed: receives without a message at the stop */
	_Atomic uint64_t hung;                        /* of the failed: given up, and flushed */
	_Atomic uint64_t bytes;                       /* compared */
	_Atomic uint64_t wrong_copies, wrong_outputs; /* of DMA; of the other engines */
	_Atomic uint64_t wrong_messages, missing_messages, extra_messages;
	_Atomic uint64_t wrong_fast, missing_fast, extra_fast;
	_Atomic uint64_t wrong_rdma;               /* messages, reads and writes */
	_Atomic uint64_t late_messages, late_fast; /* behind one that was sent later */
	_Atomic uint64_t resets, shortages;        /* of our function, and of memory */
	_Atomic uint64_t broken;                   /* connections that ended or were refused */
	_Atomic uint64_t peer_kills;               /* rounds in which the other side was killed */
	_Atomic uint32_t rule;                     /* of the plan, while it is the side's own; 0 = none */
	_Atomic uint64_t rss_kb, num_fds;          /* at the end of the last round */
};

struct shared {
	uint64_t seed;
	bool calm;                     /* no faults */
	int victim;                    /* the side that is killed now and then, or NO_SIDE */
	_Atomic bool stop;             /* the parent: no more rounds */
	uint32_t lasting[NUM_LASTING]; /* the parent: ids, from before the sides start */
	struct seen seen[NUM_SIDES];
};

#endif
