/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/queue/fault.h - faults of what kernels post to message queues. */
#ifndef SIM_DPA_QUEUE_FAULT_H
#define SIM_DPA_QUEUE_FAULT_H

#include "sim/faults/inject/inject.h"

/* The thread that a queue asks; zeroed: none. */
struct sim_dpa_faults {
	/* Whether a fault hits the operation at the site; without a lock that kernels wait for. */
	bool (*find)(void *arg, struct sim_fault_site *site, struct sim_fault_hit *ret_hit);
	void *arg;
};

/* *ret_hit: a copy, for the caller to free; NULL = none. Returns 0, or -EAGAIN: the post is refused, or there is no memory. */
int sim_dpa_find_post_fault(const struct sim_dpa_faults *faults, struct sim_fault_site site,
			    struct sim_fault_hit **ret_hit);

#endif
