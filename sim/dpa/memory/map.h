/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/memory/map.h - memory that kernels name by the handle of a memory map, and by addresses of that map.
 *
 *   add --> [known] --hold, access, release--> [known] --remove: waits for those that hold it--> gone
 *
 * The owner of a map gives it to all DPA contexts of the program: a handle is a memory key of the card. The memory is in this
 * process, or another process's behind a remote (sim/fabric/remote.h).
 *
 * Any thread may call. A kernel's thread leaves by siglongjmp() only while it holds no map.
 */
#ifndef SIM_DPA_MAP_H
#define SIM_DPA_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "sim/dpa/image/port.h"

struct sim_dpa_window;
struct sim_remote;

struct sim_dpa_map {
	/* Set by the owner: */
	uint32_t handle;           /* > 0 */
	uint64_t addr, len_bytes;  /* the range, as kernels name it */
	uint8_t *base;             /* where it is in this process, or: */
	struct sim_remote *remote; /* the other process's memory; the owner keeps it until the removal */
	bool is_writable;
	bool is_of_dpa; /* the heap of a DPA context, which needs no window */
	/* Of map.c: */
	uint32_t num_uses;
	struct sim_dpa_window *window; /* NULL = none yet */
	LIST_ENTRY(sim_dpa_map) link;
};

void sim_dpa_map_add(struct sim_dpa_map *map);

/* On return nothing accesses the memory by the map. @forget has kernels forget the ranges of windows that they know. */
void sim_dpa_map_remove(struct sim_dpa_map *map, void (*forget)(void));

/* NULL = no map has the handle (any more). */
struct sim_dpa_map *sim_dpa_map_hold(uint32_t handle);
void sim_dpa_map_release(struct sim_dpa_map *map);

/* Copy between two ranges of the same length. Returns 0, -ENOENT (no such map), -EFAULT (outside of a map's range), -EACCES (a map
 * does not permit it) or -EIO (memory is gone). */
int sim_dpa_map_copy(const struct sim_dpa_span *dst, const struct sim_dpa_span *src);

/* Copy between a range of a map, which the caller holds, and memory of the simulator. Returns as sim_dpa_map_copy(). */
int sim_dpa_map_read(struct sim_dpa_map *map, uint64_t addr, void *to, size_t len);
int sim_dpa_map_write(struct sim_dpa_map *map, uint64_t addr, const void *from, size_t len);

#endif
