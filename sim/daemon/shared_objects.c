/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptors of shared objects that hold exported memory, by key. */
#include <stdlib.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/base/log.h"

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

static bool may_keep(const struct daemon *daemon, struct conn *exporter, int fd)
{
	uint32_t limit = (uint32_t)daemon->max_fds / 2;

	if (exporter->num_shared_objects < limit && daemon_may_keep_fd(daemon, fd))
		return true;
	if (!exporter->warned_objects)
		sim_warn(
			"process %d has %u exports in shared objects, and the daemon keeps no more descriptors of it (%u of one process, %d in all): importers reach further exports by a slower path than mapped; raise ulimit -n where the daemon starts",
			(int)sim_card_peer(daemon->card, exporter->peer)->pid, exporter->num_shared_objects, limit,
			daemon->max_fds);
	exporter->warned_objects = true;
	return false;
}

/* ---- of keys of other machines ---- */

static bool is_far(const struct daemon *daemon, uint64_t key)
{
	return sim_key_machine(key) != daemon->machine_number;
}

static struct far_object *find_far_object(const struct daemon *daemon, uint64_t key)
{
	struct far_object *object;

	LIST_FOREACH(object, &daemon->gateway.objects, entry)
		if (object->key == key)
			return object;
	return NULL;
}

static void free_far_object(struct far_object *object)
{
	LIST_REMOVE(object, entry);
	close(object->fd);
	free(object);
}

static void add_far_object(struct daemon *daemon, uint64_t key, struct conn *exporter, int fd)
{
	struct far_object *object = daemon_may_keep_fd(daemon, fd) ? calloc(1, sizeof(*object)) : NULL;

	if (!object) {
		close(fd);
		return;
	}
	*object = (struct far_object){ .key = key, .fd = fd, .exporter = exporter };
	LIST_INSERT_HEAD(&daemon->gateway.objects, object, entry);
}

static void remove_far_objects_of(struct daemon *daemon, const struct conn *exporter)
{
	struct far_object *object, *next;

	LIST_FOREACH_SAFE(object, &daemon->gateway.objects, entry, next)
		if (object->exporter == exporter)
			free_far_object(object);
}

/* ---- of all ---- */

void daemon_add_shared_object(struct daemon *daemon, uint64_t key, struct conn *exporter, int fd)
{
	if (is_far(daemon, key)) {
		add_far_object(daemon, key, exporter, fd);
		return;
	}
	if (!may_keep(daemon, exporter, fd) || !grow_shared_objects(daemon, (uint32_t)key)) {
		close(fd);
		return;
	}
	daemon->shared_objects[(uint32_t)key] = (struct shared_object){ .fd = fd, .exporter = exporter };
	exporter->num_shared_objects++;
}

int daemon_shared_object_fd(const struct daemon *daemon, uint64_t key)
{
	const struct far_object *far_object = is_far(daemon, key) ? find_far_object(daemon, key) : NULL;
	uint32_t slot = (uint32_t)key;

	if (is_far(daemon, key))
		return far_object ? far_object->fd : -1;
	return slot < daemon->num_shared_objects ? daemon->shared_objects[slot].fd : -1;
}

static void close_shared_object(struct shared_object *object)
{
	if (object->fd < 0)
		return;
	close(object->fd);
	object->fd = -1;
	object->exporter->num_shared_objects--;
}

void daemon_remove_shared_object(struct daemon *daemon, uint64_t key)
{
	struct far_object *far_object = is_far(daemon, key) ? find_far_object(daemon, key) : NULL;

	if (far_object)
		free_far_object(far_object);
	else if (!is_far(daemon, key) && (uint32_t)key < daemon->num_shared_objects)
		close_shared_object(&daemon->shared_objects[(uint32_t)key]);
}

void daemon_remove_shared_objects_of(struct daemon *daemon, const struct conn *exporter)
{
	remove_far_objects_of(daemon, exporter);
	for (uint32_t i = 0; i < daemon->num_shared_objects; i++)
		if (daemon->shared_objects[i].exporter == exporter)
			close_shared_object(&daemon->shared_objects[i]);
}
