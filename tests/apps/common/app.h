/* SPDX-License-Identifier: BSD-3-Clause */
/* app.h - what every program here does first and last: logs, flags, an exit status.
 *
 *   main() --> app_main(): logs, flags --> app->run(config) --> exit status
 *
 * A program describes its flags in a table; each flag has a callback that
 * stores its value in the program's configuration, and the APP_TAKE_ macros
 * write the usual ones. Errors are logged where they happen: a function
 * that returns anything but DOCA_SUCCESS has said why.
 */
#ifndef APP_H
#define APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_argp.h>
#include <doca_config.h>
#include <doca_error.h>

/* The first function of the card, as the side sees it that this program is built for. */
#ifdef DOCA_ARCH_DPU
#define APP_PCI_ADDR "03:00.0"
#else
#define APP_PCI_ADDR "b1:00.0"
#endif

struct app_flag {
	const char *short_name; /* without the dash; NULL = none */
	const char *long_name;
	const char *arguments; /* what its value is, for the usage text; NULL = it has none */
	const char *description;
	enum doca_argp_type type;
	doca_argp_param_cb_t take;
	bool mandatory;
};

struct app {
	const struct app_flag *flags;
	size_t num_flags;
	doca_error_t (*run)(void *config); /* called after the flags were stored in @config */
};

/* The whole of main(): returns EXIT_SUCCESS or EXIT_FAILURE. @config is filled
 * with the defaults by the caller and stays the caller's. */
int app_main(const struct app *app, void *config, int argc, char **argv);

/* Pass @result on; if it is an error, log "cannot <what>" and the reason. */
doca_error_t app_check(doca_error_t result, const char *what);

/* Seconds on a clock that only goes forward. */
double app_now_s(void);

/* One line on standard output: how much was copied, how long it took. */
void app_print_throughput(uint64_t copied_bytes, double duration_s);

/* Store a flag's value; DOCA_ERROR_INVALID_VALUE if it doesn't fit, or is below 1. */
doca_error_t app_take_string(char *field, size_t size, const void *value);
doca_error_t app_take_count(uint32_t *field, const void *value);

/* Callbacks named take_<field> for a struct config's fields: a char array, a
 * uint32_t of at least 1, a bool. */
#define APP_TAKE_STRING(field)                                                                  \
	static doca_error_t take_##field(void *value, void *config)                             \
	{                                                                                       \
		char *place = ((struct config *)config)->field;                                 \
                                                                                                \
		return app_take_string(place, sizeof(((struct config *)config)->field), value); \
	}
#define APP_TAKE_COUNT(field)                                                    \
	static doca_error_t take_##field(void *value, void *config)              \
	{                                                                        \
		return app_take_count(&((struct config *)config)->field, value); \
	}
#define APP_TAKE_SWITCH(field)                                           \
	static doca_error_t take_##field(void *value, void *config)      \
	{                                                                \
		((struct config *)config)->field = *(const bool *)value; \
		return DOCA_SUCCESS;                                     \
	}

/* Rows of the table for such fields. */
#define APP_STRING(short_name, long_name, arguments, description, field)                                  \
	{                                                                                                 \
		short_name, long_name, arguments, description, DOCA_ARGP_TYPE_STRING, take_##field, false \
	}
#define APP_MANDATORY_STRING(short_name, long_name, arguments, description, field)                       \
	{                                                                                                \
		short_name, long_name, arguments, description, DOCA_ARGP_TYPE_STRING, take_##field, true \
	}
#define APP_COUNT(short_name, long_name, arguments, description, field)                                \
	{                                                                                              \
		short_name, long_name, arguments, description, DOCA_ARGP_TYPE_INT, take_##field, false \
	}
#define APP_SWITCH(short_name, long_name, description, field)                                         \
	{                                                                                             \
		short_name, long_name, NULL, description, DOCA_ARGP_TYPE_BOOLEAN, take_##field, false \
	}

#endif
