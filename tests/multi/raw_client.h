/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/raw_client.h - connections to the daemon of test_session that speak its protocol without sim/session. */
#ifndef TESTS_MULTI_RAW_CLIENT_H
#define TESTS_MULTI_RAW_CLIENT_H

#include "sim/protocol/wire.h"

/* Connect, without or with an ATTACH request. Returns the socket. */
int raw_connect(void);
int raw_attach(const char *side);

/* Send one message with descriptor @fd, -1 = none. */
void raw_send(int sock, struct sim_msg msg, int fd);

/* Receive one message, and close a descriptor that comes with it. */
struct sim_msg raw_recv(int sock);

/* Send a request and return the reply; messages before the reply are dropped. The second sends @num_fds (at most 3)
 * descriptors along and returns the reply's status. */
struct sim_msg raw_call(int sock, struct sim_msg msg);
int raw_call_fds(int sock, struct sim_msg msg, uint32_t num_fds);

/* Wait until the daemon has handled all messages that were sent before, and has removed all connections that were closed
 * before. It removes them at the end of the step in which it notices them, so the requests of this function are more
 * than two steps can take: those of the step that runs already, and those of the step that notices. */
void raw_settle(int sock);

#endif
