/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/argp/argp_priv.h - what the files of libdoca_argp share.
 *
 * A process has one parser, shim_argp:
 *
 *   OFF --init--> OPEN --start--> PARSING --> PARSED
 *    ^              |                |           |
 *    +--------------+----destroy-----+-----------+
 *
 * A callback may destroy the parser while it parses (a version callback does so
 * before it exits). The caller of a callback compares the generation before and
 * after the call. If the generation changed, the caller reads and writes nothing
 * of the parser any more.
 *
 * Commands form a tree that holds the registered parameters. Its root, .program, is
 * the program itself. The command .general holds the flags that every program has.
 *
 *   start():  argv --cli.c--> occurrences <--json.c-- file      (an occurrence: parameter, value)
 *             occurrences --start.c--> complete and consistent?
 *             occurrences --run_callbacks.c--> callbacks, in order
 *
 * Handles come from programs and may be stale. All parameters and commands created
 * since init, destroyed ones too, stay in a list until doca_argp_destroy(): no
 * address is used twice in that time. Each handle is looked up before its first use.
 *
 * Functions return DOCA_SUCCESS or the code to return to the program. Wrong input of
 * the user is reported with shim_argp_report(); a wrong call by the program is logged
 * with shim_argp_log_misuse().
 */
#ifndef SHIM_ARGP_PRIV_H
#define SHIM_ARGP_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include <doca_argp.h>

struct json_object;

enum shim_argp_state {
	SHIM_ARGP_OFF = 0,
	SHIM_ARGP_OPEN,    /* registering is allowed */
	SHIM_ARGP_PARSING, /* in doca_argp_start() */
	SHIM_ARGP_PARSED,
	SHIM_ARGP_NUM_STATES
};

enum shim_argp_registration {
	SHIM_ARGP_UNREGISTERED = 0, /* the program may change or destroy it */
	SHIM_ARGP_REGISTERED,       /* owned by the parser */
	SHIM_ARGP_DESTROYED,        /* destroyed, or refused by register; only its address is kept */
};

enum shim_argp_origin {
	SHIM_ARGP_NOT_GIVEN = 0,
	SHIM_ARGP_FROM_JSON,
	SHIM_ARGP_FROM_CLI, /* wins over a value in the JSON file */
};

struct doca_argp_param {
	struct doca_argp_param *next_created; /* in the list of all since init */
	struct doca_argp_param *next;         /* in the list of its command */
	enum shim_argp_registration registration;
	char *short_name; /* without dashes; NULL = none, as for the texts below */
	char *long_name;
	char *description;
	char *arguments;
	enum doca_argp_type type;
	doca_argp_param_cb_t callback;
	bool mandatory;
	bool multiple;
	bool singular;
	bool cli_only;
	bool hidden;
	bool inherited;
	bool general; /* a flag of every program: its callback runs as soon as the flag is read */
	enum shim_argp_origin given;
};

struct doca_argp_cmd {
	struct doca_argp_cmd *next_created;
	struct doca_argp_cmd *next;
	struct doca_argp_cmd *parent; /* NULL = the root, or not registered */
	enum shim_argp_registration registration;
	struct doca_argp_param *params;
	struct doca_argp_cmd *commands;
	char *name;
	char *description;
	doca_argp_cmd_cb_t callback;
	bool hidden;
};

/* A value; the type of the parameter selects the member. */
struct shim_argp_value {
	const char *text;
	int number;
	double real;
	bool boolean;
	struct json_object *object;
	struct doca_argp_device_rep_ctx device; /* what @text names, once it is open */
};

/* One appearance of a parameter. It owns the text and a reference to the object of its value. */
struct shim_argp_occurrence {
	STAILQ_ENTRY(shim_argp_occurrence) link;
	struct doca_argp_param *param;
	enum shim_argp_origin origin;
	struct shim_argp_value value;
	char *text; /* value.text, to free */
};

/* The argument vector for DPDK. The callback may reorder @callback_argv, which ends with
 * NULL. @owned_argv holds the same strings, to free them. */
struct shim_argp_dpdk {
	int count;
	int capacity;
	char **owned_argv;
	char **callback_argv;
};

struct shim_argp {
	enum shim_argp_state state;
	unsigned long generation; /* number of calls of doca_argp_destroy() */
	char *program_name;       /* NULL until known */
	void *config;
	struct doca_argp_param *all_params;
	struct doca_argp_cmd *all_cmds;
	struct doca_argp_cmd program;
	struct doca_argp_cmd general;
	struct doca_argp_cmd *selected_cmd; /* the innermost command of the arguments so far; &program = none */
	STAILQ_HEAD(, shim_argp_occurrence) occurrences;
	char *json_path; /* NULL unless given */
	int log_level;   /* 0 unless given, as the next */
	int sdk_log_level;
	doca_argp_logger_cb_t logger;
	doca_argp_validation_cb_t validation;
	doca_argp_param_cb_t version;
	doca_argp_dev_open_cb_t open_dev; /* NULL: doca_dev_open() */
	void *open_dev_context;
	bool ignores_unknown_keys;         /* of JSON files */
	doca_argp_dpdk_cb_t dpdk_callback; /* NULL: not a DPDK program */
	struct shim_argp_dpdk dpdk;
	bool is_grpc;
	char *grpc_address; /* NULL unless given */
};

extern struct shim_argp shim_argp;

/* --- state.c --- */

/* Is there an edge from the present state to @to? */
bool shim_argp_can_change_state(enum shim_argp_state to);

/* Change the state along an edge. */
void shim_argp_set_state(enum shim_argp_state to);

/* A callback returned @result; the generation was @generation before the call. Returns
 * @result, or BAD_STATE if it is SUCCESS and the callback destroyed the parser. */
doca_error_t shim_argp_result_after_callback(unsigned long generation, doca_error_t result);

/* The name for messages and usage; never NULL. */
const char *shim_argp_program_name(void);

/* --- destroy.c --- */

/* Free all and change to OFF, also after a doca_argp_init() that failed half-way. */
void shim_argp_reset(void);

/* --- message.c --- */

/* One line to the user: the program's logger callback, else standard error. */
void shim_argp_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for memory that ran out; returns DOCA_ERROR_NO_MEMORY. */
doca_error_t shim_argp_report_no_memory(void);

/* May the program still register parameters and commands? If not, log that and return BAD_STATE. */
doca_error_t shim_argp_check_open(const char *func);

/* One line to the log about a wrong call of @func by the program. */
void shim_argp_log_misuse(const char *func, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- text.c --- */

/* A copy of @text; NULL without memory. */
char *shim_argp_dup(const char *text);

/* Put a copy of @text in *@slot for a setter @func. A NULL text, or no memory,
 * is logged and leaves *@slot unchanged. */
void shim_argp_set_text(char **slot, const char *text, const char *func);

/* Is @text a decimal number that fits an int, without blanks around it? */
bool shim_argp_text_to_int(const char *text, int *ret_number);

/* Is @text a finite number, with a point in any locale, without blanks around it? */
bool shim_argp_text_to_double(const char *text, double *ret_number);

/* "--long", or "-s" if there is no long name, for messages; valid until the next call. */
const char *shim_argp_flag_name(const struct doca_argp_param *param);

/* --- param.c --- */

/* Create a parameter, in the list of all; NULL without memory. */
struct doca_argp_param *shim_argp_param_new(void);

/* The parameter of this handle; NULL if it was destroyed, or not created since init. */
struct doca_argp_param *shim_argp_param_lookup(const struct doca_argp_param *handle);

/* Free the contents; the address stays in use. */
void shim_argp_param_destroy(struct doca_argp_param *param);

void shim_argp_params_free_all(void);

/* --- register_param.c --- */

/* Add to @cmd a parameter whose fields were checked. */
void shim_argp_cmd_append_param(struct doca_argp_cmd *cmd, struct doca_argp_param *param);

/* --- cmd.c --- */

/* May parameters and commands be registered inside the command of this handle?
 * INVALID_VALUE if it is unknown, BAD_STATE if it is registered itself. */
doca_error_t shim_argp_cmd_check_parent(const struct doca_argp_cmd *handle, const char *func);

void shim_argp_cmds_free_all(void);

/* --- find.c --- */

/* Find the parameter of a flag on the command line, in this order: parameters of the
 * command @from, inherited ones of the commands around it, general ones. */
struct doca_argp_param *shim_argp_find_short(struct doca_argp_cmd *from, const char *name);
struct doca_argp_param *shim_argp_find_long(struct doca_argp_cmd *from, const char *name, size_t length);

/* Find the parameter of a key of a JSON section. */
struct doca_argp_param *shim_argp_find_key(struct doca_argp_cmd *from, const char *key);

struct doca_argp_cmd *shim_argp_find_cmd(struct doca_argp_cmd *from, const char *name);

/* --- general_flags.c --- */

/* Create the flags that every program has. */
doca_error_t shim_argp_general_flags_register(void);

/* --- occurrence.c --- */

/* The arguments contain @param with @value, which is copied: keep an occurrence. The callback
 * of a general flag is called at once instead. */
doca_error_t shim_argp_handle_param(struct doca_argp_param *param, const struct shim_argp_value *value,
				    enum shim_argp_origin origin);

/* Call the callback of @param. */
doca_error_t shim_argp_call_param(struct doca_argp_param *param, struct shim_argp_value *value);

void shim_argp_occurrences_free(void);

/* --- cli.c --- */

doca_error_t shim_argp_cli_collect(int count, char **words);

/* --- device.c --- */

/* Open what @value->text names, a device or a representor by the type of @param, into @value->device. The program closes it. */
doca_error_t shim_argp_open_device(const struct doca_argp_param *param, struct shim_argp_value *value);

/* --- json_file.c --- */

/* Read a whole file that is one JSON object, perhaps with comments and trailing commas.
 * The caller owns the reference *ret_root. */
doca_error_t shim_argp_json_read(const char *path, struct json_object **ret_root);

/* --- json.c --- */

doca_error_t shim_argp_json_collect(const char *path);

/* --- dpdk.c --- */

/* Keep the words of argv for DPDK, argv[0] among them. *ret_first is the index of the
 * first word for the program, @argc if there is none. */
doca_error_t shim_argp_dpdk_collect(int argc, char **argv, int *ret_first);

/* Append a copy of @word to the argument vector for DPDK. */
doca_error_t shim_argp_dpdk_add(const char *word);

/* Call the program's DPDK callback, if it has one. */
doca_error_t shim_argp_dpdk_call(void);

void shim_argp_dpdk_free(void);

/* --- dpdk_json.c --- */

/* Append the flags of a "doca_dpdk_flags" section; @path is for messages. */
doca_error_t shim_argp_dpdk_add_json(const char *path, struct json_object *section);

/* --- run_callbacks.c --- */

/* Call the callbacks of parameters and commands, the validation and the DPDK callback. */
doca_error_t shim_argp_run_callbacks(void);

#endif
