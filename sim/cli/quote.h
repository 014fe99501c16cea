/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/quote.h - text as one word of a POSIX shell's command line. */
#ifndef SIM_CLI_QUOTE_H
#define SIM_CLI_QUOTE_H

/* @text, quoted so that a shell reads it as one word and expands nothing. The
 * result is the caller's (free()), or NULL when memory is short. */
char *cli_quote(const char *text);

#endif
