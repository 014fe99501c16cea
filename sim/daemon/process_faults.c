/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of processes and of the daemon, and the daemon's part in faults of functions.
 *
 * The daemon evaluates the rules for a process when the process attaches, and again whenever a rule
 * begins (fault_events.h). A fault of a function revokes exports, closes channels and wakes waiters. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"
#include "sim/base/log.h"
#include "sim/base/pidfd.h"

#define NS_PER_MS        UINT64_C(1000000)
#define STRIKE_NOTICE_MS 100

#define DOES(act) SIM_ACT_BIT(SIM_ACT_##act)

/* ---- process ops ---- */

static int send_signal(int pidfd, int signal)
{
	return sim_pidfd_send_signal(pidfd, signal) < 0 ? -errno : 0;
}

static void kill_daemon(void)
{
	raise(SIGKILL);
}

/* Sleep for @ns; a signal that ends the daemon also ends the pause. */
static void pause_daemon(const struct daemon *daemon, uint64_t ns)
{
	struct pollfd wanted = { .fd = daemon->signal_fd, .events = POLLIN };
	uint64_t ms = ns / NS_PER_MS + (ns % NS_PER_MS > 0);

	poll(&wanted, 1, ms < INT_MAX ? (int)ms : INT_MAX);
}

const struct daemon_process_ops daemon_default_process_ops = { .send_signal = send_signal,
							       .start_resumer = daemon_resumer_start,
							       .kill_daemon = kill_daemon,
							       .pause_daemon = pause_daemon };

/* ---- paused processes ---- */

static void pause_process(struct daemon *daemon, struct conn *conn, uint64_t ns)
{
	uint64_t until_ms = sim_monotonic_ms() + ns / NS_PER_MS + (ns % NS_PER_MS > 0);

	daemon->process_ops->start_resumer(conn->pidfd, &conn->resumer);
	if (daemon->process_ops->send_signal(conn->pidfd, SIGSTOP) == 0 && until_ms > conn->resume_ms)
		conn->resume_ms = until_ms;
}

void daemon_resume_process(struct daemon *daemon, struct conn *conn)
{
	if (!conn->resume_ms)
		return;
	conn->resume_ms = 0;
	daemon->process_ops->send_signal(conn->pidfd, SIGCONT);
	daemon_resumer_stop(&conn->resumer);
}

static void resume_due_processes(struct daemon *daemon, uint64_t now_ms)
{
	struct conn *conn;

	TAILQ_FOREACH(conn, &daemon->conns, entry)
		if (conn->resume_ms <= now_ms)
			daemon_resume_process(daemon, conn);
}

static uint64_t next_resume_ms(const struct daemon *daemon)
{
	uint64_t next_ms = UINT64_MAX;
	const struct conn *conn;

	TAILQ_FOREACH(conn, &daemon->conns, entry)
		if (conn->resume_ms && conn->resume_ms < next_ms)
			next_ms = conn->resume_ms;
	return next_ms;
}

/* ---- evaluating rules ---- */

/* The daemon evaluates no rules for a process that it can't signal, so those rules do not count it. */
static bool can_signal_process(struct daemon *daemon, const struct conn *conn, const struct sim_peer_info *info)
{
	if (conn->pid > 0 && conn->pidfd >= 0)
		return true;
	if (!daemon->warned_unreachable)
		sim_warn(
			"rules for peer do not reach process %d (%s): the daemon does not see it; start the daemon in its PID namespace, or in one around it",
			(int)info->pid, info->program);
	daemon->warned_unreachable = true;
	return false;
}

static void inject_process_fault(struct daemon *daemon, struct conn *conn, uint64_t since_ns)
{
	const struct sim_peer_info *info = sim_card_peer(daemon->card, conn->peer);
	const struct sim_process process = { .side = info->side, .program = info->program, .pid = info->pid };
	const struct sim_fault_site site = { .op = SIM_OP_PEER,
					     .function = SIM_NO_FUNCTION,
					     .process = &process,
					     .since_ns = since_ns,
					     .now_ns = daemon->fault_events.injected_ns };
	struct sim_fault_hit hit;

	if (!sim_injector_may_hit(daemon->fault_events.faults, SIM_OP_PEER) ||
	    !can_signal_process(daemon, conn, info) || !sim_injector_evaluate(daemon->fault_events.faults, &site, &hit))
		return;
	sim_info("fault %u hits process %d (%s): it is %s", hit.rules[0], (int)info->pid, info->program,
		 hit.actions & DOES(KILL) ? "killed" : "stopped");
	if (hit.actions & DOES(PAUSE))
		pause_process(daemon, conn, hit.duration_ns);
	if (hit.actions & DOES(KILL))
		daemon->process_ops->send_signal(conn->pidfd, SIGKILL);
}

static void inject_daemon_fault(struct daemon *daemon, uint64_t since_ns)
{
	const struct sim_fault_site site = { .op = SIM_OP_DAEMON,
					     .function = SIM_NO_FUNCTION,
					     .since_ns = since_ns,
					     .now_ns = daemon->fault_events.injected_ns };
	struct sim_fault_hit hit;

	if (!sim_injector_may_hit(daemon->fault_events.faults, SIM_OP_DAEMON) ||
	    !sim_injector_evaluate(daemon->fault_events.faults, &site, &hit))
		return;
	sim_info("fault %u hits the daemon: it %s", hit.rules[0], hit.actions & DOES(KILL) ? "is killed" : "rests");
	if (hit.actions & DOES(PAUSE))
		daemon->process_ops->pause_daemon(daemon, hit.duration_ns);
	if (hit.actions & DOES(KILL)) {
		resume_due_processes(daemon, UINT64_MAX); /* some may have no resumer */
		daemon->process_ops->kill_daemon();
	}
}

/* ---- machines ---- */

/* All of this machine's processes, the gateway among them, and this one. */
static void strike_machine(struct daemon *daemon, const struct sim_fault_hit *hit)
{
	struct conn *conn;

	sim_info("fault %u hits the machine %s: it %s", hit->rules[0], daemon->machine,
		 hit->actions & DOES(KILL) ? "is killed" : "rests");
	TAILQ_FOREACH(conn, &daemon->conns, entry)
		if (daemon_conn_state_is_attached(conn->state) && conn->pid > 0 && conn->pidfd >= 0) {
			if (hit->actions & DOES(PAUSE))
				pause_process(daemon, conn, hit->duration_ns);
			if (hit->actions & DOES(KILL))
				daemon->process_ops->send_signal(conn->pidfd, SIGKILL);
		}
	if (hit->actions & DOES(PAUSE))
		daemon->process_ops->pause_daemon(daemon, hit->duration_ns);
	if (hit->actions & DOES(KILL))
		daemon->process_ops->kill_daemon();
}

/* The answer to the command that has added the rule gets out before. */
static void plan_strike(struct daemon *daemon, const struct sim_fault_hit *hit)
{
	daemon->strike = *hit;
	daemon->strike_ms = sim_monotonic_ms() + STRIKE_NOTICE_MS;
}

static void run_strike(struct daemon *daemon, uint64_t now_ms)
{
	if (daemon->strike_ms == 0 || daemon->strike_ms > now_ms)
		return;
	daemon->strike_ms = 0;
	strike_machine(daemon, &daemon->strike);
}

struct machine_link {
	struct daemon *daemon;
	uint32_t machine;
};

/* Each rule that makes the link slow is told by itself, as it ends by itself. */
static void on_link_rule(void *arg, uint32_t id, const struct sim_rule *rule, uint64_t delay_ns)
{
	const struct machine_link *link = arg;
	const struct slow_rule_hit slow = { .rule = id,
					    .machine = link->machine,
					    .delay_ns = delay_ns,
					    .rate = rule->rate_bytes,
					    .until_ns = rule->until_ns };

	if (rule->actions & (DOES(DELAY) | DOES(RATE)))
		daemon_begin_slow_link(link->daemon, &slow);
}

/* Evaluate the operation for a machine, of which @link is the link or NULL. Returns whether a rule fires. */
static bool evaluate_machine(struct daemon *daemon, enum sim_op op, const char *machine, uint64_t since_ns,
			     struct sim_fault_hit *ret_hit, struct machine_link *link)
{
	const struct sim_process process = { .side = machine };
	const struct sim_fault_site site = { .op = op,
					     .function = SIM_NO_FUNCTION,
					     .process = &process,
					     .since_ns = since_ns,
					     .now_ns = daemon->fault_events.injected_ns,
					     .on_fire = link ? on_link_rule : NULL,
					     .arg = link };

	return sim_injector_evaluate(daemon->fault_events.faults, &site, ret_hit);
}

static void inject_machine_fault(struct daemon *daemon, uint64_t since_ns)
{
	struct sim_fault_hit hit;

	if (daemon->machine[0] && sim_injector_may_hit(daemon->fault_events.faults, SIM_OP_MACHINE) &&
	    evaluate_machine(daemon, SIM_OP_MACHINE, daemon->machine, since_ns, &hit, NULL))
		plan_strike(daemon, &hit);
}

/* The gateway cuts the link from both of its ends. Rules that begin while there is none hit when it is there. */
static void inject_machine_links(struct daemon *daemon, uint64_t since_ns)
{
	struct sim_fault_hit hit;
	char name[PCIE_SIDE_SIZE];

	if (!daemon->gateway.conn) {
		daemon->late_links_ns = daemon->late_links_ns ? daemon->late_links_ns : since_ns;
		return;
	}
	if (!sim_injector_may_hit(daemon->fault_events.faults, SIM_OP_MACHINE_LINK))
		return;
	for (uint32_t i = 0; pcie_topology_get_machine(daemon->topology, i, name); i++) {
		struct machine_link link = { .daemon = daemon, .machine = i };

		if (i == daemon->machine_number ||
		    !evaluate_machine(daemon, SIM_OP_MACHINE_LINK, name, since_ns, &hit, &link))
			continue;
		sim_info("fault %u hits the link to the machine %s", hit.rules[0], name);
		if (hit.actions & (DOES(DOWN) | DOES(KILL)))
			daemon_begin_outage(daemon, i, hit.actions & DOES(DOWN) ? hit.duration_ns : 0,
					    hit.actions & DOES(KILL));
	}
}

void daemon_inject_late_links(struct daemon *daemon)
{
	const uint64_t since_ns = daemon->late_links_ns;

	daemon->late_links_ns = 0;
	if (since_ns > 0)
		inject_machine_links(daemon, since_ns);
}

/* Rules count from the oldest connection. */
static void inject_processes_and_daemon(void *arg, uint64_t since_ns)
{
	struct daemon *daemon = arg;
	struct conn *conn;

	TAILQ_FOREACH_REVERSE(conn, &daemon->conns, conns, entry)
	if (conn->state == DAEMON_CONN_ATTACHED || conn->state == DAEMON_CONN_UNRESPONSIVE)
		inject_process_fault(daemon, conn, since_ns);
	inject_machine_links(daemon, since_ns);
	inject_machine_fault(daemon, since_ns);
	inject_daemon_fault(daemon, since_ns);
}

/* ---- functions ---- */

static void revoke_function(void *arg, uint32_t function)
{
	daemon_revoke_all_through(arg, function);
	daemon_close_channels_through(arg, function);
}

static void disconnect_rep(void *arg, uint32_t function)
{
	daemon_close_channels_through(arg, function);
}

static void notify_functions_changed(void *arg)
{
	struct daemon *daemon = arg;
	struct conn *conn;

	TAILQ_FOREACH(conn, &daemon->conns, entry) {
		struct sim_msg msg = { .type = SIM_MSG_FUNCTIONS_CHANGED };

		if (daemon_conn_state_is_attached(conn->state))
			daemon_send(daemon, conn, &msg, -1);
	}
}

static const struct sim_fault_events_ops fault_events_ops = {
	.revoke_function = revoke_function,
	.disconnect_rep = disconnect_rep,
	.notify_functions_changed = notify_functions_changed,
	.inject_others = inject_processes_and_daemon,
};

/* ---- timed events ---- */

void daemon_run_fault_events(struct daemon *daemon)
{
	sim_fault_events_run(&daemon->fault_events);
	run_strike(daemon, sim_monotonic_ms());
	resume_due_processes(daemon, sim_monotonic_ms());
}

void daemon_inject_new_process(struct daemon *daemon, struct conn *conn)
{
	daemon_run_fault_events(daemon); /* first the events of attached processes */
	daemon_conn_go(conn, DAEMON_CONN_ATTACHED);
	inject_process_fault(daemon, conn, 0);
}

uint64_t daemon_fault_events_deadline_ms(const struct daemon *daemon)
{
	uint64_t deadline_ms = sim_fault_events_deadline_ms(&daemon->fault_events, sim_monotonic_ms());
	uint64_t resume_ms = next_resume_ms(daemon);

	deadline_ms = min_u64(deadline_ms, resume_ms);
	return daemon->strike_ms > 0 ? min_u64(deadline_ms, daemon->strike_ms) : deadline_ms;
}

int daemon_open_fault_events(struct daemon *daemon)
{
	struct sim_shared_state *shared = sim_shared_state_of(&daemon->shared);
	struct sim_fault_events_cfg cfg = {
		.shared = shared, .topology = daemon->topology, .ops = &fault_events_ops, .arg = daemon
	};
	int rc = sim_clock_create(&shared->clock, daemon->topology, &daemon->clock);

	cfg.clock = daemon->clock;
	return rc < 0 ? rc : sim_fault_events_init(&daemon->fault_events, &cfg);
}

void daemon_close_fault_events(struct daemon *daemon)
{
	sim_fault_events_fini(&daemon->fault_events);
	sim_clock_destroy(daemon->clock);
}
