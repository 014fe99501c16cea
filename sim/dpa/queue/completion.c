/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions of a kernel. */
#include "completion.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/dpa/exec/process_priv.h"

/* The number of an element: the index part of its ring's handle, and its position. */
#define INDEX_MASK ((UINT64_C(1) << 24) - 1)

int sim_dpa_completion_start(struct sim_dpa_process *process, struct sim_dpa_activity *activity,
			     enum sim_dpa_handle_kind kind, uint32_t min_size, struct sim_dpa_completion *completion)
{
	uint32_t size = 1;

	while (size < min_size)
		size *= 2;
	*completion =
		(struct sim_dpa_completion){ .kind = kind, .process = process, .activity = activity, .size = size };
	completion->ring = calloc(size, sizeof(*completion->ring));
	if (!completion->ring)
		return -ENOMEM;
	completion->is_armed = true;
	completion->handle = sim_dpa_process_export(process, kind, completion);
	if (!completion->handle) {
		free(completion->ring);
		return -ENOMEM;
	}
	return 0;
}

void sim_dpa_completion_stop(struct sim_dpa_completion *completion)
{
	sim_dpa_process_withdraw(completion->process, completion->kind, completion);
	free(completion->ring);
	completion->ring = NULL;
	completion->handle = 0;
}

static void wake(struct sim_dpa_completion *completion)
{
	completion->is_armed = false;
	if (completion->activity)
		sim_dpa_activity_wake(completion->activity);
}

int sim_dpa_completion_push_locked(struct sim_dpa_completion *completion, const struct sim_dpa_element *element)
{
	if (completion->pushed - completion->acked == completion->size) {
		completion->num_lost++;
		return -ENOBUFS;
	}
	completion->ring[completion->pushed++ % completion->size] = *element;
	if (completion->is_armed)
		wake(completion);
	if (completion->process->num_polling > 0)
		pthread_cond_broadcast(&completion->process->doorbell);
	return 0;
}

int sim_dpa_completion_push(struct sim_dpa_completion *completion, const struct sim_dpa_element *element)
{
	int rc;

	pthread_mutex_lock(&completion->process->lock);
	rc = sim_dpa_completion_push_locked(completion, element);
	pthread_mutex_unlock(&completion->process->lock);
	return rc;
}

void sim_dpa_completion_inspect(const struct sim_dpa_completion *completion, struct sim_dpa_completion_view *ret_view)
{
	struct sim_dpa_process *process = completion->process;

	pthread_mutex_lock(&process->lock);
	*ret_view = (struct sim_dpa_completion_view){ .size = completion->size,
						      .num_waiting = completion->pushed - completion->taken,
						      .num_unacked = completion->taken - completion->acked,
						      .num_lost = completion->num_lost,
						      .has_acked_any = completion->acked != 0,
						      .was_armed_unacked = completion->was_armed_unacked };
	ret_view->is_unheard = ret_view->num_waiting > 0 && !completion->is_armed && completion->activity &&
			       sim_dpa_activity_sleeps(completion->activity);
	pthread_mutex_unlock(&process->lock);
}

/* ---- kernels: no lock is held when one is refused ---- */

static struct sim_dpa_completion *find(struct sim_dpa_process *process, enum sim_dpa_handle_kind kind, uint64_t handle)
{
	return sim_dpa_handle_find(&process->handles, kind, handle);
}

static void __attribute__((noreturn)) refuse(uint64_t handle)
{
	sim_dpa_refuse_as(SIM_DPA_CRASH_HANDLE, handle, "%#llx is no completion context that is started",
			  (unsigned long long)handle);
}

bool sim_dpa_completion_take(enum sim_dpa_handle_kind kind, uint64_t handle, uint64_t *ret_element)
{
	struct sim_dpa_process *process = sim_dpa_enter();
	struct sim_dpa_completion *completion;
	bool is_taken = false;

	pthread_mutex_lock(&process->lock);
	completion = find(process, kind, handle);
	if (completion && completion->taken != completion->pushed) {
		*ret_element = (handle & INDEX_MASK) << 32 | completion->taken++;
		is_taken = true;
	}
	pthread_mutex_unlock(&process->lock);
	if (!completion)
		refuse(handle);
	if (is_taken)
		sim_dpa_eu_current()->num_empty_polls = 0;
	else
		sim_dpa_eu_poll_empty(sim_dpa_eu_current());
	return is_taken;
}

const struct sim_dpa_element *sim_dpa_completion_find(struct sim_dpa_process *process, enum sim_dpa_handle_kind kind,
						      uint64_t number, struct sim_dpa_completion **ret_completion)
{
	uint64_t index = number >> 32;
	uint32_t position = (uint32_t)number;
	struct sim_dpa_completion *completion;

	if (index >= process->handles.num_slots || process->handles.slots[index].kind != kind)
		return NULL;
	completion = process->handles.slots[index].object;
	if (!completion || position - completion->acked >= completion->taken - completion->acked)
		return NULL;
	*ret_completion = completion;
	return &completion->ring[position % completion->size];
}

void sim_dpa_refuse_element(uint64_t number)
{
	sim_dpa_refuse("%#llx is no completion element: it was never taken, or is acknowledged already",
		       (unsigned long long)number);
}

static uint64_t field_of(const struct sim_dpa_element *element, enum sim_dpa_element_field field)
{
	switch (field) {
	case SIM_DPA_ELEMENT_TYPE:
		return element->type;
	case SIM_DPA_ELEMENT_USER_DATA:
		return element->user_data;
	case SIM_DPA_ELEMENT_IMMEDIATE:
		return element->immediate;
	case SIM_DPA_ELEMENT_WR_INDEX:
		return element->index;
	default:
		return 0;
	}
}

uint64_t sim_dpa_port_element(uint64_t number, enum sim_dpa_element_field field)
{
	struct sim_dpa_process *process = sim_dpa_enter();
	const struct sim_dpa_element *element;
	struct sim_dpa_completion *completion;
	uint64_t value = 0;

	pthread_mutex_lock(&process->lock);
	element = sim_dpa_completion_find(process, SIM_DPA_COMPLETION, number, &completion);
	if (element)
		value = field_of(element, field);
	pthread_mutex_unlock(&process->lock);
	if (!element)
		sim_dpa_refuse_element(number);
	return value;
}

void sim_dpa_completion_ack(enum sim_dpa_handle_kind kind, uint64_t handle, uint64_t num,
			    void (*acked)(struct sim_dpa_completion *completion))
{
	struct sim_dpa_process *process = sim_dpa_enter();
	struct sim_dpa_completion *completion;
	uint32_t num_taken = 0;

	pthread_mutex_lock(&process->lock);
	completion = find(process, kind, handle);
	if (completion) {
		num_taken = completion->taken - completion->acked;
		if (num <= num_taken)
			completion->acked += (uint32_t)num;
		if (acked)
			acked(completion);
	}
	pthread_mutex_unlock(&process->lock);
	if (!completion)
		refuse(handle);
	if (num > num_taken)
		sim_dpa_refuse("the kernel acknowledges %llu completions and has taken %u", (unsigned long long)num,
			       num_taken);
}

void sim_dpa_completion_arm(enum sim_dpa_handle_kind kind, uint64_t handle)
{
	struct sim_dpa_process *process = sim_dpa_enter();
	struct sim_dpa_completion *completion;

	pthread_mutex_lock(&process->lock);
	completion = find(process, kind, handle);
	if (completion)
		completion->was_armed_unacked |= completion->taken != completion->acked;
	if (completion && completion->taken != completion->pushed)
		wake(completion);
	else if (completion)
		completion->is_armed = true;
	pthread_mutex_unlock(&process->lock);
	if (!completion)
		refuse(handle);
}

/* ---- the port ---- */

int sim_dpa_port_take(uint64_t handle, uint64_t *ret_element)
{
	return sim_dpa_completion_take(SIM_DPA_COMPLETION, handle, ret_element);
}

void sim_dpa_port_ack(uint64_t handle, uint64_t num)
{
	sim_dpa_completion_ack(SIM_DPA_COMPLETION, handle, num, NULL);
}

void sim_dpa_port_arm(uint64_t handle)
{
	sim_dpa_completion_arm(SIM_DPA_COMPLETION, handle);
}
