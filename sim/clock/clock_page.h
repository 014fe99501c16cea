/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/clock_page.h - the time of a session, in memory that its processes share.
 *
 * One process initialises the page, in zeroed memory; the others map it. The page
 * is untrusted: corrupt contents give wrong times, never bad accesses or endless
 * waits.
 */
#ifndef SIM_CLOCK_PAGE_H
#define SIM_CLOCK_PAGE_H

#include "shared_lock.h"
#include "pcie_model/engine.h"

#define SIM_CLOCK_MAX_CARDS        4096
#define SIM_CLOCK_MAX_PARTICIPANTS 1024
#define SIM_CLOCK_MAX_WINDOWS      64 /* of one link, at a time */

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

enum sim_clock_participant_state {
	SIM_PARTICIPANT_FREE = 0,
	SIM_PARTICIPANT_BUSY,     /* runs: virtual time stands still */
	SIM_PARTICIPANT_WAITING,  /* until its wake_ns, or for a message */
	SIM_PARTICIPANT_DETACHED, /* time does not wait for this participant */
};

/* A participant of virtual time (participant.h). */
struct sim_clock_participant {
	_Alignas(64) _Atomic uint32_t state; /* enum sim_clock_participant_state; a futex */
	_Atomic uint32_t heartbeats;         /* grows with each call of the participant */
	_Atomic uint64_t owner;              /* pid << 32 | a number that is unique in the process */
	_Atomic uint64_t wake_ns;            /* WAITING: the end of the wait; UINT64_MAX = a message */
	_Atomic uint64_t messages_seen;      /* messages_sent as of the last poll */
	_Atomic uint64_t rank; /* of participants that can run at the same time, the least rank runs first */
};

struct sim_clock_page {
	_Atomic uint32_t mode;     /* enum sim_clock_mode */
	_Atomic uint64_t start_ns; /* beginning of the session by CLOCK_MONOTONIC */
	/* Virtual time. The lock protects changes of now_ns and of the participants' states. */
	_Alignas(64) struct sim_clock_lock lock;
	_Atomic uint64_t now_ns;
	_Atomic uint64_t messages_sent;
	_Atomic uint32_t end; /* participants in use end before this one */
	_Atomic uint32_t last_rank;
	struct sim_clock_participant participants[SIM_CLOCK_MAX_PARTICIPANTS];
	struct sim_clock_card cards[SIM_CLOCK_MAX_CARDS];
};

#endif
