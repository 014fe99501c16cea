/* SPDX-License-Identifier: BSD-3-Clause */
/* Completed copies, and one callback for each call. */
#include "copier.h"

#define NUM_COPIES 8

int main(void)
{
	struct copier copier;

	copier_open(&copier, "03:00.0", NULL);
	for (int i = 0; i < NUM_COPIES; i++)
		copier_submit(&copier);
	OK(doca_pe_request_notification(copier.pe)); /* what was there when the engine was armed is progressed */
	HOLDS(report_is_readable(copier.pe, REPORT_DEADLINE_MS));
	OK(doca_pe_clear_notification(copier.pe, 0));
	for (unsigned int before = 0; copier.done < NUM_COPIES; before = copier.done) {
		PROGRESS_UNTIL(copier.pe, copier.done > before);
		HOLDS(copier.done == before + 1);
	}
	HOLDS(doca_pe_progress(copier.pe) == 0);
	copier_close(&copier);
	return 0;
}
