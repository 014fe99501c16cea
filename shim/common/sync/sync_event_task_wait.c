/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that wait for a value of a sync event: wait_eq, wait_neq, and wait_gt, which releases 2.5 and 2.6
 * had in place of the other two. */
#include "shim/common/base/check.h"
#include "sync_event_priv.h"

/* Return whether @mask is 0, or 1, 2, 4 or 8 bytes of ones in a row. */
static bool is_valid_mask(uint64_t mask)
{
	static const uint64_t byte_masks[] = { UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX };

	if (mask == 0)
		return true;
	while ((mask & UINT8_MAX) == 0)
		mask >>= 8;
	for (size_t i = 0; i < sizeof(byte_masks) / sizeof(byte_masks[0]); i++)
		if (mask == byte_masks[i])
			return true;
	return false;
}

static doca_error_t wait_check(struct doca_task *task)
{
	uint64_t mask = shim_to_sync_task(task)->mask;

	if (is_valid_mask(mask))
		return shim_sync_event_check("doca_task_submit", shim_sync_task_event(task));
	sim_err("doca_task_submit: a sync event's task waits with mask %#llx; it takes none, or 1, 2, 4 or 8 bytes of 0xff in a row",
		(unsigned long long)mask);
	return DOCA_ERROR_INVALID_VALUE;
}

/* Define all of a kind of wait. */
#define DEFINE_WAIT_TASK(kind_name, kind, task_name, task_relation)                                                  \
	SHIM_SYNC_DEFINE_TASK(kind_name, kind, kind_name##_type)                                                     \
	SHIM_SYNC_DEFINE_ACCESSORS(kind_name, kind, wait_val, uint64_t, operand)                                     \
	SHIM_SYNC_DEFINE_ACCESSORS(kind_name, kind, mask, uint64_t, mask)                                            \
                                                                                                                     \
	static const struct shim_task_type kind_name##_type = {                                                      \
		.name = (task_name),                                                                                 \
		.size = sizeof(struct doca_sync_event_task_##kind_name),                                             \
		.check = wait_check,                                                                                 \
		.validate = wait_check,                                                                              \
		.post = shim_sync_wait_post,                                                                         \
		.complete = complete_##kind_name,                                                                    \
		.fault_ops = &shim_sync_wait_fault_ops,                                                              \
	};                                                                                                           \
                                                                                                                     \
	doca_error_t doca_sync_event_task_##kind_name##_alloc_init(struct doca_sync_event *event, uint64_t wait_val, \
								   uint64_t mask, union doca_data user_data,         \
								   struct doca_sync_event_task_##kind_name **task)   \
	{                                                                                                            \
		struct shim_sync_task *base;                                                                         \
		doca_error_t result;                                                                                 \
                                                                                                                     \
		SHIM_NEED_FAST(event, SHIM_SYNC_EVENT);                                                              \
		SHIM_NEED_OUT(task);                                                                                 \
		result = shim_sync_event_alloc_task(__func__, event, (kind), user_data, &base);                      \
		if (result != DOCA_SUCCESS)                                                                          \
			return result;                                                                               \
		base->operand = wait_val;                                                                            \
		base->mask = mask;                                                                                   \
		base->relation = (task_relation);                                                                    \
		*task = (struct doca_sync_event_task_##kind_name *)base;                                             \
		return DOCA_SUCCESS;                                                                                 \
	}

DEFINE_WAIT_TASK(wait_eq, SHIM_SYNC_WAIT_EQ, SIM_TASK_SYNC_WAIT_EQ, SHIM_SYNC_EQ)
DEFINE_WAIT_TASK(wait_neq, SHIM_SYNC_WAIT_NEQ, SIM_TASK_SYNC_WAIT_NEQ, SHIM_SYNC_NEQ)
DEFINE_WAIT_TASK(wait_gt, SHIM_SYNC_WAIT_GT, SIM_TASK_SYNC_WAIT_GT, SHIM_SYNC_GT)
