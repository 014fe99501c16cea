/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_argp.h - program arguments, from the command line or a JSON file.
 *
 *   doca_argp_init("my_app", &config);
 *   doca_argp_param_create(&param);
 *   doca_argp_param_set_long_name(param, "size");  ... description, type, callback
 *   doca_argp_register_param(param);               the parser owns it from here
 *   doca_argp_start(argc, argv);                   parses, calls the callbacks
 *   ...
 *   doca_argp_destroy();
 *
 * There is one parser per process. A parameter ("-s 64", "--size 64") has a
 * short or a long name or both, a type, a description and a callback; its
 * callback stores the value in the program's configuration. A command ("my_app
 * send ...") has a name and a description, parameters of its own, inner commands
 * and, usually at the leaves, a callback. Help, version, log levels and the JSON
 * file are parameters that every program gets.
 *
 * Registering hands a parameter or a command to the parser whether it succeeds
 * or fails: don't use or destroy it afterwards. The program destroys what it
 * never registered. Strings given to setters are copied.
 *
 * Setters return nothing; their object must not be NULL. Functions that return
 * doca_error_t return DOCA_ERROR_BAD_STATE outside of init ... destroy and
 * DOCA_ERROR_INVALID_VALUE for a NULL argument. One thread.
 */
#ifndef DOCA_ARGP_H_
#define DOCA_ARGP_H_

#include <stdarg.h>
#include <doca_compat.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_log.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_argp_cmd;
struct doca_argp_param;

/* The type of a parameter; the value of its callback points to the type in the comment. */
enum doca_argp_type {
	DOCA_ARGP_TYPE_UNKNOWN = 0,
	DOCA_ARGP_TYPE_STRING = 1,   /* char */
	DOCA_ARGP_TYPE_INT = 2,      /* int */
	DOCA_ARGP_TYPE_BOOLEAN = 3,  /* bool; on the command line the name alone means true */
	DOCA_ARGP_TYPE_JSON_OBJ = 4, /* up to 3.0: an object of a JSON file, for flags of DPDK */
	/* From 3.1 on. DEVICE took the number of JSON_OBJ: a string names a device, an object is handed over. */
	DOCA_ARGP_TYPE_DEVICE = 4,     /* struct doca_argp_device_ctx */
	DOCA_ARGP_TYPE_DEVICE_REP = 5, /* struct doca_argp_device_rep_ctx */
	DOCA_ARGP_TYPE_DOUBLE = 6,     /* double */
};

/* A device that the parser opened: "pci/0000:03:00.0[,devargs]". The program closes it. @devargs is what follows the first
 * comma, NULL without, valid until doca_argp_destroy(). */
struct doca_argp_device_ctx {
	struct doca_dev *dev;
	const char *devargs;
};

/* A representor, of a device that the parser opened as well: "pci/0000:03:00.0,pf0vf0[,devargs]". The program closes both. */
struct doca_argp_device_rep_ctx {
	struct doca_argp_device_ctx dev_ctx;
	struct doca_dev_rep *dev_rep;
};

/* Callback of a parameter: its value, valid during the call only, and the
 * configuration of the program. The version callback has the same type. */
typedef doca_error_t (*doca_argp_param_cb_t)(void *, void *);

/* Callback of a command: the configuration of the program. */
typedef doca_error_t (*doca_argp_cmd_cb_t)(void *);

/* Called at the end of parsing, to check the configuration of the program as a whole. */
typedef doca_error_t (*doca_argp_validation_cb_t)(void *);

/* Opens a device instead of the parser: the context of the registration, and *dev to set. */
typedef doca_error_t (*doca_argp_dev_open_cb_t)(struct doca_devinfo *devinfo, void *usr_ctx, struct doca_dev **dev);

/* Gets the flags for DPDK, as an argument vector that lives until destroy. */
typedef doca_error_t (*doca_argp_dpdk_cb_t)(int argc, char **argv);

/* A message of the parser to the user. */
typedef doca_error_t (*doca_argp_logger_cb_t)(enum doca_log_level level, const char *format, va_list args);

/* --- The parser --- */

/* Create the parser. The callbacks get @program_config, which is borrowed until destroy.
 * @program_name is for the usage text; NULL: taken from argv[0].
 * DOCA_ERROR_BAD_STATE the second time, DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_init(const char *program_name, void *program_config);

/* Destroy the parser, with everything registered and the DPDK flags. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_destroy(void);

/* Parse, calling callbacks on the way; the first error ends it and is returned.
 * DOCA_ERROR_INVALID_VALUE (a value is invalid, or a mandatory parameter is
 * missing), DOCA_ERROR_NOT_SUPPORTED (unknown parameter), DOCA_ERROR_IO_FAILED
 * (the JSON file), DOCA_ERROR_INITIALIZATION, DOCA_ERROR_NO_MEMORY; what opening a
 * device returned, and DOCA_ERROR_NOT_FOUND if there is no such device or representor. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_start(int argc, char **argv);

/* Print the usage text. */
DOCA_EXPERIMENTAL
void doca_argp_usage(void);

/* The log level the user asked for, else the program's global one; enum doca_log_level. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_log_level(int *log_level);

DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_sdk_log_level(int *log_level);

/* --- Hooks: between init and start --- */

/* Check the configuration as a whole when parsing is done. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback);

/* Print the version in the program's own way. A callback that exits calls
 * doca_argp_destroy() before. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback);

/* Open the devices that arguments name (DEVICE, DEVICE_REP) by @callback, which gets @usr_ctx. Later than 3.0. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_dev_open_callback(doca_argp_dev_open_cb_t callback, void *usr_ctx);

/* Ignore sections and keys of a JSON file that the program does not know. Later than 3.0. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_disable_pedantic_config_parsing(void);

/* The program is one of DPDK's too: the flags before "--" on its command line go to
 * @callback as an argument vector (NULL at its end), those behind it are the program's. */
DOCA_EXPERIMENTAL
void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback);

/* Take the parser's messages, or let them go to standard error again. register:
 * DOCA_ERROR_ALREADY_EXIST. disable: DOCA_ERROR_BAD_STATE if there is none. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback);

DOCA_EXPERIMENTAL
doca_error_t doca_argp_disable_logger_callback(void);

/* --- Parameters --- */

/* create: DOCA_ERROR_NO_MEMORY. destroy: DOCA_ERROR_BAD_STATE once registered. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_create(struct doca_argp_param **param);

DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_destroy(struct doca_argp_param *param);

/* Names without dashes; one of them is required. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name);

DOCA_EXPERIMENTAL
void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name);

/* The description in the usage text (required), and the name of the value there. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_description(struct doca_argp_param *param, const char *description);

DOCA_EXPERIMENTAL
void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments);

/* Both required. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type);

DOCA_EXPERIMENTAL
void doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback);

/* Without these, a parameter may be left out, */
DOCA_EXPERIMENTAL
void doca_argp_param_set_mandatory(struct doca_argp_param *param);

/* is given once (in a JSON file, several values are an array), */
DOCA_EXPERIMENTAL
void doca_argp_param_set_multiplicity(struct doca_argp_param *param);

/* may stand beside others, */
DOCA_EXPERIMENTAL
void doca_argp_param_set_singular(struct doca_argp_param *param);

/* can come from a JSON file too, if it has a long name, */
DOCA_EXPERIMENTAL
void doca_argp_param_set_cli_only(struct doca_argp_param *param);

/* is known to its own command but not to the inner ones, */
DOCA_EXPERIMENTAL
void doca_argp_param_set_inherited(struct doca_argp_param *param);

/* and is in the usage text. */
DOCA_EXPERIMENTAL
void doca_argp_param_set_hidden(struct doca_argp_param *param);

/* Add to the program, or to a command. DOCA_ERROR_INITIALIZATION when something
 * required was not set; DOCA_ERROR_BAD_STATE when registered already. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_param(struct doca_argp_param *input_param);

DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd, struct doca_argp_param *input_param);

/* --- Commands --- */

/* create: DOCA_ERROR_NO_MEMORY. destroy: DOCA_ERROR_BAD_STATE once registered. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd);

DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd);

/* Name and description are required; a callback is not. */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name);

DOCA_EXPERIMENTAL
void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd, const char *description);

DOCA_EXPERIMENTAL
void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd, doca_argp_cmd_cb_t callback);

/* Leave it out of the usage text. */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd);

/* Add to the program, or inside another command. Errors as for parameters. */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *input_cmd);

DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd, struct doca_argp_cmd *input_cmd);

/* ============ Of releases 2.5 and 2.6 only: programs that are reached by gRPC ============ */

/* Give the program a flag -g, --grpc-address for the address to serve on or to
 * call. Between init and start. */
DOCA_EXPERIMENTAL
void doca_argp_set_grpc_program(void);

/* The value of the flag, as on the command line; owned by the parser, until
 * destroy. DOCA_ERROR_BAD_STATE (before start, or no gRPC program),
 * DOCA_ERROR_NOT_FOUND (the flag was not given). */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_grpc_addr(const char **address);

#ifdef __cplusplus
}
#endif

#endif
