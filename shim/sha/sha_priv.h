/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/sha/sha_priv.h - the SHA context and its two types of tasks, for the files of libdoca_sha.
 *
 *   sha.c                    the context, capabilities
 *   sha_task.c               what both types of tasks share
 *   sha_task_hash.c          hash tasks
 *   sha_task_partial_hash.c  partial hash tasks
 *   digest.[ch]              the digests
 */
#ifndef SHIM_SHA_PRIV_H
#define SHIM_SHA_PRIV_H

#include <doca_sha.h>

#include "digest.h"
#include "shim/common/accel/accel.h"

enum { SHA_HASH, SHA_PARTIAL_HASH };

/* The digest of the pieces so far. It stays with the memory of its task. */
struct sha_state {
	SLIST_ENTRY(sha_state) link; /* of the context */
	struct sha_digest *digest;
};

struct doca_sha {
	struct shim_accel accel;   /* first: a doca_sha is a doca_ctx */
	struct sha_digest *digest; /* of hash tasks, one at a time; NULL = there was none yet */
	SLIST_HEAD(, sha_state) states;
};

struct doca_sha_task_hash {
	struct shim_accel_task base; /* first */
	enum doca_sha_algorithm algorithm;
};

/* [new] --submit--> [begun] --submit the final piece--> [has result]; a reset leads back to [new]. */
struct doca_sha_task_partial_hash {
	struct shim_accel_task base; /* first */
	enum doca_sha_algorithm algorithm;
	bool has_begun; /* a piece reached the engine */
	bool is_final;  /* the next piece, or the last that was submitted, is the last of the message */
	bool has_ended; /* the digest was written */
	struct sha_state *state;
};

extern const struct shim_accel_type shim_sha_hash_type, shim_sha_partial_hash_type;

static inline struct doca_sha *shim_to_sha(const struct doca_ctx *ctx)
{
	return (struct doca_sha *)(uintptr_t)ctx;
}

static inline bool shim_sha_is_algorithm(enum doca_sha_algorithm algorithm)
{
	return (unsigned int)algorithm <= DOCA_SHA_ALGORITHM_SHA512;
}

/* The lengths of digests, and of the units of pieces. */
static inline uint32_t shim_sha_digest_bytes(enum doca_sha_algorithm algorithm)
{
	static const uint8_t bytes[] = { 20, 32, 64 };

	return bytes[algorithm];
}

static inline uint32_t shim_sha_block_bytes(enum doca_sha_algorithm algorithm)
{
	return algorithm == DOCA_SHA_ALGORITHM_SHA512 ? 128 : 64;
}

/* sha_task.c: shim_accel_set_conf() with the logarithm of a number of tasks. */
doca_error_t shim_sha_set_conf(const char *func, struct doca_sha *sha, uint32_t index, void (*done)(void),
			       void (*failed)(void), uint8_t log_num_tasks);

/* sha_task.c: SUCCESS, or INVALID_VALUE with a log line. */
doca_error_t shim_sha_check_algorithm(const char *func, enum doca_sha_algorithm algorithm);

/* sha_task.c: a submission needs room for a digest. SUCCESS, or INVALID_VALUE with a log line. */
doca_error_t shim_sha_check_room(enum doca_sha_algorithm algorithm, const struct shim_list_size *dst);

/* sha_task_partial_hash.c: have the state of @from's message in @to as well. Neither is in flight. SUCCESS or NO_MEMORY. */
doca_error_t shim_sha_partial_copy(const struct doca_sha_task_partial_hash *from,
				   struct doca_sha_task_partial_hash *to);

/* sha_task.c: add the source of a task to a digest, and write the result. 0 or -errno. */
int shim_sha_read(struct shim_work *work, struct sha_digest *digest);
int shim_sha_write(struct shim_work *work, struct sha_digest *digest, enum doca_sha_algorithm algorithm);

#endif
