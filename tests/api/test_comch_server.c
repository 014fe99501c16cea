/* SPDX-License-Identifier: BSD-3-Clause */
/* The server: which clients it accepts under which name, its configuration, and how it disconnects clients. */
#include "comch_util.h"
#include "log_file.h"

/* unreachable: doca_comch_server_create DOCA_ERROR_INITIALIZATION: no mutex is initialized that could fail to be
 * unreachable: doca_comch_server_get_device DOCA_ERROR_BAD_STATE: the device never changes
 * unreachable: doca_comch_server_get_device_rep DOCA_ERROR_BAD_STATE: the representor never changes
 * unreachable: doca_comch_server_get_max_msg_size DOCA_ERROR_BAD_STATE: it can be read in any state
 * unreachable: doca_comch_server_disconnect DOCA_ERROR_AGAIN: the end of a connection goes through no queue
 */

static void some_send(struct doca_comch_task_send *task, union doca_data a, union doca_data b)
{
}

static void some_receive(struct doca_comch_event_msg_recv *event, uint8_t *data, uint32_t len,
			 struct doca_comch_connection *connection)
{
}

static void some_status(struct doca_comch_event_connection_status_changed *event,
			struct doca_comch_connection *connection, uint8_t change_successful)
{
}

static void some_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
			  uint32_t id)
{
}

/* ---- creation ---- */

static void test_server_is_made_of_a_device_a_representor_and_a_name_dpu(struct side *side)
{
	struct doca_comch_server *server = NULL;
	struct doca_dev *small = comch_open("03:00.2"), *dev;
	struct doca_dev_rep *small_rep = comch_open_rep(small, "b1:00.1"), *rep;
	char name[201];

	/* provokes: doca_comch_server_create DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_server_create(NULL, side->rep, "x", &server), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_create(side->dev, NULL, "x", &server), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_create(side->dev, (struct doca_dev_rep *)side->dev, "x", &server),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_create(side->dev, side->rep, NULL, &server), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_create(side->dev, side->rep, "", &server), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_create(side->dev, side->rep, "x", NULL), DOCA_ERROR_INVALID_VALUE);
	memset(name, 'n', 200); /* the limits are 120 and 8, with the zero byte */
	for (int len = 200; len > 119; len--) {
		name[len] = '\0';
		EXPECT(doca_comch_server_create(side->dev, side->rep, name, &server), DOCA_ERROR_INVALID_VALUE);
	}
	EXPECT(doca_comch_server_create(small, small_rep, "12345678", &server), DOCA_ERROR_INVALID_VALUE);
	CHECK(!server);
	name[119] = '\0';
	MUST(doca_comch_server_create(side->dev, side->rep, name, &server));
	EXPECT(doca_dev_close(side->dev), DOCA_ERROR_IN_USE);
	/* provokes: doca_comch_server_get_device DOCA_ERROR_INVALID_VALUE */
	MUST(doca_comch_server_get_device(server, &dev));
	EXPECT(doca_comch_server_get_device(server, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_get_device(NULL, &dev), DOCA_ERROR_INVALID_VALUE);
	/* provokes: doca_comch_server_get_device_rep DOCA_ERROR_INVALID_VALUE */
	MUST(doca_comch_server_get_device_rep(server, &rep));
	EXPECT(doca_comch_server_get_device_rep(server, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_get_device_rep(NULL, &rep), DOCA_ERROR_INVALID_VALUE);
	CHECK(dev == side->dev && rep == side->rep);
	MUST(doca_comch_server_get_device_repr(server, &rep)); /* its name in 2.7 */
	EXPECT(doca_comch_server_get_device_repr(NULL, &rep), DOCA_ERROR_INVALID_VALUE);
	CHECK(rep == side->rep);
	MUST(doca_comch_server_destroy(server));
	/* provokes: doca_comch_server_destroy DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_server_destroy(server), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK(!doca_comch_server_as_ctx(server) && !doca_comch_server_as_ctx(NULL));
	MUST(doca_comch_server_create(small, small_rep, "1234567", &server));
	MUST(doca_comch_server_destroy(server));
	MUST(doca_dev_rep_close(small_rep));
	MUST(doca_dev_close(small));
}

static void test_server_needs_callbacks_to_start_dpu(struct side *side)
{
	struct doca_comch_server *server;
	struct doca_ctx *ctx;

	MUST(doca_comch_server_create(side->dev, side->rep, "x", &server));
	ctx = doca_comch_server_as_ctx(server);
	MUST(doca_pe_connect_ctx(side->pe, ctx));
	EXPECT(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	MUST(doca_comch_server_task_send_set_conf(server, some_send, some_send, 1));
	EXPECT(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	MUST(doca_comch_server_event_msg_recv_register(server, some_receive));
	EXPECT(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	MUST(doca_comch_server_event_connection_register(server, some_status, some_status)); /* its name in 2.7 */
	MUST(doca_ctx_start(ctx)); /* consumers' events are not needed */
	/* provokes: doca_comch_server_destroy DOCA_ERROR_IN_USE */
	EXPECT(doca_comch_server_destroy(server), DOCA_ERROR_IN_USE);
	EXPECT(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	while (doca_comch_server_destroy(server) != DOCA_SUCCESS)
		doca_pe_progress(side->pe);
}

static void test_representor_must_be_the_devices_own_dpu(struct side *side)
{
	struct doca_dev *small = comch_open("03:00.2");
	struct comch_actor *server = comch_server(side, small, side->rep, "x");
	FILE *log = log_file_open(DOCA_LOG_LEVEL_ERROR);

	EXPECT(doca_ctx_start(server->ctx), DOCA_ERROR_INVALID_VALUE);
	CHECK(log_file_has(log,
			   "mlx5_2 (0000:03:00.2) does not hold the representor of the host's mlx5_0 0000:b1:00.0"));
	CHECK(log_file_has(log, "create the server on mlx5_0 (0000:03:00.0)"));
	comch_end(server);
	MUST(doca_dev_close(small));
}

#define MAX_SERVICES 256 /* of a process: doc/security.md */

static struct doca_comch_server *start_named(struct side *side, int number, doca_error_t expected)
{
	struct doca_comch_server *server;
	char name[16];

	snprintf(name, sizeof(name), "service %d", number);
	MUST(doca_comch_server_create(side->dev, side->rep, name, &server));
	MUST(doca_pe_connect_ctx(side->pe, doca_comch_server_as_ctx(server)));
	MUST(doca_comch_server_task_send_set_conf(server, some_send, some_send, 1));
	MUST(doca_comch_server_event_msg_recv_register(server, some_receive));
	MUST(doca_comch_server_event_connection_status_changed_register(server, some_status, some_status));
	EXPECT(doca_ctx_start(doca_comch_server_as_ctx(server)), expected);
	return server;
}

static void end_server(struct side *side, struct doca_comch_server *server)
{
	while (doca_comch_server_destroy(server) != DOCA_SUCCESS)
		doca_pe_progress(side->pe);
}

static void test_one_server_too_many_is_refused_dpu(struct side *side)
{
	struct doca_comch_server *servers[MAX_SERVICES], *one_more;
	FILE *log = log_file_open(DOCA_LOG_LEVEL_ERROR);

	for (int i = 0; i < MAX_SERVICES; i++)
		servers[i] = start_named(side, i, DOCA_SUCCESS);
	one_more = start_named(side, MAX_SERVICES, DOCA_ERROR_INITIALIZATION);
	CHECK(log_file_has(log, "this process has 256 services, as many as one may have; stop some"));
	CHECK(log_file_has(log, "there is no room for another Comch server (\"service 256\")"));
	EXPECT(doca_ctx_stop(doca_comch_server_as_ctx(servers[0])), DOCA_ERROR_IN_PROGRESS);
	end_server(side, servers[0]);
	MUST(doca_ctx_start(doca_comch_server_as_ctx(one_more)));
	servers[0] = one_more;
	for (int i = 0; i < MAX_SERVICES; i++) {
		EXPECT(doca_ctx_stop(doca_comch_server_as_ctx(servers[i])), DOCA_ERROR_IN_PROGRESS);
		end_server(side, servers[i]);
	}
}

/* ---- names ---- */

static void test_name_is_taken_once_on_a_representor_dpu(struct side *side)
{
	struct doca_dev_rep *other_rep = comch_open_rep(side->dev, "b1:00.2");
	struct comch_actor *first = comch_server(side, side->dev, side->rep, "x");
	struct comch_actor *second = comch_server(side, side->dev, side->rep, "x");
	struct comch_actor *longer = comch_server(side, side->dev, side->rep, "xx");
	struct comch_actor *other = comch_server(side, side->dev, other_rep, "x");

	comch_start(first);
	EXPECT(doca_ctx_start(second->ctx), DOCA_ERROR_IN_USE);
	comch_start(longer);
	comch_start(other);
	comch_forget(side);
	EXPECT(doca_ctx_stop(first->ctx), DOCA_ERROR_IN_PROGRESS);
	comch_expect(side, "server: running -> stopping\nserver: stopping -> idle\n");
	comch_start(second); /* the name is free again */
	EXPECT(doca_ctx_start(first->ctx), DOCA_ERROR_IN_USE);
	comch_end(first);
	comch_end(second);
	comch_end(longer);
	comch_end(other);
	MUST(doca_dev_rep_close(other_rep));
}

static void test_clients_reach_the_server_of_their_function_dpu(struct side *side)
{
	struct doca_dev_rep *vf = comch_open_rep(side->dev, "b1:00.2");
	struct comch_actor *of_pf = comch_server(side, side->dev, side->rep, "x");
	struct comch_actor *of_vf = comch_server(side, side->dev, vf, "x");

	comch_start(of_pf);
	comch_start(of_vf);
	comch_forget(side);
	comch_sync_send(side, 0);
	comch_expect(side, "connected\nreceived \"PF\"\n");
	CHECK(doca_comch_server_get_server_ctx(side->connection) == of_pf->server);
	comch_sync_send(side, 0);
	comch_expect(side, "connected\nreceived \"VF\"\n");
	CHECK(doca_comch_server_get_server_ctx(side->connection) == of_vf->server);
	comch_end(of_pf);
	comch_end(of_vf);
	MUST(doca_dev_rep_close(vf));
}

static void test_clients_reach_the_server_of_their_function_host(struct side *side)
{
	struct doca_dev *vf = comch_open("b1:00.2");
	struct comch_actor *clients[2] = { comch_client(side, side->dev, "x"), comch_client(side, vf, "x") };

	for (int i = 0; i < 2; i++) {
		comch_sync_recv(side);
		comch_start(clients[i]);
		comch_expect(side, "client: idle -> starting\nclient: starting -> running\n");
		MUST(doca_comch_client_get_connection(clients[i]->client, &side->connection));
		comch_send(clients[i], side->connection, 1, i == 0 ? "PF" : "VF");
		comch_until(side, side->num_sent == (uint32_t)i + 1);
		comch_forget(side);
	}
	for (int i = 0; i < 2; i++) {
		comch_until(side, comch_state(clients[i]) == DOCA_CTX_STATE_IDLE); /* their servers stop */
		comch_end(clients[i]);
	}
	MUST(doca_dev_close(vf));
}

/* ---- as many as the device takes ---- */

static void test_one_client_too_many_is_refused_dpu(struct side *side)
{
	struct doca_dev *small = comch_open("03:00.2");
	struct doca_dev_rep *rep = comch_open_rep(small, "b1:00.1");
	struct comch_actor *server = comch_server(side, small, rep, "x");

	comch_start(server);
	comch_expect(side, "server: idle -> running\nconnected\nrefused\ndisconnected\nconnected\ndisconnected\n");
	comch_end(server);
	MUST(doca_dev_rep_close(rep));
	MUST(doca_dev_close(small));
}

static void test_one_client_too_many_is_refused_host(struct side *side)
{
	struct doca_dev *small = comch_open("b1:00.1");
	struct comch_actor *first = comch_client(side, small, "x"), *second = comch_client(side, small, "x");

	comch_start(first);
	comch_expect(side, "client: idle -> starting\nclient: starting -> running\n");
	comch_start(second);
	comch_expect(side, "client: idle -> starting\nclient: starting -> stopping\nclient: stopping -> idle\n");
	comch_end(first);
	comch_forget(side);
	comch_start(second);
	comch_expect(side, "client: idle -> starting\nclient: starting -> running\n");
	comch_end(second);
	MUST(doca_dev_close(small));
}

/* ---- configuration ---- */

static void test_server_takes_values_up_to_the_devices_limits_dpu(struct side *side)
{
	struct comch_actor *actor = comch_server(side, side->dev, side->rep, "x");
	struct doca_comch_server *server = actor->server;
	uint32_t value;

	/* provokes: doca_comch_server_set_max_msg_size DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_server_set_max_msg_size(server, 0), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_set_max_msg_size(server, 4081), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_set_max_msg_size(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_comch_server_set_max_msg_size(server, 4080));
	MUST(doca_comch_server_set_max_msg_size(server, 1));
	/* provokes: doca_comch_server_get_max_msg_size DOCA_ERROR_INVALID_VALUE */
	MUST(doca_comch_server_get_max_msg_size(server, &value));
	CHECK(value == 1);
	EXPECT(doca_comch_server_get_max_msg_size(server, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_get_max_msg_size(NULL, &value), DOCA_ERROR_INVALID_VALUE);
	/* provokes: doca_comch_server_set_recv_queue_size DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_server_set_recv_queue_size(server, 0), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_set_recv_queue_size(server, 8193), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_set_recv_queue_size(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_comch_server_set_recv_queue_size(server, 8192));
	/* provokes: doca_comch_server_get_recv_queue_size DOCA_ERROR_INVALID_VALUE */
	MUST(doca_comch_server_get_recv_queue_size(server, &value));
	CHECK(value == 8192);
	EXPECT(doca_comch_server_get_recv_queue_size(server, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_get_recv_queue_size(NULL, &value), DOCA_ERROR_INVALID_VALUE);
	/* provokes: doca_comch_server_task_send_set_conf DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_server_task_send_set_conf(server, some_send, some_send, 0), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_task_send_set_conf(server, some_send, some_send, 8193), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_task_send_set_conf(server, NULL, some_send, 1), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_task_send_set_conf(server, some_send, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_task_send_set_conf(NULL, some_send, some_send, 1), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_comch_server_task_send_set_conf(server, some_send, some_send, 8192));
	/* provokes: doca_comch_server_event_msg_recv_register DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_server_event_msg_recv_register(server, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_event_msg_recv_register(NULL, some_receive), DOCA_ERROR_INVALID_VALUE);
	/* provokes: doca_comch_server_event_consumer_register DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_server_event_consumer_register(server, NULL, some_consumer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_event_consumer_register(server, some_consumer, NULL), DOCA_ERROR_INVALID_VALUE);
	/* provokes: doca_comch_server_event_connection_status_changed_register DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_server_event_connection_status_changed_register(server, NULL, some_status),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_event_connection_status_changed_register(server, some_status, NULL),
	       DOCA_ERROR_INVALID_VALUE);
	comch_end(actor);
}

static void expect_settled(struct comch_actor *actor, enum doca_ctx_states state)
{
	struct doca_comch_server *server = actor->server;

	if (state == DOCA_CTX_STATE_IDLE)
		return;
	/* provokes: doca_comch_server_set_max_msg_size DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_server_set_max_msg_size(server, 1), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comch_server_set_recv_queue_size DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_server_set_recv_queue_size(server, 1), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comch_server_task_send_set_conf DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_server_task_send_set_conf(server, some_send, some_send, 1), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comch_server_event_msg_recv_register DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_server_event_msg_recv_register(server, some_receive), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comch_server_event_consumer_register DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_server_event_consumer_register(server, some_consumer, some_consumer), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comch_server_event_connection_status_changed_register DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_server_event_connection_status_changed_register(server, some_status, some_status),
	       DOCA_ERROR_BAD_STATE);
	EXPECT(doca_comch_server_event_connection_register(server, some_status, some_status), DOCA_ERROR_BAD_STATE);
	EXPECT(doca_ctx_start(actor->ctx), DOCA_ERROR_BAD_STATE);
}

static void test_server_is_configured_while_idle_only_dpu(struct side *side)
{
	struct comch_actor *server = comch_server(side, side->dev, side->rep, "x");

	server->on.state = expect_settled;
	for (int i = 0; i < 3; i++) {
		comch_start(server);
		EXPECT(doca_ctx_stop(server->ctx), DOCA_ERROR_IN_PROGRESS);
		comch_expect(side, "server: idle -> running\nserver: running -> stopping\nserver: stopping -> idle\n");
		MUST(doca_comch_server_set_max_msg_size(server->server, 100));
	}
	comch_end(server);
}

/* ---- disconnecting clients ---- */

static void test_server_disconnects_a_client_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side), *other = comch_server(side, side->dev, side->rep, "other");
	struct doca_comch_connection *gone = side->connection;

	/* provokes: doca_comch_server_disconnect DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_server_disconnect(NULL, gone), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_disconnect(server->server, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_disconnect(server->server, (struct doca_comch_connection *)side->dev),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_disconnect(other->server, gone), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_comch_server_disconnect(server->server, gone));
	EXPECT(doca_comch_server_disconnect(server->server, gone), DOCA_ERROR_INVALID_VALUE);
	comch_expect(side,
		     "connected\n"); /* the client connects again; the server gets no event for its own disconnect */
	MUST(doca_comch_server_disconnect(server->server, side->connection));
	comch_end(other);
	comch_end(server);
}

static void test_server_disconnects_a_client_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);

	comch_expect(side, "client: running -> stopping\nclient: stopping -> idle\n");
	comch_start(client);
	comch_expect(side, "client: idle -> starting\nclient: starting -> running\nclient: running -> stopping\n"
			   "client: stopping -> idle\n");
	comch_end(client);
}

static void test_stopped_server_disconnects_all_dpu(struct side *side)
{
	struct comch_actor *server = comch_server(side, side->dev, side->rep, COMCH_NAME);

	comch_start(server);
	comch_expect(side, "server: idle -> running\nconnected\nconnected\n");
	comch_end(server);
	comch_sync_recv(side); /* clients get the disconnect although this process stays */
}

static void test_stopped_server_disconnects_all_host(struct side *side)
{
	struct comch_actor *clients[2];

	for (int i = 0; i < 2; i++) {
		clients[i] = comch_client(side, side->dev, COMCH_NAME);
		comch_start(clients[i]);
	}
	for (int i = 0; i < 2; i++)
		comch_until(side, comch_state(clients[i]) == DOCA_CTX_STATE_IDLE);
	comch_sync_send(side, 0);
	for (int i = 0; i < 2; i++)
		comch_end(clients[i]);
}

static const struct CMUnitTest server_tests[] = {
	COMCH_DPU_TEST(test_server_is_made_of_a_device_a_representor_and_a_name),
	COMCH_DPU_TEST(test_server_needs_callbacks_to_start),
	COMCH_DPU_TEST(test_representor_must_be_the_devices_own),
	COMCH_DPU_TEST(test_one_server_too_many_is_refused),
	COMCH_DPU_TEST(test_name_is_taken_once_on_a_representor),
	COMCH_TEST(test_clients_reach_the_server_of_their_function),
	COMCH_TEST(test_one_client_too_many_is_refused),
	COMCH_DPU_TEST(test_server_takes_values_up_to_the_devices_limits),
	COMCH_DPU_TEST(test_server_is_configured_while_idle_only),
	COMCH_TEST(test_server_disconnects_a_client),
	COMCH_TEST(test_stopped_server_disconnects_all),
};

int main(void)
{
	return comch_run(server_tests);
}
