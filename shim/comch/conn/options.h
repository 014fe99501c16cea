/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/conn/options.h - what the environment says about Comch (bfsim(1)). */
#ifndef SHIM_COMCH_CONN_OPTIONS_H
#define SHIM_COMCH_CONN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* BFSIM_COMCH_EVENTS: whether the notification handle of a progress engine wakes for Comch. */
bool comch_wakes(void);

/* BFSIM_COMCH_WAIT: how long a client waits for its server to appear. */
uint32_t comch_wait_ms(void);

#endif
