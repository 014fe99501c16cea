/* SPDX-License-Identifier: BSD-3-Clause */
/* "all": rounds without a clear. "selective": the copy comes behind the clear. "forgets": as "all", in the other mode. */
#include <string.h>

#include "copier.h"

#define NUM_ROUNDS 5

/* A copy that is submitted when the engine is armed: its event comes. */
static void submit_armed(struct copier *copier)
{
	OK(doca_pe_request_notification(copier->pe));
	copier_submit(copier);
	HOLDS(report_is_readable(copier->pe, REPORT_DEADLINE_MS));
}

static void in_mode_all(struct copier *copier)
{
	OK(doca_pe_set_event_mode(copier->pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	for (unsigned int i = 1; i <= NUM_ROUNDS; i++) {
		submit_armed(copier);
		PROGRESS_UNTIL(copier->pe, copier->done == i);
	}
}

static void in_selective_mode(struct copier *copier)
{
	for (unsigned int i = 1; i <= NUM_ROUNDS; i++) {
		submit_armed(copier);
		for (int k = 0; k < 100; k++)
			HOLDS(doca_pe_progress(copier->pe) == 0);
		OK(doca_pe_clear_notification(copier->pe, report_handle(copier->pe)));
		PROGRESS_UNTIL(copier->pe, copier->done == i);
	}
}

static void forget_to_clear(struct copier *copier)
{
	int64_t end = report_now_ms() + 3000;

	submit_armed(copier);
	while (report_now_ms() < end)
		HOLDS(doca_pe_progress(copier->pe) == 0);
	OK(doca_pe_clear_notification(copier->pe, report_handle(copier->pe)));
	PROGRESS_UNTIL(copier->pe, copier->done == 1);
}

int main(int argc, char **argv)
{
	struct copier copier;

	HOLDS(argc == 2);
	copier_open(&copier, "03:00.0", NULL);
	if (strcmp(argv[1], "all") == 0)
		in_mode_all(&copier);
	else if (strcmp(argv[1], "selective") == 0)
		in_selective_mode(&copier);
	else
		forget_to_clear(&copier);
	copier_close(&copier);
	return 0;
}
