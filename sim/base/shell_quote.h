/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/shell_quote.h - quote text for a POSIX shell, in commands that messages suggest. */
#ifndef SIM_SHELL_QUOTE_H
#define SIM_SHELL_QUOTE_H

/* @text as one word of a command line, in quotes where the shell needs them. The caller
 * frees the result with free(); NULL = no memory. */
char *sim_shell_quote(const char *text);

#endif
