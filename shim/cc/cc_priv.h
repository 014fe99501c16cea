/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/cc/cc_priv.h - libdoca_cc: Comch under its names of releases 2.5 and 2.6.
 *
 * Handles are Comch's objects under other names, and each function forwards to
 * Comch's. This library translates the differences: size_t for uint32_t, the logarithm
 * of the number of tasks for the number, two names for each task (2.5's and 2.6's).
 *
 * A callback whose arguments are pointers and unions is passed to Comch as it is:
 * the calling convention is the same. Where the types of numbers differ, Comch calls
 * an adapter, which calls the program's callback (shim/comch/conn/compat.h).
 */
#ifndef SHIM_CC_PRIV_H
#define SHIM_CC_PRIV_H

#include <doca_cc.h>
#include <doca_cc_consumer.h>
#include <doca_cc_producer.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

/* The same object under Comch's name, and under doca_cc's. */
#define TO_COMCH(kind, handle) ((struct doca_comch_##kind *)(uintptr_t)(handle))
#define TO_CC(kind, handle)    ((struct doca_cc_##kind *)(uintptr_t)(handle))

/* A callback with the same calling convention. */
#define TO_COMCH_CB(type, cb) ((doca_comch_##type)(void (*)(void))(cb))

/* Evaluate @call, which writes a @type to tmp, and store that at @out as @as. If @out is NULL, tmp is NULL. */
#define FORWARD_OUT(type, call, out, as)                            \
	({                                                          \
		__typeof__(type) tmp_, *tmp = (out) ? &tmp_ : NULL; \
		doca_error_t result_ = (call);                      \
		if (result_ == DOCA_SUCCESS)                        \
			*(out) = (as)(tmp_);                        \
		result_;                                            \
	})

/* UINT32_MAX is above each of Comch's limits. */
static inline uint32_t cc_u32_saturate(size_t size)
{
	return size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}

static inline uint32_t cc_num_tasks_from_log(size_t log_num_tasks)
{
	return log_num_tasks < 32 ? UINT32_C(1) << log_num_tasks : UINT32_MAX;
}

/* The largest logarithm that stays within @num_tasks. */
static inline size_t cc_log2_floor(uint32_t num_tasks)
{
	return num_tasks > 0 ? 31 - (size_t)__builtin_clz(num_tasks) : 0;
}

#endif
