/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim.h: add, remove and query fault rules. */
#include "bfsim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared_state_priv.h"
#include "sim/faults/plan/plan_file.h"
#include "sim/control/control.h"
#include "sim/session/current_session.h"
#include "sim/session/private_fault_events.h"
#include "sim/base/last_error.h"

_Static_assert(BFSIM_FAULT_TEXT_SIZE >= SIM_RULE_TEXT_SIZE, "a rule's text fits");

/* Changes ------------------------------------------------------------------------- */

struct plan_change {
	enum sim_fault_change kind;
	const struct sim_rule *rule;     /* ADD */
	const struct sim_delays *delays; /* ADD; NULL = none */
	uint32_t id;                     /* REMOVE; the result of ADD */
	uint64_t seed;                   /* SEED */
};

/* Returns true for a rule that hits only other processes, the daemon or machines, which a private card does not have. */
static bool needs_session(const struct sim_rule *rule)
{
	const sim_bits others = SIM_OP_BIT(SIM_OP_PEER) | SIM_OP_BIT(SIM_OP_DAEMON) | SIM_OP_BIT(SIM_OP_MACHINE) |
				SIM_OP_BIT(SIM_OP_MACHINE_LINK);

	return !(sim_rule_ops(rule) & ~others);
}

static int apply_to_plan(struct sim_shared_state *state, struct plan_change *change)
{
	switch (change->kind) {
	case SIM_FAULT_ADD:
		if (needs_session(change->rule))
			return -ENOTSUP;
		return sim_plan_add(&state->plan, change->rule, change->delays,
				    sim_private_fault_events_rule_begin_ns(), &change->id);
	case SIM_FAULT_REMOVE:
		return sim_plan_remove(&state->plan, change->id);
	case SIM_FAULT_CLEAR:
		sim_plan_clear(&state->plan);
		return 0;
	case SIM_FAULT_SEED:
		sim_plan_set_seed(&state->plan, change->seed);
		return 0;
	case SIM_FAULT_BEGIN: /* not asked for here */
		break;
	}
	return -EINVAL;
}

static int apply_to_own_plan(struct sim_shared_state *state, struct plan_change *change)
{
	int rc = apply_to_plan(state, change);

	if (rc == 0)
		sim_private_fault_events_plan_changed();
	return rc;
}

static int set_change_error(const struct plan_change *change, const char *dir, int rc)
{
	if (rc == -ENOSPC)
		return sim_set_error(rc, "the plan is full: %d rules, or %d delays of files", SIM_PLAN_MAX_RULES,
				     SIM_DELAYS_MAX);
	if (rc == -ENOENT && change->kind == SIM_FAULT_REMOVE)
		return sim_set_error(rc, "there is no rule %u, or none any more", change->id);
	if (rc == -ENOTSUP)
		return sim_set_error(
			rc,
			"rules for peer and daemon take a session: on a private card there is no other process and no daemon; see bfsim_session_start()");
	if (rc < 0 && dir)
		return sim_control_set_error(dir, rc);
	return rc < 0 ? sim_set_error(rc, "the plan could not be changed: %s", strerror(-rc)) : 0;
}

static int apply_to_daemon_plan(const char *dir, struct plan_change *change)
{
	int dir_fd = api_open_session_dir(dir), rc;

	if (dir_fd < 0)
		return dir_fd;
	if (change->kind == SIM_FAULT_ADD)
		rc = sim_control_add_fault(dir_fd, change->rule, change->delays, &change->id);
	else
		rc = sim_control_change_faults(dir_fd, change->kind, change->id, change->seed);
	close(dir_fd);
	return set_change_error(change, dir, rc);
}

static void read_mode(void *arg, const struct sim_shared_state *state)
{
	*(enum sim_clock_mode *)arg = sim_clock_page_mode(&state->clock);
}

/* A rule that has no effect with this clock is refused. A private card's clock is known once it has a device open: until then
 * the card warns of such rules (private_fault_events.c). */
static int check_clock(const struct sim_current_session *current, const struct sim_rule *rule)
{
	enum sim_clock_mode mode = SIM_CLOCK_VIRTUAL;
	int rc = 0;

	if (!sim_rule_slows_links(rule))
		return 0;
	if (current->attached)
		read_mode(&mode, current->shared);
	else if (current->dir)
		rc = api_read_session_state(current->dir, read_mode, &mode);
	if (rc < 0 || mode != SIM_CLOCK_FUNCTIONAL)
		return rc;
	return sim_set_error(
		-ENOTSUP, "the clock is functional, which shows no slower link: %s",
		current->dir ? "give bfsim run, bfsim up or bfsim_session_start() another clock, timed or virtual" :
			       "set BFSIM_CLOCK to timed or virtual");
}

static int apply_change(struct plan_change *change)
{
	struct sim_current_session current;
	int rc = sim_current_session_lock(&current);

	if (rc < 0)
		return sim_set_error(rc, "no memory for a private card's rules: %s", strerror(-rc));
	if (change->kind == SIM_FAULT_ADD)
		rc = check_clock(&current, change->rule);
	if (rc == 0 && current.dir)
		rc = apply_to_daemon_plan(current.dir, change);
	else if (rc == 0)
		rc = set_change_error(change, NULL, apply_to_own_plan(current.shared, change));
	sim_current_session_unlock();
	return rc;
}

int bfsim_fault_add(const char *rule, uint32_t *ret_id)
{
	struct plan_change change = { .kind = SIM_FAULT_ADD };
	struct sim_rule_error error;
	struct sim_rule compiled;
	struct sim_delays *delays;
	int rc;

	if (!rule)
		return sim_set_error(-EINVAL, "the rule is NULL");
	rc = sim_rule_load(rule, NULL, &compiled, &delays, &error);
	if (rc < 0)
		return sim_set_error(rc, "fault '%s', column %u: %s", rule, error.column, error.text);
	change.rule = &compiled;
	change.delays = delays;
	rc = apply_change(&change);
	free(delays);
	if (rc == 0 && ret_id)
		*ret_id = change.id;
	return rc;
}

int bfsim_fault_remove(uint32_t id)
{
	struct plan_change change = { .kind = SIM_FAULT_REMOVE, .id = id };

	return apply_change(&change);
}

int bfsim_fault_clear(void)
{
	struct plan_change change = { .kind = SIM_FAULT_CLEAR };

	return apply_change(&change);
}

int bfsim_fault_seed(uint64_t seed)
{
	struct plan_change change = { .kind = SIM_FAULT_SEED, .seed = seed };

	return apply_change(&change);
}

/* Remove the rules before a failed one, and keep the error text of the failure. */
static void roll_back_rules(const uint32_t *ids, uint32_t count)
{
	char *why = strdup(sim_last_error());

	while (count > 0)
		bfsim_fault_remove(ids[--count]);
	sim_set_error(0, "%s", why ? why : "out of memory");
	free(why);
}

static int add_plan_file(const struct sim_plan_file *file, const char *path)
{
	uint32_t *ids = calloc(file->num_rules + 1, sizeof(*ids));
	int rc = 0;

	if (!ids)
		return sim_set_error(-ENOMEM, "out of memory");
	if (file->has_seed)
		rc = bfsim_fault_seed(file->seed);
	for (uint32_t i = 0; i < file->num_rules && rc == 0; i++) {
		const struct sim_plan_file_rule *rule = &file->rules[i];
		struct plan_change change = { .kind = SIM_FAULT_ADD, .rule = &rule->rule, .delays = rule->delays };

		rc = apply_change(&change);
		ids[i] = change.id;
		if (rc < 0) {
			sim_set_error(rc, "%s:%u: %s", path, rule->line, sim_last_error());
			roll_back_rules(ids, i);
		}
	}
	free(ids);
	return rc;
}

int bfsim_fault_load(const char *path)
{
	char error[SIM_PLAN_FILE_ERROR_SIZE];
	struct sim_plan_file file;
	int rc;

	if (!path)
		return sim_set_error(-EINVAL, "the plan's path is NULL");
	rc = sim_plan_file_load(path, &file, error);
	if (rc < 0)
		return sim_set_error(rc, "%s", error);
	rc = add_plan_file(&file, path);
	sim_plan_file_fini(&file);
	return rc;
}

/* Reports ------------------------------------------------------------------------- */

struct rule_query {
	uint32_t id; /* 0 = the first rule that has not fired */
	uint32_t found;
	struct bfsim_fault fault;
};

static void match_rule(void *arg, const struct sim_plan_rule *rule)
{
	struct rule_query *rule_query = arg;

	if (rule_query->id ? rule->id != rule_query->id : rule->fired > 0)
		return;
	if (rule_query->found++ > 0)
		return;
	rule_query->fault = (struct bfsim_fault){ .id = rule->id, .matched = rule->matched, .fired = rule->fired };
	snprintf(rule_query->fault.text, sizeof(rule_query->fault.text), "%s", rule->text);
}

static void read_rules(void *arg, const struct sim_shared_state *state)
{
	sim_plan_each(&state->plan, match_rule, arg);
}

int bfsim_fault_get(uint32_t id, struct bfsim_fault *ret_fault)
{
	struct rule_query rule_query = { .id = id };
	int rc;

	if (!ret_fault)
		return sim_set_error(-EINVAL, "there is no place for the answer: ret_fault is NULL");
	rc = id ? api_read_shared_state(read_rules, &rule_query) : 0;
	if (rc == 0 && !rule_query.found)
		return sim_set_error(-ENOENT, "there is no rule %u, or none any more", id);
	if (rc == 0)
		*ret_fault = rule_query.fault;
	return rc;
}

int bfsim_fault_unfired(struct bfsim_fault *ret_first)
{
	struct rule_query rule_query = { 0 };
	int rc = api_read_shared_state(read_rules, &rule_query);

	if (rc < 0)
		return rc;
	if (rule_query.found && ret_first)
		*ret_first = rule_query.fault;
	return (int)rule_query.found;
}
