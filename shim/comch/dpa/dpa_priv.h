/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/dpa/dpa_priv.h - MsgQs, and completion contexts of consumers on a DPA.
 *
 * The ends of a MsgQ meet at a connection that has no endpoint, and a pipe without another end. Those of the CPU are the consumers and
 * producers of data_path; those of the DPA are contexts without a progress engine, around the objects of sim/dpa/queue/msgq.h.
 */
#ifndef SHIM_COMCH_DPA_PRIV_H
#define SHIM_COMCH_DPA_PRIV_H

#include <doca_comch_msgq.h>

#include "shim/comch/data_path/consumer_priv.h"
#include "shim/comch/data_path/producer_priv.h"
#include "shim/common/dpa/dpa.h"

struct doca_comch_consumer_completion {
	struct shim_object object;
	uint32_t max_num_consumers, max_num_recv; /* powers of two; 0 = not set */
	uint32_t imm_data_len;
	struct doca_dpa_thread *thread; /* NULL = not set */
	bool is_started;
	uint32_t num_users; /* consumers that are started */
	struct sim_dpa_consumer_completion ring;
};

enum comch_msgq_direction { COMCH_MSGQ_NONE, COMCH_MSGQ_TO_DPA, COMCH_MSGQ_FROM_DPA };

struct doca_comch_msgq {
	struct shim_object object;
	struct doca_dev *dev; /* held */
	struct doca_dpa *dpa; /* counts the MsgQ as a user */
	enum comch_msgq_direction direction;
	uint32_t max_num[COMCH_NUM_DATA_PATH_KINDS];
	struct doca_comch_connection *connection; /* NULL = stopped */
	/* Producers of the DPA that are started. The lock comes before those of a producer and of the pipe. */
	pthread_mutex_t producers_lock;
	LIST_HEAD(, doca_comch_producer) producers;
};

/* Counts are rounded up to a power of two, which has to fit a uint32_t. */
#define COMCH_MAX_ROUNDED (UINT32_C(1) << 31)

static inline uint32_t comch_round_up_pow2(uint32_t number)
{
	uint32_t power = 1;

	while (power < number)
		power *= 2;
	return power;
}

/* Operations of the DPA's ends. */
extern const struct shim_ctx_ops comch_dpa_consumer_ops, comch_dpa_producer_ops;

#endif
