/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers and producers for tests of the Comch data path. */
#include "comch_fast.h"

#include <sys/mman.h>

/* ---- memory ---- */

struct doca_mmap *arena_map(struct arena *arena, size_t offset, size_t len, uint32_t access)
{
	struct doca_mmap *map;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_set_memrange(map, arena->bytes + offset, len));
	MUST(doca_mmap_set_permissions(map, access));
	MUST(doca_mmap_add_dev(map, arena->dev));
	MUST(doca_mmap_start(map));
	return map;
}

struct arena *arena_open(struct doca_dev *dev)
{
	struct arena *arena = calloc(1, sizeof(*arena));

	CHECK(arena);
	arena->dev = dev;
	arena->bytes = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(arena->bytes != MAP_FAILED);
	arena->mmap = arena_map(arena, 0, ARENA_BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	MUST(doca_buf_inventory_create(64, &arena->inventory));
	MUST(doca_buf_inventory_start(arena->inventory));
	return arena;
}

void arena_close(struct arena *arena)
{
	uint32_t all, unused;

	MUST(doca_buf_inventory_get_num_elements(arena->inventory, &all));
	MUST(doca_buf_inventory_get_num_free_elements(arena->inventory, &unused));
	CHECK(all == unused);
	MUST(doca_buf_inventory_destroy(arena->inventory));
	MUST(doca_mmap_destroy(arena->mmap));
	munmap(arena->bytes, arena->gone_bytes > 0 ? arena->gone : ARENA_BYTES);
	if (arena->gone_bytes > 0)
		munmap(arena->bytes + arena->gone + arena->gone_bytes, ARENA_BYTES - arena->gone - arena->gone_bytes);
	free(arena);
}

void arena_unmap(struct arena *arena, size_t offset, size_t len)
{
	if (arena->gone_bytes > 0)
		return;
	CHECK(munmap(arena->bytes + offset, len) == 0);
	arena->gone = offset;
	arena->gone_bytes = len;
}

struct doca_buf *arena_empty(struct arena *arena, size_t offset, size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_addr(arena->inventory, arena->mmap, arena->bytes + offset, len, &buf));
	return buf;
}

struct doca_buf *arena_text(struct arena *arena, size_t offset, const char *text)
{
	struct doca_buf *buf = arena_empty(arena, offset, strlen(text));

	memcpy(arena->bytes + offset, text, strlen(text));
	MUST(doca_buf_set_data(buf, arena->bytes + offset, strlen(text)));
	return buf;
}

/* ---- callbacks ---- */

static void react(struct comch_actor *actor, struct doca_task *task, struct doca_buf *buf)
{
	if (actor->on.task) {
		actor->on.task(actor, task);
		return;
	}
	doca_task_free(task);
	if (buf)
		MUST(doca_buf_dec_refcount(buf, NULL));
}

static void note_what_came(struct side *side, unsigned int number, struct doca_comch_consumer_task_post_recv *recv)
{
	struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf(recv);
	uint32_t imm_len = doca_comch_consumer_task_post_recv_get_imm_data_len(recv);
	const uint8_t *imm = doca_comch_consumer_task_post_recv_get_imm_data(recv);
	void *data = NULL;
	size_t len = 0;

	CHECK(!imm == (imm_len == 0));
	if (buf) {
		MUST(doca_buf_get_data(buf, &data));
		MUST(doca_buf_get_data_len(buf, &len));
	}
	comch_note(side, "got %u:", number);
	if (len > 40)
		comch_note(side, " %zu bytes", len);
	else if (len > 0)
		comch_note(side, " \"%.*s\"", (int)len, (char *)data);
	if (imm)
		comch_note(side, " + \"%.*s\"", (int)imm_len, (const char *)imm);
	comch_note(side, "\n");
}

static void on_received(struct doca_comch_consumer_task_post_recv *recv, union doca_data number, union doca_data data)
{
	struct comch_actor *actor = data.ptr;
	struct doca_task *task = doca_comch_consumer_task_post_recv_as_task(recv);

	CHECK(actor == comch_actor_of(task) && doca_task_get_status(task) == DOCA_SUCCESS);
	CHECK(doca_comch_consumer_task_post_recv_get_producer_id(recv) > 0);
	if (!actor->side->is_quiet)
		note_what_came(actor->side, (unsigned int)number.u64, recv);
	react(actor, task, doca_comch_consumer_task_post_recv_get_buf(recv));
}

static void on_receive_failed(struct doca_comch_consumer_task_post_recv *recv, union doca_data number,
			      union doca_data data)
{
	struct comch_actor *actor = data.ptr;
	struct doca_task *task = doca_comch_consumer_task_post_recv_as_task(recv);

	CHECK(doca_task_get_status(task) != DOCA_SUCCESS);
	comch_note(actor->side, "recv %u failed: %s\n", (unsigned int)number.u64,
		   doca_error_get_name(doca_task_get_status(task)));
	react(actor, task, doca_comch_consumer_task_post_recv_get_buf(recv));
}

static void on_put(struct doca_comch_producer_task_send *send, union doca_data number, union doca_data data)
{
	struct comch_actor *actor = data.ptr;
	struct doca_task *task = doca_comch_producer_task_send_as_task(send);
	doca_error_t status = doca_task_get_status(task);

	CHECK(actor == comch_actor_of(task));
	actor->side->num_sent++;
	if (status != DOCA_SUCCESS)
		comch_note(actor->side, "put %u failed: %s\n", (unsigned int)number.u64, doca_error_get_name(status));
	else if (!actor->side->is_quiet)
		comch_note(actor->side, "put %u\n", (unsigned int)number.u64);
	react(actor, task, (struct doca_buf *)(uintptr_t)doca_comch_producer_task_send_get_buf(send));
}

/* ---- actors ---- */

struct comch_actor *fast_consumer(struct side *side, struct doca_comch_connection *connection, struct arena *arena,
				  struct doca_comch_consumer **ret_consumer)
{
	MUST(doca_comch_consumer_create(connection, arena->mmap, ret_consumer));
	MUST(doca_comch_consumer_task_post_recv_set_conf(*ret_consumer, on_received, on_receive_failed, FAST_TASKS));
	return comch_actor(side, "consumer", doca_comch_consumer_as_ctx(*ret_consumer));
}

struct comch_actor *fast_producer(struct side *side, struct doca_comch_connection *connection,
				  struct doca_comch_producer **ret_producer)
{
	MUST(doca_comch_producer_create(connection, ret_producer));
	MUST(doca_comch_producer_task_send_set_conf(*ret_producer, on_put, on_put, FAST_TASKS));
	return comch_actor(side, "producer", doca_comch_producer_as_ctx(*ret_producer));
}

void fast_start(struct comch_actor *actor)
{
	char before[sizeof(actor->side->trace)];
	doca_error_t result;

	strcpy(before, actor->side->trace);
	result = doca_ctx_start(actor->ctx);
	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	comch_until(actor->side, comch_state(actor) != DOCA_CTX_STATE_STARTING);
	CHECK(comch_state(actor) == DOCA_CTX_STATE_RUNNING); /* the connection has not gone meanwhile */
	strcpy(actor->side->trace, before);
}

static void stop(struct comch_actor *actor)
{
	doca_error_t result = doca_ctx_stop(actor->ctx);

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	comch_until(actor->side, comch_state(actor) == DOCA_CTX_STATE_IDLE);
}

void fast_end_consumer(struct comch_actor *actor, struct doca_comch_consumer *consumer)
{
	stop(actor);
	MUST(doca_comch_consumer_destroy(consumer));
	free(actor);
}

void fast_end_producer(struct comch_actor *actor, struct doca_comch_producer *producer)
{
	stop(actor);
	MUST(doca_comch_producer_destroy(producer));
	free(actor);
}

/* ---- tasks ---- */

struct doca_comch_consumer_task_post_recv *fast_recv(struct doca_comch_consumer *consumer, uint64_t number,
						     struct doca_buf *buf)
{
	struct doca_comch_consumer_task_post_recv *recv;

	MUST(doca_comch_consumer_task_post_recv_alloc_init(consumer, buf, &recv));
	doca_task_set_user_data(doca_comch_consumer_task_post_recv_as_task(recv), (union doca_data){ .u64 = number });
	return recv;
}

void fast_post(struct doca_comch_consumer *consumer, uint64_t number, struct doca_buf *buf)
{
	MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(fast_recv(consumer, number, buf))));
}

struct doca_comch_producer_task_send *fast_send(struct doca_comch_producer *producer, uint64_t number,
						const struct doca_buf *buf, const char *imm, uint32_t to)
{
	struct doca_comch_producer_task_send *send;

	MUST(doca_comch_producer_task_send_alloc_init(producer, buf, (uint8_t *)(uintptr_t)imm,
						      imm ? (uint32_t)strlen(imm) : 0, to, &send));
	doca_task_set_user_data(doca_comch_producer_task_send_as_task(send), (union doca_data){ .u64 = number });
	return send;
}

doca_error_t fast_try(struct doca_comch_producer *producer, uint64_t number, const struct doca_buf *buf,
		      const char *imm, uint32_t to)
{
	struct doca_task *task = doca_comch_producer_task_send_as_task(fast_send(producer, number, buf, imm, to));
	doca_error_t result = doca_task_submit(task);

	if (result != DOCA_SUCCESS)
		doca_task_free(task);
	return result;
}

void fast_put(struct doca_comch_producer *producer, uint64_t number, const struct doca_buf *buf, const char *imm,
	      uint32_t to)
{
	MUST(fast_try(producer, number, buf, imm, to));
}

/* ---- both ends ---- */

void fast_open_dpu(struct fast *fast, struct side *side)
{
	*fast = (struct fast){ .endpoint = comch_serve(side), .arena = arena_open(side->dev) };
	fast->actor = fast_consumer(side, side->connection, fast->arena, &fast->consumer);
	fast_start(fast->actor);
}

void fast_open_host(struct fast *fast, struct side *side)
{
	*fast = (struct fast){ .endpoint = comch_call(side), .arena = arena_open(side->dev) };
	comch_expect(side, "new consumer\n");
	fast->peer = side->consumer;
	fast->actor = fast_producer(side, side->connection, &fast->producer);
	fast_start(fast->actor);
}

void fast_close(struct fast *fast)
{
	if (fast->consumer)
		fast_end_consumer(fast->actor, fast->consumer);
	if (fast->producer)
		fast_end_producer(fast->actor, fast->producer);
	comch_meet_progressing(fast->endpoint->side);
	comch_end(fast->endpoint);
	arena_close(fast->arena);
}
