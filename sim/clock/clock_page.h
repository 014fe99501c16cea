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

#define SIM_CLOCK_MAX_CARDS 4096
#define SIM_CLOCK_MAX_SEATS 1024

#define SIM_CLOCK_MAX_WINDOWS 64 /* of one link, at a time */

/* What one rule has wrong with a link for a time (trouble.h); zero is nothing. */
struct sim_clock_window {
	_Atomic uint64_t until_ns, up_ns; /* until then it is worse; until then it is down */
	_Atomic uint32_t rule;       /* its id; 0 = the window is free */
	_Atomic uint32_t speed;      /* generation << 8 | lanes; 0 = as it was trained */
	_Atomic uint32_t repeat_ppb;
};

struct sim_clock_trouble {
	_Atomic uint32_t end;        /* windows in use end before this one */
	struct sim_clock_window windows[SIM_CLOCK_MAX_WINDOWS];
};

/* A card's engine and its link to the host: until when they are busy, in session time. */
struct sim_clock_card {
	_Alignas(64) struct sim_clock_lock lock;
	struct pcie_engine_state engine;
	struct pcie_link_state link;
	struct sim_clock_trouble trouble;
};

enum sim_clock_seat_state {
	SIM_SEAT_FREE = 0,
	SIM_SEAT_BUSY,    /* does something: virtual time stands still */
	SIM_SEAT_WAITING, /* until its wake_ns, or for a message */
	SIM_SEAT_LEFT,    /* has not called for so long that it is no longer waited for */
};

/* One of those that virtual time waits for (turns.h). */
struct sim_clock_seat {
	_Alignas(64) _Atomic uint32_t state; /* enum sim_clock_seat_state; slept on (futex) */
	_Atomic uint32_t calls;              /* grows while it is busy and calls us */
	_Atomic uint64_t owner;              /* pid << 32 | a number of its own */
	_Atomic uint64_t wake_ns;            /* WAITING: until then; UINT64_MAX = for a message */
	_Atomic uint64_t seen;               /* messages that had been sent when it last looked */
	_Atomic uint64_t rank;               /* of those that can go on at the same time the least is first */
};

struct sim_clock_page {
	_Atomic uint32_t mode;               /* enum sim_clock_mode */
	_Atomic uint64_t start_ns;           /* when the session began, by CLOCK_MONOTONIC */
	/* Virtual time. The lock is held to change it, or a seat's state. */
	_Alignas(64) struct sim_clock_lock lock;
	_Atomic uint64_t now_ns;
	_Atomic uint64_t sent;               /* messages */
	_Atomic uint32_t end;                /* seats in use end before this one */
	_Atomic uint32_t last_rank;
	struct sim_clock_seat seats[SIM_CLOCK_MAX_SEATS];
	struct sim_clock_card cards[SIM_CLOCK_MAX_CARDS];
};

#endif
