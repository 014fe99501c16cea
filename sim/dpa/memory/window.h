/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/memory/window.h - windows: addresses by which kernels load and store the memory of a map.
 *
 *   memory of the map (this process, or another)          window: a reserved range of addresses
 *   [ line ][ line ][ line ] --a load fetches its lines--> [ line ][ line ][ line ]   kernels load and store here
 *                            <--write back: bytes that were stored--
 *
 * A window is a cache of lines of 64 bytes that is not coherent with the memory, as on a card. A line that an EU has fetched is not
 * fetched again before the EU invalidates. Stores reach the memory when their EU writes back, or its kernel ends; of a line the stored
 * bytes alone are written. EUs share the lines: one may see another's stores before they are written back. An atomic operation is
 * done on the line, and is none for others than kernels.
 *
 * Each EU has a view. An access at an address that is in no window is -ENOENT. Of memory that is gone, as its process has ended,
 * kernels load ones, and their stores are lost.
 */
#ifndef SIM_DPA_WINDOW_H
#define SIM_DPA_WINDOW_H

#include "map.h"

enum { SIM_DPA_VIEW_FETCHED = 16, SIM_DPA_VIEW_STORED = 32 };

/* What an EU has done since it last invalidated, and wrote back. Zeroed: nothing. */
struct sim_dpa_view {
	struct {
		uintptr_t line;  /* 0 = none */
		uint64_t window; /* its number: another map's window may come to the same address */
	} fetched[SIM_DPA_VIEW_FETCHED];
	uint32_t next_fetched;
	struct {
		uintptr_t line;
		size_t num_lines;
		uint64_t bytes; /* of each line, a bit for each that was stored */
		uint64_t window;
	} stored[SIM_DPA_VIEW_STORED];
	uint32_t num_stored;
};

/* The address of the window that stands for @addr of the map. The first call makes the window. Returns 0, -ENOENT, -EFAULT (not in
 * the map's range) or -ENOMEM. */
int sim_dpa_window_pointer(uint32_t handle, uint64_t addr, uint64_t *ret_pointer);

/* A kernel is about to access a range of a window. *ret_range: what it may load without a further call, until it invalidates. Returns
 * 0, -ENOENT, -EFAULT or -EACCES (a store to a map that is read only). */
int sim_dpa_window_access(struct sim_dpa_view *view, uintptr_t addr, size_t len, bool is_write,
			  struct sim_dpa_range *ret_range);

/* Whether the address was in the window of a map that has ended lately. */
bool sim_dpa_window_has_ended(uintptr_t addr);

void sim_dpa_window_invalidate(struct sim_dpa_view *view);

void sim_dpa_window_write_back(struct sim_dpa_view *view);

/* Of a kernel that was ended: forget what it stored. */
void sim_dpa_window_drop(struct sim_dpa_view *view);

#endif
