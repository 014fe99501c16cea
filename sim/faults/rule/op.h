/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/rule/op.h - what faults strike, what they do there, and which goes with which.
 *
 * An operation is something that the API's user has the card do, or (the last
 * four) something that happens to the card by itself: these are events, and
 * whoever runs the session asks for them by the clock. An action is what a rule
 * does to it. The table of sim_op_actions() is the one that doc/faults.md shows.
 */
#ifndef SIM_FAULTS_OP_H
#define SIM_FAULTS_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(what, its name in rules): a task or call of the API, or an event. */
#define SIM_OPS(X)                                                           \
	X(DMA_MEMCPY, "dma.memcpy")                                          \
	X(COMCH_CONNECT, "comch.connect")                                    \
	X(COMCH_SEND, "comch.send")                                          \
	X(COMCH_RECV, "comch.recv") /* a message comes in */                 \
	X(COMCH_PRODUCER_SEND, "comch.producer.send")                        \
	X(COMCH_CONSUMER_RECV, "comch.consumer.recv") /* a posted receive */ \
	X(COMM_CHANNEL_CONNECT, "comm_channel.connect")                      \
	X(COMM_CHANNEL_SEND, "comm_channel.send")                            \
	X(COMM_CHANNEL_RECV, "comm_channel.recv")                            \
	X(SYNC_EVENT_UPDATE, "sync_event.update") /* set or add */           \
	X(SYNC_EVENT_WAIT, "sync_event.wait")                                \
	X(MMAP_EXPORT, "mmap.export")                                        \
	X(MMAP_IMPORT, "mmap.import")                                        \
	X(CTX_START, "ctx.start")                                            \
	X(DEV_OPEN, "dev.open")                                              \
	X(ALLOC, "alloc") /* of memory, inside the library */                \
	X(LINK, "link")                                                      \
	X(FUNCTION, "function")                                              \
	X(PEER, "peer") /* an attached process */                            \
	X(DAEMON, "daemon")

enum sim_op {
#define X(op, name) SIM_OP_##op,
	SIM_OPS(X)
#undef X
		SIM_OP_COUNT,
};

#define SIM_OP_BIT(op) (UINT64_C(1) << (op))
#define SIM_OPS_ALL    (SIM_OP_BIT(SIM_OP_COUNT) - 1)
#define SIM_OPS_EVENTS \
	(SIM_OP_BIT(SIM_OP_LINK) | SIM_OP_BIT(SIM_OP_FUNCTION) | SIM_OP_BIT(SIM_OP_PEER) | SIM_OP_BIT(SIM_OP_DAEMON))

/* X(action, its word in rules). What the victim sees is in doc/faults.md. */
#define SIM_ACTS(X)                                                                            \
	X(FAIL, "fail")             /* ends with a status; perhaps partly done */              \
	X(HANG, "hang")             /* never completes */                                      \
	X(REFUSE, "refuse")         /* not taken: a submission, or a connection */             \
	X(DELAY, "delay")           /* completes, or arrives, later */                         \
	X(FLIP, "flip")             /* some bits of the data are wrong */                      \
	X(TEAR, "tear")             /* the second half of the data is not written */           \
	X(DROP, "drop")             /* the message is lost; its sender does not know */        \
	X(DUPLICATE, "duplicate")   /* the message arrives twice */                            \
	X(REORDER, "reorder")       /* the message arrives behind up to so many later ones */  \
	X(TRUNCATE, "truncate")     /* the message arrives cut to so many bytes */             \
	X(STALL, "stall")           /* the connection takes longer to be made */               \
	X(BREAK, "break")           /* the connection breaks, here */                          \
	X(DOWN, "down")             /* the link is down for a time */                          \
	X(DEGRADE, "degrade")       /* the link runs at another generation and width */        \
	X(ERRORS, "errors")         /* the link repeats packets: this part of all */           \
	X(FATAL, "fatal")           /* an uncorrectable error stops the function's contexts */ \
	X(RESET, "reset")           /* the function is reset (FLR) */                          \
	X(REMOVE, "remove")         /* the function is gone */                                 \
	X(ADD, "add")               /* the function is plugged in */                           \
	X(NUM_VFS, "num_vfs")       /* the function has so many VFs from now on */             \
	X(REP_REMOVE, "rep_remove") /* the function's representor is gone */                   \
	X(KILL, "kill")             /* the process is killed */                                \
	X(PAUSE, "pause")           /* the process is stopped for a time */

enum sim_act {
#define X(act, name) SIM_ACT_##act,
	SIM_ACTS(X)
#undef X
		SIM_ACT_COUNT,
};

#define SIM_ACT_BIT(act) (UINT32_C(1) << (act))

/* Behind a rule that does one of these nothing is left for later rules to do. */
#define SIM_ACTS_TERMINAL                                                                      \
	(SIM_ACT_BIT(SIM_ACT_FAIL) | SIM_ACT_BIT(SIM_ACT_HANG) | SIM_ACT_BIT(SIM_ACT_REFUSE) | \
	 SIM_ACT_BIT(SIM_ACT_DROP) | SIM_ACT_BIT(SIM_ACT_BREAK) | SIM_ACT_BIT(SIM_ACT_FATAL) | \
	 SIM_ACT_BIT(SIM_ACT_RESET) | SIM_ACT_BIT(SIM_ACT_REMOVE) | SIM_ACT_BIT(SIM_ACT_KILL))

/* Names. NULL when there is none of that number; -ENOENT when there is none of that name. */
const char *sim_op_name(enum sim_op op);
const char *sim_act_name(enum sim_act act);
int sim_op_find(const char *name, size_t len, enum sim_op *ret_op);
int sim_act_find(const char *name, size_t len, enum sim_act *ret_act);

/* What can be done to @op: bits of enum sim_act. And the other way round. */
uint32_t sim_op_actions(enum sim_op op);
uint64_t sim_act_ops(enum sim_act act);

/* Where a rule may look, besides at the operation itself. */
enum sim_where {
	SIM_WHERE_SIDE = 1,
	SIM_WHERE_PROGRAM = 2,
	SIM_WHERE_PID = 4,
	SIM_WHERE_DEVICE = 8,
	SIM_WHERE_SIZE = 16,
	SIM_WHERE_ADDR = 32,
};

/* What there is to look at in @op: bits of enum sim_where. */
uint32_t sim_op_where(enum sim_op op);

/* The API's statuses: their numbers, and their names without the API's prefix
 * ("IO_FAILED"). NULL, or -ENOENT, when there is none. */
#define SIM_STATUS_AGAIN     5
#define SIM_STATUS_NO_MEMORY 7
const char *sim_status_name(uint32_t status);
int sim_status_find(const char *name, size_t len, uint32_t *ret_status);

#endif
