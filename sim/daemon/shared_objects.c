/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptors of shared objects that hold exported memory, by key. */
#include <stdlib.h>
#include <unistd.h>

#include "daemon_priv.h"

static bool grow_shared_objects(struct daemon *daemon, uint32_t slot)
{
	uint32_t count = slot * 2 + 16;
	struct shared_object *grown;

	if (slot < daemon->num_shared_objects)
		return true;
	grown = realloc(daemon->shared_objects, count * sizeof(*grown));
	if (!grown)
		return false;
	for (uint32_t i = daemon->num_shared_objects; i < count; i++)
		grown[i] = (struct shared_object){ .fd = -1 };
	daemon->shared_objects = grown;
	daemon->num_shared_objects = count;
	return true;
}

void daemon_add_shared_object(struct daemon *daemon, uint64_t key, uint32_t exporter, int fd)
{
	if (grow_shared_objects(daemon, (uint32_t)key))
		daemon->shared_objects[(uint32_t)key] = (struct shared_object){ .fd = fd, .exporter = exporter };
	else
		close(fd); /* importers then use another path than "mapped" */
}

int daemon_shared_object_fd(const struct daemon *daemon, uint64_t key)
{
	uint32_t slot = (uint32_t)key;

	return slot < daemon->num_shared_objects ? daemon->shared_objects[slot].fd : -1;
}

static void close_shared_object(struct shared_object *object)
{
	if (object->fd >= 0)
		close(object->fd);
	object->fd = -1;
}

void daemon_remove_shared_object(struct daemon *daemon, uint64_t key)
{
	if ((uint32_t)key < daemon->num_shared_objects)
		close_shared_object(&daemon->shared_objects[(uint32_t)key]);
}

void daemon_remove_shared_objects_of(struct daemon *daemon, uint32_t exporter)
{
	for (uint32_t i = 0; i < daemon->num_shared_objects; i++)
		if (daemon->shared_objects[i].exporter == exporter)
			close_shared_object(&daemon->shared_objects[i]);
}
