/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/rdma/inbox.h - the memory by which a queue pair's peer reaches it.
 *
 *   owner (responder)   creates the inbox and exports it; reads requests, and writes what became of them
 *   peer (requester)    imports it by its descriptor; writes requests, and reads their results
 *
 * Each of two connected queue pairs has an inbox, so a requester needs nothing of its own at the responder. One peer in an
 * inbox's life sends messages. A message is one or more records of the ring: the first begins with a struct sim_inbox_head, the
 * others hold data alone.
 *
 * Requesters of an owner that needs no connect are many, and on one machine each gets an inbox of its own for its messages
 * (server.c), but for one to which the owner has connected: it writes its key into a free place of @callers, and the owner the
 * key of a new inbox into @server of the requester's.
 *
 * Order of accesses:
 *
 *   message  the peer: records --> ring's head (sim/shm/ring.h)     the owner: head --> records
 *   answer   the owner: the receive's memory --> executed           the peer: executed (acquire) --> completion
 *   begin    both: one compare-and-swap of @claim. The owner that begins message n moves it from 2 * (n - 1) to 2 * n, the
 *            peer that gives up message n to 2 * (n - 1) + 1. So a message is either taken, or known to be never taken.
 *   sleep    the peer: asleep = 1, then executed, state     the owner: executed or state, then asleep   all seq_cst
 *
 * Each side that has changed something rings a slot of the other side's doorbells (qp_group.h), and then looks whether that side
 * sleeps.
 *
 * A gateway has a mirror of the inbox of a queue pair on another machine (sim/gateway): it passes the peer's records on, and writes
 * into the mirror what the inbox there says. A mirror's owner learns by @importer whom it has to wake, and of its @far_queue.
 *
 * The peer kicks the owner's process (sim/session/kick.h) when a message is not answered for a while, having raised @kicks. The
 * engine's thread there serves the inbox, and then sets @looks to that number, whether or not it found a receive.
 *
 * Neither side trusts the other: a number out of order, a length beyond a limit or a state that does not exist ends the
 * connection with -EPROTO.
 */
#ifndef SIM_RDMA_INBOX_H
#define SIM_RDMA_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/card/card.h" /* struct sim_key */
#include "sim/shm/doorbell.h"
#include "sim/shm/ring.h"

#define SIM_INBOX_VERSION      7
#define SIM_INBOX_BYTES        24576 /* of all: a process with a thousand connections maps two thousand inboxes */
#define SIM_INBOX_RECORD_BYTES 4096  /* of data in one record */
#define SIM_INBOX_RECORDS      128
#define SIM_INBOX_CALLERS      16

enum sim_inbox_kind {
	SIM_INBOX_SEND = 1, /* the first record of a message, or the only one */
	SIM_INBOX_WRITTEN,  /* memory was written by @head.bytes: no data follows, but a receive is consumed */
	SIM_INBOX_MORE,     /* a further record */
};

enum sim_inbox_taken {
	SIM_INBOX_FREE,
	SIM_INBOX_TAKEN,
	SIM_INBOX_TAKEN_BY, /* the key of the peer is there */
};

/* A place of a requester that wants an inbox for its messages. */
enum sim_inbox_place {
	SIM_INBOX_PLACE_FREE,
	SIM_INBOX_PLACE_BEGUN,
	SIM_INBOX_PLACE_FULL,
};

/* Of a mirror: one requester after the other says who it is. */
enum sim_inbox_importer {
	SIM_INBOX_NO_IMPORTER, /* there is none, or the gateway has read the last one */
	SIM_INBOX_IMPORTER_BEGUN,
	SIM_INBOX_HAS_IMPORTER,
};

struct sim_inbox_head {
	uint64_t number; /* of the message: 1, 2, ... */
	uint64_t bytes;  /* of the message */
	uint16_t has_immediate;
	uint16_t is_recorded; /* the peer records the message in its trace; so does the owner */
	uint32_t immediate;
	uint64_t due_ns; /* session time at which it arrives; 0 = at once */
};

struct sim_inbox_shared {
	/* The owner writes these before it exports the inbox. */
	uint32_t version;
	uint32_t engine;        /* the owner's address in virtual time; 0 = none */
	uint32_t needs_no_peer; /* the owner serves a requester to which it has not connected */
	uint32_t access;    /* enum sim_access bits: what the owner permits to do with its memory by this connection */
	uint64_t stream_id; /* of the messages, in recordings */
	struct sim_key doorbells; /* the owner's; the peer rings @slot of them */
	uint32_t slot;
	uint32_t is_mirror; /* the owner is a gateway, which wants to know its @importer */
	struct sim_key
		far_queue; /* of the owner's requests to other machines (far_queue.h); written before it is an importer */
	/* The owner, the responder. */
	_Alignas(64) _Atomic uint32_t state; /* enum sim_qp_state */
	_Atomic uint32_t failure;            /* an errno: why message executed + 1 failed */
	_Atomic uint64_t executed;           /* the number of the last message that was received */
	_Atomic uint64_t not_ready;          /* the number of the message that waits for a receive; 0 = none */
	_Atomic uint64_t looks;              /* @kicks, as of the last look of the engine's thread */
	_Atomic uint32_t has_left;           /* the owner has disconnected, or has stopped its context */
	_Atomic uint64_t connected_to;       /* the key's number of the inbox; written before the ready state */
	_Atomic uint64_t ready_ns;           /* written before the ready state, which holds from this session time on */
	/* The peer, the requester. */
	_Alignas(64) _Atomic uint32_t asleep; /* the owner is to wake the peer */
	_Atomic uint32_t refused_access;      /* enum sim_access bits that requests needed and @access lacks */
	_Atomic uint32_t refused_by_memory;   /* likewise, and the memory's export lacks */
	_Atomic uint32_t taken;               /* enum sim_inbox_taken: by the one peer that sends messages */
	_Atomic uint64_t kicks;               /* how often the peer has kicked the owner's process for this inbox */
	_Atomic uint32_t answer;       /* enum sim_qp_answer: what became of the owner's request for a connection */
	struct sim_key requester;      /* of the peer's inbox, for an owner that has not connected to it */
	struct sim_key importer;       /* likewise, of a mirror's peer */
	_Atomic uint32_t has_importer; /* enum sim_inbox_importer */
	_Atomic uint32_t has_server;   /* the peer has written @server, once */
	struct sim_key server;         /* of the inbox for the owner's messages */
	/* Requesters that want one. */
	_Atomic uint32_t places[SIM_INBOX_CALLERS]; /* enum sim_inbox_place */
	struct sim_key callers[SIM_INBOX_CALLERS];
	/* Both. */
	_Alignas(64) _Atomic uint64_t claim;
	_Alignas(64) uint8_t ring[];
};

static inline struct sim_ring_cfg sim_inbox_ring_cfg(void)
{
	return (struct sim_ring_cfg){ .max_records = SIM_INBOX_RECORDS,
				      .max_record_bytes = SIM_INBOX_RECORD_BYTES + sizeof(struct sim_inbox_head),
				      .data_bytes = SIM_INBOX_BYTES - offsetof(struct sim_inbox_shared, ring) -
						    sizeof(struct sim_ring_shared) };
}

/* The peer: become the one that sends messages, as those of two would have the same numbers. @key: of its own inbox, for an owner
 * that has not connected to it; else NULL. Returns false if there is one already. */
static inline bool sim_inbox_take(struct sim_inbox_shared *inbox, const struct sim_key *key)
{
	uint32_t before = SIM_INBOX_FREE;

	if (!atomic_compare_exchange_strong(&inbox->taken, &before, SIM_INBOX_TAKEN))
		return false;
	if (key) {
		inbox->requester = *key;
		atomic_store(&inbox->taken, SIM_INBOX_TAKEN_BY);
	}
	return true;
}

/* Message @number, the owner: begin it. Returns false if the peer gave it up. */
static inline bool sim_inbox_begin(struct sim_inbox_shared *inbox, uint64_t number)
{
	uint64_t before = 2 * (number - 1);

	return atomic_compare_exchange_strong(&inbox->claim, &before, 2 * number);
}

/* Message @number, the peer: give it up. Returns false if the owner has begun it. */
static inline bool sim_inbox_give_up(struct sim_inbox_shared *inbox, uint64_t number)
{
	uint64_t before = 2 * (number - 1);

	return atomic_compare_exchange_strong(&inbox->claim, &before, before + 1);
}

#endif
