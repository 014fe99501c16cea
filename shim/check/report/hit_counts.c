/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts hits, and serves bfsim.h. */
#include "hit_counts.h"

#include <errno.h>
#include <json-c/json.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "shim/check/base/check.h"
#include "sim/api/check_api.h"

struct count {
	uint64_t num_hits; /* neither expected nor muted */
	uint64_t num_expected;
	bool is_expected;
	uint32_t num_mutes; /* begins minus ends */
};

static struct {
	pthread_mutex_t lock;
	struct count rules[SIM_CHECK_NUM_RULES], all; /* all: of the rule NULL */
	struct {
		bool is_set;
		char message[sizeof(((struct bfsim_check_hit *)0)->message)];
		struct check_stack stack;
	} last[SIM_CHECK_NUM_RULES];
	enum sim_check_rule last_rule;
	bool has_last;
} counts = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void keep_last(enum sim_check_rule rule, const char *message, const struct check_stack *stack)
{
	counts.last[rule].is_set = counts.has_last = true;
	counts.last_rule = rule;
	snprintf(counts.last[rule].message, sizeof(counts.last[rule].message), "%s", message);
	counts.last[rule].stack = stack ? *stack : (struct check_stack){ .num_frames = 0 };
}

bool check_hit_count(enum sim_check_rule rule, const char *message, const struct check_stack *stack)
{
	struct count *count = &counts.rules[rule];
	bool is_reported = false;

	pthread_mutex_lock(&counts.lock);
	if (count->num_mutes == 0 && counts.all.num_mutes == 0) {
		is_reported = !count->is_expected && !counts.all.is_expected;
		count->num_hits += is_reported;
		counts.all.num_hits += is_reported;
		count->num_expected += count->is_expected;
		counts.all.num_expected += !count->is_expected && counts.all.is_expected;
		keep_last(rule, message, stack);
	}
	pthread_mutex_unlock(&counts.lock);
	return is_reported;
}

/* ---- bfsim.h ---- */

/* NULL: no such rule. */
static struct count *find(const char *rule)
{
	const struct sim_check_rule_entry *entry = rule ? sim_check_rule_find(rule) : NULL;

	if (!rule)
		return &counts.all;
	return entry ? &counts.rules[entry - sim_check_rules] : NULL;
}

static int count(const char *rule, uint64_t *ret_hits)
{
	const struct count *count = find(rule);

	if (!count)
		return -EINVAL;
	pthread_mutex_lock(&counts.lock);
	*ret_hits = count->num_hits;
	pthread_mutex_unlock(&counts.lock);
	return 0;
}

static void copy(char *to, size_t size, struct json_object *frame, const char *key)
{
	const char *text = json_object_get_string(json_object_object_get(frame, key));

	snprintf(to, size, "%s", text ? text : "");
}

static void locate(const struct check_stack *stack, struct bfsim_check_hit *hit)
{
	struct json_object *frames = check_stack_to_json(stack), *frame = json_object_array_get_idx(frames, 0);

	copy(hit->function, sizeof(hit->function), frame, "function");
	copy(hit->file, sizeof(hit->file), frame, "file");
	hit->line = (uint32_t)json_object_get_int(json_object_object_get(frame, "line"));
	json_object_put(frames);
	check_stack_close_files();
}

static int last(const char *rule, struct bfsim_check_hit *ret_hit)
{
	const struct count *count = find(rule);
	const struct sim_check_rule_entry *entry;
	struct bfsim_check_hit hit = { .line = 0 };
	struct check_stack stack;
	ptrdiff_t i;

	if (!count)
		return -EINVAL;
	pthread_mutex_lock(&counts.lock);
	i = rule ? count - counts.rules : (ptrdiff_t)counts.last_rule;
	if (rule ? !counts.last[i].is_set : !counts.has_last) {
		pthread_mutex_unlock(&counts.lock);
		return -ENOENT;
	}
	memcpy(hit.message, counts.last[i].message, sizeof(hit.message));
	stack = counts.last[i].stack;
	pthread_mutex_unlock(&counts.lock);
	entry = &sim_check_rules[i];
	snprintf(hit.rule, sizeof(hit.rule), "%s", entry->id);
	snprintf(hit.severity, sizeof(hit.severity), "%s", sim_check_severity_name(entry->severity));
	locate(&stack, &hit);
	*ret_hit = hit;
	return 0;
}

static int expect_begin(const char *rule)
{
	struct count *count = find(rule);
	int rc = 0;

	if (!count)
		return -EINVAL;
	pthread_mutex_lock(&counts.lock);
	if (count->is_expected)
		rc = -EALREADY;
	else
		count->num_expected = 0;
	count->is_expected = true;
	pthread_mutex_unlock(&counts.lock);
	return rc;
}

static int expect_end(const char *rule, uint64_t *ret_hits)
{
	struct count *count = find(rule);
	int rc = -EPERM;

	if (!count)
		return -EINVAL;
	pthread_mutex_lock(&counts.lock);
	if (count->is_expected) {
		*ret_hits = count->num_expected;
		count->is_expected = false;
		rc = 0;
	}
	pthread_mutex_unlock(&counts.lock);
	return rc;
}

static int mute_begin(const char *rule)
{
	struct count *count = find(rule);

	if (!count)
		return -EINVAL;
	pthread_mutex_lock(&counts.lock);
	count->num_mutes++;
	pthread_mutex_unlock(&counts.lock);
	return 0;
}

static int mute_end(const char *rule)
{
	struct count *count = find(rule);
	int rc = -EPERM;

	if (!count)
		return -EINVAL;
	pthread_mutex_lock(&counts.lock);
	if (count->num_mutes > 0) {
		count->num_mutes--;
		rc = 0;
	}
	pthread_mutex_unlock(&counts.lock);
	return rc;
}

static void start(void)
{
	static const struct sim_check_api api = { .count = count,
						  .last = last,
						  .expect_begin = expect_begin,
						  .expect_end = expect_end,
						  .mute_begin = mute_begin,
						  .mute_end = mute_end };

	if (check_mode != SIM_CHECK_OFF) /* else a sanitizer's detectors alone: rules are not checked */
		sim_check_api_set(&api);
}

const struct check_part check_hit_counts = {
	.start = start,
	.lock = &counts.lock,
};
