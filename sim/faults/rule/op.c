/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of operations, actions and conditions, and their names. */
#include "op.h"

#include <errno.h>
#include <string.h>

#define A(act) SIM_ACT_BIT(SIM_ACT_##act)

/* Sets of actions; each operation has one or more of them. */
#define TASK       (A(REFUSE) | A(DELAY) | A(FAIL) | A(HANG)) /* a task: submitted now, complete later */
#define DATA       A(FLIP)
#define MESSAGE    (A(DROP) | A(DUPLICATE) | A(REORDER) | A(TRUNCATE) | A(DELAY) | A(FLIP) | A(BREAK))
#define CALL       (A(FAIL) | A(DELAY)) /* a call: returns when it is done */
#define CONNECTION (A(REFUSE) | A(STALL) | A(FAIL))

static const uint32_t op_actions[SIM_OP_COUNT] = {
	[SIM_OP_DMA_MEMCPY] = TASK | DATA | A(TEAR),
	[SIM_OP_COMCH_CONNECT] = CONNECTION | A(HANG),
	[SIM_OP_COMCH_SEND] = TASK | MESSAGE,
	[SIM_OP_COMCH_RECV] = MESSAGE,
	[SIM_OP_COMCH_PRODUCER_SEND] = TASK | MESSAGE,
	[SIM_OP_COMCH_CONSUMER_RECV] = TASK | DATA,
	[SIM_OP_COMCH_PEER_DEATH] = A(DELAY),
	[SIM_OP_COMM_CHANNEL_CONNECT] = CONNECTION,
	[SIM_OP_COMM_CHANNEL_SEND] = MESSAGE | A(REFUSE) | A(FAIL),
	[SIM_OP_COMM_CHANNEL_RECV] = MESSAGE | A(FAIL),
	[SIM_OP_SYNC_EVENT_UPDATE] = TASK,
	[SIM_OP_SYNC_EVENT_WAIT] = TASK,
	[SIM_OP_SHA_HASH] = TASK | DATA,
	[SIM_OP_SHA_PARTIAL_HASH] = TASK | DATA,
	[SIM_OP_COMPRESS_DEFLATE] = TASK | DATA | A(BAD_CHECKSUM),
	[SIM_OP_DECOMPRESS_DEFLATE] = TASK | DATA | A(BAD_CHECKSUM),
	[SIM_OP_DECOMPRESS_LZ4_STREAM] = TASK | DATA | A(BAD_CHECKSUM),
	[SIM_OP_DECOMPRESS_LZ4_BLOCK] = TASK | DATA | A(BAD_CHECKSUM),
	[SIM_OP_EC_GALOIS_MUL] = TASK | DATA,
	[SIM_OP_EC_CREATE] = TASK | DATA,
	[SIM_OP_EC_UPDATE] = TASK | DATA,
	[SIM_OP_EC_RECOVER] = TASK | DATA,
	[SIM_OP_AES_GCM_ENCRYPT] = TASK | DATA | A(BAD_TAG),
	[SIM_OP_AES_GCM_DECRYPT] = TASK | DATA | A(BAD_TAG),
	[SIM_OP_MMAP_EXPORT] = CALL,
	[SIM_OP_MMAP_IMPORT] = CALL,
	[SIM_OP_CTX_START] = CALL,
	[SIM_OP_DEV_OPEN] = CALL,
	[SIM_OP_ALLOC] = A(FAIL),
	[SIM_OP_LINK] = A(DOWN) | A(DEGRADE) | A(ERRORS) | A(FATAL),
	[SIM_OP_FUNCTION] = A(RESET) | A(REMOVE) | A(ADD) | A(NUM_VFS) | A(REP_REMOVE),
	[SIM_OP_PEER] = A(KILL) | A(PAUSE),
	[SIM_OP_DAEMON] = A(KILL) | A(PAUSE),
};

#define PROCESS   (SIM_WHERE_SIDE | SIM_WHERE_PROGRAM | SIM_WHERE_PID)
#define DEVICE    (PROCESS | SIM_WHERE_DEVICE)
#define SIZED     (DEVICE | SIM_WHERE_SIZE)
#define ADDRESSED (SIZED | SIM_WHERE_ADDR)

static const uint32_t op_where[SIM_OP_COUNT] = {
	[SIM_OP_DMA_MEMCPY] = ADDRESSED,
	[SIM_OP_COMCH_CONNECT] = DEVICE,
	[SIM_OP_COMCH_SEND] = SIZED,
	[SIM_OP_COMCH_RECV] = SIZED,
	[SIM_OP_COMCH_PRODUCER_SEND] = ADDRESSED,
	[SIM_OP_COMCH_CONSUMER_RECV] = ADDRESSED,
	[SIM_OP_COMCH_PEER_DEATH] = DEVICE,
	[SIM_OP_COMM_CHANNEL_CONNECT] = DEVICE,
	[SIM_OP_COMM_CHANNEL_SEND] = SIZED,
	[SIM_OP_COMM_CHANNEL_RECV] = SIZED,
	[SIM_OP_SYNC_EVENT_UPDATE] = DEVICE,
	[SIM_OP_SYNC_EVENT_WAIT] = DEVICE,
	[SIM_OP_SHA_HASH] = ADDRESSED,
	[SIM_OP_SHA_PARTIAL_HASH] = ADDRESSED,
	[SIM_OP_COMPRESS_DEFLATE] = ADDRESSED,
	[SIM_OP_DECOMPRESS_DEFLATE] = ADDRESSED,
	[SIM_OP_DECOMPRESS_LZ4_STREAM] = ADDRESSED,
	[SIM_OP_DECOMPRESS_LZ4_BLOCK] = ADDRESSED,
	[SIM_OP_EC_GALOIS_MUL] = ADDRESSED,
	[SIM_OP_EC_CREATE] = ADDRESSED,
	[SIM_OP_EC_UPDATE] = ADDRESSED,
	[SIM_OP_EC_RECOVER] = ADDRESSED,
	[SIM_OP_AES_GCM_ENCRYPT] = ADDRESSED,
	[SIM_OP_AES_GCM_DECRYPT] = ADDRESSED,
	[SIM_OP_MMAP_EXPORT] = ADDRESSED,
	[SIM_OP_MMAP_IMPORT] = SIZED,
	[SIM_OP_CTX_START] = DEVICE,
	[SIM_OP_DEV_OPEN] = DEVICE,
	[SIM_OP_ALLOC] = PROCESS | SIM_WHERE_SIZE,
	[SIM_OP_LINK] = SIM_WHERE_SIDE | SIM_WHERE_DEVICE,
	[SIM_OP_FUNCTION] = SIM_WHERE_SIDE | SIM_WHERE_DEVICE,
	[SIM_OP_PEER] = PROCESS,
	[SIM_OP_DAEMON] = 0,
};

uint32_t sim_op_actions(enum sim_op op)
{
	return op < SIM_OP_COUNT ? op_actions[op] : 0;
}

uint64_t sim_act_ops(enum sim_act act)
{
	uint64_t ops = 0;

	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++)
		if (act < SIM_ACT_COUNT && (op_actions[op] & SIM_ACT_BIT(act)))
			ops |= SIM_OP_BIT(op);
	return ops;
}

uint32_t sim_op_where(enum sim_op op)
{
	return op < SIM_OP_COUNT ? op_where[op] : 0;
}

/* ---- names ---- */

static const char *const op_names[] = {
#define X(op, name) name,
	SIM_OPS(X)
#undef X
};

static const char *const act_names[] = {
#define X(act, name) name,
	SIM_ACTS(X)
#undef X
};

static const char *const status_names[] = {
#define X(status) #status,
	SIM_STATUSES(X)
#undef X
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static int find_name(const char *const *names, size_t count, const char *name, size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return (int)i;
	return -ENOENT;
}

const char *sim_op_name(enum sim_op op)
{
	return op < SIM_OP_COUNT ? op_names[op] : NULL;
}

const char *sim_act_name(enum sim_act act)
{
	return act < SIM_ACT_COUNT ? act_names[act] : NULL;
}

const char *sim_status_name(uint32_t status)
{
	return status < COUNT_OF(status_names) ? status_names[status] : NULL;
}

int sim_op_find(const char *name, size_t len, enum sim_op *ret_op)
{
	int found = find_name(op_names, COUNT_OF(op_names), name, len);

	if (found < 0)
		return found;
	*ret_op = (enum sim_op)found;
	return 0;
}

int sim_act_find(const char *name, size_t len, enum sim_act *ret_act)
{
	int found = find_name(act_names, COUNT_OF(act_names), name, len);

	if (found < 0)
		return found;
	*ret_act = (enum sim_act)found;
	return 0;
}

int sim_status_find(const char *name, size_t len, uint32_t *ret_status)
{
	int found = find_name(status_names, COUNT_OF(status_names), name, len);

	if (found < 0)
		return found;
	*ret_status = (uint32_t)found;
	return 0;
}
