/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists that helpers on other machines answer with. */
#include <json-c/json.h>
#include <stdlib.h>

#include "reach_list.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/reach/reach.h"

static bool are_objects(json_object *list)
{
	bool are_objects = json_object_is_type(list, json_type_array);

	for (size_t i = 0; are_objects && i < json_object_array_length(list); i++)
		are_objects = json_object_is_type(json_object_array_get_idx(list, i), json_type_object);
	return are_objects;
}

json_object *cli_reach_list(const char *dir, const char *machine, const char *word, const char *what)
{
	json_object *list = NULL;
	char *text = cli_reach_text(dir, machine, word, NULL, 0);

	if (!text)
		return NULL;
	list = json_tokener_parse(text);
	free(text);
	if (are_objects(list))
		return list;
	json_object_put(list);
	cli_fail("%s has answered what is no list of %s", machine, what);
	return NULL;
}

char *cli_reach_text(const char *dir, const char *machine, const char *word, const void *input, size_t len)
{
	const char *const words[] = { word, NULL };
	size_t text_len;
	char *text = NULL;
	FILE *out = open_memstream(&text, &text_len);
	int status;

	if (!out) {
		cli_fail("out of memory");
		return NULL;
	}
	status = cli_reach_call(dir, machine, words, input, len, out);
	fclose(out);
	if (status == CLI_OK && text)
		return text;
	free(text);
	return NULL;
}
