/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the memory of tasks at a fault, and reports it. */
#include "task_memory.h"

#include <inttypes.h>
#include <stdio.h>

#include "shim/common/base/call_hooks.h"
#include "shim/common/mem/buf_priv.h"
#include "sim/base/log.h"
#include "sim/fabric/remote.h"

/* The buffer may have been returned meanwhile, and its map may have ended. */
bool shim_memory_find(const struct doca_buf *buf, const uint8_t *data, size_t bytes, const char *role, uintptr_t addr,
		      struct shim_memory *ret_memory)
{
	const struct doca_mmap *mmap = buf->mmap;

	if (!shim_object_is_still(mmap, SHIM_MMAP))
		return false;
	*ret_memory = (struct shim_memory){ .role = role, .mmap = mmap, .addr = (uintptr_t)data, .len_bytes = bytes };
	if (mmap->remote)
		return shim_memory_find_remote(mmap->remote, addr, ret_memory);
	ret_memory->cpu_addr = shim_mmap_cpu_addr(mmap, data);
	return addr - ret_memory->cpu_addr < bytes;
}

bool shim_memory_find_remote(struct sim_remote *remote, uintptr_t addr, struct shim_memory *ret_memory)
{
	if (!remote->base)
		return false;
	ret_memory->cpu_addr = (uintptr_t)remote->base + (ret_memory->addr - remote->region.addr);
	if (sim_mapping_has(&remote->mapping, addr))
		ret_memory->mapping = &remote->mapping;
	return ret_memory->mapping || addr - ret_memory->cpu_addr < ret_memory->len_bytes;
}

/* ---- jobs ---- */

static bool find(const struct sim_job *job, uintptr_t addr, struct sim_guarded_memory *ret_memory)
{
	const struct doca_task *task = shim_task_from_job(job);
	struct shim_memory memory;

	if (!task->pool->type->find_memory || !task->pool->type->find_memory(task, addr, &memory))
		return false;
	*ret_memory = (struct sim_guarded_memory){ .mapping = memory.mapping,
						   .begin = memory.cpu_addr,
						   .end = memory.cpu_addr + memory.len_bytes };
	return true;
}

static void has_faulted(const struct sim_job *job, const struct sim_guard *guard)
{
	const struct doca_task *task = shim_task_from_job(job);
	struct shim_memory memory;

	if (!task->pool->type->find_memory(task, guard->addr, &memory)) /* its job has let go of it */
		memory = (struct shim_memory){
			.role = "peer", .addr = guard->addr, .cpu_addr = guard->addr, .len_bytes = 1
		};
	shim_memory_report(task->pool->type->name, task, &memory, guard);
}

const struct sim_queue_memory shim_task_queue_memory = { .find = find, .has_faulted = has_faulted };

/* ---- reports ---- */

static const char *describe(enum sim_memory_fault fault)
{
	switch (fault) {
	case SIM_MEMORY_UNMAPPED:
		return "was unmapped or freed";
	case SIM_MEMORY_TRUNCATED:
		return "has no object behind it any more (the object was truncated, or its file system is full)";
	default:
		return "can't be accessed (mprotect(), or a read-only mapping in its place)";
	}
}

static void log_lost(const char *who, const struct shim_memory *memory, const struct sim_guard *guard)
{
	char map[64] = "";

	if (memory->mmap)
		snprintf(map, sizeof(map), " of memory map %p", (const void *)memory->mmap);
	sim_err("%s: fails: its %s, %zu bytes at %#" PRIx64 "%s, %s at byte %" PRIu64
		" while it was in use; memory has to stay until the task is complete and its memory map is stopped",
		who, memory->role, memory->len_bytes, memory->addr, map, describe(guard->fault),
		guard->addr - memory->cpu_addr);
}

void shim_memory_report(const char *who, const struct doca_task *task, const struct shim_memory *memory,
			const struct sim_guard *guard)
{
	if (guard->is_lost)
		log_lost(who, memory, guard);
	else
		sim_dbg("%s: its %s, %zu bytes at %#" PRIx64
			", is protected; a card, which sees no protection, accesses it all the same, and so it was done",
			who, memory->role, memory->len_bytes, memory->addr);
	if (shim_call_hooks)
		shim_call_hooks->memory_faulted(task, memory, guard);
}

void shim_memory_report_range(const char *who, const struct doca_task *task, const struct shim_memory *memory,
			      struct sim_range_guard *range)
{
	const struct sim_guard guard = range->guard;

	sim_guard_settle(&range->guard);
	shim_memory_report(who, task, memory, &guard);
}
