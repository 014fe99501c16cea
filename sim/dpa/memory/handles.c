/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of objects for device code. */
#include "handles.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SLOTS (UINT32_C(1) << 24)

void sim_dpa_handles_fini(struct sim_dpa_handles *handles)
{
	free(handles->slots);
	memset(handles, 0, sizeof(*handles));
}

static uint64_t make_handle(const struct sim_dpa_handles *handles, uint32_t index)
{
	const struct sim_dpa_handle_slot *slot = &handles->slots[index];

	return (uint64_t)slot->kind << 56 | (uint64_t)slot->generation << 24 | index;
}

/* Returns UINT32_MAX without memory. */
static uint32_t find_free(struct sim_dpa_handles *handles)
{
	const uint32_t old = handles->num_slots;
	const uint32_t num = old ? 2 * old : 16;
	struct sim_dpa_handle_slot *slots;

	for (uint32_t i = 0; i < old; i++)
		if (!handles->slots[i].object)
			return i;
	slots = num <= MAX_SLOTS ? realloc(handles->slots, num * sizeof(*slots)) : NULL;
	if (!slots)
		return UINT32_MAX;
	memset(&slots[old], 0, (num - old) * sizeof(*slots));
	handles->slots = slots;
	handles->num_slots = num;
	return old;
}

uint64_t sim_dpa_handle_new(struct sim_dpa_handles *handles, enum sim_dpa_handle_kind kind, void *object)
{
	uint32_t index = find_free(handles);

	if (index == UINT32_MAX)
		return 0;
	handles->slots[index].object = object;
	handles->slots[index].kind = (uint8_t)kind;
	return make_handle(handles, index);
}

static struct sim_dpa_handle_slot *find_slot(const struct sim_dpa_handles *handles, uint64_t handle)
{
	uint32_t index = (uint32_t)(handle & (MAX_SLOTS - 1));

	if (index >= handles->num_slots || !handles->slots[index].object || make_handle(handles, index) != handle)
		return NULL;
	return &handles->slots[index];
}

void *sim_dpa_handle_find(const struct sim_dpa_handles *handles, enum sim_dpa_handle_kind kind, uint64_t handle)
{
	struct sim_dpa_handle_slot *slot = find_slot(handles, handle);

	return slot && slot->kind == kind ? slot->object : NULL;
}

uint64_t sim_dpa_handle_of(const struct sim_dpa_handles *handles, enum sim_dpa_handle_kind kind, const void *object)
{
	for (uint32_t i = 0; i < handles->num_slots; i++)
		if (handles->slots[i].object == object && handles->slots[i].kind == kind)
			return make_handle(handles, i);
	return 0;
}

void sim_dpa_handle_drop(struct sim_dpa_handles *handles, uint64_t handle)
{
	struct sim_dpa_handle_slot *slot = find_slot(handles, handle);

	if (!slot)
		return;
	slot->object = NULL;
	slot->generation++;
}
