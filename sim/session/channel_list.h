/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/channel_list.h - a session's listeners and channels, and what its owner
 * reports about them. Shared by channel.c, channel_list.c and the owners.
 *
 * Each listener and channel has a number by which this process and its owner
 * call it. What the owner reports of a number that is gone already is a close
 * that it hadn't read yet.
 *
 * Notifications come from the helper thread only, and with no lock held; who
 * frees a listener or a channel waits for the one that runs.
 */
#ifndef SIM_SESSION_CHANNEL_LIST_H
#define SIM_SESSION_CHANNEL_LIST_H

#include <pthread.h>
#include <stdatomic.h>

#include "channel.h"

struct notification {
	sim_channel_notify *notify; /* NULL = nobody is interested yet */
	void *arg;
	bool due;
};

struct queued_msg {
	struct sim_handshake_msg msg;
	struct queued_msg *next;
};

struct sim_channel {
	struct sim_channels *channels;
	uint64_t number;
	_Atomic int status;
	struct notification notification;
	struct sim_listener *offered_by; /* NULL = taken, or we are the client */
	struct queued_msg *unread;       /* oldest first; of an offered channel the connect message */
	struct queued_msg **unread_end;
	uint32_t num_unread;
	struct sim_channel *next;
};

struct sim_listener {
	struct sim_channels *channels;
	uint64_t number;
	struct notification notification;
	struct sim_listener *next;
};

struct sim_channels {
	struct sim_session *session;
	pthread_mutex_t lock; /* protects what follows, and what hangs on it */
	pthread_cond_t notification_done;
	struct sim_listener *listeners;
	struct sim_channel *channels, **channels_end; /* oldest first */
	const struct notification *running;           /* the notification under way */
	uint64_t next_number;
};

int sim_channels_create(struct sim_session *session, struct sim_channels **ret_channels);
void sim_channels_destroy(struct sim_channels *channels);

/* In a forked child: close the descriptors of handshake messages that the parent will take. */
void sim_channels_abandon(struct sim_channels *channels);

/* What the owner's messages say. Those with a handshake message return 0 or -errno; then
 * the handshake message and its descriptors stay the caller's, who tells the other end. */
int sim_channels_offered(struct sim_channels *channels, uint64_t listener, uint64_t number,
			 const struct sim_handshake_msg *connect_msg);
int sim_channels_accepted(struct sim_channels *channels, uint64_t number, const struct sim_handshake_msg *accept_msg);
int sim_channels_received(struct sim_channels *channels, uint64_t number, const struct sim_handshake_msg *handshake);
void sim_channels_closed(struct sim_channels *channels, uint64_t number, int reason);
void sim_channels_notified(struct sim_channels *channels, uint64_t number);
void sim_channels_lost(struct sim_channels *channels); /* the daemon is gone */

/* For channel.c, with the lock held: wait until the notification does not run, and take out of the lists. */
void sim_channels_wait_notification(struct sim_channels *channels, const struct notification *notification);
void sim_channels_unlist(struct sim_channels *channels, struct sim_channel *channel);
struct sim_channel *sim_channels_add(struct sim_channels *channels, uint64_t number);

/* Free a channel that is in no list. */
void sim_channel_free(struct sim_channel *channel);

/* The first handshake message that was not taken, if there is one. With the lock held. */
bool sim_channel_pop(struct sim_channel *channel, struct sim_handshake_msg *ret_handshake);

#endif
