/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/reach/reach_list.h - what helpers on other machines answer to one word. A failure prints a message. */
#ifndef SIM_CLI_REACH_REACH_LIST_H
#define SIM_CLI_REACH_REACH_LIST_H

#include <json-c/json_object.h>
#include <stddef.h>

/* A list of objects, which the caller releases, or NULL. @what names them in messages. Their members are untrusted. */
json_object *cli_reach_list(const char *dir, const char *machine, const char *word, const char *what);

/* A text, which the caller frees, or NULL. The helper gets @len bytes of input. */
char *cli_reach_text(const char *dir, const char *machine, const char *word, const void *input, size_t len);

#endif
