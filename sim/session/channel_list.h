/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/channel_list.h - a session's listeners and channels, and what its owner
 * reports about them. Shared by channel.c, channels.c and the owners.
 *
 * Each listener and channel has a number by which this process and its owner
 * call it. What the owner reports of a number that is gone already is a close
 * that it hadn't read yet.
 *
 * Notifications come from the helper thread only, and with no lock held; who
 * frees a listener or a channel waits for the one that runs.
 */
#ifndef SIM_SESSION_CHANNELS_H
#define SIM_SESSION_CHANNELS_H

#include <pthread.h>
#include <stdatomic.h>

#include "channel.h"

struct note {
	sim_channel_notify *notify; /* NULL = nobody is interested yet */
	void *arg;
	bool due;
};

struct untaken {
	struct sim_letter letter;
	struct untaken *next;
};

struct sim_channel {
	struct sim_channels *channels;
	uint64_t number;
	_Atomic int status;
	struct note note;
	struct sim_listener *offered_by; /* NULL = taken, or we are the client */
	struct untaken *letters;         /* oldest first; of an offered channel the hello */
	struct untaken **letters_end;
	uint32_t num_letters;
	struct sim_channel *next;
};

struct sim_listener {
	struct sim_channels *channels;
	uint64_t number;
	struct note note;
	struct sim_listener *next;
};

struct sim_channels {
	struct sim_session *session;
	pthread_mutex_t lock; /* protects what follows, and what hangs on it */
	pthread_cond_t noted;
	struct sim_listener *listeners;
	struct sim_channel *channels, **channels_end; /* oldest first */
	const struct note *running;                   /* the notification under way */
	uint64_t next_number;
};

int sim_channels_create(struct sim_session *session, struct sim_channels **ret_channels);
void sim_channels_destroy(struct sim_channels *channels);

/* In a forked child: close the descriptors of letters that the parent will take. */
void sim_channels_abandon(struct sim_channels *channels);

/* What the owner's messages say. Those with a letter return 0 or -errno; then
 * the letter and its descriptors stay the caller's, who tells the other end. */
int sim_channels_offered(struct sim_channels *channels, uint64_t listener, uint64_t number,
			 const struct sim_letter *hello);
int sim_channels_accepted(struct sim_channels *channels, uint64_t number, const struct sim_letter *welcome);
int sim_channels_letter(struct sim_channels *channels, uint64_t number, const struct sim_letter *letter);
void sim_channels_closed(struct sim_channels *channels, uint64_t number, int reason);
void sim_channels_knocked(struct sim_channels *channels, uint64_t number);
void sim_channels_lost(struct sim_channels *channels); /* the daemon is gone */

/* For channel.c, with the lock held: wait until the notification does not run, and take out of the lists. */
void sim_channels_quiet(struct sim_channels *channels, const struct note *note);
void sim_channels_unlist(struct sim_channels *channels, struct sim_channel *channel);
struct sim_channel *sim_channels_add(struct sim_channels *channels, uint64_t number);

/* Free a channel that is in no list. */
void sim_channel_free(struct sim_channel *channel);

/* The first letter that was not taken, if there is one. With the lock held. */
bool sim_channel_pop(struct sim_channel *channel, struct sim_letter *ret_letter);

#endif
