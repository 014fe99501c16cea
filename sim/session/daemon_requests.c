/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/log.h"

static void reply(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int status, int fd)
{
	msg->is_reply = 1;
	msg->status = status;
	daemon_send(daemon, conn, msg, fd);
}

/* Text from a peer ends somewhere. */
#define END_TEXT(text) ((text)[sizeof(text) - 1] = '\0')

static void take_attach(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	struct sim_peer_info info = msg->body.attach;
	int rc;

	END_TEXT(info.side);
	END_TEXT(info.program);
	rc = conn->attached ? -EALREADY : sim_card_attach(daemon->card, &info, &conn->peer);
	if (rc == 0)
		conn->attached = true;
	memset(&msg->body, 0, sizeof(msg->body));
	memcpy(msg->body.attached.session, daemon->session, sizeof(daemon->session));
	reply(daemon, conn, msg, rc, -1);
}

static void take_export(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int fd)
{
	struct sim_region region = msg->body.export;
	struct sim_key key = {0};
	int rc = getrandom(key.secret, sizeof(key.secret), 0) == sizeof(key.secret) ? 0 : -EIO;

	if (rc == 0)
		rc = sim_card_export(daemon->card, conn->peer, &region, key.secret, &key.id);
	if (fd >= 0 && rc == 0)
		daemon_keep_object(daemon, key.id, conn->peer, fd);
	else if (fd >= 0)
		close(fd);
	memset(&msg->body, 0, sizeof(msg->body));
	msg->body.exported = key;
	reply(daemon, conn, msg, rc, -1);
}

static void take_import(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	const struct sim_region *region;
	struct sim_key key = msg->body.import.key;
	uint32_t function = msg->body.import.function, exporter;
	int fd = -1;
	int rc = sim_card_import(daemon->card, conn->peer, &key, function, &region, &exporter);

	memset(&msg->body, 0, sizeof(msg->body));
	if (rc == 0) {
		msg->body.imported.region = *region;
		msg->body.imported.exporter = *sim_card_peer(daemon->card, exporter);
		fd = daemon_object_fd(daemon, key.id);
	}
	reply(daemon, conn, msg, rc, fd);
}

/* Pass a DESCRIBE on to the exporter of the key. */
static void take_describe(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	struct question *question;
	uint32_t exporter = 0;
	int rc = sim_card_exporter_of(daemon->card, conn->peer, msg->body.describe.id, &exporter);
	struct conn *to = rc == 0 ? daemon_conn_of(daemon, exporter) : NULL;

	question = to ? calloc(1, sizeof(*question)) : NULL;
	if (!question) {
		memset(&msg->body, 0, sizeof(msg->body));
		reply(daemon, conn, msg, to ? -ENOMEM : -ESTALE, -1);
		return;
	}
	*question = (struct question){.seq = ++daemon->next_seq, .importer = conn, .exporter = to,
				      .importer_seq = msg->seq, .next = daemon->questions};
	daemon->questions = question;
	msg->seq = question->seq;
	daemon_send(daemon, to, msg, -1);
}

static void answer(struct daemon *daemon, struct question **link, struct sim_msg *msg)
{
	struct question *question = *link;

	*link = question->next;
	msg->seq = question->importer_seq;
	daemon_send(daemon, question->importer, msg, -1);
	free(question);
}

static void take_described(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	for (struct question **link = &daemon->questions; *link; link = &(*link)->next) {
		if ((*link)->seq == msg->seq && (*link)->exporter == conn) {
			answer(daemon, link, msg);
			return;
		}
	}
}

static void take_nudge(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	uint32_t exporter;
	struct conn *to = NULL;

	if (sim_card_exporter_of(daemon->card, conn->peer, msg->body.key.id, &exporter) == 0)
		to = daemon_conn_of(daemon, exporter);
	if (to)
		daemon_send(daemon, to, msg, -1);
}

static void take_status(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	int fd = daemon_status_fd(daemon);

	reply(daemon, conn, msg, fd < 0 ? fd : 0, fd);
	if (fd >= 0)
		close(fd);
}

/* What an attached process may ask. */
static void take_attached(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int fd)
{
	switch (msg->type) {
	case SIM_MSG_EXPORT:
		take_export(daemon, conn, msg, fd);
		return; /* took the descriptor */
	case SIM_MSG_REVOKE:
		daemon_revoke(daemon, conn, msg);
		break;
	case SIM_MSG_IMPORT:
		take_import(daemon, conn, msg);
		break;
	case SIM_MSG_UNIMPORT:
		sim_card_unimport(daemon->card, conn->peer, msg->body.key.id);
		break;
	case SIM_MSG_PATH:
		END_TEXT(msg->body.path.name);
		END_TEXT(msg->body.path.reason);
		sim_card_set_path(daemon->card, conn->peer, msg->body.path.id, msg->body.path.name,
				  msg->body.path.reason);
		break;
	case SIM_MSG_DESCRIBE:
		take_describe(daemon, conn, msg);
		break;
	case SIM_MSG_NUDGE:
		take_nudge(daemon, conn, msg);
		break;
	default:
		sim_warn("process %d sent a request that a daemon does not take (%u); its connection is closed",
			 sim_card_peer(daemon->card, conn->peer)->pid, msg->type);
		conn->dead = true;
	}
	if (fd >= 0)
		close(fd);
}

static void take_reply(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	if (msg->type == SIM_MSG_DESCRIBE)
		take_described(daemon, conn, msg);
	else if (msg->type == SIM_MSG_GONE)
		daemon_let_go(daemon, conn, msg->seq);
}

void daemon_take(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int fd)
{
	if (!msg->is_reply && conn->attached && msg->type != SIM_MSG_ATTACH && msg->type != SIM_MSG_STATUS &&
	    msg->type != SIM_MSG_SHUTDOWN) {
		take_attached(daemon, conn, msg, fd);
		return;
	}
	if (fd >= 0)
		close(fd);
	if (msg->is_reply) {
		if (conn->attached)
			take_reply(daemon, conn, msg);
	} else if (msg->type == SIM_MSG_ATTACH) {
		take_attach(daemon, conn, msg);
	} else if (msg->type == SIM_MSG_STATUS) {
		take_status(daemon, conn, msg);
	} else if (msg->type == SIM_MSG_SHUTDOWN) {
		reply(daemon, conn, msg, 0, -1);
		daemon->stop = true;
	} else {
		conn->dead = true; /* asks before it has said who it is */
	}
}

void daemon_detach(struct daemon *daemon, struct conn *conn)
{
	struct question **link = &daemon->questions;
	struct sim_msg msg;

	if (!conn->attached)
		return;
	conn->attached = false;
	daemon_revoke_all_of(daemon, conn);
	daemon_forget_in_revocations(daemon, conn);
	while (*link) {
		if ((*link)->importer == conn) {
			struct question *question = *link;

			*link = question->next;
			free(question);
		} else if ((*link)->exporter == conn) {
			msg = (struct sim_msg){.type = SIM_MSG_DESCRIBE, .is_reply = 1, .status = -ESTALE};
			answer(daemon, link, &msg);
		} else {
			link = &(*link)->next;
		}
	}
}
