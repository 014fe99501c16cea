/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/json.h - members of JSON objects, and printing them. */
#ifndef SIM_CLI_BASE_JSON_H
#define SIM_CLI_BASE_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

/* Add a member to @object. A @text that is NULL becomes null. */
void cli_json_add_text(json_object *object, const char *key, const char *text);
void cli_json_add_number(json_object *object, const char *key, uint64_t number);
void cli_json_add_bool(json_object *object, const char *key, bool value);

/* Print @json to standard output with json-c's @flags and release it. Returns 0, or -1 without memory, with a message. */
int cli_json_print(json_object *json, int flags);

#endif
