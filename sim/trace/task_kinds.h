/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/task_kinds.h - names of the kinds of tasks, in recordings, in bfsim stats and in users' queries.
 *
 * SIM_TASK_KINDS lists all kinds. A query can so tell an unknown name from a kind that has
 * no task yet.
 */
#ifndef SIM_TRACE_TASK_KINDS_H
#define SIM_TRACE_TASK_KINDS_H

#include <stdbool.h>

#define SIM_TASK_DMA_MEMCPY          "DMA memcpy"
#define SIM_TASK_COMCH_SEND          "Comch send"
#define SIM_TASK_COMCH_PRODUCER_SEND "Comch producer's send"
#define SIM_TASK_COMCH_POST_RECEIVE  "Comch post receive"
#define SIM_TASK_SYNC_GET            "sync event get"
#define SIM_TASK_SYNC_SET            "sync event notify-set"
#define SIM_TASK_SYNC_ADD            "sync event notify-add"
#define SIM_TASK_SYNC_WAIT_EQ        "sync event wait-eq"
#define SIM_TASK_SYNC_WAIT_NEQ       "sync event wait-neq"
#define SIM_TASK_SYNC_WAIT_GT        "sync event wait-gt"
#define SIM_TASK_CACHE_INVALIDATE    "cache-invalidate"
#define SIM_TASK_SHA_HASH            "SHA hash"
#define SIM_TASK_SHA_PARTIAL_HASH    "SHA partial hash"

#define SIM_TASK_COMPRESS_DEFLATE      "deflate compress"
#define SIM_TASK_DECOMPRESS_DEFLATE    "deflate decompress"
#define SIM_TASK_DECOMPRESS_LZ4_STREAM "LZ4 stream decompress"
#define SIM_TASK_DECOMPRESS_LZ4_BLOCK  "LZ4 block decompress"

#define SIM_TASK_EC_GALOIS_MUL "EC galois multiply"
#define SIM_TASK_EC_CREATE     "EC create"
#define SIM_TASK_EC_UPDATE     "EC update"
#define SIM_TASK_EC_RECOVER    "EC recover"

#define SIM_TASK_AES_GCM_ENCRYPT "AES-GCM encrypt"
#define SIM_TASK_AES_GCM_DECRYPT "AES-GCM decrypt"

#define SIM_TASK_KINDS(X)                 \
	X(SIM_TASK_DMA_MEMCPY)            \
	X(SIM_TASK_COMCH_SEND)            \
	X(SIM_TASK_COMCH_PRODUCER_SEND)   \
	X(SIM_TASK_COMCH_POST_RECEIVE)    \
	X(SIM_TASK_SYNC_GET)              \
	X(SIM_TASK_SYNC_SET)              \
	X(SIM_TASK_SYNC_ADD)              \
	X(SIM_TASK_SYNC_WAIT_EQ)          \
	X(SIM_TASK_SYNC_WAIT_NEQ)         \
	X(SIM_TASK_SYNC_WAIT_GT)          \
	X(SIM_TASK_CACHE_INVALIDATE)      \
	X(SIM_TASK_SHA_HASH)              \
	X(SIM_TASK_SHA_PARTIAL_HASH)      \
	X(SIM_TASK_COMPRESS_DEFLATE)      \
	X(SIM_TASK_DECOMPRESS_DEFLATE)    \
	X(SIM_TASK_DECOMPRESS_LZ4_STREAM) \
	X(SIM_TASK_DECOMPRESS_LZ4_BLOCK)  \
	X(SIM_TASK_EC_GALOIS_MUL)         \
	X(SIM_TASK_EC_CREATE)             \
	X(SIM_TASK_EC_UPDATE)             \
	X(SIM_TASK_EC_RECOVER)            \
	X(SIM_TASK_AES_GCM_ENCRYPT)       \
	X(SIM_TASK_AES_GCM_DECRYPT)

/* Whether @name is a kind of task. */
bool sim_task_kind_exists(const char *name);

/* All names, for messages: "DMA memcpy, Comch send, ...". A static string. */
const char *sim_task_kind_names(void);

#endif
