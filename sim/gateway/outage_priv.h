/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/outage_priv.h - an outage, for outage.c and outage_run.c. */
#ifndef SIM_GATEWAY_OUTAGE_PRIV_H
#define SIM_GATEWAY_OUTAGE_PRIV_H

#include "held.h"
#include "outage.h"

struct outage {
	uint64_t begin_ns, end_ns;
	uint64_t lose_ns; /* when the machines lose each other, unless it ends before; UINT64_MAX = they have */
	bool is_lost, had_link;
	bool is_mine; /* by a rule of this machine */
	struct held_frames held;
};

/* An outage begins, or goes on. */
void outage_note(struct gateway *gateway, uint32_t machine, uint64_t ns, bool breaks);

#endif
