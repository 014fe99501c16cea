/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/argp/argp_priv.h - what the files of libdoca_argp share.
 *
 * The parser is one object of the process, shim_argp:
 *
 *   OFF --init--> OPEN --start--> PARSING --> PARSED
 *    ^              |                |           |
 *    +--------------+----destroy-----+-----------+
 *
 * A callback may destroy the parser while it parses (a version callback does so
 * before it exits). Whoever calls a callback compares the generation before and
 * after, and touches nothing of the parser when it changed.
 *
 * Registered parameters hang in a tree of commands. Its root, .program, stands
 * for the program; .general, beside it, holds the flags that every program has.
 *
 *   start():  argv --cli.c--> occurrences <--json.c-- file      (an occurrence: parameter, value)
 *             occurrences --checks.c--> complete and consistent?
 *             occurrences --run.c--> callbacks, in order
 *
 * Handles come from programs and may be stale. Every parameter and command made
 * since init stays in a list until destroy, dead or alive, so that its address
 * is not used again meanwhile: a handle is looked up there before it is touched.
 *
 * Functions return DOCA_SUCCESS or the code to return to the program. Whoever
 * finds that the user's input is wrong reports it, with shim_argp_report(); whoever
 * finds that the program's call is wrong logs that, with shim_argp_log_misuse().
 */
#ifndef SHIM_ARGP_PRIV_H
#define SHIM_ARGP_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include <doca_argp.h>

struct json_object;

enum shim_argp_state {
	SHIM_ARGP_OFF = 0,
	SHIM_ARGP_OPEN,    /* registering is allowed */
	SHIM_ARGP_PARSING, /* in doca_argp_start() */
	SHIM_ARGP_PARSED,
};

enum shim_argp_registration {
	SHIM_ARGP_UNREGISTERED = 0, /* made, not registered: the program may change or destroy it */
	SHIM_ARGP_REGISTERED,       /* the parser's, in use */
	SHIM_ARGP_DESTROYED,        /* destroyed, or refused by register; only its address is kept */
};

enum shim_argp_origin {
	SHIM_ARGP_NOT_GIVEN = 0,
	SHIM_ARGP_FROM_JSON,
	SHIM_ARGP_FROM_CLI, /* wins over a value in the JSON file */
};

struct doca_argp_param {
	struct doca_argp_param *next_created; /* all of this generation */
	struct doca_argp_param *next;         /* beside it in its command */
	enum shim_argp_registration registration;
	char *short_name; /* without dashes; NULL if none, as the texts below */
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
	bool general; /* one of the parser's own: acts as soon as it is met */
	enum shim_argp_origin given;
};

struct doca_argp_cmd {
	struct doca_argp_cmd *next_created;
	struct doca_argp_cmd *next;
	struct doca_argp_cmd *parent; /* NULL: the root, or not registered */
	enum shim_argp_registration registration;
	struct doca_argp_param *params;
	struct doca_argp_cmd *commands;
	char *name;
	char *description;
	doca_argp_cmd_cb_t callback;
	bool hidden;
};

/* A value; which member counts is the parameter's type. */
struct shim_argp_value {
	const char *text;
	int number;
	bool boolean;
	struct json_object *object;
};

/* One appearance of a parameter. It owns its text and a reference to its object. */
struct shim_argp_occurrence {
	struct shim_argp_occurrence *next;
	struct doca_argp_param *param;
	enum shim_argp_origin origin;
	char *text;
	int number;
	bool boolean;
	struct json_object *object;
};

/* DPDK's argument vector. The callback may reorder @callback_argv, which ends with
 * NULL; @owned_argv remembers what to free. */
struct shim_argp_dpdk {
	int count;
	int capacity;
	char **owned_argv;
	char **callback_argv;
};

struct shim_argp {
	enum shim_argp_state state;
	unsigned long generation; /* counts destroy; survives it */
	char *program_name;       /* NULL until known */
	void *config;
	struct doca_argp_param *all_params;
	struct doca_argp_cmd *all_cmds;
	struct doca_argp_cmd program;
	struct doca_argp_cmd general;
	struct doca_argp_cmd *selected_cmd;       /* innermost command met so far; &program if none */
	struct shim_argp_occurrence *occurrences; /* as they were met */
	struct shim_argp_occurrence *last_occurrence;
	char *json_path; /* NULL unless given */
	int log_level;   /* 0 unless given, as the next */
	int sdk_log_level;
	doca_argp_logger_cb_t logger;
	doca_argp_validation_cb_t validation;
	doca_argp_param_cb_t version;
	doca_argp_dpdk_cb_t dpdk_callback; /* NULL: not a DPDK program */
	struct shim_argp_dpdk dpdk;
	bool is_grpc;
	char *grpc_address; /* NULL unless given */
};

extern struct shim_argp shim_argp;

/* --- parser.c --- */

/* The name for messages and usage; never NULL. */
const char *shim_argp_program_name(void);

/* May the program still register things? Else log that and return BAD_STATE. */
doca_error_t shim_argp_check_open(const char *func);

/* --- message.c --- */

/* One line to the user: the program's logger callback, else standard error. */
void shim_argp_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for memory that ran out; returns DOCA_ERROR_NO_MEMORY. */
doca_error_t shim_argp_report_no_memory(void);

/* One line to the log about a wrong call of @func by the program. */
void shim_argp_log_misuse(const char *func, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- text.c --- */

/* A copy of @text, or of its first @length bytes; NULL without memory. */
char *shim_argp_dup(const char *text);
char *shim_argp_dup_n(const char *text, size_t length);

/* Put a copy of @text in *@slot for a setter @func; a NULL text, or no memory,
 * is logged and leaves *@slot as it was. */
void shim_argp_set_text(char **slot, const char *text, const char *func);

/* Decimal, nothing around it, within int. */
bool shim_argp_text_to_int(const char *text, int *ret_number);

/* "--long", or "-s" if there is no long name, for messages; valid until the next call. */
const char *shim_argp_flag_name(const struct doca_argp_param *param);

/* --- param.c --- */

/* NULL without memory. It is in the list of those made. */
struct doca_argp_param *shim_argp_param_new(void);

/* The parameter of this handle, or NULL if it was not made since init or is dead. */
struct doca_argp_param *shim_argp_param_lookup(const struct doca_argp_param *handle);

/* Free all but the address. */
void shim_argp_param_destroy(struct doca_argp_param *param);

void shim_argp_params_free_all(void);

/* --- register_param.c --- */

/* Add to @cmd a parameter whose fields are known to be good. */
void shim_argp_cmd_append_param(struct doca_argp_cmd *cmd, struct doca_argp_param *param);

/* --- cmd.c --- */

/* Can something be registered inside the command of this handle? It must be
 * known (else INVALID_VALUE) and not be registered itself (BAD_STATE). */
doca_error_t shim_argp_cmd_check_parent(const struct doca_argp_cmd *handle, const char *func);

void shim_argp_cmds_free_all(void);

/* --- find.c --- */

/* The parameter that a flag on the command line means, seen from the command
 * @from: its own, then inherited ones of the commands around it, then general. */
struct doca_argp_param *shim_argp_find_short(struct doca_argp_cmd *from, const char *name);
struct doca_argp_param *shim_argp_find_long(struct doca_argp_cmd *from, const char *name, size_t length);

/* The parameter that a key of a JSON section means. */
struct doca_argp_param *shim_argp_find_key(struct doca_argp_cmd *from, const char *key);

struct doca_argp_cmd *shim_argp_find_cmd(struct doca_argp_cmd *from, const char *name);

/* --- general.c --- */

/* Make the flags that every program has. */
doca_error_t shim_argp_general_flags_register(void);

/* --- use.c --- */

/* A parameter was met with @value, which is copied: keep an occurrence of it, or act at
 * once if it is a general one. BAD_STATE if that destroyed the parser. */
doca_error_t shim_argp_handle_param(struct doca_argp_param *param, const struct shim_argp_value *value,
				    enum shim_argp_origin origin);

void shim_argp_occurrences_free(void);

/* --- cli.c --- */

doca_error_t shim_argp_cli_collect(int count, char **words);

/* --- json_file.c --- */

/* Read a whole file that is one JSON object; comments and trailing commas are
 * fine. *ret_root is the caller's to put. */
doca_error_t shim_argp_json_read(const char *path, struct json_object **ret_root);

/* --- json.c --- */

doca_error_t shim_argp_json_collect(const char *path);

/* --- dpdk.c --- */

/* Keep DPDK's words of argv, argv[0] among them. *ret_first: the first word of
 * the program itself, @argc if there is none. */
doca_error_t shim_argp_dpdk_collect(int argc, char **argv, int *ret_first);

/* Append a word to DPDK's argument vector, a copy of it. */
doca_error_t shim_argp_dpdk_add(const char *word);

/* Call the program's DPDK callback, if it has one. */
doca_error_t shim_argp_dpdk_call(void);

void shim_argp_dpdk_free(void);

/* --- dpdk_json.c --- */

/* Append the flags of a "doca_dpdk_flags" section; @path is for messages. */
doca_error_t shim_argp_dpdk_add_json(const char *path, struct json_object *section);

/* --- checks.c --- */

/* Are all mandatory parameters there, and singular ones alone? */
doca_error_t shim_argp_check_occurrences(void);

/* --- run.c --- */

/* Call what is to be called: parameters, commands, validation, DPDK. */
doca_error_t shim_argp_run_callbacks(void);

#endif
