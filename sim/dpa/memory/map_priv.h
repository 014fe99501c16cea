/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/memory/map_priv.h - maps with a window. */
#ifndef SIM_DPA_MAP_PRIV_H
#define SIM_DPA_MAP_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "map.h"

#define SIM_DPA_LINE_BYTES 64

/* The window has so many addresses before and behind its lines. A kernel's access there is one outside of the map's range, and not
 * one of other memory that the program has beside the window. */
#define SIM_DPA_WINDOW_MARGIN 4096

struct sim_dpa_window {
	uint64_t number; /* of all windows, from 1 */
	uint8_t *lines;  /* reserved, with a margin on both sides; pages at their first use, as of @stored */
	size_t num_lines;
	uint64_t *stored; /* of each line: bytes that EUs have stored, and not written back; under the lock */
	pthread_mutex_t lock;
	atomic_bool is_gone; /* an access failed: no further one is tried */
	LIST_ENTRY(sim_dpa_window) link;
	struct sim_dpa_map *map; /* NULL = not in the list */
};

/* ---- map.c ---- */

/* Make the window of a map, which the caller holds, unless it has one. Returns 0 or -ENOMEM. */
int sim_dpa_map_make_window(struct sim_dpa_map *map);

/* Hold the map in whose window, or in its margins, the address is; NULL = there is none. */
struct sim_dpa_map *sim_dpa_map_hold_window(uintptr_t addr);

/* ---- window_memory.c ---- */

/* NULL = no memory. */
struct sim_dpa_window *sim_dpa_window_make(const struct sim_dpa_map *map);
void sim_dpa_window_free(struct sim_dpa_window *window);

#endif
