/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/queue/rdma.h - a queue of requests to the network, by which kernels reach peers. The front executes the requests, and
 * pushes completions into a ring (completion.h).
 *
 *   start --> [a kernel's call: the front's operation]* --> stop: no kernel is in a call afterwards
 */
#ifndef SIM_DPA_RDMA_H
#define SIM_DPA_RDMA_H

#include "callable.h"

struct sim_dpa_rdma;

/* Called on EUs, several at once, without a lock. None leaves the kernel. */
struct sim_dpa_rdma_ops {
	/* 0, -EAGAIN (the queue is full for now) or -ENOENT (no such connection). */
	int (*post)(struct sim_dpa_rdma *rdma, const struct sim_dpa_rdma_post *post);
	/* The same. @event, an object of the kind SIM_DPA_REMOTE_EVENT, is held: the front releases it. */
	int (*signal)(struct sim_dpa_rdma *rdma, uint32_t connection, void *event, bool is_add, uint64_t value);
	/* 0, -EAGAIN (not now) or -ENOBUFS (the receive queue is full). */
	int (*receive)(struct sim_dpa_rdma *rdma, const struct sim_dpa_span *dst);
	/* Post the oldest *num receives again that are complete. 0, -EINVAL (there are not so many) or -EAGAIN: *num are left, for later. */
	int (*receive_again)(struct sim_dpa_rdma *rdma, uint32_t *num);
	/* Under the process's lock: until the release, the event exists. */
	void (*hold_event)(void *event);
	void (*release_event)(void *event);
};

struct sim_dpa_rdma {
	struct sim_dpa_callable callable; /* first */
	const struct sim_dpa_rdma_ops *ops;
};

/* Give the queue a handle. Returns 0 or -ENOMEM. */
int sim_dpa_rdma_start(struct sim_dpa_process *process, const struct sim_dpa_rdma_ops *ops, struct sim_dpa_rdma *rdma);

void sim_dpa_rdma_stop(struct sim_dpa_rdma *rdma);

/* For the port. */
void sim_dpa_port_rdma_post(uint64_t handle, const struct sim_dpa_rdma_post *post);
void sim_dpa_port_rdma_receive(uint64_t handle, const struct sim_dpa_span *dst);
void sim_dpa_port_rdma_receive_ack(uint64_t handle, uint32_t num);
void sim_dpa_port_rdma_signal(uint64_t handle, uint32_t connection, uint64_t event, bool is_add, uint64_t value);

#endif
