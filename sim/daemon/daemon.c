/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's life: session directory, card and socket, and the event loop. */
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"
#include "sim/base/watch.h"
#include "sim/protocol/session_dir.h"
#include "sim/base/log.h"
#include "sim/trace/trace.h"

#define MAX_EPOLL_EVENTS 64
#define MAX_DRAIN_ROUNDS 1024 /* from a process that died: more packets than its socket holds */

/* Read @path, or take the built-in topology; *ret_yaml is the caller's. */
static int read_topology(const char *path, char **ret_yaml, size_t *ret_len)
{
	const char *yaml = pcie_topology_default_yaml();
	int rc;

	if (path) {
		rc = sim_session_dir_read(AT_FDCWD, path, ret_yaml, ret_len);
		if (rc < 0)
			sim_err("topology file %s: %s", path, sim_session_dir_strerror(rc));
		return rc;
	}
	*ret_len = strlen(yaml);
	*ret_yaml = strdup(yaml);
	return *ret_yaml ? 0 : -ENOMEM;
}

static int parse_topology(struct daemon *daemon, const char *path, const char *yaml, size_t len)
{
	char error[PCIE_ERROR_SIZE];
	int rc = pcie_topology_parse(path ? path : "built-in topology", yaml, len, &daemon->topology, error);

	if (rc < 0)
		sim_err("%s", rc == -ENOMEM ? "out of memory" : error);
	return rc;
}

/* Open and lock the session's directory, and write the topology into it. */
static int claim_session_dir(struct daemon *daemon, const char *dir, const char *yaml, size_t len)
{
	daemon->dir_fd = sim_session_dir_open(dir, false);
	if (daemon->dir_fd == -ENOENT) {
		daemon->dir_fd = sim_session_dir_open(dir, true);
		daemon->created_dir = daemon->dir_fd >= 0;
	}
	if (daemon->dir_fd < 0)
		return daemon->dir_fd;
	daemon->lock_fd = sim_session_dir_lock(daemon->dir_fd);
	if (daemon->lock_fd < 0)
		return daemon->lock_fd;
	return sim_session_dir_write(daemon->dir_fd, SIM_SESSION_TOPOLOGY, yaml, len);
}

static int open_card(struct daemon *daemon, enum sim_clock_mode clock)
{
	bool is_joined = daemon->gateway.cfg && daemon->gateway.cfg->join; /* the session's id is home's */
	int rc;

	if (!is_joined && getrandom(daemon->session, sizeof(daemon->session), 0) != sizeof(daemon->session))
		return -EIO;
	rc = sim_shared_state_create(clock, &daemon->shared, &daemon->shared_fd);
	if (rc == 0) {
		daemon->zero_ns = sim_clock_page_start_ns(&sim_shared_state_of(&daemon->shared)->clock);
		rc = daemon_open_fault_events(daemon);
	}
	if (rc == 0)
		rc = sim_card_create(daemon->topology, &daemon->card);
	if (rc == 0)
		sim_card_set_machine(daemon->card, daemon->machine_number);
	return rc < 0 ? rc : sim_services_create(daemon->card, daemon->topology, &daemon->services);
}

static int share_session(const struct daemon *daemon)
{
	int rc = sim_session_dir_share(daemon->dir_fd, daemon->group);

	if (rc < 0)
		sim_err("cannot share the session with group %u: %s; the daemon's user must own the directory and be in the group",
			(unsigned int)daemon->group, strerror(-rc));
	return rc;
}

static int listen_for_processes(struct daemon *daemon)
{
	daemon->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	daemon->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (daemon->spare_fd < 0 || daemon->epoll_fd < 0)
		return -errno;
	daemon->listen_sock = sim_session_dir_listen(daemon->dir_fd);
	if (daemon->listen_sock < 0)
		return daemon->listen_sock;
	fcntl(daemon->listen_sock, F_SETFL, O_NONBLOCK);
	return daemon_watch(daemon, daemon->listen_sock, &daemon->listening);
}

/* Parse the topology first: a wrong one is reported before any file is created. Each step says why it fails. Returns 0 with the
 * topology's text, which the caller frees. */
static int read_session(struct daemon *daemon, const struct sim_daemon_cfg *cfg, enum sim_clock_mode *clock,
			char **ret_yaml, size_t *ret_len)
{
	const struct sim_machines_cfg *machines = cfg->machines;
	const char *name = machines && machines->join ? "home's topology" : cfg->topology_path;
	int rc = machines && machines->join ? daemon_gateway_fetch(machines, daemon, ret_yaml, ret_len, clock) :
					      read_topology(cfg->topology_path, ret_yaml, ret_len);

	if (rc < 0)
		return rc;
	rc = parse_topology(daemon, name, *ret_yaml, *ret_len);
	if (rc == 0)
		rc = daemon_find_machine(daemon);
	if (rc < 0)
		free(*ret_yaml);
	return rc;
}

static void explain(const char *dir, int rc)
{
	if (rc == -EBUSY)
		sim_err("a session runs in %s already: use it, end it with bfsim down, or choose another --session",
			dir);
	else if (rc == -EFBIG)
		sim_err("cannot start a session in %s: its shared memory or a file is larger than ulimit -f permits; raise that",
			dir);
	else if (rc < 0)
		sim_err("cannot start a session in %s: %s", dir, sim_session_dir_strerror(rc));
}

static int open_session(struct daemon *daemon, const struct sim_daemon_cfg *cfg)
{
	enum sim_clock_mode clock = cfg->clock;
	char *yaml;
	size_t len;
	int rc = read_session(daemon, cfg, &clock, &yaml, &len);

	if (rc < 0)
		return rc;
	rc = claim_session_dir(daemon, cfg->dir, yaml, len);
	free(yaml);
	if (rc == 0)
		rc = open_card(daemon, clock);
	if (rc == 0)
		rc = listen_for_processes(daemon);
	explain(cfg->dir, rc);
	return rc == 0 && daemon->has_group ? share_session(daemon) : rc;
}

static int max_open_fds(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (int)min_u64(limit.rlim_cur, INT_MAX) : INT_MAX;
}

int daemon_open(struct daemon *daemon, const struct sim_daemon_cfg *cfg)
{
	*daemon = (struct daemon){ .dir_fd = -1,
				   .lock_fd = -1,
				   .listen_sock = -1,
				   .epoll_fd = -1,
				   .signal_fd = -1,
				   .spare_fd = -1,
				   .shared_fd = -1,
				   .max_fds = max_open_fds(),
				   .has_group = cfg->has_group,
				   .group = cfg->group,
				   .passes_memory = cfg->passes_memory,
				   .trace_level = cfg->trace_level,
				   .listening = { SOURCE_LISTEN, NULL },
				   .signals = { SOURCE_SIGNAL, NULL },
				   .gateway = { .cfg = cfg->machines, .pidfd = -1, .source = { SOURCE_GATEWAY, NULL } },
				   .process_ops = &daemon_default_process_ops };
	LIST_INIT(&daemon->gateway.imports);
	LIST_INIT(&daemon->gateway.objects);
	TAILQ_INIT(&daemon->conns);
	TAILQ_INIT(&daemon->recordings);
	TAILQ_INIT(&daemon->unreleased);
	return open_session(daemon, cfg);
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void daemon_close(struct daemon *daemon)
{
	daemon_gateway_close(daemon);
	daemon_drop_recordings(daemon);
	if (daemon->services)
		daemon_drop_channels(daemon); /* processes notice the end of the daemon's socket */
	while (!TAILQ_EMPTY(&daemon->conns)) {
		struct conn *first = TAILQ_FIRST(&daemon->conns);

		daemon_conn_lose(first);
		daemon_resume_process(daemon, first);
		daemon_detach(daemon, first);
		TAILQ_REMOVE(&daemon->conns, first, entry);
		daemon_conn_free(daemon, first);
	}
	if (daemon->lock_fd >= 0)
		sim_session_dir_remove_files(daemon->dir_fd);
	sim_services_destroy(daemon->services);
	sim_card_destroy(daemon->card);
	daemon_close_fault_events(daemon);
	sim_segment_unmap(&daemon->shared);
	pcie_topology_destroy(daemon->topology);
	free(daemon->shared_objects);
	free(daemon->slow_rules);
	daemon_free_outages(daemon);
	sim_watch_close(daemon->epoll_fd, daemon->listen_sock);
	sim_watch_close(daemon->epoll_fd, daemon->signal_fd);
	close_fd(daemon->epoll_fd);
	close_fd(daemon->spare_fd);
	close_fd(daemon->shared_fd);
	close_fd(daemon->lock_fd);
	close_fd(daemon->dir_fd);
}

/* Its sender waits for the reply, and seldom has sent more. */
static bool has_reply(const struct sim_msg *msg)
{
	return !msg->is_reply && sim_msg_size(msg->type, true) > 0;
}

/* Returns true when more packets may wait. A request with a reply ends its sender's turn, however many are behind it: a status costs
 * as much as hundreds of others. */
static bool receive_packets(struct daemon *daemon, struct conn *conn)
{
	for (int i = 0; i < SIM_DAEMON_PACKETS_PER_STEP && !daemon_conn_state_has_ended(conn->state) && !daemon->stop;
	     i++) {
		struct sim_msg msg;
		struct sim_fds fds;
		bool ends_turn;
		int rc = sim_msg_recv_fds(conn->sock, &msg, &fds);

		if (rc == -EAGAIN)
			return false;
		if (rc == -EPROTO)
			sim_warn("a process sent what is not a message of this version; its connection is closed");
		if (rc < 0) {
			daemon_conn_lose(conn);
			return false;
		}
		if (conn->state == DAEMON_CONN_UNRESPONSIVE)
			daemon_conn_go(conn, DAEMON_CONN_ATTACHED);
		ends_turn = has_reply(&msg);
		daemon_handle_msg(daemon, conn, &msg, &fds);
		sim_fds_close(&fds);
		if (ends_turn)
			break;
	}
	return !daemon_conn_state_has_ended(conn->state) && !daemon->stop;
}

/* Handle the packets that a process sent before it died. */
static void drain_dead_process(struct daemon *daemon, struct conn *dying)
{
	for (int turn = 0; turn < MAX_DRAIN_ROUNDS && receive_packets(daemon, dying); turn++)
		;
	daemon_conn_lose(dying);
}

/* Without its directory, a daemon would run for ever: neither a process nor bfsim down could find it. */
static void check_session_dir(struct daemon *daemon)
{
	char inotify_buf[4096];

	while (read(daemon->dir_watch_fd, inotify_buf, sizeof(inotify_buf)) > 0)
		;
	daemon->unreachable = !sim_session_dir_has_socket(daemon->dir_fd);
}

static void handle_event(struct daemon *daemon, const struct epoll_event *event)
{
	const struct source *source = event->data.ptr;

	switch (source->kind) {
	case SOURCE_LISTEN:
		daemon->must_accept = true; /* after the removal of dead connections, which frees descriptors */
		break;
	case SOURCE_SIGNAL:
		daemon->stop = true;
		break;
	case SOURCE_DIR:
		check_session_dir(daemon);
		break;
	case SOURCE_GATEWAY:
		daemon_gateway_ended(daemon);
		break;
	case SOURCE_PROCESS:
		drain_dead_process(daemon, source->conn);
		break;
	case SOURCE_SOCKET:
		if (event->events & EPOLLOUT)
			daemon_flush(daemon, source->conn);
		if (event->events & ~(uint32_t)EPOLLOUT)
			receive_packets(daemon, source->conn);
		break;
	}
}

/* Returns the time for epoll_wait(): until the next deadline, at most @timeout_ms. */
static int epoll_timeout_ms(const struct daemon *daemon, int timeout_ms)
{
	uint64_t deadline =
		min_u64(min_u64(daemon_revocations_deadline_ms(daemon), daemon_describe_deadline_ms(daemon)),
			min_u64(sim_services_deadline_ms(daemon->services), daemon_fault_events_deadline_ms(daemon)));
	uint64_t now = sim_monotonic_ms();

	deadline = min_u64(deadline, min_u64(daemon_gateway_deadline_ms(daemon), daemon_far_deadline_ms(daemon)));
	if (deadline == UINT64_MAX)
		return timeout_ms;
	if (deadline <= now)
		return 0;
	if (timeout_ms >= 0 && (uint64_t)timeout_ms < deadline - now)
		return timeout_ms;
	return (int)min_u64(deadline - now, INT_MAX);
}

static int conn_new(struct daemon *daemon, int sock)
{
	struct conn *conn = calloc(1, sizeof(*conn));
	bool is_refused = false;
	struct ucred cred;
	int rc = conn ? daemon_check_user(daemon, sock, &cred, &is_refused) : -ENOMEM;

	if (rc < 0) {
		free(conn);
		return rc;
	}
	*conn = (struct conn){ .sock = sock,
			       .is_refused = is_refused,
			       .is_gateway = daemon->gateway.pid > 0 && cred.pid == daemon->gateway.pid,
			       .pid = cred.pid,
			       .uid = cred.uid,
			       .pidfd = -1,
			       .socket = { SOURCE_SOCKET, conn },
			       .process = { SOURCE_PROCESS, conn } };
	STAILQ_INIT(&conn->unsent);
	rc = daemon_watch(daemon, sock, &conn->socket);
	if (rc == 0) {
		TAILQ_INSERT_HEAD(&daemon->conns, conn, entry);
		return 0;
	}
	daemon->num_refused -= is_refused;
	free(conn);
	return rc;
}

/* Without a free descriptor, a connecting process would stay in the listening socket's queue and keep the
 * daemon busy. Accept its connection with the spare descriptor and close it. */
static void reject_next(struct daemon *daemon)
{
	int sock;

	close(daemon->spare_fd);
	sock = accept4(daemon->listen_sock, NULL, NULL, SOCK_CLOEXEC);
	if (sock >= 0)
		close(sock);
	daemon->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void accept_process(struct daemon *daemon)
{
	int sock = accept4(daemon->listen_sock, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int rc = sock < 0 ? -errno : 0;

	if (rc == 0) {
		sock = daemon_lower_fd(daemon, sock);
		rc = conn_new(daemon, sock);
	}

	if (rc == 0 || rc == -EAGAIN || rc == -EINTR || rc == -ECONNABORTED)
		return;
	if ((rc == -EMFILE || rc == -ENFILE) && daemon_drop_oldest_recording(daemon))
		return; /* the connection stays in the queue; the next step accepts it */
	if (sock >= 0)
		close(sock);
	else
		reject_next(daemon);
	if (rc == -EUSERS) /* too many that are refused */
		return;
	if (rc == -EMFILE || rc == -ENFILE)
		sim_err("cannot take another process: no more descriptors; raise ulimit -n where the daemon starts");
	else
		sim_err("cannot take another process: error %d", -rc);
}

static struct conn *find_ended_conn(const struct daemon *daemon)
{
	struct conn *conn;

	TAILQ_FOREACH(conn, &daemon->conns, entry)
		if (daemon_conn_state_has_ended(conn->state))
			return conn;
	return NULL;
}

/* Remove connections that have ended, with their exports, imports and channels. Messages to other processes may find more of
 * them. */
static void reap_ended_conns(struct daemon *daemon)
{
	struct conn *conn;

	while ((conn = find_ended_conn(daemon))) {
		daemon_resume_process(daemon, conn);
		daemon_detach(daemon, conn);
		TAILQ_REMOVE(&daemon->conns, conn, entry);
		daemon->num_refused -= conn->is_refused;
		daemon_conn_free(daemon, conn);
	}
}

int daemon_step(struct daemon *daemon, int timeout_ms)
{
	struct epoll_event events[MAX_EPOLL_EVENTS];
	int count = epoll_wait(daemon->epoll_fd, events, MAX_EPOLL_EVENTS, epoll_timeout_ms(daemon, timeout_ms));
	uint64_t now = sim_monotonic_ms();

	for (int i = 0; i < count && !daemon->stop; i++)
		handle_event(daemon, &events[i]);
	daemon_expire_revocations(daemon, now);
	daemon_expire_describe_requests(daemon, now);
	daemon_expire_channels(daemon, now);
	daemon_run_fault_events(daemon);
	daemon_far_expire(daemon, now);
	daemon_gateway_run(daemon, now);
	reap_ended_conns(daemon);
	if (daemon->must_accept)
		accept_process(daemon);
	daemon->must_accept = false;
	if (daemon->unreachable && TAILQ_EMPTY(&daemon->conns))
		daemon->stop = true;
	return count < 0 ? 0 : count;
}
