/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/lost_memory.h - memory that a test takes away while a task in flight uses it.
 *
 *   block = lost_new(LOST_UNMAPPED); a map over block.bytes; a task, staged; lost_take(&block); progress; lost_end(&block)
 */
#ifndef TESTS_API_LOST_MEMORY_H
#define TESTS_API_LOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOST_BYTES ((size_t)256 << 10) /* more than free() keeps */

enum lost_way {
	LOST_UNMAPPED,
	LOST_FREED,
	LOST_TRUNCATED,
	LOST_PROTECTED, /* from all accesses */
	LOST_READ_ONLY, /* from writes */
	LOST_REPLACED,  /* by a mapping of a file that is open for reading */
	LOST_NUM_WAYS,
};

struct lost_block {
	enum lost_way way;
	uint8_t *bytes; /* LOST_BYTES; filled with lost_byte() */
	int fd;         /* -1 = none */
};

struct lost_block lost_new(enum lost_way way);
void lost_take(struct lost_block *block);

/* Check that the memory is as the test left it: not mapped, protected, or of its object. Free it. */
void lost_end(struct lost_block *block);

/* Whether a task that reads (or writes) the memory fails. A card does not see protections. */
bool lost_fails(enum lost_way way, bool is_write);

/* Make protected memory accessible again. */
void lost_unprotect(struct lost_block *block);

/* A sanitizer keeps freed memory, and reports its use. */
bool lost_is_possible(enum lost_way way);

uint8_t lost_byte(size_t offset);
const char *lost_name(enum lost_way way);

/* The signal that a process dies of that reads (writes) the byte; 0 = it lives. */
int lost_signal_of_access(volatile uint8_t *byte, bool is_write);

/* Set up a group of tests: valgrind, which reports the accesses, skips the program. */
int lost_group_setup(void **state);

#endif
