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

void cli_json_add_fields(json_object *to, const struct cli_field *field, const void *object)
{
	for (; field->kind != CLI_FIELD_NONE; field++) {
		const void *member = (const char *)object + field->offset;

		if (!field->key)
			continue;
		if (field->kind == CLI_FIELD_TEXT)
			cli_json_add_text(to, field->key, *(const char *const *)member);
		else if (field->kind == CLI_FIELD_CHARS)
			cli_json_add_text(to, field->key, member);
		else if (field->kind == CLI_FIELD_BOOL)
			cli_json_add_bool(to, field->key, cli_field_number(field, object));
		else if (field->kind == CLI_FIELD_I32 || field->kind == CLI_FIELD_I64)
			json_object_object_add(to, field->key,
					       json_object_new_int64((int64_t)cli_field_number(field, object)));
		else
			cli_json_add_number(to, field->key, cli_field_number(field, object));
	}
}

json_object *cli_json_of_fields(const struct cli_field *fields, const void *object)
{
	json_object *json = json_object_new_object();

	cli_json_add_fields(json, fields, object);
	return json;
}

json_object *cli_json_list_of_fields(const struct cli_field *fields, const void *objects, size_t count, size_t size)
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < count; i++)
		json_object_array_add(list, cli_json_of_fields(fields, (const char *)objects + i * size));
	return list;
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
