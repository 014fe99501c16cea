/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages both ways at once. Each begins with its number, from which the rest follows. */
#include "connection.h"

#define MAX_MESSAGES 400
#define MAX_BYTES    4080

struct send_slot {
	struct ticket ticket;
	uint8_t bytes[MAX_BYTES];
};

/* A side's report after its last message. */
struct total {
	uint64_t sent;
	uint64_t is_gone;
};

struct exchange {
	struct connection conn;
	struct send_slot slots[CONNECTION_TASKS];
	uint32_t count[NUM_SIDES]; /* messages that each side has to send */
	uint32_t next, in_flight;
	uint64_t sent;               /* well */
	uint64_t came, wrong, extra; /* messages received: distinct ones, and wrong ones */
	uint64_t late;               /* behind one that was sent later */
	uint32_t newest;             /* and 1 */
	bool has[MAX_MESSAGES];
	uint64_t dropped_before;
};

static uint64_t id_of(const struct side *side, int from, uint32_t number)
{
	return random_mix(side->shared->seed ^ side->round << 20 ^ (uint64_t)from << 16 ^ number);
}

static uint32_t len_of(const struct side *side, int from, uint32_t number)
{
	return 8 + (uint32_t)(id_of(side, from, number) >> 8) % (MAX_BYTES - 8 + 1);
}

static void on_message(void *arg, const uint8_t *bytes, uint32_t len)
{
	struct exchange *exchange = arg;
	const struct side *side = exchange->conn.side;
	uint32_t number = UINT32_MAX;

	if (len >= 8)
		memcpy(&number, bytes, sizeof(number));
	if (number >= exchange->count[!side->which] || len != len_of(side, !side->which, number) ||
	    !pattern_is(bytes + 8, len - 8, id_of(side, !side->which, number))) {
		exchange->wrong++;
		exchange->came++;
	} else if (exchange->has[number]) {
		exchange->extra++;
	} else {
		exchange->has[number] = true;
		exchange->came++;
		exchange->late += number < exchange->newest;
		exchange->newest = number < exchange->newest ? exchange->newest : number + 1;
	}
	side->seen->bytes += len;
}

static void on_sent(void *arg, struct doca_comch_task_send *task, struct ticket *ticket)
{
	struct exchange *exchange = arg;

	exchange->sent += side_done(exchange->conn.side, doca_comch_task_send_as_task(task), ticket) == DOCA_SUCCESS;
	exchange->in_flight--;
}

static struct send_slot *free_slot(struct exchange *exchange)
{
	for (int i = 0; i < CONNECTION_TASKS; i++)
		if (!exchange->slots[i].ticket.in_flight)
			return &exchange->slots[i];
	return NULL;
}

/* The first eight bytes hold the number, which selects the pattern of the rest. */
static void send_next(struct exchange *exchange)
{
	const struct side *side = exchange->conn.side;
	struct send_slot *slot = free_slot(exchange);
	uint32_t len = len_of(side, side->which, exchange->next);

	if (!slot)
		return;
	memset(slot->bytes, 0, 8);
	memcpy(slot->bytes, &exchange->next, sizeof(exchange->next));
	pattern_fill(slot->bytes + 8, len - 8, id_of(side, side->which, exchange->next));
	if (!connection_send(&exchange->conn, slot->bytes, len, &slot->ticket))
		return;
	exchange->in_flight++;
	exchange->next++;
}

static void send_all(struct exchange *exchange)
{
	struct side *side = exchange->conn.side;
	int64_t start_ms = side_now_ms();

	while (exchange->in_flight > 0 || (exchange->next < exchange->count[side->which] && !exchange->conn.is_gone)) {
		if (exchange->next < exchange->count[side->which] && !exchange->conn.is_gone)
			send_next(exchange);
		if (side_step(side))
			start_ms = side_now_ms();
		NEED(side_now_ms() - start_ms < SIDE_DEADLINE_MS);
	}
}

static uint64_t dropped_of_other(const struct side *side)
{
	return lasting_fired(side, side->which == DPU ? LASTING_DROP_MESSAGE : LASTING_DROP_MESSAGE_OF_DPU);
}

/* All expected messages have arrived: those sent, without those that were dropped. */
static bool has_all(const struct exchange *exchange, const struct total *other)
{
	return exchange->conn.is_gone || other->is_gone ||
	       exchange->came + dropped_of_other(exchange->conn.side) - exchange->dropped_before >= other->sent;
}

static void play(struct exchange *exchange)
{
	struct side *side = exchange->conn.side;
	struct total mine, other;

	send_all(exchange);
	mine = (struct total){ exchange->sent, exchange->conn.is_gone };
	side_send(side, &mine, sizeof(mine));
	if (!side_recv(side, &other, sizeof(other)))
		other = (struct total){ .is_gone = true };
	SIDE_UNTIL(side, has_all(exchange, &other) || side_is_alone(side));
	if (exchange->came < other.sent && !exchange->conn.is_gone && !other.is_gone && !side->is_alone)
		side->seen->missing_messages += other.sent - exchange->came;
	side->seen->wrong_messages += exchange->wrong;
	side->seen->extra_messages += exchange->extra;
	side->seen->late_messages += exchange->late;
	side->seen->broken += exchange->conn.is_gone;
}

void round_messages(struct side *side)
{
	static struct exchange exchange;
	struct random random = side_random(side, 't');
	const struct connection callbacks = { .round = &exchange, .message = on_message, .sent = on_sent };

	memset(&exchange, 0, sizeof(exchange));
	exchange.count[HOST] = (uint32_t)random_in(&random, 0, MAX_MESSAGES);
	exchange.count[DPU] = (uint32_t)random_in(&random, 0, MAX_MESSAGES);
	exchange.dropped_before = dropped_of_other(side);
	if (connection_open(&exchange.conn, side, &callbacks))
		play(&exchange);
	connection_close(&exchange.conn);
	NEED(exchange.in_flight == 0);
}
