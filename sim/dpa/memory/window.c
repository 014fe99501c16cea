/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of windows: fetched, stored to, written back. */
#include "window.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "map_priv.h"
#include "pcie_model/arith.h"
#include "sim/base/log.h"

#define LINE        ((uintptr_t)SIM_DPA_LINE_BYTES)
#define CHUNK_LINES 64 /* that are fetched at once */

static uintptr_t line_of(uintptr_t addr)
{
	return addr & ~(LINE - 1);
}

/* ---- windows ---- */

/* The begin of the map's range in its window. */
static uintptr_t window_begin(const struct sim_dpa_map *map)
{
	return (uintptr_t)map->window->lines + map->addr % LINE;
}

int sim_dpa_window_pointer(uint32_t handle, uint64_t addr, uint64_t *ret_pointer)
{
	struct sim_dpa_map *map = sim_dpa_map_hold(handle);
	int rc = !map ? -ENOENT : addr - map->addr > map->len_bytes ? -EFAULT : 0;

	if (rc == 0 && map->is_of_dpa)
		*ret_pointer = addr;
	else if (rc == 0)
		rc = sim_dpa_map_make_window(map);
	if (rc == 0 && !map->is_of_dpa)
		*ret_pointer = window_begin(map) + (addr - map->addr);
	sim_dpa_map_release(map);
	return rc;
}

/* ---- lines ---- */

static bool is_fetched(const struct sim_dpa_view *view, const struct sim_dpa_window *window, uintptr_t line)
{
	for (uint32_t i = 0; i < SIM_DPA_VIEW_FETCHED; i++)
		if (view->fetched[i].line == line && view->fetched[i].window == window->number)
			return true;
	return false;
}

/* Put @len bytes that were fetched at @at, a place of the window. Bytes that EUs have stored stay. */
static void put(struct sim_dpa_window *window, uintptr_t at, const uint8_t *bytes, size_t len)
{
	pthread_mutex_lock(&window->lock);
	while (len > 0) {
		size_t index = (at - (uintptr_t)window->lines) / LINE, first = at % LINE,
		       part = min_size(len, LINE - first);
		uint64_t stored = window->stored[index];

		if (stored == 0)
			memcpy((void *)at, bytes, part);
		for (size_t i = 0; stored && i < part; i++)
			if (!(stored >> (first + i) & 1))
				((uint8_t *)at)[i] = bytes[i];
		at += part;
		bytes += part;
		len -= part;
	}
	pthread_mutex_unlock(&window->lock);
}

/* The memory is gone, with its process for instance. */
static void mark_gone(struct sim_dpa_map *map)
{
	if (!atomic_exchange(&map->window->is_gone, true))
		sim_warn("the memory of map %#x is gone: kernels load ones by their window, and their stores are lost",
			 map->handle);
}

static void read_or_ones(struct sim_dpa_map *map, uint64_t addr, uint8_t *bytes, size_t len)
{
	if (!atomic_load(&map->window->is_gone) && sim_dpa_map_read(map, addr, bytes, len) < 0)
		mark_gone(map);
	if (atomic_load(&map->window->is_gone))
		memset(bytes, 0xff, len);
}

/* Fetch the lines of a range of the window, as far as the map's range has them. */
static void fetch(struct sim_dpa_map *map, uintptr_t begin, uintptr_t end)
{
	uintptr_t low = window_begin(map);
	uint8_t bytes[CHUNK_LINES * SIM_DPA_LINE_BYTES];

	if (begin < low)
		begin = low;
	if (end > low + map->len_bytes)
		end = low + map->len_bytes;
	while (begin < end) {
		size_t len = min_size(sizeof(bytes), end - begin);

		read_or_ones(map, map->addr + (begin - low), bytes, len);
		put(map->window, begin, bytes, len);
		begin += len;
	}
}

static void fetch_unknown(struct sim_dpa_view *view, struct sim_dpa_map *map, uintptr_t addr, size_t len)
{
	uintptr_t line = line_of(addr), last = line_of(addr + len - 1);

	if (line != last) { /* a copy of many bytes: fetched, but not kept */
		fetch(map, line, last + LINE);
	} else if (!is_fetched(view, map->window, line)) {
		uint32_t i = view->next_fetched++ % SIM_DPA_VIEW_FETCHED;

		view->fetched[i].line = line;
		view->fetched[i].window = map->window->number;
		fetch(map, line, line + LINE);
	}
}

/* ---- stores ---- */

static uint64_t mask_of(size_t first, size_t len)
{
	return (len == LINE ? UINT64_MAX : (UINT64_C(1) << len) - 1) << first;
}

static void set_stored(struct sim_dpa_window *window, uintptr_t line, size_t num_lines, uint64_t bytes)
{
	uint64_t *stored = &window->stored[(line - (uintptr_t)window->lines) / LINE];

	pthread_mutex_lock(&window->lock);
	for (size_t i = 0; i < num_lines; i++)
		stored[i] |= bytes;
	pthread_mutex_unlock(&window->lock);
}

static void clear_stored(struct sim_dpa_window *window, uintptr_t line, size_t num_lines, uint64_t bytes)
{
	uint64_t *stored = &window->stored[(line - (uintptr_t)window->lines) / LINE];

	pthread_mutex_lock(&window->lock);
	for (size_t i = 0; i < num_lines; i++)
		stored[i] &= ~bytes;
	pthread_mutex_unlock(&window->lock);
}

static void note_stored(struct sim_dpa_view *view, struct sim_dpa_window *window, uintptr_t line, size_t num_lines,
			uint64_t bytes)
{
	uint32_t i = view->num_stored;

	set_stored(window, line, num_lines, bytes);
	while (i-- > 0)
		if (view->stored[i].line == line && view->stored[i].num_lines == num_lines &&
		    view->stored[i].window == window->number) {
			view->stored[i].bytes |= bytes;
			return;
		}
	i = view->num_stored++;
	view->stored[i].line = line;
	view->stored[i].num_lines = num_lines;
	view->stored[i].bytes = bytes;
	view->stored[i].window = window->number;
}

/* A card's cache has room for so many lines only, too: the lines go back to memory when there is none. That is before any of this
 * store is marked, as its bytes come when this has returned: in the first line, in whole lines and in the last line. */
static void mark_stored(struct sim_dpa_view *view, struct sim_dpa_window *window, uintptr_t addr, size_t len)
{
	uint32_t num_parts = line_of(addr) == line_of(addr + len - 1) ? 1 : 3;

	if (view->num_stored + num_parts > SIM_DPA_VIEW_STORED)
		sim_dpa_window_write_back(view);
	while (len > 0) {
		uintptr_t line = line_of(addr);
		size_t first = addr - line, num_lines = first == 0 && len >= LINE ? len / LINE : 1,
		       part = min_size(len, num_lines * LINE - first);

		note_stored(view, window, line, num_lines, mask_of(first, min_size(part, LINE)));
		addr += part;
		len -= part;
	}
}

static int access_map(struct sim_dpa_view *view, struct sim_dpa_map *map, uintptr_t addr, size_t len, bool is_write,
		      struct sim_dpa_range *ret_range)
{
	uintptr_t low = window_begin(map);

	if (addr < low || addr - low > map->len_bytes || len > map->len_bytes - (addr - low))
		return -EFAULT;
	if (is_write && !map->is_writable)
		return -EACCES;
	fetch_unknown(view, map, addr, len);
	if (is_write) {
		mark_stored(view, map->window, addr, len);
	} else if (line_of(addr) == line_of(addr + len - 1)) {
		ret_range->begin = line_of(addr) < low ? low : line_of(addr);
		ret_range->end = line_of(addr) + LINE;
		if (ret_range->end > low + map->len_bytes)
			ret_range->end = low + map->len_bytes;
	}
	return 0;
}

int sim_dpa_window_access(struct sim_dpa_view *view, uintptr_t addr, size_t len, bool is_write,
			  struct sim_dpa_range *ret_range)
{
	struct sim_dpa_map *map = sim_dpa_map_hold_window(addr);
	int rc = map ? access_map(view, map, addr, len, is_write, ret_range) : -ENOENT;

	sim_dpa_map_release(map);
	return rc;
}

void sim_dpa_window_invalidate(struct sim_dpa_view *view)
{
	memset(view->fetched, 0, sizeof(view->fetched));
}

static void write_bytes(struct sim_dpa_map *map, uintptr_t from, size_t len)
{
	uint64_t addr = map->addr + (from - window_begin(map));

	if (!atomic_load(&map->window->is_gone) && sim_dpa_map_write(map, addr, (const void *)from, len) < 0)
		mark_gone(map);
}

/* Write whole lines, or runs of bytes of a line. */
static void write_lines(struct sim_dpa_map *map, uintptr_t line, size_t num_lines, uint64_t bytes)
{
	if (bytes == UINT64_MAX) {
		write_bytes(map, line, num_lines * LINE);
		return;
	}
	while (bytes) {
		size_t at = (size_t)__builtin_ctzll(bytes), len = (size_t)__builtin_ctzll(~(bytes >> at));

		write_bytes(map, line + at, len);
		bytes &= ~mask_of(at, len);
	}
}

/* Write what was stored, unless the map is gone; then the lines are the memory's again. */
static void settle_part(const struct sim_dpa_view *view, uint32_t i, bool is_written)
{
	uintptr_t line = view->stored[i].line;
	size_t num_lines = view->stored[i].num_lines;
	uint64_t bytes = view->stored[i].bytes;
	struct sim_dpa_map *map = sim_dpa_map_hold_window(line);
	bool is_same = map && map->window->number == view->stored[i].window;

	if (is_same && is_written)
		write_lines(map, line, num_lines, bytes);
	if (is_same)
		clear_stored(map->window, line, num_lines, bytes);
	sim_dpa_map_release(map);
}

static void settle(struct sim_dpa_view *view, bool is_written)
{
	for (uint32_t i = 0; i < view->num_stored; i++)
		settle_part(view, i, is_written);
	view->num_stored = 0;
}

void sim_dpa_window_write_back(struct sim_dpa_view *view)
{
	settle(view, true);
}

void sim_dpa_window_drop(struct sim_dpa_view *view)
{
	settle(view, false);
}
