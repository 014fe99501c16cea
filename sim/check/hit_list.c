/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads files of hits, and counts hits. */
#include "hit_list.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hit.h"

static const char *text(struct json_object *object, const char *key)
{
	const char *value = json_object_get_string(json_object_object_get(object, key));

	return value ? value : "";
}

static struct json_object *first_frame(struct json_object *hit)
{
	return json_object_array_get_idx(json_object_object_get(hit, "stack"), 0);
}

static bool is_same_site(struct json_object *hit, struct json_object *repeated)
{
	struct json_object *frame = first_frame(hit), *other = first_frame(repeated);

	return strcmp(text(hit, "rule"), text(repeated, "repeated")) == 0 &&
	       json_object_get_int(json_object_object_get(json_object_object_get(hit, "process"), "pid")) ==
		       json_object_get_int(json_object_object_get(repeated, "pid")) &&
	       strcmp(text(frame, "module"), text(other, "module")) == 0 &&
	       strcmp(text(frame, "offset"), text(other, "offset")) == 0;
}

static void add_repeats(struct json_object *list, struct json_object *repeated)
{
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *hit = json_object_array_get_idx(list, i);

		if (is_same_site(hit, repeated))
			json_object_object_add(hit, "count",
					       json_object_get(json_object_object_get(repeated, "count")));
	}
}

static void add_line(struct json_object *json, void *list)
{
	if (json_object_object_get(json, "repeated"))
		add_repeats(list, json);
	else if (json_object_object_get(json, "rule"))
		json_object_array_add(list, json_object_get(json));
}

static void read_lines(int fd, void (*see)(struct json_object *json, void *arg), void *arg)
{
	int duplicate = dup(fd);
	FILE *file = duplicate < 0 ? NULL : fdopen(duplicate, "r");
	char *line = NULL;
	size_t size = 0;

	if (!file) {
		if (duplicate >= 0)
			close(duplicate);
		return;
	}
	rewind(file);
	while (getline(&line, &size, file) > 0) {
		struct json_object *json = json_tokener_parse(line);

		see(json, arg);
		json_object_put(json);
	}
	free(line);
	fclose(file);
}

struct json_object *sim_hit_list_read(int fd)
{
	struct json_object *list = json_object_new_array();

	read_lines(fd, add_line, list);
	return list;
}

/* Programs that are checked, in the order of their begins, of which those that ended are removed. */
struct program_reader {
	struct sim_hit_programs *programs;
	struct json_object *open;
};

static void remove_open(struct json_object *open, int pid)
{
	for (size_t i = 0; i < json_object_array_length(open); i++)
		if (json_object_get_int(json_object_object_get(json_object_array_get_idx(open, i), "pid")) == pid)
			json_object_array_del_idx(open, i--, 1);
}

static void add_program(struct json_object *json, void *arg)
{
	struct json_object *is_checked = json_object_object_get(json, "is_checked");
	struct json_object *ended = json_object_object_get(json, "ended");
	struct program_reader *reader = arg;
	struct sim_hit_programs *programs = reader->programs;

	if (ended)
		remove_open(reader->open, json_object_get_int(ended));
	if (!is_checked)
		return;
	if (json_object_get_boolean(is_checked)) {
		programs->num_checked++;
		json_object_array_add(reader->open, json_object_get(json));
	} else if (programs->num_unchecked++ == 0) {
		snprintf(programs->unchecked, sizeof(programs->unchecked), "%s", text(json, "program"));
	}
}

void sim_hit_list_read_programs(int fd, struct sim_hit_programs *ret_programs)
{
	struct program_reader reader = { .programs = ret_programs, .open = json_object_new_array() };
	struct json_object *cut;

	*ret_programs = (struct sim_hit_programs){ 0 };
	read_lines(fd, add_program, &reader);
	ret_programs->num_cut = json_object_array_length(reader.open);
	cut = ret_programs->num_cut ? json_object_array_get_idx(reader.open, 0) : NULL;
	if (cut) {
		snprintf(ret_programs->cut, sizeof(ret_programs->cut), "%s", text(cut, "program"));
		ret_programs->cut_pid = json_object_get_int(json_object_object_get(cut, "pid"));
	}
	json_object_put(reader.open);
}

struct sim_hit_count sim_hit_list_count(struct json_object *list, const char *rule_id)
{
	struct sim_hit_count count = { 0 };

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *hit = json_object_array_get_idx(list, i);

		if (strcmp(text(hit, "rule"), rule_id) != 0)
			continue;
		if (json_object_object_get(hit, "muted")) {
			count.num_muted += json_object_get_uint64(json_object_object_get(hit, "count"));
			continue;
		}
		count.num_sites++;
		count.num_hits += json_object_get_uint64(json_object_object_get(hit, "count"));
	}
	return count;
}

bool sim_hit_list_has(struct json_object *list, enum sim_check_severity severity)
{
	for (size_t i = 0; i < SIM_CHECK_NUM_RULES; i++)
		if (sim_check_rules[i].severity <= severity &&
		    sim_hit_list_count(list, sim_check_rules[i].id).num_sites)
			return true;
	return false;
}
