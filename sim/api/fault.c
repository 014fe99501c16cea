/* SPDX-License-Identifier: BSD-3-Clause */
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

struct change {
	enum sim_fault_change what;
	const struct sim_rule *rule;      /* ADD */
	const struct sim_delays *delays;  /* ADD; or NULL */
	uint32_t id;                      /* REMOVE; of ADD the result */
	uint64_t seed;                    /* SEED */
};

/* Whether all that it strikes is what a private card doesn't have: other processes, and a daemon. */
static bool needs_session(const struct sim_rule *rule)
{
	return !(sim_rule_ops(rule) & ~(SIM_OP_BIT(SIM_OP_PEER) | SIM_OP_BIT(SIM_OP_DAEMON)));
}

static int change_plan(struct sim_board *board, struct change *change)
{
	switch (change->what) {
	case SIM_FAULT_ADD:
		if (needs_session(change->rule))
			return -ENOTSUP;
		return sim_plan_add(&board->plan, change->rule, change->delays, sim_own_events_begin_ns(), &change->id);
	case SIM_FAULT_REMOVE:
		return sim_plan_remove(&board->plan, change->id);
	case SIM_FAULT_CLEAR:
		sim_plan_clear(&board->plan);
		return 0;
	case SIM_FAULT_SEED:
		sim_plan_set_seed(&board->plan, change->seed);
		return 0;
	}
	return -EINVAL;
}

static int change_own(struct sim_board *board, struct change *change)
{
	int rc = change_plan(board, change);

	if (rc == 0)
		sim_own_events_changed();
	return rc;
}

static int explain(const struct change *change, const char *dir, int rc)
{
	if (rc == -ENOSPC)
		return sim_because(rc, "the plan is full: %d rules, or %d delays of files", SIM_PLAN_MAX_RULES, SIM_DELAYS_MAX);
	if (rc == -ENOENT && change->what == SIM_FAULT_REMOVE)
		return sim_because(rc, "there is no rule %u, or none any more", change->id);
	if (rc == -ENOTSUP)
		return sim_because(rc, "rules for peer and daemon take a session: on a private card there is no other process and no daemon; see bfsim_session_start()");
	if (rc < 0 && dir)
		return sim_control_failed(dir, rc);
	return rc < 0 ? sim_because(rc, "the plan could not be changed: %s", strerror(-rc)) : 0;
}

static int change_daemons(const char *dir, struct change *change)
{
	int dir_fd = api_open_dir(dir), rc;

	if (dir_fd < 0)
		return dir_fd;
	if (change->what == SIM_FAULT_ADD)
		rc = sim_control_add_fault(dir_fd, change->rule, change->delays, &change->id);
	else
		rc = sim_control_change_faults(dir_fd, change->what, change->id, change->seed);
	close(dir_fd);
	return explain(change, dir, rc);
}

static int apply(struct change *change)
{
	struct sim_here here;
	int rc = sim_here_lock(&here);

	if (rc < 0)
		return sim_because(rc, "no memory for a private card's rules: %s", strerror(-rc));
	if (here.dir)
		rc = change_daemons(here.dir, change);
	else
		rc = explain(change, NULL, change_own(here.board, change));
	sim_here_unlock();
	return rc;
}

int bfsim_fault_add(const char *rule, uint32_t *ret_id)
{
	struct change change = {.what = SIM_FAULT_ADD};
	struct sim_rule_error error;
	struct sim_rule compiled;
	struct sim_delays *delays;
	int rc;

	if (!rule)
		return sim_because(-EINVAL, "the rule is NULL");
	rc = sim_rule_load(rule, NULL, &compiled, &delays, &error);
	if (rc < 0)
		return sim_because(rc, "fault '%s', column %u: %s", rule, error.column, error.text);
	change.rule = &compiled;
	change.delays = delays;
	rc = apply(&change);
	free(delays);
	if (rc == 0 && ret_id)
		*ret_id = change.id;
	return rc;
}

int bfsim_fault_remove(uint32_t id)
{
	struct change change = {.what = SIM_FAULT_REMOVE, .id = id};

	return apply(&change);
}

int bfsim_fault_clear(void)
{
	struct change change = {.what = SIM_FAULT_CLEAR};

	return apply(&change);
}

int bfsim_fault_seed(uint64_t seed)
{
	struct change change = {.what = SIM_FAULT_SEED, .seed = seed};

	return apply(&change);
}

/* Take rules back after one behind them failed, whose reason is kept. */
static void take_back(const uint32_t *ids, uint32_t count)
{
	char *why = strdup(sim_why());

	while (count > 0)
		bfsim_fault_remove(ids[--count]);
	sim_because(0, "%s", why ? why : "out of memory");
	free(why);
}

static int add_all(const struct sim_plan_file *file, const char *path)
{
	uint32_t *ids = calloc(file->num_rules + 1, sizeof(*ids));
	int rc = 0;

	if (!ids)
		return sim_because(-ENOMEM, "out of memory");
	if (file->has_seed)
		rc = bfsim_fault_seed(file->seed);
	for (uint32_t i = 0; i < file->num_rules && rc == 0; i++) {
		const struct sim_plan_file_rule *rule = &file->rules[i];
		struct change change = {.what = SIM_FAULT_ADD, .rule = &rule->rule, .delays = rule->delays};

		rc = apply(&change);
		ids[i] = change.id;
		if (rc < 0) {
			sim_because(rc, "%s:%u: %s", path, rule->line, sim_why());
			take_back(ids, i);
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
		return sim_because(-EINVAL, "the plan's path is NULL");
	rc = sim_plan_file_load(path, &file, error);
	if (rc < 0)
		return sim_because(rc, "%s", error);
	rc = add_all(&file, path);
	sim_plan_file_fini(&file);
	return rc;
}

/* Reports ------------------------------------------------------------------------- */

struct search {
	uint32_t id;    /* of the rule; 0 = the first that has not fired */
	uint32_t found;
	struct bfsim_fault fault;
};

static void take(void *arg, const struct sim_plan_rule *rule)
{
	struct search *search = arg;

	if (search->id ? rule->id != search->id : rule->fired > 0)
		return;
	if (search->found++ > 0)
		return;
	search->fault = (struct bfsim_fault){.id = rule->id, .matched = rule->matched, .fired = rule->fired};
	snprintf(search->fault.text, sizeof(search->fault.text), "%s", rule->text);
}

static void look_at_rules(void *arg, const struct sim_board *board)
{
	sim_plan_each(&board->plan, take, arg);
}

int bfsim_fault_get(uint32_t id, struct bfsim_fault *ret_fault)
{
	struct search search = {.id = id};
	int rc;

	if (!ret_fault)
		return sim_because(-EINVAL, "there is no place for the answer: ret_fault is NULL");
	rc = id ? api_look_at_board(look_at_rules, &search) : 0;
	if (rc == 0 && !search.found)
		return sim_because(-ENOENT, "there is no rule %u, or none any more", id);
	if (rc == 0)
		*ret_fault = search.fault;
	return rc;
}

int bfsim_fault_unfired(struct bfsim_fault *ret_first)
{
	struct search search = {0};
	int rc = api_look_at_board(look_at_rules, &search);

	if (rc < 0)
		return rc;
	if (search.found && ret_first)
		*ret_first = search.fault;
	return (int)search.found;
}
