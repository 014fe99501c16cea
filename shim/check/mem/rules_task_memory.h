/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/mem/rules_task_memory.h - for the parts that inspect the memory of tasks themselves. */
#ifndef SHIM_CHECK_RULES_TASK_MEMORY_H
#define SHIM_CHECK_RULES_TASK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* While a task is posted, behind that rule: whether a part of its memory is gone, which has been reported. False
 * in modes that do not check it. */
bool check_task_memory_is_gone(void);

struct check_stack;

/* Whether a part of the memory is unmapped, or was freed: then with the stack of that, else without frames. */
bool check_memory_is_gone(const uint8_t *addr, size_t len_bytes, struct check_stack *ret_freed);

#endif
