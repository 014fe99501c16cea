/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of JSON objects, and printing them. */
#include "json.h"

#include <stdio.h>

#include "cli.h"

void cli_json_add_text(json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, text ? json_object_new_string(text) : NULL);
}

void cli_json_add_number(json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

void cli_json_add_bool(json_object *object, const char *key, bool value)
{
	json_object_object_add(object, key, json_object_new_boolean(value));
}

int cli_json_print(json_object *json, int flags)
{
	const char *text = json_object_to_json_string_ext(json, flags);

	if (text)
		puts(text);
	else
		cli_fail("out of memory");
	json_object_put(json);
	return text ? 0 : -1;
}
