/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/history/releases.h - where the program unmapped, freed, truncated or protected memory of started memory maps:
 * the last releases, for reports about memory that is gone.
 */
#ifndef SHIM_CHECK_RELEASES_H
#define SHIM_CHECK_RELEASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shim/check/report/hit.h"

struct doca_mmap;

struct check_release {
	const char *function; /* "munmap" */
	uintptr_t begin, end;
	bool is_protection;
	bool is_reported; /* tasks in flight used the memory */
	pid_t tid;
	struct check_stack stack;
};

/* Whether there may be a started map: quick, for each free(). */
bool check_may_have_started_maps(void);

/* Whether the range has bytes of a started map of this process. Where calls are not followed (work queues), any range of a
 * page or more may have some. */
bool check_may_be_in_started_map(uintptr_t begin, uintptr_t end);

/* Find a started map over the object of @fd. Returns false if there is none. */
bool check_find_map_of_object(int fd, uintptr_t *ret_begin, uintptr_t *ret_end, uint64_t *ret_offset);

void check_release_add(const struct check_release *release);

/* How many there were; and whether one of those behind the first @since protected bytes of the range. */
uint64_t check_release_count(void);
bool check_was_protected(uint64_t since, uintptr_t begin, uintptr_t end);

/* The last release of memory at @addr. Returns false if none is known. */
bool check_release_find(uintptr_t addr, size_t len_bytes, struct check_release *ret_release);

/* Add the last release of the memory as a party of the hit, if there was one. */
void check_release_add_party(struct check_hit *hit, uintptr_t addr, size_t len_bytes);

#endif
