/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/strangers.h - sockets that libfabric has accepted at a port and of which it tells nothing.
 *
 *   accepted --> its request is read --> libfabric reports it, and it has an owner
 *       '------> it says nothing, or too little, or has gone: a stranger
 *
 * libfabric has no deadline for them, and its provider tcp (1.17) never closes one, and polls without end once one has gone. A
 * listener with strangers that are older than their deadline, or too many, is to be closed; then their sockets are closed here.
 */
#ifndef SIM_GATEWAY_STRANGERS_H
#define SIM_GATEWAY_STRANGERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define STRANGERS_MAX         64
#define STRANGERS_DEADLINE_NS 5000000000u

struct strangers;

/* Whether the peer at that address has an owner. A length of 0 = a connection that was reset: whether an owner may have it. */
typedef bool strangers_is_known(void *arg, const struct sockaddr *peer, socklen_t len);

/* NULL without memory or /proc. */
struct strangers *strangers_create(void);
void strangers_destroy(struct strangers *strangers); /* NULL is fine */

/* Count those at the local TCP port. Returns whether its listener is to be closed. */
bool strangers_are_due(struct strangers *strangers, uint16_t port, uint64_t now_ns, strangers_is_known *is_known,
		       void *arg);

/* The listener is closed: nothing else uses their sockets. Returns how many were closed. */
uint32_t strangers_close(struct strangers *strangers, uint16_t port, strangers_is_known *is_known, void *arg);

#endif
