/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "daemon_priv.h"
#include "sim/base/log.h"

#define REVOKE_PATIENCE_MS 2000

struct tell {
	struct daemon *daemon;
	struct revocation *wait; /* whoever is told is added to it; NULL = nobody waits */
};

/* Tell an importer that a key ended. */
static void tell_gone(void *arg, uint32_t peer, uint64_t key)
{
	struct tell *tell = arg;
	struct conn *importer = daemon_conn_of(tell->daemon, peer);
	struct sim_msg msg = {.type = SIM_MSG_GONE, .seq = key, .body.key.id = key};
	struct conn **grown;

	if (!importer || importer->dead)
		return;
	daemon_send(tell->daemon, importer, &msg, -1);
	if (!tell->wait || importer->silent)
		return;
	grown = realloc(tell->wait->awaited, (tell->wait->num_awaited + 1) * sizeof(*grown));
	if (!grown)
		return; /* then its answer is not waited for */
	tell->wait->awaited = grown;
	grown[tell->wait->num_awaited++] = importer;
}

static void finish(struct daemon *daemon, struct revocation **link)
{
	struct revocation *done = *link;

	*link = done->next;
	if (done->exporter)
		daemon_send(daemon, done->exporter, &done->reply, -1);
	free(done->awaited);
	free(done);
}

void daemon_revoke(struct daemon *daemon, struct conn *exporter, struct sim_msg *request)
{
	struct tell tell = {.daemon = daemon, .wait = calloc(1, sizeof(*tell.wait))};
	uint64_t key = request->body.key.id;

	request->is_reply = 1;
	request->status = sim_card_revoke(daemon->card, exporter->peer, key, tell_gone, &tell);
	if (request->status == 0)
		daemon_drop_object(daemon, key);
	if (!tell.wait) {
		daemon_send(daemon, exporter, request, -1);
		return;
	}
	tell.wait->key = key;
	tell.wait->exporter = exporter;
	tell.wait->reply = *request;
	tell.wait->deadline_ms = daemon_now_ms() + REVOKE_PATIENCE_MS;
	tell.wait->next = daemon->revocations;
	daemon->revocations = tell.wait;
	if (tell.wait->num_awaited == 0)
		finish(daemon, &daemon->revocations);
}

/* Strike the importer from the list; whether nobody is left on it. */
static bool strike(struct revocation *revocation, const struct conn *importer)
{
	for (uint32_t i = 0; i < revocation->num_awaited; i++) {
		if (revocation->awaited[i] == importer) {
			revocation->awaited[i] = revocation->awaited[--revocation->num_awaited];
			break;
		}
	}
	return revocation->num_awaited == 0;
}

void daemon_let_go(struct daemon *daemon, struct conn *importer, uint64_t key)
{
	for (struct revocation **link = &daemon->revocations; *link; link = &(*link)->next) {
		if ((*link)->key == key) {
			if (strike(*link, importer))
				finish(daemon, link);
			return;
		}
	}
}

void daemon_forget_in_revocations(struct daemon *daemon, struct conn *conn)
{
	struct revocation **link = &daemon->revocations;

	while (*link) {
		if ((*link)->exporter == conn)
			(*link)->exporter = NULL;
		if (strike(*link, conn))
			finish(daemon, link);
		else
			link = &(*link)->next;
	}
}

void daemon_revoke_all_of(struct daemon *daemon, struct conn *conn)
{
	struct tell tell = {.daemon = daemon};

	sim_card_detach(daemon->card, conn->peer, tell_gone, &tell);
	daemon_drop_objects_of(daemon, conn->peer);
}

void daemon_revoke_all_through(struct daemon *daemon, uint32_t function)
{
	struct tell tell = {.daemon = daemon};
	uint32_t exporter;
	uint64_t key;

	while (sim_card_export_through(daemon->card, function, &exporter, &key)) {
		sim_card_revoke(daemon->card, exporter, key, tell_gone, &tell);
		daemon_drop_object(daemon, key);
	}
}

uint64_t daemon_revocations_deadline_ms(const struct daemon *daemon)
{
	uint64_t soonest = UINT64_MAX;

	for (const struct revocation *r = daemon->revocations; r; r = r->next)
		if (r->deadline_ms < soonest)
			soonest = r->deadline_ms;
	return soonest;
}

/* Whoever did not answer in time holds up no further revocation. */
static void give_up_on(const struct daemon *daemon, struct conn *importer)
{
	if (importer->silent)
		return;
	importer->silent = true;
	sim_warn("process %d did not let go of revoked memory in time and is not waited for any more; is it stopped?",
		 (int)sim_card_peer(daemon->card, importer->peer)->pid);
}

void daemon_expire_revocations(struct daemon *daemon, uint64_t now_ms)
{
	struct revocation **link = &daemon->revocations;

	while (*link) {
		if ((*link)->deadline_ms > now_ms) {
			link = &(*link)->next;
			continue;
		}
		for (uint32_t i = 0; i < (*link)->num_awaited; i++)
			give_up_on(daemon, (*link)->awaited[i]);
		finish(daemon, link);
	}
}
