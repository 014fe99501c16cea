/* SPDX-License-Identifier: BSD-3-Clause */
/* Any frames of home and of another machine about a direct link, by home and over the link, while it comes up, breaks and comes again:
 * the state of the pair keeps its promises. Each step is a byte that says what happens, and a frame if one arrives. Seeds are in
 * corpus/direct. */
#include "fuzz_input.h"
#include "sim/gateway/direct.h"
#include "sim/gateway/outage.h"
#include "sim/gateway/secure.h"
#include "sim/gateway/slow_link.h"

#define NUM_MACHINES 3 /* home, this one, and the other one */
#define OTHER        2
#define MAX_STEPS    256

static struct gateway gateway;
static struct gateway_machine machines[NUM_MACHINES];
static struct link home, ends[MAX_STEPS]; /* of direct links; none is used again */
static uint64_t numbers[MAX_STEPS];
static uint32_t num_ends, num_resets;
static uint64_t key; /* the number of the only one; 0 = none */
static bool is_server_key;

/* ---- in place of link.c, rail_msg.c and secure.c ---- */

void link_send(struct link *link, const struct gateway_frame *frame)
{
	promise(frame->kind < GATEWAY_NUM_KINDS && (link == &home || link->state == LINK_UP));
}

void link_close(struct link *link, const char *words)
{
	(void)words;
	link->state = LINK_CLOSING;
}

void link_set_up(struct link *link, uint32_t machine)
{
	link->machine = machine;
	link->state = LINK_UP;
}

struct link *link_create(const struct link_cfg *cfg)
{
	struct link *link = num_ends < MAX_STEPS ? &ends[num_ends] : NULL;

	if (!link)
		return NULL;
	*link = (struct link){ .ops = cfg->ops,
			       .arg = cfg->arg,
			       .is_server = cfg->is_server,
			       .is_direct = true,
			       .machine = LINK_NO_MACHINE,
			       .secure = (struct secure *)(void *)&numbers[num_ends] };
	numbers[num_ends++] = cfg->number;
	return link;
}

void link_destroy(struct link *link)
{
	link->state = LINK_CLOSED;
}

int rail_open(const struct rail_cfg *cfg, struct rail **ret_rail)
{
	uint8_t text[GATEWAY_HOST_SIZE];
	char host[GATEWAY_HOST_SIZE];
	size_t len = strlen(cfg->host);

	(void)ret_rail;
	memcpy(text, cfg->host, len);
	promise(len > 0 && gateway_host_read(text, len, host) == 0 && atoi(cfg->port) > 0 &&
		atoi(cfg->port) <= UINT16_MAX);
	return 0;
}

int rail_connect(struct rail *rail, void *owner, struct rail_conn **ret_conn)
{
	(void)rail, (void)owner, (void)ret_conn;
	return 0;
}

uint16_t rail_port(const struct rail *rail)
{
	(void)rail;
	return 1;
}

void rail_host(const struct rail *rail, char text[RAIL_HOST_SIZE])
{
	(void)rail;
	text[0] = '\0';
}

int secure_keys_add(struct secure_keys *keys, bool is_server, uint64_t number, const uint8_t nonce[SECURE_NONCE_BYTES])
{
	(void)keys, (void)nonce;
	promise(key == 0);
	key = number;
	is_server_key = is_server;
	return 0;
}

void secure_keys_remove(struct secure_keys *keys, uint64_t number)
{
	(void)keys;
	if (key == number)
		key = 0;
}

uint64_t secure_number(const struct secure *secure)
{
	return *(const uint64_t *)(const void *)secure;
}

/* ---- in place of members.c and outage.c ---- */

bool outage_takes(struct gateway *of, uint32_t hop, const struct gateway_frame *frame)
{
	(void)of, (void)hop, (void)frame;
	return false;
}

bool slow_link_takes(struct gateway *of, struct link *by, const struct gateway_frame *frame)
{
	(void)of, (void)by, (void)frame;
	return false;
}

bool slow_link_is_full(const struct gateway *of, uint32_t machine)
{
	(void)of, (void)machine;
	return false;
}

static void reset(struct gateway *of, uint32_t machine, const char *words)
{
	(void)of;
	promise(machine == OTHER && strlen(words) < GATEWAY_WORDS_SIZE);
	num_resets++;
}

static void take_frame(struct gateway *of, const struct gateway_frame *frame)
{
	if (gateway_kind_is_about_direct(frame->kind))
		direct_on_frame(of, frame);
}

static void refuse(struct gateway *of, const char *words)
{
	(void)of, (void)words;
}

static const struct direct_ops direct_ops = { .reset = reset, .take_frame = take_frame, .refuse = refuse };

/* ---- what happens ---- */

static void check(void)
{
	const struct direct *direct = machines[OTHER].direct;

	promise(!machines[0].direct && !machines[1].direct);
	if (!direct)
		return;
	promise((direct->state == DIRECT_UP) <= (direct->link != NULL));
	promise((direct->way != DIRECT_BY_HOME) <= (direct->state == DIRECT_UP));
	promise((direct->held.num_bytes > 0) <= (direct->way == DIRECT_SWITCHING));
	promise(direct->has_confirmed <= (direct->state == DIRECT_UP));
	promise((key != 0) == (direct->state == DIRECT_OFFERED) && (key == 0 || key == direct->number));
	promise(direct->state != DIRECT_NONE || !direct->link);
}

static void send_frame(enum gateway_kind kind)
{
	struct gateway_frame frame = { .kind = kind };

	gateway_send(&gateway, OTHER, &frame);
}

/* A link that has ended says so later. */
static void lose_ended(void)
{
	for (uint32_t i = 0; i < num_ends; i++)
		if (ends[i].state == LINK_CLOSING) {
			ends[i].state = LINK_CLOSED;
			ends[i].ops->on_lost(&gateway, &ends[i], "it has ended");
		}
}

static void prove(struct link *link)
{
	if (link->state != LINK_CONNECTING || secure_number(link->secure) != key || key == 0 ||
	    link->is_server != is_server_key)
		return; /* TLS has no such key */
	link->state = LINK_JOINING;
	link->ops->on_proved(&gateway, link);
}

static void take_home(const struct gateway_frame *frame)
{
	struct gateway_frame routed = *frame;

	if (frame->kind == GATEWAY_DIRECT_OFFER) {
		direct_on_offer(&gateway, frame);
		return;
	}
	routed.from = frame->from % NUM_MACHINES == 1 ? OTHER : frame->from % NUM_MACHINES;
	routed.to = 1;
	if (!direct_is_void(&gateway, &routed))
		take_frame(&gateway, &routed);
}

/* Returns how many bytes of a frame it has taken. */
static size_t step(uint8_t what, const uint8_t *bytes, size_t len)
{
	struct link *last = num_ends > 0 ? &ends[num_ends - 1] : NULL;
	struct gateway_frame frame;
	int rc = 0;

	switch (what % 8) {
	case 0:
	case 1:
		rc = gateway_frame_parse(bytes, len, &frame);
		if (rc > 0 && what % 8 == 0)
			take_home(&frame);
		else if (rc > 0 && last && last->state == LINK_UP)
			last->ops->on_frame(&gateway, last, &frame);
		break;
	case 2:
		link_create(&(struct link_cfg){
			.ops = &direct_link_ops, .arg = &gateway, .number = key, .is_server = true });
		break;
	case 3:
		if (last)
			prove(last);
		break;
	case 4:
		if (last && last->state < LINK_CLOSING)
			link_close(last, "it is cut");
		break;
	case 5:
		send_frame(what & 8 ? GATEWAY_IMPORT : GATEWAY_RECORDS);
		break;
	case 6:
		if (what == 6)
			direct_machine_lost(&gateway, OTHER);
		else if (machines[OTHER].direct)
			machines[OTHER].direct->wish_ns = 0; /* time has passed */
		break;
	default:
		direct_tick(&gateway, what & 8 ? UINT64_MAX : 1);
	}
	return rc > 0 ? (size_t)rc : 0;
}

static void begin(bool listens)
{
	memset(machines, 0, sizeof(machines));
	home = (struct link){ .state = LINK_UP };
	gateway = (struct gateway){ .self = 1,
				    .machines = machines,
				    .num_machines = NUM_MACHINES,
				    .direct_ops = &direct_ops,
				    .listener = listens ? (struct rail *)(void *)&home : NULL };
	for (int i = 0; i < NUM_MACHINES; i++)
		machines[i].is_joined = true;
	machines[0].link = &home;
	LIST_INSERT_HEAD(&gateway.links, &home, entry);
	num_ends = num_resets = 0;
	key = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size ? size : 1); /* of the exact size, so that a read beyond it shows */
	size_t at = 1;

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	begin(size > 0 && bytes[0] & 1);
	for (int i = 0; i < MAX_STEPS && at < size; i++) {
		at++;
		at += step(bytes[at - 1], bytes + at, size - at);
		lose_ended();
		check();
	}
	direct_machine_lost(&gateway, OTHER);
	free(machines[OTHER].direct);
	free(bytes);
	return 0;
}
