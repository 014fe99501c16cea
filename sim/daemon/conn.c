/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/base/log.h"

/* A process that does not read - it is stopped, in a debugger - shall not fall from
 * the card for it, nor fill the daemon with what others send it: who sends it one
 * letter more than this is refused. */
#define MAX_UNSENT_LETTERS 256
#define MAX_UNSENT_REPLIES 1024 /* a thread waits for its reply, so nobody honest leaves as many unread */

int daemon_watch(struct daemon *daemon, int fd, struct source *source)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};

	return epoll_ctl(daemon->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Closing alone does not end it as long as a child of ours that has just begun has its copies of our descriptors. */
static void unwatch(struct daemon *daemon, const struct conn *conn)
{
	epoll_ctl(daemon->epoll_fd, EPOLL_CTL_DEL, conn->sock, NULL);
	if (conn->pidfd >= 0)
		epoll_ctl(daemon->epoll_fd, EPOLL_CTL_DEL, conn->pidfd, NULL);
}

static void watch_for(struct daemon *daemon, struct conn *conn, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = &conn->socket};

	epoll_ctl(daemon->epoll_fd, EPOLL_CTL_MOD, conn->sock, &event);
}

static int conn_new(struct daemon *daemon, int sock)
{
	struct conn *conn = calloc(1, sizeof(*conn));
	int rc;

	if (!conn)
		return -ENOMEM;
	*conn = (struct conn){.sock = sock, .pidfd = -1, .unsent_end = &conn->unsent, .next = daemon->conns,
			      .socket = {SOURCE_SOCKET, conn}, .process = {SOURCE_PROCESS, conn}};
	rc = daemon_watch(daemon, sock, &conn->socket);
	if (rc < 0)
		free(conn);
	else
		daemon->conns = conn;
	return rc;
}

/* Without a descriptor for it, a process would stay in the queue of the
 * listening socket and keep the daemon busy: take it and turn it away. */
static void turn_away(struct daemon *daemon)
{
	int sock;

	close(daemon->spare_fd);
	sock = accept4(daemon->listen_sock, NULL, NULL, SOCK_CLOEXEC);
	if (sock >= 0)
		close(sock);
	daemon->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void daemon_accept(struct daemon *daemon)
{
	int sock = accept4(daemon->listen_sock, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int rc = sock < 0 ? -errno : conn_new(daemon, sock);

	if (rc == 0 || rc == -EAGAIN || rc == -EINTR || rc == -ECONNABORTED)
		return;
	if ((rc == -EMFILE || rc == -ENFILE) && daemon_drop_oldest_recording(daemon))
		return; /* it still waits, and is taken next */
	if (sock >= 0)
		close(sock);
	else
		turn_away(daemon);
	if (rc == -EMFILE || rc == -ENFILE)
		sim_err("cannot take another process: no more descriptors; raise ulimit -n where the daemon starts");
	else
		sim_err("cannot take another process: error %d", -rc);
}

/* The process that connected; it waits for the reply to its ATTACH, so its
 * number still means it. */
void daemon_watch_process(struct daemon *daemon, struct conn *conn)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	if (getsockopt(conn->sock, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 || who.pid <= 0)
		return;
	conn->pidfd = pidfd_open(who.pid, 0);
	if (conn->pidfd >= 0 && daemon_watch(daemon, conn->pidfd, &conn->process) < 0) {
		close(conn->pidfd);
		conn->pidfd = -1;
	}
}

static bool is_letter(const struct sim_msg *msg)
{
	return !msg->is_reply && (msg->type == SIM_MSG_OFFER || msg->type == SIM_MSG_ACCEPT || msg->type == SIM_MSG_LETTER);
}

bool daemon_has_room(const struct conn *conn)
{
	return conn->num_unsent_letters < MAX_UNSENT_LETTERS;
}

static void drop_first_unsent(struct conn *conn)
{
	struct packet *first = conn->unsent;

	conn->unsent = first->next;
	if (!conn->unsent)
		conn->unsent_end = &conn->unsent;
	conn->num_unsent_replies -= first->msg.is_reply;
	conn->num_unsent_letters -= is_letter(&first->msg);
	sim_fds_close(&first->fds);
	free(first);
}

void daemon_conn_free(struct conn *conn)
{
	while (conn->unsent)
		drop_first_unsent(conn);
	daemon_guard_end(&conn->guard); /* of one that could not be stopped */
	if (conn->pidfd >= 0)
		close(conn->pidfd);
	close(conn->sock);
	free(conn);
}

/* Whether the same knock waits already: they all say the same. */
static bool is_kept(const struct conn *conn, const struct sim_msg *knock)
{
	for (const struct packet *p = conn->unsent; p; p = p->next)
		if (p->msg.type == SIM_MSG_KNOCK && p->msg.body.channel.number == knock->body.channel.number)
			return true;
	return false;
}

/* Takes @fds. */
static void keep_unsent(struct daemon *daemon, struct conn *conn, const struct sim_msg *msg, struct sim_fds *fds)
{
	struct packet *packet;

	if (msg->type == SIM_MSG_NUDGE) /* a late one is of no use */
		return;
	if (msg->type == SIM_MSG_KNOCK && is_kept(conn, msg))
		return;
	if (msg->is_reply && conn->num_unsent_replies == MAX_UNSENT_REPLIES) {
		sim_warn("a process asks but does not read the answers; its connection is closed");
		conn->dead = true;
		return;
	}
	packet = calloc(1, sizeof(*packet));
	if (!packet) {
		conn->dead = true;
		return;
	}
	packet->msg = *msg;
	packet->fds = *fds;
	fds->count = 0;
	conn->num_unsent_replies += msg->is_reply;
	conn->num_unsent_letters += is_letter(msg);
	*conn->unsent_end = packet;
	conn->unsent_end = &packet->next;
	watch_for(daemon, conn, EPOLLIN | EPOLLOUT);
}

/* Try now. Whether that was all: it has it, or nobody is there to have it. What
 * such a one said before it left is still to be read, then it is dead. */
static bool deliver(struct conn *conn, struct sim_msg *msg, const int *fds, uint32_t num_fds)
{
	int rc = sim_msg_send_fds(conn->sock, msg, fds, num_fds);

	if (rc == -ETOOMANYREFS) { /* too many descriptors are on their way already: it will miss them and say so */
		sim_warn("cannot pass on descriptors: too many are on their way; raise ulimit -n where the daemon starts");
		rc = sim_msg_send_fds(conn->sock, msg, NULL, 0);
	}
	if (rc < 0 && rc != -EAGAIN && rc != -EPIPE)
		conn->dead = true;
	return rc != -EAGAIN;
}

void daemon_send_fds(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	if (conn->dead)
		return;
	if (conn->unsent || !deliver(conn, msg, fds->fd, fds->count))
		keep_unsent(daemon, conn, msg, fds);
}

void daemon_send(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int fd)
{
	struct sim_fds kept = {.fd = {-1}};

	if (conn->dead)
		return;
	if (!conn->unsent && deliver(conn, msg, &fd, fd >= 0))
		return;
	if (fd >= 0)
		kept.fd[0] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	kept.count = kept.fd[0] >= 0;
	keep_unsent(daemon, conn, msg, &kept);
	sim_fds_close(&kept);
}

void daemon_flush(struct daemon *daemon, struct conn *conn)
{
	while (conn->unsent && !conn->dead) {
		if (!deliver(conn, &conn->unsent->msg, conn->unsent->fds.fd, conn->unsent->fds.count))
			return;
		drop_first_unsent(conn);
	}
	conn->told_full = false;
	watch_for(daemon, conn, EPOLLIN);
}

struct conn *daemon_conn_of(struct daemon *daemon, uint32_t peer)
{
	for (struct conn *conn = daemon->conns; conn; conn = conn->next)
		if (conn->attached && conn->peer == peer)
			return conn;
	return NULL;
}

void daemon_reap(struct daemon *daemon)
{
	struct conn **link = &daemon->conns;

	while (*link) {
		struct conn *conn = *link;

		if (!conn->dead) {
			link = &conn->next;
			continue;
		}
		daemon_continue(daemon, conn);
		daemon_detach(daemon, conn);
		*link = conn->next;
		unwatch(daemon, conn);
		daemon_conn_free(conn);
		link = &daemon->conns; /* sending to others may have found more dead ones */
	}
}
