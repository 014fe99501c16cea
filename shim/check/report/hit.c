/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts hits by rule and site, and reports the first of each. */
#include "hit.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hit_output.h"
#include "object_sites.h"
#include "shim/common/process/runtime.h"
#include "sim/check/hit.h"
#include "hit_counts.h"

#define MAX_SITES    1024
#define MESSAGE_SIZE 1024

struct site {
	enum sim_check_rule rule;
	const void *caller;
	uint64_t count;
	struct json_object *first_hit; /* NULL = it is not reported yet */
};

struct check_hit {
	enum sim_check_rule rule;
	struct json_object *json;
	struct site *site;
};

static struct {
	pthread_mutex_t lock; /* protects the sites */
	uint32_t num_sites;
	struct site sites[MAX_SITES];
} hits = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Returns the site if this is its first hit of the rule, else NULL. Beyond MAX_SITES there are no sites. */
static struct site *count_hit(enum sim_check_rule rule, const void *caller)
{
	struct site *first = NULL;
	uint32_t i = 0;

	pthread_mutex_lock(&hits.lock);
	while (i < hits.num_sites && !(hits.sites[i].rule == rule && hits.sites[i].caller == caller))
		i++;
	if (i < hits.num_sites) {
		hits.sites[i].count++;
	} else if (i < MAX_SITES) {
		first = &hits.sites[hits.num_sites++];
		*first = (struct site){ .rule = rule, .caller = caller, .count = 1 };
	}
	pthread_mutex_unlock(&hits.lock);
	return first;
}

static void add_string(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, json_object_new_string(text));
}

static struct json_object *describe_process(void)
{
	struct json_object *process = json_object_new_object();
	const struct sim_session *session = shim_session();

	json_object_object_add(process, "pid", json_object_new_int(getpid()));
	json_object_object_add(process, "tid", json_object_new_int(gettid()));
	add_string(process, "program", program_invocation_short_name);
	if (session)
		add_string(process, "side", sim_session_side(session));
	return process;
}

static struct check_hit *begin(enum sim_check_rule rule, const struct shim_call *call, const struct check_stack *stack,
			       const char *message)
{
	const struct sim_check_rule_entry *entry = &sim_check_rules[rule];
	struct check_hit *hit;
	struct site *site;

	if (!check_hit_count(rule, message, stack))
		return NULL;
	site = count_hit(rule, stack && stack->num_frames ? stack->frames[0] : NULL);
	hit = site ? malloc(sizeof(*hit)) : NULL;
	if (!hit)
		return NULL;
	*hit = (struct check_hit){ .rule = rule, .json = json_object_new_object(), .site = site };
	add_string(hit->json, "rule", entry->id);
	add_string(hit->json, "severity", sim_check_severity_name(entry->severity));
	add_string(hit->json, "message", message);
	add_string(hit->json, "remedy", entry->remedy);
	if (call)
		add_string(hit->json, "call", check_call_name(call));
	json_object_object_add(hit->json, "time_ns", json_object_new_uint64(shim_session() ? shim_now_ns() : 0));
	json_object_object_add(hit->json, "process", describe_process());
	json_object_object_add(hit->json, "stack", stack ? check_stack_to_json(stack) : json_object_new_array());
	json_object_object_add(hit->json, "parties", json_object_new_array());
	json_object_object_add(hit->json, "objects", json_object_new_array());
	json_object_object_add(hit->json, "count", json_object_new_int(1));
	return hit;
}

struct check_hit *check_hit_begin(enum sim_check_rule rule, const struct shim_call *call, const char *format, ...)
{
	char message[MESSAGE_SIZE];
	struct check_stack stack;
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	check_stack_take(call->caller, &stack);
	return begin(rule, call, &stack, message);
}

struct check_hit *check_hit_begin_at(enum sim_check_rule rule, const struct check_stack *stack, const char *format, ...)
{
	char message[MESSAGE_SIZE];
	struct check_stack here;
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (!stack)
		check_stack_take_unwatched(&here);
	return begin(rule, NULL, stack ? stack : &here, message);
}

void check_hit_add_party(struct check_hit *hit, pid_t tid, const struct check_stack *stack, const char *format, ...)
{
	struct json_object *party;
	char what[MESSAGE_SIZE];
	va_list args;

	if (!hit)
		return;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	party = json_object_new_object();
	add_string(party, "what", what);
	if (tid)
		json_object_object_add(party, "thread", json_object_new_int(tid));
	json_object_object_add(party, "stack", check_stack_to_json(stack));
	json_object_array_add(json_object_object_get(hit->json, "parties"), party);
}

void check_hit_add_object(struct check_hit *hit, const char *kind, const void *handle, const char *name)
{
	struct json_object *object;
	struct check_object_sites sites;
	char text[32];

	if (!hit)
		return;
	object = json_object_new_object();
	snprintf(text, sizeof(text), "0x%" PRIxPTR, (uintptr_t)handle);
	add_string(object, "kind", kind);
	add_string(object, "handle", text);
	if (name)
		add_string(object, "name", name);
	if (check_object_sites_find(handle, &sites) && sites.created.stack.num_frames > 0)
		json_object_object_add(object, "stack", check_stack_to_json(&sites.created.stack));
	json_object_array_add(json_object_object_get(hit->json, "objects"), object);
}

void check_hit_add_ctx(struct check_hit *hit, const struct doca_ctx *ctx)
{
	check_hit_add_object(hit, "context", ctx, ctx->ops->name);
}

void check_hit_end(struct check_hit *hit)
{
	if (!hit)
		return;
	check_stack_close_files();
	check_output_hit(hit->rule, json_object_get(hit->json));
	pthread_mutex_lock(&hits.lock);
	hit->site->first_hit = hit->json;
	pthread_mutex_unlock(&hits.lock);
	free(hit);
}

void check_hits_forked(void)
{
	pthread_mutex_init(&hits.lock, NULL);
	check_output_forked();
}

void check_hits_write_counts(void)
{
	pthread_mutex_lock(&hits.lock);
	for (uint32_t i = 0; i < hits.num_sites; i++) {
		const struct site *site = &hits.sites[i];

		if (site->count > 1)
			check_output_repeats(site->rule, site->first_hit, site->caller, site->count);
	}
	pthread_mutex_unlock(&hits.lock);
}
