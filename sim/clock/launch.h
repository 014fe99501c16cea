/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/launch.h - processes that are being started: virtual time stays at 0 until they participate.
 *
 *   the parent:   begin(), for all processes before the first of them starts; text in the environment; end() when a
 *                 process has ended
 *   the process:  text from the environment; attached(), and end() once it participates
 *
 * An entry is a participant that holds time. A process that never participates is waited for as long as any other that
 * holds time (stall_watch.h): one that has attached and sleeps, for a short time.
 */
#ifndef SIM_CLOCK_LAUNCH_H
#define SIM_CLOCK_LAUNCH_H

#include "clock.h"

#define SIM_CLOCK_LAUNCH_ENV       "BFSIM_LAUNCH"
#define SIM_CLOCK_LAUNCH_TEXT_SIZE 64

struct sim_clock_launch {
	uint32_t number; /* in the order of the starts, from 1; 0 = not started so */
	uint32_t slot;
	uint64_t owner; /* of the slot; 0 = no entry */
};

/* Begin the start of process @number. Without a free slot, time does not wait for it. */
void sim_clock_launch_begin(struct sim_clock_page *page, uint32_t number, struct sim_clock_launch *ret_launch);

/* The calling process has attached: from now on its main thread is looked at. */
void sim_clock_launch_attached(struct sim_clock_page *page, const struct sim_clock_launch *launch);

/* The process participates, or has ended. A second call has no effect. */
void sim_clock_launch_end(struct sim_clock_page *page, struct sim_clock_launch *launch);

/* As text, for the environment; and back: all zero without one, or with one that is no such text. */
void sim_clock_launch_write(const struct sim_clock_launch *launch, char ret_text[SIM_CLOCK_LAUNCH_TEXT_SIZE]);
void sim_clock_launch_read(const char *text, struct sim_clock_launch *ret_launch);

#endif
