/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as the frames of another machine's gateway, and as an offer and messages without a connection: each is read within its
 * bounds, and what was read is written again as it was. Seeds are in corpus/gateway. */
#include <errno.h>

#include "fuzz_input.h"
#include "sim/fabric/served/served.h"
#include "sim/gateway/frame.h"
#include "sim/gateway/rdm_message.h"

static void read_records(const struct gateway_frame *frame)
{
	const uint8_t *bytes;
	bool is_wrong = false;
	size_t at = 0, len, sum = 0;
	uint32_t kind;

	while (gateway_record_next(frame, &at, &kind, &bytes, &len, &is_wrong)) {
		promise(bytes >= frame->body && bytes + len <= frame->body + frame->len_bytes);
		sum += GATEWAY_RECORD_HEAD_BYTES + len;
	}
	promise(is_wrong || sum == frame->len_bytes);
}

/* What other machines say of direct links. */
static void read_direct_body(const struct gateway_frame *frame)
{
	uint8_t again[GATEWAY_OFFER_MAX_BYTES];
	struct gateway_offer offer;
	char host[GATEWAY_HOST_SIZE], words[GATEWAY_WORDS_SIZE];

	if (frame->kind == GATEWAY_DIRECT_OFFER && gateway_offer_read(frame, &offer) == 0) {
		promise(gateway_offer_write(&offer, again) == frame->len_bytes);
		promise(memcmp(again, frame->body, frame->len_bytes) == 0);
	}
	if (frame->kind == GATEWAY_LISTENS && gateway_host_read(frame->body, frame->len_bytes, host) == 0)
		promise(strlen(host) == frame->len_bytes);
	if (frame->kind == GATEWAY_NO_DIRECT) {
		gateway_words_read(frame, words);
		for (size_t i = 0; words[i]; i++)
			promise(words[i] >= ' ' && words[i] < 0x7f);
	}
}

static void read_body(const struct gateway_frame *frame)
{
	uint8_t again[GATEWAY_IMPORTED_BYTES];
	struct gateway_imported imported;
	struct gateway_answers answers;
	struct sim_far_operands operands;
	struct sim_key key;

	if (frame->kind == GATEWAY_IMPORTED && frame->status == 0 && gateway_imported_read(frame, &imported) == 0)
		promise(imported.region.len_bytes > 0 && imported.program[SIM_PROGRAM_SIZE - 1] == '\0');
	if (frame->kind == GATEWAY_ANSWERS && gateway_answers_read(frame, &answers) == 0) {
		gateway_answers_write(&answers, again);
		promise(memcmp(again, frame->body, GATEWAY_ANSWERS_BYTES) == 0);
	}
	if (frame->kind == GATEWAY_OPERATE && gateway_operands_read(frame, &operands) == 0) {
		gateway_operands_write(&operands, again);
		promise(memcmp(again, frame->body, GATEWAY_OPERANDS_BYTES) == 0);
	}
	if (frame->kind == GATEWAY_IMPORT) {
		gateway_key_read(frame->body, &key);
		gateway_key_write(&key, again);
		promise(memcmp(again, frame->body, GATEWAY_KEY_BYTES) == 0);
	}
	if (frame->kind == GATEWAY_RECORDS)
		read_records(frame);
	read_direct_body(frame);
}

/* Returns the length of the frame, or what gateway_frame_parse() does. */
static int read_frame(const uint8_t *bytes, size_t len)
{
	static uint8_t again[GATEWAY_MAX_FRAME];
	struct gateway_frame frame;
	int rc = gateway_frame_parse(bytes, len, &frame);

	promise(rc == -EPROTO || (rc >= 0 && (size_t)rc <= len && rc <= GATEWAY_MAX_FRAME));
	if (rc <= 0)
		return rc;
	promise(frame.kind < GATEWAY_NUM_KINDS && frame.status <= 0 && frame.body + frame.len_bytes <= bytes + len);
	promise(gateway_frame_write(&frame, again) == (size_t)rc && memcmp(again, bytes, (size_t)rc) == 0);
	read_body(&frame);
	return rc;
}

static void read_offer(const uint8_t *bytes, size_t len)
{
	uint8_t again[RDM_OFFER_BYTES];
	struct rdm_offer offer;

	if (rdm_offer_read(bytes, len, &offer) == 0)
		promise(rdm_offer_write(&offer, again) == len && memcmp(again, bytes, len) == 0);
}

/* A message of which the nonce is known: its sequence has a place of the window, or none. */
static void read_message(const uint8_t *bytes, size_t len)
{
	struct rdm_window window;
	struct rdm_head head;

	if (len < RDM_NONCE_BYTES || !rdm_head_read(bytes, len, bytes, &head))
		return;
	rdm_window_init(&window);
	rdm_window_grant(&window, head.granted);
	promise(rdm_window_keep(&window, head.sequence, &head) == (head.sequence > 0 && head.sequence <= RDM_WINDOW));
	promise((rdm_window_next(&window) != NULL) == (head.sequence == 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size ? size : 1); /* of the exact size, so that a read beyond it shows */
	char version[GATEWAY_HELLO_BYTES];
	size_t at = 0;
	int rc = 1;

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	gateway_hello_check(bytes, size, version);
	read_offer(bytes, size);
	read_message(bytes, size);
	while (rc > 0) {
		rc = read_frame(bytes + at, size - at);
		at += rc > 0 ? (size_t)rc : 0;
	}
	free(bytes);
	return 0;
}
