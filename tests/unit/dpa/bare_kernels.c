/* SPDX-License-Identifier: BSD-3-Clause */
/* Device code of an application without attributes. */
#include <doca_dpa_dev.h>

static uint64_t runs;

__dpa_global__ void bare_thread(void)
{
	runs++;
	doca_dpa_dev_thread_reschedule();
}

__dpa_rpc__ uint64_t bare_runs(void)
{
	return runs;
}

__dpa_global__ void bare_notify(uint64_t notification)
{
	doca_dpa_dev_thread_notify(notification);
}
