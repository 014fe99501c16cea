/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine that does what no gateway does. It joins home's session up to a point, attacks, and prints what came of it.
 *
 *   rogue_gateway HOST PORT TOKEN-FILE NAME ATTACK
 *
 * "closed": home ended the connection; "refused WORDS"; "answered STATUS": home took the frame and answered it. Exit status 0, or
 * 1 if nothing came of it for a minute.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/monotonic.h"
#include "sim/control/reach.h"
#include "sim/gateway/frame.h"
#include "sim/gateway/rail.h"
#include "sim/gateway/secure.h"
#include "sim/protocol/descriptor.h"

#define PATIENCE_NS UINT64_C(60000000000)
#define SLEEP_NS    10000000u

enum { MESSAGE_HELLO = 1, MESSAGE_SECURE, MESSAGE_PLAIN }; /* sim/gateway/link.c */

struct rogue {
	struct rail *rail;
	struct rail_conn *conn;
	struct secure *secure;
	const char *name, *attack;
	bool has_hello, is_proved, is_welcome, is_over, has_attacked;
	uint8_t last[RAIL_MESSAGE_BYTES]; /* the last message sent */
	size_t last_len;
	uint8_t in[GATEWAY_MAX_FRAME];
	size_t in_len;
};

static bool does(const struct rogue *rogue, const char *attack)
{
	return strcmp(rogue->attack, attack) == 0;
}

static void over(struct rogue *rogue, const char *what)
{
	if (!rogue->is_over)
		printf("%s\n", what);
	rogue->is_over = true;
}

/* ---- sending ---- */

static void send_bytes(struct rogue *rogue, const void *bytes, size_t len)
{
	uint8_t *buffer = rail_buffer(rogue->conn);

	if (!buffer)
		return;
	memcpy(buffer, bytes, len);
	memmove(rogue->last, bytes, len);
	rogue->last_len = len;
	rail_send(rogue->conn, len);
}

static void send_secured(struct rogue *rogue)
{
	uint8_t bytes[RAIL_MESSAGE_BYTES] = { MESSAGE_SECURE };
	size_t len;

	while ((len = secure_take(rogue->secure, bytes + 1, sizeof(bytes) - 1)) > 0)
		send_bytes(rogue, bytes, 1 + len);
}

static void send_frame(struct rogue *rogue, const struct gateway_frame *frame)
{
	uint8_t bytes[GATEWAY_MAX_FRAME];

	secure_write(rogue->secure, bytes, gateway_frame_write(frame, bytes));
	send_secured(rogue);
}

static void send_join(struct rogue *rogue)
{
	uint8_t body[SIM_SESSION_ID_SIZE + 64] = { 0 };
	size_t len = strlen(rogue->name);

	memcpy(body + SIM_SESSION_ID_SIZE, rogue->name, len);
	send_frame(rogue, &(struct gateway_frame){ .kind = GATEWAY_JOIN,
						   .body = body,
						   .len_bytes = (uint32_t)(SIM_SESSION_ID_SIZE + len) });
}

static void send_hello(struct rogue *rogue)
{
	uint8_t bytes[1 + GATEWAY_HELLO_BYTES] = { MESSAGE_HELLO };

	gateway_hello_write(bytes + 1);
	if (does(rogue, "another-build"))
		bytes[GATEWAY_HELLO_BYTES / 2] ^= 1;
	if (does(rogue, "garbage"))
		memset(bytes, 0xa5, sizeof(bytes));
	send_bytes(rogue, bytes, sizeof(bytes));
}

/* ---- attacks ---- */

/* In the name of machine 1, to home. */
static void send_routed(struct rogue *rogue, enum gateway_kind kind, uint16_t from, uint64_t a, uint32_t len_bytes)
{
	static const uint8_t body[64] = { 8 };

	send_frame(rogue, &(struct gateway_frame){
				  .kind = kind, .from = from, .id = 7, .a = a, .body = body, .len_bytes = len_bytes });
}

/* As soon as both have shown the token. */
static void attack_before_joining(struct rogue *rogue)
{
	uint8_t plain[1 + GATEWAY_MAX_FRAME] = { MESSAGE_PLAIN };

	rogue->has_attacked = true;
	if (does(rogue, "not-joined")) {
		send_routed(rogue, GATEWAY_READ, 1, 1, 4);
	} else if (does(rogue, "clear")) {
		size_t len = gateway_frame_write(
			&(struct gateway_frame){ .kind = GATEWAY_READ, .body = plain, .len_bytes = 4 }, plain + 1);

		send_bytes(rogue, plain, 1 + len);
	} else {
		rogue->has_attacked = false;
		send_join(rogue);
		if (does(rogue, "replay"))
			send_bytes(rogue, rogue->last, rogue->last_len);
		if (does(rogue, "changed")) {
			send_routed(rogue, GATEWAY_HEARTBEAT, 1, 0, 0);
			rogue->last[rogue->last_len / 2] ^= 1;
			send_bytes(rogue, rogue->last, rogue->last_len);
		}
	}
}

/* More than home has granted, before its helper reads. */
static void flood_helper(struct rogue *rogue, uint16_t self)
{
	static const uint8_t body[1 + SIM_REACH_MAX_BYTES] = { SIM_REACH_INPUT };

	send_routed(rogue, GATEWAY_REACH, self, SIM_REACH_CONTROL, 0);
	for (int i = 0; i < 20; i++)
		send_frame(rogue, &(struct gateway_frame){ .kind = GATEWAY_PACKET,
							   .from = self,
							   .id = 7,
							   .a = 1,
							   .body = body,
							   .len_bytes = sizeof(body) });
}

/* @self is this machine's number. */
static void attack_joined(struct rogue *rogue, uint16_t self)
{
	uint8_t wrong[GATEWAY_MAX_DATA];

	memset(wrong, 0xff, sizeof(wrong));
	rogue->has_attacked = true;
	if (does(rogue, "speak-for"))
		send_routed(rogue, GATEWAY_READ, (uint16_t)(3 - self), 1, 4);
	else if (does(rogue, "foreign-handle"))
		send_routed(rogue, GATEWAY_READ, self, 1, 4);
	else if (does(rogue, "foreign-key"))
		send_routed(rogue, GATEWAY_IMPORT, self, 0, GATEWAY_KEY_BYTES);
	else if (does(rogue, "run-program"))
		send_routed(rogue, GATEWAY_REACH, self, SIM_REACH_EXEC, 0);
	else if (does(rogue, "no-service"))
		send_routed(rogue, GATEWAY_REACH, self, 99, 0);
	else if (does(rogue, "flood-helper"))
		flood_helper(rogue, self);
	else if (does(rogue, "no-frame") && secure_write(rogue->secure, wrong, sizeof(wrong)) == 0)
		send_secured(rogue);
	else if (does(rogue, "join-again"))
		send_join(rogue);
}

/* ---- what home says ---- */

static void take_frame(struct rogue *rogue, const struct gateway_frame *frame)
{
	char words[600];

	if (frame->kind == GATEWAY_REFUSED) {
		snprintf(words, sizeof(words), "refused %.*s", (int)frame->len_bytes, (const char *)frame->body);
		over(rogue, words);
	} else if (frame->kind == GATEWAY_MACHINES && !rogue->has_attacked) {
		attack_joined(rogue, frame->to);
	} else if (frame->kind == GATEWAY_DONE || frame->kind == GATEWAY_IMPORTED || frame->kind == GATEWAY_END) {
		snprintf(words, sizeof(words), "answered %d", frame->status);
		over(rogue, words);
	}
}

static void take_secured(struct rogue *rogue, const uint8_t *bytes, size_t len)
{
	struct gateway_frame frame;
	int rc;

	secure_feed(rogue->secure, bytes, len);
	if (!rogue->is_proved) {
		rc = secure_shake_hands(rogue->secure);
		send_secured(rogue);
		if (rc == -EAGAIN)
			return;
		if (rc < 0) {
			over(rogue, "closed");
			return;
		}
		rogue->is_proved = true;
		attack_before_joining(rogue);
	}
	while ((rc = secure_read(rogue->secure, rogue->in + rogue->in_len, sizeof(rogue->in) - rogue->in_len)) > 0) {
		size_t at = 0;

		rogue->in_len += (size_t)rc;
		while ((rc = gateway_frame_parse(rogue->in + at, rogue->in_len - at, &frame)) > 0) {
			take_frame(rogue, &frame);
			at += (size_t)rc;
		}
		memmove(rogue->in, rogue->in + at, rogue->in_len - at);
		rogue->in_len -= at;
	}
}

static void on_connected(void *arg, void *owner)
{
	(void)owner;
	send_hello(arg);
}

static void on_message(void *arg, void *owner, const uint8_t *bytes, size_t len)
{
	struct rogue *rogue = arg;

	(void)owner;
	if (bytes[0] == MESSAGE_HELLO && !rogue->has_hello) {
		rogue->has_hello = true;
		secure_shake_hands(rogue->secure);
		if (!does(rogue, "garbage"))
			send_secured(rogue);
	} else if (bytes[0] == MESSAGE_SECURE) {
		take_secured(rogue, bytes + 1, len - 1);
	}
}

static void on_room(void *arg, void *owner)
{
	(void)arg;
	(void)owner;
}

static void on_closed(void *arg, void *owner, int reason)
{
	(void)owner;
	(void)reason;
	over(arg, "closed");
}

/* To a machine that listens for direct links: with the token alone, or with a nonce of its own. */
static int begin_secure(struct rogue *rogue, struct secure_keys *keys)
{
	static const uint8_t nonce[SECURE_NONCE_BYTES] = { 1 };
	const uint64_t number = does(rogue, "own-nonce") ? 1 : SECURE_SESSION;

	if (number > 0 && secure_keys_add(keys, false, number, nonce) < 0)
		return -ENOMEM;
	return secure_create(keys, false, number, &rogue->secure);
}

int main(int argc, char **argv)
{
	static const struct rail_ops ops = {
		.on_connected = on_connected, .on_message = on_message, .on_room = on_room, .on_closed = on_closed
	};
	static struct rogue rogue;
	const struct rail_cfg cfg = { .host = argv[1], .port = argv[2], .ops = &ops, .arg = &rogue };
	uint64_t end_ns = sim_monotonic_ns() + PATIENCE_NS;
	struct secure_keys *keys;
	uint32_t watched;

	if (argc != 6 || secure_keys_read(argv[3], &keys) < 0)
		return 2;
	rogue.name = argv[4];
	rogue.attack = argv[5];
	if (begin_secure(&rogue, keys) < 0)
		return 2;
	if (rail_open(&cfg, &rogue.rail) < 0 || rail_connect(rogue.rail, &rogue, &rogue.conn) < 0)
		return 2;
	/* Others attack at the same time, and home has five seconds for each to join: nobody polls while nothing comes. */
	while (!rogue.is_over && sim_monotonic_ns() < end_ns)
		if (!rail_poll(rogue.rail, RAIL_LOOK_ALL))
			rail_sleep(rogue.rail, SLEEP_NS, &watched);
	return rogue.is_over ? 0 : 1;
}
