/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to the session's daemon: send, wait for the reply, time out. */
#include "owner_call.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "sim/base/queue.h"
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
	sim_call_done *on_done; /* NULL = a thread waits */
	void *arg;
	LIST_ENTRY(sim_pending_call) entry;
};

void sim_calls_init(struct sim_calls *calls, int sock)
{
	pthread_condattr_t monotonic;

	*calls = (struct sim_calls){ .sock = sock };
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

static int wait_for_reply(struct sim_calls *calls, struct sim_pending_call *call)
{
	const struct timespec until = sim_timespec_from_ns(sim_monotonic_ns() + timeout_s(call) * SIM_NS_PER_S);
	bool marked = sim_clock_begin_wait();

	while (!call->done && !calls->lost)
		if (pthread_cond_timedwait(&calls->answered, &calls->lock, &until) == ETIMEDOUT)
			break;
	sim_clock_end_wait(marked);
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
	if (rc == 0)
		LIST_INSERT_HEAD(&calls->pending, call, entry);
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

int sim_calls_call(struct sim_calls *calls, struct sim_msg *msg, const int *fds, uint32_t num_fds,
		   struct sim_fds *ret_fds)
{
	struct sim_pending_call call = { .type = msg->type };
	int rc = add_call(calls, &call, msg);

	if (rc < 0)
		return rc;
	rc = sim_calls_send(calls, msg, fds, num_fds);

	pthread_mutex_lock(&calls->lock);
	if (rc == 0)
		rc = wait_for_reply(calls, &call);
	LIST_REMOVE(&call, entry);
	pthread_mutex_unlock(&calls->lock);
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
		call->done = true;
		pthread_cond_broadcast(&calls->answered);
	}
	pthread_mutex_unlock(&calls->lock);
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
