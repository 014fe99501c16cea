/* SPDX-License-Identifier: BSD-3-Clause */
/* The flags that every program has. Their callbacks run as soon as the flag is read: a help
 * flag is obeyed although a later word is wrong. */
#include <stdio.h>
#include <stdlib.h>

#include "argp_priv.h"

#define LEVELS "<10=DISABLE, 20=CRITICAL, 30=ERROR, 40=WARNING, 50=INFO, 60=DEBUG, 70=TRACE>"

static doca_error_t on_help(void *value, void *config)
{
	(void)value;
	(void)config;
	doca_argp_usage();
	doca_argp_destroy();
	exit(EXIT_SUCCESS);
}

/* The callback of the program, if there is one, decides whether the program goes on. */
static doca_error_t on_version(void *value, void *config)
{
	if (shim_argp.version)
		return shim_argp.version(value, config);
	printf("%s: DOCA %s\n", shim_argp_program_name(), doca_version_runtime());
	doca_argp_destroy();
	exit(EXIT_SUCCESS);
}

static doca_error_t set_level(int level, doca_error_t (*set_limit)(uint32_t), int *kept, const char *flag)
{
	if (level < DOCA_LOG_LEVEL_DISABLE || level > DOCA_LOG_LEVEL_TRACE ||
	    set_limit((uint32_t)level) != DOCA_SUCCESS) {
		shim_argp_report("--%s %d: choose one of " LEVELS, flag, level);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*kept = level;
	return DOCA_SUCCESS;
}

static doca_error_t on_log_level(void *value, void *config)
{
	(void)config;
	return set_level(*(int *)value, doca_log_level_set_global_lower_limit, &shim_argp.log_level, "log-level");
}

static doca_error_t on_sdk_log_level(void *value, void *config)
{
	(void)config;
	return set_level(*(int *)value, doca_log_level_set_global_sdk_limit, &shim_argp.sdk_log_level, "sdk-log-level");
}

/* Keep the path. The file is read after the command line, whose values take precedence. */
static doca_error_t on_json(void *value, void *config)
{
	(void)config;
	shim_argp.json_path = shim_argp_dup(value);
	return shim_argp.json_path ? DOCA_SUCCESS : shim_argp_report_no_memory();
}

static const struct general_flag {
	const char *short_name;
	const char *long_name;
	const char *arguments;
	const char *description;
	enum doca_argp_type type;
	bool cli_only;
	doca_argp_param_cb_t callback;
} general_flags[] = {
	{ "h", "help", NULL, "Show this text and exit", DOCA_ARGP_TYPE_BOOLEAN, true, on_help },
	{ "v", "version", NULL, "Show the version and exit", DOCA_ARGP_TYPE_BOOLEAN, true, on_version },
	{ "l", "log-level", NULL, "Log level of the program, a number " LEVELS, DOCA_ARGP_TYPE_INT, false,
	  on_log_level },
	{ NULL, "sdk-log-level", NULL, "Log level of the DOCA libraries, a number " LEVELS, DOCA_ARGP_TYPE_INT, false,
	  on_sdk_log_level },
	{ "j", "json", "<path>", "Take flags from a JSON file; those given here win over it", DOCA_ARGP_TYPE_STRING,
	  true, on_json },
};

/* Copy @text; the copy of NULL is NULL. Returns false without memory. */
static bool copy_text(char **copy, const char *text)
{
	*copy = text ? shim_argp_dup(text) : NULL;
	return *copy || !text;
}

static doca_error_t register_general_flag(const struct general_flag *flag)
{
	struct doca_argp_param *param = shim_argp_param_new();

	if (!param || !copy_text(&param->short_name, flag->short_name) ||
	    !copy_text(&param->long_name, flag->long_name) || !copy_text(&param->arguments, flag->arguments) ||
	    !copy_text(&param->description, flag->description))
		return DOCA_ERROR_NO_MEMORY;
	param->type = flag->type;
	param->cli_only = flag->cli_only;
	param->callback = flag->callback;
	param->general = true;
	shim_argp_cmd_append_param(&shim_argp.general, param);
	return DOCA_SUCCESS;
}

doca_error_t shim_argp_general_flags_register(void)
{
	doca_error_t result = DOCA_SUCCESS;
	size_t i;

	for (i = 0; i < sizeof(general_flags) / sizeof(general_flags[0]) && result == DOCA_SUCCESS; i++)
		result = register_general_flag(&general_flags[i]);
	return result;
}
