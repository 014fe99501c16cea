/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies to imports of memory. */
#include <errno.h>
#include <string.h>

#include "daemon_priv.h"

/* A pidfd is passed on to processes of the same user only. */
static int shared_pidfd(struct daemon *daemon, const struct conn *importer, uint32_t exporter)
{
	const struct conn *conn = daemon_find_conn(daemon, exporter);

	return conn && conn->uid == importer->uid ? conn->pidfd : -1;
}

void daemon_reply_import(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, const struct sim_key *key,
			 uint32_t function)
{
	const struct sim_region *region;
	struct sim_card_memory memory;
	uint32_t num_fds = 0;
	int object_fd = -1, pidfd = -1, fds[2];
	int rc = sim_card_import(daemon->card, conn->peer, key, function, &region, &memory);

	memset(&msg->body, 0, sizeof(msg->body));
	if (rc == 0 || rc == -EXDEV || rc == -EPERM)
		msg->body.imported.region.function = region->function; /* for the importer's log */
	if (rc == 0) {
		msg->body.imported.region = *region;
		msg->body.imported.exporter = *sim_card_peer(daemon->card, memory.exporter);
		object_fd = daemon_shared_object_fd(daemon, memory.key);
		pidfd = shared_pidfd(daemon, conn, memory.exporter);
	}
	if (object_fd >= 0)
		fds[num_fds++] = object_fd;
	if (pidfd >= 0)
		fds[num_fds++] = pidfd;
	msg->body.imported.has_object = object_fd >= 0;
	msg->body.imported.has_process = pidfd >= 0;
	daemon_reply_fds(daemon, conn, msg, rc, fds, num_fds);
}
