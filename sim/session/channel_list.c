/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel_list.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/base/log.h"
#include "sim/protocol/wire.h"

int sim_channels_create(struct sim_session *session, struct sim_channels **ret_channels)
{
	struct sim_channels *channels = calloc(1, sizeof(*channels));

	if (!channels)
		return -ENOMEM;
	channels->session = session;
	channels->channels_end = &channels->channels;
	pthread_mutex_init(&channels->lock, NULL);
	pthread_cond_init(&channels->noted, NULL);
	*ret_channels = channels;
	return 0;
}

void sim_channels_destroy(struct sim_channels *channels)
{
	if (!channels)
		return;
	while (channels->channels) {
		struct sim_channel *first = channels->channels;

		channels->channels = first->next;
		sim_channel_free(first);
	}
	while (channels->listeners) {
		struct sim_listener *first = channels->listeners;

		channels->listeners = first->next;
		free(first);
	}
	pthread_cond_destroy(&channels->noted);
	pthread_mutex_destroy(&channels->lock);
	free(channels);
}

/* The thread that may have held the lock is not in the child: then the lists may
 * be half changed, and what their letters carry stays open until the child's end. */
void sim_channels_abandon(struct sim_channels *channels)
{
	if (pthread_mutex_trylock(&channels->lock) != 0)
		return;
	for (struct sim_channel *channel = channels->channels; channel; channel = channel->next)
		for (struct untaken *u = channel->letters; u; u = u->next)
			sim_letter_close(&u->letter);
	pthread_mutex_unlock(&channels->lock);
}

/* ---- a channel's letters ---- */

static int put_letter(struct sim_channel *channel, const struct sim_letter *letter)
{
	struct untaken *untaken;

	if (channel->num_letters == SIM_CHANNEL_MAX_UNTAKEN)
		return -ENOBUFS;
	untaken = calloc(1, sizeof(*untaken));
	if (!untaken)
		return -ENOMEM;
	untaken->letter = *letter;
	*channel->letters_end = untaken;
	channel->letters_end = &untaken->next;
	channel->num_letters++;
	return 0;
}

bool sim_channel_pop(struct sim_channel *channel, struct sim_letter *ret_letter)
{
	struct untaken *first = channel->letters;

	if (!first)
		return false;
	channel->letters = first->next;
	if (!channel->letters)
		channel->letters_end = &channel->letters;
	channel->num_letters--;
	*ret_letter = first->letter;
	free(first);
	return true;
}

void sim_channel_free(struct sim_channel *channel)
{
	struct sim_letter letter;

	while (sim_channel_pop(channel, &letter))
		sim_letter_close(&letter);
	free(channel);
}

/* ---- the lists; their lock is held ---- */

struct sim_channel *sim_channels_add(struct sim_channels *channels, uint64_t number)
{
	struct sim_channel *channel = calloc(1, sizeof(*channel));

	if (!channel)
		return NULL;
	channel->channels = channels;
	channel->number = number;
	channel->letters_end = &channel->letters;
	atomic_init(&channel->status, -EINPROGRESS);
	*channels->channels_end = channel;
	channels->channels_end = &channel->next;
	return channel;
}

void sim_channels_unlist(struct sim_channels *channels, struct sim_channel *channel)
{
	for (struct sim_channel **link = &channels->channels; *link; link = &(*link)->next) {
		if (*link == channel) {
			*link = channel->next;
			if (!*link)
				channels->channels_end = link;
			return;
		}
	}
}

static struct sim_channel *find_channel(const struct sim_channels *channels, uint64_t number)
{
	for (struct sim_channel *channel = channels->channels; channel; channel = channel->next)
		if (channel->number == number)
			return channel;
	return NULL;
}

static struct sim_listener *find_listener(const struct sim_channels *channels, uint64_t number)
{
	for (struct sim_listener *listener = channels->listeners; listener; listener = listener->next)
		if (listener->number == number)
			return listener;
	return NULL;
}

/* ---- notifications ---- */

void sim_channels_quiet(struct sim_channels *channels, const struct note *note)
{
	while (channels->running == note)
		pthread_cond_wait(&channels->noted, &channels->lock);
}

/* Lets go of the lock meanwhile: what is in the lists may be another then. */
static void run_note(struct sim_channels *channels, struct note *note)
{
	note->due = false;
	if (!note->notify)
		return;
	channels->running = note;
	pthread_mutex_unlock(&channels->lock);
	note->notify(note->arg);
	pthread_mutex_lock(&channels->lock);
	channels->running = NULL;
	pthread_cond_broadcast(&channels->noted);
}

/* ---- what the owner reports ---- */

int sim_channels_offered(struct sim_channels *channels, uint64_t number, uint64_t channel_number,
			 const struct sim_letter *hello)
{
	struct sim_listener *listener;
	struct sim_channel *channel = NULL;
	int rc = -ECONNREFUSED;

	pthread_mutex_lock(&channels->lock);
	listener = find_listener(channels, number);
	if (listener) {
		channel = sim_channels_add(channels, channel_number);
		rc = channel ? put_letter(channel, hello) : -ENOMEM;
	}
	if (rc == 0) {
		channel->offered_by = listener;
		run_note(channels, &listener->note);
	} else if (channel) {
		sim_channels_unlist(channels, channel);
		sim_channel_free(channel);
	}
	pthread_mutex_unlock(&channels->lock);
	return rc;
}

static bool is_alive(const struct sim_channel *channel)
{
	int status = atomic_load(&channel->status);

	return status == 0 || status == -EINPROGRESS;
}

/* The first reason stays. Whether this was it. */
static bool set_closed(struct sim_channel *channel, int reason)
{
	if (!is_alive(channel))
		return false;
	atomic_store(&channel->status, reason);
	return true;
}

static int deliver(struct sim_channels *channels, uint64_t number, bool accepts, const struct sim_letter *letter)
{
	struct sim_channel *channel;
	int rc = -ECONNRESET; /* we closed it, or gave it up */

	pthread_mutex_lock(&channels->lock);
	channel = find_channel(channels, number);
	if (channel && is_alive(channel)) {
		rc = put_letter(channel, letter);
		if (rc < 0)
			set_closed(channel, rc);
		else if (accepts && atomic_load(&channel->status) == -EINPROGRESS)
			atomic_store(&channel->status, 0);
		run_note(channels, &channel->note);
	}
	pthread_mutex_unlock(&channels->lock);
	if (rc == -ENOBUFS)
		sim_err("a connection is closed: %d letters of its other end were not taken", SIM_CHANNEL_MAX_UNTAKEN);
	return rc;
}

int sim_channels_accepted(struct sim_channels *channels, uint64_t number, const struct sim_letter *welcome)
{
	return deliver(channels, number, true, welcome);
}

int sim_channels_letter(struct sim_channels *channels, uint64_t number, const struct sim_letter *letter)
{
	return deliver(channels, number, false, letter);
}

void sim_channels_closed(struct sim_channels *channels, uint64_t number, int reason)
{
	struct sim_channel *channel;

	pthread_mutex_lock(&channels->lock);
	channel = find_channel(channels, number);
	if (channel && channel->offered_by) { /* a client that no longer waits: nobody has heard of it */
		sim_channels_unlist(channels, channel);
		sim_channel_free(channel);
	} else if (channel && set_closed(channel, reason)) {
		run_note(channels, &channel->note);
	}
	pthread_mutex_unlock(&channels->lock);
}

void sim_channels_knocked(struct sim_channels *channels, uint64_t number)
{
	struct sim_channel *channel;

	pthread_mutex_lock(&channels->lock);
	channel = find_channel(channels, number);
	if (channel)
		run_note(channels, &channel->note);
	pthread_mutex_unlock(&channels->lock);
}

void sim_channels_lost(struct sim_channels *channels)
{
	struct sim_channel *channel;

	pthread_mutex_lock(&channels->lock);
	for (channel = channels->channels; channel; channel = channel->next)
		channel->note.due = set_closed(channel, -ESHUTDOWN);
	do {
		channel = channels->channels;
		while (channel && !channel->note.due)
			channel = channel->next;
		if (channel)
			run_note(channels, &channel->note);
	} while (channel);
	pthread_mutex_unlock(&channels->lock);
}
