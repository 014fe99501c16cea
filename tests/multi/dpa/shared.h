/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the DPA's heap that kernels.c and worker.c know. */
#ifndef TESTS_DPA_SHARED_H
#define TESTS_DPA_SHARED_H

#include <stdint.h>

#define DPA_MAX_ORDER 256

struct dpa_shared {
	uint64_t next, passes;
	uint64_t order[DPA_MAX_ORDER];
};

/* Of a thread of the ring. */
struct dpa_place {
	uint64_t shared, number, runs, max_passes;
	uint64_t next;  /* the notification of the next thread */
	uint64_t event; /* counts passes */
};

#endif
