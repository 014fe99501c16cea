/* SPDX-License-Identifier: BSD-3-Clause */
/* "waits": the tail is submitted behind the record's completion, as it should be. "hurries": at once; the record is stale then. */
#include <string.h>

#include "copier.h"

#define RECORD_BYTES 4096
#define NUM_ROUNDS   20

static bool is_stale(const struct copier *records)
{
	return memcmp(records->memory, records->memory + COPIER_ROOM, RECORD_BYTES) != 0;
}

static void publish(struct copier *records, struct copier *tails, unsigned int round, bool waits)
{
	memset(records->memory, (int)round, RECORD_BYTES);
	OK(doca_task_submit(copier_task(records, 0, COPIER_ROOM, RECORD_BYTES)));
	if (waits)
		PROGRESS_UNTIL(records->pe, records->done == round);
	OK(doca_task_submit(copier_task(tails, 0, COPIER_ROOM, 8)));
	PROGRESS_UNTIL(records->pe, tails->done == round);
	HOLDS(is_stale(records) == !waits);
	PROGRESS_UNTIL(records->pe, records->done == round);
	HOLDS(!is_stale(records));
}

int main(int argc, char **argv)
{
	bool waits = argc == 2 && strcmp(argv[1], "waits") == 0;
	struct copier records, tails;

	copier_open(&records, "03:00.0", NULL);
	copier_open(&tails, "03:00.0", records.pe);
	for (unsigned int round = 1; round <= (waits ? NUM_ROUNDS : 1); round++)
		publish(&records, &tails, round, waits);
	copier_close(&tails);
	copier_close(&records);
	return 0;
}
