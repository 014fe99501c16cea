/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <unistd.h>

#include "daemon_priv.h"

static bool make_room(struct daemon *daemon, uint32_t slot)
{
	uint32_t count = slot * 2 + 16;
	struct object *grown;

	if (slot < daemon->num_objects)
		return true;
	grown = realloc(daemon->objects, count * sizeof(*grown));
	if (!grown)
		return false;
	for (uint32_t i = daemon->num_objects; i < count; i++)
		grown[i] = (struct object){.fd = -1};
	daemon->objects = grown;
	daemon->num_objects = count;
	return true;
}

void daemon_keep_object(struct daemon *daemon, uint64_t key, uint32_t exporter, int fd)
{
	if (make_room(daemon, (uint32_t)key))
		daemon->objects[(uint32_t)key] = (struct object){.fd = fd, .exporter = exporter};
	else
		close(fd); /* without it the mapped path is not offered, no more */
}

int daemon_object_fd(const struct daemon *daemon, uint64_t key)
{
	uint32_t slot = (uint32_t)key;

	return slot < daemon->num_objects ? daemon->objects[slot].fd : -1;
}

static void drop(struct object *object)
{
	if (object->fd >= 0)
		close(object->fd);
	object->fd = -1;
}

void daemon_drop_object(struct daemon *daemon, uint64_t key)
{
	if ((uint32_t)key < daemon->num_objects)
		drop(&daemon->objects[(uint32_t)key]);
}

void daemon_drop_objects_of(struct daemon *daemon, uint32_t exporter)
{
	for (uint32_t i = 0; i < daemon->num_objects; i++)
		if (daemon->objects[i].exporter == exporter)
			drop(&daemon->objects[i]);
}
