/* SPDX-License-Identifier: BSD-3-Clause */
/* The checker's report as SARIF 2.1.0. */
#include <json-c/json.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

#define SCHEMA   "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#define ROOT_ID  "SRCROOT"
#define URI_SIZE (3 * PATH_MAX)

static const char *const levels[SIM_CHECK_NUM_SEVERITIES] = {
	[SIM_CHECK_ERROR] = "error",      [SIM_CHECK_WARNING] = "warning", [SIM_CHECK_PORTABILITY] = "warning",
	[SIM_CHECK_PERFORMANCE] = "note", [SIM_CHECK_HINT] = "note",
};

static struct json_object *get(struct json_object *object, const char *key)
{
	return json_object_object_get(object, key);
}

static const char *text(struct json_object *object, const char *key)
{
	const char *value = json_object_get_string(get(object, key));

	return value ? value : "";
}

static void add_string(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, json_object_new_string(value));
}

/* A message object: { text } */
static void __attribute__((format(printf, 3, 4)))
add_message(struct json_object *object, const char *key, const char *format, ...)
{
	struct json_object *message = json_object_new_object();
	char *value = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&value, format, args) < 0)
		value = NULL;
	va_end(args);
	add_string(message, "text", value ? value : "");
	free(value);
	json_object_object_add(object, key, message);
}

/* ---- the source tree ---- */

static bool has_repository(const char *dir)
{
	char *path = NULL;
	bool found = asprintf(&path, "%s/.git", dir) >= 0 && access(path, F_OK) == 0;

	free(path);
	return found;
}

/* The repository that the working directory is in, or else the working directory; ends with a slash. */
static void find_source_root(char root[PATH_MAX])
{
	char dir[PATH_MAX];

	if (!getcwd(dir, sizeof(dir) - 1))
		dir[0] = '\0';
	strcpy(root, dir);
	for (char *slash; !has_repository(dir) && (slash = strrchr(dir, '/')) != NULL;)
		*slash = '\0';
	if (has_repository(dir))
		strcpy(root, dir);
	strcat(root, root[0] && root[strlen(root) - 1] == '/' ? "" : "/");
}

/* Take "x/../" and "./" out of an absolute path. The compiler writes them; links do not matter to source lines. */
static void normalize(const char *path, char out[PATH_MAX])
{
	size_t len = 0;

	while (*path) {
		size_t part = strcspn(path, "/");

		if (part == 2 && strncmp(path, "..", 2) == 0) {
			while (len > 0 && out[--len] != '/')
				;
		} else if (part > 0 && !(part == 1 && *path == '.') && len + part + 2 < PATH_MAX) {
			out[len++] = '/';
			memcpy(out + len, path, part);
			len += part;
		}
		path += part + (path[part] == '/');
	}
	out[len] = '\0';
}

static void encode_uri(const char *path, char out[URI_SIZE])
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/+,@";

	for (size_t i = 0; *path && i + 4 < URI_SIZE; path++)
		if (strchr(plain, *path))
			out[i++] = *path, out[i] = '\0';
		else
			i += (size_t)snprintf(out + i, 4, "%%%02X", (unsigned char)*path);
}

static struct json_object *make_artifact(struct json_object *frame, const char *root)
{
	struct json_object *artifact = json_object_new_object();
	char path[PATH_MAX], uri[URI_SIZE] = "", full[URI_SIZE + 8];
	bool is_relative = text(frame, "file")[0] != '/';
	size_t len = strlen(root);
	char *joined = NULL;

	if (asprintf(&joined, "%s/%s", is_relative ? text(frame, "dir") : "", text(frame, "file")) < 0)
		joined = NULL;
	normalize(joined ? joined : "", path);
	free(joined);
	if (strncmp(path, root, len) == 0) {
		encode_uri(path + len, uri);
		add_string(artifact, "uri", uri);
		add_string(artifact, "uriBaseId", ROOT_ID);
		return artifact;
	}
	encode_uri(path, uri);
	snprintf(full, sizeof(full), "file://%s", uri);
	add_string(artifact, "uri", full);
	return artifact;
}

/* ---- locations ---- */

static void add_function(struct json_object *location, struct json_object *frame)
{
	struct json_object *list = json_object_new_array(), *function = json_object_new_object();
	char where[512];

	if (get(frame, "function"))
		snprintf(where, sizeof(where), "%s", text(frame, "function"));
	else
		snprintf(where, sizeof(where), "%s+%s", text(frame, "module"), text(frame, "offset"));
	add_string(function, "fullyQualifiedName", where);
	add_string(function, "kind", "function");
	json_object_array_add(list, function);
	json_object_object_add(location, "logicalLocations", list);
}

static struct json_object *make_location(struct json_object *frame, const char *root)
{
	struct json_object *location = json_object_new_object(), *physical, *region;
	int line = json_object_get_int(get(frame, "line"));

	add_function(location, frame);
	if (!get(frame, "file"))
		return location;
	physical = json_object_new_object();
	json_object_object_add(physical, "artifactLocation", make_artifact(frame, root));
	if (line > 0) {
		region = json_object_new_object();
		json_object_object_add(region, "startLine", json_object_new_int(line));
		json_object_object_add(physical, "region", region);
	}
	json_object_object_add(location, "physicalLocation", physical);
	return location;
}

/* The innermost frame with a source line, or else the innermost; NULL = no frame. */
static struct json_object *best_frame(struct json_object *stack)
{
	for (size_t i = 0; stack && i < json_object_array_length(stack); i++)
		if (get(json_object_array_get_idx(stack, i), "file"))
			return json_object_array_get_idx(stack, i);
	return stack ? json_object_array_get_idx(stack, 0) : NULL;
}

static void add_stack(struct json_object *list, const char *what, struct json_object *stack, const char *root)
{
	struct json_object *result = json_object_new_object(), *frames = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(stack); i++) {
		struct json_object *from = json_object_array_get_idx(stack, i), *frame = json_object_new_object();

		json_object_object_add(frame, "location", make_location(from, root));
		if (get(from, "module"))
			add_string(frame, "module", text(from, "module"));
		json_object_array_add(frames, frame);
	}
	add_message(result, "message", "%s", what);
	json_object_object_add(result, "frames", frames);
	json_object_array_add(list, result);
}

static void add_related(struct json_object *list, const char *what, struct json_object *stack, const char *root)
{
	struct json_object *frame = best_frame(stack), *location;

	if (!frame)
		return;
	location = make_location(frame, root);
	json_object_object_add(location, "id", json_object_new_int((int)json_object_array_length(list) + 1));
	add_message(location, "message", "%s", what);
	json_object_array_add(list, location);
}

/* The other calls, and where objects were created. */
static void add_others(struct json_object *hit, struct json_object *stacks, struct json_object *related,
		       const char *root)
{
	struct json_object *parties = get(hit, "parties"), *objects = get(hit, "objects");
	char what[256];

	for (size_t i = 0; parties && i < json_object_array_length(parties); i++) {
		struct json_object *party = json_object_array_get_idx(parties, i);

		add_stack(stacks, text(party, "what"), get(party, "stack"), root);
		add_related(related, text(party, "what"), get(party, "stack"), root);
	}
	for (size_t i = 0; objects && i < json_object_array_length(objects); i++) {
		struct json_object *object = json_object_array_get_idx(objects, i);

		snprintf(what, sizeof(what), "%s %s%s%s was created here", text(object, "kind"), text(object, "handle"),
			 get(object, "name") ? " " : "", text(object, "name"));
		if (!get(object, "stack"))
			continue;
		add_stack(stacks, what, get(object, "stack"), root);
		add_related(related, what, get(object, "stack"), root);
	}
}

/* ---- results and rules ---- */

static void add_suppression(struct json_object *result, struct json_object *muted)
{
	struct json_object *list = json_object_new_array(), *suppression;

	if (muted) {
		suppression = json_object_new_object();
		add_string(suppression, "kind", "external");
		add_string(suppression, "justification", text(muted, "reason"));
		json_object_array_add(list, suppression);
	}
	json_object_object_add(result, "suppressions", list); /* empty: not suppressed */
}

/* The same hit in the next run, also if lines have moved: rule, function and call. */
static void add_fingerprint(struct json_object *result, struct json_object *hit)
{
	struct json_object *prints = json_object_new_object();
	char print[512];

	snprintf(print, sizeof(print), "%s:%s:%s", text(hit, "rule"), text(best_frame(get(hit, "stack")), "function"),
		 text(hit, "call"));
	add_string(prints, "ruleFunctionCall/v1", print);
	json_object_object_add(result, "partialFingerprints", prints);
}

static struct json_object *make_result(struct json_object *hit, const char *root)
{
	struct json_object *result = json_object_new_object(), *locations = json_object_new_array();
	struct json_object *stacks = json_object_new_array(), *related = json_object_new_array();
	const struct sim_check_rule_entry *rule = sim_check_rule_find(text(hit, "rule"));
	struct json_object *frame = best_frame(get(hit, "stack"));

	add_string(result, "ruleId", text(hit, "rule"));
	if (rule) {
		json_object_object_add(result, "ruleIndex", json_object_new_int((int)(rule - sim_check_rules)));
		add_string(result, "level", levels[rule->severity]);
	}
	add_message(result, "message", "%s. Remedy: %s", text(hit, "message"), text(hit, "remedy"));
	if (frame)
		json_object_array_add(locations, make_location(frame, root));
	json_object_object_add(result, "locations", locations);
	add_stack(stacks, text(hit, "message"), get(hit, "stack"), root);
	add_others(hit, stacks, related, root);
	json_object_object_add(result, "stacks", stacks);
	json_object_object_add(result, "relatedLocations", related);
	json_object_object_add(result, "occurrenceCount", json_object_get(get(hit, "count")));
	add_suppression(result, get(hit, "muted"));
	add_fingerprint(result, hit);
	return result;
}

static struct json_object *make_rule(const struct sim_check_rule_entry *rule)
{
	struct json_object *object = json_object_new_object(), *configuration = json_object_new_object();
	struct json_object *properties = json_object_new_object(), *tags = json_object_new_array();

	add_string(object, "id", rule->id);
	add_string(object, "name", rule->name);
	add_message(object, "shortDescription", "%s", rule->rule);
	add_message(object, "fullDescription", "%s On a card: %s", rule->rule, rule->card);
	add_message(object, "help", "On a card: %s\nUsual cause: %s\nRemedy: %s\nReleases: %s\nSource: %s", rule->card,
		    rule->cause, rule->remedy, rule->releases, rule->source);
	add_string(configuration, "level", levels[rule->severity]);
	json_object_object_add(object, "defaultConfiguration", configuration);
	json_object_array_add(tags, json_object_new_string(sim_check_severity_name(rule->severity)));
	json_object_object_add(properties, "tags", tags);
	json_object_object_add(object, "properties", properties);
	return object;
}

static void add_tool(struct json_object *run)
{
	struct json_object *tool = json_object_new_object(), *driver = json_object_new_object();
	struct json_object *rules = json_object_new_array();

	for (size_t i = 0; i < SIM_CHECK_NUM_RULES; i++)
		json_object_array_add(rules, make_rule(&sim_check_rules[i]));
	add_string(driver, "name", "bfsim");
	add_string(driver, "version", BFSIM_VERSION);
	json_object_object_add(driver, "rules", rules);
	json_object_object_add(tool, "driver", driver);
	json_object_object_add(run, "tool", tool);
}

static void add_source_root(struct json_object *run, const char *root)
{
	struct json_object *bases = json_object_new_object(), *base = json_object_new_object();
	char uri[URI_SIZE] = "", full[URI_SIZE + 8];

	encode_uri(root, uri);
	snprintf(full, sizeof(full), "file://%s", uri);
	add_string(base, "uri", full);
	json_object_object_add(bases, ROOT_ID, base);
	json_object_object_add(run, "originalUriBaseIds", bases);
}

static void add_invocation(struct json_object *run, const struct sim_check_report *report)
{
	struct json_object *list = json_object_new_array(), *invocation = json_object_new_object();

	json_object_object_add(invocation, "executionSuccessful", json_object_new_boolean(report->is_complete));
	json_object_array_add(list, invocation);
	json_object_object_add(run, "invocations", list);
}

void sim_check_report_print_sarif(const struct sim_check_report *report, FILE *out)
{
	struct json_object *log = json_object_new_object(), *runs = json_object_new_array();
	struct json_object *run = json_object_new_object(), *results = json_object_new_array();
	char root[PATH_MAX];

	find_source_root(root);
	for (size_t i = 0; i < json_object_array_length(report->hits); i++)
		json_object_array_add(results, make_result(json_object_array_get_idx(report->hits, i), root));
	add_tool(run);
	add_source_root(run, root);
	add_invocation(run, report);
	json_object_object_add(run, "results", results);
	json_object_array_add(runs, run);
	add_string(log, "$schema", SCHEMA);
	add_string(log, "version", "2.1.0");
	json_object_object_add(log, "runs", runs);
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(log, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(log);
}
