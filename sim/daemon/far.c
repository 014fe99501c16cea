/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of other machines. A process imports a key of another machine like any other; the daemon asks the gateway, enters the key
 * in its card and replies. The key ends with its last import, and then the gateway is told. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"
#include "sim/control/reach.h"

#define TIMEOUT_MS  9000 /* shorter than the importer's own timeout, longer than the gateway's */
#define MAX_IMPORTS 64   /* of one process that are not answered */

/* ---- imports ---- */

bool daemon_far_handles(const struct daemon *daemon, const struct conn *conn, const struct sim_msg *msg)
{
	return daemon->gateway.conn && !conn->is_gateway &&
	       sim_card_may_use(daemon->card, conn->peer, msg->body.import.function) &&
	       sim_card_is_unknown_far(daemon->card, msg->body.import.key.id);
}

static void fail(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int status)
{
	memset(&msg->body, 0, sizeof(msg->body));
	daemon_reply(daemon, conn, msg, status, -1);
}

static uint32_t count_imports(const struct daemon *daemon, const struct conn *importer)
{
	const struct far_import *import;
	uint32_t count = 0;

	LIST_FOREACH(import, &daemon->gateway.imports, entry)
		count += import->importer == importer;
	return count;
}

void daemon_far_import(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	struct sim_msg request = { .type = SIM_MSG_FAR_IMPORT, .body.import = msg->body.import };
	struct far_import *import;

	if (count_imports(daemon, conn) >= MAX_IMPORTS) {
		fail(daemon, conn, msg, -EBUSY);
		return;
	}
	import = calloc(1, sizeof(*import));
	if (!import) {
		fail(daemon, conn, msg, -ENOMEM);
		return;
	}
	*import = (struct far_import){ .seq = ++daemon->next_seq,
				       .importer = conn,
				       .importer_seq = msg->seq,
				       .key = msg->body.import.key,
				       .function = msg->body.import.function,
				       .deadline_ms = sim_monotonic_ms() + TIMEOUT_MS };
	LIST_INSERT_HEAD(&daemon->gateway.imports, import, entry);
	request.seq = import->seq;
	daemon_send(daemon, daemon->gateway.conn, &request, -1);
}

/* Take the import from the list; the reply to its importer begins as *ret_msg. */
static void take(struct far_import *import, struct sim_msg *ret_msg)
{
	LIST_REMOVE(import, entry);
	*ret_msg = (struct sim_msg){ .type = SIM_MSG_IMPORT, .seq = import->importer_seq };
}

static void end_import(struct daemon *daemon, struct far_import *import, int status)
{
	struct sim_msg msg;

	take(import, &msg);
	if (import->importer)
		fail(daemon, import->importer, &msg, status);
	free(import);
}

static struct far_import *find(struct daemon *daemon, uint64_t seq)
{
	struct far_import *import;

	LIST_FOREACH(import, &daemon->gateway.imports, entry)
		if (import->seq == seq)
			return import;
	return NULL;
}

/* Whether the gateway has been asked for the key, and has not answered. */
static bool is_awaited(const struct daemon *daemon, uint64_t key)
{
	const struct far_import *import;

	LIST_FOREACH(import, &daemon->gateway.imports, entry)
		if (import->key.id == key)
			return true;
	return false;
}

/* The key is not used. The gateway forgets it, unless another answer is on its way, which would be of no use then. */
static void tell_unused(void *arg, uint32_t peer, uint64_t key, uint64_t memory)
{
	struct daemon *daemon = arg;
	struct conn *gateway = daemon_find_conn(daemon, peer);
	struct sim_msg msg = { .type = SIM_MSG_FAR_UNUSED, .body.key.id = key };

	(void)memory; /* a far key is no alias */
	daemon_remove_shared_object(daemon, key);
	if (gateway && !is_awaited(daemon, key))
		daemon_send(daemon, gateway, &msg, -1);
}

void daemon_far_drop_unused(struct daemon *daemon)
{
	sim_card_drop_unused_far(daemon->card, tell_unused, daemon);
}

/* Another import of the key may have been answered meanwhile. */
static int enter(struct daemon *daemon, struct conn *gateway, const struct far_import *import,
		 const struct sim_region *region, struct sim_fds *fds)
{
	int rc = sim_card_export_far(daemon->card, gateway->peer, region, &import->key);

	if (rc == 0 && fds->count > 0)
		daemon_add_shared_object(daemon, import->key.id, gateway, sim_fds_take(fds, 0));
	return rc == -EEXIST ? 0 : rc;
}

void daemon_far_reply(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	struct far_import *import = conn == daemon->gateway.conn ? find(daemon, msg->seq) : NULL;
	uint64_t key = import ? import->key.id : 0;
	struct sim_msg reply;
	int rc = msg->status;

	if (!import)
		return;
	if (rc == 0 && import->importer)
		rc = enter(daemon, conn, import, &msg->body.imported.region, fds);
	if (rc < 0 || !import->importer) {
		end_import(daemon, import, rc);
		if (msg->status == 0 && sim_card_is_unknown_far(daemon->card, key))
			tell_unused(daemon, conn->peer, key, key);
		return;
	}
	take(import, &reply);
	daemon_reply_import(daemon, import->importer, &reply, &import->key, import->function);
	free(import);
	daemon_far_drop_unused(daemon); /* the import may have been refused */
}

/* The importer waits no more; the gateway's answer is still to come. */
static void abandon(struct far_import *import)
{
	import->importer = NULL;
	import->deadline_ms = UINT64_MAX;
}

void daemon_far_cancel(struct daemon *daemon, struct conn *conn)
{
	struct far_import *import, *next;
	bool is_lost = conn == daemon->gateway.conn;

	if (is_lost) {
		daemon->gateway.conn = NULL;
		sim_services_clear_gateway(daemon->services);
	}
	LIST_FOREACH_SAFE(import, &daemon->gateway.imports, entry, next) {
		if (import->importer == conn)
			abandon(import);
		if (is_lost)
			end_import(daemon, import, -EHOSTUNREACH);
	}
}

uint64_t daemon_far_deadline_ms(const struct daemon *daemon)
{
	const struct far_import *import;
	uint64_t soonest = UINT64_MAX;

	LIST_FOREACH(import, &daemon->gateway.imports, entry)
		soonest = min_u64(soonest, import->deadline_ms);
	return soonest;
}

void daemon_far_expire(struct daemon *daemon, uint64_t now_ms)
{
	struct sim_msg msg = { .type = SIM_MSG_IMPORT };
	struct far_import *import;

	LIST_FOREACH(import, &daemon->gateway.imports, entry) {
		if (import->deadline_ms > now_ms)
			continue;
		msg.seq = import->importer_seq;
		fail(daemon, import->importer, &msg, -ETIMEDOUT);
		abandon(import);
	}
}

/* ---- commands that reach into another machine ---- */

/* Programs on another machine run with the rights of its user, who trusts this daemon's. */
static int check_reach(const struct daemon *daemon, const struct conn *conn, const struct sim_msg *msg,
		       const struct sim_fds *fds)
{
	if (!daemon->gateway.cfg)
		return -ENODEV;
	if (!daemon->gateway.conn)
		return -EHOSTUNREACH;
	if (fds->count == 0)
		return -EINVAL;
	return msg->body.reach.service != SIM_REACH_CONTROL && conn->uid != geteuid() && conn->uid != 0 ? -EPERM : 0;
}

void daemon_reach(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, const struct sim_fds *fds)
{
	struct sim_msg request = { .type = SIM_MSG_REACH, .body.reach = msg->body.reach };
	int rc = check_reach(daemon, conn, msg, fds);

	if (rc == 0)
		daemon_send(daemon, daemon->gateway.conn, &request, fds->fd[0]);
	daemon_reply(daemon, conn, msg, rc, -1);
}
