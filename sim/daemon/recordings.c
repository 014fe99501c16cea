/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptors of recordings: kept for running processes and for the last ended ones.
 *
 * The daemon keeps the recordings of MAX_ENDED_RECORDINGS ended processes, or fewer when descriptors
 * run out. It never reads a recording. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon_priv.h"

#define MAX_ENDED_RECORDINGS 128

/* The recording with that number, or the first one after it. */
static struct recording *find_recording(const struct daemon *daemon, uint64_t number)
{
	struct recording *recording;

	TAILQ_FOREACH(recording, &daemon->recordings, entry)
		if (recording->number >= number)
			return recording;
	return NULL;
}

static void remove_recording(struct daemon *daemon, struct recording *recording)
{
	TAILQ_REMOVE(&daemon->recordings, recording, entry);
	close(recording->fd);
	free(recording);
}

bool daemon_drop_oldest_recording(struct daemon *daemon)
{
	struct recording *recording;

	TAILQ_FOREACH(recording, &daemon->recordings, entry)
		if (!recording->is_alive)
			break;
	if (!recording)
		return false;
	remove_recording(daemon, recording);
	daemon->num_ended_recordings--;
	daemon->num_dropped_recordings++;
	return true;
}

int daemon_lower_fd(struct daemon *daemon, int fd)
{
	int lower;

	if (daemon_may_keep_fd(daemon, fd) || !daemon_drop_oldest_recording(daemon))
		return fd;
	lower = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (lower < 0)
		return fd;
	close(fd);
	return lower;
}

void daemon_add_recording(struct daemon *daemon, struct conn *conn, struct sim_fds *fds)
{
	struct recording *recording;

	if (conn->recording != 0 || fds->count == 0)
		return;
	fds->fd[0] = daemon_lower_fd(daemon, fds->fd[0]);
	if (!daemon_may_keep_fd(daemon, fds->fd[0]))
		return;
	recording = calloc(1, sizeof(*recording));
	if (!recording)
		return;
	*recording = (struct recording){ .number = ++daemon->num_recordings,
					 .fd = fds->fd[0],
					 .is_alive = true,
					 .process_info = *sim_card_peer(daemon->card, conn->peer) };
	fds->fd[0] = -1;
	conn->recording = recording->number;
	TAILQ_INSERT_TAIL(&daemon->recordings, recording, entry);
}

void daemon_end_recording(struct daemon *daemon, struct conn *conn)
{
	if (conn->recording == 0)
		return;
	find_recording(daemon, conn->recording)->is_alive = false;
	conn->recording = 0;
	if (++daemon->num_ended_recordings > MAX_ENDED_RECORDINGS)
		daemon_drop_oldest_recording(daemon);
}

void daemon_reply_recording(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	const struct recording *found = find_recording(daemon, msg->body.recording.number);

	memset(&msg->body, 0, sizeof(msg->body));
	msg->body.recorded.zero_ns = daemon->zero_ns;
	msg->body.recorded.num_dropped = daemon->num_dropped_recordings;
	if (found) {
		msg->body.recorded.number = found->number;
		msg->body.recorded.pid = found->process_info.pid;
		msg->body.recorded.is_alive = found->is_alive;
		memcpy(msg->body.recorded.side, found->process_info.side, sizeof(found->process_info.side));
		memcpy(msg->body.recorded.program, found->process_info.program, sizeof(found->process_info.program));
	}
	daemon_reply(daemon, conn, msg, found ? 0 : -ENOENT, found ? found->fd : -1);
}

void daemon_drop_recordings(struct daemon *daemon)
{
	struct conn *conn;

	TAILQ_FOREACH(conn, &daemon->conns, entry)
		conn->recording = 0;
	while (!TAILQ_EMPTY(&daemon->recordings))
		remove_recording(daemon, TAILQ_FIRST(&daemon->recordings));
}
