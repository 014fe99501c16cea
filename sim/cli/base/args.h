/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/args.h - command lines: argp, with a look at the words before it.
 *
 * An unknown option is a usage error that names the closest one, and so is an option with a value that is given twice: the
 * first value would be lost. -h is --help and -v is --version.
 */
#ifndef SIM_CLI_BASE_ARGS_H
#define SIM_CLI_BASE_ARGS_H

#include <argp.h>
#include <stddef.h>

/* In the flags of a struct argp_option: the option may be given again. argp itself uses the bits below. */
#define CLI_OPTION_REPEATS 0x1000

/* The first argument of a command that is asked for its options: prints "--name\tdescription" for each, and exits. */
#define CLI_ARGS_LIST "--complete-options"

/* Parse the command line as argp_parse() does, with @flags of it. Exits when that fails. */
void cli_args_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

/* The one of @count names that @text may be a mistyped form of; NULL = none. */
const char *cli_closest_name(const char *text, const char *const *names, size_t count);

/* Print that @command has no action @action, and which ones it has. Returns CLI_USAGE. */
int cli_args_fail_action(const char *command, const char *action, const char *const *actions, size_t count);

#endif
