/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of copies that are submitted to an armed engine. */
#include "copier.h"

#define NUM_BATCHES 50
#define BATCH       16

int main(void)
{
	struct copier copier;

	copier_open(&copier, "03:00.0", NULL);
	for (unsigned int i = 1; i <= NUM_BATCHES; i++) {
		OK(doca_pe_request_notification(copier.pe));
		for (int k = 0; k < BATCH; k++)
			copier_submit(&copier);
		HOLDS(report_is_readable(copier.pe, REPORT_DEADLINE_MS));
		OK(doca_pe_clear_notification(copier.pe, 0));
		PROGRESS_UNTIL(copier.pe, copier.done == i * BATCH);
	}
	copier_close(&copier);
	return 0;
}
