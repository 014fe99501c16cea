/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/direct.h - a link between two machines of which neither is home.
 *
 *   [none] --a program needs the other machine: WISH--> [wished] --OFFER of home--> [offered] --connected--> [up]
 *      ^                                                   |                           |                      |
 *      |<------------- NO_DIRECT of home: nobody listens --'                           |                      |
 *      |<------------- it can't be made: NO_DIRECT to the other machine ---------------'                      |
 *      '<------------- it has broken: BREAK to the other machine ---------------------------------------------'
 *
 * One of the two listens (bfsim join --listen). Home gives both the same nonce over their links to it. The listener says READY, the
 * other one connects, and TLS proves that both have the nonce and the token. A nonce is good for one connection. While there is no
 * direct link, home passes the frames on.
 *
 *   what this machine sends     [by home] --SWITCH, by home--> [switching: frames wait] --SWITCHED, direct--> [direct]
 *
 * SWITCH is the last frame that goes by way of home, and the first direct one leaves after the other side has it: no frame overtakes
 * another one. When a direct link breaks, frames are lost: both machines drop what they have of each other, as if they had lost each
 * other, and go on by way of home. BREAK, by home, separates the frames of before, which are void, from those of afterwards.
 *
 * A machine that home has lost, or that has lost home, has lost its direct links.
 */
#ifndef SIM_GATEWAY_DIRECT_H
#define SIM_GATEWAY_DIRECT_H

#include "gateway.h"
#include "held.h"

#define DIRECT_OFFER_NS 10000000000u /* in which an offer is to come, and then the other machine to connect */
#define DIRECT_RETRY_NS 30000000000u /* from a failure to the next wish */

enum direct_state {
	DIRECT_NONE,
	DIRECT_WISHED,
	DIRECT_OFFERED,
	DIRECT_UP,
};

enum direct_way {
	DIRECT_BY_HOME,
	DIRECT_SWITCHING,
	DIRECT_SWITCHED,
};

struct direct {
	enum direct_state state;
	enum direct_way way;  /* of what this machine sends */
	uint64_t number;      /* of the last offer; 0 = none */
	uint64_t deadline_ns; /* of the wish or the offer */
	uint64_t wish_ns;     /* the next wish is not before */
	char host[GATEWAY_HOST_SIZE];
	uint16_t port;                  /* to connect to; 0 = the other machine connects */
	struct link *link;              /* NULL = none, or none yet */
	uint64_t switched;              /* the offer whose SWITCH has come */
	bool has_confirmed;             /* that: frames may come over the link */
	uint64_t awaited;               /* the offer whose BREAK has not come; 0 = none */
	struct held_frames held;        /* while switching */
	char words[GATEWAY_WORDS_SIZE]; /* why there is no link */
};

/* What direct links need of members.c. */
struct direct_ops {
	/* What the machine has here, and what is under way to it, goes; it stays joined. */
	void (*reset)(struct gateway *gateway, uint32_t machine, const char *words);
	/* A frame for this machine has come over the link. */
	void (*take_frame)(struct gateway *gateway, const struct gateway_frame *frame);
	/* Somebody has connected and is of no use. */
	void (*refuse)(struct gateway *gateway, const char *words);
};

extern const struct link_ops direct_link_ops;

/* ---- direct.c: the link ---- */

/* Listen, if that is wanted. Returns 0 or -errno. */
int direct_open(struct gateway *gateway);

/* Home has taken this machine: tell it where others may connect. */
void direct_say_listens(struct gateway *gateway);

/* Home offers a link. */
void direct_on_offer(struct gateway *gateway, const struct gateway_frame *frame);

/* READY, NO_DIRECT, SWITCH, BREAK, by way of home. */
void direct_on_frame(struct gateway *gateway, const struct gateway_frame *frame);

/* The machine is lost. */
void direct_machine_lost(struct gateway *gateway, uint32_t machine);

/* Time has passed. Returns when to call again. */
uint64_t direct_tick(struct gateway *gateway, uint64_t now_ns);

/* ---- direct_route.c: the way of frames ---- */

/* The link for frames to the machine; NULL = they go by way of home. */
struct link *direct_link(const struct gateway *gateway, uint32_t machine);

/* Hold a frame that would overtake others. Returns whether that took it. A program's first use of the machine is a wish. */
bool direct_takes(struct gateway *gateway, const struct gateway_frame *frame);

/* Whether so much waits that records are to wait as well. */
bool direct_is_full(const struct gateway *gateway, uint32_t machine);

/* Whether a frame that came by way of home is of before a break. */
bool direct_is_void(const struct gateway *gateway, const struct gateway_frame *frame);

/* The state of links to the machine; NULL without memory. */
struct direct *direct_of(struct gateway *gateway, uint32_t machine);

/* Ask home for a link, if it is time. */
void direct_wish(struct gateway *gateway, uint32_t machine);

/* ---- direct_home.c: home's part ---- */

void direct_home_on_listens(struct gateway *gateway, struct link *link, const struct gateway_frame *frame);
void direct_home_on_wish(struct gateway *gateway, struct link *link, const struct gateway_frame *frame);

/* The machine is lost: its offers are over. */
void direct_home_forget(struct gateway *gateway, uint32_t machine);

#endif
