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
 * callback stores the value in the program's configuration. Help, version, log
 * levels and the JSON file are parameters that every program gets.
 *
 * Registering hands a parameter to the parser whether it succeeds or fails:
 * don't use or destroy it afterwards. The program destroys what it never
 * registered. Strings given to setters are copied.
 *
 * Setters return nothing; their object must not be NULL. Functions that return
 * doca_error_t return DOCA_ERROR_BAD_STATE outside of init ... destroy and
 * DOCA_ERROR_INVALID_VALUE for a NULL argument. One thread.
 */
#ifndef DOCA_ARGP_H_
#define DOCA_ARGP_H_

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_argp_param;

/* The type of a parameter; the value of its callback points to the type in the comment. */
enum doca_argp_type {
	DOCA_ARGP_TYPE_UNKNOWN = 0,
	DOCA_ARGP_TYPE_STRING = 1,   /* char */
	DOCA_ARGP_TYPE_INT = 2,      /* int */
	DOCA_ARGP_TYPE_BOOLEAN = 3,  /* bool; on the command line the name alone means true */
	DOCA_ARGP_TYPE_JSON_OBJ = 4, /* an object of a JSON file, for flags of DPDK */
};

/* Callback of a parameter: its value, valid during the call only, and the
 * configuration of the program. The version callback has the same type. */
typedef doca_error_t (*callback_func)(void *, void *);

/* Called at the end of parsing, to check the configuration of the program as a whole. */
typedef doca_error_t (*validation_callback)(void *);

/* Gets the flags for DPDK, as an argument vector that lives until destroy. */
typedef doca_error_t (*dpdk_callback)(int argc, char **argv);

/* --- The parser --- */

/* Create the parser. The callbacks get @program_config, which is borrowed until destroy.
 * @program_name is for the usage text; NULL: taken from argv[0].
 * DOCA_ERROR_BAD_STATE the second time, DOCA_ERROR_NO_MEMORY. */
__DOCA_EXPERIMENTAL
doca_error_t doca_argp_init(const char *program_name, void *program_config);

/* Destroy the parser, with everything registered and the DPDK flags. */
__DOCA_EXPERIMENTAL
doca_error_t doca_argp_destroy(void);

/* Parse, calling callbacks on the way; the first error ends it and is returned.
 * DOCA_ERROR_INVALID_VALUE (a value is invalid, or a mandatory parameter is
 * missing), DOCA_ERROR_NOT_SUPPORTED (unknown parameter), DOCA_ERROR_IO_FAILED
 * (the JSON file), DOCA_ERROR_INITIALIZATION, DOCA_ERROR_NO_MEMORY. */
__DOCA_EXPERIMENTAL
doca_error_t doca_argp_start(int argc, char **argv);

/* Print the usage text. */
__DOCA_EXPERIMENTAL
void doca_argp_usage(void);

/* The log level the user asked for, else the global one; enum doca_log_level. */
__DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_log_level(int *log_level);

/* --- Hooks: between init and start --- */

/* Check the configuration as a whole when parsing is done. */
__DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_validation_callback(validation_callback callback);

/* Print the version in the program's own way. A callback that exits calls
 * doca_argp_destroy() before. */
__DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_version_callback(callback_func callback);

/* The program uses DPDK too: the flags before "--" on its command line go to @callback
 * as an argument vector (NULL at its end), those after it go to the program. */
__DOCA_EXPERIMENTAL
void doca_argp_set_dpdk_program(dpdk_callback callback);

/* The program serves gRPC: "-g" takes the address to listen on, which
 * get_grpc_addr() returns after start. The program itself is the server. */
__DOCA_EXPERIMENTAL
void doca_argp_set_grpc_program(void);

__DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_grpc_addr(const char **address);

/* --- Parameters --- */

/* create: DOCA_ERROR_NO_MEMORY. destroy: DOCA_ERROR_BAD_STATE once registered. */
__DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_create(struct doca_argp_param **param);

__DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_destroy(struct doca_argp_param *param);

/* Names without dashes; one of them is required. */
__DOCA_EXPERIMENTAL
void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name);

__DOCA_EXPERIMENTAL
void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name);

/* The description in the usage text (required), and the name of the value there. */
__DOCA_EXPERIMENTAL
void doca_argp_param_set_description(struct doca_argp_param *param, const char *description);

__DOCA_EXPERIMENTAL
void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments);

/* Both required. */
__DOCA_EXPERIMENTAL
void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type);

__DOCA_EXPERIMENTAL
void doca_argp_param_set_callback(struct doca_argp_param *param, callback_func callback);

/* Without these, a parameter may be left out, */
__DOCA_EXPERIMENTAL
void doca_argp_param_set_mandatory(struct doca_argp_param *param);

/* is given once (in a JSON file, several values are an array), */
__DOCA_EXPERIMENTAL
void doca_argp_param_set_multiplicity(struct doca_argp_param *param);

/* and can come from a JSON file too, if it has a long name. */
__DOCA_EXPERIMENTAL
void doca_argp_param_set_cli_only(struct doca_argp_param *param);

/* Add to the program. DOCA_ERROR_INITIALIZATION when something required was not
 * set; DOCA_ERROR_BAD_STATE when registered already. */
__DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_param(struct doca_argp_param *input_param);

#ifdef __cplusplus
}
#endif

#endif
