/* SPDX-License-Identifier: BSD-3-Clause */
/* Recordings are kept as long as their processes live, and of the processes that
 * have gone, the last MAX_PAST, or fewer when descriptors run out. The daemon never
 * looks into one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon_priv.h"

#define MAX_PAST 128

static struct recording **find(struct daemon *daemon, uint64_t number)
{
	struct recording **link = &daemon->recordings;

	while (*link && (*link)->number < number)
		link = &(*link)->next;
	return link;
}

static void drop(struct recording **link)
{
	struct recording *recording = *link;

	*link = recording->next;
	close(recording->fd);
	free(recording);
}

void daemon_take_recording(struct daemon *daemon, struct conn *conn, struct sim_fds *fds)
{
	struct recording *recording = conn->recording == 0 && fds->count > 0 ? calloc(1, sizeof(*recording)) : NULL;

	if (!recording)
		return;
	*recording = (struct recording){.number = ++daemon->num_recordings, .fd = fds->fd[0], .is_alive = true,
					.who = *sim_card_peer(daemon->card, conn->peer)};
	fds->fd[0] = -1;
	conn->recording = recording->number;
	*find(daemon, UINT64_MAX) = recording;
}

bool daemon_drop_oldest_recording(struct daemon *daemon)
{
	struct recording **link = &daemon->recordings;

	while (*link && (*link)->is_alive)
		link = &(*link)->next;
	if (!*link)
		return false;
	drop(link);
	daemon->num_past_recordings--;
	daemon->num_dropped_recordings++;
	return true;
}

void daemon_end_recording(struct daemon *daemon, struct conn *conn)
{
	if (conn->recording == 0)
		return;
	(*find(daemon, conn->recording))->is_alive = false;
	conn->recording = 0;
	if (++daemon->num_past_recordings > MAX_PAST)
		daemon_drop_oldest_recording(daemon);
}

void daemon_answer_recording(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	const struct recording *found = *find(daemon, msg->body.recording.number);

	memset(&msg->body, 0, sizeof(msg->body));
	msg->body.recorded.zero_ns = daemon->zero_ns;
	msg->body.recorded.num_dropped = daemon->num_dropped_recordings;
	if (found) {
		msg->body.recorded.number = found->number;
		msg->body.recorded.pid = found->who.pid;
		msg->body.recorded.is_alive = found->is_alive;
		memcpy(msg->body.recorded.side, found->who.side, sizeof(found->who.side));
		memcpy(msg->body.recorded.program, found->who.program, sizeof(found->who.program));
	}
	daemon_reply(daemon, conn, msg, found ? 0 : -ENOENT, found ? found->fd : -1);
}

void daemon_drop_recordings(struct daemon *daemon)
{
	for (struct conn *conn = daemon->conns; conn; conn = conn->next)
		conn->recording = 0;
	while (daemon->recordings)
		drop(&daemon->recordings);
}
