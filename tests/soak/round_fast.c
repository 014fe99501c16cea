/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast path: a producer on one side, a consumer on the other, over a connection of their own. */
#include "connection.h"

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#define MAX_MESSAGES 200
#define MAX_BYTES    65536
#define DEPTH        4
#define GIVE_UP_MS   5000 /* limit of retries of a send without a receiver */

struct slot {
	struct ticket ticket;
	struct doca_buf *buf;
	uint32_t number; /* immediate data */
};

struct total {
	uint64_t sent, is_gone;
};

struct fast {
	struct connection conn;
	struct side_memory memory;
	struct doca_buf_inventory *inventory;
	struct doca_comch_consumer *consumer; /* or */
	struct doca_comch_producer *producer;
	struct doca_ctx *ctx;
	struct slot slots[DEPTH];
	uint32_t count, next, in_flight;
	uint64_t sent, came, wrong, extra, late;
	uint32_t newest; /* number of a received message, plus 1 */
	bool has[MAX_MESSAGES], is_gone, has_ended;
	uint64_t dropped_before;
	int64_t news_ms;
};

static uint64_t id_of(const struct side *side, uint32_t number)
{
	return random_mix(side->shared->seed ^ side->round << 20 ^ UINT64_C(0xfa) << 40 ^ number);
}

static uint32_t len_of(const struct side *side, uint32_t number)
{
	uint64_t id = id_of(side, number);

	return 1 + (uint32_t)(id >> 8) % (id & 3 ? 1024 : MAX_BYTES);
}

static void open_memory(struct fast *fast)
{
	side_memory_open(fast->conn.side, (size_t)DEPTH * MAX_BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE, false,
			 &fast->memory);
	MUST(doca_buf_inventory_create(DEPTH, &fast->inventory));
	MUST(doca_buf_inventory_start(fast->inventory));
	for (int i = 0; i < DEPTH; i++)
		MUST(doca_buf_inventory_buf_get_by_addr(fast->inventory, fast->memory.mmap,
							fast->memory.addr + (size_t)i * MAX_BYTES, MAX_BYTES,
							&fast->slots[i].buf));
}

static void close_memory(struct fast *fast)
{
	for (int i = 0; i < DEPTH; i++)
		MUST(doca_buf_dec_refcount(fast->slots[i].buf, NULL));
	MUST(doca_buf_inventory_destroy(fast->inventory));
	side_memory_close(&fast->memory);
}

static void connect_ctx(struct fast *fast, struct doca_ctx *ctx)
{
	fast->ctx = ctx;
	MUST(doca_pe_connect_ctx(fast->conn.side->pe, ctx));
	MUST(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = fast }));
}

/* ---- the consumer ---- */

static void take(struct fast *fast, const struct doca_comch_consumer_task_post_recv *task, struct doca_buf *buf)
{
	const struct side *side = fast->conn.side;
	uint32_t number = UINT32_MAX;
	size_t len;
	void *data;

	fast->news_ms = side_now_ms();
	MUST(doca_buf_get_data(buf, &data));
	MUST(doca_buf_get_data_len(buf, &len));
	if (doca_comch_consumer_task_post_recv_get_imm_data_len(task) == sizeof(number))
		memcpy(&number, doca_comch_consumer_task_post_recv_get_imm_data(task), sizeof(number));
	side->seen->bytes += len;
	if (number >= fast->count || len != len_of(side, number) || !pattern_is(data, len, id_of(side, number))) {
		fast->wrong++;
		fast->came++;
	} else if (fast->has[number]) {
		fast->extra++;
	} else {
		fast->has[number] = true;
		fast->came++;
		fast->late += number < fast->newest;
		fast->newest = number < fast->newest ? fast->newest : number + 1;
	}
}

static void post(struct fast *fast, struct slot *slot);

static void on_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
			union doca_data ctx_data)
{
	struct slot *slot = task_data.ptr;
	struct fast *fast = ctx_data.ptr;
	bool well = doca_task_get_status(doca_comch_consumer_task_post_recv_as_task(task)) == DOCA_SUCCESS;

	if (well)
		take(fast, task, slot->buf);
	side_done(fast->conn.side, doca_comch_consumer_task_post_recv_as_task(task), &slot->ticket);
	fast->in_flight--;
	MUST(doca_buf_reset_data_len(slot->buf));
	if (well)
		post(fast, slot);
	else if (fast->has_ended)
		fast->conn.side->seen->flushed++;
	else
		fast->is_gone = true; /* a consumer stops after a failed receive */
}

static void post(struct fast *fast, struct slot *slot)
{
	struct doca_comch_consumer_task_post_recv *task;

	if (side_state(fast->ctx) != DOCA_CTX_STATE_RUNNING)
		return;
	MUST(doca_comch_consumer_task_post_recv_alloc_init(fast->consumer, slot->buf, &task));
	doca_task_set_user_data(doca_comch_consumer_task_post_recv_as_task(task), (union doca_data){ .ptr = slot });
	if (side_submit(fast->conn.side, doca_comch_consumer_task_post_recv_as_task(task), &slot->ticket))
		fast->in_flight++;
	else
		doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

/* Post where a submission was refused before. */
static void post_all(struct fast *fast)
{
	for (int i = 0; i < DEPTH; i++)
		if (!fast->slots[i].ticket.in_flight)
			post(fast, &fast->slots[i]);
}

static bool has_all(const struct fast *fast, const struct total *other)
{
	const struct side *side = fast->conn.side;

	if (fast->came >= other->sent || fast->is_gone || fast->conn.is_gone || other->is_gone || side->is_alone)
		return true;
	return side_now_ms() - fast->news_ms >= SIDE_GIVE_UP_MS &&
	       other->sent - fast->came <= lasting_fired(side, LASTING_DROP_FAST) - fast->dropped_before;
}

/* Receive until the other side has sent its count, and all messages have arrived. */
static void receive_all(struct fast *fast)
{
	struct side *side = fast->conn.side;
	struct total other = { .sent = UINT64_MAX };
	int64_t start_ms = side_now_ms();
	bool told = false;

	while (!told || !has_all(fast, &other)) {
		if (!fast->is_gone)
			post_all(fast);
		if (side_step(side))
			start_ms = side_now_ms();
		if (!told && side_readable(side)) {
			if (!side_recv(side, &other, sizeof(other)))
				other.is_gone = true;
			told = true;
			start_ms = side_now_ms();
		}
		NEED(side_now_ms() - start_ms < SIDE_DEADLINE_MS);
	}
	if (fast->came < other.sent && !fast->is_gone && !fast->conn.is_gone && !other.is_gone && !side_is_alone(side))
		side->seen->missing_fast += other.sent - fast->came;
	side->seen->wrong_fast += fast->wrong;
	side->seen->extra_fast += fast->extra;
	side->seen->late_fast += fast->late;
}

static void consume(struct fast *fast)
{
	struct side *side = fast->conn.side;
	doca_error_t result;

	if (!MUST_UNLESS_ALONE(side,
			       doca_comch_consumer_create(fast->conn.connection, fast->memory.mmap, &fast->consumer)))
		return;
	connect_ctx(fast, doca_comch_consumer_as_ctx(fast->consumer));
	MUST(doca_comch_consumer_task_post_recv_set_conf(fast->consumer, on_received, on_received, DEPTH));
	result = doca_ctx_start(fast->ctx);
	if (result != DOCA_ERROR_IN_PROGRESS && !fast->conn.is_gone)
		MUST_UNLESS_ALONE(side, result);
	SIDE_UNTIL(side, side_state(fast->ctx) != DOCA_CTX_STATE_STARTING);
	fast->news_ms = side_now_ms();
	receive_all(fast);
	fast->has_ended = true;
	side_stop(side, fast->ctx);
	MUST(doca_comch_consumer_destroy(fast->consumer));
}

/* ---- the producer ---- */

static void on_sent(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct slot *slot = task_data.ptr;
	struct fast *fast = ctx_data.ptr;

	if (side_done(fast->conn.side, doca_comch_producer_task_send_as_task(task), &slot->ticket) == DOCA_SUCCESS)
		fast->sent++;
	fast->in_flight--;
	fast->news_ms = side_now_ms();
}

static struct slot *free_slot(struct fast *fast)
{
	for (int i = 0; i < DEPTH; i++)
		if (!fast->slots[i].ticket.in_flight)
			return &fast->slots[i];
	return NULL;
}

static void send_next(struct fast *fast)
{
	const struct side *side = fast->conn.side;
	struct doca_comch_producer_task_send *task;
	struct slot *slot = free_slot(fast);
	void *head;

	if (!slot || !fast->conn.consumer || side_state(fast->ctx) != DOCA_CTX_STATE_RUNNING)
		return;
	slot->number = fast->next;
	MUST(doca_buf_get_head(slot->buf, &head));
	pattern_fill(head, len_of(side, slot->number), id_of(side, slot->number));
	MUST(doca_buf_set_data(slot->buf, head, len_of(side, slot->number)));
	MUST(doca_comch_producer_task_send_alloc_init(fast->producer, slot->buf, (uint8_t *)&slot->number,
						      sizeof(slot->number), fast->conn.consumer, &task));
	doca_task_set_user_data(doca_comch_producer_task_send_as_task(task), (union doca_data){ .ptr = slot });
	if (side_submit(fast->conn.side, doca_comch_producer_task_send_as_task(task), &slot->ticket)) {
		fast->in_flight++;
		fast->next++;
		fast->news_ms = side_now_ms();
	} else {
		doca_task_free(doca_comch_producer_task_send_as_task(task));
	}
}

static void produce(struct fast *fast)
{
	struct side *side = fast->conn.side;
	doca_error_t result;
	struct total mine;

	if (!MUST_UNLESS_ALONE(side, doca_comch_producer_create(fast->conn.connection, &fast->producer)))
		return;
	connect_ctx(fast, doca_comch_producer_as_ctx(fast->producer));
	MUST(doca_comch_producer_task_send_set_conf(fast->producer, on_sent, on_sent, DEPTH));
	result = doca_ctx_start(fast->ctx);
	fast->is_gone = result != DOCA_SUCCESS;
	if (!fast->conn.is_gone)
		MUST_UNLESS_ALONE(side, result);
	fast->news_ms = side_now_ms();
	while (!fast->is_gone && (fast->next < fast->count || fast->in_flight)) {
		if (fast->next < fast->count)
			send_next(fast);
		side_step(side);
		if (side_state(fast->ctx) == DOCA_CTX_STATE_IDLE || fast->conn.is_gone ||
		    side_now_ms() - fast->news_ms > GIVE_UP_MS)
			fast->is_gone = true;
	}
	mine = (struct total){ fast->sent, fast->is_gone };
	side->seen->broken += fast->is_gone;
	side_send(side, &mine, sizeof(mine));
	side_stop(side, fast->ctx);
	MUST(doca_comch_producer_destroy(fast->producer));
}

void round_fast(struct side *side)
{
	static struct fast fast;
	struct random random = side_random(side, 'f');
	const struct connection callbacks = { .round = &fast };
	bool consumes = random_bool(&random) == (side->which == HOST);

	memset(&fast, 0, sizeof(fast));
	fast.count = (uint32_t)random_in(&random, 0, MAX_MESSAGES);
	fast.dropped_before = lasting_fired(side, LASTING_DROP_FAST);
	if (connection_open(&fast.conn, side, &callbacks)) {
		open_memory(&fast);
		if (consumes)
			consume(&fast);
		else
			produce(&fast);
		NEED(fast.in_flight == 0);
		close_memory(&fast);
	}
	connection_close(&fast.conn);
}
