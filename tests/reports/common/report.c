/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices, states and waiting. */
#include "report.h"

#include <poll.h>
#include <time.h>

int64_t report_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void report_nap_ms(long ms)
{
	struct timespec nap = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&nap, NULL);
}

struct doca_dev *report_open_dev(const char *pci_addr)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;

	OK(doca_devinfo_create_list(&list, &count));
	for (uint32_t i = 0; i < count && !dev; i++) {
		uint8_t is_equal = 0;

		OK(doca_devinfo_is_equal_pci_addr(list[i], pci_addr, &is_equal));
		if (is_equal)
			OK(doca_dev_open(list[i], &dev));
	}
	OK(doca_devinfo_destroy_list(list));
	if (!dev)
		FAIL("no device %s", pci_addr);
	return dev;
}

struct doca_dev_rep *report_open_rep(struct doca_dev *dev, const char *pci_addr)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t count;

	OK(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count));
	for (uint32_t i = 0; i < count && !rep; i++) {
		uint8_t is_equal = 0;

		OK(doca_devinfo_rep_is_equal_pci_addr(list[i], pci_addr, &is_equal));
		if (is_equal)
			OK(doca_dev_rep_open(list[i], &rep));
	}
	OK(doca_devinfo_rep_destroy_list(list));
	if (!rep)
		FAIL("no representor of %s", pci_addr);
	return rep;
}

enum doca_ctx_states report_state(struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	OK(doca_ctx_get_state(ctx, &state));
	return state;
}

void report_progress_to(struct doca_pe *pe, struct doca_ctx *ctx, enum doca_ctx_states wanted)
{
	PROGRESS_UNTIL(pe, report_state(ctx) == wanted);
}

void report_stop(struct doca_pe *pe, struct doca_ctx *ctx)
{
	doca_error_t result = doca_ctx_stop(ctx);

	if (result != DOCA_SUCCESS && result != DOCA_ERROR_IN_PROGRESS)
		FAIL("doca_ctx_stop is %s", doca_error_get_name(result));
	report_progress_to(pe, ctx, DOCA_CTX_STATE_IDLE);
}

doca_notification_handle_t report_handle(struct doca_pe *pe)
{
	doca_notification_handle_t handle;

	OK(doca_pe_get_notification_handle(pe, &handle));
	return handle;
}

bool report_is_readable(struct doca_pe *pe, int ms)
{
	struct pollfd pollfd = { .fd = report_handle(pe), .events = POLLIN };

	return poll(&pollfd, 1, ms) == 1;
}
