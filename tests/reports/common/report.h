/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/reports/common/report.h - what the programs of the cases share: checked calls, devices, waiting. Public headers only. */
#ifndef TESTS_REPORTS_REPORT_H
#define TESTS_REPORTS_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>

#include "../../common/rest.h"

/* End the program, with one line that says what is wrong. */
#define FAIL(...)                                              \
	do {                                                   \
		printf("FAIL: " __VA_ARGS__);                  \
		printf(" (%s line %d)\n", __FILE__, __LINE__); \
		fflush(stdout);                                \
		_exit(1);                                      \
	} while (0)
#define WANT(call, wanted)                                                                                       \
	do {                                                                                                     \
		doca_error_t got_ = (call);                                                                      \
		if (got_ != (wanted))                                                                            \
			FAIL("%s is %s, not %s", #call, doca_error_get_name(got_), doca_error_get_name(wanted)); \
	} while (0)
#define OK(call) WANT(call, DOCA_SUCCESS)
#define HOLDS(condition)                                       \
	do {                                                   \
		if (!(condition))                              \
			FAIL("does not hold: %s", #condition); \
	} while (0)

/* A case that waits for longer has failed: a busy machine is slow. */
#define REPORT_DEADLINE_MS 30000

int64_t report_now_ms(void);
void report_nap_ms(long ms);

/* The device, or the host's function by its representor, with that address ("03:00.0"). */
struct doca_dev *report_open_dev(const char *pci_addr);
struct doca_dev_rep *report_open_rep(struct doca_dev *dev, const char *pci_addr);

enum doca_ctx_states report_state(struct doca_ctx *ctx);
void report_progress_to(struct doca_pe *pe, struct doca_ctx *ctx, enum doca_ctx_states wanted);

/* Stop the context and progress until it is idle. */
void report_stop(struct doca_pe *pe, struct doca_ctx *ctx);

/* The engine's handle, and whether it becomes readable within @ms. */
doca_notification_handle_t report_handle(struct doca_pe *pe);
bool report_is_readable(struct doca_pe *pe, int ms);

/* Progress while @condition does not hold, up to the deadline. */
#define PROGRESS_UNTIL(pe, condition)                                         \
	do {                                                                  \
		int64_t end_ = report_now_ms() + REPORT_DEADLINE_MS;          \
		while (!(condition)) {                                        \
			if (report_now_ms() > end_)                           \
				FAIL("did not come in time: %s", #condition); \
			if (!doca_pe_progress(pe))                            \
				rest_between_polls();                         \
		}                                                             \
	} while (0)

#endif
