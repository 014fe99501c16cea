/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/fields.h - the members of a struct, described once for all the forms in which they are printed.
 *
 *   struct of a command + rows of fields --> members of a JSON object (json.h: cli_json_add_fields())
 *                                        --> cells of a table         (table.h: cli_table_add_cells())
 *                                        --> cells of a page's table  (report/html.h: cli_html_put_row())
 *
 * A field has a key in JSON, a heading in tables, or both. JSON has the fields in the order of the rows, a table has those of its
 * headings in their order. What a form shows in words, the command computes into its struct.
 */
#ifndef SIM_CLI_BASE_FIELDS_H
#define SIM_CLI_BASE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_field_kind {
	CLI_FIELD_NONE, /* the end of the rows */
	CLI_FIELD_TEXT, /* const char *; NULL is null in JSON */
	CLI_FIELD_CHARS,
	CLI_FIELD_BOOL,
	CLI_FIELD_U16,
	CLI_FIELD_U32,
	CLI_FIELD_U64,
	CLI_FIELD_I32,
	CLI_FIELD_I64,
};

#define CLI_FIELD_SIZE 64 /* of a number as text */

struct cli_field {
	const char *key, *heading; /* NULL = not in that form; '>' before a heading aligns its column to the right */
	enum cli_field_kind kind;
	size_t offset;
	void (*show)(uint64_t number, char text[CLI_FIELD_SIZE]); /* of a number in tables; NULL = its digits */
};

#define CLI_FIELD_KIND(type, member) \
	_Generic(((type *)0)->member, const char *: CLI_FIELD_TEXT, char *: CLI_FIELD_CHARS,   \
		 bool: CLI_FIELD_BOOL, uint16_t: CLI_FIELD_U16, uint32_t: CLI_FIELD_U32,       \
		 uint64_t: CLI_FIELD_U64, int32_t: CLI_FIELD_I32, int64_t: CLI_FIELD_I64)

/* A row: a member of a struct. CLI_SHOWN(): tables show the number in another way. */
#define CLI_FIELD(type, member, key, heading)                                                \
	{                                                                                    \
		(key), (heading), CLI_FIELD_KIND(type, member), offsetof(type, member), NULL \
	}
#define CLI_SHOWN(type, member, key, heading, show)                                            \
	{                                                                                      \
		(key), (heading), CLI_FIELD_KIND(type, member), offsetof(type, member), (show) \
	}

/* The text of a field in a table: "-" if it is empty; in @buffer, or the member itself. */
const char *cli_field_text(const struct cli_field *field, const void *object, char buffer[CLI_FIELD_SIZE]);

/* The number of a field that is one. */
uint64_t cli_field_number(const struct cli_field *field, const void *object);

/* The field with that heading, or NULL. */
const struct cli_field *cli_field_of_heading(const struct cli_field *fields, const char *heading);

#endif
