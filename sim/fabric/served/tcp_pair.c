/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ends of a TCP connection over the loopback interface. The port listens for the time of this call only, and of the
 * connections that reach it only the own one is kept. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "served_priv.h"

#define TIMEOUT_MS    1000
#define MAX_STRANGERS 16

static int listen_on_loopback(struct sockaddr_in *ret_addr)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(addr);
	int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (sock < 0)
		return -errno;
	if (bind(sock, (struct sockaddr *)&addr, sizeof(addr)) < 0 || listen(sock, MAX_STRANGERS) < 0 ||
	    getsockname(sock, (struct sockaddr *)&addr, &len) < 0) {
		int rc = -errno;

		close(sock);
		return rc;
	}
	*ret_addr = addr;
	return sock;
}

static int connect_to(const struct sockaddr_in *addr)
{
	const struct timeval timeout = { .tv_sec = TIMEOUT_MS / 1000 };
	int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (sock < 0)
		return -errno;
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)); /* limits connect() */
	if (connect(sock, (const struct sockaddr *)addr, sizeof(*addr)) < 0) {
		int rc = errno == EINPROGRESS ? -EAGAIN : -errno;

		close(sock);
		return rc;
	}
	return sock;
}

static bool is_end_of(int accepted, int sock)
{
	struct sockaddr_in peer, own;
	socklen_t peer_len = sizeof(peer), own_len = sizeof(own);

	return getpeername(accepted, (struct sockaddr *)&peer, &peer_len) == 0 &&
	       getsockname(sock, (struct sockaddr *)&own, &own_len) == 0 && peer.sin_port == own.sin_port &&
	       peer.sin_addr.s_addr == own.sin_addr.s_addr;
}

/* Accept the connection of @sock, and close those of strangers. */
static int accept_own(int listener, int sock)
{
	for (int i = 0; i <= MAX_STRANGERS; i++) {
		struct pollfd ready = { .fd = listener, .events = POLLIN };
		int accepted;

		if (poll(&ready, 1, TIMEOUT_MS) == 0)
			break;
		accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (accepted >= 0 && is_end_of(accepted, sock))
			return accepted;
		if (accepted >= 0)
			close(accepted);
		else if (errno != EINTR && errno != EAGAIN && errno != ECONNABORTED)
			return -errno;
	}
	return -ETIMEDOUT;
}

static int set_options(int sock)
{
	const int one = 1;

	if (fcntl(sock, F_SETFL, O_NONBLOCK) < 0 || setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0)
		return -errno;
	return 0;
}

int served_tcp_pair(int ret_fds[2])
{
	struct sockaddr_in addr;
	int listener = listen_on_loopback(&addr);
	int sock = listener < 0 ? listener : connect_to(&addr);
	int accepted = sock < 0 ? sock : accept_own(listener, sock);
	int rc = accepted < 0 ? accepted : 0;

	if (listener >= 0)
		close(listener);
	if (rc == 0)
		rc = set_options(sock);
	if (rc == 0)
		rc = set_options(accepted);
	if (rc == 0) {
		ret_fds[0] = accepted;
		ret_fds[1] = sock;
		return 0;
	}
	if (accepted >= 0)
		close(accepted);
	if (sock >= 0)
		close(sock);
	return rc == -EAGAIN ? -ECONNREFUSED : rc;
}
