/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive thread of a process that is attached to a daemon: completes the calls that do not receive their own reply,
 * answers the daemon's requests, and serves the exported memory to peers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "channel_list.h"
#include "exports.h"
#include "imports.h"
#include "owner_daemon_priv.h"
#include "kick.h"
#include "sim/base/log.h"
#include "sim/base/thread.h"
#include "sim/base/watch.h"

#define SERVE_MAX_US    2000
#define DRAIN_POLL_MS   1    /* between checks whether copies of revoked memory have ended */
#define BUFFERS_KEPT_MS 1000 /* after the last event */

enum { TAG_SOCKET, TAG_STOP, TAG_TARGET = SIM_OWNER_TARGET_TAG, TAG_KICK = SIM_OWNER_KICK_TAG };

static void reply_describe(struct daemon_owner *self, struct sim_msg *msg)
{
	uint64_t key = msg->body.describe.id, memory = msg->body.describe.memory;
	uint32_t transport = msg->body.describe.transport;
	bool connect = msg->body.describe.connect;
	int fd = -1;

	memset(&msg->body.described, 0, sizeof(msg->body.described));
	msg->is_reply = 1;
	if (transport == SIM_TRANSPORT_KICK)
		msg->status = sim_kicks_describe(self->env.kicks, &fd);
	else if (transport <= SIM_TRANSPORT_WAKE)
		msg->status = sim_exports_describe(self->env.exports, key, memory, transport, connect,
						   &msg->body.described, &fd);
	else if (transport == SIM_TRANSPORT_MEM || transport == SIM_TRANSPORT_MAPS)
		msg->status = sim_exports_open_memory(self->env.exports, key, memory, transport, &fd);
	else
		msg->status = -ENOSYS;
	sim_calls_send(&self->calls, msg, &fd, fd >= 0);
	if (fd >= 0)
		close(fd);
}

/* The reply waits for running copies, but the receive thread does not: a copy may need this thread at its exporter,
 * and the exporter's copy may need this one. Without memory no reply is sent, and the daemon continues after its
 * timeout. */
static void handle_revoked(struct daemon_owner *self, const struct sim_msg *msg)
{
	struct revoke_reply *reply = malloc(sizeof(*reply));

	sim_imports_revoke_key(self->env.imports, msg->body.key.id, msg->body.key.id);
	sim_exports_remove_alias(self->env.exports, msg->body.key.id);
	if (!reply)
		return;
	reply->msg = *msg;
	reply->msg.is_reply = 1;
	reply->msg.status = 0;
	STAILQ_INSERT_TAIL(&self->revoke_replies, reply, link);
}

static void send_revoke_replies(struct daemon_owner *self)
{
	struct revoke_reply *reply = STAILQ_FIRST(&self->revoke_replies);

	while (reply) {
		struct revoke_reply *next = STAILQ_NEXT(reply, link);

		if (sim_imports_is_drained(self->env.imports, reply->msg.body.key.id)) {
			sim_calls_send(&self->calls, &reply->msg, NULL, 0);
			STAILQ_REMOVE(&self->revoke_replies, reply, revoke_reply, link);
			free(reply);
		}
		reply = next;
	}
}

static void handle_request(struct daemon_owner *self, struct sim_msg *msg, struct sim_fds *fds)
{
	if (msg->type == SIM_MSG_DESCRIBE)
		reply_describe(self, msg);
	else if (msg->type == SIM_MSG_REVOKED)
		handle_revoked(self, msg);
	else if (msg->type == SIM_MSG_FUNCTIONS_CHANGED)
		self->env.on_functions_changed(self->env.session);
	else
		daemon_owner_handle_channel_msg(self, msg, fds);
}

/* Receive and handle one message. Returns false when the daemon was lost. */
static bool receive_message(struct daemon_owner *self)
{
	struct sim_msg msg;
	struct sim_fds fds;
	int rc = sim_calls_receive(&self->calls, &msg, &fds);

	if (rc < 0)
		return rc == -EPROTO;
	if (msg.is_reply)
		sim_calls_complete(&self->calls, &msg, &fds);
	else
		handle_request(self, &msg, &fds);
	sim_fds_close(&fds);
	return true;
}

static void handle_daemon_lost(struct daemon_owner *self)
{
	sim_err("the card's daemon is gone: exported and imported memory and connections no longer work; start the session again");
	sim_calls_set_lost(&self->calls);
	sim_imports_revoke_all(self->env.imports);
	sim_channels_lost(self->env.channels);
	sim_watch_remove(self->epoll_fd, self->sock);
}

/* A caller may receive just now, and a message that it leaves wakes this thread again. */
static void handle_socket(struct daemon_owner *self)
{
	if (!sim_calls_begin_receiving(&self->calls))
		return;
	if (!receive_message(self))
		handle_daemon_lost(self);
	sim_calls_end_receiving(&self->calls);
}

static int epoll_timeout_ms(const struct daemon_owner *self, bool may_sleep)
{
	if (!may_sleep)
		return 0;
	if (!STAILQ_EMPTY(&self->revoke_replies))
		return DRAIN_POLL_MS;
	return sim_exports_has_buffers(self->env.exports) ? BUFFERS_KEPT_MS : -1;
}

static void *receive_thread(void *arg)
{
	struct daemon_owner *self = arg;
	bool stop = false;

	while (!stop) {
		bool may_sleep = sim_exports_serve(self->env.exports, SERVE_MAX_US);
		struct epoll_event events[8];
		int timeout_ms = epoll_timeout_ms(self, may_sleep);
		int count = epoll_wait(self->epoll_fd, events, 8, timeout_ms);

		if (count == 0 && timeout_ms == BUFFERS_KEPT_MS)
			sim_exports_trim(self->env.exports);
		for (int i = 0; i < count; i++) {
			if (events[i].data.u64 == TAG_STOP)
				stop = true; /* TAG_TARGET: served at the top of the loop */
			else if (events[i].data.u64 == TAG_KICK)
				sim_kicks_answer(self->env.kicks);
			else if (events[i].data.u64 == TAG_SOCKET)
				handle_socket(self);
		}
		send_revoke_replies(self);
	}
	return NULL;
}

int daemon_owner_start_receiver(struct daemon_owner *self)
{
	int rc;

	STAILQ_INIT(&self->revoke_replies);
	self->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (self->stop_fd < 0)
		return -errno;
	rc = sim_watch_add(self->epoll_fd, self->stop_fd, EPOLLIN, (epoll_data_t){ .u64 = TAG_STOP });
	if (rc == 0)
		rc = sim_calls_watch(&self->calls, self->epoll_fd, (epoll_data_t){ .u64 = TAG_SOCKET });
	if (rc == 0)
		rc = sim_thread_start(&self->receiver, "bfsim-helper", receive_thread, self);
	self->receiver_runs = rc == 0;
	return rc;
}

void daemon_owner_stop_receiver(struct daemon_owner *self)
{
	if (!self->receiver_runs)
		return;
	eventfd_write(self->stop_fd, 1);
	pthread_join(self->receiver, NULL);
	self->receiver_runs = false;
	while (!STAILQ_EMPTY(&self->revoke_replies)) {
		struct revoke_reply *first = STAILQ_FIRST(&self->revoke_replies);

		STAILQ_REMOVE_HEAD(&self->revoke_replies, link);
		free(first);
	}
}
