/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a hit as text. */
#include "hit.h"

#include <json-c/json.h>
#include <string.h>

static const char *text(struct json_object *object, const char *key)
{
	return json_object_get_string(json_object_object_get(object, key));
}

static void print_frame(struct json_object *frame, FILE *out)
{
	const char *function = text(frame, "function"), *file = text(frame, "file"), *module = text(frame, "module");

	fprintf(out, "      at %s", function ? function : "?");
	if (file)
		fprintf(out, " (%s:%d)", file, json_object_get_int(json_object_object_get(frame, "line")));
	else
		fprintf(out, " (%s+%s)", module ? module : "?", text(frame, "offset"));
	fputc('\n', out);
}

static void print_stack(struct json_object *stack, FILE *out)
{
	for (size_t i = 0; stack && i < json_object_array_length(stack); i++)
		print_frame(json_object_array_get_idx(stack, i), out);
}

static void print_party(struct json_object *party, FILE *out)
{
	fprintf(out, "    %s", text(party, "what"));
	if (json_object_object_get(party, "thread"))
		fprintf(out, " (thread %s)", text(party, "thread"));
	fputs(":\n", out);
	print_stack(json_object_object_get(party, "stack"), out);
}

static void print_object(struct json_object *object, FILE *out)
{
	const char *name = text(object, "name");
	struct json_object *stack = json_object_object_get(object, "stack");

	fprintf(out, "    %s %s%s%s%s%s\n", text(object, "kind"), text(object, "handle"), name ? " (" : "",
		name ? name : "", name ? ")" : "", stack ? ", created:" : "");
	print_stack(stack, out);
}

void sim_hit_print(struct json_object *hit, FILE *out)
{
	struct json_object *process = json_object_object_get(hit, "process");
	struct json_object *parties = json_object_object_get(hit, "parties");
	struct json_object *objects = json_object_object_get(hit, "objects");
	const char *side = text(process, "side");

	fprintf(out, "bfsim check: %s %s: %s\n", text(hit, "severity"), text(hit, "rule"), text(hit, "message"));
	fprintf(out, "    in %s%s%s, process %s, thread %s:\n", text(process, "program"), side ? " on " : "",
		side ? side : "", text(process, "pid"), text(process, "tid"));
	print_stack(json_object_object_get(hit, "stack"), out);
	for (size_t i = 0; parties && i < json_object_array_length(parties); i++)
		print_party(json_object_array_get_idx(parties, i), out);
	for (size_t i = 0; objects && i < json_object_array_length(objects); i++)
		print_object(json_object_array_get_idx(objects, i), out);
	fprintf(out, "    remedy: %s\n", text(hit, "remedy"));
}
