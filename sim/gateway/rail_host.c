/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of a rail, as numbers. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/fi_cm.h>

#include "rail_priv.h"

/* "" of another kind than IPv4 or IPv6, and of the address that means all of a machine. */
static void write_host(const struct sockaddr_storage *address, char text[RAIL_HOST_SIZE])
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	const void *number = NULL;

	if (address->ss_family == AF_INET && in->sin_addr.s_addr != htonl(INADDR_ANY))
		number = &in->sin_addr;
	else if (address->ss_family == AF_INET6 && !IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr))
		number = &in6->sin6_addr;
	if (!number || !inet_ntop(address->ss_family, number, text, RAIL_HOST_SIZE))
		text[0] = '\0';
}

void rail_host(const struct rail *rail, char text[RAIL_HOST_SIZE])
{
	struct sockaddr_storage address = { 0 };
	size_t len = sizeof(address);

	text[0] = '\0';
	if (rail->pep && fi_getname(&rail->pep->fid, &address, &len) == 0)
		write_host(&address, text);
}

void rail_peer_host(const struct rail_conn *conn, char text[RAIL_HOST_SIZE])
{
	text[0] = '\0';
	if (conn->peer_len > 0)
		write_host(&conn->peer, text);
}
