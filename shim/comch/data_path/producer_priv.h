/* SPDX-License-Identifier: BSD-3-Clause */
/* Producers, as their task and their context see them. */
#ifndef SHIM_COMCH_PRODUCER_PRIV_H
#define SHIM_COMCH_PRODUCER_PRIV_H

#include <doca_comch_producer.h>

#include "shim/comch/conn/conn_priv.h"

struct doca_comch_producer {
	struct comch_data_path data_path; /* first */
	uint32_t num_tasks;
	doca_comch_producer_task_send_completion_cb_t done, failed;
	/* While not idle: */
	struct shim_task_type type; /* its tasks have room for the immediate data */
	struct shim_task_pool *pool;
};

extern const struct shim_task_type comch_producer_send_type;

#endif
