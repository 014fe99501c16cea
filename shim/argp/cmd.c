/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: creation, setters, registration. */
#include <stdlib.h>
#include <string.h>

#include "argp_priv.h"

static struct doca_argp_cmd *cmd_lookup(const struct doca_argp_cmd *handle)
{
	struct doca_argp_cmd *cmd;

	for (cmd = shim_argp.all_cmds; cmd; cmd = cmd->next_created)
		if (cmd == handle)
			return cmd->registration == SHIM_ARGP_DESTROYED ? NULL : cmd;
	return NULL;
}

static void free_texts(struct doca_argp_cmd *cmd)
{
	free(cmd->name);
	free(cmd->description);
	cmd->name = NULL;
	cmd->description = NULL;
}

/* Free the contents of @cmd, and of all parameters and commands inside it. The addresses stay in use. */
static void cmd_destroy(struct doca_argp_cmd *cmd)
{
	struct doca_argp_param *param;
	struct doca_argp_cmd *inner;

	for (param = cmd->params; param; param = param->next)
		shim_argp_param_destroy(param);
	for (inner = cmd->commands; inner; inner = inner->next)
		cmd_destroy(inner);
	cmd->params = NULL;
	cmd->commands = NULL;
	free_texts(cmd);
	cmd->registration = SHIM_ARGP_DESTROYED;
}

void shim_argp_cmds_free_all(void)
{
	struct doca_argp_cmd *cmd;

	while ((cmd = shim_argp.all_cmds)) {
		shim_argp.all_cmds = cmd->next_created;
		free_texts(cmd);
		free(cmd);
	}
}

doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd)
{
	struct doca_argp_cmd *created;

	if (shim_argp.state == SHIM_ARGP_OFF) {
		shim_argp_log_misuse(__func__, "call doca_argp_init() first");
		return DOCA_ERROR_BAD_STATE;
	}
	if (!cmd)
		return DOCA_ERROR_INVALID_VALUE;
	created = calloc(1, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->next_created = shim_argp.all_cmds;
	shim_argp.all_cmds = created;
	*cmd = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd)
{
	struct doca_argp_cmd *found = cmd_lookup(cmd);

	if (!found) {
		shim_argp_log_misuse(__func__, "the command is NULL, destroyed or unknown");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (found->registration == SHIM_ARGP_REGISTERED) {
		shim_argp_log_misuse(__func__, "'%s' is registered; doca_argp_destroy() frees it", found->name);
		return DOCA_ERROR_BAD_STATE;
	}
	cmd_destroy(found);
	return DOCA_SUCCESS;
}

static bool check_settable(const struct doca_argp_cmd *cmd, const char *func)
{
	const struct doca_argp_cmd *found = cmd_lookup(cmd);

	if (!found)
		shim_argp_log_misuse(func, "the command is NULL, destroyed or unknown; nothing was set");
	else if (found->registration == SHIM_ARGP_REGISTERED)
		shim_argp_log_misuse(func, "'%s' is registered already; nothing was set", found->name);
	return found && found->registration == SHIM_ARGP_UNREGISTERED;
}

void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name)
{
	if (check_settable(cmd, __func__))
		shim_argp_set_text(&cmd->name, name, __func__);
}

void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd, const char *description)
{
	if (check_settable(cmd, __func__))
		shim_argp_set_text(&cmd->description, description, __func__);
}

void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd, doca_argp_cmd_cb_t callback)
{
	if (!check_settable(cmd, __func__))
		return;
	if (!callback)
		shim_argp_log_misuse(__func__, "the callback is NULL; nothing was set");
	else
		cmd->callback = callback;
}

void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd)
{
	if (check_settable(cmd, __func__))
		cmd->hidden = true;
}

doca_error_t shim_argp_cmd_check_parent(const struct doca_argp_cmd *handle, const char *func)
{
	const struct doca_argp_cmd *cmd = cmd_lookup(handle);

	if (!cmd) {
		shim_argp_log_misuse(func, "the command is NULL, destroyed or unknown");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (cmd->registration == SHIM_ARGP_REGISTERED) {
		shim_argp_log_misuse(func, "'%s' is registered already; fill a command first, then register it",
				     cmd->name);
		return DOCA_ERROR_BAD_STATE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t check_fields(const struct doca_argp_cmd *parent, const struct doca_argp_cmd *cmd, const char *func)
{
	const struct doca_argp_cmd *other;

	if (!cmd->name || !cmd->description) {
		shim_argp_log_misuse(func, "the command '%s' has no %s", cmd->name ? cmd->name : "(no name)",
				     cmd->name ? "description" : "name");
		return DOCA_ERROR_INITIALIZATION;
	}
	if (cmd->name[0] == '\0' || cmd->name[0] == '-') {
		shim_argp_log_misuse(func, "'%s' is no name for a command: it would not be found in the arguments",
				     cmd->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (other = parent->commands; other; other = other->next) {
		if (strcmp(other->name, cmd->name) == 0) {
			shim_argp_log_misuse(func, "there is a command '%s' already; choose another name", cmd->name);
			return DOCA_ERROR_INVALID_VALUE;
		}
	}
	return DOCA_SUCCESS;
}

static doca_error_t add_cmd(struct doca_argp_cmd *parent, struct doca_argp_cmd *cmd, const char *func)
{
	doca_error_t result = shim_argp_check_open(func);
	struct doca_argp_cmd **end = &parent->commands;

	if (result == DOCA_SUCCESS)
		result = check_fields(parent, cmd, func);
	if (result != DOCA_SUCCESS)
		return result;
	while (*end)
		end = &(*end)->next;
	*end = cmd;
	cmd->parent = parent;
	cmd->registration = SHIM_ARGP_REGISTERED;
	return DOCA_SUCCESS;
}

/* The parser owns @cmd from here on: @cmd becomes a part of @parent, or is destroyed with all
 * inside it. A command that was registered before stays in its place. */
static doca_error_t register_cmd(struct doca_argp_cmd *parent, struct doca_argp_cmd *cmd, const char *func,
				 doca_error_t parent_state)
{
	doca_error_t result = parent_state;

	if (cmd->registration == SHIM_ARGP_REGISTERED) {
		shim_argp_log_misuse(func, "'%s' is registered already", cmd->name);
		return DOCA_ERROR_BAD_STATE;
	}
	if (parent == cmd) {
		shim_argp_log_misuse(func, "a command can't be inside itself");
		result = DOCA_ERROR_INVALID_VALUE;
	}
	if (result == DOCA_SUCCESS)
		result = add_cmd(parent, cmd, func);
	if (result != DOCA_SUCCESS)
		cmd_destroy(cmd);
	return result;
}

static doca_error_t check_handle(const struct doca_argp_cmd *found, const char *func)
{
	if (shim_argp.state == SHIM_ARGP_OFF)
		return shim_argp_check_open(func);
	if (!found) {
		shim_argp_log_misuse(func, "the command is NULL, destroyed or unknown");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *input_cmd)
{
	struct doca_argp_cmd *cmd = cmd_lookup(input_cmd);
	doca_error_t result = check_handle(cmd, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	return register_cmd(&shim_argp.program, cmd, __func__, DOCA_SUCCESS);
}

doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd, struct doca_argp_cmd *input_cmd)
{
	struct doca_argp_cmd *inner = cmd_lookup(input_cmd);
	doca_error_t result = check_handle(inner, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	return register_cmd(cmd, inner, __func__, shim_argp_cmd_check_parent(cmd, __func__));
}
