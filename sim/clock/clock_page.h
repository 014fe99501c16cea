/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/clock_page.h - the time of a session, in memory that its processes share.
 *
 * One process makes it of zeroed memory; the others have it mapped. Whatever
 * stands in it, nobody reads or writes elsewhere, or waits without end because
 * of it: times may be wrong, no more.
 */
#ifndef SIM_CLOCK_PAGE_H
#define SIM_CLOCK_PAGE_H

#include "shared_lock.h"
#include "pcie_model/engine.h"

#define SIM_CLOCK_MAX_CARDS        4096
#define SIM_CLOCK_MAX_PARTICIPANTS 1024

#define SIM_CLOCK_MAX_WINDOWS 64 /* of one link, at a time */

/* What one rule has wrong with a link for a time (trouble.h); zero is nothing. */
struct sim_clock_degrade_window {
	_Atomic uint64_t until_ns, up_ns; /* until then it is worse; until then it is down */
	_Atomic uint32_t rule;            /* its id; 0 = the window is free */
	_Atomic uint32_t speed;           /* generation << 8 | lanes; 0 = as it was trained */
	_Atomic uint32_t replay_ppb;
};

struct sim_clock_link_degradation {
	_Atomic uint32_t end; /* windows in use end before this one */
	struct sim_clock_degrade_window windows[SIM_CLOCK_MAX_WINDOWS];
};

/* A card's engine and its link to the host: until when they are busy, in session time. */
struct sim_clock_card {
	_Alignas(64) struct sim_clock_lock lock;
	struct pcie_engine_state engine;
	struct pcie_link_state link;
	struct sim_clock_link_degradation degradation;
};

enum sim_clock_participant_state {
	SIM_PARTICIPANT_FREE = 0,
	SIM_PARTICIPANT_BUSY,     /* does something: virtual time stands still */
	SIM_PARTICIPANT_WAITING,  /* until its wake_ns, or for a message */
	SIM_PARTICIPANT_DETACHED, /* has not called for so long that it is no longer waited for */
};

/* One of those that virtual time waits for (turns.h). */
struct sim_clock_participant {
	_Alignas(64) _Atomic uint32_t state; /* enum sim_clock_participant_state; slept on (futex) */
	_Atomic uint32_t heartbeats;         /* grows while it is busy and calls us */
	_Atomic uint64_t owner;              /* pid << 32 | a number of its own */
	_Atomic uint64_t wake_ns;            /* WAITING: until then; UINT64_MAX = for a message */
	_Atomic uint64_t messages_seen;      /* messages that had been sent when it last looked */
	_Atomic uint64_t rank;               /* of those that can go on at the same time the least is first */
};

struct sim_clock_page {
	_Atomic uint32_t mode;     /* enum sim_clock_mode */
	_Atomic uint64_t start_ns; /* when the session began, by CLOCK_MONOTONIC */
	/* Virtual time. The lock is held to change it, or a participant's state. */
	_Alignas(64) struct sim_clock_lock lock;
	_Atomic uint64_t now_ns;
	_Atomic uint64_t messages_sent; /* messages */
	_Atomic uint32_t end;           /* participants in use end before this one */
	_Atomic uint32_t last_rank;
	struct sim_clock_participant participants[SIM_CLOCK_MAX_PARTICIPANTS];
	struct sim_clock_card cards[SIM_CLOCK_MAX_CARDS];
};

#endif
