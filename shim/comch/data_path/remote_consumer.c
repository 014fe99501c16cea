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

/* A letter that came before its record was read. */
struct comch_kept {
	struct sim_letter letter;
	struct comch_kept *next;
};

#define MAX_TRIES 20  /* to reach a process that does not answer; each takes 0.1 to some seconds */
#define MAX_KEPT 4096 /* of one connection: nobody honest is so far ahead */

void comch_keep_letter(struct doca_comch_connection *connection, struct sim_letter *letter)
{
	struct comch_kept **end = &connection->letters, *kept = calloc(1, sizeof(*kept));
	uint32_t count = 0;

	for (; *end; end = &(*end)->next)
		count++;
	if (!kept || count == MAX_KEPT || letter->len_bytes != sizeof(struct comch_consumer_letter)) {
		sim_warn("Comch %s \"%s\": a letter of the other end %s; it is dropped", connection->endpoint->ops->noun,
			 connection->endpoint->name, count == MAX_KEPT ? "is one too many" : "makes no sense");
		comch_letter_drop(letter);
		free(kept);
		return;
	}
	kept->letter = *letter;
	*end = kept;
}

static void drop_kept(struct comch_kept **link)
{
	struct comch_kept *kept = *link;

	*link = kept->next;
	comch_letter_drop(&kept->letter);
	free(kept);
}

void comch_letters_drop(struct doca_comch_connection *connection)
{
	while (connection->letters)
		drop_kept(&connection->letters);
}

/* The letter of consumer @id, or NULL. */
static struct comch_kept **letter_of(struct doca_comch_connection *connection, uint32_t id)
{
	for (struct comch_kept **link = &connection->letters; *link; link = &(*link)->next) {
		struct comch_consumer_letter body;

		memcpy(&body, (*link)->letter.body, sizeof(body));
		if (body.id == id)
			return link;
	}
	return NULL;
}

/* ---- remotes ---- */

static void remote_free(struct comch_remote *remote)
{
	sim_session_release(shim_session(), remote->buffers);
	sim_segment_unmap(&remote->memory);
	if (remote->wake_fd >= 0)
		close(remote->wake_fd);
	pthread_mutex_destroy(&remote->lock);
	free(remote);
}

void comch_remote_put(struct comch_remote *remote)
{
	if (atomic_fetch_sub(&remote->refs, 1) == 1)
		remote_free(remote);
}

struct comch_remote *comch_remote_get(struct doca_comch_connection *connection, uint32_t id)
{
	struct comch_remote *remote;

	pthread_mutex_lock(&connection->lock);
	remote = connection->remotes;
	while (remote && remote->id != id)
		remote = remote->next;
	if (remote)
		atomic_fetch_add(&remote->refs, 1);
	pthread_mutex_unlock(&connection->lock);
	return remote;
}

int comch_remote_reach(struct comch_remote *remote)
{
	if (remote->buffers || remote->import_error < 0)
		return remote->import_error;
	remote->import_error = remote->has_memory ?
		sim_session_import(shim_session(), &remote->key, remote->function, &remote->buffers) : -EACCES;
	if (remote->import_error == -ETIMEDOUT && ++remote->num_tries < MAX_TRIES) {
		remote->import_error = 0;
		return -EAGAIN;
	}
	if (remote->import_error < 0)
		sim_err("Comch: the memory of consumer %u can't be reached: %s", remote->id,
			strerror(-remote->import_error));
	return remote->import_error;
}

/* Counted by the only thread that changes it. */
static uint32_t num_remotes(const struct doca_comch_connection *connection)
{
	uint32_t count = 0;

	for (const struct comch_remote *remote = connection->remotes; remote; remote = remote->next)
		count++;
	return count;
}

/* What a letter tells, checked. 0 or -errno. */
static int remote_new(const struct doca_comch_connection *connection, struct sim_letter *letter,
		      struct comch_remote **ret_remote)
{
	const struct pcie_function *function = shim_dev_function(connection->endpoint->ctx.dev);
	struct comch_consumer_letter body;
	struct comch_remote *remote;
	struct sim_recvq_cfg cfg;
	int rc;

	memcpy(&body, letter->body, sizeof(body));
	cfg = (struct sim_recvq_cfg){.num_slots = body.num_slots, .max_imm_bytes = body.max_imm_bytes};
	if (num_remotes(connection) >= function->caps.comch_max_consumers)
		return -ENOSPC;
	if (letter->num_fds != 2 || cfg.num_slots == 0 || cfg.num_slots > function->caps.comch_max_fast_tasks ||
	    cfg.max_imm_bytes > function->caps.comch_max_imm_bytes || !(fcntl(letter->fds[1], F_GETFL) & O_NONBLOCK))
		return -EPROTO;
	remote = shim_calloc(1, sizeof(*remote));
	if (!remote)
		return -ENOMEM;
	rc = sim_segment_map(letter->fds[0], sim_recvq_size(&cfg), &remote->memory);
	if (rc < 0) {
		free(remote);
		return rc;
	}
	remote->id = body.id;
	remote->refs = 1;
	remote->wake_fd = letter->fds[1];
	letter->fds[1] = -1;
	remote->has_memory = body.has_memory;
	remote->key = body.key;
	remote->function = function->id;
	remote->stream = body.stream;
	pthread_mutex_init(&remote->lock, NULL);
	sim_recvq_init(&remote->queue, &cfg, remote->memory.base);
	*ret_remote = remote;
	return 0;
}

static void announce(struct doca_comch_connection *connection, doca_comch_event_consumer_cb_t cb, uint32_t id)
{
	/* The event carries nothing of its own: any address that is not NULL does. */
	if (cb)
		cb((struct doca_comch_event_consumer *)connection->endpoint, connection, id);
}

/* The record's letter is here. Whether the user saw it. */
static bool add_remote(struct doca_comch_connection *connection, struct comch_kept **kept)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	struct comch_remote *remote;
	int rc = remote_new(connection, &(*kept)->letter, &remote);

	drop_kept(kept);
	if (rc < 0) {
		sim_warn("Comch %s \"%s\": a consumer of the other end is not known here: %s", endpoint->ops->noun,
			 endpoint->name, rc == -EPROTO ? "its letter makes no sense" : strerror(-rc));
		return false;
	}
	pthread_mutex_lock(&connection->lock);
	remote->next = connection->remotes;
	connection->remotes = remote;
	pthread_mutex_unlock(&connection->lock);
	announce(connection, endpoint->new_consumer, remote->id);
	return true;
}

static struct comch_remote *take_remote(struct doca_comch_connection *connection, uint32_t id)
{
	struct comch_remote **link, *found;

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
	struct comch_remote *remote = take_remote(connection, id);

	if (!remote)
		return false;
	atomic_store(&remote->gone, true);
	comch_remote_put(remote);
	announce(connection, connection->endpoint->expired_consumer, id);
	return true;
}

bool comch_expire_next_remote(struct doca_comch_connection *connection)
{
	struct comch_remote *next;

	pthread_mutex_lock(&connection->lock);
	next = connection->remotes;
	pthread_mutex_unlock(&connection->lock);
	if (!next)
		return false;
	sim_inbox_again(&connection->endpoint->inbox, connection->slot); /* before the user may close it */
	return expire_remote(connection, next->id);
}

void comch_remotes_drop(struct doca_comch_connection *connection)
{
	struct comch_remote *first;

	pthread_mutex_lock(&connection->lock);
	while ((first = connection->remotes)) {
		connection->remotes = first->next;
		atomic_store(&first->gone, true);
		pthread_mutex_unlock(&connection->lock);
		comch_remote_put(first); /* may call the session */
		pthread_mutex_lock(&connection->lock);
	}
	pthread_mutex_unlock(&connection->lock);
}

/* ---- records ---- */

int comch_take_consumer_record(struct doca_comch_connection *connection, uint32_t kind, const void *data, size_t len)
{
	struct comch_consumer_record record;
	struct comch_kept **kept;

	if (len != sizeof(record) || (kind != COMCH_CONSUMER_NEW && kind != COMCH_CONSUMER_EXPIRED))
		return -EPROTO;
	memcpy(&record, data, sizeof(record));
	if (kind == COMCH_CONSUMER_EXPIRED)
		return expire_remote(connection, record.id);
	kept = letter_of(connection, record.id);
	if (kept)
		return add_remote(connection, kept);
	connection->record = record;
	connection->has_record = true;
	return 0;
}

bool comch_take_late_letter(struct doca_comch_connection *connection)
{
	struct comch_kept **kept = letter_of(connection, connection->record.id);

	if (!kept)
		return false; /* its arrival rings */
	connection->has_record = false;
	sim_inbox_again(&connection->endpoint->inbox, connection->slot);
	return add_remote(connection, kept);
}
