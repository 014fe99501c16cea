/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of the requests that processes send to the daemon. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/base/monotonic.h"
#include "sim/base/log.h"

#define EXPORTER_TIMEOUT_MS   10000 /* shorter than the importer's own timeout */
#define MAX_DESCRIBE_REQUESTS 64    /* in flight for one importer: one for each of its threads */

/* Returns 0 or -EIO. Only the texts are the process's own word, and its pid if it is not visible here. */
static int describe_process(const struct conn *conn, const struct sim_msg *attach, struct sim_peer_info *ret_info)
{
	struct sim_peer_info info = attach->body.attach;

	TERMINATE_TEXT(info.side);
	TERMINATE_TEXT(info.program);
	TERMINATE_TEXT(info.check);
	info.uid = conn->uid;
	if (conn->pid > 0)
		info.pid = conn->pid;
	if (getrandom(&info.id, sizeof(info.id), 0) != sizeof(info.id))
		return -EIO;
	info.id |= 1; /* never 0 */
	*ret_info = info;
	return 0;
}

/* Whether the side's processes are on this machine. */
static bool daemon_has_side(const struct daemon *daemon, const char *side)
{
	return !daemon->machine[0] || pcie_side_is_of(side, daemon->machine) ||
	       !pcie_topology_has_side(daemon->topology, side);
}

static void handle_attach(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	struct sim_peer_info info = { .id = 0 };
	int rc = describe_process(conn, msg, &info);

	if (rc == 0 && !conn->is_gateway && !daemon_has_side(daemon, info.side))
		rc = -EREMOTE;
	if (rc == 0)
		rc = daemon_conn_state_is_attached(conn->state) ? -EALREADY :
		     daemon_may_keep_fd(daemon, conn->sock)     ? 0 :
								  -EUSERS;
	if (rc == -EUSERS)
		sim_err("cannot take another process: no more descriptors; raise ulimit -n where the daemon starts");
	if (rc == 0)
		rc = conn->is_gateway ? sim_card_attach_gateway(daemon->card, &info, &conn->peer) :
					sim_card_attach(daemon->card, &info, &conn->peer);
	if (rc == 0) {
		daemon_watch_process(daemon, conn);
		daemon_inject_new_process(daemon, conn);
	}
	memset(&msg->body, 0, sizeof(msg->body));
	memcpy(msg->body.attached.session, daemon->session, sizeof(daemon->session));
	msg->body.attached.id = info.id;
	msg->body.attached.pid = info.pid;
	msg->body.attached.uid = info.uid;
	msg->body.attached.trace_level = daemon->trace_level;
	msg->body.attached.passes_memory = daemon->passes_memory;
	msg->body.attached.monotonic_ns = sim_monotonic_ns();
	daemon_reply(daemon, conn, msg, rc, rc == 0 ? daemon->shared_fd : -1);
}

static void handle_export(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	struct sim_region region = msg->body.export;
	struct sim_key key = { 0 };
	int rc = getrandom(key.secret, sizeof(key.secret), 0) == sizeof(key.secret) ? 0 : -EIO;

	if (rc == 0)
		rc = sim_card_export(daemon->card, conn->peer, &region, key.secret, &key.id);
	if (fds->count > 0 && rc == 0) {
		daemon_add_shared_object(daemon, key.id, conn, fds->fd[0]);
		fds->fd[0] = -1;
	}
	memset(&msg->body, 0, sizeof(msg->body));
	msg->body.exported = key;
	daemon_reply(daemon, conn, msg, rc, -1);
}

static void handle_export_alias(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	const uint64_t origin = msg->body.alias.origin;
	const uint32_t function = msg->body.alias.function;
	struct sim_key key = { 0 };
	int rc = getrandom(key.secret, sizeof(key.secret), 0) == sizeof(key.secret) ? 0 : -EIO;

	if (rc == 0)
		rc = sim_card_export_alias(daemon->card, conn->peer, origin, function, key.secret, &key.id);
	memset(&msg->body, 0, sizeof(msg->body));
	msg->body.exported = key;
	daemon_reply(daemon, conn, msg, rc, -1);
}

static void handle_import(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	const struct sim_key key = msg->body.import.key;

	if (daemon_far_handles(daemon, conn, msg))
		daemon_far_import(daemon, conn, msg);
	else
		daemon_reply_import(daemon, conn, msg, &key, msg->body.import.function);
}

/* ---- DESCRIBE ----
 * An importer asks for access that its exporter serves. The daemon forwards the request to the
 * exporter, which may be stopped or faulty; so each request has a deadline. */

static void reject_describe(struct daemon *daemon, struct conn *importer, struct sim_msg *msg, int status)
{
	memset(&msg->body, 0, sizeof(msg->body));
	daemon_reply(daemon, importer, msg, status, -1);
}

/* A descriptor of a process's memory opens all of it, so it is passed to processes of the same user only, and that the
 * daemon's. */
static bool may_pass_memory(const struct daemon *daemon, const struct conn *importer, const struct conn *exporter)
{
	return daemon->passes_memory && importer->uid == geteuid() && exporter->uid == geteuid();
}

static void forward_describe(struct daemon *daemon, struct conn *importer, struct sim_msg *msg)
{
	struct describe_request *request;
	struct conn *exporter;
	struct sim_card_memory memory;
	int rc = sim_card_find_memory(daemon->card, importer->peer, msg->body.describe.id, &memory);

	exporter = rc == 0 ? daemon_find_conn(daemon, memory.exporter) : NULL;
	if (!exporter || importer->num_describe_requests == MAX_DESCRIBE_REQUESTS) {
		reject_describe(daemon, importer, msg, exporter ? -EBUSY : -ESTALE);
		return;
	}
	if ((msg->body.describe.transport == SIM_TRANSPORT_MEM || msg->body.describe.transport == SIM_TRANSPORT_MAPS) &&
	    !may_pass_memory(daemon, importer, exporter)) {
		reject_describe(daemon, importer, msg, -EPERM);
		return;
	}
	request = calloc(1, sizeof(*request));
	if (!request) {
		reject_describe(daemon, importer, msg, -ENOMEM);
		return;
	}
	*request = (struct describe_request){ .seq = ++daemon->next_seq,
					      .importer = importer,
					      .exporter = exporter,
					      .importer_seq = msg->seq,
					      .deadline_ms = sim_monotonic_ms() + EXPORTER_TIMEOUT_MS };
	LIST_INSERT_HEAD(&daemon->describe_requests, request, entry);
	importer->num_describe_requests++;
	msg->seq = request->seq;
	msg->body.describe.memory = memory.key;
	daemon_send(daemon, exporter, msg, -1);
}

static void remove_describe_request(struct describe_request *request)
{
	LIST_REMOVE(request, entry);
	request->importer->num_describe_requests--;
	free(request);
}

static void forward_describe_reply(struct daemon *daemon, struct describe_request *request, struct sim_msg *msg,
				   struct sim_fds *fds)
{
	struct conn *importer = request->importer;

	msg->seq = request->importer_seq;
	remove_describe_request(request);
	daemon_send_fds(daemon, importer, msg, fds);
}

static void fail_describe(struct daemon *daemon, struct describe_request *request, int status)
{
	struct sim_msg msg = { .type = SIM_MSG_DESCRIBE, .is_reply = 1, .status = status };
	struct sim_fds none = { .count = 0 };

	forward_describe_reply(daemon, request, &msg, &none);
}

static void handle_describe_reply(struct daemon *daemon, struct conn *exporter, struct sim_msg *msg,
				  struct sim_fds *fds)
{
	struct describe_request *request;

	LIST_FOREACH(request, &daemon->describe_requests, entry) {
		if (request->seq == msg->seq && request->exporter == exporter) {
			forward_describe_reply(daemon, request, msg, fds);
			return;
		}
	}
}

/* ---- other requests ---- */

static bool has_reader(const struct conn *conn)
{
	struct pollfd reader = { .fd = conn->sock };

	return poll(&reader, 1, 0) < 1; /* an event would be the end of the other side */
}

static void handle_status(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	int fd;

	if (!has_reader(conn))
		return;
	fd = daemon_status_fd(daemon);
	daemon_reply(daemon, conn, msg, fd < 0 ? fd : 0, fd);
	if (fd >= 0)
		close(fd);
}

/* Handle a request that only attached processes may send. */
static void handle_attached_msg(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	if (daemon_handle_channel_msg(daemon, conn, msg, fds))
		return;
	switch (msg->type) {
	case SIM_MSG_EXPORT:
		handle_export(daemon, conn, msg, fds);
		break;
	case SIM_MSG_EXPORT_ALIAS:
		handle_export_alias(daemon, conn, msg);
		break;
	case SIM_MSG_REVOKE:
		daemon_revoke(daemon, conn, msg);
		break;
	case SIM_MSG_IMPORT:
		handle_import(daemon, conn, msg);
		break;
	case SIM_MSG_UNIMPORT:
		daemon_unimport(daemon, conn, msg->body.key.id);
		break;
	case SIM_MSG_PATH:
		TERMINATE_TEXT(msg->body.path.name);
		TERMINATE_TEXT(msg->body.path.reason);
		sim_card_set_path(daemon->card, conn->peer, msg->body.path.id, msg->body.path.name,
				  msg->body.path.reason);
		break;
	case SIM_MSG_DESCRIBE:
		forward_describe(daemon, conn, msg);
		break;
	case SIM_MSG_GATEWAY:
		daemon_handle_gateway(daemon, conn, msg, fds);
		break;
	case SIM_MSG_ADD_RECORDING:
		daemon_add_recording(daemon, conn, fds);
		break;
	case SIM_MSG_DETACH:
		daemon_conn_go(conn, DAEMON_CONN_LEAVING);
		break;
	default:
		sim_warn("process %d sent a request that a daemon does not take (%u); its connection is closed",
			 sim_card_peer(daemon->card, conn->peer)->pid, msg->type);
		daemon_conn_lose(conn);
	}
}

static void handle_reply(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	if (msg->type == SIM_MSG_DESCRIBE)
		handle_describe_reply(daemon, conn, msg, fds);
	else if (msg->type == SIM_MSG_FAR_IMPORT)
		daemon_far_reply(daemon, conn, msg, fds);
	else if (msg->type == SIM_MSG_REVOKED)
		daemon_importer_released(daemon, conn, msg->seq);
	else if (msg->type == SIM_MSG_OUTAGE)
		daemon_outage_taken(daemon, conn, msg->seq);
}

/* Handle a request that needs no attachment. Returns false for all other requests. */
static bool handle_unattached_msg(struct daemon *daemon, struct conn *conn, struct sim_msg *msg,
				  const struct sim_fds *fds)
{
	switch (msg->type) {
	case SIM_MSG_ATTACH:
		handle_attach(daemon, conn, msg);
		return true;
	case SIM_MSG_STATUS:
		handle_status(daemon, conn, msg);
		return true;
	case SIM_MSG_SHARED_STATE:
		daemon_reply(daemon, conn, msg, 0, daemon->shared_fd);
		return true;
	case SIM_MSG_FAULT:
		daemon_handle_fault(daemon, conn, msg, fds);
		return true;
	case SIM_MSG_REACH:
		daemon_reach(daemon, conn, msg, fds);
		return true;
	case SIM_MSG_GET_RECORDING:
		daemon_reply_recording(daemon, conn, msg);
		return true;
	case SIM_MSG_SHUTDOWN:
		daemon_reply(daemon, conn, msg, 0, -1);
		daemon->stop = true;
		return true;
	default:
		return false;
	}
}

void daemon_handle_msg(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	if (conn->is_refused) {
		daemon_refuse_request(daemon, conn, msg);
		return;
	}
	if (msg->is_reply) {
		if (daemon_conn_state_is_attached(conn->state))
			handle_reply(daemon, conn, msg, fds);
		return;
	}
	if (handle_unattached_msg(daemon, conn, msg, fds))
		return;
	if (daemon_conn_state_is_attached(conn->state))
		handle_attached_msg(daemon, conn, msg, fds);
	else
		daemon_conn_lose(conn); /* it sent this request before ATTACH */
}

static void cancel_describe_requests(struct daemon *daemon, struct conn *conn)
{
	struct describe_request *request, *next;

	LIST_FOREACH_SAFE(request, &daemon->describe_requests, entry, next) {
		if (request->importer == conn)
			remove_describe_request(request);
		else if (request->exporter == conn)
			fail_describe(daemon, request, -ESTALE);
	}
}

void daemon_detach(struct daemon *daemon, struct conn *conn)
{
	if (!daemon_conn_state_is_attached(conn->state))
		return;
	sim_shared_ledger_leave(&sim_shared_state_of(&daemon->shared)->ledger,
				sim_card_peer(daemon->card, conn->peer)->id);
	daemon_end_recording(daemon, conn);
	daemon_close_channels_of(daemon, conn);
	daemon_revoke_all_of(daemon, conn);
	daemon_remove_from_revocations(daemon, conn);
	cancel_describe_requests(daemon, conn);
	daemon_far_cancel(daemon, conn);
	daemon_far_drop_unused(daemon);
	daemon_conn_go(conn, DAEMON_CONN_GONE);
}

uint64_t daemon_describe_deadline_ms(const struct daemon *daemon)
{
	uint64_t soonest = UINT64_MAX;
	const struct describe_request *q;

	LIST_FOREACH(q, &daemon->describe_requests, entry)
		if (q->deadline_ms < soonest)
			soonest = q->deadline_ms;
	return soonest;
}

void daemon_expire_describe_requests(struct daemon *daemon, uint64_t now_ms)
{
	struct describe_request *request, *next;

	LIST_FOREACH_SAFE(request, &daemon->describe_requests, entry, next)
		if (request->deadline_ms <= now_ms)
			fail_describe(daemon, request, -ETIMEDOUT);
}
