/* SPDX-License-Identifier: BSD-3-Clause */
/* Wake-ups between processes that do not trust each other: a pair of sockets. */
#include "wake.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_CLEARED 64 /* more than a socket's queue holds (net.unix.max_dgram_qlen) on common systems */

int sim_wake_open(struct sim_wake *ret_wake)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
		return -errno;
	*ret_wake = (struct sim_wake){ .recv_fd = fds[0], .send_fd = fds[1] };
	return 0;
}

void sim_wake_close(struct sim_wake *wake)
{
	if (wake->recv_fd >= 0)
		close(wake->recv_fd);
	if (wake->send_fd >= 0)
		close(wake->send_fd);
	*wake = SIM_WAKE_NONE;
}

/* An empty packet counts as an end: no sender here writes one. */
bool sim_wake_clear(const struct sim_wake *wake)
{
	ssize_t len = 1;
	char byte;

	for (int i = 0; i < MAX_CLEARED && len > 0; i++) {
		do {
			len = recv(wake->recv_fd, &byte, sizeof(byte), MSG_DONTWAIT);
		} while (len < 0 && errno == EINTR);
	}
	return len > 0 || (len < 0 && errno == EAGAIN);
}

static int get_option(int fd, int option)
{
	socklen_t len = sizeof(int);
	int value;

	return getsockopt(fd, SOL_SOCKET, option, &value, &len) == 0 ? value : -1;
}

bool sim_wake_is_valid(int fd)
{
	return get_option(fd, SO_DOMAIN) == AF_UNIX && get_option(fd, SO_TYPE) == SOCK_SEQPACKET;
}

int sim_wake_send(int fd)
{
	ssize_t len;

	do {
		len = send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (len < 0 && errno == EINTR);
	return len == 1 || errno == EAGAIN ? 0 : -errno;
}
