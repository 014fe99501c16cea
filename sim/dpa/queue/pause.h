/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/queue/pause.h - how functions of the port wait for what changes unannounced. */
#ifndef SIM_DPA_PAUSE_H
#define SIM_DPA_PAUSE_H

#include <stdint.h>

/* Before a look again, whose number is @round: yield the CPU at first, then sleep for longer and longer times. */
void sim_dpa_pause(uint32_t round);

#endif
