/* SPDX-License-Identifier: BSD-3-Clause */
/* Common start and end of the sample programs: logs, flags, exit status. */
#include "app.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(APP);

/* Records of the program, and errors of the libraries. */
static doca_error_t start_logs(void)
{
	struct doca_log_backend *sdk_log;
	doca_error_t result = doca_log_backend_create_standard();

	if (result == DOCA_SUCCESS)
		result = doca_log_backend_create_with_file_sdk(stderr, &sdk_log);
	if (result == DOCA_SUCCESS)
		result = doca_log_backend_set_sdk_level(sdk_log, DOCA_LOG_LEVEL_WARNING);
	return result;
}

static doca_error_t register_flag(const struct app_flag *flag)
{
	struct doca_argp_param *param;
	doca_error_t result = doca_argp_param_create(&param);

	if (result != DOCA_SUCCESS)
		return result;
	if (flag->short_name)
		doca_argp_param_set_short_name(param, flag->short_name);
	doca_argp_param_set_long_name(param, flag->long_name);
	if (flag->arguments)
		doca_argp_param_set_arguments(param, flag->arguments);
	doca_argp_param_set_description(param, flag->description);
	doca_argp_param_set_type(param, flag->type);
	doca_argp_param_set_callback(param, flag->take);
	if (flag->mandatory)
		doca_argp_param_set_mandatory(param);
	return doca_argp_register_param(param);
}

static doca_error_t parse_flags(const struct app *app, int argc, char **argv)
{
	for (size_t i = 0; i < app->num_flags; i++) {
		doca_error_t result = app_check(register_flag(&app->flags[i]), "register a flag");

		if (result != DOCA_SUCCESS)
			return result;
	}
	return app_check(doca_argp_start(argc, argv), "understand the flags");
}

int app_main(const struct app *app, void *config, int argc, char **argv)
{
	doca_error_t result = start_logs();

	if (result != DOCA_SUCCESS) {
		fprintf(stderr, "cannot log: %s\n", doca_error_get_descr(result));
		return EXIT_FAILURE;
	}
	result = app_check(doca_argp_init(NULL, config), "prepare the flags");
	if (result != DOCA_SUCCESS)
		return EXIT_FAILURE;
	result = parse_flags(app, argc, argv);
	if (result == DOCA_SUCCESS)
		result = app->run(config);
	doca_argp_destroy();
	return result == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}

doca_error_t app_check(doca_error_t result, const char *what)
{
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Cannot %s: %s", what, doca_error_get_descr(result));
	return result;
}

double app_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void app_print_throughput(uint64_t copied_bytes, double duration_s)
{
	double rate = duration_s > 0 ? (double)copied_bytes / duration_s : 0;

	printf("copied %" PRIu64 " bytes in %.6f s: %.1f MB/s\n", copied_bytes, duration_s, rate / 1e6);
	fflush(stdout);
}

doca_error_t app_take_string(char *field, size_t size, const void *value)
{
	size_t len = strnlen(value, size);

	if (len == size) {
		DOCA_LOG_ERR("A flag's value is longer than %zu characters", size - 1);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(field, value, len + 1);
	return DOCA_SUCCESS;
}

doca_error_t app_take_count(uint32_t *field, const void *value)
{
	int number = *(const int *)value;

	if (number < 1) {
		DOCA_LOG_ERR("A flag's value is %d, but must be at least 1", number);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*field = (uint32_t)number;
	return DOCA_SUCCESS;
}
