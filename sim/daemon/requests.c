/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/base/log.h"

#define ANSWER_PATIENCE_MS 10000 /* the first answer takes as long as loading libfabric; less than what the importer waits */
#define MAX_QUESTIONS 64        /* of one importer at once: as many threads may ask */

void daemon_reply(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int status, int fd)
{
	msg->is_reply = 1;
	msg->status = status;
	daemon_send(daemon, conn, msg, fd);
}

static void take_attach(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	struct sim_peer_info info = msg->body.attach;
	int rc;

	END_TEXT(info.side);
	END_TEXT(info.program);
	END_TEXT(info.shm_prefix);
	rc = conn->attached ? -EALREADY : sim_card_attach(daemon->card, &info, &conn->peer);
	if (rc == 0) {
		daemon_watch_process(daemon, conn);
		daemon_meet_process(daemon, conn);
	}
	memset(&msg->body, 0, sizeof(msg->body));
	memcpy(msg->body.attached.session, daemon->session, sizeof(daemon->session));
	msg->body.attached.trace_level = daemon->trace_level;
	daemon_reply(daemon, conn, msg, rc, rc == 0 ? daemon->board_fd : -1);
}

static void take_export(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	struct sim_region region = msg->body.export;
	struct sim_key key = {0};
	int rc = getrandom(key.secret, sizeof(key.secret), 0) == sizeof(key.secret) ? 0 : -EIO;

	if (rc == 0)
		rc = sim_card_export(daemon->card, conn->peer, &region, key.secret, &key.id);
	if (fds->count > 0 && rc == 0) {
		daemon_keep_object(daemon, key.id, conn->peer, fds->fd[0]);
		fds->fd[0] = -1;
	}
	memset(&msg->body, 0, sizeof(msg->body));
	msg->body.exported = key;
	daemon_reply(daemon, conn, msg, rc, -1);
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
	daemon_reply(daemon, conn, msg, rc, fd);
}

/* ---- an importer asks how to reach memory through libfabric: only its exporter knows,
 * which may be stopped, may lie, or may never answer. So each question ends by itself. ---- */

static void refuse_question(struct daemon *daemon, struct conn *importer, struct sim_msg *msg, int status)
{
	memset(&msg->body, 0, sizeof(msg->body));
	daemon_reply(daemon, importer, msg, status, -1);
}

static void take_question(struct daemon *daemon, struct conn *importer, struct sim_msg *msg)
{
	struct question *question;
	struct conn *exporter;
	uint32_t peer = 0;
	int rc = sim_card_exporter_of(daemon->card, importer->peer, msg->body.describe.id, &peer);

	exporter = rc == 0 ? daemon_conn_of(daemon, peer) : NULL;
	if (!exporter || importer->num_questions == MAX_QUESTIONS) {
		refuse_question(daemon, importer, msg, exporter ? -EBUSY : -ESTALE);
		return;
	}
	question = calloc(1, sizeof(*question));
	if (!question) {
		refuse_question(daemon, importer, msg, -ENOMEM);
		return;
	}
	*question = (struct question){.seq = ++daemon->next_seq, .importer = importer, .exporter = exporter,
				      .importer_seq = msg->seq, .deadline_ms = daemon_now_ms() + ANSWER_PATIENCE_MS,
				      .next = daemon->questions};
	daemon->questions = question;
	importer->num_questions++;
	msg->seq = question->seq;
	daemon_send(daemon, exporter, msg, -1);
}

static void drop(struct question **link)
{
	struct question *question = *link;

	*link = question->next;
	question->importer->num_questions--;
	free(question);
}

static void answer(struct daemon *daemon, struct question **link, struct sim_msg *msg)
{
	struct conn *importer = (*link)->importer;

	msg->seq = (*link)->importer_seq;
	drop(link);
	daemon_send(daemon, importer, msg, -1);
}

static void answer_status(struct daemon *daemon, struct question **link, int status)
{
	struct sim_msg msg = {.type = SIM_MSG_DESCRIBE, .is_reply = 1, .status = status};

	answer(daemon, link, &msg);
}

static void take_answer(struct daemon *daemon, struct conn *exporter, struct sim_msg *msg)
{
	for (struct question **link = &daemon->questions; *link; link = &(*link)->next) {
		if ((*link)->seq == msg->seq && (*link)->exporter == exporter) {
			answer(daemon, link, msg);
			return;
		}
	}
}

/* ---- */

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

	daemon_reply(daemon, conn, msg, fd < 0 ? fd : 0, fd);
	if (fd >= 0)
		close(fd);
}

/* What an attached process may ask. */
static void take_attached(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	if (daemon_take_channel(daemon, conn, msg, fds))
		return;
	switch (msg->type) {
	case SIM_MSG_EXPORT:
		take_export(daemon, conn, msg, fds);
		break;
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
		take_question(daemon, conn, msg);
		break;
	case SIM_MSG_NUDGE:
		take_nudge(daemon, conn, msg);
		break;
	case SIM_MSG_RECORD:
		daemon_take_recording(daemon, conn, fds);
		break;
	case SIM_MSG_DETACH:
		conn->in_order = true;
		conn->dead = true;
		break;
	default:
		sim_warn("process %d sent a request that a daemon does not take (%u); its connection is closed",
			 sim_card_peer(daemon->card, conn->peer)->pid, msg->type);
		conn->dead = true;
	}
}

static void take_reply(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	if (msg->type == SIM_MSG_DESCRIBE)
		take_answer(daemon, conn, msg);
	else if (msg->type == SIM_MSG_GONE)
		daemon_let_go(daemon, conn, msg->seq);
}

/* What needs no attachment: whether it was that. */
static bool take_from_anyone(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, const struct sim_fds *fds)
{
	switch (msg->type) {
	case SIM_MSG_ATTACH:
		take_attach(daemon, conn, msg);
		return true;
	case SIM_MSG_STATUS:
		take_status(daemon, conn, msg);
		return true;
	case SIM_MSG_BOARD:
		daemon_reply(daemon, conn, msg, 0, daemon->board_fd);
		return true;
	case SIM_MSG_FAULT:
		daemon_take_fault(daemon, conn, msg, fds);
		return true;
	case SIM_MSG_RECORDING:
		daemon_answer_recording(daemon, conn, msg);
		return true;
	case SIM_MSG_SHUTDOWN:
		daemon_reply(daemon, conn, msg, 0, -1);
		daemon->stop = true;
		return true;
	default:
		return false;
	}
}

void daemon_take(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	if (msg->is_reply) {
		if (conn->attached)
			take_reply(daemon, conn, msg);
		return;
	}
	if (take_from_anyone(daemon, conn, msg, fds))
		return;
	if (conn->attached)
		take_attached(daemon, conn, msg, fds);
	else
		conn->dead = true; /* asks before it has said who it is */
}

static void forget_questions(struct daemon *daemon, struct conn *conn)
{
	struct question **link = &daemon->questions;

	while (*link) {
		if ((*link)->importer == conn)
			drop(link);
		else if ((*link)->exporter == conn)
			answer_status(daemon, link, -ESTALE);
		else
			link = &(*link)->next;
	}
}

/* What libfabric's shm provider left in /dev/shm, if that is ours too: a
 * process that died could not remove it. */
static void clean_shm(const struct daemon *daemon, const struct sim_peer_info *dead)
{
	if (dead->shm_dev != 0 && dead->shm_dev == daemon->shm_dev && sim_ofi_shm_clean(dead->shm_prefix) > 0)
		sim_dbg("removed what process %d (%s) left in /dev/shm", (int)dead->pid, dead->program);
}

void daemon_detach(struct daemon *daemon, struct conn *conn)
{
	if (!conn->attached)
		return;
	conn->attached = false;
	daemon_end_recording(daemon, conn);
	if (!conn->in_order)
		clean_shm(daemon, sim_card_peer(daemon->card, conn->peer));
	daemon_end_channels_of(daemon, conn);
	daemon_revoke_all_of(daemon, conn);
	daemon_forget_in_revocations(daemon, conn);
	forget_questions(daemon, conn);
}

uint64_t daemon_questions_deadline_ms(const struct daemon *daemon)
{
	uint64_t soonest = UINT64_MAX;

	for (const struct question *q = daemon->questions; q; q = q->next)
		if (q->deadline_ms < soonest)
			soonest = q->deadline_ms;
	return soonest;
}

void daemon_expire_questions(struct daemon *daemon, uint64_t now_ms)
{
	struct question **link = &daemon->questions;

	while (*link) {
		if ((*link)->deadline_ms <= now_ms)
			answer_status(daemon, link, -ETIMEDOUT);
		else
			link = &(*link)->next;
	}
}
