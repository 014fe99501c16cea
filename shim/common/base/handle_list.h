/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/base/handle_list.h - arrays of handles that the application gets and gives back.
 *
 * The array is what the API hands out, so it has no room for a mark: what is
 * given back is looked up among those handed out. The caller locks.
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

/* Whether @array is one of them. */
bool shim_handle_list_has(const struct shim_handle_lists *lists, const void *array);

/* Free @array; false when it is none of them. */
bool shim_handle_list_free(struct shim_handle_lists *lists, void *array);

/* One of them, or NULL. */
void *shim_handle_lists_first(const struct shim_handle_lists *lists);

void shim_handle_lists_free_all(struct shim_handle_lists *lists);

#endif
