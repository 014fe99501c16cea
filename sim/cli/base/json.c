/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading, adding and printing members of JSON objects. */
#include "json.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli.h"
#include "sim/base/printable.h"

json_object *cli_json_member(json_object *object, const char *key)
{
	json_object *value = NULL;

	if (object && json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &value);
	return value;
}

const char *cli_json_text(json_object *object, const char *key)
{
	json_object *value = cli_json_member(object, key);

	return value && json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

uint64_t cli_json_number(json_object *object, const char *key)
{
	json_object *value = cli_json_member(object, key);

	return value && json_object_is_type(value, json_type_int) ? json_object_get_uint64(value) : 0;
}

json_object *cli_json_list(json_object *object, const char *key)
{
	json_object *value = cli_json_member(object, key);

	return value && json_object_is_type(value, json_type_array) ? value : NULL;
}

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

/* json-c escapes the control characters below the space alone. Newlines of the text are not part of strings. */
static void put_printable(const char *text)
{
	while (*text) {
		uint32_t code = 0xfffd; /* for what is not UTF-8 */
		size_t len = sim_utf8_read(text, &code);

		if (len > 0 && (sim_is_printable_code(code) || code == '\n'))
			fwrite(text, 1, len, stdout);
		else
			printf("\\u%04" PRIx32, code);
		text += len ? len : 1;
	}
	putchar('\n');
}

int cli_json_print(json_object *json, int flags)
{
	const char *text = json_object_to_json_string_ext(json, flags);

	if (text)
		put_printable(text);
	else
		cli_fail("out of memory");
	json_object_put(json);
	return text ? 0 : -1;
}
