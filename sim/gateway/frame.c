/* SPDX-License-Identifier: BSD-3-Clause */
/* The encoding of frames, and its checks. */
#include "frame.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rdm_message.h"
#include "sim/control/reach.h"
#include "sim/fabric/served/served.h"
#include "sim/protocol/descriptor.h"
#include "sim/protocol/wire.h"
#include "sim/rdma/inbox.h"
#include "sim/rdma/queue_pair.h"

#define MAX_ERRNO   4095
#define HELLO_MAGIC "bfsim gateway 1\n" /* 16 bytes; the version of the hello itself */

struct shape {
	uint32_t min_bytes, max_bytes; /* of the body */
	bool is_secret;
	bool has_status; /* may have one; with one it has no body */
};

static const struct shape shapes[GATEWAY_NUM_KINDS] = {
	[GATEWAY_HEARTBEAT] = { 0, 0, false, false },
	[GATEWAY_JOIN] = { 1, SIM_SESSION_ID_SIZE + PCIE_SIDE_SIZE, true, false },
	[GATEWAY_WELCOME] = { SIM_SESSION_ID_SIZE, GATEWAY_MAX_DATA, true, false },
	[GATEWAY_REFUSED] = { 1, 512, true, false },
	[GATEWAY_MACHINES] = { 0, GATEWAY_MAX_DATA, false, false },
	[GATEWAY_GOODBYE] = { 0, 0, false, false },
	[GATEWAY_LISTENS] = { 0, GATEWAY_HOST_SIZE - 1, true, false },
	[GATEWAY_WISH] = { 0, 0, true, false },
	[GATEWAY_DIRECT_OFFER] = { GATEWAY_NONCE_BYTES, GATEWAY_OFFER_MAX_BYTES, true, false },
	[GATEWAY_READY] = { 0, 0, true, false },
	[GATEWAY_NO_DIRECT] = { 1, GATEWAY_WORDS_SIZE - 1, true, false },
	[GATEWAY_SWITCH] = { 0, 0, true, false },
	[GATEWAY_SWITCHED] = { 0, 0, true, false },
	[GATEWAY_BREAK] = { 0, 0, true, false },
	[GATEWAY_RDM_OFFER] = { 1, RDM_OFFER_BYTES, true, false },
	[GATEWAY_IMPORT] = { GATEWAY_KEY_BYTES, GATEWAY_KEY_BYTES, true, false },
	[GATEWAY_IMPORTED] = { GATEWAY_IMPORTED_BYTES, GATEWAY_IMPORTED_BYTES, false, true },
	[GATEWAY_RELEASE] = { 0, 0, false, false },
	[GATEWAY_REVOKED] = { 0, 0, false, false },
	[GATEWAY_READ] = { 4, 4, false, false },
	[GATEWAY_WRITE] = { 0, GATEWAY_MAX_DATA, false, false },
	[GATEWAY_OPERATE] = { GATEWAY_OPERANDS_BYTES, GATEWAY_OPERANDS_BYTES, false, false },
	[GATEWAY_DONE] = { 0, GATEWAY_MAX_DATA, false, true },
	[GATEWAY_RECORDS] = { 0, GATEWAY_MAX_DATA, false, false },
	[GATEWAY_TAKE] = { 0, GATEWAY_KEY_BYTES, true, false },
	[GATEWAY_CONNECT] = { 0, SIM_HANDSHAKE_MSG_SIZE, true, false },
	[GATEWAY_MESSAGE] = { 0, SIM_HANDSHAKE_MSG_SIZE, true, false },
	[GATEWAY_CLOSE] = { 0, 0, false, true },
	[GATEWAY_STREAM] = { 0, 0, false, false },
	[GATEWAY_REACH] = { 0, 0, true, false },
	[GATEWAY_PACKET] = { 1, 1 + SIM_REACH_MAX_BYTES, true, false },
	[GATEWAY_GRANT] = { 0, 0, true, false },
	[GATEWAY_OUTAGE] = { 0, 0, true, false },
	[GATEWAY_SLOW_LINK] = { 8, 8, true, false },
	[GATEWAY_END] = { 0, 0, true, true },
	[GATEWAY_ANSWERS] = { GATEWAY_ANSWERS_BYTES, GATEWAY_ANSWERS_BYTES, false, false },
};

void gateway_put(uint8_t *to, uint64_t value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

uint64_t gateway_get(const uint8_t *from, size_t len)
{
	uint64_t value = 0;

	for (size_t i = 0; i < len; i++)
		value |= (uint64_t)from[i] << 8 * i;
	return value;
}

void gateway_frame_write_head(const struct gateway_frame *frame, uint8_t to[GATEWAY_HEAD_BYTES])
{
	memset(to, 0, GATEWAY_HEAD_BYTES);
	to[0] = (uint8_t)frame->kind;
	gateway_put(to + 2, frame->from, 2);
	gateway_put(to + 4, frame->to, 2);
	gateway_put(to + 8, frame->len_bytes, 4);
	gateway_put(to + 12, (uint32_t)-frame->status, 4);
	gateway_put(to + 16, frame->id, 8);
	gateway_put(to + 24, frame->a, 8);
	gateway_put(to + 32, frame->b, 8);
}

size_t gateway_frame_write(const struct gateway_frame *frame, uint8_t *to)
{
	gateway_frame_write_head(frame, to);
	if (frame->len_bytes > 0)
		memcpy(to + GATEWAY_HEAD_BYTES, frame->body, frame->len_bytes);
	return GATEWAY_HEAD_BYTES + frame->len_bytes;
}

static bool has_shape(const struct gateway_frame *frame, uint32_t error)
{
	const struct shape *shape = &shapes[frame->kind];

	if (error > 0)
		return shape->has_status && error <= MAX_ERRNO && frame->len_bytes == 0;
	return frame->len_bytes >= shape->min_bytes && frame->len_bytes <= shape->max_bytes;
}

int gateway_frame_parse(const uint8_t *bytes, size_t len, struct gateway_frame *ret_frame)
{
	struct gateway_frame frame;
	uint32_t error;

	if (len < GATEWAY_HEAD_BYTES)
		return 0;
	if (bytes[0] == 0 || bytes[0] >= GATEWAY_NUM_KINDS || bytes[1] != 0 || gateway_get(bytes + 6, 2) != 0)
		return -EPROTO;
	error = (uint32_t)gateway_get(bytes + 12, 4);
	frame = (struct gateway_frame){ .kind = bytes[0],
					.from = (uint16_t)gateway_get(bytes + 2, 2),
					.to = (uint16_t)gateway_get(bytes + 4, 2),
					.len_bytes = (uint32_t)gateway_get(bytes + 8, 4),
					.id = gateway_get(bytes + 16, 8),
					.a = gateway_get(bytes + 24, 8),
					.b = gateway_get(bytes + 32, 8),
					.body = bytes + GATEWAY_HEAD_BYTES };
	if (!has_shape(&frame, error))
		return -EPROTO;
	if (len - GATEWAY_HEAD_BYTES < frame.len_bytes)
		return 0;
	frame.status = -(int32_t)error;
	*ret_frame = frame;
	return (int)(GATEWAY_HEAD_BYTES + frame.len_bytes);
}

bool gateway_kind_is_secret(enum gateway_kind kind)
{
	return shapes[kind].is_secret;
}

/* ---- hello ---- */

/* What has to be equal: the frames, and what processes of one machine share, as an inbox's words are passed on. */
static void own_version(char text[GATEWAY_HELLO_BYTES])
{
	memset(text, 0, GATEWAY_HELLO_BYTES);
	snprintf(text, GATEWAY_HELLO_BYTES, BFSIM_VERSION " (frames %u, layout %08x)", GATEWAY_FRAME_VERSION,
		 SIM_WIRE_VERSION);
}

#define MAGIC_BYTES 16

void gateway_hello_write(uint8_t to[GATEWAY_HELLO_BYTES])
{
	char version[GATEWAY_HELLO_BYTES];

	own_version(version);
	memcpy(to, HELLO_MAGIC, MAGIC_BYTES);
	memcpy(to + MAGIC_BYTES, version, GATEWAY_HELLO_BYTES - MAGIC_BYTES);
}

int gateway_hello_check(const uint8_t *bytes, size_t len, char ret_version[GATEWAY_HELLO_BYTES])
{
	char version[GATEWAY_HELLO_BYTES];

	if (len != GATEWAY_HELLO_BYTES || memcmp(bytes, HELLO_MAGIC, MAGIC_BYTES) != 0)
		return -EPROTO;
	own_version(version);
	memset(ret_version, 0, GATEWAY_HELLO_BYTES);
	for (size_t i = MAGIC_BYTES; i < GATEWAY_HELLO_BYTES - 1 && bytes[i]; i++)
		ret_version[i - MAGIC_BYTES] = bytes[i] >= ' ' && bytes[i] < 0x7f ? (char)bytes[i] : '?';
	version[GATEWAY_HELLO_BYTES - MAGIC_BYTES - 1] = '\0';
	return strcmp(version, ret_version) == 0 ? 0 : -EPROTONOSUPPORT;
}

/* ---- keys and imports ---- */

void gateway_key_write(const struct sim_key *key, uint8_t to[GATEWAY_KEY_BYTES])
{
	gateway_put(to, key->id, 8);
	memcpy(to + 8, key->secret, SIM_SECRET_SIZE);
}

void gateway_key_read(const uint8_t from[GATEWAY_KEY_BYTES], struct sim_key *ret_key)
{
	ret_key->id = gateway_get(from, 8);
	memcpy(ret_key->secret, from + 8, SIM_SECRET_SIZE);
}

void gateway_imported_write(const struct gateway_imported *imported, uint8_t to[GATEWAY_IMPORTED_BYTES])
{
	gateway_put(to, imported->region.addr, 8);
	gateway_put(to + 8, imported->region.len_bytes, 8);
	gateway_put(to + 16, imported->region.access, 4);
	gateway_put(to + 20, imported->region.function, 4);
	gateway_put(to + 24, (uint32_t)imported->pid, 4);
	memcpy(to + 28, imported->program, SIM_PROGRAM_SIZE);
	to += 28 + SIM_PROGRAM_SIZE;
	gateway_put(to, imported->needs_no_peer, 4);
	gateway_put(to + 4, imported->access, 4);
	gateway_put(to + 8, imported->stream_id, 8);
}

#define NET_ACCESS \
	(SIM_ACCESS_READ | SIM_ACCESS_WRITE | SIM_ACCESS_SYNC | SIM_ACCESS_ATOMIC | SIM_ACCESS_NET | SIM_ACCESS_INBOX)

int gateway_imported_read(const struct gateway_frame *frame, struct gateway_imported *ret_imported)
{
	const uint8_t *from = frame->body, *rest = from + 28 + SIM_PROGRAM_SIZE;
	struct gateway_imported imported = { .region = { .addr = gateway_get(from, 8),
							 .len_bytes = gateway_get(from + 8, 8),
							 .access = (uint32_t)gateway_get(from + 16, 4),
							 .function = (uint32_t)gateway_get(from + 20, 4) },
					     .pid = (int32_t)gateway_get(from + 24, 4),
					     .needs_no_peer = gateway_get(rest, 4) != 0,
					     .access = (uint32_t)gateway_get(rest + 4, 4),
					     .stream_id = gateway_get(rest + 8, 8) };

	memcpy(imported.program, from + 28, SIM_PROGRAM_SIZE);
	imported.program[SIM_PROGRAM_SIZE - 1] = '\0';
	if (imported.region.access & ~(uint32_t)NET_ACCESS || !(imported.region.access & SIM_ACCESS_NET))
		return -EPROTO;
	if (imported.region.len_bytes == 0 || imported.region.addr + imported.region.len_bytes < imported.region.addr)
		return -EPROTO;
	if (imported.region.access & SIM_ACCESS_INBOX && imported.region.len_bytes != SIM_INBOX_BYTES)
		return -EPROTO;
	*ret_imported = imported;
	return 0;
}

/* ---- inboxes ---- */

void gateway_answers_write(const struct gateway_answers *answers, uint8_t to[GATEWAY_ANSWERS_BYTES])
{
	gateway_put(to, answers->num_read, 8);
	gateway_put(to + 8, answers->executed, 8);
	gateway_put(to + 16, answers->not_ready, 8);
	gateway_put(to + 24, answers->looks, 8);
	gateway_put(to + 32, answers->claim, 8);
	gateway_put(to + 40, answers->state, 4);
	gateway_put(to + 44, answers->failure, 4);
	gateway_put(to + 48, answers->has_left, 4);
}

int gateway_answers_read(const struct gateway_frame *frame, struct gateway_answers *ret_answers)
{
	const uint8_t *from = frame->body;
	struct gateway_answers answers = { .num_read = gateway_get(from, 8),
					   .executed = gateway_get(from + 8, 8),
					   .not_ready = gateway_get(from + 16, 8),
					   .looks = gateway_get(from + 24, 8),
					   .claim = gateway_get(from + 32, 8),
					   .state = (uint32_t)gateway_get(from + 40, 4),
					   .failure = (uint32_t)gateway_get(from + 44, 4),
					   .has_left = (uint32_t)gateway_get(from + 48, 4) };

	if (answers.state >= SIM_NUM_QP_STATES || answers.failure > MAX_ERRNO || answers.has_left > 1)
		return -EPROTO;
	*ret_answers = answers;
	return 0;
}

void gateway_operands_write(const struct sim_far_operands *operands, uint8_t to[GATEWAY_OPERANDS_BYTES])
{
	gateway_put(to, operands->op, 4);
	gateway_put(to + 4, operands->compare, 8);
	gateway_put(to + 12, operands->operand, 8);
}

int gateway_operands_read(const struct gateway_frame *frame, struct sim_far_operands *ret_operands)
{
	const uint32_t op = (uint32_t)gateway_get(frame->body, 4);

	if (op == 0 || op >= SIM_NUM_FAR_OPS)
		return -EPROTO;
	*ret_operands = (struct sim_far_operands){ .op = op,
						   .compare = gateway_get(frame->body + 4, 8),
						   .operand = gateway_get(frame->body + 12, 8) };
	return 0;
}

size_t gateway_record_write(uint32_t kind, const void *bytes, size_t len, uint8_t *to)
{
	gateway_put(to, kind, 4);
	gateway_put(to + 4, len, 4);
	memcpy(to + GATEWAY_RECORD_HEAD_BYTES, bytes, len);
	return GATEWAY_RECORD_HEAD_BYTES + len;
}

bool gateway_record_next(const struct gateway_frame *frame, size_t *at, uint32_t *ret_kind, const uint8_t **ret_bytes,
			 size_t *ret_len, bool *ret_is_wrong)
{
	size_t left = frame->len_bytes - *at;
	const uint8_t *from = frame->body + *at;

	if (left == 0)
		return false;
	*ret_is_wrong = true;
	if (left < GATEWAY_RECORD_HEAD_BYTES)
		return false;
	*ret_kind = (uint32_t)gateway_get(from, 4);
	*ret_len = (size_t)gateway_get(from + 4, 4);
	if (*ret_len > left - GATEWAY_RECORD_HEAD_BYTES ||
	    *ret_len > SIM_INBOX_RECORD_BYTES + sizeof(struct sim_inbox_head))
		return false;
	*ret_bytes = from + GATEWAY_RECORD_HEAD_BYTES;
	*at += GATEWAY_RECORD_HEAD_BYTES + *ret_len;
	*ret_is_wrong = false;
	return true;
}
