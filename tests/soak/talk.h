/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/soak/talk.h - one connection of Comch between the two sides: the DPU serves, the host calls.
 *
 *   both sides: talk_open --> ... --> talk_close
 *
 * The connection may never be, or go before its time, when faults have it so, or an end of it is killed: then is_gone.
 */
#ifndef TESTS_SOAK_TALK_H
#define TESTS_SOAK_TALK_H

#include <doca_comch.h>

#include "side.h"

#define TALK_TASKS 8

struct talk {
	struct side *side;
	struct doca_comch_server *server; /* or */
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	struct doca_comch_connection *connection;
	uint32_t consumer; /* of the other end, once there is one */
	bool is_gone;
	void *round; /* whose callbacks these are: */
	void (*message)(void *round, const uint8_t *bytes, uint32_t len);
	void (*sent)(void *round, struct doca_comch_task_send *task, struct ticket *ticket);
};

/* Meet the other side. Whether there is a connection, on both sides alike as long as both live. */
bool talk_open(struct talk *talk, struct side *side, const struct talk *callbacks);
void talk_close(struct talk *talk);

/* Send; @bytes live until sent() is called for the task. Whether it was taken. */
bool talk_send(struct talk *talk, const void *bytes, uint32_t len, struct ticket *ticket);

/* How often a lasting rule has struck until now. */
uint64_t lasting_fired(const struct side *side, int which);

#endif
