/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/perturb.h - disturbs the schedule of threads, so that tests meet orders that a quiet machine hardly shows.
 *
 * With BFSIM_TEST_PERTURB=SEED in the environment, a thread that passes such a point yields the CPU or sleeps now and then:
 * by chance, from the seed, the process and the thread. Points stand where one participant of virtual time hands over to
 * another, where a message becomes visible, and where a process attaches. No result in virtual time may depend on them.
 * Without the variable, a point costs one load and one branch. The variable is read once, when the library is loaded.
 */
#ifndef SIM_PERTURB_H
#define SIM_PERTURB_H

#include <stdbool.h>

extern bool sim_perturb_enabled;

void sim_perturb_now(void);

static inline void sim_perturb(void)
{
	if (__builtin_expect(sim_perturb_enabled, false))
		sim_perturb_now();
}

#endif
