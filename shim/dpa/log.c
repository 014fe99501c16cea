/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of device code: to standard output, or to the context's file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpa_priv.h"

void dpa_log_line(void *arg, unsigned level, const char *text)
{
	const struct doca_dpa *dpa = arg;
	FILE *stream = dpa->log_file ? dpa->log_file : stdout;

	if ((int)level > dpa->log_level)
		return;
	flockfile(stream);
	fprintf(stream, "%s\n", text);
	fflush(stream);
	funlockfile(stream);
}

void dpa_log_close(struct doca_dpa *dpa)
{
	if (dpa->log_file && dpa->base == dpa)
		fclose(dpa->log_file);
	dpa->log_file = NULL;
}

static bool is_level(int level)
{
	switch (level) {
	case DOCA_DPA_DEV_LOG_LEVEL_DISABLE:
	case DOCA_DPA_DEV_LOG_LEVEL_ERROR:
	case DOCA_DPA_DEV_LOG_LEVEL_WARNING:
	case DOCA_DPA_DEV_LOG_LEVEL_INFO:
	case DOCA_DPA_DEV_LOG_LEVEL_DEBUG:
		return true;
	default:
		return false;
	}
}

doca_error_t doca_dpa_set_log_level(struct doca_dpa *dpa, doca_dpa_dev_log_level_t log_level)
{
	SHIM_NEED(dpa, SHIM_DPA);
	if (!is_level((int)log_level))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no level (DOCA_DPA_DEV_LOG_LEVEL_...)",
				   (int)log_level);
	if (dpa->base != dpa)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED,
				   "the DPA context is an extended one, which logs as its base");
	if (dpa->process)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the DPA context is started; stop it first");
	dpa->log_level = (int)log_level;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_get_log_level(struct doca_dpa *dpa, doca_dpa_dev_log_level_t *log_level)
{
	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(log_level);
	*log_level = (doca_dpa_dev_log_level_t)dpa->base->log_level;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_log_file_set_path(struct doca_dpa *dpa, const char *file_path)
{
	FILE *file;
	char *copy;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(file_path);
	if (dpa->process)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the DPA context is started; stop it first");
	copy = strdup(file_path);
	if (!copy)
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY, "no memory for the path");
	file = fopen(file_path, "we");
	if (!file) {
		int number = errno;

		free(copy);
		return SHIM_REFUSE(DOCA_ERROR_OPERATING_SYSTEM, "%s: %s", file_path, strerror(number));
	}
	dpa_log_close(dpa);
	free(dpa->log_path);
	dpa->log_path = copy;
	dpa->log_file = file;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_log_file_get_path(struct doca_dpa *dpa, char *file_path, uint32_t *file_path_len)
{
	const char *path;
	size_t needed;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(file_path);
	SHIM_NEED_OUT(file_path_len);
	path = dpa->base->log_path ? dpa->base->log_path : "";
	needed = strlen(path) + 1;
	if (*file_path_len < needed)
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY, "the path needs %zu bytes", needed);
	memcpy(file_path, path, needed);
	*file_path_len = (uint32_t)needed;
	return DOCA_SUCCESS;
}
