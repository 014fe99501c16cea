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

struct tally {
	uint64_t num_hits; /* neither expected nor muted */
	uint64_t num_expected;
	bool is_expected;
	uint32_t num_mutes; /* begins minus ends */
};

static struct {
	pthread_mutex_t lock;
	struct tally rules[SIM_CHECK_NUM_RULES], all; /* all: of the rule NULL */
	struct {
		bool is_set;
		char message[sizeof(((struct bfsim_check_hit *)0)->message)];
		struct check_stack stack;
	} last[SIM_CHECK_NUM_RULES];
	enum sim_check_rule last_rule;
	bool has_last;
} tallies = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void keep_last(enum sim_check_rule rule, const char *message, const struct check_stack *stack)
{
	tallies.last[rule].is_set = tallies.has_last = true;
	tallies.last_rule = rule;
	snprintf(tallies.last[rule].message, sizeof(tallies.last[rule].message), "%s", message);
	tallies.last[rule].stack = stack ? *stack : (struct check_stack){ .num_frames = 0 };
}

bool check_tally_add(enum sim_check_rule rule, const char *message, const struct check_stack *stack)
{
	struct tally *tally = &tallies.rules[rule];
	bool is_reported = false;

	pthread_mutex_lock(&tallies.lock);
	if (tally->num_mutes == 0 && tallies.all.num_mutes == 0) {
		is_reported = !tally->is_expected && !tallies.all.is_expected;
		tally->num_hits += is_reported;
		tallies.all.num_hits += is_reported;
		tally->num_expected += tally->is_expected;
		tallies.all.num_expected += !tally->is_expected && tallies.all.is_expected;
		keep_last(rule, message, stack);
	}
	pthread_mutex_unlock(&tallies.lock);
	return is_reported;
}

/* ---- bfsim.h ---- */

/* NULL: no such rule. */
static struct tally *find(const char *rule)
{
	const struct sim_check_rule_entry *entry = rule ? sim_check_rule_find(rule) : NULL;

	if (!rule)
		return &tallies.all;
	return entry ? &tallies.rules[entry - sim_check_rules] : NULL;
}

static int count(const char *rule, uint64_t *ret_hits)
{
	const struct tally *tally = find(rule);

	if (!tally)
		return -EINVAL;
	pthread_mutex_lock(&tallies.lock);
	*ret_hits = tally->num_hits;
	pthread_mutex_unlock(&tallies.lock);
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
	const struct tally *tally = find(rule);
	const struct sim_check_rule_entry *entry;
	struct bfsim_check_hit hit = { .line = 0 };
	struct check_stack stack;
	ptrdiff_t i;

	if (!tally)
		return -EINVAL;
	pthread_mutex_lock(&tallies.lock);
	i = rule ? tally - tallies.rules : (ptrdiff_t)tallies.last_rule;
	if (rule ? !tallies.last[i].is_set : !tallies.has_last) {
		pthread_mutex_unlock(&tallies.lock);
		return -ENOENT;
	}
	memcpy(hit.message, tallies.last[i].message, sizeof(hit.message));
	stack = tallies.last[i].stack;
	pthread_mutex_unlock(&tallies.lock);
	entry = &sim_check_rules[i];
	snprintf(hit.rule, sizeof(hit.rule), "%s", entry->id);
	snprintf(hit.severity, sizeof(hit.severity), "%s", sim_check_severity_name(entry->severity));
	locate(&stack, &hit);
	*ret_hit = hit;
	return 0;
}

static int expect_begin(const char *rule)
{
	struct tally *tally = find(rule);
	int rc = 0;

	if (!tally)
		return -EINVAL;
	pthread_mutex_lock(&tallies.lock);
	if (tally->is_expected)
		rc = -EALREADY;
	else
		tally->num_expected = 0;
	tally->is_expected = true;
	pthread_mutex_unlock(&tallies.lock);
	return rc;
}

static int expect_end(const char *rule, uint64_t *ret_hits)
{
	struct tally *tally = find(rule);
	int rc = -EPERM;

	if (!tally)
		return -EINVAL;
	pthread_mutex_lock(&tallies.lock);
	if (tally->is_expected) {
		*ret_hits = tally->num_expected;
		tally->is_expected = false;
		rc = 0;
	}
	pthread_mutex_unlock(&tallies.lock);
	return rc;
}

static int mute_begin(const char *rule)
{
	struct tally *tally = find(rule);

	if (!tally)
		return -EINVAL;
	pthread_mutex_lock(&tallies.lock);
	tally->num_mutes++;
	pthread_mutex_unlock(&tallies.lock);
	return 0;
}

static int mute_end(const char *rule)
{
	struct tally *tally = find(rule);
	int rc = -EPERM;

	if (!tally)
		return -EINVAL;
	pthread_mutex_lock(&tallies.lock);
	if (tally->num_mutes > 0) {
		tally->num_mutes--;
		rc = 0;
	}
	pthread_mutex_unlock(&tallies.lock);
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

/* In a forked child, another thread may have held the lock. */
static void forked(void)
{
	pthread_mutex_init(&tallies.lock, NULL);
}

const struct check_part check_tally = {
	.start = start,
	.forked = forked,
};
