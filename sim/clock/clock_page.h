/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/clock_page.h - the time of a session, in memory that its processes share.
 *
 * Order of accesses. Changes of now_ns and of participants are under the page's lock (acquire, release); a reader
 * without it (of the time, a state) gets the last published value (release, acquire). Two things are decided without the lock:
 *
 *   message    sender: the message --> fence --> message_ns     receiver: message_ns = never --> fence --> the message
 *              Both fences are seq_cst: the receiver finds the message, or the sender finds that message_ns is to be set.
 *   turn       waker: state (seq_cst), then asleep              sleeper: asleep + 1 (seq_cst), then the kernel compares the
 *              state (futex): it does not sleep, or the waker wakes it.
 *
 * One process initialises the page, in zeroed memory; the others map it. The page
 * is untrusted: corrupt contents give wrong times, for which a program may wait in
 * vain, never bad accesses, and no loop or lock in here that does not end.
 */
#ifndef SIM_CLOCK_PAGE_H
#define SIM_CLOCK_PAGE_H

#include "shared_lock.h"
#include "pcie_model/engine.h"
#include "pcie_model/net.h"

#define SIM_CLOCK_MAX_CARDS        4096
#define SIM_CLOCK_MAX_PARTICIPANTS 1024 /* a multiple of 64 */
#define SIM_CLOCK_MAX_ENGINES      4096
#define SIM_CLOCK_MAX_WINDOWS      64 /* of one link, at a time */
#define SIM_CLOCK_MAX_FUNCTIONS    4096

/* The degradation of a link by one rule (link_state.h); all zero = none. */
struct sim_clock_degrade_window {
	_Atomic uint64_t until_ns, up_ns; /* end of the degradation; end of the outage */
	_Atomic uint32_t rule;            /* id; 0 = the window is free */
	_Atomic uint32_t speed;           /* generation << 8 | lanes; 0 = as trained */
	_Atomic uint32_t replay_ppb;
};

struct sim_clock_link_degradation {
	_Atomic uint32_t end; /* windows in use end before this one */
	struct sim_clock_degrade_window windows[SIM_CLOCK_MAX_WINDOWS];
};

/* A card's engine and its link to the host, with the session times until which they are busy. */
struct sim_clock_card {
	_Alignas(64) struct sim_clock_lock lock;
	struct pcie_engine_state engine;
	struct pcie_link_state link;
	struct sim_clock_link_degradation degradation;
};

/* What a rule does to a network link (net_window.h); all zero = nothing. */
struct sim_clock_net_window {
	_Atomic uint64_t begin_ns, end_ns; /* from the first on, before the second */
	_Atomic uint64_t delay_ns;         /* of a slow link: added to its latency */
	_Atomic uint32_t rate;             /* of a slow link: bytes in a second at most; 0 = no limit */
	_Atomic uint32_t rule;             /* id; 0 = the entry is free */
};

struct sim_clock_net_windows {
	_Atomic uint32_t end; /* entries in use end before this one */
	struct sim_clock_net_window entries[SIM_CLOCK_MAX_WINDOWS];
};

struct sim_clock_net_link {
	struct sim_clock_net_windows outages, slow;
};

/* The network between cards: stations with the session times until which they are busy, and the links, by their ids in the
 * topology. */
struct sim_clock_net {
	_Alignas(64) struct sim_clock_lock lock;
	struct pcie_net_state state;
	_Atomic uint32_t has_outages, has_slow_links; /* at any link; 0: no reader has to look */
	struct sim_clock_net_link links[SIM_CLOCK_MAX_FUNCTIONS];
};

enum sim_clock_participant_state {
	SIM_PARTICIPANT_FREE = 0,
	SIM_PARTICIPANT_BUSY,     /* runs: virtual time stands still */
	SIM_PARTICIPANT_WAITING,  /* until its wake_ns, or for a message */
	SIM_PARTICIPANT_DETACHED, /* time does not wait for this participant */
};

/* A participant of virtual time (participant.h): what it spins on, and what its own thread writes. */
struct sim_clock_participant {
	_Alignas(64) _Atomic uint32_t state; /* enum sim_clock_participant_state; a futex */
	_Atomic uint32_t asleep;             /* threads that sleep on the futex */
	_Atomic uint64_t owner;              /* pid << 32 | a number that is unique in the process */
	_Atomic uint64_t rank;          /* of participants that can run at the same time, the least rank runs first */
	_Atomic uint32_t thread_id;     /* the kernel's; 0 = it has not begun */
	_Atomic uint32_t pid_namespace; /* of owner and thread_id: the low bits of its inode */
	_Atomic uint32_t wants_deck;    /* its thread would spin for its turn, were it woken before */
	_Alignas(64) _Atomic uint32_t heartbeats; /* grows with each call of the participant */
	_Atomic uint16_t in_call;    /* it waits inside of bfsim, for the daemon or another process: how deep */
	_Atomic uint16_t hold_ended; /* it has held time for too long */
};

/* When a participant runs next. UINT64_MAX = never. */
struct sim_clock_due {
	_Atomic uint64_t ready_ns;   /* if it waits */
	_Atomic uint64_t message_ns; /* when the first message since its last poll arrives */
};

/* A progress engine, as the address of messages: an entry's index + 1 is the engine's id. */
struct sim_clock_engine {
	_Atomic uint64_t owner;       /* pid << 32 | a number that is unique in the process; 0 = free */
	_Atomic uint32_t participant; /* the index + 1 of the one that drives the engine; 0 = none */
};

struct sim_clock_page {
	_Atomic uint32_t mode;     /* enum sim_clock_mode */
	_Atomic uint64_t start_ns; /* beginning of the session by CLOCK_MONOTONIC */
	/* Virtual time. The lock protects changes of now_ns and of the participants' states. */
	_Alignas(64) struct sim_clock_lock lock;
	_Atomic uint64_t now_ns;
	_Atomic uint64_t num_handovers; /* from one participant to another */
	_Atomic uint32_t end;           /* participants in use end before this one */
	_Atomic uint32_t last_rank;
	/* By participant, so that a choice reads few cache lines; the first words of busy are in the lock's. */
	_Atomic uint64_t busy[SIM_CLOCK_MAX_PARTICIPANTS / 64];       /* bits */
	_Atomic uint64_t holds[SIM_CLOCK_MAX_PARTICIPANTS / 64];      /* bits: time stays, though they wait */
	_Atomic uint64_t hears_sync[SIM_CLOCK_MAX_PARTICIPANTS / 64]; /* bits: changes of sync events are messages */
	_Atomic uint64_t
		waits_launch[SIM_CLOCK_MAX_PARTICIPANTS / 64]; /* bits: not before all launched processes participate */
	_Alignas(64) struct sim_clock_due due[SIM_CLOCK_MAX_PARTICIPANTS];
	/* The index + 1 of the one that seems to be next: it spins for its turn, and looks here meanwhile. 0 = none. */
	_Alignas(64) _Atomic uint32_t on_deck;
	/* The index + 1 of the one that checks the busy participant often, and until when by CLOCK_MONOTONIC (stall_watch.h). */
	_Atomic uint32_t stall_checker;
	_Atomic uint64_t stall_checker_ns;
	_Alignas(
		64) _Atomic uint32_t credit_of[SIM_CLOCK_MAX_PARTICIPANTS]; /* the engine whose receives it waits for */
	struct sim_clock_participant participants[SIM_CLOCK_MAX_PARTICIPANTS];
	struct sim_clock_engine engines[SIM_CLOCK_MAX_ENGINES];
	struct sim_clock_card cards[SIM_CLOCK_MAX_CARDS];
	struct sim_clock_net net;
};

#endif
