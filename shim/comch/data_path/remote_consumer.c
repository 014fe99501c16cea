/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers of the other end become known, and expire. */
#include "remote_consumer_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/common/process/alloc.h"
#include "shim/common/process/runtime.h"
#include "sim/base/log.h"

/* An announcement that came before its record was read. */
struct comch_pending_announce {
	struct sim_handshake_msg announce_msg;
	struct comch_pending_announce *next;
};

#define MAX_IMPORT_TRIES      20   /* to reach a process that does not answer; each takes 0.1 to some seconds */
#define MAX_PENDING_ANNOUNCES 4096 /* of one connection: nobody honest is so far ahead */

void comch_queue_announce_msg(struct doca_comch_connection *connection, struct sim_handshake_msg *announce_msg)
{
	struct comch_pending_announce **end = &connection->pending_announces, *pending = calloc(1, sizeof(*pending));
	uint32_t count = 0;

	for (; *end; end = &(*end)->next)
		count++;
	if (!pending || count == MAX_PENDING_ANNOUNCES ||
	    announce_msg->len_bytes != sizeof(struct comch_consumer_info)) {
		sim_warn("Comch %s \"%s\": an announcement of the other end %s; it is dropped",
			 connection->endpoint->ops->role_name, connection->endpoint->name,
			 count == MAX_PENDING_ANNOUNCES ? "is one too many" : "makes no sense");
		comch_close_handshake_fds(announce_msg);
		free(pending);
		return;
	}
	pending->announce_msg = *announce_msg;
	*end = pending;
}

static void free_pending_announce(struct comch_pending_announce **link)
{
	struct comch_pending_announce *pending = *link;

	*link = pending->next;
	comch_close_handshake_fds(&pending->announce_msg);
	free(pending);
}

void comch_pending_announces_drop(struct doca_comch_connection *connection)
{
	while (connection->pending_announces)
		free_pending_announce(&connection->pending_announces);
}

/* The announcement of consumer @id, or NULL. */
static struct comch_pending_announce **find_pending_announce(struct doca_comch_connection *connection, uint32_t id)
{
	for (struct comch_pending_announce **link = &connection->pending_announces; *link; link = &(*link)->next) {
		struct comch_consumer_info body;

		memcpy(&body, (*link)->announce_msg.body, sizeof(body));
		if (body.id == id)
			return link;
	}
	return NULL;
}

/* ---- remotes ---- */

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
	remote = connection->remotes;
	while (remote && remote->id != id)
		remote = remote->next;
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
								       &remote->buffers) :
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

/* Counted by the only thread that changes it. */
static uint32_t count_remote_consumers(const struct doca_comch_connection *connection)
{
	uint32_t count = 0;

	for (const struct comch_remote_consumer *remote = connection->remotes; remote; remote = remote->next)
		count++;
	return count;
}

/* What an announcement tells, checked. 0 or -errno. */
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
	    cfg.max_imm_bytes > function->caps.comch_max_imm_bytes ||
	    !(fcntl(announce_msg->fds[1], F_GETFL) & O_NONBLOCK))
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
	remote->stream_id = body.stream_id;
	pthread_mutex_init(&remote->lock, NULL);
	sim_recvq_init(&remote->queue, &cfg, remote->memory.base);
	*ret_remote = remote;
	return 0;
}

static void call_consumer_cb(struct doca_comch_connection *connection, doca_comch_event_consumer_cb_t cb, uint32_t id)
{
	/* The event carries nothing of its own: any address that is not NULL does. */
	if (cb)
		cb((struct doca_comch_event_consumer *)connection->endpoint, connection, id);
}

/* The record's announcement is here. Whether the user saw it. */
static bool add_remote(struct doca_comch_connection *connection, struct comch_pending_announce **pending)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	struct comch_remote_consumer *remote;
	int rc = create_remote(connection, &(*pending)->announce_msg, &remote);

	free_pending_announce(pending);
	if (rc < 0) {
		sim_warn("Comch %s \"%s\": a consumer of the other end is not known here: %s", endpoint->ops->role_name,
			 endpoint->name, rc == -EPROTO ? "its announcement makes no sense" : strerror(-rc));
		return false;
	}
	pthread_mutex_lock(&connection->lock);
	remote->next = connection->remotes;
	connection->remotes = remote;
	pthread_mutex_unlock(&connection->lock);
	call_consumer_cb(connection, endpoint->new_consumer, remote->id);
	return true;
}

static struct comch_remote_consumer *unlink_remote(struct doca_comch_connection *connection, uint32_t id)
{
	struct comch_remote_consumer **link, *found;

	pthread_mutex_lock(&connection->lock);
	link = &connection->remotes;
	while (*link && (*link)->id != id)
		link = &(*link)->next;
	found = *link;
	if (found)
		*link = found->next;
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
	next = connection->remotes;
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
	while ((first = connection->remotes)) {
		connection->remotes = first->next;
		atomic_store(&first->expired, true);
		pthread_mutex_unlock(&connection->lock);
		comch_remote_consumer_put(first); /* may call the session */
		pthread_mutex_lock(&connection->lock);
	}
	pthread_mutex_unlock(&connection->lock);
}

/* ---- records ---- */

int comch_handle_consumer_record(struct doca_comch_connection *connection, uint32_t kind, const void *data, size_t len)
{
	struct comch_consumer_record record;
	struct comch_pending_announce **pending;

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
	return 0;
}

bool comch_retry_consumer_record(struct doca_comch_connection *connection)
{
	struct comch_pending_announce **pending = find_pending_announce(connection, connection->pending_record.id);

	if (!pending)
		return false; /* its arrival rings */
	connection->has_pending_record = false;
	sim_doorbell_requeue(&connection->endpoint->doorbells, connection->slot);
	return add_remote(connection, pending);
}
