/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output in lines, under bfsim run.
 *
 * Standard output is a pipe there, to which the C library writes only when its buffer is full. So what a program has printed
 * would be lost when it hangs or crashes. The variable names the pipe: output to another one, or to a file, is the program's
 * own affair. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void __attribute__((constructor)) write_lines(void)
{
	const char *pipe = getenv("BFSIM_OUTPUT");
	struct stat info;
	char text[64];

	if (!pipe || fstat(STDOUT_FILENO, &info) < 0)
		return;
	snprintf(text, sizeof(text), "%ju:%ju", (uintmax_t)info.st_dev, (uintmax_t)info.st_ino);
	if (strcmp(text, pipe) == 0)
		setvbuf(stdout, NULL, _IOLBF, 0);
}
