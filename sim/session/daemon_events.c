/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules have in store for functions, processes and the daemon itself: asked for when
 * they appear, and again whenever a rule begins (sim/faults/faults.h, "Events").
 *
 * Session time says when a rule begins. Virtual time has no alarm that we could
 * set: while a rule is still to begin, it is looked at every VIRTUAL_LOOK_MS. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/log.h"

#define VIRTUAL_LOOK_MS 1
#define NS_PER_MS UINT64_C(1000000)

#define DOES(act) SIM_ACT_BIT(SIM_ACT_##act)

/* ---- hands ---- */

static int send_signal(int pidfd, int signal)
{
	return pidfd_send_signal(pidfd, signal, NULL, 0) < 0 ? -errno : 0;
}

static void die(void)
{
	raise(SIGKILL);
}

/* Does nothing for a while. Who wants it to end need not wait for that. */
static void rest(const struct daemon *daemon, uint64_t ns)
{
	struct pollfd wanted = {.fd = daemon->signal_fd, .events = POLLIN};
	uint64_t ms = ns / NS_PER_MS + (ns % NS_PER_MS > 0);

	poll(&wanted, 1, ms < INT_MAX ? (int)ms : INT_MAX);
}

const struct daemon_hands daemon_own_hands = {.send_signal = send_signal, .die = die, .rest = rest};

/* ---- processes that are stopped ---- */

static void stop_process(struct daemon *daemon, struct conn *conn, uint64_t ns)
{
	uint64_t until_ms = daemon_now_ms() + ns / NS_PER_MS + (ns % NS_PER_MS > 0);

	if (daemon->hands->send_signal(conn->pidfd, SIGSTOP) == 0 && until_ms > conn->continue_ms)
		conn->continue_ms = until_ms;
}

void daemon_continue(struct daemon *daemon, struct conn *conn)
{
	if (!conn->continue_ms)
		return;
	conn->continue_ms = 0;
	daemon->hands->send_signal(conn->pidfd, SIGCONT);
}

static void continue_until(struct daemon *daemon, uint64_t now_ms)
{
	for (struct conn *conn = daemon->conns; conn; conn = conn->next)
		if (conn->continue_ms <= now_ms)
			daemon_continue(daemon, conn);
}

static uint64_t next_continue_ms(const struct daemon *daemon)
{
	uint64_t next_ms = UINT64_MAX;

	for (const struct conn *conn = daemon->conns; conn; conn = conn->next)
		if (conn->continue_ms && conn->continue_ms < next_ms)
			next_ms = conn->continue_ms;
	return next_ms;
}

/* ---- asking ---- */

/* A process that can't be reached from here is not asked for: its rules count as never met. */
static bool can_reach(struct daemon *daemon, const struct conn *conn, const struct sim_peer_info *info)
{
	if (conn->pidfd >= 0)
		return true;
	if (!daemon->events.told_away)
		sim_warn("rules for peer do not reach process %d (%s): the daemon does not see it; start the daemon in its PID namespace, or in one around it",
			 (int)info->pid, info->program);
	daemon->events.told_away = true;
	return false;
}

static void ask_for_process(struct daemon *daemon, struct conn *conn, uint64_t since_ns)
{
	const struct sim_peer_info *info = sim_card_peer(daemon->card, conn->peer);
	const struct sim_who who = {.side = info->side, .program = info->program, .pid = info->pid};
	const struct sim_site site = {.op = SIM_OP_PEER, .function = SIM_NO_FUNCTION, .who = &who,
				      .since_ns = since_ns, .now_ns = daemon->events.asked_ns};
	struct sim_strike strike;

	if (!sim_faults_any(daemon->events.faults, SIM_OP_PEER) || !can_reach(daemon, conn, info) ||
	    !sim_faults_strike(daemon->events.faults, &site, &strike))
		return;
	sim_info("fault %u strikes process %d (%s): it is %s", strike.rules[0], (int)info->pid, info->program,
		 strike.actions & DOES(KILL) ? "killed" : "stopped");
	if (strike.actions & DOES(PAUSE))
		stop_process(daemon, conn, strike.duration_ns);
	if (strike.actions & DOES(KILL))
		daemon->hands->send_signal(conn->pidfd, SIGKILL);
}

static void ask_for_ourselves(struct daemon *daemon, uint64_t since_ns)
{
	const struct sim_site site = {.op = SIM_OP_DAEMON, .function = SIM_NO_FUNCTION, .since_ns = since_ns,
				      .now_ns = daemon->events.asked_ns};
	struct sim_strike strike;

	if (!sim_faults_any(daemon->events.faults, SIM_OP_DAEMON) ||
	    !sim_faults_strike(daemon->events.faults, &site, &strike))
		return;
	sim_info("fault %u strikes the daemon: it %s", strike.rules[0],
		 strike.actions & DOES(KILL) ? "is killed" : "rests");
	if (strike.actions & DOES(PAUSE))
		daemon->hands->rest(daemon, strike.duration_ns);
	if (strike.actions & DOES(KILL)) {
		continue_until(daemon, UINT64_MAX); /* nobody else would */
		daemon->hands->die();
	}
}

/* The list has the youngest first; rules count from the oldest on. */
static void turn_around(struct conn **list)
{
	struct conn *turned = NULL;

	while (*list) {
		struct conn *first = *list;

		*list = first->next;
		first->next = turned;
		turned = first;
	}
	*list = turned;
}

static void ask_for_all(struct daemon *daemon, uint64_t since_ns)
{
	daemon_ask_for_functions(daemon, since_ns);
	turn_around(&daemon->conns);
	for (struct conn *conn = daemon->conns; conn; conn = conn->next)
		if (conn->attached && !conn->dead)
			ask_for_process(daemon, conn, since_ns);
	turn_around(&daemon->conns);
	ask_for_ourselves(daemon, since_ns);
}

/* ---- by the clock ---- */

static void look_ahead(struct daemon *daemon)
{
	struct daemon_events *events = &daemon->events;
	const struct sim_plan *plan = &sim_board_of(&daemon->board)->plan;
	uint64_t generation = atomic_load_explicit(&plan->generation, memory_order_acquire);

	if (generation == events->generation && events->next_ns > events->asked_ns)
		return;
	events->generation = generation;
	events->next_ns = sim_faults_next(events->faults, events->asked_ns);
}

uint64_t daemon_begin_ns(struct daemon *daemon)
{
	struct daemon_events *events = &daemon->events;
	uint64_t now_ns = sim_clock_now_ns(daemon->clock);

	events->begun_ns = now_ns > events->asked_ns ? now_ns : events->asked_ns + 1;
	return events->begun_ns;
}

static uint64_t event_time_ns(const struct daemon *daemon)
{
	uint64_t now_ns = sim_clock_now_ns(daemon->clock);

	return now_ns > daemon->events.begun_ns ? now_ns : daemon->events.begun_ns;
}

void daemon_take_events(struct daemon *daemon)
{
	struct daemon_events *events = &daemon->events;
	uint64_t now_ns = event_time_ns(daemon), since_ns = events->asked_ns + 1;

	look_ahead(daemon);
	if (now_ns > events->asked_ns)
		events->asked_ns = now_ns;
	if (events->next_ns <= events->asked_ns) {
		ask_for_all(daemon, since_ns);
		look_ahead(daemon);
	}
	if (events->link_up_ns <= events->asked_ns)
		daemon_end_downs(daemon);
	continue_until(daemon, daemon_now_ms());
}

void daemon_meet_process(struct daemon *daemon, struct conn *conn)
{
	daemon_take_events(daemon); /* of those that are there already */
	conn->attached = true;
	ask_for_process(daemon, conn, 0);
}

uint64_t daemon_events_deadline_ms(const struct daemon *daemon)
{
	const struct daemon_events *events = &daemon->events;
	uint64_t next_ns = events->next_ns < events->link_up_ns ? events->next_ns : events->link_up_ns;
	uint64_t deadline_ms = next_continue_ms(daemon), next_ms;

	if (next_ns == SIM_NEVER_NS)
		return deadline_ms;
	if (sim_clock_mode(daemon->clock) == SIM_CLOCK_VIRTUAL)
		next_ms = daemon_now_ms() + VIRTUAL_LOOK_MS;
	else
		next_ms = sim_clock_real_ns(daemon->clock, next_ns) / NS_PER_MS + 1;
	return next_ms < deadline_ms ? next_ms : deadline_ms;
}

int daemon_open_events(struct daemon *daemon)
{
	struct sim_board *board = sim_board_of(&daemon->board);
	const struct sim_faults_cfg cfg = {.plan = &board->plan, .topology = daemon->topology};
	int rc = sim_clock_create(&board->clock, daemon->topology, &daemon->clock);

	daemon->events = (struct daemon_events){.next_ns = SIM_NEVER_NS, .link_up_ns = SIM_NEVER_NS};
	return rc < 0 ? rc : sim_faults_create(&cfg, &daemon->events.faults);
}

void daemon_close_events(struct daemon *daemon)
{
	sim_faults_destroy(daemon->events.faults);
	sim_clock_destroy(daemon->clock);
}
