/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine that has the token, joins, and answers each import of its memory with the next lie. It ends with its connection.
 *
 *   lying_gateway HOST PORT TOKEN-FILE NAME [late]
 *
 * It prints "joined", and then "asked" or "released" for each such frame of another machine.
 *
 * late: no lies. A line of standard input has it answer the oldest import: the first two are of an inbox, further ones of memory.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/monotonic.h"
#include "sim/gateway/link.h"
#include "sim/gateway/rail.h"
#include "sim/gateway/secure.h"
#include "sim/protocol/descriptor.h"
#include "sim/rdma/inbox.h"

#define HANDLE      UINT64_C(0x1000)
#define MAX_IMPORTS 8
#define NUM_INBOXES 2

struct liar {
	const char *name;
	struct link *link;
	uint32_t self, num_lies;
	bool is_late, is_over;
	uint64_t asked[MAX_IMPORTS]; /* the requests */
	uint32_t num_asked, num_answered;
};

static void send_frame(struct liar *liar, struct gateway_frame frame)
{
	frame.from = (uint16_t)liar->self;
	link_send(liar->link, &frame);
}

/* ---- lies ---- */

/* An inbox at @function, with @more bits of access. */
static void send_imported(struct liar *liar, uint64_t request, uint32_t function, uint32_t more)
{
	const struct gateway_imported imported = { .region = { .addr = 4096,
							       .len_bytes = SIM_INBOX_BYTES,
							       .access = SIM_ACCESS_NET | SIM_ACCESS_INBOX | more,
							       .function = function },
						   .pid = -1,
						   .program = "liar",
						   .access = UINT32_MAX,
						   .stream_id = UINT64_MAX };
	uint8_t body[GATEWAY_IMPORTED_BYTES];

	gateway_imported_write(&imported, body);
	send_frame(liar, (struct gateway_frame){ .kind = GATEWAY_IMPORTED,
						 .id = request,
						 .a = HANDLE,
						 .body = body,
						 .len_bytes = sizeof(body) });
}

static void send_answers(struct liar *liar, uint64_t number)
{
	const struct gateway_answers answers = { .num_read = number,
						 .executed = number,
						 .not_ready = number,
						 .looks = number,
						 .claim = number - 1,
						 .state = 1 };
	uint8_t body[GATEWAY_ANSWERS_BYTES];

	gateway_answers_write(&answers, body);
	send_frame(liar, (struct gateway_frame){
				 .kind = GATEWAY_ANSWERS, .id = HANDLE, .body = body, .len_bytes = sizeof(body) });
}

/* An inbox that is right, and what its owner could never say. */
static void lie_about_an_inbox(struct liar *liar, uint64_t request, uint32_t function)
{
	static const uint8_t zeros[GATEWAY_MAX_DATA];

	send_answers(liar, 1); /* of an import that is not known yet */
	send_imported(liar, request, function, 0);
	send_imported(liar, request, function, 0); /* nobody waits for it any more */
	send_answers(liar, UINT64_MAX);
	send_answers(liar, 0);
	for (uint64_t id = 0; id < 16; id++)
		send_frame(liar, (struct gateway_frame){
					 .kind = GATEWAY_DONE, .id = id, .body = zeros, .len_bytes = sizeof(zeros) });
	for (int i = 0; i < 2; i++)
		send_frame(liar, (struct gateway_frame){ .kind = GATEWAY_REVOKED, .id = HANDLE });
	send_answers(liar, 2);
}

static void lie(struct liar *liar, const struct gateway_frame *import)
{
	const uint32_t own = 2 * liar->self; /* each machine of the topology has two functions */

	switch (liar->num_lies++) {
	case 0:
		send_imported(liar, import->id, UINT32_MAX, 0);
		break;
	case 1:
		send_imported(liar, import->id, UINT16_MAX, 0);
		break;
	case 2:
		send_imported(liar, import->id, 0, 0); /* home's */
		break;
	case 3:
		send_imported(liar, import->id, own, SIM_ACCESS_CHANNEL);
		break;
	default:
		lie_about_an_inbox(liar, import->id, own);
	}
}

/* ---- the truth ---- */

static void answer(struct liar *liar)
{
	const uint32_t number = liar->num_answered++;
	const uint32_t access = number < NUM_INBOXES ? SIM_ACCESS_INBOX : SIM_ACCESS_READ | SIM_ACCESS_WRITE;
	const struct gateway_imported imported = { .region = { .addr = 4096,
							       .len_bytes = SIM_INBOX_BYTES,
							       .access = SIM_ACCESS_NET | access,
							       .function = 2 * liar->self },
						   .program = "late" };
	uint8_t body[GATEWAY_IMPORTED_BYTES];

	gateway_imported_write(&imported, body);
	send_frame(liar, (struct gateway_frame){ .kind = GATEWAY_IMPORTED,
						 .id = liar->asked[number],
						 .a = HANDLE + number,
						 .body = body,
						 .len_bytes = sizeof(body) });
}

static void look_at_input(struct liar *liar)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	if (!liar->is_late || poll(&input, 1, 0) <= 0)
		return;
	if (read(STDIN_FILENO, &byte, 1) <= 0)
		liar->is_over = true;
	else if (liar->num_answered < liar->num_asked)
		answer(liar);
}

static void take_import(struct liar *liar, const struct gateway_frame *import)
{
	liar->self = import->to;
	if (!liar->is_late)
		lie(liar, import);
	else if (liar->num_asked < MAX_IMPORTS)
		liar->asked[liar->num_asked++] = import->id;
	printf("asked\n");
}

/* ---- the link ---- */

static void on_frame(void *arg, struct link *link, const struct gateway_frame *frame)
{
	struct liar *liar = arg;

	if (frame->kind == GATEWAY_WELCOME) {
		link_set_up(link, (uint32_t)frame->a);
		printf("joined\n");
	} else if (frame->kind == GATEWAY_IMPORT) {
		take_import(liar, frame);
	} else if (frame->kind == GATEWAY_RELEASE) {
		printf("released\n");
	}
}

static void on_proved(void *arg, struct link *link)
{
	struct liar *liar = arg;
	uint8_t body[SIM_SESSION_ID_SIZE + PCIE_SIDE_SIZE] = { 0 };
	size_t len = strlen(liar->name);

	memcpy(body + SIM_SESSION_ID_SIZE, liar->name, len);
	link_send(link, &(struct gateway_frame){ .kind = GATEWAY_JOIN,
						 .body = body,
						 .len_bytes = (uint32_t)(SIM_SESSION_ID_SIZE + len) });
}

static void on_lost(void *arg, struct link *link, const char *words)
{
	(void)link;
	printf("lost: %s\n", words);
	((struct liar *)arg)->is_over = true;
}

/* ---- the rail ---- */

static void on_connected(void *arg, void *owner)
{
	(void)arg;
	link_on_connected(owner);
}

static void on_message(void *arg, void *owner, const uint8_t *bytes, size_t len)
{
	(void)arg;
	link_on_message(owner, bytes, len);
}

static void on_room(void *arg, void *owner)
{
	(void)arg;
	link_on_room(owner);
}

static void on_closed(void *arg, void *owner, int reason)
{
	(void)arg;
	link_on_closed(owner, reason);
}

int main(int argc, char **argv)
{
	static const struct rail_ops rail_ops = {
		.on_connected = on_connected, .on_message = on_message, .on_room = on_room, .on_closed = on_closed
	};
	static const struct link_ops link_ops = { .on_frame = on_frame, .on_proved = on_proved, .on_lost = on_lost };
	const struct rail_cfg cfg = { .host = argv[1], .port = argv[2], .ops = &rail_ops };
	struct liar liar = { .name = argv[4], .is_late = argc == 6 };
	struct secure_keys *keys;
	struct rail *rail;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 5 || strlen(liar.name) >= PCIE_SIDE_SIZE || secure_keys_read(argv[3], &keys) < 0 ||
	    rail_open(&cfg, &rail) < 0)
		return 2;
	liar.link = link_create(&(struct link_cfg){ .ops = &link_ops, .arg = &liar, .keys = keys });
	if (!liar.link || rail_connect(rail, liar.link, &liar.link->conn) < 0)
		return 2;
	while (!liar.is_over) {
		rail_poll(rail, RAIL_LOOK_ALL);
		look_at_input(&liar);
		link_flush(liar.link);
		link_settle(liar.link);
		link_tick(liar.link, sim_monotonic_ns());
	}
	return 0;
}
