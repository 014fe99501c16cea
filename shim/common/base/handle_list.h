/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/base/handle_list.h - arrays of handles that the application gets and gives back.
 *
 * The API hands out the bare array, without a header that could be checked. So an array
 * that the application gives back is looked up among those that exist. The caller locks.
 */
#ifndef SHIM_HANDLE_LIST_H
#define SHIM_HANDLE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct shim_handle_list;

struct shim_handle_lists {
	struct shim_handle_list *first;
};

/* An array of @count zeroed pointers (and room for one more), or NULL. */
void *shim_handle_list_new(struct shim_handle_lists *lists, size_t count);

/* Returns whether @array is in @lists. */
bool shim_handle_list_has(const struct shim_handle_lists *lists, const void *array);

/* Free @array; returns false if it is not in @lists. */
bool shim_handle_list_free(struct shim_handle_lists *lists, void *array);

/* An array of @lists, or NULL. */
void *shim_handle_lists_first(const struct shim_handle_lists *lists);

void shim_handle_lists_free_all(struct shim_handle_lists *lists);

#endif
