/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line:
 *
 *   [-s VALUE] [--long VALUE] [--long=VALUE] [-b] ... [command [its flags] [inner command ...]]
 *
 * A short name may have several letters, so short flags can't be joined and take no '='.
 */
#include <string.h>

#include "argp_priv.h"

struct cli {
	int next; /* index of the first word that is not parsed */
	int count;
	char **words;
};

/* The parameter of a word that looks like a flag, or NULL. *ret_attached is the text after
 * '=' in the word, NULL without '='. */
static struct doca_argp_param *find_flag_param(const char *word, const char **ret_attached)
{
	const char *equals;

	*ret_attached = NULL;
	if (word[0] != '-')
		return NULL;
	if (word[1] != '-')
		return shim_argp_find_short(shim_argp.selected_cmd, word + 1);
	equals = strchr(word, '=');
	if (!equals)
		return shim_argp_find_long(shim_argp.selected_cmd, word + 2, strlen(word + 2));
	*ret_attached = equals + 1;
	return shim_argp_find_long(shim_argp.selected_cmd, word + 2, (size_t)(equals - word - 2));
}

static bool is_number(const struct doca_argp_param *param, const char *word)
{
	double real;
	int number;

	return (param->type == DOCA_ARGP_TYPE_INT && shim_argp_text_to_int(word, &number)) ||
	       (param->type == DOCA_ARGP_TYPE_DOUBLE && shim_argp_text_to_double(word, &real));
}

/* The word after the flag, unless that word is a flag. A negative number is a
 * value, even if a flag has the name "-5". */
static const char *next_value(struct cli *cli, const struct doca_argp_param *param)
{
	const char *attached, *word;

	if (cli->next == cli->count)
		return NULL;
	word = cli->words[cli->next];
	if (find_flag_param(word, &attached) && !is_number(param, word))
		return NULL;
	cli->next++;
	return word;
}

static doca_error_t parse_boolean(struct doca_argp_param *param, const char *attached)
{
	const struct shim_argp_value value = { .boolean = true };

	if (attached) {
		shim_argp_report("%s takes no value; leave '=%s' out", shim_argp_flag_name(param), attached);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return shim_argp_handle_param(param, &value, SHIM_ARGP_FROM_CLI);
}

static doca_error_t refuse_number(const struct doca_argp_param *param, const char *text, const char *expected)
{
	shim_argp_report("%s: '%s' is not %s", shim_argp_flag_name(param), text, expected);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t parse_value(struct doca_argp_param *param, const char *text)
{
	struct shim_argp_value value = { 0 };

	if (!text) {
		shim_argp_report("%s needs a value", shim_argp_flag_name(param));
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (param->type == DOCA_ARGP_TYPE_INT && !shim_argp_text_to_int(text, &value.number))
		return refuse_number(param, text, "a decimal number that fits an int");
	if (param->type == DOCA_ARGP_TYPE_DOUBLE && !shim_argp_text_to_double(text, &value.real))
		return refuse_number(param, text, "a number");
	value.text = text;
	return shim_argp_handle_param(param, &value, SHIM_ARGP_FROM_CLI);
}

static doca_error_t parse_flag(struct cli *cli, const char *word)
{
	const char *attached;
	struct doca_argp_param *param = find_flag_param(word, &attached);

	if (!param) {
		shim_argp_report("unknown flag '%s'; --help lists the flags", word);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	if (param->given == SHIM_ARGP_FROM_CLI && !param->multiple) {
		shim_argp_report("%s is given twice; it can be given once", shim_argp_flag_name(param));
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (param->type == DOCA_ARGP_TYPE_BOOLEAN)
		return parse_boolean(param, attached);
	return parse_value(param, attached ? attached : next_value(cli, param));
}

static doca_error_t parse_command(const char *word)
{
	struct doca_argp_cmd *cmd = shim_argp_find_cmd(shim_argp.selected_cmd, word);

	if (cmd) {
		shim_argp.selected_cmd = cmd;
		return DOCA_SUCCESS;
	}
	if (!shim_argp.selected_cmd->commands) {
		shim_argp_report("'%s' is neither a flag nor the value of one", word);
		return DOCA_ERROR_INVALID_VALUE;
	}
	shim_argp_report("unknown command '%s'; --help lists the commands", word);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t shim_argp_cli_collect(int count, char **words)
{
	struct cli cli = { .count = count, .words = words };
	doca_error_t result = DOCA_SUCCESS;
	const char *word;

	while (result == DOCA_SUCCESS && cli.next < cli.count) {
		word = cli.words[cli.next++];
		result = word[0] == '-' ? parse_flag(&cli, word) : parse_command(word);
	}
	return result;
}
