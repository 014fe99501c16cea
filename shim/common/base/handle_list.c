/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of handles that the application gets and gives back. */
#include "handle_list.h"

#include <stdlib.h>

#include "shim/common/base/alloc.h"

struct shim_handle_list {
	struct shim_handle_list *next;
	void *handles[];
};

void *shim_handle_list_new(struct shim_handle_lists *lists, size_t count)
{
	struct shim_handle_list *list = shim_calloc(1, sizeof(*list) + (count + 1) * sizeof(void *));

	if (!list)
		return NULL;
	list->next = lists->first;
	lists->first = list;
	return list->handles;
}

bool shim_handle_list_has(const struct shim_handle_lists *lists, const void *array)
{
	for (const struct shim_handle_list *list = lists->first; list; list = list->next)
		if ((const void *)list->handles == array)
			return true;
	return false;
}

bool shim_handle_list_free(struct shim_handle_lists *lists, void *array)
{
	for (struct shim_handle_list **link = &lists->first; *link; link = &(*link)->next) {
		struct shim_handle_list *list = *link;

		if ((void *)list->handles != array)
			continue;
		*link = list->next;
		free(list);
		return true;
	}
	return false;
}

void *shim_handle_lists_first(const struct shim_handle_lists *lists)
{
	return lists->first ? lists->first->handles : NULL;
}

void shim_handle_lists_free_all(struct shim_handle_lists *lists)
{
	while (lists->first)
		shim_handle_list_free(lists, lists->first->handles);
}
