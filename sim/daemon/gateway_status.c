/* SPDX-License-Identifier: BSD-3-Clause */
/* What the gateway says of itself: that it is there, its port, and its status for `bfsim ps`. */
#include <stdlib.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/base/log.h"

#define MAX_STATUS_BYTES (1u << 20)

static char *read_text(int fd)
{
	off_t len = lseek(fd, 0, SEEK_END);
	char *text = len > 0 && len <= MAX_STATUS_BYTES ? calloc(1, (size_t)len + 1) : NULL;

	if (text && pread(fd, text, (size_t)len, 0) != len) {
		free(text);
		return NULL;
	}
	return text;
}

void daemon_handle_gateway(struct daemon *daemon, struct conn *conn, const struct sim_msg *msg, struct sim_fds *fds)
{
	const bool is_new = !daemon->gateway.conn;
	char *text;

	if (!conn->is_gateway || (daemon->gateway.conn && daemon->gateway.conn != conn)) {
		sim_warn("process %d says that it is the session's gateway, and is not; its connection is closed",
			 (int)conn->pid);
		daemon_conn_lose(conn);
		return;
	}
	daemon->gateway.conn = conn;
	sim_services_set_gateway(daemon->services, conn->peer, daemon->machine);
	daemon->gateway.is_ready |= msg->body.gateway.is_ready == 1;
	daemon_gateway_heard(daemon);
	if (is_new) {
		daemon_tell_slow_links(daemon);
		daemon_tell_outages(daemon);
		daemon_inject_late_links(daemon);
	}
	if (msg->body.gateway.port > 0 && msg->body.gateway.port <= UINT16_MAX)
		daemon->gateway.port = msg->body.gateway.port;
	text = fds->count > 0 ? read_text(fds->fd[0]) : NULL;
	if (text) {
		free(daemon->gateway.status);
		daemon->gateway.status = text;
	}
}
