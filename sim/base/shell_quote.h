/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/shell_quote.h - text as one word of a POSIX shell's command line: for what users are told to type. */
#ifndef SIM_SHELL_QUOTE_H
#define SIM_SHELL_QUOTE_H

/* @text, with quotes if a shell would not read it as one word, as it is. The
 * result is the caller's (free()), or NULL when memory is short. */
char *sim_shell_quote(const char *text);

#endif
