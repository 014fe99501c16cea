/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/report/stack.h - call stacks of the program, and the source lines of their addresses. */
#ifndef SHIM_CHECK_STACK_H
#define SHIM_CHECK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

#define CHECK_STACK_FRAMES 16

/* Return addresses, the innermost first. */
struct check_stack {
	uint32_t num_frames;
	const void *frames[CHECK_STACK_FRAMES];
};

/* The stack of this thread from the caller of a public function outwards; @caller is the return address in it. */
void check_stack_take(const void *caller, struct check_stack *ret_stack);

/* The same, of a thread whose call is not watched; for rare events, as it looks up each frame. */
void check_stack_take_unwatched(struct check_stack *ret_stack);

/* Whether a library of this project called the program's function that made the call, as a callback. If so: the stack from the
 * public function's caller outwards in which that happened. For rare events, like the one above. */
bool check_stack_find_outer_call(const void *caller, struct check_stack *ret_stack);

/* A stack of one frame. */
struct check_stack check_stack_of(const void *caller);

/* The frames as an array for a hit (sim/check/hit.h). Works without debug information: names, or offsets in modules. */
struct json_object *check_stack_to_json(const struct check_stack *stack);

/* After a report: files with debug information that can't be mapped alone are closed, as the program may count its
 * descriptors. */
void check_stack_close_files(void);

/* The place of a caller: "copy_block (app.c:150)", or what is known of it. Slow the first time. */
void check_stack_format_caller(const void *caller, char *text, size_t size);

/* In a forked child: another thread of the parent may have been reading debug information. */
void check_stack_forked(void);

#endif
