/* SPDX-License-Identifier: BSD-3-Clause */
/* An importer that keeps its connection and its grant, and asks for what it may not have: over both transports. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "actor.h"
#include "raw_client.h"
#include "sim/fabric/served/served_priv.h"

#define DPU_FUNCTION  0 /* of the built-in topology */
#define HOST_FUNCTION 2

/* A connection to the exporter's helper, and the grant of one memory. */
struct raw_importer {
	int sock; /* to the daemon */
	uint64_t key;
	enum sim_transport transport;
	struct sim_grant grant;
	struct served_wait wait;
	struct served_initiator_ring ring;
};

static struct sim_msg call_with_fd(int sock, struct sim_msg msg, int *ret_fd)
{
	msg.seq = 77;
	assert_int_equal(sim_msg_send(sock, &msg, -1), 0);
	assert_true(proc_readable_within(sock, PROC_DEADLINE_MS));
	assert_int_equal(sim_msg_recv(sock, &msg, ret_fd), 0);
	assert_int_equal(msg.status, 0);
	return msg;
}

/* What the importer says of the exporter's own key counts for nothing. */
static void raw_import(struct raw_importer *importer, const struct actor_key *key, enum sim_transport transport)
{
	struct sim_msg import = { .type = SIM_MSG_IMPORT,
				  .body.import = { .key = key->key, .function = DPU_FUNCTION } };
	struct sim_msg describe = {
		.type = SIM_MSG_DESCRIBE,
		.body.describe = { .id = key->key.id, .memory = UINT64_MAX, .transport = transport, .connect = 1 }
	};
	int fd = -1;

	*importer = (struct raw_importer){ .sock = raw_attach("dpu"), .key = key->key.id, .transport = transport };
	assert_int_equal(raw_call(importer->sock, import).status, 0);
	importer->grant = call_with_fd(importer->sock, describe, &fd).body.described;
	assert_true(fd >= 0);
	importer->wait = (struct served_wait){ .sock = fd, .events = POLLIN, .len_bytes = 1 };
	if (transport == SIM_TRANSPORT_SHM)
		assert_int_equal(served_initiator_ring_open(fd, &importer->ring, &importer->wait), 0);
}

static int request(struct raw_importer *importer, bool is_write, uint64_t offset, uint8_t *byte)
{
	const struct served_op op = {
		.grant = &importer->grant, .kind = is_write, .local = byte, .offset = offset, .len = 1
	};
	bool is_in_step;

	return importer->transport == SIM_TRANSPORT_SHM ?
		       served_initiator_ring_copy(&importer->ring, &op, &importer->wait, &is_in_step) :
		       served_initiator_stream_copy(&op, &importer->wait, &is_in_step);
}

static void raw_close(struct raw_importer *importer)
{
	if (importer->transport == SIM_TRANSPORT_SHM)
		served_initiator_ring_close(&importer->ring);
	close(importer->wait.sock);
	close(importer->sock);
}

/* A process that says what the test wants, and serves its memory by a ring. */
struct raw_exporter {
	int sock, importer_fd;
	struct served_table table;
	struct served_conn conn;
};

static struct sim_grant raw_expose(struct raw_exporter *exporter)
{
	static uint8_t memory[ACTOR_BYTES];
	struct sim_grant grant;

	exporter->conn = (struct served_conn){ .sock = -1, .ring_fd = -1 };
	assert_int_equal(served_table_add(&exporter->table, memory, sizeof(memory), false, &grant), 0);
	assert_int_equal(served_shm_open(&exporter->conn, &exporter->importer_fd), 0);
	return grant;
}

static struct actor_reply serve_until_answer(struct raw_exporter *exporter, struct actor *actor)
{
	while (!proc_readable_within(actor->proc.ctl, 1))
		served_shm_serve(&exporter->table, &exporter->conn);
	return actor_finish(actor);
}

static void raw_unexpose(struct raw_exporter *exporter)
{
	sim_segment_unmap(&exporter->conn.segment);
	close(exporter->conn.ring_fd);
	close(exporter->conn.sock);
	served_table_fini(&exporter->table);
	close(exporter->sock);
}

/* The importer tells the daemon that it accesses the memory no more, and does so over its connection. */
static void test_a_stopped_map_is_out_of_reach_over_an_open_connection(void **state)
{
	for (enum sim_transport transport = 0; transport < SIM_NUM_TRANSPORTS; transport++) {
		struct sim_msg released = { .type = SIM_MSG_REVOKED, .is_reply = 1 };
		struct raw_importer importer;
		struct actor_key key, other;
		struct actor host;
		uint8_t byte = 0;

		assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), 0);
		assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
		assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &other), 0);
		raw_import(&importer, &key, transport);
		assert_int_equal(request(&importer, false, 5, &byte), 0);
		assert_int_equal(byte, key.fill);
		actor_begin(&host, &(struct actor_request){ .op = ACTOR_UNEXPORT, .memory = key.number });
		released.seq = raw_recv(importer.sock).seq;
		raw_send(importer.sock, released, -1);
		assert_int_equal(actor_finish(&host).rc, 0);
		assert_int_equal(request(&importer, false, 5, &byte), -ESTALE);
		assert_int_equal(request(&importer, true, 5, &byte), -ESTALE);
		raw_close(&importer);
		actor_detach(&host);
	}
}

/* The DPU gives the network access to memory of the host, and ends that: an importer that keeps its connection to the host has
 * no grant any more, though the host's export lives on. */
static void test_an_alias_that_ended_is_out_of_reach_over_an_open_connection(void **state)
{
	for (enum sim_transport transport = 0; transport < SIM_NUM_TRANSPORTS; transport++) {
		struct sim_msg released = { .type = SIM_MSG_REVOKED, .is_reply = 1 };
		struct raw_importer of_host, of_dpu;
		struct actor_key key, alias;
		struct actor host, dpu;
		uint8_t byte = 0;

		assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), 0);
		assert_int_equal(actor_attach(&dpu, test_session.dir, "dpu", NULL), 0);
		assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
		assert_int_equal(actor_import(&dpu, &key), 0);
		assert_int_equal(actor_export_imported(&dpu, &key, &alias), 0);
		raw_import(&of_host, &key, transport);
		raw_import(&of_dpu, &alias, transport);
		assert_int_equal(request(&of_dpu, false, 5, &byte), 0);
		assert_int_equal(byte, key.fill);
		assert_int_equal(request(&of_dpu, false, ACTOR_BYTES, &byte), -EFAULT);
		actor_begin(&dpu, &(struct actor_request){ .op = ACTOR_END_ALIAS, .key = alias.key });
		released.seq = raw_recv(of_dpu.sock).seq;
		raw_send(of_dpu.sock, released, -1);
		assert_int_equal(actor_finish(&dpu).rc, 0);
		assert_int_equal(request(&of_dpu, false, 5, &byte), -ESTALE);
		assert_int_equal(request(&of_dpu, true, 5, &byte), -ESTALE);
		assert_int_equal(request(&of_host, false, 5, &byte), 0);
		raw_close(&of_dpu);
		raw_close(&of_host);
		actor_detach(&dpu);
		actor_detach(&host);
	}
}

/* The importer does not answer: the host's call waits for it as long as the daemon waits for those that are stopped. */
static void test_an_alias_ends_with_its_origin_over_an_open_connection(void **state)
{
	for (enum sim_transport transport = 0; transport < SIM_NUM_TRANSPORTS; transport++) {
		struct raw_importer importer;
		struct actor_key key, alias;
		struct actor host, dpu;
		uint8_t byte = 0;

		assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), 0);
		assert_int_equal(actor_attach(&dpu, test_session.dir, "dpu", NULL), 0);
		assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
		assert_int_equal(actor_import(&dpu, &key), 0);
		assert_int_equal(actor_export_imported(&dpu, &key, &alias), 0);
		raw_import(&importer, &alias, transport);
		assert_int_equal(request(&importer, false, 5, &byte), 0);
		assert_int_equal(actor_unexport(&host, &key), 0);
		assert_int_equal(request(&importer, false, 5, &byte), -ESTALE);
		raw_close(&importer);
		actor_detach(&dpu);
		actor_detach(&host);
	}
}

static void test_a_read_only_export_is_not_written(void **state)
{
	for (enum sim_transport transport = 0; transport < SIM_NUM_TRANSPORTS; transport++) {
		struct raw_importer importer;
		struct actor_key key;
		struct actor host;
		uint8_t byte;

		assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), 0);
		assert_int_equal(actor_export(&host, ACTOR_READ_ONLY, &key), 0);
		raw_import(&importer, &key, transport);
		byte = (uint8_t)~key.fill;
		assert_int_equal(request(&importer, true, 5, &byte), -EACCES);
		assert_int_equal(request(&importer, false, 5, &byte), 0);
		assert_int_equal(byte, key.fill);
		assert_int_equal(request(&importer, false, ACTOR_BYTES, &byte), -EFAULT);
		raw_close(&importer);
		actor_detach(&host);
	}
}

/* The exporter revokes its memory before it describes the path to it, and serves the path for ever. */
static void test_memory_that_is_revoked_while_its_import_opens_is_out_of_reach(void **state)
{
	struct sim_msg export = {
		.type = SIM_MSG_EXPORT,
		.body.export = { .len_bytes = ACTOR_BYTES, .access = SIM_ACCESS_READ, .function = HOST_FUNCTION }
	};
	struct sim_msg revoke = { .type = SIM_MSG_REVOKE, .seq = 99 }, describe, answer;
	struct actor_request import = { .op = ACTOR_IMPORT }, read = { .op = ACTOR_READ };
	struct raw_exporter exporter = { .sock = raw_attach("host") };
	struct actor dpu;

	import.key = raw_call(exporter.sock, export).body.exported;
	assert_int_equal(actor_attach(&dpu, test_session.dir, "dpu", "shm"), 0);
	actor_begin(&dpu, &import);
	describe = raw_recv(exporter.sock);
	assert_int_equal(describe.type, SIM_MSG_DESCRIBE);
	revoke.body.key.id = import.key.id;
	raw_send(exporter.sock, revoke, -1);
	answer = (struct sim_msg){ .type = SIM_MSG_DESCRIBE, .is_reply = 1, .seq = describe.seq };
	answer.body.described = raw_expose(&exporter);
	raw_send(exporter.sock, answer, exporter.importer_fd);
	close(exporter.importer_fd);
	if (serve_until_answer(&exporter, &dpu).rc == 0) {
		actor_begin(&dpu, &read);
		assert_true(serve_until_answer(&exporter, &dpu).rc < 0);
	}
	raw_unexpose(&exporter);
	actor_detach(&dpu);
}

/* The path that is forced does not reach the memory. */
static void test_an_import_without_a_path_is_none_for_the_daemon(void **state)
{
	struct actor host, dpu;
	struct actor_key key;
	char text[8192];

	assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), 0);
	assert_int_equal(actor_attach(&dpu, test_session.dir, "dpu", "mapped"), 0);
	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), -ENOTSUP);
	assert_int_equal(actor_export(&dpu, ACTOR_ANONYMOUS, &key),
			 0); /* the daemon has handled all earlier messages */
	daemon_read_status(test_session.dir, text, sizeof(text));
	assert_non_null(strstr(text, "\"imports\":0"));
	assert_null(strstr(text, "\"imports\":1"));
	actor_detach(&dpu);
	actor_detach(&host);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup, session_stop_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_stopped_map_is_out_of_reach_over_an_open_connection),
		TEST(test_an_alias_that_ended_is_out_of_reach_over_an_open_connection),
		TEST(test_an_alias_ends_with_its_origin_over_an_open_connection),
		TEST(test_a_read_only_export_is_not_written),
		TEST(test_memory_that_is_revoked_while_its_import_opens_is_out_of_reach),
		TEST(test_an_import_without_a_path_is_none_for_the_daemon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
