/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a struct, as text. */
#include "fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t cli_field_number(const struct cli_field *field, const void *object)
{
	const void *member = (const char *)object + field->offset;

	switch (field->kind) {
	case CLI_FIELD_BOOL:
		return *(const bool *)member;
	case CLI_FIELD_U16:
		return *(const uint16_t *)member;
	case CLI_FIELD_U32:
		return *(const uint32_t *)member;
	case CLI_FIELD_I32:
		return (uint64_t) * (const int32_t *)member;
	default:
		return *(const uint64_t *)member;
	}
}

/* "", or NULL: there is none. */
static const char *member_text(const struct cli_field *field, const void *object, char buffer[CLI_FIELD_SIZE])
{
	const void *member = (const char *)object + field->offset;
	uint64_t number;

	if (field->kind == CLI_FIELD_TEXT)
		return *(const char *const *)member;
	if (field->kind == CLI_FIELD_CHARS)
		return member;
	number = cli_field_number(field, object);
	if (field->kind == CLI_FIELD_BOOL)
		return number ? "yes" : "no";
	if (field->show)
		field->show(number, buffer);
	else
		snprintf(buffer, CLI_FIELD_SIZE, "%" PRIu64, number);
	return buffer;
}

const char *cli_field_text(const struct cli_field *field, const void *object, char buffer[CLI_FIELD_SIZE])
{
	const char *text = member_text(field, object, buffer);

	return text && text[0] ? text : "-";
}

const struct cli_field *cli_field_of_heading(const struct cli_field *fields, const char *heading)
{
	while (fields->kind != CLI_FIELD_NONE && (!fields->heading || strcmp(fields->heading, heading) != 0))
		fields++;
	return fields->kind != CLI_FIELD_NONE ? fields : NULL;
}
