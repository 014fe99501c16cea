/* SPDX-License-Identifier: BSD-3-Clause */
/* Three contexts on one engine, stopped with copies in flight. */
#include "copier.h"

int main(void)
{
	int64_t end = report_now_ms() + REPORT_DEADLINE_MS;
	struct copier copiers[3];

	for (int i = 0; i < 3; i++) {
		copier_open(&copiers[i], "03:00.0", i ? copiers[0].pe : NULL);
		for (int k = 0; k < 4; k++)
			copier_submit(&copiers[i]);
	}
	for (int i = 0; i < 3; i++)
		HOLDS(doca_ctx_stop(copiers[i].ctx) == DOCA_ERROR_IN_PROGRESS);
	for (int i = 0; i < 3; i++)
		while (report_state(copiers[i].ctx) != DOCA_CTX_STATE_IDLE) {
			HOLDS(report_now_ms() < end);
			OK(doca_pe_request_notification(copiers[0].pe));
			report_is_readable(copiers[0].pe, 10);
			OK(doca_pe_clear_notification(copiers[0].pe, 0));
			while (doca_pe_progress(copiers[0].pe))
				;
		}
	for (int i = 2; i >= 0; i--) {
		HOLDS(copiers[i].done + copiers[i].failed == 4);
		copier_close(&copiers[i]);
	}
	return 0;
}
