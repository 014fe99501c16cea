/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a link, and its messages. */
#include "link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "secure.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"

#define BEAT_NS      1000000000u
#define REST_NS      (2 * BEAT_NS) /* link_tick() is called more often, unless this process has not run */
#define MIN_IN_PLACE 4096          /* of a body */
#define CLOSING_NS   1000000000u   /* for the other side to read what was said last */

/* The first byte of each message on the rail. */
enum message_type {
	MESSAGE_HELLO = 1,
	MESSAGE_SECURE, /* bytes of TLS */
	MESSAGE_PLAIN,  /* a frame */
};

struct link_chunk {
	size_t len;
	STAILQ_ENTRY(link_chunk) entry;
	uint8_t bytes[];
};

static bool go(struct link *link, enum link_state to)
{
	if (!link_state_can_become(link->state, to))
		return false;
	link->state = to;
	return true;
}

struct link *link_create(const struct link_cfg *cfg)
{
	struct link *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	*link = (struct link){ .ops = cfg->ops,
			       .arg = cfg->arg,
			       .is_server = cfg->is_server,
			       .is_trusted = cfg->is_trusted,
			       .is_direct = cfg->number != SECURE_SESSION,
			       .keys = cfg->keys,
			       .machine = LINK_NO_MACHINE,
			       .begin_ns = sim_monotonic_ns(),
			       .in = malloc(GATEWAY_MAX_FRAME),
			       .batch = malloc(LINK_BATCH_BYTES) };
	STAILQ_INIT(&link->queue);
	if (link->in && link->batch && secure_create(cfg->keys, cfg->is_server, cfg->number, &link->secure) == 0)
		return link;
	link_destroy(link);
	return NULL;
}

void link_destroy(struct link *link)
{
	if (!link)
		return;
	rail_close(link->conn);
	rail_destroy(link->own_rail);
	secure_destroy(link->secure);
	while (!STAILQ_EMPTY(&link->queue)) {
		struct link_chunk *chunk = STAILQ_FIRST(&link->queue);

		STAILQ_REMOVE_HEAD(&link->queue, entry);
		free(chunk);
	}
	free(link->in);
	free(link->batch);
	free(link);
}

/* ---- the end ---- */

/* Senders are in the middle of something: the owner hears of it later. */
static void mark_lost(struct link *link, const char *words)
{
	if (link->is_lost)
		return;
	link->is_lost = true;
	snprintf(link->words, sizeof(link->words), "%s", words);
}

bool link_settle(struct link *link)
{
	if (!link->is_lost || link->was_told)
		return false;
	link->was_told = true;
	link->ops->on_lost(link->arg, link, link->words);
	return true;
}

void link_close(struct link *link, const char *words)
{
	mark_lost(link, words); /* the first words stay: what is flushed may fail for the same reason */
	link_flush(link);
	if (go(link, LINK_CLOSING))
		link->closing_ns = sim_monotonic_ns();
}

static void fail(struct link *link, const char *words)
{
	go(link, LINK_CLOSED);
	mark_lost(link, words);
}

void link_on_closed(struct link *link, int reason)
{
	char words[128];

	snprintf(words, sizeof(words), "%s",
		 reason == -ECONNREFUSED ? "nobody listens there" :
		 reason == -ECONNRESET   ? "the other side has closed the connection" :
					   strerror(-reason));
	fail(link, words);
}

/* ---- sending ---- */

static void queue(struct link *link, enum message_type type, const void *bytes, size_t len)
{
	struct link_chunk *chunk = link->num_queued < LINK_MAX_QUEUED ? malloc(sizeof(*chunk) + 1 + len) : NULL;

	if (!chunk) {
		fail(link, "it does not take what is sent to it, and the queue is full");
		return;
	}
	chunk->len = 1 + len;
	chunk->bytes[0] = (uint8_t)type;
	memcpy(chunk->bytes + 1, bytes, len);
	STAILQ_INSERT_TAIL(&link->queue, chunk, entry);
	link->num_queued += chunk->len;
}

static void send_message(struct link *link, uint8_t *buffer, enum message_type type, size_t len)
{
	buffer[0] = (uint8_t)type;
	link->sent.bytes += 1 + len;
	if (rail_send(link->conn, 1 + len) < 0)
		fail(link, "libfabric does not take a message");
}

static void say(struct link *link, enum message_type type, const void *bytes, size_t len)
{
	uint8_t *buffer = STAILQ_EMPTY(&link->queue) ? rail_buffer(link->conn) : NULL;

	if (!buffer) {
		queue(link, type, bytes, len);
		return;
	}
	memcpy(buffer + 1, bytes, len);
	send_message(link, buffer, type, len);
}

/* What TLS has to say. */
static void say_secured(struct link *link)
{
	uint8_t *buffer;
	uint8_t copy[16384];
	size_t len;

	while (STAILQ_EMPTY(&link->queue) && (buffer = rail_buffer(link->conn))) {
		len = secure_take(link->secure, buffer + 1, RAIL_MESSAGE_BYTES - 1);
		if (len == 0)
			return;
		send_message(link, buffer, MESSAGE_SECURE, len);
	}
	while ((len = secure_take(link->secure, copy, sizeof(copy))) > 0)
		queue(link, MESSAGE_SECURE, copy, len);
}

void link_on_room(struct link *link)
{
	struct link_chunk *chunk;
	uint8_t *buffer;

	while ((chunk = STAILQ_FIRST(&link->queue)) && (buffer = rail_buffer(link->conn))) {
		memcpy(buffer, chunk->bytes, chunk->len);
		STAILQ_REMOVE_HEAD(&link->queue, entry);
		link->num_queued -= chunk->len;
		send_message(link, buffer, chunk->bytes[0], chunk->len - 1);
		free(chunk);
	}
}

/* A long body that stays is not copied. Returns whether the frame was sent. */
static bool send_in_place(struct link *link, const struct gateway_frame *frame, uint8_t *buffer)
{
	int rc;

	if (!frame->is_stable || frame->len_bytes < MIN_IN_PLACE)
		return false;
	buffer[0] = MESSAGE_PLAIN;
	gateway_frame_write_head(frame, buffer + 1);
	rc = rail_send_with(link->conn, 1 + GATEWAY_HEAD_BYTES, frame->body, frame->len_bytes);
	link->sent.bytes += rc == 0 ? 1 + GATEWAY_HEAD_BYTES + frame->len_bytes : 0;
	return rc == 0;
}

static void send_plain(struct link *link, const struct gateway_frame *frame)
{
	uint8_t *buffer = STAILQ_EMPTY(&link->queue) ? rail_buffer(link->conn) : NULL;
	uint8_t bytes[GATEWAY_MAX_FRAME];

	if (!buffer)
		queue(link, MESSAGE_PLAIN, bytes, gateway_frame_write(frame, bytes));
	else if (!send_in_place(link, frame, buffer))
		send_message(link, buffer, MESSAGE_PLAIN, gateway_frame_write(frame, buffer + 1));
}

/* @body_len 0 = no body. TLS writes into the message, if there is one. */
static void send_secured(struct link *link, const uint8_t *bytes, size_t len, const uint8_t *body, size_t body_len)
{
	uint8_t *buffer = STAILQ_EMPTY(&link->queue) ? rail_buffer(link->conn) : NULL;
	size_t said;
	int rc;

	secure_set_room(link->secure, buffer ? buffer + 1 : NULL, buffer ? RAIL_MESSAGE_BYTES - 1 : 0);
	rc = secure_write(link->secure, bytes, len);
	if (rc == 0 && body_len > 0)
		rc = secure_write(link->secure, body, body_len);
	said = secure_end_room(link->secure);
	if (rc < 0) {
		fail(link, "the encryption has failed");
		return;
	}
	if (said > 0)
		send_message(link, buffer, MESSAGE_SECURE, said);
	say_secured(link);
}

void link_flush(struct link *link)
{
	size_t len = link->batch_len;

	if (len == 0 || link->state == LINK_CLOSED)
		return;
	link->batch_len = 0;
	if (link->is_batch_plain)
		say(link, MESSAGE_PLAIN, link->batch, len);
	else
		send_secured(link, link->batch, len, NULL, 0);
}

static void send_alone(struct link *link, const struct gateway_frame *frame, bool is_plain)
{
	uint8_t head[GATEWAY_HEAD_BYTES];

	link_flush(link);
	if (is_plain) {
		send_plain(link, frame);
		return;
	}
	gateway_frame_write_head(frame, head);
	send_secured(link, head, sizeof(head), frame->body, frame->len_bytes);
}

void link_send(struct link *link, const struct gateway_frame *frame)
{
	bool is_plain = link->is_trusted && !gateway_kind_is_secret(frame->kind);

	if (link->state != LINK_JOINING && link->state != LINK_UP)
		return;
	link->sent.frames++;
	if (GATEWAY_HEAD_BYTES + frame->len_bytes > MIN_IN_PLACE) {
		send_alone(link, frame, is_plain);
		return;
	}
	if (is_plain != link->is_batch_plain ||
	    link->batch_len + GATEWAY_HEAD_BYTES + frame->len_bytes > LINK_BATCH_BYTES)
		link_flush(link);
	link->is_batch_plain = is_plain;
	link->batch_len += gateway_frame_write(frame, link->batch + link->batch_len);
}

/* ---- receiving ---- */

void link_on_connected(struct link *link)
{
	uint8_t hello[GATEWAY_HELLO_BYTES];

	if (!go(link, LINK_HELLO))
		return;
	gateway_hello_write(hello);
	say(link, MESSAGE_HELLO, hello, sizeof(hello));
}

static void refuse(struct link *link, const char *words)
{
	link->is_final = true;
	link_close(link, words);
}

static void shake_hands(struct link *link)
{
	int rc = secure_shake_hands(link->secure);

	say_secured(link); /* on a failure, why */
	if (rc == 0 && go(link, LINK_JOINING))
		link->ops->on_proved(link->arg, link);
	else if (rc < 0 && rc != -EAGAIN)
		refuse(link, link->is_direct ? "the two machines do not have the same offer of home" :
					       "the two machines do not have the same token");
}

static void take_hello(struct link *link, const uint8_t *bytes, size_t len)
{
	char version[GATEWAY_HELLO_BYTES], own[GATEWAY_HELLO_BYTES], words[256];
	uint8_t hello[GATEWAY_HELLO_BYTES];
	int rc = gateway_hello_check(bytes, len, version);

	if (rc == 0) {
		if (go(link, LINK_HANDSHAKE))
			shake_hands(link);
		return;
	}
	gateway_hello_write(hello);
	gateway_hello_check(hello, sizeof(hello), own);
	if (rc == -EPROTONOSUPPORT)
		snprintf(words, sizeof(words),
			 "it runs another build, bfsim %s, and this machine bfsim %s: use one build on all machines",
			 version, own);
	else
		snprintf(words, sizeof(words), "it is no gateway of bfsim");
	refuse(link, words);
}

static bool takes_frames(const struct link *link)
{
	return link->state == LINK_JOINING || link->state == LINK_UP;
}

static void take_frame(struct link *link, const struct gateway_frame *frame)
{
	const uint64_t now_ns = sim_monotonic_ns();

	link->received.frames++;
	if (frame->kind == GATEWAY_RDM_OFFER && link->state == LINK_UP) {
		rail_take_offer(link->conn, frame->body, frame->len_bytes);
	} else if (frame->kind != GATEWAY_HEARTBEAT) {
		link->ops->on_frame(link->arg, link, frame);
	} else if (frame->a != 0 && frame->a == link->beat_number) {
		link->round_trip_ns = now_ns - link->beat_ns;
		clock_offset_take(&link->clock, link->beat_ns, frame->b, now_ns);
	} else if (frame->id != 0) {
		link_send(link, &(struct gateway_frame){ .kind = GATEWAY_HEARTBEAT, .a = frame->id, .b = now_ns });
	}
}

/* Take the frames in @in. */
static void take_frames(struct link *link)
{
	struct gateway_frame frame;
	size_t at = 0;
	int rc = 0;

	while (takes_frames(link) && (rc = gateway_frame_parse(link->in + at, link->in_len - at, &frame)) > 0) {
		take_frame(link, &frame);
		at += (size_t)rc;
	}
	if (rc < 0)
		link_close(link, "it has sent what is no frame");
	if (at > 0)
		memmove(link->in, link->in + at, link->in_len - at);
	link->in_len -= at;
}

static void take_secured(struct link *link, const uint8_t *bytes, size_t len)
{
	int rc = secure_feed(link->secure, bytes, len);

	if (rc == 0 && link->state == LINK_HANDSHAKE)
		shake_hands(link);
	while (rc >= 0 && takes_frames(link)) {
		rc = secure_read(link->secure, link->in + link->in_len, GATEWAY_MAX_FRAME - link->in_len);
		if (rc <= 0)
			break;
		link->in_len += (size_t)rc;
		take_frames(link);
	}
	if (rc < 0 && rc != -EAGAIN)
		link_close(link, "it has sent what is not encrypted with the token");
}

/* On a trusted network. These are whole frames, of kinds without secrets, and the other side has proved itself. */
static void take_plain(struct link *link, const uint8_t *bytes, size_t len)
{
	struct gateway_frame frame;
	size_t at = 0;
	int rc = 0;

	while (at < len && link->is_trusted && takes_frames(link)) {
		rc = gateway_frame_parse(bytes + at, len - at, &frame);
		if (rc <= 0 || gateway_kind_is_secret(frame.kind))
			break;
		at += (size_t)rc;
		take_frame(link, &frame);
	}
	if (at < len)
		link_close(link, "it has sent a frame in the clear that must not be so");
}

void link_on_message(struct link *link, const uint8_t *bytes, size_t len)
{
	if (link->state >= LINK_CLOSING)
		return;
	link->heard_ns = sim_monotonic_ns();
	link->received.bytes += len;
	if (len > 1 && bytes[0] == MESSAGE_HELLO && link->state == LINK_HELLO)
		take_hello(link, bytes + 1, len - 1);
	else if (len > 1 && bytes[0] == MESSAGE_SECURE && link->state >= LINK_HANDSHAKE)
		take_secured(link, bytes + 1, len - 1);
	else if (len > 1 && bytes[0] == MESSAGE_PLAIN)
		take_plain(link, bytes + 1, len - 1);
	else
		link_close(link, "it is no gateway of bfsim");
}

/* ---- time ---- */

/* Tell the other side where messages without a connection are taken. */
static void send_offer(struct link *link)
{
	uint8_t offer[RAIL_OFFER_BYTES];
	size_t len = rail_offer(link->conn, offer);

	if (len > 0)
		link_send(link, &(struct gateway_frame){
					.kind = GATEWAY_RDM_OFFER, .body = offer, .len_bytes = (uint32_t)len });
}

void link_set_up(struct link *link, uint32_t machine)
{
	link->machine = machine;
	link->heard_ns = sim_monotonic_ns();
	if (go(link, LINK_UP))
		send_offer(link);
}

static void beat(struct link *link, uint64_t now_ns)
{
	link->beat_ns = now_ns;
	link_send(link, &(struct gateway_frame){ .kind = GATEWAY_HEARTBEAT, .id = ++link->beat_number });
}

static uint64_t tick(struct link *link, uint64_t now_ns)
{
	bool is_said = STAILQ_EMPTY(&link->queue) && link->conn && rail_is_idle(link->conn);

	switch (link->state) {
	case LINK_CLOSED:
		return now_ns;
	case LINK_CLOSING:
		if (now_ns - link->closing_ns >= CLOSING_NS || (is_said && !link->is_server))
			go(link, LINK_CLOSED);
		return link->closing_ns + CLOSING_NS;
	case LINK_UP:
		if (now_ns - link->heard_ns >= LINK_TIMEOUT_NS)
			fail(link, "it has not answered for eight seconds");
		else if (now_ns - link->beat_ns >= BEAT_NS)
			beat(link, now_ns);
		return min_u64(link->beat_ns + BEAT_NS, link->heard_ns + LINK_TIMEOUT_NS);
	default:
		if (now_ns - link->begin_ns >= LINK_JOIN_NS)
			link_close(link, "it did not answer within five seconds");
		return link->begin_ns + LINK_JOIN_NS;
	}
}

/* This process was stopped, or waited for a CPU: what the other side has said meanwhile may not have been read. */
static void forgive_rest(struct link *link, uint64_t now_ns)
{
	const uint64_t rested_ns = link->tick_ns > 0 ? now_ns - link->tick_ns : 0;

	link->tick_ns = now_ns;
	if (rested_ns < REST_NS)
		return;
	link->heard_ns = min_u64(link->heard_ns + rested_ns, now_ns);
	link->begin_ns = min_u64(link->begin_ns + rested_ns, now_ns);
}

uint64_t link_tick(struct link *link, uint64_t now_ns)
{
	uint64_t next_ns;

	forgive_rest(link, now_ns);
	next_ns = tick(link, now_ns);

	return link->is_lost && !link->was_told ? now_ns : next_ns;
}
