/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to the session's daemon: send, wait for the reply, time out. */
#include "owner_call.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "sim/base/perturb.h"
#include "sim/base/queue.h"
#include "sim/base/watch.h"
#include "sim/clock/call_mark.h"
#include "sim/protocol/session_dir.h"

#define DESCRIBE_TIMEOUT_S 15 /* more than the daemon's own timeout for the exporter */

/* Lives on the caller's stack, or is allocated if nobody waits for it; listed until the reply arrives or the call times out. */
struct sim_pending_call {
	uint64_t seq;
	uint16_t type;
	struct sim_msg reply; /* a copy: the reply may come while the request is still being sent */
	struct sim_fds fds;
	bool done;
	bool receives;          /* the thread that waits receives, too */
	sim_call_done *on_done; /* NULL = a thread waits */
	void *arg;
	LIST_ENTRY(sim_pending_call) entry;
};

void sim_calls_init(struct sim_calls *calls, int sock)
{
	pthread_condattr_t monotonic;

	*calls = (struct sim_calls){ .sock = sock, .epoll_fd = -1 };
	pthread_mutex_init(&calls->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&calls->answered, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

/* Nobody waits for the call. */
static void end_begun(struct sim_pending_call *call, struct sim_fds *fds)
{
	call->on_done(call->arg, fds);
	free(call);
}

void sim_calls_fini(struct sim_calls *calls)
{
	struct sim_pending_call *call, *next;

	LIST_FOREACH_SAFE(call, &calls->pending, entry, next)
		if (call->on_done)
			end_begun(call, &(struct sim_fds){ .count = 0 });
	if (calls->has_left)
		sim_fds_close(&calls->left_fds);
	pthread_cond_destroy(&calls->answered);
	pthread_mutex_destroy(&calls->lock);
}

/* A packet is sent whole, so senders need no lock. */
int sim_calls_send(struct sim_calls *calls, struct sim_msg *msg, const int *fds, uint32_t num_fds)
{
	int rc = sim_msg_send_fds(calls->sock, msg, fds, num_fds);

	return rc == -EPIPE ? -ESHUTDOWN : rc == -EAGAIN ? -ETIMEDOUT : rc;
}

static unsigned timeout_s(const struct sim_pending_call *call)
{
	return call->type == SIM_MSG_DESCRIBE ? DESCRIBE_TIMEOUT_S : SIM_CALL_TIMEOUT_S;
}

/* ---- who receives ---- */

#define WATCH_NOTHING EPOLLET /* epoll_wait() still reports the end of the connection, once */

static void watch_for(struct sim_calls *calls, uint32_t events)
{
	sim_watch_change(calls->epoll_fd, calls->sock, events, calls->tag);
}

int sim_calls_watch(struct sim_calls *calls, int epoll_fd, epoll_data_t tag)
{
	struct timeval timeout = { .tv_sec = SIM_CALL_TIMEOUT_S };
	int rc = sim_watch_add(epoll_fd, calls->sock, EPOLLIN, tag);

	if (rc < 0)
		return rc;
	setsockopt(calls->sock, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)); /* of callers that receive */
	calls->epoll_fd = epoll_fd;
	calls->tag = tag;
	return 0;
}

bool sim_calls_begin_receiving(struct sim_calls *calls)
{
	bool is_free;

	pthread_mutex_lock(&calls->lock);
	is_free = calls->receiver == SIM_CALLS_NOBODY;
	if (is_free)
		calls->receiver = SIM_CALLS_RECEIVE_THREAD;
	pthread_mutex_unlock(&calls->lock);
	return is_free;
}

void sim_calls_end_receiving(struct sim_calls *calls)
{
	pthread_mutex_lock(&calls->lock);
	calls->receiver = SIM_CALLS_NOBODY;
	pthread_mutex_unlock(&calls->lock);
}

/* Returns @rc of a receive, and logs a message that makes no sense. */
static int end_receive(int rc)
{
	sim_perturb();
	if (rc == -EPROTO)
		sim_warn("a message of the card's daemon makes no sense; is it of another version of bfsim?");
	return rc;
}

static bool take_left(struct sim_calls *calls, struct sim_msg *ret_msg, struct sim_fds *ret_fds)
{
	bool has_left;

	pthread_mutex_lock(&calls->lock);
	has_left = calls->has_left;
	if (has_left) {
		*ret_msg = calls->left;
		*ret_fds = calls->left_fds;
		calls->has_left = false;
		watch_for(calls, EPOLLIN);
	}
	pthread_mutex_unlock(&calls->lock);
	return has_left;
}

int sim_calls_receive(struct sim_calls *calls, struct sim_msg *ret_msg, struct sim_fds *ret_fds)
{
	if (take_left(calls, ret_msg, ret_fds))
		return 0;
	return end_receive(sim_msg_recv_fds(calls->sock, ret_msg, ret_fds));
}

/* Before the request is sent, so that the receive thread does not wake up for the reply. With the lock. */
static bool claim_reply(struct sim_calls *calls)
{
	if (calls->epoll_fd < 0 || calls->receiver != SIM_CALLS_NOBODY || calls->has_left ||
	    !LIST_EMPTY(&calls->pending))
		return false;
	calls->receiver = SIM_CALLS_CALLER;
	watch_for(calls, WATCH_NOTHING);
	return true;
}

/* The receive thread wakes up for a message that was left, as the socket is writable. With the lock. */
static void release_reply(struct sim_calls *calls)
{
	watch_for(calls, calls->has_left ? EPOLLIN | EPOLLOUT : EPOLLIN);
	calls->receiver = SIM_CALLS_NOBODY;
}

static void leave_to_receive_thread(struct sim_calls *calls, const struct sim_msg *msg, const struct sim_fds *fds)
{
	pthread_mutex_lock(&calls->lock);
	calls->left = *msg;
	calls->left_fds = *fds;
	calls->has_left = true;
	pthread_mutex_unlock(&calls->lock);
}

/* The next message, if it comes in time and before a signal. If it is not the call's reply, the receive thread gets it. */
static void receive_reply(struct sim_calls *calls, const struct sim_pending_call *call)
{
	struct sim_msg msg;
	struct sim_fds fds;

	if (end_receive(sim_msg_recv_until_signal(calls->sock, &msg, &fds)) < 0)
		return;
	if (!msg.is_reply || msg.seq != call->seq || msg.type != call->type) {
		leave_to_receive_thread(calls, &msg, &fds);
		return;
	}
	sim_calls_complete(calls, &msg, &fds);
	sim_fds_close(&fds);
}

/* ---- calls ---- */

/* With the lock. */
static int wait_for_reply(struct sim_calls *calls, struct sim_pending_call *call, uint64_t until_ns)
{
	const struct timespec until = sim_timespec_from_ns(until_ns);

	while (!call->done && !calls->lost)
		if (pthread_cond_timedwait(&calls->answered, &calls->lock, &until) == ETIMEDOUT)
			break;
	if (call->done)
		return call->reply.status;
	return calls->lost ? -ESHUTDOWN : -ETIMEDOUT;
}

/* Returns 0 or -ESHUTDOWN. */
static int add_call(struct sim_calls *calls, struct sim_pending_call *call, struct sim_msg *msg)
{
	int rc = 0;

	pthread_mutex_lock(&calls->lock);
	if (calls->lost)
		rc = -ESHUTDOWN;
	call->seq = msg->seq = ++calls->next_seq;
	if (rc == 0) {
		call->receives = !call->on_done && claim_reply(calls);
		LIST_INSERT_HEAD(&calls->pending, call, entry);
	}
	pthread_mutex_unlock(&calls->lock);
	return rc;
}

int sim_calls_begin(struct sim_calls *calls, struct sim_msg *msg, sim_call_done *done, void *arg)
{
	struct sim_pending_call *call = malloc(sizeof(*call));
	int rc;

	if (!call)
		return -ENOMEM;
	*call = (struct sim_pending_call){ .type = msg->type, .on_done = done, .arg = arg };
	rc = add_call(calls, call, msg);
	if (rc < 0) {
		free(call);
		return rc;
	}
	rc = sim_calls_send(calls, msg, NULL, 0);
	if (rc == 0) /* the reply may have come, and freed the call */
		return 0;
	pthread_mutex_lock(&calls->lock);
	LIST_REMOVE(call, entry);
	pthread_mutex_unlock(&calls->lock);
	free(call);
	return rc;
}

/* Returns the reply's status, or what sending and waiting failed with. */
static int send_and_wait(struct sim_calls *calls, struct sim_pending_call *call, struct sim_msg *msg, const int *fds,
			 uint32_t num_fds)
{
	int rc = sim_calls_send(calls, msg, fds, num_fds);
	const uint64_t until_ns = sim_monotonic_ns() + timeout_s(call) * SIM_NS_PER_S;
	bool marked = sim_clock_begin_wait();

	if (rc == 0 && call->receives)
		receive_reply(calls, call);
	pthread_mutex_lock(&calls->lock);
	if (call->receives)
		release_reply(calls);
	if (rc == 0)
		rc = wait_for_reply(calls, call, until_ns);
	LIST_REMOVE(call, entry);
	pthread_mutex_unlock(&calls->lock);
	sim_clock_end_wait(marked);
	return rc;
}

int sim_calls_call(struct sim_calls *calls, struct sim_msg *msg, const int *fds, uint32_t num_fds,
		   struct sim_fds *ret_fds)
{
	struct sim_pending_call call = { .type = msg->type };
	int rc = add_call(calls, &call, msg);
	int cancel_state;

	if (rc < 0)
		return rc;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* the call is on this thread's stack */
	rc = send_and_wait(calls, &call, msg, fds, num_fds);
	pthread_setcancelstate(cancel_state, NULL);
	if (call.done)
		*msg = call.reply;
	if (rc == 0 && ret_fds)
		*ret_fds = call.fds;
	else
		sim_fds_close(&call.fds);
	if (rc == -ETIMEDOUT && !call.done) /* else the daemon replied that an exporter did not answer */
		sim_err("the card's daemon did not answer within %d s; see whether it is stopped (bfsim ps)",
			timeout_s(&call));
	return rc;
}

void sim_calls_complete(struct sim_calls *calls, const struct sim_msg *reply, struct sim_fds *fds)
{
	struct sim_pending_call *call, *begun = NULL;
	bool is_awaited = false;

	pthread_mutex_lock(&calls->lock);
	LIST_FOREACH(call, &calls->pending, entry)
		if (call->seq == reply->seq)
			break;
	if (call && !call->done && call->type == reply->type && call->on_done) {
		LIST_REMOVE(call, entry);
		begun = call;
	} else if (call && !call->done && call->type == reply->type) {
		call->reply = *reply;
		call->fds = *fds;
		fds->count = 0;
		call->done = is_awaited = true;
	}
	pthread_mutex_unlock(&calls->lock);
	if (is_awaited) /* without the lock, for which the thread that waits would wait at once */
		pthread_cond_broadcast(&calls->answered);
	if (begun)
		end_begun(begun, fds);
}

void sim_calls_set_lost(struct sim_calls *calls)
{
	pthread_mutex_lock(&calls->lock);
	calls->lost = true;
	pthread_cond_broadcast(&calls->answered);
	pthread_mutex_unlock(&calls->lock);
}
