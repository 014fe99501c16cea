/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner that is a daemon: attach to it, and ask it for exports and imports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exports.h"
#include "owner_daemon_priv.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "sim/base/watch.h"
#include "sim/protocol/session_dir.h"

static int call_daemon(struct sim_owner *owner, struct sim_msg *msg, int fd, struct sim_fds *ret_fds)
{
	return sim_calls_call(&to_daemon_owner(owner)->calls, msg, &fd, fd >= 0, ret_fds);
}

static int send_msg(struct daemon_owner *self, struct sim_msg *msg)
{
	return sim_calls_send(&self->calls, msg, NULL, 0);
}

static int explain_quota(int rc, const char *what, int limit)
{
	if (rc != -EDQUOT)
		return rc;
	sim_err("this process has %d %s, as many as one may have in a session; end some", limit, what);
	return -ENOMEM;
}

static int daemon_export(struct sim_owner *owner, const struct sim_region *region, int object_fd,
			 struct sim_key *ret_key)
{
	struct daemon_owner *self = to_daemon_owner(owner);
	struct sim_msg msg = { .type = SIM_MSG_EXPORT, .body.export = *region };
	int rc = call_daemon(owner, &msg, object_fd, NULL);

	if (rc < 0)
		return explain_quota(rc, "exports", SIM_MAX_EXPORTS);
	*ret_key = msg.body.exported;
	rc = sim_exports_add(self->env.exports, ret_key->id, region);
	if (rc < 0)
		owner->memory->revoke(owner, ret_key->id);
	return rc;
}

static int daemon_export_alias(struct sim_owner *owner, uint64_t origin, uint32_t function, struct sim_key *ret_key)
{
	struct sim_msg msg = { .type = SIM_MSG_EXPORT_ALIAS, .body.alias = { .origin = origin, .function = function } };
	int rc = call_daemon(owner, &msg, -1, NULL);

	if (rc == 0)
		*ret_key = msg.body.exported;
	return explain_quota(rc, "exports", SIM_MAX_EXPORTS);
}

static int daemon_revoke(struct sim_owner *owner, uint64_t key)
{
	struct daemon_owner *self = to_daemon_owner(owner);
	struct sim_msg msg = { .type = SIM_MSG_REVOKE, .body.key.id = key };
	int rc = call_daemon(owner, &msg, -1, NULL);

	sim_exports_remove(self->env.exports, key);
	return rc;
}

/* The object's descriptor may be lost on its way, as the process has no room: then the process's is, too. */
static void take_imported(struct sim_msg *msg, struct sim_fds *fds, struct sim_imported *ret_imported)
{
	const bool has_object = msg->body.imported.has_object == 1, has_process = msg->body.imported.has_process == 1;

	*ret_imported = (struct sim_imported){ .region = msg->body.imported.region,
					       .exporter = msg->body.imported.exporter,
					       .object_fd = has_object ? sim_fds_take(fds, 0) : -1,
					       .pidfd = has_process ? sim_fds_take(fds, has_object) : -1 };
}

static int daemon_import(struct sim_owner *owner, const struct sim_key *key, uint32_t function,
			 struct sim_imported *ret_imported)
{
	struct sim_msg msg = { .type = SIM_MSG_IMPORT, .body.import = { .key = *key, .function = function } };
	struct sim_fds fds = { .count = 0 };
	int rc = call_daemon(owner, &msg, -1, &fds);

	if (rc == -EXDEV || rc == -EPERM)
		ret_imported->region.function = msg.body.imported.region.function;
	if (rc == 0)
		take_imported(&msg, &fds, ret_imported);
	sim_fds_close(&fds);
	return explain_quota(rc, "imports", SIM_MAX_IMPORTS);
}

static void daemon_unimport(struct sim_owner *owner, uint64_t key)
{
	struct sim_msg msg = { .type = SIM_MSG_UNIMPORT, .body.key.id = key };

	send_msg(to_daemon_owner(owner), &msg);
}

static void daemon_set_path(struct sim_owner *owner, uint64_t key, const char *path, const char *reason)
{
	struct sim_msg msg = { .type = SIM_MSG_PATH, .body.path.id = key };

	strncpy(msg.body.path.name, path, sizeof(msg.body.path.name) - 1);
	strncpy(msg.body.path.reason, reason, sizeof(msg.body.path.reason) - 1);
	send_msg(to_daemon_owner(owner), &msg);
}

static int daemon_describe(struct sim_owner *owner, uint64_t key, enum sim_transport transport, bool connect,
			   struct sim_grant *ret_grant, int *ret_fd)
{
	struct sim_msg msg = { .type = SIM_MSG_DESCRIBE,
			       .body.describe = { .id = key, .transport = transport, .connect = connect } };
	struct sim_fds fds = { .count = 0 };
	int rc = call_daemon(owner, &msg, -1, &fds);

	*ret_fd = sim_fds_take(&fds, 0);
	sim_fds_close(&fds);
	if (rc == 0)
		*ret_grant = msg.body.described;
	return rc;
}

static int daemon_ask_for_kicks(struct sim_owner *owner, uint64_t key, void (*done)(void *arg, struct sim_fds *fds),
				void *arg)
{
	struct sim_msg msg = { .type = SIM_MSG_DESCRIBE,
			       .body.describe = { .id = key, .transport = SIM_TRANSPORT_KICK } };

	return sim_calls_begin(&to_daemon_owner(owner)->calls, &msg, done, arg);
}

static void daemon_record(struct sim_owner *owner, int fd)
{
	struct sim_msg msg = { .type = SIM_MSG_ADD_RECORDING };

	sim_calls_send(&to_daemon_owner(owner)->calls, &msg, &fd, 1);
}

static void daemon_leave(struct sim_owner *owner)
{
	struct daemon_owner *self = to_daemon_owner(owner);
	struct sim_msg leave = { .type = SIM_MSG_DETACH };

	daemon_owner_stop_receiver(self);
	if (self->attached)
		send_msg(self, &leave);
	self->attached = false;
}

static void daemon_destroy(struct sim_owner *owner)
{
	struct daemon_owner *self = to_daemon_owner(owner);

	daemon_leave(owner);
	sim_watch_close(self->epoll_fd, self->sock);
	sim_watch_close(self->epoll_fd, self->stop_fd);
	sim_calls_fini(&self->calls);
	free(self);
}

static void daemon_abandon(struct sim_owner *owner)
{
	close(to_daemon_owner(owner)->sock);
	close(to_daemon_owner(owner)->stop_fd);
}

/* The receive thread would wait for itself. */
static void daemon_begin_fault(struct sim_owner *owner, uint32_t id)
{
	struct sim_msg msg = { .type = SIM_MSG_FAULT, .body.fault = { .change = SIM_FAULT_BEGIN, .id = id } };
	struct daemon_owner *self = to_daemon_owner(owner);

	if (pthread_equal(pthread_self(), self->receiver))
		send_msg(self, &msg);
	else
		call_daemon(owner, &msg, -1, NULL);
}

static const struct sim_owner_memory_ops memory_ops = {
	.export = daemon_export,
	.export_alias = daemon_export_alias,
	.revoke = daemon_revoke,
	.import = daemon_import,
	.unimport = daemon_unimport,
	.set_path = daemon_set_path,
	.describe = daemon_describe,
	.ask_for_kicks = daemon_ask_for_kicks,
};

static const struct sim_owner_life_ops life_ops = {
	.begin_fault = daemon_begin_fault,
	.record = daemon_record,
	.leave = daemon_leave,
	.destroy = daemon_destroy,
	.abandon = daemon_abandon,
};

/* The first exchange, before the receive thread runs. */
static int attach_to_daemon(struct daemon_owner *self, const struct sim_peer_info *info,
			    struct sim_attach_reply *ret_reply, struct sim_segment *ret_shared)
{
	struct sim_msg msg = { .type = SIM_MSG_ATTACH, .body.attach = *info };
	uint64_t before_ns = sim_monotonic_ns();
	int fd = -1;
	int rc = send_msg(self, &msg);

	if (rc == 0)
		rc = sim_msg_await(self->sock, before_ns + SIM_CALL_TIMEOUT_S * SIM_NS_PER_S);
	if (rc == 0)
		rc = sim_msg_recv(self->sock, &msg, &fd);
	if (rc == 0 && (msg.type != SIM_MSG_ATTACH || !msg.is_reply))
		rc = -EPROTO;
	if (rc == 0)
		rc = msg.status;
	self->attached = rc == 0;
	if (rc == 0)
		rc = sim_shared_state_map(fd, ret_shared);
	if (fd >= 0)
		close(fd);
	if (rc == 0) {
		memcpy(ret_reply->session_id, msg.body.attached.session, SIM_SESSION_ID_SIZE);
		ret_reply->id = msg.body.attached.id;
		ret_reply->pid = msg.body.attached.pid;
		ret_reply->uid = msg.body.attached.uid;
		ret_reply->trace_level = msg.body.attached.trace_level;
		ret_reply->passes_memory = msg.body.attached.passes_memory == 1;
		ret_reply->has_own_clock = msg.body.attached.monotonic_ns < before_ns ||
					   msg.body.attached.monotonic_ns > sim_monotonic_ns();
	}
	return rc == -EPIPE ? -EPROTO : rc;
}

int sim_owner_daemon_create(const struct sim_owner_env *env, int sock, int epoll_fd, struct sim_attach_reply *ret_reply,
			    struct sim_segment *ret_shared, struct sim_owner **ret_owner)
{
	struct daemon_owner *self = calloc(1, sizeof(*self));
	int rc;

	if (!self) {
		close(sock);
		return -ENOMEM;
	}
	*self = (struct daemon_owner){
		.base = { .memory = &memory_ops, .channels = &daemon_owner_channel_ops, .life = &life_ops },
		.env = *env,
		.sock = sock,
		.stop_fd = -1,
		.epoll_fd = epoll_fd
	};
	sim_calls_init(&self->calls, sock);
	rc = attach_to_daemon(self, env->self, ret_reply, ret_shared);
	if (rc == 0) {
		*ret_owner = &self->base; /* the receive thread may use it at once */
		rc = daemon_owner_start_receiver(self);
	}
	if (rc < 0) {
		*ret_owner = NULL;
		daemon_destroy(&self->base);
	}
	return rc;
}
