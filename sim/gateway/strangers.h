/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/strangers.h - sockets that libfabric has accepted at a port and of which it tells nothing.
 *
 *   accepted --> its request is read --> libfabric reports it, and it has an owner
 *       '------> it says nothing, or too little, or has gone: a stranger
 *
 * libfabric has no deadline for them, and its provider tcp (1.17) never closes one, and polls without end once one has gone. A
 * listener with strangers that are older than their deadline, or too many, is to be closed; then their sockets are closed here.
 *
 * A look at all descriptors finds them. Looks are frequent while there are strangers, or may be, and else as rare as a stranger's
 * deadline: nothing tells for certain that libfabric has accepted no connection.
 */
#ifndef SIM_GATEWAY_STRANGERS_H
#define SIM_GATEWAY_STRANGERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define STRANGERS_MAX         64
#define STRANGERS_DEADLINE_NS 5000000000u
#define STRANGERS_LOOK_NS     250000000u  /* from one look to the next */
#define STRANGERS_RARE_NS     5000000000u /* the same, if there is no sign of one */

struct strangers;

/* Whether the peer at that address has an owner. A length of 0 = a connection that was reset: whether an owner may have it. */
typedef bool strangers_is_known(void *arg, const struct sockaddr *peer, socklen_t len);

/* NULL without memory or /proc. */
struct strangers *strangers_create(void);
void strangers_destroy(struct strangers *strangers); /* NULL is fine */

/* There may be new ones since the last look. */
void strangers_expect(struct strangers *strangers);

/* When to call strangers_are_due() next. */
uint64_t strangers_next_ns(const struct strangers *strangers);

/* Count those at the local TCP port. Returns whether its listener is to be closed. */
bool strangers_are_due(struct strangers *strangers, uint16_t port, uint64_t now_ns, strangers_is_known *is_known,
		       void *arg);

/* The listener is closed: nothing else uses their sockets. Returns how many were closed. */
uint32_t strangers_close(struct strangers *strangers, uint16_t port, strangers_is_known *is_known, void *arg);

#endif
