/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/broker.h - what a control operation of two processes can't do without, and no more: packets to a third process that
 * knows both, which answers them or passes them on with their descriptor.
 *
 *   host --BENCH_PACKET_ASK--> broker    and the answer, to the sender
 *   host --BENCH_PACKET_TELL-> broker    no answer
 *   host --BENCH_PACKET_PASS-> broker --> dpu
 *
 * The broker sleeps in epoll_wait(), as it has to wait for both; each end sleeps in recvmsg().
 */
#ifndef TESTS_BENCH_BROKER_H
#define TESTS_BENCH_BROKER_H

#include "process.h"

#define BENCH_PACKET_BYTES 256

enum bench_packet_kind { BENCH_PACKET_ASK, BENCH_PACKET_TELL, BENCH_PACKET_PASS };

struct bench_broker {
	struct bench_process process;
	int host, dpu; /* the ends, for processes that are forked later */
};

/* Returns 0 or -1. */
int bench_broker_start(struct bench_broker *broker);
int bench_broker_end(struct bench_broker *broker);

/* Send a packet, with @passed_fd unless it is -1. Returns 0 or -1. */
int bench_packet_send(int fd, enum bench_packet_kind kind, int passed_fd);

/* Receive one. *ret_fd is its descriptor or -1. Returns 0, or -1 at the end. */
int bench_packet_receive(int fd, int *ret_fd);

/* Ask, and wait for the answer. */
int bench_packet_ask(int fd);

#endif
