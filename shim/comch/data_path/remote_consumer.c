/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers of the other end: their events, and the import of their memory (sim/msg/remote_consumer.h has the rest). */
#include <errno.h>
#include <string.h>

#include "producer_priv.h"
#include "shim/common/process/runtime.h"
#include "sim/base/log.h"
#include "sim/protocol/wire.h"

#define MAX_IMPORT_TRIES 20 /* while the process does not answer; a try takes 0.1 to some seconds */

static void release(struct sim_remote *buffers)
{
	sim_session_release(shim_session(), buffers);
}

int comch_remote_consumer_import(struct sim_remote_consumer *remote, uint32_t function)
{
	int rc;

	pthread_mutex_lock(&remote->lock);
	if (!remote->buffers && remote->import_error == 0) {
		rc = remote->info.has_memory ?
			     sim_session_import(shim_session(), &remote->info.key, function, &remote->buffers, NULL) :
			     -EACCES;
		if (rc < 0 && (rc != -ETIMEDOUT || ++remote->num_import_tries >= MAX_IMPORT_TRIES)) {
			remote->import_error = rc;
			sim_err("Comch: the memory of consumer %u can't be reached: %s", remote->info.id,
				strerror(-rc));
		}
	}
	rc = remote->buffers ? 0 : remote->import_error ? remote->import_error : -EAGAIN;
	pthread_mutex_unlock(&remote->lock);
	return rc;
}

static void call_consumer_cb(struct doca_comch_connection *connection, doca_comch_event_consumer_cb_t cb, uint32_t id)
{
	/* An event carries nothing of its own: any address but NULL serves. */
	if (cb)
		cb((struct doca_comch_event_consumer *)connection->endpoint, connection, id);
}

bool comch_add_remote_consumer(struct doca_comch_connection *connection, uint32_t id,
			       struct sim_handshake_msg *announcement)
{
	const struct comch_endpoint *endpoint = connection->endpoint;
	const struct pcie_caps *caps = &shim_dev_function(endpoint->ctx.dev)->caps;
	const struct sim_remote_consumer_limits limits = { .max_consumers = caps->comch_max_consumers,
							   .max_slots = caps->comch_max_fast_tasks,
							   .max_imm_bytes = caps->comch_max_imm_bytes };
	int rc = sim_remote_consumer_add(&connection->pipe, &limits, release, announcement);

	sim_handshake_msg_close(announcement);
	if (rc < 0) {
		sim_warn("Comch %s \"%s\": a consumer of the other end can't be used: %s", endpoint->ops->role_name,
			 endpoint->name, rc == -EPROTO ? "its announcement is malformed" : strerror(-rc));
		return false;
	}
	call_consumer_cb(connection, endpoint->new_consumer, id);
	return true;
}

bool comch_expire_remote_consumer(struct doca_comch_connection *connection, uint32_t id)
{
	if (!sim_remote_consumer_remove(&connection->pipe, &id, &id))
		return false;
	call_consumer_cb(connection, connection->endpoint->expired_consumer, id);
	return true;
}

bool comch_expire_next_remote_consumer(struct doca_comch_connection *connection)
{
	uint32_t id;

	if (!sim_remote_consumer_remove(&connection->pipe, NULL, &id))
		return false;
	comch_connection_requeue(connection); /* before the user may close it */
	call_consumer_cb(connection, connection->endpoint->expired_consumer, id);
	return true;
}
