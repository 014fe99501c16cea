/* SPDX-License-Identifier: BSD-3-Clause */
/* Which users may use the session: the daemon's own, root, and the members of a group that shares the session.
 *
 * The kernel vouches for the user at the other end of a socket. It shows users in the numbers of the daemon's user
 * namespace: a process that entered another namespace keeps its user here, and a user without a number here is the
 * overflow user (65534), which is refused. The daemon replies to the first request of a
 * process that it refuses, so that the process can say why, and then closes the connection. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/base/log.h"

#define MAX_REFUSED      16 /* connections that have not sent a request yet */
#define MAX_REFUSED_LOGS 20 /* lines of the log */

/* Whether one of the groups of the process at the other end is @group. */
static bool is_in_group(int sock, gid_t group)
{
	gid_t groups[NGROUPS_MAX]; /* 256 KiB: the daemon has one thread */
	socklen_t len = sizeof(groups);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERGROUPS, groups, &len) < 0)
		return false;
	for (size_t i = 0; i < len / sizeof(groups[0]); i++)
		if (groups[i] == group)
			return true;
	return false;
}

static void log_refused(struct daemon *daemon, const struct ucred *cred)
{
	if (daemon->num_refused_logs == MAX_REFUSED_LOGS)
		return;
	sim_warn(
		"process %d of user %u is refused, as this session is user %u's: run it as that user, or start the session with bfsim up --group GROUP%s",
		(int)cred->pid, (unsigned int)cred->uid, (unsigned int)geteuid(),
		++daemon->num_refused_logs == MAX_REFUSED_LOGS ? " (further ones are not logged)" : "");
}

static bool may_use(struct daemon *daemon, int sock, const struct ucred *cred)
{
	if (cred->uid == geteuid() || cred->uid == 0)
		return true;
	if (daemon->has_group && (cred->gid == daemon->group || is_in_group(sock, daemon->group)))
		return true;
	log_refused(daemon, cred);
	return false;
}

int daemon_check_user(struct daemon *daemon, int sock, struct ucred *ret_cred, bool *ret_is_refused)
{
	socklen_t len = sizeof(*ret_cred);
	bool is_refused;

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, ret_cred, &len) < 0)
		return -errno;
	is_refused = !may_use(daemon, sock, ret_cred);
	if (is_refused && daemon->num_refused == MAX_REFUSED)
		return -EUSERS;
	daemon->num_refused += is_refused;
	*ret_is_refused = is_refused;
	return 0;
}

void daemon_refuse_request(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	memset(&msg->body, 0, sizeof(msg->body));
	if (!msg->is_reply && sim_msg_size(msg->type, true) > 0)
		daemon_reply(daemon, conn, msg, -EACCES, -1);
	daemon_conn_lose(conn);
}
