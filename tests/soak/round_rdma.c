/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA both ways at once, on one connection: messages, writes, reads and additions in random order.
 *
 * The number of a request selects its kind and its bytes. A side knows at the end what the other one's requests must have left:
 * all messages that were sent, in their order, the bytes of all writes that were done, and the sum of the additions. A request
 * that fails ends the connection; what it and those behind it left is not looked at. */
#include "side.h"

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_rdma.h>

#define MAX_REQUESTS  128
#define MAX_DEPTH     8
#define NUM_RECEIVES  16
#define ROOM_BYTES    20480 /* some records of an inbox */
#define WRITTEN_BYTES 4096  /* by a write */
#define CONST_BYTES   65536
#define GIVE_UP_MS    1000

/* The memory of a side. */
#define OUT_AT     (NUM_RECEIVES * ROOM_BYTES) /* a room for each request in flight */
#define WRITTEN_AT (OUT_AT + MAX_DEPTH * ROOM_BYTES)
#define CONST_AT   (WRITTEN_AT + MAX_REQUESTS * WRITTEN_BYTES)
#define SUM_AT     (CONST_AT + CONST_BYTES)
#define LEN        (SUM_AT + 8)

enum kind { KIND_SEND, KIND_WRITE, KIND_READ, KIND_ADD, NUM_KINDS };

struct exchange;

struct request {
	struct ticket ticket;
	struct exchange *exchange;
	uint32_t number, len, at; /* @at: in the memory of this side */
	struct doca_buf *near, *far;
};

struct place {
	struct ticket ticket;
	struct exchange *exchange;
	struct doca_buf *buf;
	uint32_t index;
};

/* What a side tells the other one: before, and after its last request. */
struct hello {
	uint64_t addr;
	uint32_t connection_len, memory_len;
	uint8_t connection[256], memory[256];
};

struct total {
	uint64_t num_sent, num_adds;
	uint64_t is_gone;
	bool is_written[MAX_REQUESTS];
};

struct exchange {
	struct side *side;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_rdma_connection *connection;
	struct doca_buf_inventory *inventory;
	struct side_memory memory;
	struct doca_mmap *far;
	uint8_t *far_addr;
	struct request requests[MAX_DEPTH];
	struct place places[NUM_RECEIVES];
	uint32_t count, depth, next, in_flight;
	uint32_t newest; /* the number of the last message that came, and 1 */
	uint64_t came;
	struct total mine;
	bool is_closing;
	int64_t news_ms;
};

/* ---- contents ---- */

static uint64_t id_of(const struct side *side, int from, uint32_t number)
{
	return random_mix(side->shared->seed ^ side->round << 20 ^ (uint64_t)from << 16 ^ number);
}

static enum kind kind_of(const struct side *side, int from, uint32_t number)
{
	return (enum kind)(id_of(side, from, number) % NUM_KINDS);
}

static uint32_t len_of(const struct side *side, int from, uint32_t number)
{
	uint64_t id = id_of(side, from, number) >> 8;
	uint32_t most = kind_of(side, from, number) == KIND_SEND && id % 4 == 0 ? ROOM_BYTES : WRITTEN_BYTES;

	return 8 + (uint32_t)(id >> 8) % (most - 8 + 1);
}

static uint64_t const_id(const struct side *side, int which)
{
	return id_of(side, which, MAX_REQUESTS);
}

/* ---- requests ---- */

static void drop(struct doca_buf *buf)
{
	if (buf)
		MUST(doca_buf_dec_refcount(buf, NULL));
}

/* All of the const memory that was read is a part of its pattern, as a pattern's words depend on their place. */
static void check_read(struct exchange *exchange, const struct request *request)
{
	struct side *side = exchange->side;
	uint8_t want[WRITTEN_BYTES + 8];

	pattern_fill(want, request->len, const_id(side, !side->which));
	side->seen->wrong_rdma += memcmp(exchange->memory.addr + request->at, want, request->len) != 0;
	side->seen->bytes += request->len;
}

static void note_done(struct exchange *exchange, const struct request *request)
{
	switch (kind_of(exchange->side, exchange->side->which, request->number)) {
	case KIND_SEND:
		exchange->mine.num_sent++;
		break;
	case KIND_WRITE:
		exchange->mine.is_written[request->number] = true;
		break;
	case KIND_READ:
		check_read(exchange, request);
		break;
	default:
		exchange->mine.num_adds++;
	}
}

static void end_request(struct doca_task *task, struct request *request)
{
	struct exchange *exchange = request->exchange;

	drop(request->near);
	drop(request->far);
	if (side_done(exchange->side, task, &request->ticket) == DOCA_SUCCESS)
		note_done(exchange, request);
	else
		exchange->mine.is_gone = true;
	exchange->in_flight--;
	exchange->news_ms = side_now_ms();
}

#define ON_END(name, type, as_task)                                                              \
	static void name(struct type *task, union doca_data task_data, union doca_data ctx_data) \
	{                                                                                        \
		end_request(as_task(task), task_data.ptr);                                       \
	}

ON_END(on_send, doca_rdma_task_send, doca_rdma_task_send_as_task)
ON_END(on_write, doca_rdma_task_write, doca_rdma_task_write_as_task)
ON_END(on_read, doca_rdma_task_read, doca_rdma_task_read_as_task)
ON_END(on_add, doca_rdma_task_atomic_fetch_add, doca_rdma_task_atomic_fetch_add_as_task)

static struct doca_buf *near_buf(struct exchange *exchange, uint32_t at, uint32_t len, uint32_t data)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_args(exchange->inventory, exchange->memory.mmap, exchange->memory.addr + at,
						len, exchange->memory.addr + at, data, &buf));
	return buf;
}

static struct doca_buf *far_buf(struct exchange *exchange, uint32_t at, uint32_t len, uint32_t data)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_args(exchange->inventory, exchange->far, exchange->far_addr + at, len,
						exchange->far_addr + at, data, &buf));
	return buf;
}

static struct doca_task *make_send(struct exchange *exchange, struct request *request, union doca_data data)
{
	struct doca_rdma_task_send *task;

	request->near = near_buf(exchange, request->at, request->len, request->len);
	MUST(doca_rdma_task_send_allocate_init(exchange->rdma, exchange->connection, request->near, data, &task));
	return doca_rdma_task_send_as_task(task);
}

static struct doca_task *make_write(struct exchange *exchange, struct request *request, union doca_data data)
{
	struct doca_rdma_task_write *task;

	request->near = near_buf(exchange, request->at, request->len, request->len);
	request->far = far_buf(exchange, WRITTEN_AT + request->number * WRITTEN_BYTES, request->len, 0);
	MUST(doca_rdma_task_write_allocate_init(exchange->rdma, exchange->connection, request->near, request->far, data,
						&task));
	return doca_rdma_task_write_as_task(task);
}

static struct doca_task *make_read(struct exchange *exchange, struct request *request, union doca_data data)
{
	struct doca_rdma_task_read *task;

	request->near = near_buf(exchange, request->at, request->len, 0);
	request->far = far_buf(exchange, CONST_AT, request->len, request->len);
	MUST(doca_rdma_task_read_allocate_init(exchange->rdma, exchange->connection, request->far, request->near, data,
					       &task));
	return doca_rdma_task_read_as_task(task);
}

static struct doca_task *make_add(struct exchange *exchange, struct request *request, union doca_data data)
{
	struct doca_rdma_task_atomic_fetch_add *task;

	request->near = near_buf(exchange, request->at, 8, 0);
	request->far = far_buf(exchange, SUM_AT, 8, 8);
	MUST(doca_rdma_task_atomic_fetch_add_allocate_init(exchange->rdma, exchange->connection, request->far,
							   request->near, 1, data, &task));
	return doca_rdma_task_atomic_fetch_add_as_task(task);
}

static struct request *free_request(struct exchange *exchange)
{
	for (uint32_t i = 0; i < exchange->depth; i++)
		if (!exchange->requests[i].ticket.in_flight)
			return &exchange->requests[i];
	return NULL;
}

/* The first eight bytes of a message or a write hold the number. A refused request is tried again. */
static void request_next(struct exchange *exchange)
{
	static struct doca_task *(*const make[NUM_KINDS])(
		struct exchange *, struct request *, union doca_data) = { make_send, make_write, make_read, make_add };
	struct side *side = exchange->side;
	struct request *request = free_request(exchange);
	uint64_t number = exchange->next;
	struct doca_task *task;

	if (!request)
		return;
	*request = (struct request){ .exchange = exchange,
				     .number = exchange->next,
				     .len = len_of(side, side->which, exchange->next),
				     .at = OUT_AT + (uint32_t)(request - exchange->requests) * ROOM_BYTES };
	memcpy(exchange->memory.addr + request->at, &number, 8);
	pattern_fill(exchange->memory.addr + request->at + 8, request->len - 8,
		     id_of(side, side->which, exchange->next));
	task = make[kind_of(side, side->which, request->number)](exchange, request,
								 (union doca_data){ .ptr = request });
	if (side_submit(side, task, &request->ticket)) {
		exchange->next++;
		exchange->in_flight++;
		return;
	}
	drop(request->near);
	drop(request->far);
	doca_task_free(task);
}

/* ---- receives ---- */

static bool is_right(const struct side *side, const uint8_t *bytes, uint32_t len, uint64_t number)
{
	return number < MAX_REQUESTS && kind_of(side, !side->which, (uint32_t)number) == KIND_SEND &&
	       len == len_of(side, !side->which, (uint32_t)number) &&
	       pattern_is(bytes + 8, len - 8, id_of(side, !side->which, (uint32_t)number));
}

static void take_message(struct exchange *exchange, const uint8_t *bytes, uint32_t len)
{
	struct side *side = exchange->side;
	uint64_t number = UINT64_MAX;

	if (len >= 8)
		memcpy(&number, bytes, 8);
	exchange->came++;
	side->seen->bytes += len;
	if (!is_right(side, bytes, len, number)) {
		side->seen->wrong_rdma++;
		return;
	}
	NEED(number >= exchange->newest); /* each once, in order */
	exchange->newest = (uint32_t)number + 1;
}

static void on_receive(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data);

static void post(struct exchange *exchange, struct place *place)
{
	struct doca_rdma_task_receive *task;

	place->buf = near_buf(exchange, place->index * ROOM_BYTES, ROOM_BYTES, 0);
	MUST(doca_rdma_task_receive_allocate_init(exchange->rdma, place->buf, (union doca_data){ .ptr = place },
						  &task));
	NEED(side_submit(exchange->side, doca_rdma_task_receive_as_task(task), &place->ticket));
}

static void on_receive(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data)
{
	struct place *place = task_data.ptr;
	struct exchange *exchange = place->exchange;
	struct side *side = exchange->side;
	uint32_t len = doca_rdma_task_receive_get_result_len(task);

	drop(place->buf);
	exchange->news_ms = side_now_ms();
	if (side_done(side, doca_rdma_task_receive_as_task(task), &place->ticket) == DOCA_SUCCESS)
		take_message(exchange, exchange->memory.addr + place->index * ROOM_BYTES, len);
	else
		side->seen->flushed++;
	if (!exchange->is_closing)
		post(exchange, place);
}

/* ---- life ---- */

static void open_memory(struct exchange *exchange, bool is_shared)
{
	struct side *side = exchange->side;

	side_memory_open(side, LEN,
			 DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |
				 DOCA_ACCESS_FLAG_RDMA_ATOMIC,
			 is_shared, &exchange->memory);
	pattern_fill(exchange->memory.addr + CONST_AT, CONST_BYTES, const_id(side, side->which));
	MUST(doca_buf_inventory_create(NUM_RECEIVES + 2 * MAX_DEPTH, &exchange->inventory));
	MUST(doca_buf_inventory_start(exchange->inventory));
}

static void open_context(struct exchange *exchange)
{
	struct side *side = exchange->side;
	struct doca_rdma *rdma;

	MUST(doca_rdma_create(side->dev, &rdma));
	exchange->rdma = rdma;
	exchange->ctx = doca_rdma_as_ctx(rdma);
	MUST(doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
						     DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC));
	MUST(doca_rdma_set_rnr_retry_count(rdma, 7)); /* the other may be stopped for a while */
	MUST(doca_rdma_task_receive_set_conf(rdma, on_receive, on_receive, NUM_RECEIVES));
	MUST(doca_rdma_task_send_set_conf(rdma, on_send, on_send, MAX_DEPTH));
	MUST(doca_rdma_task_write_set_conf(rdma, on_write, on_write, MAX_DEPTH));
	MUST(doca_rdma_task_read_set_conf(rdma, on_read, on_read, MAX_DEPTH));
	MUST(doca_rdma_task_atomic_fetch_add_set_conf(rdma, on_add, on_add, MAX_DEPTH));
	MUST(doca_pe_connect_ctx(side->pe, exchange->ctx));
	MUST(doca_ctx_start(exchange->ctx));
	for (uint32_t i = 0; i < NUM_RECEIVES; i++) {
		exchange->places[i] = (struct place){ .exchange = exchange, .index = i };
		post(exchange, &exchange->places[i]);
	}
}

static void say_hello(struct exchange *exchange)
{
	struct hello hello = { .addr = (uintptr_t)exchange->memory.addr };
	const void *bytes;
	size_t len;

	MUST(doca_rdma_export(exchange->rdma, &bytes, &len, &exchange->connection));
	NEED(len <= sizeof(hello.connection));
	memcpy(hello.connection, bytes, len);
	hello.connection_len = (uint32_t)len;
	MUST(doca_mmap_export_rdma(exchange->memory.mmap, exchange->side->dev, &bytes, &len));
	NEED(len <= sizeof(hello.memory));
	memcpy(hello.memory, bytes, len);
	hello.memory_len = (uint32_t)len;
	side_send(exchange->side, &hello, sizeof(hello));
}

/* Returns false if the other side was killed. */
static bool connect_to_other(struct exchange *exchange)
{
	struct side *side = exchange->side;
	struct hello hello;

	say_hello(exchange);
	if (!side_recv(side, &hello, sizeof(hello)))
		return false;
	exchange->far_addr = (uint8_t *)(uintptr_t)hello.addr;
	return MUST_UNLESS_ALONE(side, doca_mmap_create_from_export(NULL, hello.memory, hello.memory_len, side->dev,
								    &exchange->far)) &&
	       MUST_UNLESS_ALONE(side, doca_rdma_connect(exchange->rdma, hello.connection, hello.connection_len,
							 exchange->connection));
}

static void close_all(struct exchange *exchange)
{
	exchange->is_closing = true;
	side_stop(exchange->side, exchange->ctx);
	NEED(exchange->in_flight == 0);
	MUST(doca_rdma_destroy(exchange->rdma));
	if (exchange->far)
		MUST(doca_mmap_destroy(exchange->far));
	MUST(doca_buf_inventory_destroy(exchange->inventory));
	side_memory_close(&exchange->memory);
}

/* ---- the round ---- */

/* A request that hangs is given up with the context. */
static void request_all(struct exchange *exchange)
{
	struct side *side = exchange->side;

	exchange->news_ms = side_now_ms();
	while (exchange->in_flight > 0 || (exchange->next < exchange->count && !exchange->mine.is_gone)) {
		int64_t limit_ms = side->shared->calm ? SIDE_DEADLINE_MS : GIVE_UP_MS;

		if (exchange->next < exchange->count && !exchange->mine.is_gone)
			request_next(exchange);
		if (side_step(side) || side_now_ms() - exchange->news_ms < limit_ms)
			continue;
		NEED(!side->shared->calm);
		side->seen->hung += exchange->in_flight;
		exchange->is_closing = true;
		exchange->mine.is_gone = true;
		side_stop(side, exchange->ctx);
	}
}

static void check_written(const struct exchange *exchange, const struct total *other)
{
	struct side *side = exchange->side;

	for (uint32_t number = 0; number < MAX_REQUESTS; number++) {
		const uint8_t *at = exchange->memory.addr + WRITTEN_AT + number * WRITTEN_BYTES;
		uint32_t len = len_of(side, !side->which, number);
		uint64_t value = number;

		if (!other->is_written[number])
			continue;
		side->seen->wrong_rdma +=
			memcmp(at, &value, 8) != 0 || !pattern_is(at + 8, len - 8, id_of(side, !side->which, number));
		side->seen->bytes += len;
	}
}

static void check(struct exchange *exchange)
{
	struct side *side = exchange->side;
	struct total other;
	uint64_t sum;

	if (!side_recv(side, &other, sizeof(other)))
		return;
	SIDE_UNTIL(side, exchange->came >= other.num_sent || exchange->is_closing || side_is_alone(side));
	check_written(exchange, &other);
	memcpy(&sum, exchange->memory.addr + SUM_AT, sizeof(sum));
	NEED(other.is_gone ? sum >= other.num_adds : sum == other.num_adds);
	NEED(other.is_gone || exchange->is_closing || side->is_alone || exchange->came == other.num_sent);
}

void round_rdma(struct side *side)
{
	static struct exchange exchange;
	struct random random = side_random(side, 'r');
	bool is_connected;

	exchange = (struct exchange){ .side = side };
	exchange.count = (uint32_t)random_in(&random, 0, MAX_REQUESTS - 1);
	exchange.depth = (uint32_t)random_in(&random, 1, MAX_DEPTH);
	open_memory(&exchange, random_bool(&random));
	open_context(&exchange);
	is_connected = connect_to_other(&exchange);
	if (is_connected)
		request_all(&exchange);
	side_send(side, &exchange.mine, sizeof(exchange.mine));
	if (is_connected)
		check(&exchange);
	side_meet(side); /* the other may not be ready with its requests */
	side->seen->broken += exchange.mine.is_gone;
	close_all(&exchange);
}
