/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions of a kernel. */
#include "completion.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/dpa/exec/process_priv.h"

/* The number of an element: the index part of its ring's handle, and its position. */
#define INDEX_MASK ((UINT64_C(1) << 24) - 1)

int sim_dpa_completion_start(struct sim_dpa_process *process, struct sim_dpa_activity *activity, uint32_t min_size,
			     struct sim_dpa_completion *completion)
{
	uint32_t size = 1;

	while (size < min_size)
		size *= 2;
	*completion = (struct sim_dpa_completion){ .process = process, .activity = activity, .size = size };
	completion->ring = calloc(size, sizeof(*completion->ring));
	if (!completion->ring)
		return -ENOMEM;
	completion->is_armed = true;
	completion->handle = sim_dpa_process_export(process, SIM_DPA_COMPLETION, completion);
	if (!completion->handle) {
		free(completion->ring);
		return -ENOMEM;
	}
	return 0;
}

void sim_dpa_completion_stop(struct sim_dpa_completion *completion)
{
	sim_dpa_process_withdraw(completion->process, SIM_DPA_COMPLETION, completion);
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

int sim_dpa_completion_push(struct sim_dpa_completion *completion, const struct sim_dpa_element *element)
{
	int rc = 0;

	pthread_mutex_lock(&completion->process->lock);
	if (completion->pushed - completion->acked == completion->size) {
		rc = -ENOBUFS;
	} else {
		completion->ring[completion->pushed++ % completion->size] = *element;
		if (completion->is_armed)
			wake(completion);
	}
	pthread_mutex_unlock(&completion->process->lock);
	return rc;
}

/* ---- the port: no lock is held when a kernel is refused ---- */

static struct sim_dpa_completion *find(struct sim_dpa_process *process, uint64_t handle)
{
	return sim_dpa_handle_find(&process->handles, SIM_DPA_COMPLETION, handle);
}

static void __attribute__((noreturn)) refuse(uint64_t handle)
{
	sim_dpa_refuse("%#llx is no completion context that is started", (unsigned long long)handle);
}

int sim_dpa_port_take(uint64_t handle, uint64_t *ret_element)
{
	struct sim_dpa_process *process = sim_dpa_eu_current()->process;
	struct sim_dpa_completion *completion;
	bool is_taken = false;

	pthread_mutex_lock(&process->lock);
	completion = find(process, handle);
	if (completion && completion->taken != completion->pushed) {
		*ret_element = (handle & INDEX_MASK) << 32 | completion->taken++;
		is_taken = true;
	}
	pthread_mutex_unlock(&process->lock);
	if (!completion)
		refuse(handle);
	return is_taken;
}

/* The ring of the element, if it was taken and not given back. */
static struct sim_dpa_completion *find_by_element(struct sim_dpa_process *process, uint64_t number)
{
	uint64_t index = number >> 32;
	uint32_t position = (uint32_t)number;
	struct sim_dpa_completion *completion;

	if (index >= process->handles.num_slots || process->handles.slots[index].kind != SIM_DPA_COMPLETION)
		return NULL;
	completion = process->handles.slots[index].object;
	if (!completion || position - completion->acked >= completion->taken - completion->acked)
		return NULL;
	return completion;
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
	struct sim_dpa_process *process = sim_dpa_eu_current()->process;
	struct sim_dpa_completion *completion;
	uint64_t value = 0;

	pthread_mutex_lock(&process->lock);
	completion = find_by_element(process, number);
	if (completion)
		value = field_of(&completion->ring[(uint32_t)number % completion->size], field);
	pthread_mutex_unlock(&process->lock);
	if (!completion)
		sim_dpa_refuse("%#llx is no completion element: it was never taken, or is acknowledged already",
			       (unsigned long long)number);
	return value;
}

void sim_dpa_port_ack(uint64_t handle, uint64_t num)
{
	struct sim_dpa_process *process = sim_dpa_eu_current()->process;
	struct sim_dpa_completion *completion;
	uint32_t num_taken = 0;

	pthread_mutex_lock(&process->lock);
	completion = find(process, handle);
	if (completion) {
		num_taken = completion->taken - completion->acked;
		if (num <= num_taken)
			completion->acked += (uint32_t)num;
	}
	pthread_mutex_unlock(&process->lock);
	if (!completion)
		refuse(handle);
	if (num > num_taken)
		sim_dpa_refuse("the kernel acknowledges %llu completions and has taken %u", (unsigned long long)num,
			       num_taken);
}

void sim_dpa_port_arm(uint64_t handle)
{
	struct sim_dpa_process *process = sim_dpa_eu_current()->process;
	struct sim_dpa_completion *completion;

	pthread_mutex_lock(&process->lock);
	completion = find(process, handle);
	if (completion && completion->taken != completion->pushed)
		wake(completion);
	else if (completion)
		completion->is_armed = true;
	pthread_mutex_unlock(&process->lock);
	if (!completion)
		refuse(handle);
}
