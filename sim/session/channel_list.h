/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/channel_list.h - the listeners and channels of a session, and the reports of its owner about them.
 * Shared by channel.c, channel_list.c and the owners.
 *
 * This process and its owner identify each listener and channel by a number. A report for an unknown number is
 * about a channel that this process closed before the owner read the close.
 *
 * Notifications run in the helper thread only, with no lock held. The thread that frees a listener or a channel
 * waits for a notification that runs.
 */
#ifndef SIM_SESSION_CHANNEL_LIST_H
#define SIM_SESSION_CHANNEL_LIST_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "channel.h"

struct notification {
	sim_channel_notify *notify; /* NULL = not set yet */
	void *arg;
	bool due;
};

struct queued_msg {
	struct sim_handshake_msg msg;
	STAILQ_ENTRY(queued_msg) entry;
};

struct sim_channel {
	struct sim_channels *channels;
	uint64_t number;
	_Atomic int status;
	uint32_t elsewhere; /* as of the daemon's CLOSE; written before @status */
	struct notification notification;
	struct sim_listener *offered_by;  /* NULL = taken, or a channel of the client side */
	STAILQ_HEAD(, queued_msg) unread; /* oldest first; an offered channel holds its connect message here */
	uint32_t num_unread;
	TAILQ_ENTRY(sim_channel) entry;
};

struct sim_listener {
	struct sim_channels *channels;
	uint64_t number;
	_Atomic int status; /* of sim_listener_status() */
	struct notification notification;
	LIST_ENTRY(sim_listener) entry;
};

struct sim_channels {
	struct sim_session *session;
	pthread_mutex_t lock; /* protects the members below and the listed objects */
	pthread_cond_t notification_done;
	LIST_HEAD(, sim_listener) listeners;
	TAILQ_HEAD(, sim_channel) channels; /* oldest first */
	const struct notification *running; /* the notification that runs now */
	uint64_t next_number;
};

int sim_channels_create(struct sim_session *session, struct sim_channels **ret_channels);
void sim_channels_destroy(struct sim_channels *channels);

/* In a forked child: close the descriptors of handshake messages that the parent will take. */
void sim_channels_abandon(struct sim_channels *channels);

/* One function for each message of the owner. Those with a handshake message return 0 or -errno. On failure the caller
 * keeps the handshake message and its descriptors, and informs the other end. */
int sim_channels_offered(struct sim_channels *channels, uint64_t listener, uint64_t number,
			 const struct sim_handshake_msg *connect_msg);
int sim_channels_accepted(struct sim_channels *channels, uint64_t number, const struct sim_handshake_msg *accept_msg);
int sim_channels_received(struct sim_channels *channels, uint64_t number, const struct sim_handshake_msg *handshake);
void sim_channels_closed(struct sim_channels *channels, uint64_t number, int reason, uint32_t elsewhere);
void sim_channels_notified(struct sim_channels *channels, uint64_t number);
void sim_channels_lost(struct sim_channels *channels); /* the daemon was lost */

/* For channel.c, with the lock held: wait for the notification to end; take a channel out of the list; add one. */
void sim_channels_wait_notification(struct sim_channels *channels, const struct notification *notification);
void sim_channels_unlist(struct sim_channels *channels, struct sim_channel *channel);
struct sim_channel *sim_channels_add(struct sim_channels *channels, uint64_t number);

/* Free a channel that is in no list. */
void sim_channel_free(struct sim_channel *channel);

/* Take the oldest untaken handshake message, if there is one. Call with the lock held. */
bool sim_channel_pop(struct sim_channel *channel, struct sim_handshake_msg *ret_handshake);

#endif
