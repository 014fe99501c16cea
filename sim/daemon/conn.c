/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections: sends messages to processes and queues those that a full socket does not take. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "pcie_model/arith.h"
#include "sim/base/log.h"
#include "sim/base/pidfd.h"
#include "sim/base/watch.h"

/* A process that does not read (stopped, or in a debugger) stays attached, but must not fill the
 * daemon's memory: the daemon refuses further handshake messages to it at this limit. */
#define RESERVED_FDS          64 /* for connections and their requests: bfsim ps works while processes use the others up */
#define MAX_UNSENT_HANDSHAKES 256
#define MAX_UNSENT_REPLIES    1024 /* a thread waits for its reply, so a correct process leaves fewer unread */

int daemon_watch(struct daemon *daemon, int fd, struct source *source)
{
	return sim_watch_add(daemon->epoll_fd, fd, EPOLLIN, (epoll_data_t){ .ptr = source });
}

/* The kernel gives the lowest free number: a high one says how many are open. */
bool daemon_may_keep_fd(const struct daemon *daemon, int fd)
{
	int num_reserved = (int)min_u32(RESERVED_FDS, (uint32_t)daemon->max_fds / 4);

	return fd < daemon->max_fds - num_reserved;
}

static void set_epoll_events(struct daemon *daemon, struct conn *conn, uint32_t events)
{
	sim_watch_change(daemon->epoll_fd, conn->sock, events, (epoll_data_t){ .ptr = &conn->socket });
}

void daemon_watch_process(struct daemon *daemon, struct conn *conn)
{
	conn->pidfd = sim_pidfd_of_peer(conn->sock);
	if (conn->pidfd >= 0 && daemon_watch(daemon, conn->pidfd, &conn->process) < 0) {
		close(conn->pidfd);
		conn->pidfd = -1;
	}
}

bool daemon_conn_go(struct conn *conn, enum daemon_conn_state to)
{
	return daemon_conn_state_set(&conn->state, to);
}

/* One that never attached leaves nothing. */
void daemon_conn_lose(struct conn *conn)
{
	if (!daemon_conn_state_has_ended(conn->state))
		daemon_conn_go(conn, daemon_conn_state_is_attached(conn->state) ? DAEMON_CONN_LOST : DAEMON_CONN_GONE);
}

static bool is_handshake(const struct sim_msg *msg)
{
	return !msg->is_reply &&
	       (msg->type == SIM_MSG_OFFER || msg->type == SIM_MSG_ACCEPT || msg->type == SIM_MSG_HANDSHAKE);
}

bool daemon_can_queue_handshake(const struct conn *conn)
{
	return conn->num_unsent_handshakes < MAX_UNSENT_HANDSHAKES;
}

static void drop_first_unsent(struct conn *conn)
{
	struct packet *first = STAILQ_FIRST(&conn->unsent);

	STAILQ_REMOVE_HEAD(&conn->unsent, entry);
	conn->num_unsent_replies -= first->msg.is_reply;
	conn->num_unsent_handshakes -= is_handshake(&first->msg);
	sim_fds_close(&first->fds);
	free(first);
}

/* A child that the daemon has just forked (resumer.c) still holds copies of the descriptors. */
void daemon_conn_free(struct daemon *daemon, struct conn *conn)
{
	while (!STAILQ_EMPTY(&conn->unsent))
		drop_first_unsent(conn);
	daemon_resumer_stop(&conn->resumer); /* a resumer remains if the process could not be stopped */
	sim_watch_close(daemon->epoll_fd, conn->pidfd);
	sim_watch_close(daemon->epoll_fd, conn->sock);
	free(conn);
}

/* Notifications of one channel are equal, so one in the queue is enough. */
static bool is_notify_queued(const struct conn *conn, const struct sim_msg *notify)
{
	const struct packet *p;

	STAILQ_FOREACH(p, &conn->unsent, entry)
		if (p->msg.type == SIM_MSG_NOTIFY_PEER && p->msg.body.channel.number == notify->body.channel.number)
			return true;
	return false;
}

static bool may_keep_fds(const struct daemon *daemon, const struct sim_fds *fds)
{
	for (uint32_t i = 0; i < fds->count; i++)
		if (!daemon_may_keep_fd(daemon, fds->fd[i]))
			return false;
	return true;
}

/* Takes ownership of the descriptors only when it queues the message. */
static void queue_unsent(struct daemon *daemon, struct conn *conn, const struct sim_msg *msg, struct sim_fds *fds)
{
	struct packet *packet;

	if (msg->type == SIM_MSG_NOTIFY_PEER && is_notify_queued(conn, msg))
		return;
	if ((msg->is_reply && conn->num_unsent_replies == MAX_UNSENT_REPLIES) || !may_keep_fds(daemon, fds)) {
		sim_warn("a process asks but does not read the answers; its connection is closed");
		daemon_conn_lose(conn);
		return;
	}
	packet = calloc(1, sizeof(*packet));
	if (!packet) {
		daemon_conn_lose(conn);
		return;
	}
	packet->msg = *msg;
	packet->fds = *fds;
	fds->count = 0;
	conn->num_unsent_replies += msg->is_reply;
	conn->num_unsent_handshakes += is_handshake(msg);
	STAILQ_INSERT_TAIL(&conn->unsent, packet, entry);
	set_epoll_events(daemon, conn, EPOLLIN | EPOLLOUT);
}

/* Returns false when the socket is full. A closed connection (-EPIPE) counts as sent: the daemon
 * still reads the peer's last messages, and then marks the connection dead. */
static bool try_send(struct conn *conn, struct sim_msg *msg, const int *fds, uint32_t num_fds)
{
	int rc = sim_msg_send_fds(conn->sock, msg, fds, num_fds);

	if (rc == -ETOOMANYREFS) { /* too many descriptors in flight: the receiver reports their loss */
		sim_warn(
			"cannot pass on descriptors: too many are on their way; raise ulimit -n where the daemon starts");
		rc = sim_msg_send_fds(conn->sock, msg, NULL, 0);
	}
	if (rc < 0 && rc != -EAGAIN && rc != -EPIPE)
		daemon_conn_lose(conn);
	return rc != -EAGAIN;
}

void daemon_send_fds(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	if (daemon_conn_state_has_ended(conn->state))
		return;
	if (!STAILQ_EMPTY(&conn->unsent) || !try_send(conn, msg, fds->fd, fds->count))
		queue_unsent(daemon, conn, msg, fds);
}

/* The same with descriptors that stay the caller's. */
static void send_copies(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, const int *fds, uint32_t num_fds)
{
	struct sim_fds kept = { .count = 0 };

	if (daemon_conn_state_has_ended(conn->state))
		return;
	if (STAILQ_EMPTY(&conn->unsent) && try_send(conn, msg, fds, num_fds))
		return;
	for (uint32_t i = 0; i < num_fds; i++) {
		int copy = fcntl(fds[i], F_DUPFD_CLOEXEC, 0);

		if (copy < 0) /* the receiver notices that one is missing */
			break;
		kept.fd[kept.count++] = copy;
	}
	queue_unsent(daemon, conn, msg, &kept);
	sim_fds_close(&kept);
}

void daemon_send(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int fd)
{
	send_copies(daemon, conn, msg, &fd, fd >= 0);
}

void daemon_reply_fds(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int status, const int *fds,
		      uint32_t num_fds)
{
	msg->is_reply = 1;
	msg->status = status;
	send_copies(daemon, conn, msg, fds, num_fds);
}

void daemon_reply(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int status, int fd)
{
	daemon_reply_fds(daemon, conn, msg, status, &fd, fd >= 0);
}

void daemon_flush(struct daemon *daemon, struct conn *conn)
{
	while (!STAILQ_EMPTY(&conn->unsent) && !daemon_conn_state_has_ended(conn->state)) {
		struct packet *first = STAILQ_FIRST(&conn->unsent);

		if (!try_send(conn, &first->msg, first->fds.fd, first->fds.count))
			return;
		drop_first_unsent(conn);
	}
	conn->warned_queue_full = false;
	set_epoll_events(daemon, conn, EPOLLIN);
}

struct conn *daemon_find_conn(struct daemon *daemon, uint32_t peer)
{
	struct conn *conn;

	TAILQ_FOREACH(conn, &daemon->conns, entry)
		if (daemon_conn_state_is_attached(conn->state) && conn->peer == peer)
			return conn;
	return NULL;
}
