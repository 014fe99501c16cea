/* SPDX-License-Identifier: BSD-3-Clause */
/* The gateway as a peer of this machine's daemon: the exporter of all far keys. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gateway.h"
#include "sim/base/log.h"
#include "sim/protocol/session_dir.h"
#include "sim/protocol/wire.h"

#define SEND_TIMEOUT_MS 2000

/* A daemon that does not read for that long is stopped, and so is the machine's session. */
int daemon_link_send(struct gateway *gateway, struct sim_msg *msg, int fd)
{
	struct pollfd writable = { .fd = gateway->daemon_sock, .events = POLLOUT };
	int rc;

	if (gateway->stop) /* the daemon does not read: waiting again would take the time for goodbyes */
		return -ESHUTDOWN;
	rc = sim_msg_send(gateway->daemon_sock, msg, fd);

	if (rc == -EAGAIN && poll(&writable, 1, SEND_TIMEOUT_MS) == 1)
		rc = sim_msg_send(gateway->daemon_sock, msg, fd);
	if (rc < 0)
		sim_err("the daemon of this machine does not take the gateway's messages: %s", strerror(-rc));
	gateway->stop |= rc < 0;
	return rc;
}

static int attach(struct gateway *gateway)
{
	struct sim_msg msg = { .type = SIM_MSG_ATTACH, .body.attach = { .pid = getpid() } };
	int fd = -1, rc;

	strcpy(msg.body.attach.side, "gateway");
	strcpy(msg.body.attach.program, "bfsim-gateway");
	rc = sim_msg_send(gateway->daemon_sock, &msg, -1);
	if (rc == 0)
		rc = sim_msg_recv(gateway->daemon_sock, &msg, &fd);
	if (fd >= 0)
		close(fd);
	if (rc < 0)
		return rc;
	return msg.type == SIM_MSG_ATTACH && msg.is_reply ? msg.status : -EPROTO;
}

int daemon_link_open(struct gateway *gateway)
{
	int dir_fd = sim_session_dir_open(gateway->cfg.dir, false), rc;

	if (dir_fd < 0)
		return dir_fd;
	gateway->daemon_sock = sim_session_dir_connect(dir_fd);
	close(dir_fd);
	if (gateway->daemon_sock < 0)
		return gateway->daemon_sock;
	rc = attach(gateway);
	if (rc == 0)
		fcntl(gateway->daemon_sock, F_SETFL, O_NONBLOCK);
	return rc;
}

void daemon_link_close(struct gateway *gateway)
{
	if (gateway->daemon_sock >= 0)
		close(gateway->daemon_sock);
	gateway->daemon_sock = -1;
}

/* ---- what the gateway says ---- */

void daemon_link_imported(struct gateway *gateway, uint64_t seq, int status, const struct gateway_imported *imported,
			  const char *machine, int fd)
{
	struct sim_msg msg = { .type = SIM_MSG_FAR_IMPORT, .is_reply = 1, .seq = seq, .status = status };

	if (status == 0) {
		msg.body.imported.region = imported->region;
		msg.body.imported.region.cpu_addr = imported->region.addr;
		if (!(imported->region.access & SIM_ACCESS_INBOX))
			msg.body.imported.region.access |= SIM_ACCESS_FAR;
		msg.body.imported.has_object = fd >= 0;
		sim_dbg("memory of %s on %s is imported", imported->program, machine);
	}
	daemon_link_send(gateway, &msg, fd);
}

void daemon_link_revoke(struct gateway *gateway, uint64_t key)
{
	struct sim_msg msg = { .type = SIM_MSG_REVOKE, .seq = ++gateway->daemon_seq, .body.key.id = key };

	daemon_link_send(gateway, &msg, -1);
}

void daemon_link_report(struct gateway *gateway)
{
	struct sim_msg msg = { .type = SIM_MSG_GATEWAY,
			       .body.gateway = { .is_ready = gateway->is_ready,
						 .port = gateway->listener ? rail_port(gateway->listener) : 0 } };
	char *text = gateway_status(gateway);
	int fd = text ? memfd_create("bfsim-machines", MFD_CLOEXEC) : -1;

	if (fd >= 0 && write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		close(fd);
		fd = -1;
	}
	daemon_link_send(gateway, &msg, fd);
	if (fd >= 0)
		close(fd);
	free(text);
	gateway->is_status_old = false;
}

void daemon_link_shut_down(struct gateway *gateway)
{
	struct sim_msg msg = { .type = SIM_MSG_SHUTDOWN };

	daemon_link_send(gateway, &msg, -1);
}
