/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of libdoca_dma. */
#ifndef SHIM_DMA_PRIV_H
#define SHIM_DMA_PRIV_H

#include <doca_dma.h>

#include "shim/common/pe/ctx_priv.h"
#include "shim/common/pe/task_priv.h"
#include "sim/faults/inject/injector.h"

struct doca_dma {
	struct doca_ctx ctx;       /* first: a doca_dma is a doca_ctx */
	uint32_t num_memcpy_tasks; /* 0 = not configured */
	doca_dma_task_memcpy_completion_cb_t memcpy_done, memcpy_failed;
	struct shim_task_pool *memcpy_pool;      /* while not idle */
	struct sim_no_fault_copy no_fault_cache; /* where no fault hits its tasks */
	bool overwrites_full; /* for shim/workq: a destination with too little room behind its data is written anew */
};

struct doca_dma_task_memcpy {
	struct doca_task task; /* first: a memcpy task is a doca_task */
	const struct doca_buf *src;
	struct doca_buf *dst;
};

extern const struct shim_task_type shim_dma_memcpy_type;

#endif
