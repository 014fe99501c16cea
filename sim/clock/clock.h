/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/clock.h - a session's time, and how long its cards take.
 *
 *   functional   session time passes as real time does; jobs take as long as they take
 *   timed        the same, and a job's end is seen no earlier than the model says
 *   virtual      session time stands still while anyone has something to do at it,
 *                then jumps to the next moment at which anything happens (turns.h)
 *
 * Session time is nanoseconds since the session began. What the model says
 * follows from the card's profile, its link, and all that the processes of the
 * session have handed to the same card's engine:
 *
 *   arrival_ps = sim_clock_arrival_ps(clock, function, &job, &queue)    when it is handed in
 *   end_ps = sim_clock_end_ps(clock, function, &job, arrival_ps)        when its arrival has come
 *
 * The first touches the caller's queue state alone, the second the shared page.
 * Any thread may call.
 */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include <stdbool.h>

#include "clock_page.h"
#include "pcie_model/topology/topology.h"

#define SIM_CLOCK_NEVER_NS UINT64_MAX
#define SIM_CLOCK_MODES    "functional, timed or virtual" /* for messages */

enum sim_clock_mode {
	SIM_CLOCK_FUNCTIONAL = 0,
	SIM_CLOCK_TIMED,
	SIM_CLOCK_VIRTUAL,
	SIM_CLOCK_NUM_MODES,
};

struct sim_clock;

/* The mode of that name, or -EINVAL; and its name. */
int sim_clock_mode_parse(const char *text, enum sim_clock_mode *ret_mode);
const char *sim_clock_mode_name(enum sim_clock_mode mode);

/* Make a page of zeroed memory: the session begins now. */
void sim_clock_page_init(struct sim_clock_page *page, enum sim_clock_mode mode);

/* The page is this process's alone, and nobody uses it now: go on in that mode, without whoever had a participant. */
void sim_clock_page_reset(struct sim_clock_page *page, enum sim_clock_mode mode);

/* Session time, for who has the page alone. */
uint64_t sim_clock_page_now_ns(const struct sim_clock_page *page);

/* When the session began, by CLOCK_MONOTONIC; and where virtual time stands in the page, NULL in other modes. */
uint64_t sim_clock_page_start_ns(const struct sim_clock_page *page);
const _Atomic uint64_t *sim_clock_page_virtual_ns(const struct sim_clock_page *page);

/* This process's handle; @page and @topology are borrowed and outlive it. A mode
 * that is none is functional. Returns 0 or -ENOMEM. */
int sim_clock_create(struct sim_clock_page *page, const struct pcie_topology *topology, struct sim_clock **ret_clock);

/* Free it; its participants have been left. NULL is fine. */
void sim_clock_destroy(struct sim_clock *clock);

enum sim_clock_mode sim_clock_mode(const struct sim_clock *clock);
struct sim_clock_page *sim_clock_page(const struct sim_clock *clock);

/* Session time. */
uint64_t sim_clock_now_ns(const struct sim_clock *clock);

/* When session time @ns is by CLOCK_MONOTONIC; of no meaning for virtual time. */
uint64_t sim_clock_real_ns(const struct sim_clock *clock, uint64_t ns);

/* The shared state of the card that a function is of. */
struct sim_clock_card *sim_clock_card(const struct sim_clock *clock, uint32_t function);

/* @job is handed in now, by way of @function, behind what was handed in to this queue
 * before. Returns when it arrives at the engine. */
uint64_t sim_clock_arrival_ps(const struct sim_clock *clock, uint32_t function, const struct pcie_job *job,
			      struct pcie_queue_state *queue);

/* @job arrived then, or does now. Returns when its end can be known. */
uint64_t sim_clock_end_ps(const struct sim_clock *clock, uint32_t function, const struct pcie_job *job,
			  uint64_t arrival_ps);

/* Picoseconds to nanoseconds, never too early. */
static inline uint64_t sim_clock_ns(uint64_t ps)
{
	return ps / 1000 + (ps % 1000 > 0);
}

#endif
