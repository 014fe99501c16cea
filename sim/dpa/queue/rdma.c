/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of kernels to the network: the way from the port to the front. No lock is held when a kernel is refused. */
#include "rdma.h"

#include <errno.h>

#include "sim/dpa/exec/process_priv.h"

int sim_dpa_rdma_start(struct sim_dpa_process *process, const struct sim_dpa_rdma_ops *ops, struct sim_dpa_rdma *rdma)
{
	rdma->ops = ops;
	return sim_dpa_callable_start(process, SIM_DPA_RDMA, &rdma->callable);
}

void sim_dpa_rdma_stop(struct sim_dpa_rdma *rdma)
{
	sim_dpa_callable_stop(&rdma->callable);
}

static struct sim_dpa_rdma *begin_call(uint64_t handle)
{
	return (struct sim_dpa_rdma *)sim_dpa_call_begin(SIM_DPA_RDMA, handle, "RDMA context");
}

static void refuse_connection(uint64_t handle, uint32_t connection)
{
	sim_dpa_refuse("the RDMA context %#llx has no connection %u", (unsigned long long)handle, connection);
}

void sim_dpa_port_rdma_post(uint64_t handle, const struct sim_dpa_rdma_post *post)
{
	for (uint32_t round = 0;; round++) {
		struct sim_dpa_rdma *rdma = begin_call(handle);
		int rc = rdma->ops->post(rdma, post);

		sim_dpa_call_end(&rdma->callable);
		if (rc == 0)
			return;
		if (rc != -EAGAIN)
			refuse_connection(handle, post->connection);
		sim_dpa_wait_for_room(round);
	}
}

static void *hold_event(const struct sim_dpa_rdma *rdma, uint64_t handle)
{
	struct sim_dpa_process *process = rdma->callable.process;
	void *event;

	pthread_mutex_lock(&process->lock);
	event = sim_dpa_handle_find(&process->handles, SIM_DPA_REMOTE_EVENT, handle);
	if (event)
		rdma->ops->hold_event(event);
	pthread_mutex_unlock(&process->lock);
	return event;
}

void sim_dpa_port_rdma_signal(uint64_t handle, uint32_t connection, uint64_t event, bool is_add, uint64_t value)
{
	for (uint32_t round = 0;; round++) {
		struct sim_dpa_rdma *rdma = begin_call(handle);
		void *held = hold_event(rdma, event);
		int rc = held ? rdma->ops->signal(rdma, connection, held, is_add, value) : 0;

		if (rc < 0)
			rdma->ops->release_event(held);
		sim_dpa_call_end(&rdma->callable);
		if (!held)
			sim_dpa_refuse("%#llx is no sync event of a peer", (unsigned long long)event);
		if (rc == 0)
			return;
		if (rc != -EAGAIN)
			refuse_connection(handle, connection);
		sim_dpa_wait_for_room(round);
	}
}

void sim_dpa_port_rdma_receive(uint64_t handle, const struct sim_dpa_span *dst)
{
	for (uint32_t round = 0;; round++) {
		struct sim_dpa_rdma *rdma = begin_call(handle);
		int rc = rdma->ops->receive(rdma, dst);

		sim_dpa_call_end(&rdma->callable);
		if (rc == 0)
			return;
		if (rc != -EAGAIN)
			sim_dpa_refuse(
				"the receive queue of the RDMA context %#llx is full (doca_rdma_set_recv_queue_size)",
				(unsigned long long)handle);
		sim_dpa_wait_for_room(round);
	}
}

void sim_dpa_port_rdma_receive_ack(uint64_t handle, uint32_t num)
{
	for (uint32_t round = 0;; round++) {
		struct sim_dpa_rdma *rdma = begin_call(handle);
		int rc = rdma->ops->receive_again(rdma, &num);

		sim_dpa_call_end(&rdma->callable);
		if (rc == 0)
			return;
		if (rc != -EAGAIN)
			sim_dpa_refuse(
				"the kernel acknowledges %u receives; so many have not completed, or were posted again",
				num);
		sim_dpa_wait_for_room(round);
	}
}
