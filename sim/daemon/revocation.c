/* SPDX-License-Identifier: BSD-3-Clause */
/* Revocations: notify importers and wait until they have released the memory.
 *
 * A key that ends without its exporter's call is waited for as well when the exporter calls: an alias that its maker has ended, or the
 * exports of a function that was removed. */
#include <stdlib.h>

#include "daemon_priv.h"
#include "sim/base/monotonic.h"
#include "sim/base/log.h"

#define RELEASE_TIMEOUT_MS 2000

/* Notify an importer that a key is revoked. */
static void notify_revoked(void *arg, uint32_t peer, uint64_t key, uint64_t memory)
{
	struct daemon *daemon = arg;
	struct conn *importer = daemon_find_conn(daemon, peer);
	struct sim_msg msg = { .type = SIM_MSG_REVOKED, .seq = key, .body.key.id = key };
	struct unreleased_import *import;

	if (!importer || daemon_conn_state_has_ended(importer->state))
		return;
	daemon_send(daemon, importer, &msg, -1);
	if (importer->state == DAEMON_CONN_UNRESPONSIVE)
		return;
	import = malloc(sizeof(*import));
	if (!import)
		return; /* no revocation waits for this importer then */
	*import = (struct unreleased_import){ .importer = importer,
					      .key = key,
					      .memory = memory,
					      .deadline_ms = sim_monotonic_ms() + RELEASE_TIMEOUT_MS };
	TAILQ_INSERT_TAIL(&daemon->unreleased, import, entry);
}

static bool waits_for(const struct revocation *revocation, const struct unreleased_import *import)
{
	return import->key == revocation->key || import->memory == revocation->key;
}

static bool has_unreleased(const struct daemon *daemon, const struct revocation *revocation)
{
	const struct unreleased_import *import;

	TAILQ_FOREACH(import, &daemon->unreleased, entry)
		if (waits_for(revocation, import))
			return true;
	return false;
}

static void finish_if_released(struct daemon *daemon, struct revocation *revocation)
{
	if (has_unreleased(daemon, revocation))
		return;
	LIST_REMOVE(revocation, entry);
	daemon_send(daemon, revocation->exporter, &revocation->reply, -1);
	free(revocation);
}

static void release(struct daemon *daemon, struct unreleased_import *import)
{
	struct revocation *revocation, *next;

	TAILQ_REMOVE(&daemon->unreleased, import, entry);
	LIST_FOREACH_SAFE(revocation, &daemon->revocations, entry, next)
		if (waits_for(revocation, import))
			finish_if_released(daemon, revocation);
	free(import);
}

void daemon_revoke(struct daemon *daemon, struct conn *exporter, struct sim_msg *request)
{
	struct revocation *revocation = malloc(sizeof(*revocation));
	uint64_t key = request->body.key.id;

	request->is_reply = 1;
	request->status = sim_card_revoke(daemon->card, exporter->peer, key, notify_revoked, daemon);
	if (request->status == 0)
		daemon_remove_shared_object(daemon, key);
	if (!revocation) {
		daemon_send(daemon, exporter, request, -1);
		return;
	}
	*revocation = (struct revocation){ .exporter = exporter, .reply = *request, .key = key };
	LIST_INSERT_HEAD(&daemon->revocations, revocation, entry);
	finish_if_released(daemon, revocation);
}

void daemon_unimport(struct daemon *daemon, struct conn *importer, uint64_t key)
{
	sim_card_unimport(daemon->card, importer->peer, key, notify_revoked, daemon);
	daemon_far_drop_unused(daemon);
}

void daemon_importer_released(struct daemon *daemon, struct conn *importer, uint64_t key)
{
	struct unreleased_import *import;

	TAILQ_FOREACH(import, &daemon->unreleased, entry)
		if (import->importer == importer && import->key == key)
			break;
	if (import)
		release(daemon, import);
}

void daemon_remove_from_revocations(struct daemon *daemon, struct conn *conn)
{
	struct unreleased_import *import, *next_import;
	struct revocation *revocation, *next;

	LIST_FOREACH_SAFE(revocation, &daemon->revocations, entry, next) {
		if (revocation->exporter == conn) {
			LIST_REMOVE(revocation, entry);
			free(revocation);
		}
	}
	for (import = TAILQ_FIRST(&daemon->unreleased); import; import = next_import) {
		next_import = TAILQ_NEXT(import, entry);
		if (import->importer == conn)
			release(daemon, import);
	}
}

void daemon_revoke_all_of(struct daemon *daemon, struct conn *conn)
{
	sim_card_detach(daemon->card, conn->peer, notify_revoked, daemon);
	daemon_remove_shared_objects_of(daemon, conn);
}

void daemon_revoke_all_through(struct daemon *daemon, uint32_t function)
{
	uint32_t exporter;
	uint64_t key;

	while (sim_card_find_export(daemon->card, function, &exporter, &key)) {
		sim_card_revoke(daemon->card, exporter, key, notify_revoked, daemon);
		daemon_remove_shared_object(daemon, key);
	}
}

uint64_t daemon_revocations_deadline_ms(const struct daemon *daemon)
{
	const struct unreleased_import *oldest = TAILQ_FIRST(&daemon->unreleased);

	return oldest ? oldest->deadline_ms : UINT64_MAX;
}

/* Further revocations do not wait for an importer that did not reply in time. */
static void mark_unresponsive(const struct daemon *daemon, struct conn *importer)
{
	if (!daemon_conn_go(importer, DAEMON_CONN_UNRESPONSIVE))
		return;
	sim_warn("process %d did not let go of revoked memory in time and is not waited for any more; is it stopped?",
		 (int)sim_card_peer(daemon->card, importer->peer)->pid);
}

static bool is_waited_for(const struct daemon *daemon, const struct unreleased_import *import)
{
	const struct revocation *revocation;

	LIST_FOREACH(revocation, &daemon->revocations, entry)
		if (waits_for(revocation, import))
			return true;
	return false;
}

void daemon_expire_revocations(struct daemon *daemon, uint64_t now_ms)
{
	struct unreleased_import *import;

	while ((import = TAILQ_FIRST(&daemon->unreleased)) && import->deadline_ms <= now_ms) {
		if (is_waited_for(daemon, import))
			mark_unresponsive(daemon, import->importer);
		release(daemon, import);
	}
}
