/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/json.h - reading, adding and printing members of JSON objects. */
#ifndef SIM_CLI_BASE_JSON_H
#define SIM_CLI_BASE_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "fields.h"

/* Members of an untrusted object. A member that is missing or has another type is NULL, "" or 0. @object may be NULL
 * or any value. */
json_object *cli_json_member(json_object *object, const char *key);
const char *cli_json_text(json_object *object, const char *key);
uint64_t cli_json_number(json_object *object, const char *key);
json_object *cli_json_list(json_object *object, const char *key); /* an array, or NULL */

/* Add a member to @object. A @text that is NULL becomes null. */
void cli_json_add_text(json_object *object, const char *key, const char *text);
void cli_json_add_number(json_object *object, const char *key, uint64_t number);
void cli_json_add_bool(json_object *object, const char *key, bool value);

/* Add the fields with a key of @object (fields.h). */
void cli_json_add_fields(json_object *to, const struct cli_field *fields, const void *object);

/* An object with them, and a list of the objects of an array. */
json_object *cli_json_of_fields(const struct cli_field *fields, const void *object);
json_object *cli_json_list_of_fields(const struct cli_field *fields, const void *objects, size_t count, size_t size);

/* Print @json to standard output with json-c's @flags and release it. Strings have escapes for what is not printable. Returns 0, or -1 without memory, with a message. */
int cli_json_print(json_object *json, int flags);

#endif
