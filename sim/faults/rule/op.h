/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/rule/op.h - operations that faults hit, actions that rules do to them, and the table of both.
 *
 * An operation is a task or call of the API. The last four operations are events:
 * they happen to the card, and the process that runs the session evaluates them by
 * the clock. An action is the effect of a rule. doc/faults.md shows the table of
 * sim_op_actions().
 */
#ifndef SIM_FAULTS_OP_H
#define SIM_FAULTS_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(operation, its name in rules) */
#define SIM_OPS(X)                                                            \
	X(DMA_MEMCPY, "dma.memcpy")                                           \
	X(COMCH_CONNECT, "comch.connect")                                     \
	X(COMCH_SEND, "comch.send")                                           \
	X(COMCH_RECV, "comch.recv") /* a message arrives */                   \
	X(COMCH_PRODUCER_SEND, "comch.producer.send")                         \
	X(COMCH_CONSUMER_RECV, "comch.consumer.recv") /* a posted receive */  \
	X(COMCH_PEER_DEATH, "comch.peer_death")       /* an end notices it */ \
	X(COMM_CHANNEL_CONNECT, "comm_channel.connect")                       \
	X(COMM_CHANNEL_SEND, "comm_channel.send")                             \
	X(COMM_CHANNEL_RECV, "comm_channel.recv")                             \
	X(SYNC_EVENT_UPDATE, "sync_event.update") /* set or add */            \
	X(SYNC_EVENT_WAIT, "sync_event.wait")                                 \
	X(SHA_HASH, "sha.hash")                                               \
	X(SHA_PARTIAL_HASH, "sha.partial_hash")                               \
	X(COMPRESS_DEFLATE, "compress.compress_deflate")                      \
	X(DECOMPRESS_DEFLATE, "compress.decompress_deflate")                  \
	X(DECOMPRESS_LZ4_STREAM, "compress.decompress_lz4_stream")            \
	X(DECOMPRESS_LZ4_BLOCK, "compress.decompress_lz4_block")              \
	X(EC_GALOIS_MUL, "erasure_coding.galois_mul")                         \
	X(EC_CREATE, "erasure_coding.create")                                 \
	X(EC_UPDATE, "erasure_coding.update")                                 \
	X(EC_RECOVER, "erasure_coding.recover")                               \
	X(AES_GCM_ENCRYPT, "aes_gcm.encrypt")                                 \
	X(AES_GCM_DECRYPT, "aes_gcm.decrypt")                                 \
	X(MMAP_EXPORT, "mmap.export")                                         \
	X(MMAP_IMPORT, "mmap.import")                                         \
	X(CTX_START, "ctx.start")                                             \
	X(DEV_OPEN, "dev.open")                                               \
	X(ALLOC, "alloc") /* of memory, inside the library */                 \
	X(LINK, "link")                                                       \
	X(FUNCTION, "function")                                               \
	X(PEER, "peer") /* an attached process */                             \
	X(DAEMON, "daemon")

enum sim_op {
#define X(op, name) SIM_OP_##op,
	SIM_OPS(X)
#undef X
		SIM_OP_COUNT,
};

#define SIM_OP_BIT(op) (UINT64_C(1) << (op))
#define SIM_OPS_ALL    (SIM_OP_BIT(SIM_OP_COUNT) - 1)
/* Tasks that move data, of which a failed one may have moved a part. */
#define SIM_OPS_MOVING                                                                                       \
	(SIM_OP_BIT(SIM_OP_DMA_MEMCPY) | SIM_OP_BIT(SIM_OP_SHA_HASH) | SIM_OP_BIT(SIM_OP_SHA_PARTIAL_HASH) | \
	 SIM_OP_BIT(SIM_OP_COMPRESS_DEFLATE) | SIM_OP_BIT(SIM_OP_DECOMPRESS_DEFLATE) |                       \
	 SIM_OP_BIT(SIM_OP_DECOMPRESS_LZ4_STREAM) | SIM_OP_BIT(SIM_OP_DECOMPRESS_LZ4_BLOCK) |                \
	 SIM_OP_BIT(SIM_OP_EC_GALOIS_MUL) | SIM_OP_BIT(SIM_OP_EC_CREATE) | SIM_OP_BIT(SIM_OP_EC_UPDATE) |    \
	 SIM_OP_BIT(SIM_OP_EC_RECOVER) | SIM_OP_BIT(SIM_OP_AES_GCM_ENCRYPT) | SIM_OP_BIT(SIM_OP_AES_GCM_DECRYPT))
#define SIM_OPS_EVENTS \
	(SIM_OP_BIT(SIM_OP_LINK) | SIM_OP_BIT(SIM_OP_FUNCTION) | SIM_OP_BIT(SIM_OP_PEER) | SIM_OP_BIT(SIM_OP_DAEMON))

/* X(action, its keyword in rules). doc/faults.md describes what the application sees. */
#define SIM_ACTS(X)                                                                                \
	X(FAIL, "fail")                 /* completes with a status; perhaps partly done */         \
	X(HANG, "hang")                 /* never completes */                                      \
	X(REFUSE, "refuse")             /* a submission or a connection is rejected */             \
	X(DELAY, "delay")               /* completes, or arrives, later */                         \
	X(FLIP, "flip")                 /* some bits of the data are wrong */                      \
	X(TEAR, "tear")                 /* the second half of the data is not written */           \
	X(BAD_CHECKSUM, "bad_checksum") /* the checksum that a task reports is wrong */            \
	X(BAD_TAG, "bad_tag")           /* the tag of a message is wrong */                        \
	X(DROP, "drop")                 /* the message is lost; the sender sees success */         \
	X(DUPLICATE, "duplicate")       /* the message arrives twice */                            \
	X(REORDER, "reorder")           /* the message arrives behind some later ones */           \
	X(TRUNCATE, "truncate")         /* only the first bytes of the message arrive */           \
	X(STALL, "stall")               /* the connection takes longer to establish */             \
	X(BREAK, "break")               /* the connection breaks, here */                          \
	X(DOWN, "down")                 /* the link is down for a time */                          \
	X(DEGRADE, "degrade")           /* the link runs at another generation and width */        \
	X(ERRORS, "errors")             /* the link replays this fraction of its packets */        \
	X(FATAL, "fatal")               /* an uncorrectable error stops the function's contexts */ \
	X(RESET, "reset")               /* the function is reset (FLR) */                          \
	X(REMOVE, "remove")             /* the function is removed */                              \
	X(ADD, "add")                   /* the function is plugged in */                           \
	X(NUM_VFS, "num_vfs")           /* the function changes its number of VFs */               \
	X(REP_REMOVE, "rep_remove")     /* the function's representor is removed */                \
	X(KILL, "kill")                 /* the process is killed */                                \
	X(PAUSE, "pause")               /* the process is stopped for a time */

enum sim_act {
#define X(act, name) SIM_ACT_##act,
	SIM_ACTS(X)
#undef X
		SIM_ACT_COUNT,
};

#define SIM_ACT_BIT(act) (UINT32_C(1) << (act))

/* Actions that end the operation: later rules do not fire. */
#define SIM_ACTS_TERMINAL                                                                      \
	(SIM_ACT_BIT(SIM_ACT_FAIL) | SIM_ACT_BIT(SIM_ACT_HANG) | SIM_ACT_BIT(SIM_ACT_REFUSE) | \
	 SIM_ACT_BIT(SIM_ACT_DROP) | SIM_ACT_BIT(SIM_ACT_BREAK) | SIM_ACT_BIT(SIM_ACT_FATAL) | \
	 SIM_ACT_BIT(SIM_ACT_RESET) | SIM_ACT_BIT(SIM_ACT_REMOVE) | SIM_ACT_BIT(SIM_ACT_KILL))

/* Names of operations and actions. NULL, or -ENOENT, if there is none. */
const char *sim_op_name(enum sim_op op);
const char *sim_act_name(enum sim_act act);
int sim_op_find(const char *name, size_t len, enum sim_op *ret_op);
int sim_act_find(const char *name, size_t len, enum sim_act *ret_act);

/* The actions that @op can have (bits of enum sim_act), and the operations that can have @act. */
uint32_t sim_op_actions(enum sim_op op);
uint64_t sim_act_ops(enum sim_act act);

/* Conditions of a rule, besides the operation. */
enum sim_where {
	SIM_WHERE_SIDE = 1,
	SIM_WHERE_PROGRAM = 2,
	SIM_WHERE_PID = 4,
	SIM_WHERE_DEVICE = 8,
	SIM_WHERE_SIZE = 16,
	SIM_WHERE_ADDR = 32,
};

/* The conditions that @op can have: bits of enum sim_where. */
uint32_t sim_op_where(enum sim_op op);

/* X(status): a status that a rule can inject, named in rules as here. An API above maps each to a code of its own. */
#define SIM_STATUSES(X)            \
	X(SUCCESS) /* = 0: none */ \
	X(UNKNOWN)                 \
	X(NOT_PERMITTED)           \
	X(IN_USE)                  \
	X(NOT_SUPPORTED)           \
	X(AGAIN)                   \
	X(INVALID_VALUE)           \
	X(NO_MEMORY)               \
	X(INITIALIZATION)          \
	X(TIME_OUT)                \
	X(SHUTDOWN)                \
	X(CONNECTION_RESET)        \
	X(CONNECTION_ABORTED)      \
	X(CONNECTION_INPROGRESS)   \
	X(NOT_CONNECTED)           \
	X(NO_LOCK)                 \
	X(NOT_FOUND)               \
	X(IO_FAILED)               \
	X(BAD_STATE)               \
	X(UNSUPPORTED_VERSION)     \
	X(OPERATING_SYSTEM)        \
	X(DRIVER)                  \
	X(UNEXPECTED)              \
	X(ALREADY_EXIST)           \
	X(FULL)                    \
	X(EMPTY)                   \
	X(IN_PROGRESS)             \
	X(TOO_BIG)                 \
	X(AUTHENTICATION)          \
	X(BAD_CONFIG)              \
	X(SKIPPED)

enum sim_status {
#define X(status) SIM_STATUS_##status,
	SIM_STATUSES(X)
#undef X
		SIM_STATUS_COUNT,
};

/* A status's name, NULL if there is none of that number; and back, -ENOENT if there is none of that name. */
const char *sim_status_name(uint32_t status);
int sim_status_find(const char *name, size_t len, uint32_t *ret_status);

#endif
