/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the ranges of started maps, and the last releases. */
#include "releases.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "shim/check/base/check.h"
#include "shim/check/base/lock.h"
#include "shim/common/mem/mmap_priv.h"

#define NUM_RELEASES 64
#define PAGE_BYTES   4096

#ifdef SHIM_WORKQ_BUILD
#define FOLLOWS_MAPS false
#else
#define FOLLOWS_MAPS true
#endif

static struct {
	struct check_lock lock; /* protects the others */
	const struct doca_mmap **maps;
	_Atomic size_t num_maps; /* read without the lock, too */
	size_t max_maps;
	_Atomic uintptr_t begin, end; /* of all maps that were ever started */
	uint64_t num_releases;
	struct check_release releases[NUM_RELEASES]; /* a ring */
} known = { .lock = { ATOMIC_FLAG_INIT } };

/* ---- started maps ---- */

/* With the lock. SIZE_MAX = none. */
static size_t find_map(const struct doca_mmap *mmap)
{
	for (size_t i = 0; i < known.num_maps; i++)
		if (known.maps[i] == mmap)
			return i;
	return SIZE_MAX;
}

/* With the lock. */
static bool has_room(void)
{
	size_t max = known.max_maps ? known.max_maps * 2 : 64;
	const struct doca_mmap **grown;

	if (known.num_maps < known.max_maps)
		return true;
	grown = realloc(known.maps, max * sizeof(*grown));
	if (!grown)
		return false;
	known.maps = grown;
	known.max_maps = max;
	return true;
}

static uintptr_t begin_of(const struct doca_mmap *mmap)
{
	return shim_mmap_cpu_addr(mmap, mmap->addr);
}

/* With the lock. */
static void widen(uintptr_t begin, uintptr_t end)
{
	if (known.end == 0 || begin < known.begin)
		known.begin = begin;
	if (end > known.end)
		known.end = end;
}

static void leave_start(struct shim_call *call)
{
	const struct doca_mmap *mmap = check_arg(call, 0);

	if (check_result(call) != DOCA_SUCCESS)
		return;
	check_lock(&known.lock);
	if (find_map(mmap) == SIZE_MAX && has_room()) {
		known.maps[known.num_maps++] = mmap;
		widen(begin_of(mmap), begin_of(mmap) + mmap->len_bytes);
	}
	check_unlock(&known.lock);
}

/* Before the end: the map is still there. A call that is refused ends nothing. */
static void leave_end(struct shim_call *call)
{
	size_t i;

	if (check_result(call) != DOCA_SUCCESS)
		return;
	check_lock(&known.lock);
	i = find_map(check_arg(call, 0));
	if (i != SIZE_MAX)
		known.maps[i] = known.maps[--known.num_maps];
	check_unlock(&known.lock);
}

bool check_may_have_started_maps(void)
{
	return !FOLLOWS_MAPS || known.num_maps > 0;
}

bool check_may_be_in_started_map(uintptr_t begin, uintptr_t end)
{
	bool is_found = !FOLLOWS_MAPS && end - begin >= PAGE_BYTES;

	if (begin >= known.end || end <= known.begin)
		return is_found;
	check_lock(&known.lock);
	for (size_t i = 0; i < known.num_maps && !is_found; i++) {
		uintptr_t map = begin_of(known.maps[i]);

		is_found = map < end && begin < map + known.maps[i]->len_bytes;
	}
	check_unlock(&known.lock);
	return is_found;
}

static bool is_object_of(const struct stat *object, const struct doca_mmap *mmap)
{
	struct stat own;

	return mmap->object_fd >= 0 && fstat(mmap->object_fd, &own) == 0 && own.st_ino == object->st_ino &&
	       own.st_dev == object->st_dev;
}

bool check_find_map_of_object(int fd, uintptr_t *ret_begin, uintptr_t *ret_end, uint64_t *ret_offset)
{
	bool is_found = false;
	struct stat object;

	if (fstat(fd, &object) < 0)
		return false;
	check_lock(&known.lock);
	for (size_t i = 0; i < known.num_maps && !is_found; i++) {
		is_found = is_object_of(&object, known.maps[i]);
		*ret_begin = begin_of(known.maps[i]);
		*ret_end = *ret_begin + known.maps[i]->len_bytes;
		*ret_offset = known.maps[i]->object_offset;
	}
	check_unlock(&known.lock);
	return is_found;
}

/* ---- releases ---- */

void check_release_add(const struct check_release *release)
{
	check_lock(&known.lock);
	known.releases[known.num_releases++ % NUM_RELEASES] = *release;
	check_unlock(&known.lock);
}

uint64_t check_release_count(void)
{
	uint64_t count;

	check_lock(&known.lock);
	count = known.num_releases;
	check_unlock(&known.lock);
	return count;
}

bool check_was_protected(uint64_t since, uintptr_t begin, uintptr_t end)
{
	bool is_found = false;

	check_lock(&known.lock);
	for (uint64_t i = since; i < known.num_releases && !is_found; i++) {
		const struct check_release *release = &known.releases[i % NUM_RELEASES];

		is_found = release->is_protection && release->begin < end && begin < release->end;
	}
	check_unlock(&known.lock);
	return is_found;
}

bool check_release_find(uintptr_t addr, size_t len_bytes, struct check_release *ret_release)
{
	bool is_found = false;
	uint64_t count;

	check_lock(&known.lock);
	count = known.num_releases < NUM_RELEASES ? known.num_releases : NUM_RELEASES;
	for (uint64_t i = 1; i <= count && !is_found; i++) {
		const struct check_release *release = &known.releases[(known.num_releases - i) % NUM_RELEASES];

		is_found = release->begin < addr + len_bytes && addr < release->end;
		if (is_found)
			*ret_release = *release;
	}
	check_unlock(&known.lock);
	return is_found;
}

void check_release_add_party(struct check_hit *hit, uintptr_t addr, size_t len_bytes)
{
	struct check_release release;

	if (hit && check_release_find(addr, len_bytes, &release))
		check_hit_add_party(hit, release.tid, &release.stack, "%s of %zu bytes at %p", release.function,
				    release.end - release.begin, (void *)release.begin);
}

static void forked(void)
{
	check_lock_init(&known.lock);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_mmap_start, NULL, leave_start },
	{ SHIM_FN_doca_mmap_stop, NULL, leave_end },
	{ SHIM_FN_doca_mmap_destroy, NULL, leave_end },
};

const struct check_part check_releases = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.forked = forked,
};
