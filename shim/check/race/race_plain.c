/* SPDX-License-Identifier: BSD-3-Clause */
/* Notices accesses to the memory of tasks in any program, by what is in the memory.
 *
 *   posted      the source is copied; the destination, after its bytes were kept, gets a pattern
 *   begin_job   the source is compared, and the pattern; the destination gets its bytes back, and the job runs
 *   end_job     what the job delivered is kept
 *   ended       source and destination are compared
 *
 * Large ranges are watched in part: their begin, their end and blocks at random places, so that the cost of a task does
 * not grow with its size. A program that reads a destination too early finds the pattern. */
#include <stdlib.h>
#include <string.h>

#include "shim/check/report/hit.h"
#include "race.h"
#include "pcie_model/arith.h"
#include "sim/base/memory_guard.h"
#include "shim/common/mem/mmap_priv.h"
#include "shim/common/pe/task_priv.h"
#include "shim/common/process/runtime.h"
#include "sim/fabric/remote.h"

#define WHOLE_BYTES  2048 /* ranges up to this length are watched in full */
#define EDGE_BYTES   64
#define BLOCK_BYTES  64
#define NUM_BLOCKS   4
#define NUM_WINDOWS  (2 + NUM_BLOCKS)
#define PATTERN_BYTE 0xdb

struct window {
	uint32_t len_bytes;
	size_t offset;
};

struct race_plain {
	uint32_t num_windows;
	bool has_pattern, is_delivered;
	struct window windows[NUM_WINDOWS];
	uint8_t kept[]; /* the bytes of all windows, at most MAX_KEPT_BYTES */
} __attribute__((aligned(8)));

#define MAX_KEPT_BYTES(len) ((len) <= WHOLE_BYTES ? (len) : 2 * EDGE_BYTES + NUM_BLOCKS * BLOCK_BYTES)

static _Atomic uint64_t random_state;
static uint8_t pattern[WHOLE_BYTES];
static bool has_started;
static bool ends_are_held; /* tasks complete in a random order */

static uint64_t next_random(void)
{
	uint64_t x = atomic_fetch_add_explicit(&random_state, 0x9e3779b97f4a7c15, memory_order_relaxed);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static bool is_live(void)
{
	const char *seed = getenv("BFSIM_CHECK_SEED");

	random_state = seed ? strtoull(seed, NULL, 0) : 0;
	ends_are_held = getenv("BFSIM_SHUFFLE") != NULL;
	memset(pattern, PATTERN_BYTE, sizeof(pattern));
	return (has_started = check_mode >= SIM_CHECK_RACES);
}

static struct sim_remote *remote_of(const struct race_range *range)
{
	return race_range_is_remote(range) ? range->memory.mmap->remote : NULL;
}

#define RDMA_WRITES (DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC)

/* A peer of the network that has a message, or the bytes that were written to it, may write to their source at once. */
static bool is_written_by_peers(const struct doca_mmap *mmap)
{
	return shim_mmap_state(mmap) == SHIM_MMAP_EXPORTED && mmap->access & RDMA_WRITES;
}

/* Of memory of this process, the thread sanitizer notices all that this detector does, and takes its reads for the
 * program's. The other sanitizers do so for destinations, but notice no writes of sources. */
static bool is_watched(const struct race_range *range)
{
	if (race_range_is_remote(range)) /* of the network, programs poll memory that others write */
		return !(remote_of(range)->region.access & SIM_ACCESS_NET);
	if (race_range_is_message(range) && is_written_by_peers(range->memory.mmap))
		return false;
	if (race_asan.is_live() || race_valgrind.is_live())
		return !range->node.is_write && check_mode != SIM_CHECK_STRICT;
	return !race_tsan.is_live();
}

bool race_plain_is_alone(void)
{
	return !race_asan.is_live() && !race_tsan.is_live() && !race_valgrind.is_live();
}

static uint64_t addr_of(const struct race_range *range)
{
	return (uintptr_t)(race_range_is_remote(range) ? range->memory.addr : range->memory.cpu);
}

/* Returns false if the memory is another process's that is no longer reached. */
static bool read_window(const struct race_range *range, const struct window *window, uint8_t *to)
{
	if (race_range_is_remote(range))
		return sim_copy(NULL, (uintptr_t)to, remote_of(range), addr_of(range) + window->offset,
				window->len_bytes) == 0;
	memcpy(to, range->memory.cpu + window->offset, window->len_bytes);
	return true;
}

/* A number below @end, from the upper bits of @random. */
static size_t scale_random(uint64_t random, size_t end)
{
	return ((random >> 32) * min_size(end, UINT32_MAX)) >> 32;
}

/* Returns how many. A division, or an atomic addition, for each block would take longer than to read it. */
static uint32_t choose_windows(uint64_t addr, size_t len, struct window *windows)
{
	size_t part = (len - 2 * EDGE_BYTES) / NUM_BLOCKS;
	uint64_t random;

	if (len <= WHOLE_BYTES) {
		windows[0] = (struct window){ .len_bytes = (uint32_t)len };
		return 1;
	}
	windows[0] = (struct window){ .len_bytes = EDGE_BYTES };
	windows[1] = (struct window){ .len_bytes = EDGE_BYTES, .offset = len - EDGE_BYTES };
	/* One block in each part of the middle, so that none overlaps another. Each is a line of the cache. */
	random = next_random();
	for (uint32_t i = 0; i < NUM_BLOCKS; i++) {
		size_t offset;

		random = random * 0x5851f42d4c957f2d + 1;
		offset = EDGE_BYTES + i * part + scale_random(random, part - 2 * BLOCK_BYTES + 1);
		offset += -(addr + offset) % BLOCK_BYTES;
		windows[2 + i] = (struct window){ .len_bytes = BLOCK_BYTES, .offset = offset };
	}
	return NUM_WINDOWS;
}

/* Have the lines of all windows fetched at once. */
static void prefetch(const struct race_range *range, const struct window *windows, uint32_t count)
{
	if (race_range_is_remote(range))
		return;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t at = 0; at < windows[i].len_bytes; at += BLOCK_BYTES)
			__builtin_prefetch(range->memory.cpu + windows[i].offset + at);
}

/* What can't be read is not compared later. */
static void keep(struct race_range *range)
{
	struct race_plain *plain = range->plain;
	uint8_t *to = plain->kept;

	for (uint32_t i = 0; i < plain->num_windows; i++) {
		if (!read_window(range, &plain->windows[i], to)) {
			plain->num_windows = 0;
			return;
		}
		to += plain->windows[i].len_bytes;
	}
}

static void restore(const struct race_range *range)
{
	const struct race_plain *plain = range->plain;
	const uint8_t *from = plain->kept;

	for (uint32_t i = 0; i < plain->num_windows; i++) {
		memcpy(range->memory.cpu + plain->windows[i].offset, from, plain->windows[i].len_bytes);
		from += plain->windows[i].len_bytes;
	}
}

static void fill(struct race_range *range)
{
	struct race_plain *plain = range->plain;

	for (uint32_t i = 0; i < plain->num_windows; i++)
		memset(range->memory.cpu + plain->windows[i].offset, PATTERN_BYTE, plain->windows[i].len_bytes);
	plain->has_pattern = true;
}

/* SIZE_MAX = none. */
static size_t first_difference(const uint8_t *a, const uint8_t *b, size_t len)
{
	if (memcmp(a, b, len) == 0)
		return SIZE_MAX;
	for (size_t at = 0;; at++)
		if (a[at] != b[at])
			return at;
}

/* The offset of the first byte that is not as kept, or SIZE_MAX. */
static size_t find_change(const struct race_range *range)
{
	const struct race_plain *plain = range->plain;
	const uint8_t *kept = plain->kept;

	for (uint32_t i = 0; i < plain->num_windows; i++) {
		const struct window *window = &plain->windows[i];
		uint8_t bytes[WHOLE_BYTES];
		const uint8_t *now = bytes;
		size_t at;

		if (!race_range_is_remote(range))
			now = range->memory.cpu + window->offset;
		else if (!read_window(range, window, bytes))
			return SIZE_MAX;
		at = first_difference(now, kept, window->len_bytes);
		if (at != SIZE_MAX)
			return window->offset + at;
		kept += window->len_bytes;
	}
	return SIZE_MAX;
}

/* The same for the pattern. */
static size_t find_spoiled(const struct race_range *range)
{
	const struct race_plain *plain = range->plain;

	for (uint32_t i = 0; i < plain->num_windows; i++) {
		const struct window *window = &plain->windows[i];
		size_t at = first_difference(range->memory.cpu + window->offset, pattern, window->len_bytes);

		if (at != SIZE_MAX)
			return window->offset + at;
	}
	return SIZE_MAX;
}

/* A process that imports the memory may have done it, by a task that is not in the session's ledger. */
static const char *writer_of(const struct race_range *range)
{
	if (race_range_is_remote(range))
		return "another process";
	return shim_mmap_state(range->memory.mmap) == SHIM_MMAP_EXPORTED ?
		       "the program, or an importer of the memory," :
		       "the program";
}

static void report(const struct race_record *record, const struct race_range *range, size_t offset, const char *when)
{
	enum sim_check_rule rule = range->node.is_write ? BFC_DESTINATION_TOUCHED : BFC_SOURCE_MODIFIED;
	struct check_stack stack = check_race_stack(record);
	struct check_hit *hit;

	if (sim_guard_has_lost()) /* what was read is not in the memory */
		return;
	hit = check_hit_begin_at(rule, &stack, "%s wrote to the %s of a task in flight, %s: byte %zu of the %zu at %p",
				 writer_of(range), range->node.is_write ? "destination" : "source", when, offset,
				 range->memory.len_bytes, (void *)(uintptr_t)range->memory.addr);
	check_race_add_task(hit, record);
	check_hit_end(hit);
}

size_t race_plain_room(size_t len_bytes)
{
	size_t bytes = sizeof(struct race_plain) + MAX_KEPT_BYTES(len_bytes), align = _Alignof(struct race_plain);

	return has_started ? (bytes + align - 1) / align * align : 0;
}

static void watch(struct race_range *range, struct race_plain *plain)
{
	range->plain = plain;
	plain->num_windows = choose_windows(addr_of(range), range->memory.len_bytes, plain->windows);
	plain->has_pattern = plain->is_delivered = false;
	prefetch(range, plain->windows, plain->num_windows);
}

static void watch_all(struct race_record *record)
{
	uint8_t *room = (uint8_t *)&record->ranges[record->num_ranges];

	for (uint32_t i = 0; i < record->num_ranges; i++) {
		if (is_watched(&record->ranges[i]))
			watch(&record->ranges[i], (struct race_plain *)(void *)room);
		room += race_plain_room(record->ranges[i].memory.len_bytes);
	}
}

/* A peer may wait until it sees the bytes of a task in its memory, so that memory gets no pattern. */
static bool gets_pattern(const struct race_range *range)
{
	return range->plain && range->node.is_write && !race_range_is_remote(range);
}

/* Tasks that overlap change each other's memory. Other tasks that the library keeps get bytes from peers at any time. */
static void posted(struct race_record *record)
{
	if (record->overlaps || !(record->has_job || race_range_is_message(&record->ranges[0])))
		return;
	watch_all(record);
	for (uint32_t i = 0; i < record->num_ranges; i++)
		if (record->ranges[i].plain)
			keep(&record->ranges[i]);
	for (uint32_t i = 0; i < record->num_ranges; i++)
		if (gets_pattern(&record->ranges[i]))
			fill(&record->ranges[i]);
		else if (record->ranges[i].plain)
			record->ranges[i].plain->is_delivered = !record->has_job;
}

static void put_back(struct race_record *record)
{
	for (uint32_t i = 0; i < record->num_ranges; i++)
		if (record->ranges[i].plain && record->ranges[i].plain->has_pattern)
			restore(&record->ranges[i]);
}

static void refused(struct race_record *record)
{
	put_back(record);
}

static void check_before_copy(const struct race_record *record, struct race_range *range)
{
	bool is_write = range->plain->has_pattern;
	size_t at = record->overlaps ? SIZE_MAX : is_write ? find_spoiled(range) : find_change(range);

	if (at != SIZE_MAX)
		report(record, range, at, "before the bytes were copied");
	if (is_write)
		restore(range);
	else if (at != SIZE_MAX)
		keep(range); /* reported */
	range->plain->has_pattern = false;
}

static void begin_job(struct race_record *record)
{
	for (uint32_t i = 0; i < record->num_ranges; i++)
		if (record->ranges[i].plain)
			prefetch(&record->ranges[i], record->ranges[i].plain->windows,
				 record->ranges[i].plain->num_windows);
	for (uint32_t i = 0; i < record->num_ranges; i++)
		if (record->ranges[i].plain)
			check_before_copy(record, &record->ranges[i]);
}

/* A job that the program's progress runs is reported by the same call, unless ends are held back: the program has no
 * time to touch its memory. */
static bool is_reported_at_once(void)
{
	const struct shim_call *call = check_current_call();

	return call && call->function == SHIM_FN_doca_pe_progress && !ends_are_held &&
	       sim_clock_mode(sim_session_clock(shim_session())) == SIM_CLOCK_FUNCTIONAL;
}

static void end_job(struct race_record *record)
{
	if (is_reported_at_once())
		return;
	for (uint32_t i = 0; i < record->num_ranges; i++) {
		struct race_range *range = &record->ranges[i];

		/* A peer may use a destination as soon as it sees the bytes. */
		if (!range->plain || (range->node.is_write && race_range_is_remote(range)) ||
		    (range->memory.end == CHECK_RANGE_TO_ACCESS && is_written_by_peers(range->memory.mmap)))
			continue;
		if (range->node.is_write) /* the source is kept already */
			keep(range);
		range->plain->is_delivered = true;
	}
}

static void ended(struct race_record *record, bool has_failed)
{
	put_back(record); /* the job did not run */
	for (uint32_t i = 0; i < record->num_ranges && !has_failed && !record->overlaps; i++) {
		const struct race_range *range = &record->ranges[i];
		size_t at = range->plain && range->plain->is_delivered ? find_change(range) : SIZE_MAX;

		if (at != SIZE_MAX)
			report(record, range, at, "after the bytes were copied and before its completion");
	}
}

/* For memory that this process unmaps while another one's task uses it. */
static bool listens(void)
{
	return check_mode == SIM_CHECK_STRICT;
}

const struct race_detector race_plain = {
	.name = "plain",
	.is_live = is_live,
	.posted = posted,
	.refused = refused,
	.begin_job = begin_job,
	.end_job = end_job,
	.ended = ended,
	.listens = listens,
};
