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

/* An announcement whose record was not read yet. */
struct comch_pending_announce {
	struct sim_handshake_msg announce_msg;
	STAILQ_ENTRY(comch_pending_announce) link;
};

#define MAX_IMPORT_TRIES      20   /* while the process does not answer; a try takes 0.1 to some seconds */
#define MAX_PENDING_ANNOUNCES 4096 /* of one connection; an honest peer is never so far ahead */

void comch_queue_announce_msg(struct doca_comch_connection *connection, struct sim_handshake_msg *announce_msg)
{
	struct comch_pending_announce *pending = calloc(1, sizeof(*pending)), *other;
	uint32_t count = 0;

	STAILQ_FOREACH(other, &connection->pending_announces, link)
		count++;
	if (!pending || count == MAX_PENDING_ANNOUNCES ||
	    announce_msg->len_bytes != sizeof(struct comch_consumer_info)) {
		sim_warn("Comch %s \"%s\": dropped an announcement of the other end: %s",
			 connection->endpoint->ops->role_name, connection->endpoint->name,
			 !pending                       ? "no memory" :
			 count == MAX_PENDING_ANNOUNCES ? "too many have no record yet" :
							  "it is malformed");
		sim_handshake_msg_close(announce_msg);
		free(pending);
		return;
	}
	pending->announce_msg = *announce_msg;
	STAILQ_INSERT_TAIL(&connection->pending_announces, pending, link);
}

static void free_pending_announce(struct doca_comch_connection *connection, struct comch_pending_announce *pending)
{
	STAILQ_REMOVE(&connection->pending_announces, pending, comch_pending_announce, link);
	sim_handshake_msg_close(&pending->announce_msg);
	free(pending);
}

void comch_pending_announces_drop(struct doca_comch_connection *connection)
{
	struct comch_pending_announce *first;

	while ((first = STAILQ_FIRST(&connection->pending_announces)))
		free_pending_announce(connection, first);
}

/* The announcement of consumer @id, or NULL. */
static struct comch_pending_announce *find_pending_announce(const struct doca_comch_connection *connection, uint32_t id)
{
	struct comch_pending_announce *pending;

	STAILQ_FOREACH(pending, &connection->pending_announces, link) {
		struct comch_consumer_info body;

		memcpy(&body, pending->announce_msg.body, sizeof(body));
		if (body.id == id)
			return pending;
	}
	return NULL;
}

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

	pthread_mutex_lock(&connection->lock);
	LIST_FOREACH(remote, &connection->remotes, link)
		if (remote->id == id)
			break;
	if (remote)
		atomic_fetch_add(&remote->refs, 1);
	pthread_mutex_unlock(&connection->lock);
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
	struct comch_consumer_info body;
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

/* The record and its announcement are here. Returns whether the user saw an event. */
static bool add_remote(struct doca_comch_connection *connection, struct comch_pending_announce *pending)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	struct comch_remote_consumer *remote;
	int rc = create_remote(connection, &pending->announce_msg, &remote);

	free_pending_announce(connection, pending);
	if (rc < 0) {
		sim_warn("Comch %s \"%s\": a consumer of the other end can't be used: %s", endpoint->ops->role_name,
			 endpoint->name, rc == -EPROTO ? "its announcement is malformed" : strerror(-rc));
		return false;
	}
	pthread_mutex_lock(&connection->lock);
	LIST_INSERT_HEAD(&connection->remotes, remote, link);
	pthread_mutex_unlock(&connection->lock);
	call_consumer_cb(connection, endpoint->new_consumer, remote->id);
	return true;
}

static struct comch_remote_consumer *unlink_remote(struct doca_comch_connection *connection, uint32_t id)
{
	struct comch_remote_consumer *found;

	pthread_mutex_lock(&connection->lock);
	LIST_FOREACH(found, &connection->remotes, link)
		if (found->id == id)
			break;
	if (found)
		LIST_REMOVE(found, link);
	pthread_mutex_unlock(&connection->lock);
	return found;
}

static bool expire_remote(struct doca_comch_connection *connection, uint32_t id)
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

	pthread_mutex_lock(&connection->lock);
	next = LIST_FIRST(&connection->remotes);
	pthread_mutex_unlock(&connection->lock);
	if (!next)
		return false;
	sim_doorbell_requeue(&connection->endpoint->doorbells, connection->slot); /* before the user may close it */
	return expire_remote(connection, next->id);
}

void comch_remote_consumers_drop(struct doca_comch_connection *connection)
{
	struct comch_remote_consumer *first;

	pthread_mutex_lock(&connection->lock);
	while ((first = LIST_FIRST(&connection->remotes))) {
		LIST_REMOVE(first, link);
		atomic_store(&first->expired, true);
		pthread_mutex_unlock(&connection->lock);
		comch_remote_consumer_put(first); /* calls the session: not under the lock */
		pthread_mutex_lock(&connection->lock);
	}
	pthread_mutex_unlock(&connection->lock);
}

/* ---- records ---- */

int comch_handle_consumer_record(struct doca_comch_connection *connection, uint32_t kind, const void *data, size_t len)
{
	struct comch_consumer_record record;
	struct comch_pending_announce *pending;

	if (len != sizeof(record) || (kind != COMCH_CONSUMER_NEW && kind != COMCH_CONSUMER_EXPIRED))
		return -EPROTO;
	memcpy(&record, data, sizeof(record));
	if (kind == COMCH_CONSUMER_EXPIRED)
		return expire_remote(connection, record.id);
	pending = find_pending_announce(connection, record.id);
	if (pending)
		return add_remote(connection, pending);
	connection->pending_record = record;
	connection->has_pending_record = true;
	connection->endpoint->may_have_pending_record = true;
	return 0;
}

bool comch_retry_consumer_record(struct doca_comch_connection *connection)
{
	struct comch_pending_announce *pending = find_pending_announce(connection, connection->pending_record.id);

	if (!pending)
		return false; /* its arrival rings the doorbell */
	connection->has_pending_record = false;
	sim_doorbell_requeue(&connection->endpoint->doorbells, connection->slot);
	return add_remote(connection, pending);
}
