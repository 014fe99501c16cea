/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/hostile/roles_rdma.h - honest programs for RDMA, of which a hostile one runs a part.
 *
 *   target      exports a connection and its memory for each requester --offer--> requesters
 *               answers each message                              <--join--
 *   requester   for message n: adds to the target's counter, writes n into the target's memory, sends n
 *
 * The three requests of a message are posted at once. So the target that receives message n must find n in its memory: writes
 * do not overtake, and are not overtaken. One such program in a process.
 */
#ifndef TESTS_HOSTILE_ROLES_RDMA_H
#define TESTS_HOSTILE_ROLES_RDMA_H

#include "hostile.h"

struct rdma_target_cfg {
	unsigned int num_requesters;
	bool is_sum_checked; /* no requester is killed or hostile: each message has added 1 */
	bool posts_none;     /* no receives */
	unsigned int ms;     /* 0 = until all requesters have closed @sock */
};

struct rdma_requester_cfg {
	unsigned int num_messages; /* 0 = for a moment */
	unsigned int ms;           /* if that is longer or shorter than usual; 0 = usual */
	bool is_unchecked;         /* one of the two is hostile */
};

/* Open a program, run it, close it. The result is a role's. */
void rdma_target_open(const struct bout *bout, const struct rdma_target_cfg *cfg, int sock);
int rdma_target_run(void);
void rdma_requester_open(const struct rdma_requester_cfg *cfg, int sock);
int rdma_requester_run(void);
void rdma_close(void);

/* Connect by changed descriptors @count times. */
int rdma_connect_changed(struct bout *bout, int sock, unsigned int count);

#endif
