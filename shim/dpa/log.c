/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of device code: to standard output, or to the context's file. */
#include <stdio.h>

#include "dpa_priv.h"

void dpa_log_line(void *arg, unsigned level, const char *text)
{
	const struct doca_dpa *dpa = arg;
	FILE *stream = dpa->log.stream ? dpa->log.stream : stdout;

	if ((int)level > dpa->log_level)
		return;
	flockfile(stream);
	fprintf(stream, "%s\n", text);
	fflush(stream);
	funlockfile(stream);
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

SHIM_DEFINE_GETTER(doca_dpa_get_log_level, struct doca_dpa, dpa, SHIM_DPA, doca_dpa_dev_log_level_t, log_level,
		   (doca_dpa_dev_log_level_t)dpa->base->log_level)

doca_error_t doca_dpa_log_file_set_path(struct doca_dpa *dpa, const char *file_path)
{
	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(file_path);
	return dpa_file_set_path(__func__, dpa, &dpa->log, file_path);
}

doca_error_t doca_dpa_log_file_get_path(struct doca_dpa *dpa, char *file_path, uint32_t *file_path_len)
{
	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(file_path);
	SHIM_NEED_OUT(file_path_len);
	return dpa_file_get_path(__func__, &dpa->base->log, file_path, file_path_len);
}
