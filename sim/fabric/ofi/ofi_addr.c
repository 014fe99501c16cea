/* SPDX-License-Identifier: BSD-3-Clause */
/* Socket addresses. A target listens on all interfaces, since peers may be in other network namespaces or
 * machines. A peer tries the target's addresses, as only the peer can find the one that works. */
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ofi_priv.h"

static bool is_loopback(const struct sockaddr *addr)
{
	if (addr->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)addr)->sin6_addr);
	return ntohl(((const struct sockaddr_in *)addr)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

static socklen_t family_len(sa_family_t family)
{
	if (family == AF_INET)
		return sizeof(struct sockaddr_in);
	return family == AF_INET6 ? sizeof(struct sockaddr_in6) : 0;
}

/* Whether an IPv6 socket also accepts IPv4. */
static bool has_dual_stack(void)
{
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), only6 = 1;
	struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
	socklen_t len = sizeof(only6);
	bool is_dual;

	if (fd < 0)
		return false;
	is_dual = getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only6, &len) == 0 && !only6 &&
		  bind(fd, (struct sockaddr *)&any, sizeof(any)) == 0;
	close(fd);
	return is_dual;
}

static socklen_t any_of(sa_family_t family, struct sockaddr_storage *ret_addr)
{
	memset(ret_addr, 0, sizeof(*ret_addr)); /* the unspecified address and port are zeros */
	ret_addr->ss_family = family;
	return family_len(family);
}

socklen_t sim_ofi_addr_any(struct sockaddr_storage *ret_addr)
{
	return any_of(has_dual_stack() ? AF_INET6 : AF_INET, ret_addr);
}

socklen_t sim_ofi_addr_bind_for(const struct sockaddr *peer, struct sockaddr_storage *ret_addr)
{
	socklen_t len = any_of(peer->sa_family, ret_addr);

	if (!is_loopback(peer))
		return len;
	if (peer->sa_family == AF_INET6)
		((struct sockaddr_in6 *)ret_addr)->sin6_addr = in6addr_loopback;
	else
		((struct sockaddr_in *)ret_addr)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return len;
}

uint16_t sim_ofi_addr_port(const struct sockaddr *addr)
{
	if (addr->sa_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)addr)->sin6_port);
	return ntohs(((const struct sockaddr_in *)addr)->sin_port);
}

bool sim_ofi_addr_valid(const void *addr, size_t len)
{
	struct sockaddr head;

	if (len < sizeof(head))
		return false;
	memcpy(&head, addr, sizeof(head));
	return len == family_len(head.sa_family);
}

/* The rank in the order of trials, from 0; -1 = do not try. */
static int candidate_rank(const struct ifaddrs *entry)
{
	const struct sockaddr *addr = entry->ifa_addr;

	if (!addr || !(entry->ifa_flags & IFF_UP) || family_len(addr->sa_family) == 0)
		return -1;
	if (addr->sa_family == AF_INET)
		return is_loopback(addr) ? 0 : 1;
	if (IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)addr)->sin6_addr))
		return -1; /* needs an interface number of the peer's machine */
	return is_loopback(addr) ? 3 : 2;
}

static void add_candidate(const struct sockaddr *addr, uint16_t port, struct sim_ofi_desc *desc)
{
	struct sockaddr_storage copy;
	socklen_t len = family_len(addr->sa_family);

	if (desc->num_addrs == SIM_OFI_MAX_ADDRS)
		return;
	memcpy(&copy, addr, len);
	if (addr->sa_family == AF_INET6)
		((struct sockaddr_in6 *)&copy)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)&copy)->sin_port = htons(port);
	memcpy(desc->addr[desc->num_addrs], &copy, len);
	desc->addr_len[desc->num_addrs++] = len;
}

int sim_ofi_addr_candidates(uint16_t port, bool ipv6, struct sim_ofi_desc *desc)
{
	struct ifaddrs *list;

	if (getifaddrs(&list) < 0)
		return -errno;
	for (int rank = 0; rank <= 3; rank++)
		for (const struct ifaddrs *entry = list; entry; entry = entry->ifa_next)
			if (candidate_rank(entry) == rank && (ipv6 || entry->ifa_addr->sa_family == AF_INET))
				add_candidate(entry->ifa_addr, port, desc);
	freeifaddrs(list);
	return desc->num_addrs ? 0 : -EADDRNOTAVAIL;
}

int sim_ofi_addr_find_listener(uint16_t port)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int found = -1;

	while (dir && found < 0 && (entry = readdir(dir)) != NULL) {
		struct sockaddr_storage addr;
		socklen_t len = sizeof(addr), flag_len = sizeof(int);
		int fd = atoi(entry->d_name), listening = 0;

		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &flag_len) == 0 && listening &&
		    getsockname(fd, (struct sockaddr *)&addr, &len) == 0 && family_len(addr.ss_family) &&
		    sim_ofi_addr_port((struct sockaddr *)&addr) == port)
			found = fd;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* The result of a connect() in progress: 0 or an errno. */
static int wait_connected(int fd, unsigned int timeout_ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int n, error = 0;

	do {
		n = poll(&ready, 1, (int)timeout_ms);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		return ETIMEDOUT;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 ? error : errno;
}

int sim_ofi_addr_reachable(const struct sockaddr *addr, socklen_t len, unsigned int timeout_ms)
{
	int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, addr, len) < 0)
		error = errno == EINPROGRESS ? wait_connected(fd, timeout_ms) : errno;
	close(fd);
	return -error;
}
