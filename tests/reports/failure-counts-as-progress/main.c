/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy that a fault lets fail: the calls that find something are counted. */
#include "copier.h"

int main(void)
{
	unsigned int found = 0;
	struct copier copier;

	copier_open(&copier, "03:00.0", NULL);
	OK(doca_task_submit(copier_task(&copier, 0, 2 * COPIER_ROOM - 64, 64)));
	PROGRESS_UNTIL(copier.pe, copier.done == 1);
	OK(doca_task_submit(copier_task(&copier, 0, COPIER_ROOM, 64)));
	for (int64_t end = report_now_ms() + REPORT_DEADLINE_MS; copier.failed == 0 && report_now_ms() < end;)
		found += doca_pe_progress(copier.pe);
	HOLDS(copier.failed == 1 && found == 1);
	copier_close(&copier);
	return 0;
}
