/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/comch_exchange.h - a role that exchanges checked messages: as a server with
 * each of its clients, or as a client. It expects all messages, in order, from the right sender.
 *
 *   test                        role
 *   peer_start(arg)      -->
 *                        <--    EXCHANGE_STARTED    it listens, or connects to its server
 *   exchange_ask()       <->    its progress
 *                        <--    EXCHANGE_DONE       all messages are sent and received, and it is idle
 *   proc_end()           -->    it ends
 *
 * Four options pause the role until exchange_thaw(). arg.waits: it sends EXCHANGE_READY when all
 * is open, and then starts. arg.freezes: it sends EXCHANGE_FROZEN at the first connection, and
 * stops making progress. arg.holds: it sends EXCHANGE_HELD when all messages are sent and received,
 * and keeps its connections. arg.withholds: it sends only that many messages.
 */
#ifndef TESTS_MULTI_COMCH_EXCHANGE_H
#define TESTS_MULTI_COMCH_EXCHANGE_H

#include "comch_peer.h"

struct exchange_arg {      /* sent as bytes, so it has no padding */
	char name[32];     /* of the server */
	char function[16]; /* client: function of its device; server: function that it serves; "" = the first */
	uint32_t sleeps;   /* on the notification handle; else it polls */
	uint32_t waits, freezes, holds;
	uint32_t withholds; /* messages per connection before the test sends the next command; 0 = all */
	uint32_t num_peers; /* server: ends after as many */
	uint32_t number; /* client: its number, for the server; the number of its first connection, if it has several */
	uint32_t num_in, num_out; /* messages on each connection */
	uint32_t recv_queue;      /* 0 = default */
	uint32_t num_tasks;       /* 0 = default; a server's for all connections */
	uint32_t window;          /* messages in flight on a connection; 0 = as many as there are tasks */
	uint32_t num_clients;     /* client: in this one process; 0 = 1 */
};

enum { EXCHANGE_READY = 'r', EXCHANGE_STARTED = 's', EXCHANGE_FROZEN = 'f', EXCHANGE_HELD = 'h', EXCHANGE_DONE = 'd' };

struct exchange_status {
	uint64_t in_flight, sent, received; /* of all connections */
};

extern const struct peer_role exchange_server, exchange_client;

/* In the test. */
void exchange_start(struct proc *proc, bool is_server, const struct exchange_arg *arg);
void exchange_hear(struct proc *proc, char wanted);
void exchange_thaw(struct proc *proc);
struct exchange_status exchange_ask(struct proc *proc);

#endif
