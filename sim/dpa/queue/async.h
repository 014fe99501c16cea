/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/queue/async.h - asynchronous operations of kernels: copies between maps, and waits for sync events, in the order of their
 * posts.
 *
 *   post --> [pending] --flush--> [queued] --its turn--> done, or failed --> a completion with the queue's user data
 *                                          '--a wait--> its event says so
 *
 * The EU that flushes copies, unless an earlier operation waits: then the queue's thread, which there is from the first wait on. In
 * virtual time it is a participant. An
 * operation that fails takes the queue to an error, and all later ones fail.
 */
#ifndef SIM_DPA_ASYNC_H
#define SIM_DPA_ASYNC_H

#include <pthread.h>
#include <sys/queue.h>

#include "callable.h"
#include "completion.h"
#include "sim/dpa/exec/turn.h"

struct sim_dpa_async_op;
STAILQ_HEAD(sim_dpa_async_list, sim_dpa_async_op);

struct sim_dpa_async {
	struct sim_dpa_callable callable; /* first */
	struct sim_dpa_completion *completion;
	uint32_t user_data, size;
	pthread_mutex_t lock; /* of what follows; the process's may be taken under it */
	pthread_cond_t wake;
	struct sim_dpa_async_list pending, queued;
	uint32_t num_ops, num_posted;
	bool has_thread, is_stopping, is_running; /* is_running: a thread executes the first that is queued */
	bool has_begun;                           /* the thread: @turn may be used */
	bool has_failed, has_lost_completions;
	pthread_t thread;
	struct sim_dpa_turn turn; /* the thread's */
};

/* At most @size operations at once. Returns 0 or -ENOMEM. */
int sim_dpa_async_start(struct sim_dpa_process *process, struct sim_dpa_completion *completion, uint32_t size,
			uint32_t user_data, struct sim_dpa_async *async);

/* Operations that are not done are dropped. */
void sim_dpa_async_stop(struct sim_dpa_async *async);

/* For the port. */
void sim_dpa_port_async_copy(uint64_t handle, const struct sim_dpa_span *dst, const struct sim_dpa_span *src,
			     uint32_t flags);
void sim_dpa_port_async_wait(uint64_t handle, uint64_t event, enum sim_dpa_compare compare, uint64_t value);

#endif
