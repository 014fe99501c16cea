/* SPDX-License-Identifier: BSD-3-Clause */
/* A daemon owns the card: requests go over its socket, and the helper thread
 * takes what comes back, answers the daemon's own requests and serves peers. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "sim/protocol/session_dir.h"
#include "exports.h"
#include "owner.h"
#include "owner_daemon_priv.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "sim/base/thread.h"

#define CALL_TIMEOUT_S     SIM_SESSION_DIR_TIMEOUT_S /* sending takes no longer either */
#define DESCRIBE_TIMEOUT_S 15                        /* the daemon itself waits for an exporter meanwhile */
#define SERVE_MAX_US       2000
#define SERVE_WOKEN_US     2000

enum { TAG_SOCKET, TAG_STOP, TAG_TARGET = SIM_OWNER_OFI_TARGET_TAG };

/* A request whose reply is awaited. */
struct pending_call {
	uint64_t seq;
	uint16_t type;
	struct sim_msg reply; /* its own: it may come while the request is still being sent */
	int fd;
	bool done;
	struct pending_call *next;
};

struct daemon_owner {
	struct sim_owner base;
	struct sim_session *session;
	struct sim_exports *exports; /* the session's */
	int sock, stop_fd, epoll_fd;
	pthread_t helper;
	bool attached, helper_runs;
	pthread_mutex_t lock; /* protects what follows */
	pthread_cond_t answered;
	struct pending_call *calls;
	uint64_t next_seq;
	bool lost;
};

static struct daemon_owner *to_daemon_owner(struct sim_owner *owner)
{
	return (struct daemon_owner *)owner;
}

/* Send from any thread: a packet goes out whole, so no lock is needed. */
static int send_msg_fds(struct daemon_owner *self, struct sim_msg *msg, const int *fds, uint32_t num_fds)
{
	int rc = sim_msg_send_fds(self->sock, msg, fds, num_fds);

	return rc == -EPIPE ? -ESHUTDOWN : rc == -EAGAIN ? -ETIMEDOUT : rc;
}

static int send_msg(struct daemon_owner *self, struct sim_msg *msg)
{
	return send_msg_fds(self, msg, NULL, 0);
}

int sim_owner_daemon_send(struct sim_owner *owner, struct sim_msg *msg)
{
	return send_msg(to_daemon_owner(owner), msg);
}

static void call_remove(struct daemon_owner *self, struct pending_call *call)
{
	for (struct pending_call **link = &self->calls; *link; link = &(*link)->next) {
		if (*link == call) {
			*link = call->next;
			return;
		}
	}
}

static unsigned timeout_s(const struct pending_call *call)
{
	return call->type == SIM_MSG_DESCRIBE ? DESCRIBE_TIMEOUT_S : CALL_TIMEOUT_S;
}

static int call_wait(struct daemon_owner *self, struct pending_call *call)
{
	const struct timespec until = sim_timespec_from_ns(sim_monotonic_ns() + timeout_s(call) * SIM_NS_PER_S);

	while (!call->done && !self->lost)
		if (pthread_cond_timedwait(&self->answered, &self->lock, &until) == ETIMEDOUT)
			break;
	if (call->done)
		return call->reply.status;
	return self->lost ? -ESHUTDOWN : -ETIMEDOUT;
}

/* Send a request and wait for its reply, which overwrites @msg if it is good. Returns the
 * reply's status, -ESHUTDOWN or -ETIMEDOUT. A descriptor that came with it goes
 * to @ret_fd, or is closed when the caller wants none. */
static int call_daemon_fds(struct daemon_owner *self, struct sim_msg *msg, const int *fds, uint32_t num_fds,
			   int *ret_fd)
{
	struct pending_call call = { .type = msg->type, .fd = -1 };
	int rc;

	pthread_mutex_lock(&self->lock);
	if (self->lost) {
		pthread_mutex_unlock(&self->lock);
		return -ESHUTDOWN;
	}
	call.seq = msg->seq = ++self->next_seq;
	call.next = self->calls;
	self->calls = &call;
	pthread_mutex_unlock(&self->lock);

	rc = send_msg_fds(self, msg, fds, num_fds);

	pthread_mutex_lock(&self->lock);
	if (rc == 0)
		rc = call_wait(self, &call);
	call_remove(self, &call);
	pthread_mutex_unlock(&self->lock);
	if (rc == 0)
		*msg = call.reply;
	if (rc == 0 && ret_fd)
		*ret_fd = call.fd;
	else if (call.fd >= 0)
		close(call.fd);
	if (rc == -ETIMEDOUT && !call.done) /* else the daemon says that an exporter did not answer it */
		sim_err("the card's daemon did not answer within %d s; see whether it is stopped (bfsim ps)",
			timeout_s(&call));
	return rc;
}

static int call_daemon(struct daemon_owner *self, struct sim_msg *msg, int fd, int *ret_fd)
{
	return call_daemon_fds(self, msg, &fd, fd >= 0, ret_fd);
}

int sim_owner_daemon_call(struct sim_owner *owner, struct sim_msg *msg, const int *fds, uint32_t num_fds)
{
	return call_daemon_fds(to_daemon_owner(owner), msg, fds, num_fds, NULL);
}

static int daemon_export(struct sim_owner *owner, const struct sim_region *region, int object_fd,
			 struct sim_key *ret_key)
{
	struct daemon_owner *self = to_daemon_owner(owner);
	struct sim_msg msg = { .type = SIM_MSG_EXPORT, .body.export = *region };
	int rc = call_daemon(self, &msg, object_fd, NULL);

	if (rc < 0)
		return rc;
	*ret_key = msg.body.exported;
	rc = sim_exports_add(self->exports, ret_key->id, region);
	if (rc < 0)
		owner->ops->revoke(owner, ret_key->id);
	return rc;
}

static int daemon_revoke(struct sim_owner *owner, uint64_t key)
{
	struct daemon_owner *self = to_daemon_owner(owner);
	struct sim_msg msg = { .type = SIM_MSG_REVOKE, .body.key.id = key };
	int rc = call_daemon(self, &msg, -1, NULL);

	sim_exports_remove(self->exports, key);
	return rc;
}

static int daemon_import(struct sim_owner *owner, const struct sim_key *key, uint32_t function,
			 struct sim_region *ret_region, struct sim_peer_info *ret_exporter, int *ret_object_fd)
{
	struct sim_msg msg = { .type = SIM_MSG_IMPORT, .body.import = { .key = *key, .function = function } };
	int rc = call_daemon(to_daemon_owner(owner), &msg, -1, ret_object_fd);

	if (rc == 0) {
		*ret_region = msg.body.imported.region;
		*ret_exporter = msg.body.imported.exporter;
	}
	return rc;
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

static int daemon_describe(struct sim_owner *owner, uint64_t key, const char *provider, struct sim_ofi_desc *ret_desc)
{
	struct sim_msg msg = { .type = SIM_MSG_DESCRIBE, .body.describe.id = key };
	int rc;

	strncpy(msg.body.describe.provider, provider, sizeof(msg.body.describe.provider) - 1);
	rc = call_daemon(to_daemon_owner(owner), &msg, -1, NULL);
	if (rc == 0)
		*ret_desc = msg.body.described;
	return rc;
}

static void daemon_wake_exporter(struct sim_owner *owner, uint64_t key)
{
	struct sim_msg msg = { .type = SIM_MSG_WAKE_EXPORTER, .body.key.id = key };

	send_msg(to_daemon_owner(owner), &msg);
}

static void daemon_record(struct sim_owner *owner, int fd)
{
	struct sim_msg msg = { .type = SIM_MSG_ADD_RECORDING };

	send_msg_fds(to_daemon_owner(owner), &msg, &fd, 1);
}

/* ---- the helper thread ---- */

static void complete_call(struct daemon_owner *self, const struct sim_msg *msg, struct sim_fds *fds)
{
	struct pending_call *call;

	pthread_mutex_lock(&self->lock);
	call = self->calls;
	while (call && call->seq != msg->seq)
		call = call->next;
	if (call && !call->done && call->type == msg->type) {
		call->reply = *msg;
		if (fds->count > 0) {
			call->fd = fds->fd[0];
			fds->fd[0] = -1;
		}
		call->done = true;
		pthread_cond_broadcast(&self->answered);
	}
	pthread_mutex_unlock(&self->lock);
}

static void reply_describe(struct daemon_owner *self, struct sim_msg *msg)
{
	char provider[SIM_OFI_PROVIDER_SIZE];
	uint64_t key = msg->body.describe.id;

	memcpy(provider, msg->body.describe.provider, sizeof(provider));
	provider[sizeof(provider) - 1] = '\0';
	memset(&msg->body.described, 0, sizeof(msg->body.described));
	msg->is_reply = 1;
	msg->status = sim_exports_describe(self->exports, key, provider, &msg->body.described);
	send_msg(self, msg);
}

static void reply_revoked(struct daemon_owner *self, struct sim_msg *msg)
{
	sim_session_key_revoked(self->session, msg->body.key.id);
	msg->is_reply = 1;
	msg->status = 0;
	send_msg(self, msg);
}

static void handle_request(struct daemon_owner *self, struct sim_msg *msg, struct sim_fds *fds)
{
	if (msg->type == SIM_MSG_DESCRIBE)
		reply_describe(self, msg);
	else if (msg->type == SIM_MSG_REVOKED)
		reply_revoked(self, msg);
	else if (msg->type == SIM_MSG_FUNCTIONS_CHANGED)
		sim_session_functions_changed(self->session);
	else if (msg->type == SIM_MSG_WAKE_EXPORTER)
		sim_exports_serve(self->exports, SERVE_WOKEN_US);
	else
		daemon_owner_handle_channel_msg(&self->base, sim_session_channels(self->session), msg, fds);
}

/* Take one message. Returns false when the daemon is gone. */
static bool receive_message(struct daemon_owner *self)
{
	struct sim_msg msg;
	struct sim_fds fds;
	int rc = sim_msg_recv_fds(self->sock, &msg, &fds);

	if (rc == -EPROTO) {
		sim_warn("a message of the card's daemon makes no sense; is it of another version of bfsim?");
		return true;
	}
	if (rc < 0)
		return false;
	if (msg.is_reply)
		complete_call(self, &msg, &fds);
	else
		handle_request(self, &msg, &fds);
	sim_fds_close(&fds);
	return true;
}

static void handle_daemon_lost(struct daemon_owner *self)
{
	sim_err("the card's daemon is gone: exported and imported memory and connections no longer work; start the session again");
	pthread_mutex_lock(&self->lock);
	self->lost = true;
	pthread_cond_broadcast(&self->answered);
	pthread_mutex_unlock(&self->lock);
	sim_session_daemon_lost(self->session);
	epoll_ctl(self->epoll_fd, EPOLL_CTL_DEL, self->sock, NULL);
}

static void *helper_thread(void *arg)
{
	struct daemon_owner *self = arg;
	bool stop = false;

	while (!stop) {
		bool may_sleep = sim_exports_serve(self->exports, SERVE_MAX_US);
		struct epoll_event events[8];
		int count = epoll_wait(self->epoll_fd, events, 8, may_sleep ? -1 : 0);

		for (int i = 0; i < count; i++) {
			if (events[i].data.u64 == TAG_STOP)
				stop = true; /* TAG_TARGET: served at the top of the loop */
			else if (events[i].data.u64 == TAG_SOCKET && !receive_message(self))
				handle_daemon_lost(self);
		}
	}
	return NULL;
}

static void daemon_leave(struct sim_owner *owner)
{
	struct daemon_owner *self = to_daemon_owner(owner);
	struct sim_msg leave = { .type = SIM_MSG_DETACH };

	if (self->helper_runs) {
		eventfd_write(self->stop_fd, 1);
		pthread_join(self->helper, NULL);
	}
	self->helper_runs = false;
	if (self->attached)
		send_msg(self, &leave);
	self->attached = false;
}

static void daemon_destroy(struct sim_owner *owner)
{
	struct daemon_owner *self = to_daemon_owner(owner);

	daemon_leave(owner);
	close(self->sock);
	if (self->stop_fd >= 0)
		close(self->stop_fd);
	pthread_cond_destroy(&self->answered);
	pthread_mutex_destroy(&self->lock);
	free(self);
}

static void daemon_abandon(struct sim_owner *owner)
{
	close(to_daemon_owner(owner)->sock);
	close(to_daemon_owner(owner)->stop_fd);
}

static const struct sim_owner_ops daemon_ops = {
	.export = daemon_export,
	.revoke = daemon_revoke,
	.import = daemon_import,
	.unimport = daemon_unimport,
	.set_path = daemon_set_path,
	.describe = daemon_describe,
	.wake_exporter = daemon_wake_exporter,
	.listen = daemon_owner_listen,
	.unlisten = daemon_owner_unlisten,
	.connect = daemon_owner_connect,
	.accept = daemon_owner_accept,
	.send = daemon_owner_send,
	.notify_peer = daemon_owner_notify_peer,
	.close = daemon_owner_close,
	.record = daemon_record,
	.leave = daemon_leave,
	.destroy = daemon_destroy,
	.abandon = daemon_abandon,
};

static int watch(struct daemon_owner *self, int fd, uint64_t tag)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = tag };

	return epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Wait for a packet, also when signals of the application come in between. */
static int wait_readable(int sock)
{
	struct pollfd readable = { .fd = sock, .events = POLLIN };
	const int64_t end_ms = sim_monotonic_ms() + CALL_TIMEOUT_S * 1000;
	int64_t left_ms;
	int rc;

	do {
		left_ms = end_ms - sim_monotonic_ms();
		rc = poll(&readable, 1, left_ms > 0 ? (int)left_ms : 0);
	} while (rc < 0 && errno == EINTR);
	return rc > 0 ? 0 : rc == 0 ? -ETIMEDOUT : -errno;
}

/* The first exchange, before the helper runs. */
static int attach_to_daemon(struct daemon_owner *self, const struct sim_peer_info *info,
			    struct sim_attach_reply *ret_reply, struct sim_segment *ret_shared)
{
	struct sim_msg msg = { .type = SIM_MSG_ATTACH, .body.attach = *info };
	int fd = -1;
	int rc = send_msg(self, &msg);

	if (rc == 0)
		rc = wait_readable(self->sock);
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
		ret_reply->trace_level = msg.body.attached.trace_level;
	}
	return rc == -EPIPE ? -EPROTO : rc;
}

static int start_helper(struct daemon_owner *self)
{
	int rc;

	self->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (self->stop_fd < 0)
		return -errno;
	rc = watch(self, self->stop_fd, TAG_STOP);
	if (rc == 0)
		rc = watch(self, self->sock, TAG_SOCKET);
	if (rc == 0)
		rc = sim_thread_start(&self->helper, "bfsim-helper", helper_thread, self);
	self->helper_runs = rc == 0;
	return rc;
}

int sim_owner_daemon_create(struct sim_session *session, int sock, const struct sim_peer_info *info, int epoll_fd,
			    struct sim_exports *exports, struct sim_attach_reply *ret_reply,
			    struct sim_segment *ret_shared, struct sim_owner **ret_owner)
{
	struct daemon_owner *self = calloc(1, sizeof(*self));
	pthread_condattr_t monotonic;
	int rc;

	if (!self) {
		close(sock);
		return -ENOMEM;
	}
	*self = (struct daemon_owner){ .base.ops = &daemon_ops,
				       .session = session,
				       .exports = exports,
				       .sock = sock,
				       .stop_fd = -1,
				       .epoll_fd = epoll_fd };
	pthread_mutex_init(&self->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&self->answered, &monotonic);
	pthread_condattr_destroy(&monotonic);
	rc = attach_to_daemon(self, info, ret_reply, ret_shared);
	if (rc == 0) {
		*ret_owner = &self->base; /* the helper may use it at once */
		rc = start_helper(self);
	}
	if (rc < 0) {
		*ret_owner = NULL;
		daemon_destroy(&self->base);
	}
	return rc;
}
