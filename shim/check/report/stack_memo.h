/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/report/stack_memo.h - the stacks of calls that are made for each task.
 *
 * A walk of the stack takes a microsecond or more, many times what a small task does. A program submits from few places,
 * so each thread remembers its walks, with the places of their return addresses in memory: if these are as they were, the
 * stack is the same.
 */
#ifndef SHIM_CHECK_STACK_MEMO_H
#define SHIM_CHECK_STACK_MEMO_H

#include <stdbool.h>

#include "shim/check/base/check.h"
#include "stack.h"

/* The stack of this thread from the caller of @call outwards; it is never freed. @at_any_cost: also for a thread whose
 * stacks are rarely the same. NULL = not known. */
const struct check_stack *check_stack_recall(const struct shim_call *call, bool at_any_cost);

#endif
