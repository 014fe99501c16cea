/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers of the other end: how they become known, and how they expire. */
#include "remote_consumer_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/common/base/alloc.h"
#include "shim/common/process/runtime.h"
#include "sim/base/log.h"
#include "sim/protocol/wire.h"
#include "sim/shm/wake.h"

#define MAX_IMPORT_TRIES 20 /* while the process does not answer; a try takes 0.1 to some seconds */

/* ---- known consumers ---- */

static void free_remote(struct comch_remote_consumer *remote)
{
	sim_session_release(shim_session(), remote->buffers);
	sim_segment_unmap(&remote->memory);
	if (remote->wake_fd >= 0)
		close(remote->wake_fd);
	pthread_mutex_destroy(&remote->lock);
	free(remote);
}

void comch_remote_consumer_put(struct comch_remote_consumer *remote)
{
	if (atomic_fetch_sub(&remote->refs, 1) == 1)
		free_remote(remote);
}

struct comch_remote_consumer *comch_remote_consumer_get(struct doca_comch_connection *connection, uint32_t id)
{
	struct comch_remote_consumer *remote;

	pthread_mutex_lock(&connection->pipe.lock);
	LIST_FOREACH(remote, &connection->remotes, link)
		if (remote->id == id)
			break;
	if (remote)
		atomic_fetch_add(&remote->refs, 1);
	pthread_mutex_unlock(&connection->pipe.lock);
	return remote;
}

int comch_remote_consumer_import(struct comch_remote_consumer *remote)
{
	if (remote->buffers || remote->import_error < 0)
		return remote->import_error;
	remote->import_error = remote->has_memory ? sim_session_import(shim_session(), &remote->key, remote->function,
								       &remote->buffers, NULL) :
						    -EACCES;
	if (remote->import_error == -ETIMEDOUT && ++remote->num_import_tries < MAX_IMPORT_TRIES) {
		remote->import_error = 0;
		return -EAGAIN;
	}
	if (remote->import_error < 0)
		sim_err("Comch: the memory of consumer %u can't be reached: %s", remote->id,
			strerror(-remote->import_error));
	return remote->import_error;
}

/* In the one thread that changes the list. */
static uint32_t count_remote_consumers(const struct doca_comch_connection *connection)
{
	const struct comch_remote_consumer *remote;
	uint32_t count = 0;

	LIST_FOREACH(remote, &connection->remotes, link)
		count++;
	return count;
}

/* Check the announcement, and map the memory that it carries. Returns 0 or -errno. */
static int create_remote(const struct doca_comch_connection *connection, struct sim_handshake_msg *announce_msg,
			 struct comch_remote_consumer **ret_remote)
{
	const struct pcie_function *function = shim_dev_function(connection->endpoint->ctx.dev);
	struct sim_consumer_info body;
	struct comch_remote_consumer *remote;
	struct sim_recvq_cfg cfg;
	int rc;

	memcpy(&body, announce_msg->body, sizeof(body));
	cfg = (struct sim_recvq_cfg){ .num_slots = body.num_slots, .max_imm_bytes = body.max_imm_bytes };
	if (count_remote_consumers(connection) >= function->caps.comch_max_consumers)
		return -ENOSPC;
	if (announce_msg->num_fds != 2 || cfg.num_slots == 0 || cfg.num_slots > function->caps.comch_max_fast_tasks ||
	    cfg.max_imm_bytes > function->caps.comch_max_imm_bytes || !sim_wake_is_valid(announce_msg->fds[1]))
		return -EPROTO;
	remote = shim_calloc(1, sizeof(*remote));
	if (!remote)
		return -ENOMEM;
	rc = sim_segment_map(announce_msg->fds[0], sim_recvq_size(&cfg), &remote->memory);
	if (rc < 0) {
		free(remote);
		return rc;
	}
	remote->id = body.id;
	remote->refs = 1;
	remote->wake_fd = announce_msg->fds[1];
	announce_msg->fds[1] = -1;
	remote->has_memory = body.has_memory;
	remote->key = body.key;
	remote->function = function->id;
	remote->engine = body.engine;
	remote->stream_id = body.stream_id;
	pthread_mutex_init(&remote->lock, NULL);
	sim_recvq_init(&remote->queue, &cfg, remote->memory.base);
	*ret_remote = remote;
	return 0;
}

static void call_consumer_cb(struct doca_comch_connection *connection, doca_comch_event_consumer_cb_t cb, uint32_t id)
{
	/* An event carries nothing of its own: any address but NULL serves. */
	if (cb)
		cb((struct doca_comch_event_consumer *)connection->endpoint, connection, id);
}

bool comch_add_remote_consumer(struct doca_comch_connection *connection, struct sim_handshake_msg *announcement)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	struct comch_remote_consumer *remote;
	int rc = create_remote(connection, announcement, &remote);

	sim_handshake_msg_close(announcement);
	if (rc < 0) {
		sim_warn("Comch %s \"%s\": a consumer of the other end can't be used: %s", endpoint->ops->role_name,
			 endpoint->name, rc == -EPROTO ? "its announcement is malformed" : strerror(-rc));
		return false;
	}
	pthread_mutex_lock(&connection->pipe.lock);
	LIST_INSERT_HEAD(&connection->remotes, remote, link);
	pthread_mutex_unlock(&connection->pipe.lock);
	call_consumer_cb(connection, endpoint->new_consumer, remote->id);
	return true;
}

static struct comch_remote_consumer *unlink_remote(struct doca_comch_connection *connection, uint32_t id)
{
	struct comch_remote_consumer *found;

	pthread_mutex_lock(&connection->pipe.lock);
	LIST_FOREACH(found, &connection->remotes, link)
		if (found->id == id)
			break;
	if (found)
		LIST_REMOVE(found, link);
	pthread_mutex_unlock(&connection->pipe.lock);
	return found;
}

bool comch_expire_remote_consumer(struct doca_comch_connection *connection, uint32_t id)
{
	struct comch_remote_consumer *remote = unlink_remote(connection, id);

	if (!remote)
		return false;
	atomic_store(&remote->expired, true);
	comch_remote_consumer_put(remote);
	call_consumer_cb(connection, connection->endpoint->expired_consumer, id);
	return true;
}

bool comch_expire_next_remote_consumer(struct doca_comch_connection *connection)
{
	struct comch_remote_consumer *next;

	pthread_mutex_lock(&connection->pipe.lock);
	next = LIST_FIRST(&connection->remotes);
	pthread_mutex_unlock(&connection->pipe.lock);
	if (!next)
		return false;
	comch_connection_requeue(connection); /* before the user may close it */
	return comch_expire_remote_consumer(connection, next->id);
}

void comch_remote_consumers_drop(struct doca_comch_connection *connection)
{
	struct comch_remote_consumer *first;

	pthread_mutex_lock(&connection->pipe.lock);
	while ((first = LIST_FIRST(&connection->remotes))) {
		LIST_REMOVE(first, link);
		atomic_store(&first->expired, true);
		pthread_mutex_unlock(&connection->pipe.lock);
		comch_remote_consumer_put(first); /* calls the session: not under the lock */
		pthread_mutex_lock(&connection->pipe.lock);
	}
	pthread_mutex_unlock(&connection->pipe.lock);
}
