/* SPDX-License-Identifier: BSD-3-Clause */
/* Erasure coding jobs as tasks of the core. Compiled with the core. */
#include "shim/erasure_coding/ec_priv.h"

#include "ec_core.h"

_Static_assert((int)WORKQ_EC_GALOIS_MUL == EC_GALOIS_MUL && (int)WORKQ_EC_CREATE == EC_CREATE &&
		       (int)WORKQ_EC_UPDATE == EC_UPDATE && (int)WORKQ_EC_RECOVER == EC_RECOVER,
	       "types of tasks");

doca_error_t workq_ec_core_create(struct doca_dev *dev, uint32_t depth, struct workq_attachment *attachment,
				  struct workq_accel_core **ret_core)
{
	struct doca_ec *ec;
	doca_error_t result = doca_ec_create(dev, &ec);

	return result == DOCA_SUCCESS ? shim_workq_accel_create(&ec->accel, depth, attachment, ret_core) : result;
}

void workq_ec_prepare(struct doca_task *task, const struct workq_accel_job *job)
{
	((struct ec_task *)task)->matrix = job->arg;
}
