/* SPDX-License-Identifier: BSD-3-Clause */
/* Model time of tasks that an engine of the card runs. */
#include "accel.h"

bool shim_accel_get_pcie_job(const struct doca_task *task, struct pcie_job *ret_job)
{
	(void)task;
	(void)ret_job;
	return false;
}
