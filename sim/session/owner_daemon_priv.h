/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/owner_daemon_priv.h - shared by the files of the owner that is a daemon.
 *
 *   owner_daemon.c           attaches, and asks for exports and imports
 *   owner_receive.c          the receive thread: replies, requests of the daemon, peers that this process serves
 *   owner_daemon_channels.c  services and channels, in both directions
 *   owner_call.c             requests and replies, below the others
 */
#ifndef SIM_SESSION_OWNER_DAEMON_PRIV_H
#define SIM_SESSION_OWNER_DAEMON_PRIV_H

#include <sys/queue.h>

#include "owner.h"
#include "owner_call.h"

/* A revocation that is confirmed once the running copies of the key have ended. */
struct revoke_reply {
	struct sim_msg msg;
	STAILQ_ENTRY(revoke_reply) link;
};

struct daemon_owner {
	struct sim_owner base;
	struct sim_owner_env env;
	struct sim_calls calls;
	int sock, stop_fd, epoll_fd;
	pthread_t receiver;
	bool attached, receiver_runs;
	STAILQ_HEAD(, revoke_reply) revoke_replies; /* used by the receive thread only */
};

static inline struct daemon_owner *to_daemon_owner(struct sim_owner *owner)
{
	return (struct daemon_owner *)owner;
}

/* owner_receive.c. The stop does nothing if the thread does not run. */
int daemon_owner_start_receiver(struct daemon_owner *self);
void daemon_owner_stop_receiver(struct daemon_owner *self);

/* owner_daemon_channels.c: the daemon's messages about channels. */
extern const struct sim_owner_channel_ops daemon_owner_channel_ops;
void daemon_owner_handle_channel_msg(struct daemon_owner *self, const struct sim_msg *msg, struct sim_fds *fds);

#endif
