/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of windows. */
#include <stdlib.h>
#include <sys/mman.h>

#include "map_priv.h"
#include "sim/base/fork.h"
#include "window.h"

#define LINE        ((size_t)SIM_DPA_LINE_BYTES)
#define NUM_RETIRED 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	void *lines;
	size_t bytes;
} retired[NUM_RETIRED]; /* under the lock */

SIM_AT_FORK(SIM_FORK_LOCKS, .lock = &lock);

static size_t num_lines(const struct sim_dpa_map *map)
{
	return (size_t)((map->addr % LINE + map->len_bytes + LINE - 1) / LINE);
}

/* What is reserved for the lines. */
static size_t lines_bytes(const struct sim_dpa_window *window)
{
	return window->num_lines * LINE + 2 * SIM_DPA_WINDOW_MARGIN;
}

static void *reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

struct sim_dpa_window *sim_dpa_window_make(const struct sim_dpa_map *map)
{
	struct sim_dpa_window *window = calloc(1, sizeof(*window));
	uint8_t *reserved;

	if (!window)
		return NULL;
	window->num_lines = num_lines(map);
	reserved = reserve(lines_bytes(window));
	window->lines = reserved ? reserved + SIM_DPA_WINDOW_MARGIN : NULL;
	window->stored = reserve(window->num_lines * sizeof(*window->stored));
	pthread_mutex_init(&window->lock, NULL);
	if (window->lines && window->stored)
		return window;
	sim_dpa_window_free(window);
	return NULL;
}

/* An EU may be between the look at its ranges and the access, without a block: other memory must not come to these addresses soon. The last
 * ones stay reserved, without memory. */
static void retire(void *lines, size_t bytes)
{
	static unsigned int next;

	if (mmap(lines, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
	    MAP_FAILED) {
		munmap(lines, bytes);
		return;
	}
	pthread_mutex_lock(&lock);
	if (retired[next].lines)
		munmap(retired[next].lines, retired[next].bytes);
	retired[next].lines = lines;
	retired[next].bytes = bytes;
	next = (next + 1) % NUM_RETIRED;
	pthread_mutex_unlock(&lock);
}

bool sim_dpa_window_has_ended(uintptr_t addr)
{
	bool is_found = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < NUM_RETIRED && !is_found; i++)
		is_found = retired[i].lines && addr - (uintptr_t)retired[i].lines < retired[i].bytes;
	pthread_mutex_unlock(&lock);
	return is_found;
}

void sim_dpa_window_free(struct sim_dpa_window *window)
{
	if (!window)
		return;
	if (window->lines)
		retire(window->lines - SIM_DPA_WINDOW_MARGIN, lines_bytes(window));
	if (window->stored)
		munmap(window->stored, window->num_lines * sizeof(*window->stored));
	pthread_mutex_destroy(&window->lock);
	free(window);
}
