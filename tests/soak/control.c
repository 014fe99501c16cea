/* SPDX-License-Identifier: BSD-3-Clause */
/* Control messages between the sides over a socket, and the loss of the other side. */
#include "side.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/* Wait for @fd or the engine for @ms. Returns the poll events of @fd; 0 = none. */
static short look(const struct side *side, int fd, int ms)
{
	struct pollfd fds[2] = { { .fd = fd, .events = POLLIN } };
	doca_notification_handle_t handle;
	int count = 1;

	if (ms > 0 && doca_pe_get_notification_handle(side->pe, &handle) == DOCA_SUCCESS &&
	    doca_pe_request_notification(side->pe) == DOCA_SUCCESS) {
		fds[count++] = (struct pollfd){ .fd = handle, .events = POLLIN };
	}
	poll(fds, count, ms);
	if (count > 1)
		doca_pe_clear_notification(side->pe, handle);
	return fds[0].revents;
}

bool side_step(struct side *side)
{
	if (doca_pe_progress(side->pe))
		return true;
	look(side, side->is_alone ? -1 : side->ctl_fd, 1); /* the end of the stream is always readable */
	return false;
}

/* Only the victim's side may go. */
static void drop_peer(struct side *side)
{
	NEED(side->shared->victim == !side->which);
	side->is_alone = true;
}

bool side_is_alone(struct side *side)
{
	if (!side->is_alone && look(side, side->ctl_fd, 0) & (POLLHUP | POLLERR))
		drop_peer(side);
	return side->is_alone;
}

bool side_readable(struct side *side)
{
	return side->is_alone || look(side, side->ctl_fd, 0);
}

void side_send(struct side *side, const void *data, size_t len)
{
	ssize_t sent;

	if (side->is_alone)
		return;
	sent = send(side->ctl_fd, data, len, MSG_NOSIGNAL);
	if (sent == (ssize_t)len)
		return;
	NEED(sent < 0 && (errno == EPIPE || errno == ECONNRESET));
	drop_peer(side);
}

bool side_recv(struct side *side, void *data, size_t len)
{
	ssize_t received;

	if (side->is_alone)
		return false;
	SIDE_UNTIL(side, side_readable(side));
	received = recv(side->ctl_fd, data, len, MSG_TRUNC);
	if (received == (ssize_t)len)
		return true;
	NEED(received == 0 || (received < 0 && errno == ECONNRESET));
	drop_peer(side);
	return false;
}

bool side_meet(struct side *side)
{
	uint64_t round = side->round, other;

	side_send(side, &round, sizeof(round));
	if (!side_recv(side, &other, sizeof(other)))
		return false;
	NEED(other == round);
	return true;
}

/* ---- joining ---- */

/* The latest round that the other side has finished: a restarted process continues from there. */
static void tell_round(struct side *side)
{
	side_send(side, &side->round, sizeof(side->round));
}

static void accept_peer(struct side *side)
{
	if (side->ctl_fd >= 0)
		close(side->ctl_fd);
	SIDE_UNTIL(side, look(side, side->listen_fd, 0));
	side->ctl_fd = accept4(side->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	NEED(side->ctl_fd >= 0);
	side->is_alone = false;
	tell_round(side);
}

void side_join(struct side *side)
{
	if (side->listen_fd >= 0) {
		accept_peer(side);
		return;
	}
	side->ctl_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	NEED(side->ctl_fd >= 0);
	NEED(connect(side->ctl_fd, (const struct sockaddr *)&side->address, side->address_len) == 0);
	NEED(side_recv(side, &side->round, sizeof(side->round)));
}
