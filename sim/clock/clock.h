/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/clock.h - a session's time, and the model time of its cards.
 *
 *   functional   session time is real time; jobs take as long as the machine needs
 *   timed        the same, but a job completes no earlier than the model says
 *   virtual      session time stands still while any participant is busy, then
 *                jumps to the next event (vclock_sched.h)
 *
 * Session time is in nanoseconds since the session began. The model computes a
 * job's times from the card's profile, its link, and the jobs that all processes
 * of the session have submitted to the same card:
 *
 *   arrival_ps = sim_clock_arrival_ps(clock, function, &job, &queue)    at submission
 *   end_ps = sim_clock_end_ps(clock, function, &job, arrival_ps)        once arrival_ps has come
 *
 * The first call changes the caller's queue state only, the second one the shared
 * page. Any thread may call.
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

/* Names of modes. The parser returns 0 or -EINVAL. */
int sim_clock_mode_parse(const char *text, enum sim_clock_mode *ret_mode);
const char *sim_clock_mode_name(enum sim_clock_mode mode);

/* Initialise a page of zeroed memory: the session begins now. */
void sim_clock_page_init(struct sim_clock_page *page, enum sim_clock_mode mode);

/* Remove all participants of a page that no other process has and no thread uses, and set its mode. */
void sim_clock_page_reset(struct sim_clock_page *page, enum sim_clock_mode mode);

/* Session time, without a handle. */
uint64_t sim_clock_page_now_ns(const struct sim_clock_page *page);

/* The mode; functional if the page is corrupt. */
enum sim_clock_mode sim_clock_page_mode(const struct sim_clock_page *page);

/* The beginning of the session by CLOCK_MONOTONIC; and the address of virtual time, NULL in other modes. */
uint64_t sim_clock_page_start_ns(const struct sim_clock_page *page);
const _Atomic uint64_t *sim_clock_page_virtual_ns(const struct sim_clock_page *page);

/* Create this process's handle. @page and @topology are borrowed and outlive it. An
 * invalid mode in the page is read as functional. Returns 0 or -ENOMEM. */
int sim_clock_create(struct sim_clock_page *page, const struct pcie_topology *topology, struct sim_clock **ret_clock);

/* Free the handle; its participants have left. NULL is fine. */
void sim_clock_destroy(struct sim_clock *clock);

/* Tells this handle from all others of the process; not 0. */
uint64_t sim_clock_number(const struct sim_clock *clock);

enum sim_clock_mode sim_clock_mode(const struct sim_clock *clock);
struct sim_clock_page *sim_clock_page(const struct sim_clock *clock);

/* Session time. */
uint64_t sim_clock_now_ns(const struct sim_clock *clock);

/* Session time @ns by CLOCK_MONOTONIC; meaningless for virtual time. */
uint64_t sim_clock_real_ns(const struct sim_clock *clock, uint64_t ns);

/* The shared state of the card of @function. */
struct sim_clock_card *sim_clock_card(const struct sim_clock *clock, uint32_t function);

/* Submit @job through @function now, behind the earlier jobs of the issuer @queue. Returns its
 * arrival at the engine. */
uint64_t sim_clock_arrival_ps(const struct sim_clock *clock, uint32_t function, const struct pcie_job *job,
			      struct pcie_queue_state *queue);

/* Run @job, which arrived at @arrival_ps, in the model. Returns the time of its completion. */
uint64_t sim_clock_end_ps(const struct sim_clock *clock, uint32_t function, const struct pcie_job *job,
			  uint64_t arrival_ps);

/* Submit a request over the network now, behind the earlier ones of @issuer. Returns when the card has it. */
uint64_t sim_clock_net_submit_ps(const struct sim_clock *clock, const struct pcie_rdma_timing *timing,
				 struct pcie_queue_state *issuer);

/* Run @request, which the card has at @start_ps, in the model of the network. */
void sim_clock_net_run(const struct sim_clock *clock, const struct pcie_net_connection *connection,
		       const struct pcie_net_request *request, uint64_t start_ps, struct pcie_net_flow *flow,
		       struct pcie_net_times *ret_times);

/* Data pass links, as by pcie_net_pass(). */
uint64_t sim_clock_net_pass(const struct sim_clock *clock, const struct pcie_net_path *links, uint64_t bytes,
			    uint64_t arrival_ps);

/* Picoseconds to nanoseconds, rounded up. */
static inline uint64_t sim_clock_ns(uint64_t ps)
{
	return ps / 1000 + (ps % 1000 > 0);
}

/* Nanoseconds to picoseconds. */
static inline uint64_t sim_clock_ps(uint64_t ns)
{
	return ns > UINT64_MAX / 1000 ? UINT64_MAX : ns * 1000;
}

#endif
