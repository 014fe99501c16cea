/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a whole file into memory. */
#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int read_stream(FILE *stream, size_t max, char **ret_text, size_t *ret_len)
{
	char *text = malloc(max + 1);
	size_t len;
	int rc = 0;

	if (!text)
		return -ENOMEM;
	errno = 0;
	len = fread(text, 1, max + 1, stream);
	if (ferror(stream))
		rc = errno ? -errno : -EIO;
	else if (len > max)
		rc = -EFBIG;
	if (rc) {
		free(text);
		return rc;
	}
	*ret_text = text;
	*ret_len = len;
	return 0;
}

int sim_file_read(const char *path, size_t max, char **ret_text, size_t *ret_len)
{
	FILE *stream = fopen(path, "re");
	int rc;

	if (!stream)
		return -errno;
	rc = read_stream(stream, max, ret_text, ret_len);
	fclose(stream);
	return rc;
}
