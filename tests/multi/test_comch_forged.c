/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of Comch that breaks its protocol: the handshake, announcements of consumers, records. The server refuses what
 * is malformed, ends the connection where it can't go on, and serves the next client. And a server that does. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "comch_endpoint.h"
#include "comch_forger.h"
#include "sim/shm/recvq.h"

/* ---- the honest end: says what it has seen when the test asks ---- */

struct seen {
	unsigned int num_connected, num_refused, num_consumers;
	uint64_t num_messages;
	uint32_t last_len;
};

static void count_consumer(struct endpoint *endpoint, struct doca_comch_connection *connection, uint32_t id,
			   bool is_new)
{
	struct seen *seen = endpoint->cfg.owner;

	seen->num_consumers += is_new ? 1u : -1u;
}

static void count_message(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
			  uint32_t len)
{
	struct seen *seen = endpoint->cfg.owner;

	seen->num_messages++;
	seen->last_len = len;
}

static void answer_test(int ctl, const struct endpoint *endpoint)
{
	struct seen *seen = endpoint->cfg.owner;
	uint64_t wanted;

	for (;;) {
		LOOP_UNTIL(endpoint->loop, proc_readable_within(ctl, 0));
		proc_recv(ctl, &wanted, sizeof(wanted)); /* messages */
		LOOP_UNTIL(endpoint->loop, seen->num_messages >= wanted);
		seen->num_connected = endpoint->num_connected;
		seen->num_refused = endpoint->num_refused;
		proc_send(ctl, seen, sizeof(*seen));
	}
}

static void open_loop(int ctl, struct loop *loop)
{
	uint64_t unused;

	proc_recv(ctl, &unused, sizeof(unused));
	loop_open(loop, true);
	loop_watch(loop, ctl);
}

static void run_server(int ctl)
{
	struct seen seen = { 0 };
	struct endpoint_cfg cfg = {
		.name = "target", .owner = &seen, .message = count_message, .consumer = count_consumer
	};
	struct endpoint endpoint;
	struct loop loop;

	open_loop(ctl, &loop);
	endpoint_open_server(&endpoint, &cfg, &loop, device_open(NULL));
	endpoint_start(&endpoint);
	proc_send(ctl, &seen, sizeof(seen));
	answer_test(ctl, &endpoint);
}

static void run_client(int ctl)
{
	struct seen seen = { 0 };
	struct endpoint_cfg cfg = { .name = "forged", .owner = &seen, .message = count_message };
	struct endpoint endpoint;
	struct loop loop;

	open_loop(ctl, &loop);
	endpoint_open_client(&endpoint, &cfg, &loop, device_open(NULL));
	endpoint_start(&endpoint);
	answer_test(ctl, &endpoint);
}

static struct proc honest;
static struct forger forger;
static uint64_t num_sent;

static struct seen ask(void)
{
	struct seen seen;

	proc_send(honest.ctl, &num_sent, sizeof(num_sent));
	proc_recv(honest.ctl, &seen, sizeof(seen));
	return seen;
}

/* ---- the test ---- */

static int setup(void **state)
{
	static const struct peer_role server_role = { "target", run_server };
	struct seen seen;

	card_setup(state);
	num_sent = 0;
	peer_start(&honest, "dpu", &server_role, &num_sent, sizeof(num_sent));
	proc_recv(honest.ctl, &seen, sizeof(seen));
	forger_open(&forger, "host");
	return 0;
}

static void connect_honestly(void)
{
	struct sim_handshake_msg msg;

	forger_handshake(&forger, &msg);
	assert_int_equal(forger_connect(&forger, "target", &msg), 0);
}

static void send_message(const void *bytes, size_t len)
{
	forger_send_record(&forger, SIM_PIPE_MESSAGE, bytes, len);
	num_sent++;
}

/* The honest end takes a message of the connection. Ends it. */
static void expect_message_taken(void)
{
	send_message("hello", 5);
	assert_int_equal(ask().last_len, 5);
	forger_close(&forger);
	proc_signal(&honest, SIGKILL);
	proc_wait(&honest);
	card_end();
}

/* The server still serves others. Ends it. */
static void expect_served(void)
{
	connect_honestly();
	expect_message_taken();
}

static void expect_refused(const struct sim_handshake_msg *msg)
{
	unsigned int before = ask().num_refused;

	assert_int_equal(forger_connect(&forger, "target", msg), -EPROTO);
	assert_int_equal(ask().num_refused, before + 1);
}

static void test_numbers_of_a_handshake_are_checked(void **state)
{
	const uint32_t max_records = forger.function->caps.comch_max_recv_queue;
	const struct {
		size_t offset;
		uint32_t value;
	} cases[] = {
		{ offsetof(struct sim_pipe_address, version), SIM_PIPE_VERSION + 1 },
		{ offsetof(struct sim_pipe_address, max_msg_bytes), 1 },
		{ offsetof(struct sim_pipe_address, recv_queue_size), 0 },
		{ offsetof(struct sim_pipe_address, recv_queue_size), max_records + 1 },
		{ offsetof(struct sim_pipe_address, recv_queue_size), UINT32_MAX },
		{ offsetof(struct sim_pipe_address, recv_queue_size), max_records }, /* more than its memory holds */
		{ offsetof(struct sim_pipe_address, slot), SIM_DOORBELL_SLOTS },
		{ offsetof(struct sim_pipe_address, slot), UINT32_MAX },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sim_handshake_msg msg;

		forger_handshake(&forger, &msg);
		memcpy(msg.body + cases[i].offset, &cases[i].value, sizeof(cases[i].value));
		expect_refused(&msg);
	}
	expect_served();
}

static void test_lengths_and_descriptors_of_a_handshake_are_checked(void **state)
{
	int memory = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct sim_handshake_msg honest, msg;

	assert_true(memory >= 0 && ftruncate(memory, 1 << 20) == 0);
	forger_handshake(&forger, &honest);
	for (uint32_t fd = 0; fd < SIM_PIPE_MAX_FDS; fd++) {
		msg = honest;
		msg.fds[fd] = memory; /* it could shrink; and it is no socket to wake up with */
		expect_refused(&msg);
		msg.num_fds = fd;
		expect_refused(&msg);
	}
	msg = honest;
	memcpy(msg.body + offsetof(struct sim_pipe_address, has_one_memory), &(uint32_t){ 1 }, sizeof(uint32_t));
	expect_refused(&msg); /* it has the descriptor of a second memory */
	msg.fds[SIM_PIPE_FD_RING] = msg.fds[SIM_PIPE_FD_DOORBELL];
	msg.num_fds = SIM_PIPE_FD_DOORBELL;
	expect_refused(&msg); /* its memory holds the doorbells alone */
	msg = honest;
	msg.len_bytes--;
	expect_refused(&msg);
	msg.len_bytes += 2;
	expect_refused(&msg);
	close(memory);
	expect_served();
}

/* A process's end of a pipe would block it, and closing a socket with SO_LINGER would. */
static void test_descriptors_that_are_no_wake_up_sockets_are_refused(void **state)
{
	struct sim_handshake_msg msg;
	int pipe_fds[2];

	assert_int_equal(pipe(pipe_fds), 0);
	forger_handshake(&forger, &msg);
	msg.fds[SIM_PIPE_FD_WAKE] = pipe_fds[1];
	expect_refused(&msg);
	msg.fds[SIM_PIPE_FD_WAKE] = STDERR_FILENO;
	expect_refused(&msg);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	expect_served();
}

/* ---- announcements ---- */

struct consumer {
	struct sim_consumer_info info;
	struct sim_segment memory;
	int fds[3];
	uint32_t num_fds;
};

static void consumer_open(struct consumer *consumer)
{
	static uint32_t id;
	const struct sim_recvq_cfg cfg = { .num_slots = 4, .max_imm_bytes = 8 };

	*consumer = (struct consumer){ .info = { .id = ++id, .num_slots = 4, .max_imm_bytes = 8, .stream_id = 1 },
				       .num_fds = 2 };
	assert_int_equal(sim_segment_create(sim_recvq_size(&cfg), &consumer->memory, &consumer->fds[0]), 0);
	consumer->fds[1] = consumer->fds[2] = forger.wake.send_fd;
}

static void consumer_close(struct consumer *consumer)
{
	close(consumer->fds[0]);
	sim_segment_unmap(&consumer->memory);
}

static void announce(const struct consumer *consumer)
{
	forger_announce(&forger, &consumer->info, consumer->fds, consumer->num_fds);
}

/* The server has read the announcement when it has the message behind it. Closes the consumer. */
static void expect_consumers(struct consumer *consumer, unsigned int expected)
{
	announce(consumer);
	send_message("x", 1);
	assert_int_equal(ask().num_consumers, expected);
	consumer_close(consumer);
}

static void test_numbers_of_an_announcement_are_checked(void **state)
{
	const struct pcie_caps *caps = &forger.function->caps;
	const struct {
		size_t offset;
		uint32_t value;
	} cases[] = {
		{ offsetof(struct sim_consumer_info, num_slots), 0 },
		{ offsetof(struct sim_consumer_info, num_slots), caps->comch_max_fast_tasks + 1 },
		{ offsetof(struct sim_consumer_info, num_slots), caps->comch_max_fast_tasks }, /* beyond its memory */
		{ offsetof(struct sim_consumer_info, num_slots), UINT32_MAX },
		{ offsetof(struct sim_consumer_info, max_imm_bytes), caps->comch_max_imm_bytes + 1 },
		{ offsetof(struct sim_consumer_info, max_imm_bytes), UINT32_MAX },
	};
	struct consumer consumer;

	connect_honestly();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		consumer_open(&consumer);
		memcpy((uint8_t *)&consumer.info + cases[i].offset, &cases[i].value, sizeof(cases[i].value));
		if (cases[i].offset == offsetof(struct sim_consumer_info, max_imm_bytes)) {
			sim_segment_unmap(&consumer.memory);
			close(consumer.fds[0]);
			assert_int_equal(sim_segment_create(1 << 20, &consumer.memory, &consumer.fds[0]), 0);
			consumer.info.num_slots = 1;
		}
		expect_consumers(&consumer, 0);
	}
	consumer_open(&consumer);
	expect_consumers(&consumer, 1);
	forger_send_end(&forger);
	forger_wait_closed(&forger);
	expect_served();
}

static void test_descriptors_of_an_announcement_are_checked(void **state)
{
	struct consumer consumer;

	connect_honestly();
	for (uint32_t num_fds = 0; num_fds <= 3; num_fds++) {
		consumer_open(&consumer);
		consumer.num_fds = num_fds;
		expect_consumers(&consumer, num_fds > 2 ? 1 : num_fds / 2);
	}
	consumer_open(&consumer);
	consumer.fds[1] = STDERR_FILENO;
	expect_consumers(&consumer, 1);
	forger_send_end(&forger);
	forger_wait_closed(&forger);
	expect_served();
}

static void test_a_connection_has_a_limited_number_of_consumers(void **state)
{
	const unsigned int limit = forger.function->caps.comch_max_consumers;
	struct consumer consumer;

	connect_honestly();
	for (unsigned int i = 0; i < limit; i++) {
		consumer_open(&consumer);
		expect_consumers(&consumer, i + 1);
	}
	consumer_open(&consumer);
	expect_consumers(&consumer, limit);
	forger_send_end(&forger);
	forger_wait_closed(&forger);
	expect_served();
}

/* ---- records ---- */

static void expect_end(uint32_t kind, const void *data, size_t len)
{
	uint64_t before = ask().num_messages;

	connect_honestly();
	forger_send_record(&forger, kind, data, len);
	assert_true(forger_wait_closed(&forger) < 0);
	assert_int_equal(ask().num_messages, before);
}

static void test_records_of_another_kind_or_length_end_the_connection(void **state)
{
	const uint8_t bytes[sizeof(struct sim_pipe_hdr)] = { 0 };

	for (size_t len = 0; len <= 2 * sizeof(struct sim_pipe_object); len++) {
		if (len == sizeof(struct sim_pipe_object))
			continue;
		expect_end(SIM_PIPE_ANNOUNCED, bytes, len);
		expect_end(SIM_PIPE_WITHDRAWN, bytes, len);
	}
	expect_end(SIM_PIPE_MESSAGE_WITH_HDR, bytes, sizeof(bytes) - 1);
	expect_end(0, bytes, sizeof(struct sim_pipe_object));
	expect_end(SIM_PIPE_MESSAGE_WITH_HDR + 1, bytes, sizeof(struct sim_pipe_object));
	expect_end(UINT32_MAX - 1, bytes, sizeof(struct sim_pipe_object));
	expect_served();
}

/* The ring has room for a header and a message: a message without the header can be too long. */
static void test_a_message_has_bytes_and_is_no_longer_than_agreed(void **state)
{
	const uint32_t max = forger.function->caps.comch_max_msg_bytes;
	uint8_t *bytes = calloc(1, max + sizeof(struct sim_pipe_hdr));

	assert_non_null(bytes);
	expect_end(SIM_PIPE_MESSAGE, bytes, 0);
	expect_end(SIM_PIPE_RECORDED_MESSAGE, bytes, 0);
	expect_end(SIM_PIPE_MESSAGE, bytes, max + 1);
	expect_end(SIM_PIPE_RECORDED_MESSAGE, bytes, max + sizeof(struct sim_pipe_hdr));
	connect_honestly();
	send_message(bytes, max);
	assert_int_equal(ask().last_len, max);
	free(bytes);
	forger_send_end(&forger);
	forger_wait_closed(&forger);
	expect_served();
}

/* ---- a server ---- */

static int setup_client(void **state)
{
	static const struct peer_role client_role = { "target", run_client };

	card_setup(state);
	num_sent = 0;
	forger_open(&forger, "dpu");
	forger_listen(&forger, "forged");
	peer_start(&honest, "host", &client_role, &num_sent, sizeof(num_sent));
	return 0;
}

/* One slot is a client's connection, another one is for servers alone, and the rest for nothing. */
static void test_a_client_stands_rings_of_slots_that_it_does_not_use(void **state)
{
	struct sim_handshake_msg msg;

	forger_handshake(&forger, &msg);
	assert_true(forger_accept(&forger, &msg, PROC_DEADLINE_MS));
	for (uint32_t slot = 0; slot < SIM_DOORBELL_SLOTS; slot++)
		sim_doorbell_ring(forger.peer_doorbells, slot);
	expect_message_taken();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, card_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_numbers_of_a_handshake_are_checked),
		TEST(test_lengths_and_descriptors_of_a_handshake_are_checked),
		TEST(test_descriptors_that_are_no_wake_up_sockets_are_refused),
		TEST(test_numbers_of_an_announcement_are_checked),
		TEST(test_descriptors_of_an_announcement_are_checked),
		TEST(test_a_connection_has_a_limited_number_of_consumers),
		TEST(test_records_of_another_kind_or_length_end_the_connection),
		TEST(test_a_message_has_bytes_and_is_no_longer_than_agreed),
		cmocka_unit_test_setup_teardown(test_a_client_stands_rings_of_slots_that_it_does_not_use, setup_client,
						card_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
