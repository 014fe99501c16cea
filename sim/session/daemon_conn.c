/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/log.h"

static int watch(struct daemon *daemon, struct conn *conn, int op, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = conn};

	return epoll_ctl(daemon->epoll_fd, op, conn->sock, &event);
}

void daemon_accept(struct daemon *daemon)
{
	int sock = accept4(daemon->listen_sock, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct conn *conn;

	if (sock < 0)
		return;
	conn = calloc(1, sizeof(*conn));
	if (conn) {
		conn->sock = sock;
		if (watch(daemon, conn, EPOLL_CTL_ADD, EPOLLIN) == 0) {
			conn->next = daemon->conns;
			daemon->conns = conn;
			return;
		}
	}
	sim_err("cannot take another process: %s", conn ? "no more descriptors; raise ulimit -n" : "out of memory");
	free(conn);
	close(sock);
}

static void packet_free(struct packet *packet)
{
	if (packet->fd >= 0)
		close(packet->fd);
	free(packet);
}

void daemon_conn_free(struct conn *conn)
{
	while (conn->unsent) {
		struct packet *first = conn->unsent;

		conn->unsent = first->next;
		packet_free(first);
	}
	close(conn->sock);
	free(conn);
}

static void keep_unsent(struct daemon *daemon, struct conn *conn, const struct sim_msg *msg, int fd)
{
	struct packet *packet = calloc(1, sizeof(*packet));
	struct packet **tail = &conn->unsent;

	if (!packet) {
		conn->dead = true;
		return;
	}
	packet->msg = *msg;
	packet->fd = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	while (*tail)
		tail = &(*tail)->next;
	*tail = packet;
	watch(daemon, conn, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
}

void daemon_send(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int fd)
{
	int rc = conn->unsent ? -EAGAIN : sim_msg_send(conn->sock, msg, fd);

	if (rc == -EAGAIN && msg->type != SIM_MSG_NUDGE) /* a late nudge is of no use */
		keep_unsent(daemon, conn, msg, fd);
	else if (rc < 0 && rc != -EAGAIN)
		conn->dead = true;
}

void daemon_flush(struct daemon *daemon, struct conn *conn)
{
	while (conn->unsent) {
		struct packet *first = conn->unsent;
		int rc = sim_msg_send(conn->sock, &first->msg, first->fd);

		if (rc == -EAGAIN)
			return;
		if (rc < 0)
			conn->dead = true;
		conn->unsent = first->next;
		packet_free(first);
	}
	watch(daemon, conn, EPOLL_CTL_MOD, EPOLLIN);
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
		daemon_detach(daemon, conn);
		*link = conn->next;
		daemon_conn_free(conn);
		link = &daemon->conns; /* sending to others may have found more dead ones */
	}
}
