/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker thread with a consumer and a producer. */
#include "comch_fast.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_mmap.h>

#define IMM_BYTES sizeof(((struct fast_slot *)NULL)->imm)

/* ---- the consumers ---- */

void fast_consumers_init(struct fast_consumers *consumers)
{
	*consumers = (struct fast_consumers){ .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
}

void fast_learn(struct fast_consumers *consumers, uint32_t id, bool is_new)
{
	pthread_mutex_lock(&consumers->lock);
	if (is_new) {
		CHECK(consumers->count < FAST_MAX);
		consumers->ids[consumers->count++] = id;
	} else {
		consumers->expired++;
	}
	pthread_cond_broadcast(&consumers->changed);
	pthread_mutex_unlock(&consumers->lock);
}

void fast_over(struct fast_consumers *consumers)
{
	pthread_mutex_lock(&consumers->lock);
	consumers->over = true;
	pthread_cond_broadcast(&consumers->changed);
	pthread_mutex_unlock(&consumers->lock);
}

/* Whether all consumers are known. */
static bool wait_for_consumers(struct fast_consumers *consumers, unsigned int count)
{
	bool complete;

	pthread_mutex_lock(&consumers->lock);
	while (consumers->count < count && !consumers->over)
		pthread_cond_wait(&consumers->changed, &consumers->lock);
	complete = consumers->count >= count;
	pthread_mutex_unlock(&consumers->lock);
	return complete;
}

/* ---- messages ---- */

/* Kinds of messages: immediate data alone, through a slot, too long for a slot, and large. */
static uint32_t len_of(const struct fast *fast, uint32_t seq)
{
	static const uint32_t lens[] = { 0, 1, 256, 257, 65536, 0, 100, 1048576 };
	uint32_t len = lens[seq % (sizeof(lens) / sizeof(lens[0]))];

	return len < fast->cfg.max_len ? len : fast->cfg.max_len;
}

/* Every other message with a buffer has immediate data too. */
static bool has_imm(uint32_t len, uint32_t seq)
{
	return len == 0 || seq % 2 == 0;
}

/* The message's number among those of its sender. */
static uint32_t *seq_from(struct fast *fast, uint32_t producer_id)
{
	for (uint32_t i = 0; i < fast->cfg.num_peers; i++) {
		if (fast->seen[i].id == 0)
			fast->seen[i].id = producer_id;
		if (fast->seen[i].id == producer_id)
			return &fast->seen[i].seq;
	}
	CHECK(!"there are only so many producers");
	return NULL;
}

static void check_message(struct fast *fast, const struct doca_comch_consumer_task_post_recv *task)
{
	const struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf(task);
	uint32_t id = doca_comch_consumer_task_post_recv_get_producer_id(task);
	uint32_t *seq = seq_from(fast, id), len = len_of(fast, *seq);
	size_t data_len;
	void *data;

	MUST(doca_buf_get_data(buf, &data));
	MUST(doca_buf_get_data_len(buf, &data_len));
	CHECK_BYTES(data_len == len);
	CHECK_BYTES(pattern_is(data, len, id, *seq));
	CHECK_BYTES(doca_comch_consumer_task_post_recv_get_imm_data_len(task) == (has_imm(len, *seq) ? IMM_BYTES : 0));
	if (has_imm(len, *seq))
		CHECK_BYTES(pattern_is(doca_comch_consumer_task_post_recv_get_imm_data(task), IMM_BYTES, ~id, *seq));
	(*seq)++;
	fast->received++;
}

/* ---- the consumer ---- */

static void return_receive(struct doca_comch_consumer_task_post_recv *task)
{
	MUST(doca_buf_dec_refcount(doca_comch_consumer_task_post_recv_get_buf(task), NULL));
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void on_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
			union doca_data data)
{
	struct fast *fast = data.ptr;

	if (!fast->cfg.is_unchecked)
		check_message(fast, task);
	MUST(doca_buf_reset_data_len(doca_comch_consumer_task_post_recv_get_buf(task)));
	if (fast->consumer_state != DOCA_CTX_STATE_RUNNING)
		return_receive(task);
	else
		MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
}

/* When the consumer stops, all that are posted come back. */
static void on_receive_failed(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
			      union doca_data data)
{
	struct fast *fast = data.ptr;

	CHECK(doca_task_get_status(doca_comch_consumer_task_post_recv_as_task(task)) != DOCA_SUCCESS);
	CHECK(fast->consumer_state == DOCA_CTX_STATE_STOPPING || fast->cfg.endless);
	fast->unreceived++;
	return_receive(task);
}

static void on_consumer_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states from,
			      enum doca_ctx_states to)
{
	((struct fast *)data.ptr)->consumer_state = to;
}

static struct doca_buf *buf_at(struct fast *fast, unsigned int index)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_addr(fast->inventory, fast->mmap,
						fast->memory + (size_t)index * fast->cfg.max_len, fast->cfg.max_len,
						&buf));
	return buf;
}

static void post_receives(struct fast *fast)
{
	for (unsigned int i = 0; i < FAST_DEPTH; i++) {
		struct doca_comch_consumer_task_post_recv *task;

		MUST(doca_comch_consumer_task_post_recv_alloc_init(fast->consumer, buf_at(fast, i), &task));
		MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
	}
}

/* Only an endless run may lose its connection early. Returns true if the connection exists. */
static bool start(const struct fast *fast, struct doca_ctx *ctx, doca_error_t wanted)
{
	doca_error_t result = doca_ctx_start(ctx);

	CHECK(result == wanted || (fast->cfg.endless && result == DOCA_ERROR_NOT_CONNECTED));
	return result == wanted;
}

static void open_consumer(struct fast *fast)
{
	struct doca_ctx *ctx;

	MUST(doca_comch_consumer_create(fast->cfg.connection, fast->mmap, &fast->consumer));
	ctx = doca_comch_consumer_as_ctx(fast->consumer);
	MUST(doca_pe_connect_ctx(fast->loop.pe, ctx));
	MUST(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = fast }));
	MUST(doca_ctx_set_state_changed_cb(ctx, on_consumer_state));
	MUST(doca_comch_consumer_task_post_recv_set_conf(fast->consumer, on_received, on_receive_failed, FAST_DEPTH));
}

static void start_consumer(struct fast *fast)
{
	if (!start(fast, doca_comch_consumer_as_ctx(fast->consumer), DOCA_ERROR_IN_PROGRESS))
		return;
	LOOP_UNTIL(&fast->loop, fast->consumer_state != DOCA_CTX_STATE_STARTING);
	CHECK(fast->consumer_state == DOCA_CTX_STATE_RUNNING || fast->cfg.endless);
	if (fast->consumer_state == DOCA_CTX_STATE_RUNNING)
		post_receives(fast);
}

/* ---- the producer ---- */

/* The slot is free for the next message. */
static struct fast *end_send(struct doca_comch_producer_task_send *task, union doca_data task_data,
			     union doca_data data)
{
	((struct fast_slot *)task_data.ptr)->busy = false;
	doca_task_free(doca_comch_producer_task_send_as_task(task));
	return data.ptr;
}

static void on_sent(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data data)
{
	end_send(task, task_data, data)->sent++;
}

static void on_send_failed(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data data)
{
	CHECK(doca_task_get_status(doca_comch_producer_task_send_as_task(task)) != DOCA_SUCCESS);
	end_send(task, task_data, data)->failed++;
}

static void on_producer_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states from,
			      enum doca_ctx_states to)
{
	((struct fast *)data.ptr)->producer_state = to;
}

static void open_producer(struct fast *fast)
{
	struct doca_ctx *ctx;

	for (unsigned int i = 0; i < FAST_DEPTH; i++)
		fast->slots[i].buf = buf_at(fast, FAST_DEPTH + i);
	MUST(doca_comch_producer_create(fast->cfg.connection, &fast->producer));
	MUST(doca_comch_producer_get_id(fast->producer, &fast->producer_id));
	ctx = doca_comch_producer_as_ctx(fast->producer);
	MUST(doca_pe_connect_ctx(fast->loop.pe, ctx));
	MUST(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = fast }));
	MUST(doca_ctx_set_state_changed_cb(ctx, on_producer_state));
	MUST(doca_comch_producer_task_send_set_conf(fast->producer, on_sent, on_send_failed, FAST_DEPTH));
}

static void fill(struct fast *fast, struct fast_slot *slot, uint32_t seq)
{
	uint32_t len = len_of(fast, seq);
	void *head;

	MUST(doca_buf_get_head(slot->buf, &head));
	pattern_fill(head, len, fast->producer_id, seq);
	MUST(doca_buf_set_data(slot->buf, head, len));
	pattern_fill(slot->imm, IMM_BYTES, ~fast->producer_id, seq);
}

static doca_error_t submit(struct fast *fast, struct fast_slot *slot, uint32_t id, uint32_t seq)
{
	uint32_t len = len_of(fast, seq);
	struct doca_comch_producer_task_send *task;
	doca_error_t result;

	MUST(doca_comch_producer_task_send_alloc_init(fast->producer, len ? slot->buf : NULL,
						      has_imm(len, seq) ? slot->imm : NULL,
						      has_imm(len, seq) ? IMM_BYTES : 0, id, &task));
	doca_task_set_user_data(doca_comch_producer_task_send_as_task(task), (union doca_data){ .ptr = slot });
	result = doca_task_submit(doca_comch_producer_task_send_as_task(task));
	slot->busy = result == DOCA_SUCCESS;
	if (result != DOCA_SUCCESS)
		doca_task_free(doca_comch_producer_task_send_as_task(task));
	return result;
}

/* The next message to one consumer. Whether it could be sent. */
static bool send_next(struct fast *fast, struct fast_slot *slot, unsigned int peer)
{
	doca_error_t result;

	fill(fast, slot, fast->next_seq[peer]);
	result = submit(fast, slot, fast->cfg.consumers->ids[peer], fast->next_seq[peer]);
	if (result == DOCA_SUCCESS)
		fast->next_seq[peer]++;
	else if (result == DOCA_ERROR_AGAIN)
		fast->refused++;
	else
		CHECK(fast->cfg.endless); /* the connection is closed or closing */
	return result == DOCA_SUCCESS;
}

static struct fast_slot *free_slot(struct fast *fast)
{
	for (unsigned int i = 0; i < FAST_DEPTH; i++)
		if (!fast->slots[i].busy)
			return &fast->slots[i];
	return NULL;
}

/* Send all messages that can be sent now. Returns true if a send must be retried later without an event. */
static bool send_all(struct fast *fast)
{
	bool held = fast->cfg.held && *fast->cfg.held;
	uint32_t limit = fast->cfg.num_messages - held;
	bool refused = held;

	for (unsigned int i = 0; i < fast->cfg.num_peers; i++) {
		struct fast_slot *slot = free_slot(fast);

		if (fast->producer_state != DOCA_CTX_STATE_RUNNING || !slot)
			return refused;
		if (fast->cfg.endless || fast->next_seq[i] < limit)
			refused |= !send_next(fast, slot, i);
	}
	return refused;
}

/* ---- the thread ---- */

static bool is_over(const struct fast *fast)
{
	uint64_t all = (uint64_t)fast->cfg.num_peers * fast->cfg.num_messages;

	if (fast->cfg.endless)
		return fast->consumer_state == DOCA_CTX_STATE_IDLE && fast->producer_state == DOCA_CTX_STATE_IDLE;
	return (!fast->producer || fast->sent == all) && (!fast->consumer || fast->received == all);
}

static void stop(struct fast *fast, struct doca_ctx *ctx, const enum doca_ctx_states *state)
{
	doca_error_t result;

	if (!ctx)
		return;
	result = doca_ctx_stop(ctx);
	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	LOOP_UNTIL(&fast->loop, *state == DOCA_CTX_STATE_IDLE);
}

static void get_memory(struct fast *fast)
{
	const char *path = getenv("BFSIM_PATH");
	bool mapped = path && strcmp(path, "mapped") == 0; /* these paths need memory with a descriptor */
	int fd = mapped ? memfd_create("fast-path", MFD_CLOEXEC) : -1;
	size_t len = (size_t)fast->cfg.max_len * 2 * FAST_DEPTH;

	CHECK(!mapped || ftruncate(fd, (off_t)len) == 0);
	fast->memory =
		mmap(NULL, len, PROT_READ | PROT_WRITE, mapped ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	CHECK(fast->memory != MAP_FAILED);
	if (mapped)
		close(fd);
	MUST(doca_mmap_create(&fast->mmap));
	MUST(doca_mmap_set_memrange(fast->mmap, fast->memory, len));
	MUST(doca_mmap_set_permissions(fast->mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	MUST(doca_mmap_add_dev(fast->mmap, fast->cfg.dev));
	MUST(doca_mmap_start(fast->mmap));
	MUST(doca_buf_inventory_create(2 * FAST_DEPTH, &fast->inventory));
	MUST(doca_buf_inventory_start(fast->inventory));
}

static void put_memory(struct fast *fast)
{
	for (unsigned int i = 0; i < FAST_DEPTH; i++)
		if (fast->slots[i].buf)
			MUST(doca_buf_dec_refcount(fast->slots[i].buf, NULL));
	MUST(doca_buf_inventory_destroy(fast->inventory));
	MUST(doca_mmap_destroy(fast->mmap));
	munmap(fast->memory, (size_t)fast->cfg.max_len * 2 * FAST_DEPTH);
}

static void exchange(struct fast *fast)
{
	bool knows = fast->producer && wait_for_consumers(fast->cfg.consumers, fast->cfg.num_peers);
	char byte;

	CHECK(knows || !fast->producer || fast->cfg.endless);
	if (fast->cfg.freeze_fd >= 0)
		proc_recv(fast->cfg.freeze_fd, &byte, 1);
	while (!is_over(fast)) {
		bool later = knows && send_all(fast);

		loop_turn(&fast->loop, later ? 1 : -1);
	}
}

static void *run(void *arg)
{
	struct fast *fast = arg;

	if (fast->consumer)
		start_consumer(fast);
	if (fast->producer)
		start(fast, doca_comch_producer_as_ctx(fast->producer), DOCA_SUCCESS);
	exchange(fast);
	stop(fast, doca_comch_producer_as_ctx(fast->producer), &fast->producer_state);
	stop(fast, doca_comch_consumer_as_ctx(fast->consumer), &fast->consumer_state);
	if (fast->producer)
		MUST(doca_comch_producer_destroy(fast->producer));
	if (fast->consumer)
		MUST(doca_comch_consumer_destroy(fast->consumer));
	loop_close(&fast->loop);
	put_memory(fast);
	fast->done = true;
	CHECK(eventfd_write(fast->cfg.done_fd, 1) == 0);
	return NULL;
}

void fast_start(struct fast *fast, const struct fast_cfg *cfg)
{
	*fast = (struct fast){ .cfg = *cfg };
	get_memory(fast);
	loop_open(&fast->loop, fast->cfg.sleeps);
	if (fast->cfg.consumes)
		open_consumer(fast);
	if (fast->cfg.produces)
		open_producer(fast);
	CHECK(pthread_create(&fast->thread, NULL, run, fast) == 0);
}

void fast_join(struct fast *fast)
{
	CHECK(pthread_join(fast->thread, NULL) == 0);
}
