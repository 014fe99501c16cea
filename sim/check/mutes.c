/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the mute of a hit, and mutes without use. */
#include "mutes.h"

#include <fnmatch.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

void sim_check_mutes_free(struct sim_check_mutes *mutes)
{
	if (!mutes)
		return;
	pcie_yaml_unload(&mutes->doc);
	free(mutes);
}

static bool matches(const char *glob, const char *text)
{
	return text && fnmatch(glob, text, 0) == 0;
}

/* The glob matches the path, or what follows one of its slashes. */
static bool matches_path(const char *glob, const char *path)
{
	while (path && !matches(glob, path)) {
		path = strchr(path, '/');
		path = path ? path + 1 : NULL;
	}
	return path != NULL;
}

static const char *text(struct json_object *object, const char *key)
{
	return json_object_get_string(json_object_object_get(object, key));
}

static bool matches_frame(const struct sim_check_mute *mute, struct json_object *frame)
{
	if (mute->function && !matches(mute->function, text(frame, "function")))
		return false;
	if (mute->file && !matches_path(mute->file, text(frame, "file")))
		return false;
	return mute->source_line == 0 ||
	       mute->source_line == json_object_get_int(json_object_object_get(frame, "line"));
}

static bool matches_stack(const struct sim_check_mute *mute, struct json_object *stack)
{
	for (size_t i = 0; stack && i < json_object_array_length(stack); i++)
		if (matches_frame(mute, json_object_array_get_idx(stack, i)))
			return true;
	return !mute->function && !mute->file;
}

static bool matches_object(const struct sim_check_mute *mute, struct json_object *objects)
{
	for (size_t i = 0; mute->object && objects && i < json_object_array_length(objects); i++)
		if (matches(mute->object, text(json_object_array_get_idx(objects, i), "name")))
			return true;
	return !mute->object;
}

const struct sim_check_mute *sim_check_mutes_find(const struct sim_check_mutes *mutes,
						  const struct sim_check_rule_entry *rule, struct json_object *hit)
{
	for (size_t i = 0; mutes && i < mutes->count; i++) {
		const struct sim_check_mute *mute = &mutes->list[i];

		if (!mute->is_expired && (!mute->rule || mute->rule == rule) &&
		    matches_stack(mute, json_object_object_get(hit, "stack")) &&
		    matches_object(mute, json_object_object_get(hit, "objects")))
			return mute;
	}
	return NULL;
}

void sim_check_hit_mute(struct json_object *hit, const char *reason, int line)
{
	struct json_object *muted = json_object_new_object();

	json_object_object_add(muted, "reason", json_object_new_string(reason));
	if (line > 0)
		json_object_object_add(muted, "line", json_object_new_int(line));
	json_object_object_add(hit, "muted", muted);
}

static bool is_used(const struct sim_check_mute *mute, struct json_object *hits)
{
	for (size_t i = 0; i < json_object_array_length(hits); i++) {
		struct json_object *muted = json_object_object_get(json_object_array_get_idx(hits, i), "muted");

		if (muted && json_object_get_int(json_object_object_get(muted, "line")) == mute->line)
			return true;
	}
	return false;
}

void sim_check_mutes_print_useless(const struct sim_check_mutes *mutes, struct json_object *hits, FILE *out)
{
	for (size_t i = 0; mutes && i < mutes->count; i++) {
		const struct sim_check_mute *mute = &mutes->list[i];
		const char *rule = mute->rule ? mute->rule->id : "*";

		if (mute->is_expired)
			fprintf(out,
				"bfsim check: %s:%d: the mute of %s expired on %s: mend the program, or give a later day (%s)\n",
				mutes->path, mute->line, rule, mute->expires, mute->reason);
		else if (!is_used(mute, hits))
			fprintf(out,
				"bfsim check: %s:%d: the mute of %s muted nothing: take it out if no other run needs it (%s)\n",
				mutes->path, mute->line, rule, mute->reason);
	}
}
