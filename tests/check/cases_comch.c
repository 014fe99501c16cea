/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about Comch. */
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bfsim.h>

#include "cases.h"

struct end {
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_pe *pe;
	bool shares_pe;
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
};

static void on_task(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	doca_task_free(doca_comch_task_send_as_task(task));
}

/* What a failed task stops; NULL = nothing. */
static struct doca_ctx *stopped_by_failure;
static uint32_t num_failed;

static void on_failed_task(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	CHECK(doca_task_get_status(doca_comch_task_send_as_task(task)) != DOCA_SUCCESS);
	on_task(task, task_data, ctx_data);
	num_failed++;
	if (stopped_by_failure)
		(void)doca_ctx_stop(stopped_by_failure);
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
}

static void on_connection(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *connection, uint8_t is_connected)
{
}

static struct doca_dev_rep *open_first_rep(struct doca_dev *dev)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep;
	uint32_t count;

	MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count));
	CHECK(count > 0);
	MUST(doca_dev_rep_open(list[0], &rep));
	MUST(doca_devinfo_rep_destroy_list(list));
	return rep;
}

/* A server on the DPU, idle. @pe NULL: with an engine of its own. */
static struct end make_server(struct doca_pe *pe)
{
	struct end end = { .dev = rig_open_dev(0), .pe = pe, .shares_pe = pe };

	end.rep = open_first_rep(end.dev);
	if (!pe)
		MUST(doca_pe_create(&end.pe));
	MUST(doca_comch_server_create(end.dev, end.rep, "check", &end.server));
	MUST(doca_comch_server_task_send_set_conf(end.server, on_task, on_failed_task, 4));
	MUST(doca_comch_server_event_msg_recv_register(end.server, on_message));
	MUST(doca_comch_server_event_connection_status_changed_register(end.server, on_connection, on_connection));
	end.ctx = doca_comch_server_as_ctx(end.server);
	MUST(doca_pe_connect_ctx(end.pe, end.ctx));
	return end;
}

static void progress_to(const struct end *end, enum doca_ctx_states wanted)
{
	enum doca_ctx_states state;

	MUST(doca_ctx_get_state(end->ctx, &state));
	while (state != wanted) {
		doca_pe_progress(end->pe);
		MUST(doca_ctx_get_state(end->ctx, &state));
	}
}

static void progress_to_idle(const struct end *end)
{
	progress_to(end, DOCA_CTX_STATE_IDLE);
}

static void end_server(struct end *end)
{
	doca_error_t result = doca_ctx_stop(end->ctx);

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	progress_to_idle(end);
	MUST(doca_comch_server_destroy(end->server));
	if (!end->shares_pe)
		MUST(doca_pe_destroy(end->pe));
	MUST(doca_dev_rep_close(end->rep));
	MUST(doca_dev_close(end->dev));
}

/* A client on the host, which takes @recv_queue messages before it progresses. */
static struct end start_client_with(uint32_t recv_queue)
{
	struct end end = { 0 };

	setenv("BFSIM_SIDE", "host", 1);
	end.dev = rig_open_dev(0);
	MUST(doca_pe_create(&end.pe));
	MUST(doca_comch_client_create(end.dev, "check", &end.client));
	MUST(doca_comch_client_task_send_set_conf(end.client, on_task, on_task, 4));
	MUST(doca_comch_client_event_msg_recv_register(end.client, on_message));
	MUST(doca_comch_client_set_recv_queue_size(end.client, recv_queue));
	end.ctx = doca_comch_client_as_ctx(end.client);
	MUST(doca_pe_connect_ctx(end.pe, end.ctx));
	CHECK(doca_ctx_start(end.ctx) == DOCA_ERROR_IN_PROGRESS);
	return end;
}

static struct end start_client(void)
{
	return start_client_with(32);
}

static void end_client(struct end *end)
{
	CHECK(doca_ctx_stop(end->ctx) == DOCA_ERROR_IN_PROGRESS);
	progress_to_idle(end);
	MUST(doca_comch_client_destroy(end->client));
	MUST(doca_pe_destroy(end->pe));
	MUST(doca_dev_close(end->dev));
}

/* ---- not connected ---- */

static void send_at_once(void)
{
	struct end end = start_client();
	struct doca_comch_task_send *task;

	struct doca_comch_connection *connection = NULL;

	CHECK(doca_comch_client_get_connection(end.client, &connection) == DOCA_ERROR_BAD_STATE);
	CHECK(doca_comch_client_task_send_alloc_init(end.client, connection, "x", 1, &task) != DOCA_SUCCESS);
	end_client(&end);
}

/* A program may ask until there is a connection. */
static void ask_for_connection(void)
{
	struct end end = start_client();
	struct doca_comch_connection *connection;

	CHECK(doca_comch_client_get_connection(end.client, &connection) == DOCA_ERROR_BAD_STATE);
	end_client(&end);
}

/* ---- sleep ---- */

static void sleep_for_comch(void)
{
	struct end end = make_server(NULL);

	MUST(doca_ctx_start(end.ctx));
	MUST(doca_pe_request_notification(end.pe));
	end_server(&end);
}

/* The engine has a running DMA context, too. */
static void sleep_for_dma(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct end end = make_server(rig->pe);

	MUST(doca_ctx_start(end.ctx));
	MUST(doca_pe_request_notification(end.pe));
	end_server(&end);
	rig_close(rig);
}

/* ---- roles and objects ---- */

static void create_client_on_dpu(void)
{
	struct doca_dev *dev = rig_open_dev(0);
	struct doca_comch_client *client;

	CHECK(doca_comch_client_create(dev, "check", &client) == DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_dev_close(dev));
}

static void create_server_on_dpu(void)
{
	struct end end = make_server(NULL);

	end_server(&end);
}

/* The representor of the first device's list. */
static void create_server_on_port(uint32_t index)
{
	struct doca_dev *lister = rig_open_dev(0), *dev = rig_open_dev(index);
	struct doca_dev_rep *rep = open_first_rep(lister);
	struct doca_comch_server *server;

	MUST(doca_comch_server_create(dev, rep, "check", &server));
	MUST(doca_comch_server_destroy(server));
	MUST(doca_dev_rep_close(rep));
	MUST(doca_dev_close(dev));
	MUST(doca_dev_close(lister));
}

static void create_server_on_other_port(void)
{
	create_server_on_port(1);
}

static void create_server_on_same_port(void)
{
	create_server_on_port(0);
}

static void configure_client_that_is_a_server(void)
{
	struct end end = make_server(NULL);

	CHECK(doca_comch_client_set_max_msg_size((struct doca_comch_client *)end.server, 64) ==
	      DOCA_ERROR_INVALID_VALUE);
	end_server(&end);
}

static void configure_server(void)
{
	struct end end = make_server(NULL);

	MUST(doca_comch_server_set_max_msg_size(end.server, 64));
	end_server(&end);
}

/* ---- no server ---- */

static void wait_without_server(void)
{
	struct end end = start_client();

	progress_to_idle(&end);
	MUST(doca_comch_client_destroy(end.client));
	MUST(doca_pe_destroy(end.pe));
	MUST(doca_dev_close(end.dev));
}

/* A rule of the plan, or a reset of the function, keeps the client from its server. */
static void wait_with_fault(const char *fault)
{
	struct end end;

	setenv("BFSIM_SIDE", "host", 1);
	end.dev = rig_open_dev(0); /* of a session */
	CHECK(bfsim_fault_add(fault, NULL) == 0);
	MUST(doca_dev_close(end.dev));
	wait_without_server();
}

static void connect_and_fail(void)
{
	wait_with_fault("comch.connect nth=1 refuse");
}

static void connect_after_reset(void)
{
	wait_with_fault("function device=b1:00.0 reset");
}

/* The program itself gives up. */
static void stop_client(void)
{
	struct end end = start_client();

	end_client(&end);
}

/* ---- messages: a client in a process of its own, on the host ---- */

static struct doca_comch_connection *client_connection;

static void on_client(struct doca_comch_event_connection_status_changed *event,
		      struct doca_comch_connection *connection, uint8_t is_connected)
{
	client_connection = is_connected ? connection : NULL;
}

/* Connect, and stay until the server ends. */
static void be_client(struct bfsim_session *session)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;
	struct end end;

	CHECK(bfsim_session_enter(session, "host") == 0);
	end = start_client();
	while (state != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(end.pe);
		MUST(doca_ctx_get_state(end.ctx, &state));
	}
	_exit(0);
}

/* Connect, and read nothing until the process is killed. */
static void be_deaf_client(struct bfsim_session *session)
{
	struct end end;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CHECK(bfsim_session_enter(session, "host") == 0);
	end = start_client_with(1);
	progress_to(&end, DOCA_CTX_STATE_RUNNING);
	for (;;)
		pause();
}

static pid_t client_pid;

/* Do something with a server that has a client, in a process of its own. */
static void with_client_that(void (*be)(struct bfsim_session *session), void (*use)(struct end *server))
{
	struct bfsim_session *session;
	struct end end;

	CHECK(bfsim_session_start(NULL, &session) == 0);
	client_pid = fork();
	CHECK(client_pid >= 0);
	if (client_pid == 0)
		be(session);
	CHECK(bfsim_session_enter(session, "dpu") == 0);
	end = make_server(NULL);
	MUST(doca_comch_server_event_connection_status_changed_register(end.server, on_client, on_client));
	MUST(doca_ctx_start(end.ctx));
	while (!client_connection)
		doca_pe_progress(end.pe);
	use(&end);
	if (client_connection)
		MUST(doca_comch_server_disconnect(end.server, client_connection));
	end_server(&end);
	CHECK(waitpid(client_pid, NULL, 0) == client_pid);
	CHECK(bfsim_session_stop(session) == 0);
}

static void with_client(void (*use)(struct end *server))
{
	with_client_that(be_client, use);
}

static struct doca_task *alloc_message(const struct end *end)
{
	struct doca_comch_task_send *task;

	MUST(doca_comch_server_task_send_alloc_init(end->server, client_connection, "text", 4, &task));
	return doca_comch_task_send_as_task(task);
}

/* A message fails, alone. Then a reset of its function stops the server, not that message. */
static void do_send_after_reset(struct end *end)
{
	struct doca_task *spare = alloc_message(end);
	size_t num_in_flight = 1;

	CHECK(bfsim_fault_add("comch.send nth=1 fail=IO_FAILED", NULL) == 0);
	MUST(doca_task_submit(alloc_message(end)));
	while (num_in_flight > 0) {
		doca_pe_progress(end->pe);
		MUST(doca_ctx_get_num_inflight_tasks(end->ctx, &num_in_flight));
	}
	CHECK(bfsim_fault_add("function device=03:00.0 reset", NULL) == 0);
	progress_to(end, DOCA_CTX_STATE_STOPPING);
	CHECK(doca_task_submit(spare) == DOCA_ERROR_BAD_STATE);
	doca_task_free(spare);
	client_connection = NULL; /* it ended with the function */
}

static void send_after_reset(void)
{
	with_client(do_send_after_reset);
}

/* The client dies; messages that it has not read were sent, and fail. */
static void lose_client(struct end *end)
{
	size_t num_in_flight;

	for (int i = 0; i < 4; i++)
		MUST(doca_task_submit(alloc_message(end)));
	CHECK(kill(client_pid, SIGKILL) == 0);
	do {
		doca_pe_progress(end->pe);
		MUST(doca_ctx_get_num_inflight_tasks(end->ctx, &num_in_flight));
	} while (num_in_flight > 0);
	CHECK(num_failed > 0);
}

static void do_stop_in_callback(struct end *end)
{
	stopped_by_failure = end->ctx;
	lose_client(end);
	client_connection = NULL; /* it ended with the server */
}

static void do_stop_behind_progress(struct end *end)
{
	lose_client(end);
	CHECK(doca_ctx_stop(end->ctx) != DOCA_ERROR_BAD_STATE);
	client_connection = NULL;
}

static void stop_in_callback(void)
{
	with_client_that(be_deaf_client, do_stop_in_callback);
}

static void stop_behind_progress(void)
{
	with_client_that(be_deaf_client, do_stop_behind_progress);
}

/* A task fails for another reason, while the peer is well. */
static void do_stop_after_failure(struct end *end)
{
	CHECK(bfsim_fault_add("comch.send nth=1 fail=IO_FAILED", NULL) == 0);
	stopped_by_failure = end->ctx;
	MUST(doca_task_submit(alloc_message(end)));
	while (num_failed == 0)
		doca_pe_progress(end->pe);
	client_connection = NULL;
}

static void stop_after_failure(void)
{
	with_client(do_stop_after_failure);
}

/* Send a message of the server's limit and @excess bytes to the client. */
static void send_beyond_limit(const struct end *end, uint32_t excess, doca_error_t wanted)
{
	static const uint8_t message[8192];
	struct doca_comch_task_send *task;
	uint32_t limit;

	MUST(doca_comch_server_get_max_msg_size(end->server, &limit));
	CHECK(doca_comch_server_task_send_alloc_init(end->server, client_connection, message, limit + excess, &task) ==
	      wanted);
	if (wanted == DOCA_SUCCESS)
		doca_task_free(doca_comch_task_send_as_task(task));
}

static void do_send_too_much(struct end *end)
{
	send_beyond_limit(end, 1, DOCA_ERROR_INVALID_VALUE);
}

static void do_send_the_limit(struct end *end)
{
	send_beyond_limit(end, 0, DOCA_SUCCESS);
}

static void send_too_much(void)
{
	with_client(do_send_too_much);
}

static void send_the_limit(void)
{
	with_client(do_send_the_limit);
}

/* ---- consumers ---- */

static uint8_t room[4096];

static doca_error_t create_consumer(struct doca_mmap *map, struct doca_comch_consumer **ret_consumer)
{
	return doca_comch_consumer_create(client_connection, map, ret_consumer);
}

static void do_create_unwritable(struct end *end)
{
	struct doca_mmap *map = rig_make_mmap(end->dev, room, sizeof(room), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_comch_consumer *consumer;

	CHECK(create_consumer(map, &consumer) == DOCA_ERROR_INVALID_VALUE);
	MUST(doca_mmap_destroy(map));
}

static void on_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
			union doca_data ctx_data)
{
	struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf(task);

	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
	if (!task_data.u64)
		MUST(doca_buf_dec_refcount(buf, NULL));
}

/* Post a buffer, and stop. The buffer is returned in the callback, or before. */
static void post_and_stop(struct end *end, bool is_early)
{
	struct doca_mmap *map = rig_make_mmap(end->dev, room, sizeof(room),
					      DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_buf_inventory *inventory;
	struct doca_comch_consumer *consumer;
	struct doca_buf *buf;
	struct end own = { .pe = end->pe };

	MUST(create_consumer(map, &consumer));
	own.ctx = doca_comch_consumer_as_ctx(consumer);
	MUST(doca_comch_consumer_task_post_recv_set_conf(consumer, on_received, on_received, 1));
	MUST(doca_pe_connect_ctx(end->pe, own.ctx));
	CHECK(doca_ctx_start(own.ctx) == DOCA_ERROR_IN_PROGRESS);
	MUST(doca_buf_inventory_create(1, &inventory));
	MUST(doca_buf_inventory_start(inventory));
	MUST(doca_buf_inventory_buf_get_by_addr(inventory, map, room, sizeof(room), &buf));
	progress_to(&own, DOCA_CTX_STATE_RUNNING);
	MUST(doca_comch_consumer_task_post_recv_alloc_init(consumer, buf, &task));
	doca_task_set_user_data(doca_comch_consumer_task_post_recv_as_task(task), (union doca_data){ .u64 = is_early });
	MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
	if (is_early)
		MUST(doca_buf_dec_refcount(buf, NULL));
	CHECK(doca_ctx_stop(own.ctx) == DOCA_ERROR_IN_PROGRESS);
	progress_to(&own, DOCA_CTX_STATE_IDLE);
	MUST(doca_comch_consumer_destroy(consumer));
	MUST(doca_buf_inventory_destroy(inventory));
	MUST(doca_mmap_destroy(map));
}

static void do_return_early(struct end *end)
{
	post_and_stop(end, true);
}

static void do_return_in_callback(struct end *end)
{
	post_and_stop(end, false);
}

static void create_with_unwritable_map(void)
{
	with_client(do_create_unwritable);
}

static void return_posted_buffer(void)
{
	with_client(do_return_early);
}

static void return_received_buffer(void)
{
	with_client(do_return_in_callback);
}

const struct check_case comch_cases[] = {
	{ "comch-not-connected", send_at_once, ask_for_connection },
	{ "comch-sleep", sleep_for_comch, sleep_for_dma },
	{ "comch-representor-elsewhere", create_server_on_other_port, create_server_on_same_port },
	{ "comch-wrong-side", create_client_on_dpu, create_server_on_dpu },
	{ "comch-wrong-object", configure_client_that_is_a_server, configure_server },
	{ "submit-not-running@comch", send_after_reset, send_the_limit },
	{ "comch-no-server", wait_without_server, stop_client },
	{ "comch-no-server@fault", wait_without_server, connect_and_fail },
	{ "comch-no-server@reset", wait_without_server, connect_after_reset },
	{ "stop-in-error-callback", stop_in_callback, stop_behind_progress },
	{ "stop-in-error-callback@server", stop_in_callback, stop_after_failure },
	{ "comch-message-too-long", send_too_much, send_the_limit },
	{ "permission-missing@consumer", create_with_unwritable_map, return_received_buffer },
	{ "buffer-returned-in-flight@comch", return_posted_buffer, return_received_buffer },
	{ 0 },
};
