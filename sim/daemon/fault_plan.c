/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that change the fault plan. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/faults/rule/delays.h"

/* Copy the delays that a rule came with, because their sender can still change the file; NULL = none.
 * Returns 0, -EINVAL (not a list of delays) or -ENOMEM. */
static int read_delays(const struct sim_fds *fds, struct sim_delays **ret_delays)
{
	size_t max = sim_delays_size(SIM_DELAYS_MAX);
	struct sim_delays *delays;
	ssize_t len;

	*ret_delays = NULL;
	if (fds->count == 0)
		return 0;
	delays = malloc(max);
	if (!delays)
		return -ENOMEM;
	len = pread(fds->fd[0], delays, max, 0);
	if (len < 0 || sim_delays_check(delays, (size_t)len) < 0) {
		free(delays);
		return -EINVAL;
	}
	*ret_delays = delays;
	return 0;
}

static int add_rule(struct daemon *daemon, const struct sim_rule *rule, const struct sim_fds *fds, uint32_t *ret_id)
{
	struct sim_shared_state *shared = sim_shared_state_of(&daemon->shared);
	struct sim_delays *delays;
	int rc = read_delays(fds, &delays);

	if (rc == 0)
		rc = sim_plan_add(&shared->plan, rule, delays, sim_fault_events_rule_begin_ns(&daemon->fault_events),
				  ret_id);
	if (rc == 0)
		sim_fault_events_announce_net_links(
			&daemon->fault_events); /* before the reply, as programs go on then */
	free(delays);
	return rc;
}

void daemon_handle_fault(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, const struct sim_fds *fds)
{
	struct sim_plan *plan = &sim_shared_state_of(&daemon->shared)->plan;
	const struct sim_rule rule = msg->body.fault.rule;
	int rc = -EINVAL;

	switch (msg->body.fault.change) {
	case SIM_FAULT_ADD:
		rc = add_rule(daemon, &rule, fds, &msg->body.fault.id);
		break;
	case SIM_FAULT_REMOVE:
		rc = sim_plan_remove(plan, msg->body.fault.id);
		break;
	case SIM_FAULT_CLEAR:
		sim_plan_clear(plan);
		rc = 0;
		break;
	case SIM_FAULT_SEED:
		sim_plan_set_seed(plan, msg->body.fault.seed);
		rc = 0;
		break;
	case SIM_FAULT_BEGIN:
		rc = sim_plan_begin(plan, msg->body.fault.id, sim_fault_events_rule_begin_ns(&daemon->fault_events));
		break;
	}
	if (msg->body.fault.change != SIM_FAULT_ADD) {
		daemon_run_fault_events(daemon); /* a removed rule's effect on a link ends before the reply */
		daemon_end_slow_links(daemon);
	}
	daemon_reply(daemon, conn, msg, rc, -1);
}
