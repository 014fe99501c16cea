/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that open listeners and channels on a test's command. */
#include "cmocka_test.h"
#include "channel_actor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define LISTENERS 8

/* ---- in the process ---- */

static struct {
	int ctl, event_fd;
	struct sim_session *session;
	struct sim_listener *listeners[LISTENERS];
	struct sim_channel *channels[CHANNEL_ACTOR_CHANNELS];
	_Atomic unsigned int notifications[CHANNEL_ACTOR_CHANNELS];
	unsigned int notifications_seen[CHANNEL_ACTOR_CHANNELS];
} self;

static void notify(void *arg)
{
	_Atomic unsigned int *count = arg;

	if (count)
		atomic_fetch_add(count, 1);
	eventfd_write(self.event_fd, 1);
}

/* Sleep until a notification arrives, or return at once if one arrived since the last call. */
static void wait_for_notification(void)
{
	struct pollfd event = { .fd = self.event_fd, .events = POLLIN };
	eventfd_t count;

	CHECK(poll(&event, 1, PROC_DEADLINE_MS) == 1);
	CHECK(eventfd_read(self.event_fd, &count) == 0);
}

static struct sim_handshake_msg msg_of_request(const struct channel_actor_request *request)
{
	struct sim_handshake_msg msg = { .len_bytes = (uint32_t)strlen(request->text), .num_fds = request->num_fds };

	memcpy(msg.body, request->text, msg.len_bytes);
	for (uint32_t i = 0; i < request->num_fds; i++) {
		msg.fds[i] = memfd_create("message", MFD_CLOEXEC);
		CHECK(dprintf(msg.fds[i], "%s %u", request->text, i) > 0);
	}
	return msg;
}

static void close_fds(const struct sim_handshake_msg *msg)
{
	for (uint32_t i = 0; i < msg->num_fds; i++)
		close(msg->fds[i]);
}

/* Copy the text and check that the memory file of each descriptor repeats it. */
static void read_msg(const struct sim_handshake_msg *msg, struct channel_actor_reply *reply)
{
	memcpy(reply->text, msg->body, msg->len_bytes);
	reply->num_fds = msg->num_fds;
	for (uint32_t i = 0; i < msg->num_fds; i++) {
		char expected[SIM_HANDSHAKE_MSG_SIZE + 16], found[sizeof(expected)] = "";

		snprintf(expected, sizeof(expected), "%s %u", reply->text, i);
		CHECK(fcntl(msg->fds[i], F_GETFD) & FD_CLOEXEC);
		CHECK(pread(msg->fds[i], found, sizeof(found) - 1, 0) > 0);
		CHECK(strcmp(found, expected) == 0);
	}
	close_fds(msg);
}

static int do_attach(const struct channel_actor_request *request)
{
	struct sim_session_cfg cfg = { .dir = request->dir[0] ? request->dir : NULL, .side = request->side };

	self.event_fd = eventfd(0, EFD_CLOEXEC);
	return sim_session_attach(&cfg, &self.session);
}

static int do_listen(const struct channel_actor_request *request)
{
	const struct sim_service service = { .function = request->function,
					     .rep = request->rep,
					     .name = request->name };

	return sim_session_listen(self.session, &service, notify, NULL, &self.listeners[request->listener]);
}

static int do_connect(const struct channel_actor_request *request)
{
	struct sim_handshake_msg hello = msg_of_request(request);
	int rc = sim_session_connect(self.session, request->function, request->name, request->timeout_ms, &hello,
				     notify, &self.notifications[request->channel], &self.channels[request->channel]);

	close_fds(&hello);
	return rc;
}

static void do_recv_offer(const struct channel_actor_request *request, struct channel_actor_reply *reply)
{
	struct sim_handshake_msg hello;

	while (!sim_listener_next_client(self.listeners[request->listener], notify,
					 &self.notifications[request->channel], &self.channels[request->channel],
					 &hello))
		wait_for_notification();
	read_msg(&hello, reply);
}

static int do_send(const struct channel_actor_request *request)
{
	struct sim_handshake_msg msg = msg_of_request(request);
	struct sim_channel *channel = self.channels[request->channel];
	int rc = request->op == CHANNEL_ACTOR_ACCEPT ? sim_channel_accept(channel, &msg) :
						       sim_channel_send(channel, &msg);

	close_fds(&msg);
	return rc;
}

static void do_recv(const struct channel_actor_request *request, struct channel_actor_reply *reply)
{
	struct sim_handshake_msg msg;

	while (!sim_channel_receive(self.channels[request->channel], &msg))
		wait_for_notification();
	read_msg(&msg, reply);
}

/* Returns true if a message was queued, and drops it. */
static bool do_has_msg(struct sim_channel *channel)
{
	struct sim_handshake_msg msg;
	bool had = sim_channel_receive(channel, &msg);

	if (had)
		close_fds(&msg);
	return had;
}

static int do_wait_status(const struct channel_actor_request *request)
{
	int before = sim_channel_status(self.channels[request->channel]), status;

	while ((status = sim_channel_status(self.channels[request->channel])) != request->status) {
		CHECK(status == before || status == 0);
		wait_for_notification();
	}
	return status;
}

static void do_wait_notification(const struct channel_actor_request *request)
{
	unsigned int now;

	while ((now = atomic_load(&self.notifications[request->channel])) == self.notifications_seen[request->channel])
		wait_for_notification();
	self.notifications_seen[request->channel] = now;
}

static void do_limit_fds(int more)
{
	struct rlimit limit;
	int fd = dup(0); /* the lowest free one */

	CHECK(fd >= 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
	close(fd);
	limit.rlim_cur = (rlim_t)(fd + more);
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static pid_t do_fork(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	CHECK(pipe(ready) == 0);
	pid = fork();
	if (pid == 0) {
		alarm(PROC_DEADLINE_MS / 1000); /* limit of its life */
		close(self.ctl);
		sim_session_abandon(self.session);
		CHECK(write(ready[1], "", 1) == 1);
		for (;;)
			pause();
	}
	CHECK(pid > 0 && read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void do_detach(void)
{
	for (int i = 0; i < CHANNEL_ACTOR_CHANNELS; i++)
		sim_channel_close(self.session, self.channels[i], -ECONNRESET);
	for (int i = 0; i < LISTENERS; i++)
		sim_session_unlisten(self.session, self.listeners[i]);
	sim_session_detach(self.session);
}

static void execute(const struct channel_actor_request *request, struct channel_actor_reply *reply)
{
	struct sim_channel *channel = self.channels[request->channel];

	switch (request->op) {
	case CHANNEL_ACTOR_ATTACH:
		reply->rc = do_attach(request);
		break;
	case CHANNEL_ACTOR_LISTEN:
		reply->rc = do_listen(request);
		break;
	case CHANNEL_ACTOR_UNLISTEN:
		sim_session_unlisten(self.session, self.listeners[request->listener]);
		self.listeners[request->listener] = NULL;
		break;
	case CHANNEL_ACTOR_RECV_OFFER:
		do_recv_offer(request, reply);
		break;
	case CHANNEL_ACTOR_CONNECT:
		reply->rc = do_connect(request);
		break;
	case CHANNEL_ACTOR_ACCEPT:
	case CHANNEL_ACTOR_SEND:
		reply->rc = do_send(request);
		break;
	case CHANNEL_ACTOR_RECV:
		do_recv(request, reply);
		break;
	case CHANNEL_ACTOR_HAS_MSG:
		reply->rc = do_has_msg(channel);
		break;
	case CHANNEL_ACTOR_WAIT_STATUS:
		reply->rc = do_wait_status(request);
		break;
	case CHANNEL_ACTOR_WAKE:
		sim_channel_notify_peer(channel);
		break;
	case CHANNEL_ACTOR_WAIT_NOTIFICATION:
		do_wait_notification(request);
		break;
	case CHANNEL_ACTOR_CLOSE:
		sim_channel_close(self.session, channel, request->status);
		self.channels[request->channel] = NULL;
		break;
	case CHANNEL_ACTOR_LIMIT_FDS:
		do_limit_fds(request->status);
		break;
	case CHANNEL_ACTOR_COUNT_FDS:
		reply->rc = proc_num_fds(getpid());
		break;
	case CHANNEL_ACTOR_FORK:
		reply->rc = do_fork();
		break;
	case CHANNEL_ACTOR_DETACH:
		do_detach();
		break;
	}
}

static void run_channel_actor(int ctl, const void *arg)
{
	struct channel_actor_request request;

	self.ctl = ctl;
	do {
		struct channel_actor_reply reply = { 0 };

		proc_recv(ctl, &request, sizeof(request));
		execute(&request, &reply);
		proc_send(ctl, &reply, sizeof(reply));
	} while (request.op != CHANNEL_ACTOR_DETACH);
}

/* ---- in the test ---- */

void channel_actor_begin(struct channel_actor *actor, const struct channel_actor_request *request)
{
	proc_send(actor->proc.ctl, request, sizeof(*request));
}

struct channel_actor_reply channel_actor_finish(struct channel_actor *actor)
{
	struct channel_actor_reply reply;

	proc_recv(actor->proc.ctl, &reply, sizeof(reply));
	return reply;
}

static struct channel_actor_reply call(struct channel_actor *actor, const struct channel_actor_request *request)
{
	channel_actor_begin(actor, request);
	return channel_actor_finish(actor);
}

static void set_text(char *to, size_t size, const char *text)
{
	assert_true(strlen(text) < size);
	strcpy(to, text);
}

void channel_actor_attach(struct channel_actor *actor, const char *dir, const char *side)
{
	struct channel_actor_request request = { .op = CHANNEL_ACTOR_ATTACH };

	set_text(request.dir, sizeof(request.dir), dir ? dir : "");
	set_text(request.side, sizeof(request.side), side);
	proc_start(&actor->proc, run_channel_actor, NULL);
	assert_int_equal(call(actor, &request).rc, 0);
}

int channel_actor_listen(struct channel_actor *actor, int listener, uint32_t function, uint32_t rep, const char *name)
{
	struct channel_actor_request request = {
		.op = CHANNEL_ACTOR_LISTEN, .listener = listener, .function = function, .rep = rep
	};

	set_text(request.name, sizeof(request.name), name);
	return call(actor, &request).rc;
}

void channel_actor_unlisten(struct channel_actor *actor, int listener)
{
	call(actor, &(struct channel_actor_request){ .op = CHANNEL_ACTOR_UNLISTEN, .listener = listener });
}

int channel_actor_connect(struct channel_actor *actor, int channel, uint32_t function, const char *name,
			  uint32_t timeout_ms, const char *hello)
{
	struct channel_actor_request request = { .op = CHANNEL_ACTOR_CONNECT,
						 .channel = channel,
						 .function = function,
						 .timeout_ms = timeout_ms,
						 .num_fds = 1 };

	set_text(request.name, sizeof(request.name), name);
	set_text(request.text, sizeof(request.text), hello);
	return call(actor, &request).rc;
}

static int send_as(struct channel_actor *actor, enum channel_actor_op how, int channel, const char *text,
		   uint32_t num_fds)
{
	struct channel_actor_request request = { .op = how, .channel = channel, .num_fds = num_fds };

	set_text(request.text, sizeof(request.text), text);
	return call(actor, &request).rc;
}

int channel_actor_accept(struct channel_actor *actor, int channel, const char *welcome)
{
	return send_as(actor, CHANNEL_ACTOR_ACCEPT, channel, welcome, 1);
}

int channel_actor_send(struct channel_actor *actor, int channel, const char *text, uint32_t num_fds)
{
	return send_as(actor, CHANNEL_ACTOR_SEND, channel, text, num_fds);
}

void channel_actor_wake(struct channel_actor *actor, int channel)
{
	call(actor, &(struct channel_actor_request){ .op = CHANNEL_ACTOR_WAKE, .channel = channel });
}

void channel_actor_close(struct channel_actor *actor, int channel, int reason)
{
	call(actor, &(struct channel_actor_request){ .op = CHANNEL_ACTOR_CLOSE, .channel = channel, .status = reason });
}

void channel_actor_expect_offer(struct channel_actor *actor, int listener, int channel, const char *hello)
{
	struct channel_actor_reply reply =
		call(actor, &(struct channel_actor_request){
				    .op = CHANNEL_ACTOR_RECV_OFFER, .listener = listener, .channel = channel });

	assert_string_equal(reply.text, hello);
	assert_int_equal(reply.num_fds, 1);
}

void channel_actor_expect_msg(struct channel_actor *actor, int channel, const char *text, uint32_t num_fds)
{
	struct channel_actor_reply reply =
		call(actor, &(struct channel_actor_request){ .op = CHANNEL_ACTOR_RECV, .channel = channel });

	assert_string_equal(reply.text, text);
	assert_int_equal(reply.num_fds, num_fds);
}

void channel_actor_expect_status(struct channel_actor *actor, int channel, int status)
{
	struct channel_actor_request request = { .op = CHANNEL_ACTOR_WAIT_STATUS,
						 .channel = channel,
						 .status = status };

	assert_int_equal(call(actor, &request).rc, status);
}

void channel_actor_expect_notification(struct channel_actor *actor, int channel)
{
	call(actor, &(struct channel_actor_request){ .op = CHANNEL_ACTOR_WAIT_NOTIFICATION, .channel = channel });
}

bool channel_actor_has_msg(struct channel_actor *actor, int channel)
{
	return call(actor, &(struct channel_actor_request){ .op = CHANNEL_ACTOR_HAS_MSG, .channel = channel }).rc;
}

void channel_actor_limit_fds(struct channel_actor *actor, int more)
{
	call(actor, &(struct channel_actor_request){ .op = CHANNEL_ACTOR_LIMIT_FDS, .status = more });
}

int channel_actor_count_fds(struct channel_actor *actor)
{
	return call(actor, &(struct channel_actor_request){ .op = CHANNEL_ACTOR_COUNT_FDS }).rc;
}

pid_t channel_actor_fork(struct channel_actor *actor)
{
	pid_t child = call(actor, &(struct channel_actor_request){ .op = CHANNEL_ACTOR_FORK }).rc;

	proc_adopt(child);
	return child;
}

void channel_actor_detach(struct channel_actor *actor)
{
	call(actor, &(struct channel_actor_request){ .op = CHANNEL_ACTOR_DETACH });
	proc_end(&actor->proc);
}
