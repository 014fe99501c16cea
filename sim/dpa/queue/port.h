/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/queue/port.h - what device code can call. An entry that is NULL there is not simulated yet: the device library ends the
 * kernel, and names the function. */
#ifndef SIM_DPA_QUEUE_PORT_H
#define SIM_DPA_QUEUE_PORT_H

#include "sim/dpa/image/port.h"

extern const struct sim_dpa_port sim_dpa_port;

#endif
