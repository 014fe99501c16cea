/* SPDX-License-Identifier: BSD-3-Clause */
/* Strangers: this process's sockets at the port, without those that have an owner. */
#include "strangers.h"

#include <dirent.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct stranger {
	int fd;
	union address peer; /* a descriptor may be another one's by now */
	uint64_t since_ns;
};

struct strangers {
	DIR *dir; /* open, as there may be no descriptor left when it is needed */
	struct stranger seen[STRANGERS_MAX];
	uint32_t num_seen;
	uint64_t looked_ns;
	bool are_expected;
};

struct strangers *strangers_create(void)
{
	struct strangers *strangers = calloc(1, sizeof(*strangers));

	if (strangers && !(strangers->dir = opendir("/proc/self/fd"))) {
		free(strangers);
		return NULL;
	}
	return strangers;
}

void strangers_destroy(struct strangers *strangers)
{
	if (!strangers)
		return;
	closedir(strangers->dir);
	free(strangers);
}

static uint16_t port_of(const union address *address)
{
	return ntohs(address->any.sa_family == AF_INET6 ? address->in6.sin6_port : address->in.sin_port);
}

/* Whether the descriptor is a TCP connection at the port. */
static bool is_at_port(int fd, uint16_t port)
{
	union address local = { 0 };
	socklen_t len = sizeof(local), size = sizeof(int);
	int is_listener = 1;

	return getsockname(fd, &local.any, &len) == 0 &&
	       (local.any.sa_family == AF_INET || local.any.sa_family == AF_INET6) && port_of(&local) == port &&
	       getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listener, &size) == 0 && !is_listener;
}

/* Of a connection that was reset, the length is 0. */
static socklen_t read_peer(int fd, union address *ret_peer)
{
	socklen_t len = sizeof(*ret_peer);

	memset(ret_peer, 0, sizeof(*ret_peer));
	return getpeername(fd, &ret_peer->any, &len) == 0 ? len : 0;
}

/* The next one; -1 = there is none any more. */
static int next(const struct strangers *strangers, uint16_t port, strangers_is_known *is_known, void *arg,
		union address *ret_peer)
{
	const struct dirent *entry;

	while ((entry = readdir(strangers->dir))) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && is_at_port(fd, port) &&
		    !is_known(arg, &ret_peer->any, read_peer(fd, ret_peer)))
			return fd;
	}
	return -1;
}

static uint64_t since(const struct stranger *list, uint32_t count, int fd, const union address *peer, uint64_t now_ns)
{
	for (uint32_t i = 0; i < count; i++)
		if (list[i].fd == fd && memcmp(&list[i].peer, peer, sizeof(*peer)) == 0)
			return list[i].since_ns;
	return now_ns;
}

void strangers_expect(struct strangers *strangers)
{
	strangers->are_expected = true;
}

uint64_t strangers_next_ns(const struct strangers *strangers)
{
	return strangers->looked_ns +
	       (strangers->are_expected || strangers->num_seen > 0 ? STRANGERS_LOOK_NS : STRANGERS_RARE_NS);
}

bool strangers_are_due(struct strangers *strangers, uint16_t port, uint64_t now_ns, strangers_is_known *is_known,
		       void *arg)
{
	struct stranger old[STRANGERS_MAX];
	uint32_t num_old = strangers->num_seen;
	union address peer;
	bool is_due = false;
	int fd;

	memcpy(old, strangers->seen, sizeof(old));
	strangers->num_seen = 0;
	strangers->looked_ns = now_ns;
	strangers->are_expected = false;
	rewinddir(strangers->dir);
	while (!is_due && (fd = next(strangers, port, is_known, arg, &peer)) >= 0) {
		struct stranger *stranger = &strangers->seen[strangers->num_seen++];

		*stranger =
			(struct stranger){ .fd = fd, .peer = peer, .since_ns = since(old, num_old, fd, &peer, now_ns) };
		is_due = now_ns - stranger->since_ns >= STRANGERS_DEADLINE_NS || strangers->num_seen == STRANGERS_MAX;
	}
	return is_due;
}

uint32_t strangers_close(struct strangers *strangers, uint16_t port, strangers_is_known *is_known, void *arg)
{
	union address peer;
	uint32_t count = 0;
	int fd;

	rewinddir(strangers->dir);
	for (; (fd = next(strangers, port, is_known, arg, &peer)) >= 0; count++)
		close(fd);
	strangers->num_seen = 0;
	return count;
}
