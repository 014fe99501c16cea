/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules have in store for processes and the daemon itself: asked for when
 * they appear, and again whenever a rule begins (events.h); and what becomes of
 * exports, channels and sleepers when rules strike functions. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/base/log.h"

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

const struct daemon_hands daemon_own_hands = {
	.send_signal = send_signal, .start_guard = daemon_guard_start, .die = die, .rest = rest};

/* ---- processes that are stopped ---- */

static void stop_process(struct daemon *daemon, struct conn *conn, uint64_t ns)
{
	uint64_t until_ms = daemon_now_ms() + ns / NS_PER_MS + (ns % NS_PER_MS > 0);

	daemon->hands->start_guard(conn->pidfd, &conn->guard);
	if (daemon->hands->send_signal(conn->pidfd, SIGSTOP) == 0 && until_ms > conn->continue_ms)
		conn->continue_ms = until_ms;
}

void daemon_continue(struct daemon *daemon, struct conn *conn)
{
	if (!conn->continue_ms)
		return;
	conn->continue_ms = 0;
	daemon->hands->send_signal(conn->pidfd, SIGCONT);
	daemon_guard_end(&conn->guard);
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
	if (!daemon->told_away)
		sim_warn("rules for peer do not reach process %d (%s): the daemon does not see it; start the daemon in its PID namespace, or in one around it",
			 (int)info->pid, info->program);
	daemon->told_away = true;
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

static void ask_for_processes(void *arg, uint64_t since_ns)
{
	struct daemon *daemon = arg;

	turn_around(&daemon->conns);
	for (struct conn *conn = daemon->conns; conn; conn = conn->next)
		if (conn->attached && !conn->dead)
			ask_for_process(daemon, conn, since_ns);
	turn_around(&daemon->conns);
	ask_for_ourselves(daemon, since_ns);
}

/* ---- functions ---- */

static void cut(void *arg, uint32_t function)
{
	daemon_revoke_all_through(arg, function);
	daemon_end_channels_through(arg, function);
}

static void cut_rep(void *arg, uint32_t function)
{
	daemon_end_channels_through(arg, function);
}

static void tell_all(void *arg)
{
	struct daemon *daemon = arg;

	for (struct conn *conn = daemon->conns; conn; conn = conn->next) {
		struct sim_msg msg = {.type = SIM_MSG_FUNCTION};

		if (conn->attached)
			daemon_send(daemon, conn, &msg, -1);
	}
}

static const struct sim_events_hands event_hands = {
	.cut = cut,
	.cut_rep = cut_rep,
	.tell = tell_all,
	.ask_others = ask_for_processes,
};

/* ---- by the clock ---- */

void daemon_take_events(struct daemon *daemon)
{
	sim_events_take(&daemon->events);
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
	uint64_t deadline_ms = sim_events_deadline_ms(&daemon->events, daemon_now_ms());
	uint64_t continue_ms = next_continue_ms(daemon);

	return continue_ms < deadline_ms ? continue_ms : deadline_ms;
}

int daemon_open_events(struct daemon *daemon)
{
	struct sim_board *board = sim_board_of(&daemon->board);
	struct sim_events_cfg cfg = {.board = board, .topology = daemon->topology, .hands = &event_hands, .arg = daemon};
	int rc = sim_clock_create(&board->clock, daemon->topology, &daemon->clock);

	cfg.clock = daemon->clock;
	return rc < 0 ? rc : sim_events_init(&daemon->events, &cfg);
}

void daemon_close_events(struct daemon *daemon)
{
	sim_events_fini(&daemon->events);
	sim_clock_destroy(daemon->clock);
}
