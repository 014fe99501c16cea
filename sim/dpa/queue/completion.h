/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/queue/completion.h - a ring of completions that kernels take.
 *
 *        acked          taken            pushed
 *   ...... | given back  | for the kernel  | free ......    pushed - acked <= the queue's size, a power of two
 *
 *   take an element, use it by its number, ack n elements: their places are free.
 *
 * An armed ring wakes its activity at the next push, once. A request for notification arms it; if elements wait, the activity is
 * woken at once. A started ring is armed. A ring without an activity is polled.
 */
#ifndef SIM_DPA_COMPLETION_H
#define SIM_DPA_COMPLETION_H

#include "sim/dpa/exec/activity.h"

struct sim_dpa_element {
	uint32_t type;
	uint32_t user_data; /* 24 bits */
	uint32_t immediate;
	uint32_t index; /* of the work request */
};

struct sim_dpa_completion {
	enum sim_dpa_handle_kind kind; /* SIM_DPA_COMPLETION, or SIM_DPA_CONSUMER_COMPLETION of msgq.h */
	struct sim_dpa_process *process;
	struct sim_dpa_activity *activity; /* NULL = none */
	uint64_t handle;
	struct sim_dpa_element *ring;
	uint32_t size;
	uint32_t pushed, taken, acked; /* wrap */
	uint64_t num_lost;             /* that found the ring full */
	bool is_armed;
	bool was_armed_unacked; /* with completions that were taken and not acknowledged */
};

/* What the checker asks. */
struct sim_dpa_completion_view {
	uint32_t size, num_waiting, num_unacked; /* not taken; taken, and not acknowledged */
	uint64_t num_lost;
	bool has_acked_any, was_armed_unacked;
	bool is_unheard; /* some wait, nobody has asked to be notified, and the thread sleeps */
};

void sim_dpa_completion_inspect(const struct sim_dpa_completion *completion, struct sim_dpa_completion_view *ret_view);

/* Room for @min_size elements or more. Returns 0 or -ENOMEM. */
int sim_dpa_completion_start(struct sim_dpa_process *process, struct sim_dpa_activity *activity,
			     enum sim_dpa_handle_kind kind, uint32_t min_size, struct sim_dpa_completion *completion);

void sim_dpa_completion_stop(struct sim_dpa_completion *completion);

/* Any thread. Returns 0, or -ENOBUFS: the ring is full. */
int sim_dpa_completion_push(struct sim_dpa_completion *completion, const struct sim_dpa_element *element);

/* The same, under the process's lock. */
int sim_dpa_completion_push_locked(struct sim_dpa_completion *completion, const struct sim_dpa_element *element);

/* ---- on the thread of a kernel ---- */

/* Returns whether there was an element. */
bool sim_dpa_completion_take(enum sim_dpa_handle_kind kind, uint64_t handle, uint64_t *ret_element);

/* The place of an element that was taken and is not acknowledged, and its ring; under the process's lock. NULL = it is none. */
const struct sim_dpa_element *sim_dpa_completion_find(struct sim_dpa_process *process, enum sim_dpa_handle_kind kind,
						      uint64_t element, struct sim_dpa_completion **ret_completion);
void sim_dpa_refuse_element(uint64_t element) __attribute__((noreturn));

/* Under the lock, @acked is called behind it; NULL = nothing. */
void sim_dpa_completion_ack(enum sim_dpa_handle_kind kind, uint64_t handle, uint64_t num,
			    void (*acked)(struct sim_dpa_completion *completion));
void sim_dpa_completion_arm(enum sim_dpa_handle_kind kind, uint64_t handle);

/* For the port. */
int sim_dpa_port_take(uint64_t handle, uint64_t *ret_element);
uint64_t sim_dpa_port_element(uint64_t element, enum sim_dpa_element_field field);
void sim_dpa_port_ack(uint64_t handle, uint64_t num);
void sim_dpa_port_arm(uint64_t handle);

#endif
