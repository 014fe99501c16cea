/* SPDX-License-Identifier: BSD-3-Clause */
/* Revocations: notify importers and wait until they have released the memory. */
#include <stdlib.h>

#include "daemon_priv.h"
#include "sim/base/monotonic.h"
#include "sim/base/log.h"

#define REVOKE_TIMEOUT_MS 2000

struct revoke_ctx {
	struct daemon *daemon;
	struct revocation *revocation; /* collects the notified importers; NULL = no wait */
};

/* Notify an importer that a key is revoked. */
static void notify_revoked(void *arg, uint32_t peer, uint64_t key)
{
	struct revoke_ctx *ctx = arg;
	struct conn *importer = daemon_find_conn(ctx->daemon, peer);
	struct sim_msg msg = { .type = SIM_MSG_REVOKED, .seq = key, .body.key.id = key };
	struct revoked_import *grown;

	if (!importer || daemon_conn_state_has_ended(importer->state))
		return;
	daemon_send(ctx->daemon, importer, &msg, -1);
	if (!ctx->revocation || importer->state == DAEMON_CONN_UNRESPONSIVE)
		return;
	grown = realloc(ctx->revocation->pending, (ctx->revocation->num_pending + 1) * sizeof(*grown));
	if (!grown)
		return; /* the revocation then does not wait for this importer */
	ctx->revocation->pending = grown;
	grown[ctx->revocation->num_pending++] = (struct revoked_import){ importer, key };
}

static void finish_revocation(struct daemon *daemon, struct revocation *done)
{
	LIST_REMOVE(done, entry);
	if (done->exporter)
		daemon_send(daemon, done->exporter, &done->reply, -1);
	free(done->pending);
	free(done);
}

void daemon_revoke(struct daemon *daemon, struct conn *exporter, struct sim_msg *request)
{
	struct revoke_ctx ctx = { .daemon = daemon, .revocation = calloc(1, sizeof(*ctx.revocation)) };
	uint64_t key = request->body.key.id;

	request->is_reply = 1;
	request->status = sim_card_revoke(daemon->card, exporter->peer, key, notify_revoked, &ctx);
	if (request->status == 0)
		daemon_remove_shared_object(daemon, key);
	if (!ctx.revocation) {
		daemon_send(daemon, exporter, request, -1);
		return;
	}
	ctx.revocation->exporter = exporter;
	ctx.revocation->reply = *request;
	ctx.revocation->deadline_ms = sim_monotonic_ms() + REVOKE_TIMEOUT_MS;
	LIST_INSERT_HEAD(&daemon->revocations, ctx.revocation, entry);
	if (ctx.revocation->num_pending == 0)
		finish_revocation(daemon, ctx.revocation);
}

void daemon_unimport(struct daemon *daemon, struct conn *importer, uint64_t key)
{
	struct revoke_ctx ctx = { .daemon = daemon };

	sim_card_unimport(daemon->card, importer->peer, key, notify_revoked, &ctx);
}

/* Remove the pending imports of @importer: of *@key, or of all keys if @key is NULL. Returns whether one was removed. */
static bool remove_pending(struct revocation *revocation, const struct conn *importer, const uint64_t *key)
{
	uint32_t kept = 0, count = revocation->num_pending;

	for (uint32_t i = 0; i < count; i++) {
		const struct revoked_import *pending = &revocation->pending[i];

		if (pending->importer != importer || (key && pending->key != *key))
			revocation->pending[kept++] = *pending;
	}
	revocation->num_pending = kept;
	return kept < count;
}

void daemon_importer_released(struct daemon *daemon, struct conn *importer, uint64_t key)
{
	struct revocation *revocation;

	LIST_FOREACH(revocation, &daemon->revocations, entry) {
		if (remove_pending(revocation, importer, &key)) {
			if (revocation->num_pending == 0)
				finish_revocation(daemon, revocation);
			return;
		}
	}
}

void daemon_remove_from_revocations(struct daemon *daemon, struct conn *conn)
{
	struct revocation *revocation, *next;

	LIST_FOREACH_SAFE(revocation, &daemon->revocations, entry, next) {
		if (revocation->exporter == conn)
			revocation->exporter = NULL;
		remove_pending(revocation, conn, NULL);
		if (revocation->num_pending == 0)
			finish_revocation(daemon, revocation);
	}
}

void daemon_revoke_all_of(struct daemon *daemon, struct conn *conn)
{
	struct revoke_ctx ctx = { .daemon = daemon };

	sim_card_detach(daemon->card, conn->peer, notify_revoked, &ctx);
	daemon_remove_shared_objects_of(daemon, conn);
}

void daemon_revoke_all_through(struct daemon *daemon, uint32_t function)
{
	struct revoke_ctx ctx = { .daemon = daemon };
	uint32_t exporter;
	uint64_t key;

	while (sim_card_find_export(daemon->card, function, &exporter, &key)) {
		sim_card_revoke(daemon->card, exporter, key, notify_revoked, &ctx);
		daemon_remove_shared_object(daemon, key);
	}
}

uint64_t daemon_revocations_deadline_ms(const struct daemon *daemon)
{
	uint64_t soonest = UINT64_MAX;
	const struct revocation *r;

	LIST_FOREACH(r, &daemon->revocations, entry)
		if (r->deadline_ms < soonest)
			soonest = r->deadline_ms;
	return soonest;
}

/* Further revocations do not wait for an importer that did not answer in time. */
static void mark_unresponsive(const struct daemon *daemon, struct conn *importer)
{
	if (!daemon_conn_go(importer, DAEMON_CONN_UNRESPONSIVE))
		return;
	sim_warn("process %d did not let go of revoked memory in time and is not waited for any more; is it stopped?",
		 (int)sim_card_peer(daemon->card, importer->peer)->pid);
}

void daemon_expire_revocations(struct daemon *daemon, uint64_t now_ms)
{
	struct revocation *revocation, *next;

	LIST_FOREACH_SAFE(revocation, &daemon->revocations, entry, next) {
		if (revocation->deadline_ms > now_ms)
			continue;
		for (uint32_t i = 0; i < revocation->num_pending; i++)
			mark_unresponsive(daemon, revocation->pending[i].importer);
		finish_revocation(daemon, revocation);
	}
}
