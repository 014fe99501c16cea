/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for test_run.sh that prints two lines without flushing them, and then does not end by itself.
 *
 *   quiet hang|crash
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_error.h>

int main(int argc, char **argv)
{
	printf("the first line\n");
	printf("the second line: %s\n", doca_error_get_descr(DOCA_SUCCESS));
	if (argc > 1 && strcmp(argv[1], "crash") == 0)
		abort();
	for (;;)
		pause();
}
