/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of posts. */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>

int sim_dpa_find_post_fault(const struct sim_dpa_faults *faults, struct sim_fault_site site,
			    struct sim_fault_hit **ret_hit)
{
	struct sim_fault_hit hit;

	*ret_hit = NULL;
	if (!faults->find || !faults->find(faults->arg, &site, &hit))
		return 0;
	if (SIM_FAULT_HAS_ACT(&hit, REFUSE))
		return -EAGAIN;
	*ret_hit = malloc(sizeof(hit));
	if (!*ret_hit)
		return -EAGAIN;
	**ret_hit = hit;
	return 0;
}
