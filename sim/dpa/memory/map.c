/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of maps, and copies between them. */
#include "map.h"

#include <errno.h>

#include "map_priv.h"

#include "sim/base/fork.h"
#include "sim/base/memory_guard.h"
#include "sim/clock/call_mark.h"
#include "sim/fabric/remote.h"

#define NUM_BUCKETS 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static LIST_HEAD(, sim_dpa_map) buckets[NUM_BUCKETS];
static LIST_HEAD(, sim_dpa_window) windows; /* of maps that are known */

/* A child has no kernels that hold maps. */
static void forget_uses(void)
{
	struct sim_dpa_map *map;

	for (int i = 0; i < NUM_BUCKETS; i++)
		LIST_FOREACH(map, &buckets[i], link)
			map->num_uses = 0;
}

SIM_AT_FORK(SIM_FORK_LOCKS, .lock = &lock, .child = forget_uses);

/* The low bits of a memory key change when its index is used again. */
static unsigned int bucket_of(uint32_t handle)
{
	return (handle >> 8) % NUM_BUCKETS;
}

void sim_dpa_map_add(struct sim_dpa_map *map)
{
	map->num_uses = 0;
	map->window = NULL;
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&buckets[bucket_of(map->handle)], map, link);
	pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static void unlist_window(struct sim_dpa_window *window)
{
	if (!window || !window->map)
		return;
	LIST_REMOVE(window, link);
	window->map = NULL;
}

void sim_dpa_map_remove(struct sim_dpa_map *map, void (*forget)(void))
{
	bool marked;

	pthread_mutex_lock(&lock);
	LIST_REMOVE(map, link);
	unlist_window(map->window);
	marked = sim_clock_begin_wait();
	while (map->num_uses > 0)
		pthread_cond_wait(&released, &lock);
	sim_clock_end_wait(marked);
	unlist_window(map->window); /* a thread that held the map may have made it meanwhile */
	pthread_mutex_unlock(&lock);
	if (map->window)
		forget();
	sim_dpa_window_free(map->window);
}

struct sim_dpa_map *sim_dpa_map_hold(uint32_t handle)
{
	struct sim_dpa_map *map;

	pthread_mutex_lock(&lock);
	LIST_FOREACH(map, &buckets[bucket_of(handle)], link)
		if (map->handle == handle)
			break;
	if (map)
		map->num_uses++;
	pthread_mutex_unlock(&lock);
	return map;
}

void sim_dpa_map_release(struct sim_dpa_map *map)
{
	if (!map)
		return;
	pthread_mutex_lock(&lock);
	if (--map->num_uses == 0)
		pthread_cond_broadcast(&released);
	pthread_mutex_unlock(&lock);
}

/* ---- windows ---- */

int sim_dpa_map_make_window(struct sim_dpa_map *map)
{
	static uint64_t last_number;
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (!map->window) {
		map->window = sim_dpa_window_make(map);
		rc = map->window ? 0 : -ENOMEM;
	}
	if (rc == 0 && !map->window->map) {
		map->window->map = map;
		map->window->number = ++last_number;
		LIST_INSERT_HEAD(&windows, map->window, link);
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

struct sim_dpa_map *sim_dpa_map_hold_window(uintptr_t addr)
{
	struct sim_dpa_window *window;

	pthread_mutex_lock(&lock);
	LIST_FOREACH(window, &windows, link)
		if (addr - ((uintptr_t)window->lines - SIM_DPA_WINDOW_MARGIN) <
		    window->num_lines * SIM_DPA_LINE_BYTES + 2 * SIM_DPA_WINDOW_MARGIN)
			break;
	if (window)
		window->map->num_uses++;
	pthread_mutex_unlock(&lock);
	return window ? window->map : NULL;
}

/* ---- copies ---- */

/* An end of a copy. */
struct place {
	struct sim_dpa_map *map;   /* held; NULL = none: memory of the simulator */
	struct sim_remote *remote; /* NULL = memory of this process */
	uint64_t addr;             /* of the remote, or of this process */
};

/* A guard of the ends that are in this process, and of the mappings of the others. */
struct copy_guard {
	struct sim_guard guard; /* first */
	struct place dst, src;
	size_t len;
};

static bool find_in(const struct place *place, size_t len, uintptr_t addr, struct sim_guarded_memory *ret_memory)
{
	struct sim_mapping *mapping = place->remote ? &place->remote->mapping : NULL;

	if (mapping ? !sim_mapping_has(mapping, addr) : addr - place->addr >= len)
		return false;
	*ret_memory = (struct sim_guarded_memory){ .mapping = mapping };
	if (!mapping) {
		ret_memory->begin = place->addr;
		ret_memory->end = place->addr + len;
	}
	return true;
}

static bool find_memory(const struct sim_guard *guard, uintptr_t addr, struct sim_guarded_memory *ret_memory)
{
	const struct copy_guard *copy = (const struct copy_guard *)guard;

	return find_in(&copy->dst, copy->len, addr, ret_memory) || find_in(&copy->src, copy->len, addr, ret_memory);
}

/* The place of a range of the map, which is held. */
static int find_place(struct sim_dpa_map *map, uint64_t addr, size_t len, bool is_write, struct place *ret_place)
{
	uint64_t offset = map ? addr - map->addr : 0;

	*ret_place = (struct place){ .map = map, .addr = addr };
	if (!map)
		return -ENOENT;
	if (offset > map->len_bytes || len > map->len_bytes - offset)
		return -EFAULT;
	ret_place->remote = map->remote;
	if (!map->remote)
		ret_place->addr = (uintptr_t)map->base + offset;
	return is_write && !map->is_writable ? -EACCES : 0;
}

static int copy_guarded(struct copy_guard *copy)
{
	struct sim_guard *outer = sim_guarded;
	bool is_lost;
	int rc;

	sim_guard_begin(&copy->guard);
	rc = sim_copy(copy->dst.remote, copy->dst.addr, copy->src.remote, copy->src.addr, copy->len);
	sim_guard_end();
	is_lost = copy->guard.is_lost;
	sim_guard_settle(&copy->guard);
	sim_guarded = outer;
	return rc < 0 ? rc : is_lost ? -EIO : 0;
}

int sim_dpa_map_copy(const struct sim_dpa_span *dst, const struct sim_dpa_span *src)
{
	struct copy_guard copy = { .guard.find = find_memory, .len = dst->len };
	struct sim_dpa_map *dst_map = sim_dpa_map_hold(dst->map), *src_map = sim_dpa_map_hold(src->map);
	int rc = find_place(dst_map, dst->addr, dst->len, true, &copy.dst);

	if (rc == 0)
		rc = find_place(src_map, src->addr, src->len, false, &copy.src);
	if (rc == 0 && copy.len > 0)
		rc = copy_guarded(&copy);
	sim_dpa_map_release(src_map);
	sim_dpa_map_release(dst_map);
	return rc;
}

int sim_dpa_map_read(struct sim_dpa_map *map, uint64_t addr, void *to, size_t len)
{
	struct copy_guard copy = { .guard.find = find_memory, .dst.addr = (uintptr_t)to, .len = len };
	int rc = find_place(map, addr, len, false, &copy.src);

	return rc == 0 ? copy_guarded(&copy) : rc;
}

int sim_dpa_map_write(struct sim_dpa_map *map, uint64_t addr, const void *from, size_t len)
{
	struct copy_guard copy = { .guard.find = find_memory, .src.addr = (uintptr_t)from, .len = len };
	int rc = find_place(map, addr, len, true, &copy.dst);

	return rc == 0 ? copy_guarded(&copy) : rc;
}
