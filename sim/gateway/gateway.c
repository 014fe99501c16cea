/* SPDX-License-Identifier: BSD-3-Clause */
/* The gateway's loop: all sources of work in turns, then a sleep on their descriptors. */
#include "gateway.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "direct.h"
#include "far.h"
#include "near.h"
#include "outage.h"
#include "queues.h"
#include "reach.h"
#include "pcie_model/arith.h"
#include "secure.h"
#include "port_load.h"
#include "slow_link.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "sim/protocol/session_dir.h"

#define SPIN_NS 50000 /* after an answer that woke a program: it may have the next request, and a wake-up costs more */
#define GLANCE_NS \
	3000 /* after an answer to a program that polls: its next request is a store away, and a wake-up costs more */
#define SPIN_CPUS      2         /* with fewer, it would keep the program from running */
#define BUSY_SLEEP_NS  10000000u /* with a request unanswered: a wake-up may be lost */
#define REPORT_NS      1000000000u
#define OUTAGE_STEP_NS 50000000u /* from one look at whether the way to home is free to the next */
#define RARE_ROUNDS    32        /* of the loop, from one look at what a system call shows to the next */
#define MAX_LINKS      252
#define LINGER_MS      1000 /* for goodbyes */
#define MAX_PROGRAMS   4095 /* that reach memory of other machines */

/* ---- the rail ---- */

static void *on_request(void *arg, struct rail_conn *conn)
{
	struct gateway *gateway = arg;
	uint32_t num_unproved = 0, num_links = 0;
	struct link *link;

	LIST_FOREACH(link, &gateway->links, entry) {
		num_unproved += link->machine == LINK_NO_MACHINE;
		num_links++;
	}
	if (num_unproved >= GATEWAY_MAX_UNPROVED || num_links >= MAX_LINKS)
		return NULL;
	link = link_create(&(struct link_cfg){ .ops = gateway->cfg.is_home ? &gateway_link_ops : &direct_link_ops,
					       .arg = gateway,
					       .keys = gateway->keys,
					       .number = gateway->cfg.is_home ? SECURE_SESSION : SECURE_ANY_PAIR,
					       .is_server = true,
					       .is_trusted = gateway->cfg.is_trusted });
	if (!link)
		return NULL;
	link->conn = conn;
	LIST_INSERT_HEAD(&gateway->links, link, entry);
	return link;
}

static void on_connected(void *arg, void *owner)
{
	(void)arg;
	link_on_connected(owner);
}

static void on_message(void *arg, void *owner, const uint8_t *bytes, size_t len)
{
	(void)arg;
	link_on_message(owner, bytes, len);
}

static void on_room(void *arg, void *owner)
{
	(void)arg;
	link_on_room(owner);
}

static void on_closed(void *arg, void *owner, int reason)
{
	(void)arg;
	link_on_closed(owner, reason);
}

static const struct rail_ops rail_ops = { .on_request = on_request,
					  .on_connected = on_connected,
					  .on_message = on_message,
					  .on_room = on_room,
					  .on_closed = on_closed };

static int open_rail(struct gateway *gateway)
{
	const struct rail_cfg cfg = { .provider = gateway->cfg.provider,
				      .host = gateway->cfg.is_home ? gateway->cfg.listen_host : gateway->cfg.host,
				      .port = gateway->cfg.is_home ? gateway->cfg.listen_port : gateway->cfg.port,
				      .is_listener = gateway->cfg.is_home,
				      .ops = &rail_ops,
				      .arg = gateway };
	int rc = rail_open(&cfg, &gateway->rail);

	return rc == 0 ? direct_open(gateway) : rc;
}

/* ---- opening ---- */

static struct gateway *signalled; /* its loop is woken by signals */

static void on_signal(int number)
{
	(void)number;
	signalled->stop = true;
	jobs_wake(&signalled->jobs);
}

/* A call that blocks ends with EINTR. */
static void handle_signal(int number, void (*handler)(int number))
{
	const struct sigaction action = { .sa_handler = handler };

	sigaction(number, &action, NULL);
}

static int read_yaml(struct gateway *gateway)
{
	int dir_fd = sim_session_dir_open(gateway->cfg.dir, false), rc;
	size_t len;

	if (dir_fd < 0)
		return dir_fd;
	rc = sim_session_dir_read(dir_fd, SIM_SESSION_TOPOLOGY, &gateway->yaml, &len);
	close(dir_fd);
	return rc;
}

static int open_session(struct gateway *gateway)
{
	const char *path = getenv("BFSIM_PATH"); /* to memory of programs here */
	const struct sim_session_cfg cfg = { .dir = gateway->cfg.dir,
					     .side = "gateway",
					     .forced_path = path && path[0] ? path : NULL };
	const struct pcie_topology *topology;
	int rc = sim_session_attach(&cfg, &gateway->session);

	if (rc < 0)
		return rc;
	topology = sim_session_topology(gateway->session);
	memcpy(gateway->session_id, sim_session_id(gateway->session), sizeof(gateway->session_id));
	gateway->clock = sim_clock_mode(sim_session_clock(gateway->session));
	rc = members_open(gateway, topology);
	if (rc == 0)
		rc = read_yaml(gateway);
	if (rc == 0)
		rc = sim_target_create(MAX_PROGRAMS, &gateway->target);
	if (rc == 0)
		rc = queues_open(gateway);
	if (rc == 0)
		rc = mirrors_open(gateway, topology);
	if (rc == 0)
		rc = reach_open(gateway);
	if (rc == 0)
		rc = daemon_link_open(gateway);
	return rc;
}

/* What ends a sleep besides the rail. */
enum watched {
	WATCHED_JOBS,
	WATCHED_WAKE, /* by programs */
	WATCHED_TARGET,
	WATCHED_DAEMON,
	WATCHED_REACH, /* sockets of commands that reach into another machine, and of helpers */
};

static int watch_all(struct gateway *gateway)
{
	int rc = rail_watch(gateway->rail, gateway->jobs.wake_fd, WATCHED_JOBS);

	if (!gateway->session)
		return rc;
	if (rc == 0)
		rc = rail_watch(gateway->rail, gateway->wake.recv_fd, WATCHED_WAKE);
	if (rc == 0)
		rc = rail_watch(gateway->rail, sim_target_fd(gateway->target), WATCHED_TARGET);
	if (rc == 0)
		rc = rail_watch(gateway->rail, gateway->daemon_sock, WATCHED_DAEMON);
	if (rc == 0)
		rc = rail_watch(gateway->rail, gateway->reach_epoll_fd, WATCHED_REACH);
	return rc;
}

/* Connect to home; a gateway that was in the session tries again later if there is no way. Returns 0 or -errno. */
static int reconnect(struct gateway *gateway)
{
	int rc = members_connect(gateway);

	gateway->reconnect_ns = rc < 0 ? sim_monotonic_ns() + REPORT_NS : 0;
	return gateway->is_ready || gateway->cfg.is_again ? 0 : rc;
}

/* For steps that have not said themselves what failed. */
static int explain(int rc)
{
	if (rc < 0)
		sim_err("the gateway cannot start: %s", strerror(-rc));
	return rc;
}

static int gateway_open(struct gateway *gateway, const struct gateway_cfg *cfg)
{
	int rc;

	gateway->cfg = *cfg;
	gateway->rail_ops = &rail_ops;
	gateway->direct_ops = &members_direct_ops;
	gateway->daemon_sock = -1;
	gateway->wake = SIM_WAKE_NONE;
	rc = jobs_open(&gateway->jobs);
	if (rc < 0)
		return explain(rc);
	signalled = gateway;
	handle_signal(SIGTERM, on_signal);
	handle_signal(SIGINT,
		      cfg->dir ? SIG_IGN : on_signal); /* of a terminal, for all processes: the daemon has it, too */
	signal(SIGPIPE, SIG_IGN);
	rc = secure_keys_read(cfg->token_file, &gateway->keys);
	if (rc == 0 && cfg->dir)
		rc = explain(open_session(gateway));
	if (rc == 0)
		rc = open_rail(gateway);
	if (rc == 0)
		rc = explain(watch_all(gateway));
	if (rc == 0 && !cfg->is_home)
		rc = explain(reconnect(gateway));
	gateway->is_ready = rc == 0 && cfg->is_home;
	gateway->is_status_old = gateway->is_ready || cfg->is_again;
	return rc;
}

/* ---- the loop ---- */

static bool poll_all(struct gateway *gateway, enum rail_look look)
{
	bool found = rail_poll(gateway->rail, look);

	if (jobs_finish(&gateway->jobs)) {
		found = true;
		if (gateway->session) {
			mirrors_take_kicks(gateway);
			near_report_revoked(gateway);
			queues_end_revoked(gateway);
		}
	}
	if (!gateway->session)
		return found;
	if (look == RAIL_LOOK_ALL) {
		found |= daemon_msgs_poll(gateway);
		found |= reach_poll(gateway);
	}
	found |= sim_target_serve(gateway->target) > 0;
	found |= queues_poll(gateway);
	if (gateway->is_full) {
		gateway->is_full = false;
		mirrors_take_kicks(gateway);
	}
	found |= mirrors_poll(gateway);
	return outlets_poll(gateway) || found;
}

/* What this turn of the loop has to say. */
static void flush_links(struct gateway *gateway)
{
	struct link *link;

	LIST_FOREACH(link, &gateway->links, entry)
		link_flush(link);
}

/* What an ended link has carried stays in the counts of its machine. */
static void keep_counts(struct gateway *gateway, const struct link *link)
{
	struct gateway_machine *machine;

	if (link->machine >= gateway->num_machines)
		return;
	machine = &gateway->machines[link->machine];
	link_counts_add(&machine->sent, &link->sent);
	link_counts_add(&machine->received, &link->received);
	machine->num_ended++;
}

/* Tell of links that have ended, and free those that are closed. Nothing uses them here. */
static void settle_links(struct gateway *gateway)
{
	struct link *link, *next;

	for (link = LIST_FIRST(&gateway->links); link; link = next) {
		next = LIST_NEXT(link, entry);
		link_settle(link);
		if (link->state != LINK_CLOSED)
			continue;
		LIST_REMOVE(link, entry);
		keep_counts(gateway, link);
		link_destroy(link);
	}
}

/* What is due. Returns when something is due again. */
static uint64_t tick(struct gateway *gateway, uint64_t now_ns)
{
	uint64_t next_ns = now_ns + REPORT_NS;
	struct link *link;

	LIST_FOREACH(link, &gateway->links, entry)
		next_ns = min_u64(next_ns, link_tick(link, now_ns));
	next_ns = min_u64(next_ns, outage_tick(gateway, now_ns));
	next_ns = min_u64(next_ns, direct_tick(gateway, now_ns));
	next_ns = min_u64(next_ns, slow_link_tick(gateway, now_ns));
	next_ns = min_u64(next_ns, port_load_tick(gateway, now_ns));
	if (gateway->reconnect_ns > 0 && outage_blocks_home(gateway))
		gateway->reconnect_ns = now_ns + OUTAGE_STEP_NS;
	if (gateway->reconnect_ns > 0 && gateway->reconnect_ns <= now_ns)
		reconnect(gateway);
	if (gateway->reconnect_ns > 0)
		next_ns = min_u64(next_ns, gateway->reconnect_ns);
	next_ns = min_u64(next_ns, rail_tick(gateway->rail, now_ns));
	if (gateway->session && (gateway->is_ready || gateway->cfg.is_again) &&
	    (gateway->is_status_old || now_ns >= gateway->report_ns)) {
		gateway->report_ns = now_ns + REPORT_NS;
		daemon_link_report(gateway);
	}
	if (gateway->session)
		reach_tick(gateway, now_ns);
	if (gateway->is_leaving && !gateway->stop) {
		daemon_link_shut_down(gateway);
		gateway->stop = true;
	}
	return next_ns;
}

/* From here on a thread that has work for the gateway wakes it. Returns whether there is something already. */
static bool arm_all(struct gateway *gateway)
{
	return gateway->session && (queues_arm(gateway) || mirrors_arm(gateway) || outlets_arm(gateway) ||
				    !sim_target_arm(gateway->target));
}

static enum rail_look take_events(struct gateway *gateway, enum rail_slept slept, uint32_t watched)
{
	if (watched & 1u << WATCHED_WAKE)
		sim_wake_clear(&gateway->wake);
	if (watched & 1u << WATCHED_TARGET)
		sim_target_may_sleep(gateway->target);
	return slept == RAIL_NOT_SLEPT                                                          ? RAIL_LOOK_OFTEN :
	       slept == RAIL_WOKEN && !(watched & (1u << WATCHED_DAEMON | 1u << WATCHED_REACH)) ? RAIL_LOOK_WOKEN :
												  RAIL_LOOK_ALL;
}

/* A program that polls has an answer: its next request may come at once. Returns whether it has. */
static bool wait_for_request(struct gateway *gateway)
{
	uint64_t end_ns = sim_monotonic_ns() + GLANCE_NS;
	bool has_come;

	do
		has_come = queues_have_posts(gateway);
	while (!has_come && sim_monotonic_ns() < end_ns);
	return has_come;
}

/* Returns where to look next. */
static enum rail_look rest(struct gateway *gateway, uint64_t next_ns, bool may_spin)
{
	enum rail_slept slept = RAIL_NOT_SLEPT;
	bool has_answered;
	uint64_t now_ns = sim_monotonic_ns();
	uint32_t watched = 0;

	if (!LIST_EMPTY(&gateway->active))
		next_ns = min_u64(next_ns, now_ns + BUSY_SLEEP_NS);
	if (next_ns <= now_ns)
		return RAIL_LOOK_OFTEN;
	has_answered = gateway->has_answered && may_spin;
	gateway->has_answered = false;
	if (has_answered && wait_for_request(gateway))
		return RAIL_LOOK_WOKEN;
	if (!arm_all(gateway))
		slept = rail_sleep(gateway->rail, next_ns - now_ns, &watched);
	if (gateway->session)
		queues_disarm(gateway);
	return take_events(gateway, slept, watched);
}

static uint64_t find_spin_ns(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) >= SPIN_CPUS ? SPIN_NS : 0;
}

static void loop(struct gateway *gateway)
{
	const uint64_t spin_ns = find_spin_ns();
	uint64_t next_ns = 0, busy_ns = sim_monotonic_ns();
	enum rail_look look = RAIL_LOOK_ALL;
	uint32_t round = 0;

	while (!gateway->stop) {
		bool found = poll_all(gateway, ++round % RARE_ROUNDS == 0 ? RAIL_LOOK_ALL : look);
		uint64_t now_ns = sim_monotonic_ns();

		if (found && gateway->wakes_programs) /* one that polls has no CPU to spare */
			busy_ns = now_ns;
		if (now_ns >= next_ns || gateway->is_status_old || gateway->is_leaving || found)
			next_ns = tick(gateway, now_ns);
		flush_links(gateway);
		settle_links(gateway);
		look = RAIL_LOOK_OFTEN;
		if (gateway->stop)
			continue;
		if (now_ns - busy_ns >= spin_ns)
			look = rest(gateway, next_ns, spin_ns > 0); /* which looks at all that comes often */
		else if (!found)
			sched_yield(); /* a program, or the other gateway of a test, may wait for this CPU */
	}
}

/* ---- the end ---- */

static bool has_unsaid(const struct gateway *gateway)
{
	const struct link *link;

	LIST_FOREACH(link, &gateway->links, entry)
		if (link->state == LINK_UP && (!STAILQ_EMPTY(&link->queue) || !rail_is_idle(link->conn)))
			return true;
	return false;
}

static void say_goodbye(struct gateway *gateway)
{
	uint64_t end_ns = sim_monotonic_ns() + LINGER_MS * UINT64_C(1000000);

	if (gateway->rail && gateway->is_over)
		members_leave(gateway);
	flush_links(gateway);
	while (gateway->rail && has_unsaid(gateway) && sim_monotonic_ns() < end_ns) {
		rail_poll(gateway->rail, RAIL_LOOK_ALL);
		sched_yield();
	}
}

/* The process ends: its memory and its exports go with it. */
static void gateway_close(struct gateway *gateway)
{
	struct link *link;

	if (gateway->session)
		reach_close(gateway);
	say_goodbye(gateway);
	while ((link = LIST_FIRST(&gateway->links))) {
		LIST_REMOVE(link, entry);
		link_destroy(link);
	}
	if (gateway->listener != gateway->rail)
		rail_destroy(gateway->listener);
	rail_destroy(gateway->rail);
	daemon_link_close(gateway);
	secure_keys_free(gateway->keys);
}

int gateway_run(const struct gateway_cfg *cfg)
{
	static struct gateway gateway;
	int rc;

	LIST_INIT(&gateway.links);
	LIST_INIT(&gateway.active);
	LIST_INIT(&gateway.all_mirrors);
	LIST_INIT(&gateway.unarmed);
	LIST_INIT(&gateway.channels);
	TAILQ_INIT(&gateway.late_answers);
	rc = gateway_open(&gateway, cfg);
	if (rc == 0)
		loop(&gateway);
	gateway_close(&gateway);
	return rc < 0 ? rc : gateway.is_failed ? -ECONNREFUSED : 0;
}
