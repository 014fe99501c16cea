/* SPDX-License-Identifier: BSD-3-Clause */
/* One of the programs of a test of kernels on several machines; it knows nothing of machines.
 *
 *   export FILE             write what the other side needs
 *   connect FILE            connect to the other side
 *   exchange TEXT           kernels write, add and send, while those of the other side do the same
 *   check TEXT              what the other side's kernels wrote and sent
 *   close
 *
 * Each line is answered by a line "ok"; a failure ends the program.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "dpa_end.h"

static void run(struct dpa_end *end, const char *word, const char *argument)
{
	struct dpa_offer offer;
	FILE *file = NULL;

	if (strcmp(word, "exchange") == 0) {
		dpa_end_exchange(end, argument);
	} else if (strcmp(word, "check") == 0) {
		dpa_end_check_memory(end, argument);
	} else if (strcmp(word, "close") == 0) {
		dpa_end_close(end);
	} else if (strcmp(word, "export") == 0) {
		dpa_end_open(end, &offer);
		file = fopen(argument, "w");
		CHECK(file && fwrite(&offer, sizeof(offer), 1, file) == 1);
	} else {
		file = fopen(argument, "r");
		CHECK(file && fread(&offer, sizeof(offer), 1, file) == 1);
		dpa_end_connect(end, &offer);
	}
	if (file)
		fclose(file);
}

int main(void)
{
	struct dpa_end end = { 0 };
	char line[512], word[16], argument[400];

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ok\n");
	while (fgets(line, sizeof(line), stdin)) {
		argument[0] = '\0';
		CHECK(sscanf(line, "%15s %399s", word, argument) >= 1);
		run(&end, word, argument);
		printf("ok\n");
	}
	return 0;
}
