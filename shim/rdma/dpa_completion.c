/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions for kernels. */
#include "dpa_priv.h"
#include "sim/base/log.h"

void rdma_dpa_push(struct rdma_dpa *dpa, uint32_t type, uint32_t connection_id, uint32_t immediate, uint32_t index)
{
	const struct sim_dpa_element element = {
		.type = type, .user_data = connection_id & 0xffffff, .immediate = immediate, .index = index
	};

	if (sim_dpa_completion_push(dpa->completion, &element) == 0 || dpa->has_lost_completions)
		return;
	dpa->has_lost_completions = true;
	sim_err("a completion context of the DPA is full: completions are lost; kernels give places back by doca_dpa_dev_completion_ack()");
}
