/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/env_check.h - environment variables that look like ours and are not, and values that ours do not have.
 *
 * bfsim(1) lists the variables. One whose name begins with BFSIM_ and resembles a known one is mistyped; others belong to the
 * user. The command says so and notes the names in BFSIM_NAMED, so that the programs that it starts do not repeat it.
 */
#ifndef SIM_ENV_CHECK_H
#define SIM_ENV_CHECK_H

#include <stdbool.h>

#define SIM_ENV_NAMED "BFSIM_NAMED" /* names with blanks between them */

/* Whether the command that started this process has named @variable already. */
bool sim_env_was_named(const char *variable);

/* Call @say with a line for each such variable. With @ret_names, which has @size bytes, write their names there. */
void sim_env_check(void (*say)(const char *line), char *ret_names, unsigned int size);

#endif
