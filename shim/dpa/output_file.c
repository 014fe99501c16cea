/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that the output of device code goes to: logs and traces. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpa_priv.h"

static doca_error_t refuse(const char *func, doca_error_t code, const char *path, int number)
{
	sim_err("%s: %s: %s", func, path, strerror(number));
	return code;
}

doca_error_t dpa_file_set_path(const char *func, const struct doca_dpa *dpa, struct shim_dpa_file *file,
			       const char *path)
{
	char *copy;
	FILE *stream;

	if (dpa->process) {
		sim_err("%s: the DPA context is started; stop it first", func);
		return DOCA_ERROR_BAD_STATE;
	}
	copy = strdup(path);
	if (!copy)
		return refuse(func, DOCA_ERROR_NO_MEMORY, path, ENOMEM);
	stream = fopen(path, "we");
	if (!stream) {
		int number = errno;

		free(copy);
		return refuse(func, DOCA_ERROR_OPERATING_SYSTEM, path, number);
	}
	setvbuf(stream, NULL, _IOLBF, 0);
	dpa_file_close(file);
	*file = (struct shim_dpa_file){ .path = copy, .stream = stream };
	return DOCA_SUCCESS;
}

doca_error_t dpa_file_get_path(const char *func, const struct shim_dpa_file *file, char *path, uint32_t *path_len)
{
	const char *set = file->path ? file->path : "";
	size_t needed = strlen(set) + 1;

	if (*path_len < needed) {
		sim_err("%s: the path needs %zu bytes", func, needed);
		return DOCA_ERROR_NO_MEMORY;
	}
	memcpy(path, set, needed);
	*path_len = (uint32_t)needed;
	return DOCA_SUCCESS;
}

void dpa_file_close(struct shim_dpa_file *file)
{
	if (file->stream)
		fclose(file->stream);
	free(file->path);
	*file = (struct shim_dpa_file){ 0 };
}
