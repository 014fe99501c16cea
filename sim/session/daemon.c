/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "dir.h"
#include "sim/log.h"

#define EVENTS_AT_ONCE 64

/* Read @path, or take the built-in topology; *ret_yaml is the caller's. */
static int read_topology(const char *path, char **ret_yaml, size_t *ret_len)
{
	const char *yaml = pcie_topology_default_yaml();
	int rc;

	if (path) {
		rc = sim_dir_read(AT_FDCWD, path, ret_yaml, ret_len);
		if (rc < 0)
			sim_err("topology file %s: %s", path, strerror(-rc));
		return rc;
	}
	*ret_len = strlen(yaml);
	*ret_yaml = strdup(yaml);
	return *ret_yaml ? 0 : -ENOMEM;
}

static int load_topology(struct daemon *daemon, const char *path)
{
	char error[PCIE_ERROR_SIZE];
	char *yaml;
	size_t len;
	int rc = read_topology(path, &yaml, &len);

	if (rc < 0)
		return rc;
	rc = pcie_topology_parse(path ? path : "built-in topology", yaml, len, &daemon->topology, error);
	if (rc < 0)
		sim_err("%s", rc == -ENOMEM ? "out of memory" : error);
	else
		rc = sim_dir_write(daemon->dir_fd, "topology.yaml", yaml, len);
	free(yaml);
	return rc;
}

static int watch(struct daemon *daemon, int fd, void *tag)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = tag};

	return epoll_ctl(daemon->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Be told of SIGTERM and SIGINT as events. */
static int open_signals(struct daemon *daemon)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	signal(SIGPIPE, SIG_IGN);
	daemon->signal_fd = signalfd(-1, &ends, SFD_CLOEXEC);
	return daemon->signal_fd < 0 ? -errno : watch(daemon, daemon->signal_fd, &daemon->signal_fd);
}

static int open_session(struct daemon *daemon, const struct sim_daemon_cfg *cfg)
{
	int rc;

	daemon->dir_fd = sim_dir_open(cfg->dir, true);
	if (daemon->dir_fd < 0)
		return daemon->dir_fd;
	daemon->lock_fd = sim_dir_lock(daemon->dir_fd);
	if (daemon->lock_fd < 0)
		return daemon->lock_fd;
	rc = load_topology(daemon, cfg->topology_path);
	if (rc == 0)
		rc = sim_card_create(daemon->topology, &daemon->card);
	if (rc == 0 && getrandom(daemon->session, sizeof(daemon->session), 0) != sizeof(daemon->session))
		rc = -EIO;
	if (rc < 0)
		return rc;
	daemon->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (daemon->epoll_fd < 0)
		return -errno;
	rc = open_signals(daemon);
	if (rc < 0)
		return rc;
	daemon->listen_sock = sim_dir_listen(daemon->dir_fd);
	if (daemon->listen_sock < 0)
		return daemon->listen_sock;
	return watch(daemon, daemon->listen_sock, &daemon->listen_sock);
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void close_session(struct daemon *daemon)
{
	while (daemon->conns) {
		struct conn *first = daemon->conns;

		daemon_detach(daemon, first);
		daemon->conns = first->next;
		daemon_conn_free(first);
	}
	if (daemon->lock_fd >= 0)
		sim_dir_clean(daemon->dir_fd);
	sim_card_destroy(daemon->card);
	pcie_topology_destroy(daemon->topology);
	free(daemon->objects);
	close_fd(daemon->listen_sock);
	close_fd(daemon->signal_fd);
	close_fd(daemon->epoll_fd);
	close_fd(daemon->lock_fd);
	close_fd(daemon->dir_fd);
}

static void take_packets(struct daemon *daemon, struct conn *conn)
{
	struct sim_msg msg;
	int fd;

	while (!conn->dead && !daemon->stop) {
		int rc = sim_msg_recv(conn->sock, &msg, &fd);

		if (rc == -EAGAIN)
			return;
		if (rc == -EPROTO)
			sim_warn("a process sent what is not a message of this version; its connection is closed");
		if (rc < 0)
			conn->dead = true;
		else
			daemon_take(daemon, conn, &msg, fd);
	}
}

static void take_event(struct daemon *daemon, const struct epoll_event *event)
{
	struct conn *conn = event->data.ptr;

	if (event->data.ptr == &daemon->listen_sock) {
		daemon_accept(daemon);
	} else if (event->data.ptr == &daemon->signal_fd) {
		daemon->stop = true;
	} else {
		if (event->events & EPOLLOUT)
			daemon_flush(daemon, conn);
		if (event->events & ~(uint32_t)EPOLLOUT)
			take_packets(daemon, conn);
	}
}

static void loop(struct daemon *daemon)
{
	while (!daemon->stop) {
		struct epoll_event events[EVENTS_AT_ONCE];
		int count = epoll_wait(daemon->epoll_fd, events, EVENTS_AT_ONCE, daemon_next_deadline_ms(daemon));

		for (int i = 0; i < count && !daemon->stop; i++)
			take_event(daemon, &events[i]);
		daemon_expire(daemon);
		daemon_reap(daemon);
	}
}

int sim_daemon_run(const struct sim_daemon_cfg *cfg)
{
	struct daemon daemon = {.dir_fd = -1, .lock_fd = -1, .listen_sock = -1, .epoll_fd = -1, .signal_fd = -1};
	int rc = open_session(&daemon, cfg);

	if (rc == -EBUSY)
		sim_err("a session runs in %s already: use it, end it with bfsim down, or choose another --session",
			cfg->dir);
	else if (rc < 0 && rc != -EINVAL)
		sim_err("cannot start a session in %s: %s", cfg->dir, strerror(-rc));
	if (rc == 0) {
		if (cfg->ready_fd >= 0 && write(cfg->ready_fd, "", 1) == 1)
			close(cfg->ready_fd);
		loop(&daemon);
	}
	close_session(&daemon);
	return rc;
}
