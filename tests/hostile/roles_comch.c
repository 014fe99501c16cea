/* SPDX-License-Identifier: BSD-3-Clause */
/* Honest programs for messages: a Comch server that echoes, and a client that expects the echoes. */
#include "cmocka_test.h"
#include "hostile.h"

#include "../multi/comch_endpoint.h"
#include "proc.h"

#define TALK_MS 60

struct talk {
	struct endpoint endpoint;
	struct loop loop;
	bool over;
	uint32_t sent, echoed;
};

/* ---- server ---- */

static void echo(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
		 uint32_t len)
{
	if (len > 0) /* a sender's fault can cut a message to nothing */
		endpoint_send(endpoint, connection, bytes, len);
}

static void end_talk(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	struct talk *talk = endpoint->cfg.owner;

	talk->over = true;
}

static int run_server(const struct bout *bout, bool is_patient)
{
	struct talk talk = { 0 };
	struct endpoint_cfg cfg = { .name = "hostile", .owner = &talk, .message = echo, .disconnected = end_talk };
	struct doca_dev *dev = device_open(NULL);
	int64_t end = proc_now_ms() + bout->connect_ms;

	loop_open(&talk.loop, bout->round % 2);
	endpoint_open_server(&talk.endpoint, &cfg, &talk.loop, dev);
	endpoint_start(&talk.endpoint);
	while ((is_patient || !talk.over) && talk.endpoint.state == DOCA_CTX_STATE_RUNNING && proc_now_ms() < end)
		loop_turn(&talk.loop, 100);
	if (talk.endpoint.state != DOCA_CTX_STATE_IDLE)
		endpoint_stop(&talk.endpoint);
	endpoint_close(&talk.endpoint);
	loop_close(&talk.loop);
	MUST(doca_dev_close(dev));
	return talk.over ? ROLE_DONE : ROLE_REFUSED;
}

int role_server(struct bout *bout, int sock)
{
	return run_server(bout, false);
}

int role_patient_server(struct bout *bout, int sock)
{
	return run_server(bout, true);
}

/* ---- client ---- */

static void take_echo(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
		      uint32_t len)
{
	struct talk *talk = endpoint->cfg.owner;

	note_take(bytes, len, talk->echoed++);
}

static void talk_for(struct talk *talk, unsigned int ms)
{
	int64_t end = proc_now_ms() + ms;

	while (!talk->over && (proc_now_ms() < end || talk->echoed < talk->sent)) {
		if (talk->endpoint.connection && talk->sent < talk->echoed + 8 && proc_now_ms() < end &&
		    note_send(&talk->endpoint, talk->endpoint.connection, 1, talk->sent))
			talk->sent++;
		loop_turn(&talk->loop, 100);
	}
}

/* A server that is not there yet refuses the connection. */
static bool connect_client(struct talk *talk, unsigned int ms)
{
	int64_t end = proc_now_ms() + ms;

	do {
		endpoint_start(&talk->endpoint);
		do
			loop_turn(&talk->loop, 100);
		while (talk->endpoint.state == DOCA_CTX_STATE_STARTING ||
		       talk->endpoint.state == DOCA_CTX_STATE_STOPPING);
	} while (talk->endpoint.state != DOCA_CTX_STATE_RUNNING && proc_now_ms() < end);
	return talk->endpoint.state == DOCA_CTX_STATE_RUNNING;
}

int role_client(struct bout *bout, int sock)
{
	struct talk talk = { 0 };
	struct endpoint_cfg cfg = { .name = "hostile", .owner = &talk, .message = take_echo, .disconnected = end_talk };
	struct doca_dev *dev = device_open(NULL);
	int result = ROLE_REFUSED;

	loop_open(&talk.loop, bout->round % 3 == 0);
	endpoint_open_client(&talk.endpoint, &cfg, &talk.loop, dev);
	if (connect_client(&talk, bout->connect_ms)) {
		talk_for(&talk, TALK_MS);
		result = talk.over ? ROLE_REFUSED : ROLE_DONE;
	}
	if (talk.endpoint.state != DOCA_CTX_STATE_IDLE)
		endpoint_stop(&talk.endpoint);
	endpoint_close(&talk.endpoint);
	loop_close(&talk.loop);
	MUST(doca_dev_close(dev));
	return result;
}
