/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the thread sanitizer what orders threads by way of the library, which need not be built with the sanitizer: an
 * update of a sync event happens before a wait that it ends. */
#include "shim/check/base/check.h"

void __tsan_acquire(void *addr) __attribute__((weak));
void __tsan_release(void *addr) __attribute__((weak));

static void release_event(struct shim_call *call)
{
	if (__tsan_release && check_arg(call, 0))
		__tsan_release(check_arg(call, 0));
}

static void acquire_event(struct shim_call *call)
{
	if (__tsan_acquire && check_result(call) == DOCA_SUCCESS)
		__tsan_acquire(check_arg(call, 0));
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_sync_event_update_set, release_event, NULL },
	{ SHIM_FN_doca_sync_event_update_add, release_event, acquire_event },
	{ SHIM_FN_doca_sync_event_get, NULL, acquire_event },
	{ SHIM_FN_doca_sync_event_wait_eq, NULL, acquire_event },
	{ SHIM_FN_doca_sync_event_wait_eq_yield, NULL, acquire_event },
	{ SHIM_FN_doca_sync_event_wait_neq, NULL, acquire_event },
	{ SHIM_FN_doca_sync_event_wait_neq_yield, NULL, acquire_event },
	{ SHIM_FN_doca_sync_event_wait_gt, NULL, acquire_event },
	{ SHIM_FN_doca_sync_event_wait_gt_yield, NULL, acquire_event },
};

const struct check_part check_race_order = {
	.mode = SIM_CHECK_OFF, /* a sanitizer is enough */
	.watches = watches,
	.num_watches = sizeof(watches) / sizeof(watches[0]),
};
