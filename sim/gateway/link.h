/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/link.h - this gateway's connection to another one.
 *
 *   [connecting] --> [hello] --> [handshake] --> [joining] --> [up] --+--> [closing] --> [closed] --> freed
 *        |              |            |               |                |       what was said last is on its way
 *        '--------------+------------+---------------+----------------'
 *
 * Each side says hello in the clear, with its version. Then TLS proves that both have the token, and all frames follow inside. On a
 * trusted network those without secrets go beside it, as they are. An end that is not up in five seconds is closed, and so is one
 * that has been silent for LINK_TIMEOUT_NS: each side sends a heartbeat a second. Time in which this process did not run, as on a busy
 * machine, is no silence of the other side.
 *
 * Short frames of one turn of the gateway's loop leave as one message. What can't be sent yet is queued; a link with more than
 * LINK_MAX_QUEUED bytes in its queue is closed.
 *
 * A link that ends while a caller uses it, as in link_send(), is only marked: link_settle() tells the owner, who then frees what
 * belongs to the other machine.
 */
#ifndef SIM_GATEWAY_LINK_H
#define SIM_GATEWAY_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "clock_offset.h"
#include "frame.h"
#include "rail.h"

#define LINK_MAX_QUEUED  (64u << 20)
#define LINK_FULL_QUEUED (16u << 20) /* records of messages wait until there is less */
#define LINK_JOIN_NS     5000000000u /* to be up */
#define LINK_TIMEOUT_NS \
	8000000000u /* of silence: a machine that is only busy is heard before; tasks to one that is gone fail within 10 s */
#define LINK_NO_MACHINE  UINT32_MAX
#define LINK_BATCH_BYTES 16384
#define LINK_WORDS_SIZE  520

enum link_state {
	LINK_CONNECTING,
	LINK_HELLO,
	LINK_HANDSHAKE,
	LINK_JOINING,
	LINK_UP,
	LINK_CLOSING,
	LINK_CLOSED,
	LINK_NUM_STATES,
};

/* Whether the picture has that edge. */
bool link_state_can_become(enum link_state from, enum link_state to);

struct link_counts {
	uint64_t frames, bytes;
};

static inline void link_counts_add(struct link_counts *to, const struct link_counts *counts)
{
	to->frames += counts->frames;
	to->bytes += counts->bytes;
}

struct link_chunk;
struct secure;
struct secure_keys;
struct link;

/* The gateway's part. */
struct link_ops {
	/* A frame, once the other side has proved that it has the token: of joining, then all. */
	void (*on_frame)(void *arg, struct link *link, const struct gateway_frame *frame);
	/* The other side has the token. */
	void (*on_proved)(void *arg, struct link *link);
	/* The link is closing or closed; @words say why. From link_settle() alone. */
	void (*on_lost)(void *arg, struct link *link, const char *words);
};

struct link_cfg {
	const struct link_ops *ops;
	void *arg;
	struct secure_keys *keys;
	uint64_t number; /* of the key (secure.h) */
	bool is_server, is_trusted;
};

struct link {
	const struct link_ops *ops;
	void *arg;
	enum link_state state;
	bool is_server, is_trusted;
	bool is_direct;         /* between two machines of which neither is home */
	bool is_final;          /* it would end so again: the other side has another token, build, or session */
	bool is_lost, was_told; /* it has ended, for @words; the owner knows */
	char words[LINK_WORDS_SIZE];
	bool is_visit; /* the other side asked for the session alone */
	struct rail_conn *conn;
	struct rail *own_rail; /* of a direct link that this end has dialled; else NULL */
	struct secure *secure;
	struct secure_keys *keys;
	uint32_t machine; /* of the other side, once it has joined; LINK_NO_MACHINE = unknown */
	uint64_t begin_ns, heard_ns, beat_ns, closing_ns, tick_ns;
	uint64_t beat_number, round_trip_ns; /* 0 = not known yet */
	struct clock_offset clock;           /* the other machine's */
	uint64_t join_ns;                    /* when this end has asked to join */
	uint8_t *in;                         /* what was decrypted of the next frame */
	size_t in_len;
	uint8_t *batch; /* short frames that leave together */
	size_t batch_len;
	bool is_batch_plain;
	STAILQ_HEAD(, link_chunk) queue;
	size_t num_queued;
	struct link_counts sent, received;
	LIST_ENTRY(link) entry;
};

/* Create a link, whose @conn and @own_rail are set afterwards and are its own then. Returns NULL without memory. */
struct link *link_create(const struct link_cfg *cfg);
void link_destroy(struct link *link);

/* The rail calls these about its connection. */
void link_on_connected(struct link *link);
void link_on_message(struct link *link, const uint8_t *bytes, size_t len);
void link_on_room(struct link *link);
void link_on_closed(struct link *link, int reason);

/* Send a frame. A link that is not joining or up ignores it. A short one waits for link_flush(), which the gateway's loop calls in
 * each turn. A failure ends the link. */
void link_send(struct link *link, const struct gateway_frame *frame);
void link_flush(struct link *link);

/* The other side has joined. */
void link_set_up(struct link *link, uint32_t machine);

/* Close the link when what was sent has left. */
void link_close(struct link *link, const char *words);

/* Tell the owner of the link's end, once. Call it where nothing uses the link or what belongs to its machine. Returns whether it did. */
bool link_settle(struct link *link);

/* Time has passed: heartbeats, deadlines. Returns when to call again. */
uint64_t link_tick(struct link *link, uint64_t now_ns);

#endif
