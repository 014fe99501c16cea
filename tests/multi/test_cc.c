/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch in the spelling of 2.5 and 2.6: one program, built with each spelling (CC_SPELLING is 25 or 26). It tests a
 * ping-pong of control messages, one message of the fast path, and the attributes of devices and objects. */
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_cc.h>
#include <doca_cc_consumer.h>
#include <doca_cc_producer.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "cmocka_test.h"
#include "session_util.h"
#include "doca_device.h"

#define NAME        "cc"
#define NUM_PINGS   100
#define LOG_TASKS   4
#define MAX_MSG     1000
#define BLOCK_BYTES 4096

#if CC_SPELLING == 25
typedef size_t cc_size;
typedef bool cc_flag;
typedef int cc_consumer_id;
typedef struct doca_cc_send_task send_task;
typedef struct doca_cc_consumer_post_recv_task recv_task;
typedef struct doca_cc_producer_send_task produce_task;
#define SEND_AS_TASK                      doca_cc_send_task_as_task
#define SEND_ALLOC(kind)                  doca_cc_##kind##_send_task_alloc_init
#define SEND_CONF(kind, of, done, failed) doca_cc_##kind##_send_task_set_conf(of, done, failed, LOG_TASKS)
#define RECV(what)                        doca_cc_consumer_post_recv_task_##what
#define RECV_CONF(of, done, failed)       doca_cc_consumer_post_recv_task_set_conf(of, done, failed, LOG_TASKS)
#define PRODUCE(what)                     doca_cc_producer_send_task_##what
#define PRODUCE_CONF(of, done, failed)    doca_cc_producer_send_task_set_conf(of, done, failed, LOG_TASKS)
#else
typedef uint32_t cc_size;
typedef uint8_t cc_flag;
typedef uint32_t cc_consumer_id;
typedef struct doca_cc_task_send send_task;
typedef struct doca_cc_consumer_task_post_recv recv_task;
typedef struct doca_cc_producer_task_send produce_task;
#define SEND_AS_TASK                      doca_cc_task_send_as_task
#define SEND_ALLOC(kind)                  doca_cc_##kind##_task_send_alloc_init
#define SEND_CONF(kind, of, done, failed) doca_cc_##kind##_task_send_set_conf(of, done, failed, 1 << LOG_TASKS)
#define RECV(what)                        doca_cc_consumer_task_post_recv_##what
#define RECV_CONF(of, done, failed)       doca_cc_consumer_task_post_recv_set_conf(of, done, failed, 1 << LOG_TASKS)
#define PRODUCE(what)                     doca_cc_producer_task_send_##what
#define PRODUCE_CONF(of, done, failed)    doca_cc_producer_task_send_set_conf(of, done, failed, 1 << LOG_TASKS)
#endif

/* ---- in the processes ---- */

static struct {
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	struct doca_cc_server *server;
	struct doca_cc_client *client;
	struct doca_cc_connection *connection;
	uint32_t sent, received, consumer;
	bool consumer_expired, produced, consumed;
	uint32_t last;
} end;

static void on_sent(send_task *task, union doca_data task_data, union doca_data ctx_data)
{
	CHECK(task_data.u64 == 0 && ctx_data.ptr == &end);
	MUST(doca_task_get_status(SEND_AS_TASK(task)));
	doca_task_free(SEND_AS_TASK(task));
	end.sent++;
}

/* Long enough to reveal a wrong length. */
static void send_ping(uint32_t number)
{
	static uint8_t message[MAX_MSG];
	send_task *task;

	memcpy(message, &number, sizeof(number));
	if (end.server)
		MUST(SEND_ALLOC(server)(end.server, end.connection, message, sizeof(number) + number, &task));
	else
		MUST(SEND_ALLOC(client)(end.client, end.connection, message, sizeof(number) + number, &task));
	MUST(doca_task_submit(SEND_AS_TASK(task)));
}

static void on_message(struct doca_cc_event_msg_recv *event, uint8_t *bytes, cc_size len,
		       struct doca_cc_connection *connection)
{
	CHECK(event && connection == end.connection);
	memcpy(&end.last, bytes, sizeof(end.last));
	CHECK(len == sizeof(end.last) + end.last);
	end.received++;
	if (end.server)
		send_ping(end.last);
}

static void on_connect(struct doca_cc_event_connection_status_changed *event, struct doca_cc_connection *connection,
		       cc_flag well)
{
	CHECK(event && well == 1);
	CHECK(doca_cc_server_get_server_ctx(connection) == end.server);
	end.connection = connection;
}

static void on_disconnect(struct doca_cc_event_connection_status_changed *event, struct doca_cc_connection *connection,
			  cc_flag well)
{
	CHECK(event && well == 1 && connection == end.connection);
	end.connection = NULL;
}

static void on_consumer(struct doca_cc_event_consumer *event, struct doca_cc_connection *connection, uint32_t id)
{
	CHECK(event && connection == end.connection);
	end.consumer = id;
}

static void on_expired(struct doca_cc_event_consumer *event, struct doca_cc_connection *connection, uint32_t id)
{
	CHECK(event && connection == end.connection && id == end.consumer);
	end.consumer_expired = true;
}

#define UNTIL(condition)                  \
	do                                \
		doca_pe_progress(end.pe); \
	while (!(condition))

static bool has_state(struct doca_ctx *ctx, enum doca_ctx_states wanted)
{
	enum doca_ctx_states state;

	MUST(doca_ctx_get_state(ctx, &state));
	return state == wanted;
}

static void start(struct doca_ctx *ctx)
{
	doca_error_t result;

	MUST(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = &end }));
	MUST(doca_pe_connect_ctx(end.pe, ctx));
	result = doca_ctx_start(ctx);
	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	UNTIL(has_state(ctx, DOCA_CTX_STATE_RUNNING));
}

static void stop(struct doca_ctx *ctx)
{
	doca_error_t result = doca_ctx_stop(ctx);

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	while (!has_state(ctx, DOCA_CTX_STATE_IDLE))
		doca_pe_progress(end.pe);
}

static void open_device(const char *side)
{
	memset(&end, 0, sizeof(end));
	setenv("BFSIM_SIDE", side, 1);
	end.dev = device_open(NULL);
	MUST(doca_pe_create(&end.pe));
	if (strcmp(side, "dpu") == 0)
		end.rep = device_open_rep(end.dev, NULL);
}

/* A getter returns the size that was set; a size beyond Comch's own numbers is refused, not truncated. */
#define CHECK_SIZES(kind, of)                                                                                         \
	do {                                                                                                          \
		struct doca_dev *dev_;                                                                                \
		cc_size size_ = 7;                                                                                    \
                                                                                                                      \
		MUST(doca_cc_##kind##_set_max_msg_size(of, MAX_MSG));                                                 \
		MUST(doca_cc_##kind##_get_max_msg_size(of, &size_));                                                  \
		CHECK(size_ == MAX_MSG);                                                                              \
		MUST(doca_cc_##kind##_set_recv_queue_size(of, 20));                                                   \
		MUST(doca_cc_##kind##_get_recv_queue_size(of, &size_));                                               \
		CHECK(size_ == 20);                                                                                   \
		CHECK(doca_cc_##kind##_set_recv_queue_size(of, (UINT64_C(1) << 32) + 1) == DOCA_ERROR_INVALID_VALUE); \
		CHECK(doca_cc_##kind##_get_recv_queue_size(of, NULL) == DOCA_ERROR_INVALID_VALUE);                    \
		MUST(doca_cc_##kind##_get_device(of, &dev_));                                                         \
		CHECK(dev_ == end.dev);                                                                               \
	} while (0)

static void start_server(void)
{
	struct doca_dev_rep *rep;

	open_device("dpu");
	CHECK(doca_cc_server_create(end.dev, end.rep, NAME, NULL) == DOCA_ERROR_INVALID_VALUE);
	MUST(doca_cc_server_create(end.dev, end.rep, NAME, &end.server));
	CHECK_SIZES(server, end.server);
	MUST(doca_cc_server_get_device_repr(end.server, &rep));
	CHECK(rep == end.rep);
	MUST(SEND_CONF(server, end.server, on_sent, on_sent));
	CHECK(doca_cc_server_event_msg_recv_register(end.server, NULL) == DOCA_ERROR_INVALID_VALUE);
	MUST(doca_cc_server_event_msg_recv_register(end.server, on_message));
	MUST(doca_cc_server_event_connection_register(end.server, on_connect, on_disconnect));
	MUST(doca_cc_server_event_consumer_register(end.server, on_consumer, on_expired));
	end.ctx = doca_cc_server_as_ctx(end.server);
	start(end.ctx);
}

static void start_client(void)
{
	open_device("host");
	MUST(doca_cc_client_create(end.dev, NAME, &end.client));
	CHECK_SIZES(client, end.client);
	MUST(SEND_CONF(client, end.client, on_sent, on_sent));
	MUST(doca_cc_client_event_msg_recv_register(end.client, on_message));
	MUST(doca_cc_client_event_consumer_register(end.client, on_consumer, on_expired));
	end.ctx = doca_cc_client_as_ctx(end.client);
	start(end.ctx);
	MUST(doca_cc_client_get_connection(end.client, &end.connection));
	CHECK(doca_cc_client_get_client_ctx(end.connection) == end.client);
}

static uint64_t counter(enum doca_cc_counter which)
{
	uint64_t value;

	MUST(doca_cc_connection_get_counter(end.connection, which, &value));
	return value;
}

/* ---- the fast path: the host's producer, the DPU's consumer ---- */

struct block {
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_buf *buf;
	uint8_t *bytes;
};

static void make_block(struct block *block, bool is_full)
{
	block->bytes = calloc(1, BLOCK_BYTES);
	for (int i = 0; is_full && i < BLOCK_BYTES; i++)
		block->bytes[i] = (uint8_t)(i * 7);
	MUST(doca_mmap_create(&block->mmap));
	MUST(doca_mmap_add_dev(block->mmap, end.dev));
	MUST(doca_mmap_set_permissions(block->mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	MUST(doca_mmap_set_memrange(block->mmap, block->bytes, BLOCK_BYTES));
	MUST(doca_mmap_start(block->mmap));
	MUST(doca_buf_inventory_create(1, &block->inventory));
	MUST(doca_buf_inventory_start(block->inventory));
	if (is_full)
		MUST(doca_buf_inventory_buf_get_by_data(block->inventory, block->mmap, block->bytes, BLOCK_BYTES,
							&block->buf));
	else
		MUST(doca_buf_inventory_buf_get_by_addr(block->inventory, block->mmap, block->bytes, BLOCK_BYTES,
							&block->buf));
}

static void free_block(struct block *block)
{
	MUST(doca_buf_dec_refcount(block->buf, NULL));
	MUST(doca_buf_inventory_destroy(block->inventory));
	MUST(doca_mmap_destroy(block->mmap));
	free(block->bytes);
}

static void on_consumed(recv_task *task, union doca_data task_data, union doca_data ctx_data)
{
	const struct block *block = task_data.ptr;

	CHECK(ctx_data.ptr == &end);
	MUST(doca_task_get_status(RECV(as_task)(task)));
	CHECK(RECV(get_buf)(task) == block->buf);
#if CC_SPELLING == 26
	CHECK(doca_cc_consumer_task_post_recv_get_producer_id(task) != 0);
#endif
	for (int i = 0; i < BLOCK_BYTES; i++)
		CHECK(block->bytes[i] == (uint8_t)(i * 7));
	doca_task_free(RECV(as_task)(task));
	end.consumed = true;
}

static void consume(void)
{
	struct doca_cc_consumer *consumer;
	struct block block;
	recv_task *task;
	uint32_t id;

	make_block(&block, false);
	MUST(doca_cc_consumer_create(end.connection, block.mmap, &consumer));
	MUST(RECV_CONF(consumer, on_consumed, on_consumed));
	start(doca_cc_consumer_as_ctx(consumer));
	MUST(doca_cc_consumer_get_id(consumer, &id));
	MUST(RECV(alloc_init)(consumer, block.buf, &task));
	RECV(set_buf)(task, block.buf);
	doca_task_set_user_data(RECV(as_task)(task), (union doca_data){ .ptr = &block });
	MUST(doca_task_submit(RECV(as_task)(task)));
	UNTIL(end.consumed);
	stop(doca_cc_consumer_as_ctx(consumer));
	MUST(doca_cc_consumer_destroy(consumer));
	free_block(&block);
}

static void on_produced(produce_task *task, union doca_data task_data, union doca_data ctx_data)
{
	const struct block *block = task_data.ptr;

	CHECK(ctx_data.ptr == &end);
	MUST(doca_task_get_status(PRODUCE(as_task)(task)));
	CHECK(PRODUCE(get_buf)(task) == block->buf);
	CHECK(PRODUCE(get_consumer_id)(task) == (cc_consumer_id)end.consumer);
	doca_task_free(PRODUCE(as_task)(task));
	end.produced = true;
}

/* Returns false while the consumer has not posted its task. */
static bool submit_to_consumer(struct doca_task *task)
{
	doca_error_t result = doca_task_submit(task);

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN);
	return result == DOCA_SUCCESS;
}

static void produce(void)
{
	struct doca_cc_producer *producer;
	struct block block;
	produce_task *task;

	UNTIL(end.consumer);
	make_block(&block, true);
	MUST(doca_cc_producer_create(end.connection, &producer));
	MUST(PRODUCE_CONF(producer, on_produced, on_produced));
	start(doca_cc_producer_as_ctx(producer));
	MUST(PRODUCE(alloc_init)(producer, block.buf, (cc_consumer_id)end.consumer, &task));
	PRODUCE(set_buf)(task, block.buf);
	PRODUCE(set_consumer_id)(task, (cc_consumer_id)end.consumer);
	doca_task_set_user_data(PRODUCE(as_task)(task), (union doca_data){ .ptr = &block });
	UNTIL(submit_to_consumer(PRODUCE(as_task)(task)));
	UNTIL(end.produced);
	UNTIL(end.consumer_expired);
	stop(doca_cc_producer_as_ctx(producer));
	MUST(doca_cc_producer_destroy(producer));
	free_block(&block);
}

/* ---- both ---- */

static void echo_server(int ctl, const void *unused)
{
	start_server();
	proc_send(ctl, "", 1);
	UNTIL(end.connection);
	MUST(doca_cc_connection_set_user_data(end.connection, (union doca_data){ .u64 = 42 }));
	UNTIL(end.received == NUM_PINGS && end.sent == NUM_PINGS);
	CHECK(doca_cc_connection_get_user_data(end.connection).u64 == 42);
	consume();
	UNTIL(!end.connection);
	stop(end.ctx);
	MUST(doca_cc_server_destroy(end.server));
}

static void pinging_client(int ctl, const void *unused)
{
	start_client();
	for (uint32_t i = 0; i < NUM_PINGS; i++) {
		send_ping(i);
		UNTIL(end.received == i + 1);
		CHECK(end.last == i);
	}
	MUST(doca_cc_connection_update_info(end.connection));
	CHECK(counter(DOCA_CC_COUNTER_SENT_MESSAGES) == NUM_PINGS);
	CHECK(counter(DOCA_CC_COUNTER_RECV_MESSAGES) == NUM_PINGS);
	CHECK(counter(DOCA_CC_COUNTER_SENT_BYTES) == counter(DOCA_CC_COUNTER_RECV_BYTES));
	produce();
	stop(end.ctx);
	MUST(doca_cc_client_destroy(end.client));
}

static void test_pings_and_a_block_arrive(void **state)
{
	struct proc server, client;
	char byte;

	proc_start(&server, echo_server, NULL);
	proc_recv(server.ctl, &byte, 1);
	proc_start(&client, pinging_client, NULL);
	assert_int_equal(proc_wait(&client), 0);
	assert_int_equal(proc_wait(&server), 0);
}

/* ---- capabilities ---- */

static void ask_device(int ctl, const void *unused)
{
	struct doca_devinfo **list;
	uint32_t count, num;
	cc_size size = 0;

	setenv("BFSIM_SIDE", "dpu", 1);
	MUST(doca_devinfo_create_list(&list, &count));
	MUST(doca_cc_cap_server_is_supported(list[0]));
	CHECK(doca_cc_cap_client_is_supported(list[0]) == DOCA_ERROR_NOT_SUPPORTED);
	MUST(doca_cc_cap_get_max_name_len(list[0], &num));
	CHECK(num == 120);
	MUST(doca_cc_cap_get_max_msg_size(list[0], &size));
	CHECK(size == 4080);
	MUST(doca_cc_cap_get_max_recv_queue_size(list[0], &size));
	CHECK(size == 8192);
	MUST(doca_cc_cap_get_max_send_tasks(list[0], &size));
	CHECK(size == 8192);
	MUST(doca_cc_cap_get_max_clients(list[0], &size));
	CHECK(size == 2048);
	CHECK(doca_cc_cap_get_max_clients(list[0], (cc_size *)NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_cc_cap_get_max_clients(NULL, &size) == DOCA_ERROR_INVALID_VALUE);
	MUST(doca_cc_consumer_cap_get_max_buf_size(list[0], &size));
	CHECK(size == 1 << 30);
	MUST(doca_cc_producer_cap_get_max_buf_size(list[0], &size));
	CHECK(size == 1 << 30);
#if CC_SPELLING == 25
	MUST(doca_cc_cap_is_consumer_supported(list[0]));
	MUST(doca_cc_cap_is_producer_supported(list[0]));
	MUST(doca_cc_consumer_cap_get_max_log_num_tasks(list[0], &size));
	CHECK(size == 11);
	MUST(doca_cc_producer_cap_get_max_log_num_tasks(list[0], &size));
	CHECK(size == 11);
#else
	MUST(doca_cc_consumer_cap_is_supported(list[0]));
	MUST(doca_cc_producer_cap_is_supported(list[0]));
	MUST(doca_cc_consumer_cap_get_max_num_tasks(list[0], &num));
	CHECK(num == 2048);
	MUST(doca_cc_producer_cap_get_max_num_tasks(list[0], &num));
	CHECK(num == 2048);
	MUST(doca_cc_consumer_cap_get_max_consumers(list[0], &num));
	CHECK(num == 1024);
	MUST(doca_cc_producer_cap_get_max_producers(list[0], &num));
	CHECK(num == 1024);
#endif
	MUST(doca_devinfo_destroy_list(list));
}

static void test_device_says_what_comch_says(void **state)
{
	struct proc dpu;

	proc_start(&dpu, ask_device, NULL);
	assert_int_equal(proc_wait(&dpu), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pings_and_a_block_arrive, session_setup, session_stop_teardown),
		cmocka_unit_test_setup_teardown(test_device_says_what_comch_says, session_setup, session_stop_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
