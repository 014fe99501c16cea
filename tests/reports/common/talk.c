/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch servers and clients that count. */
#include "talk.h"

static struct talk *talk_of(struct doca_comch_connection *connection, bool is_server)
{
	struct doca_ctx *ctx = is_server ? doca_comch_server_as_ctx(doca_comch_server_get_server_ctx(connection)) :
					   doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection));
	union doca_data data;

	OK(doca_ctx_get_user_data(ctx, &data));
	return data.ptr;
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct talk *talk = ctx_data.ptr;

	talk->sent++;
	doca_task_free(doca_comch_task_send_as_task(task));
	if (talk->on_sent)
		talk->on_sent(talk);
}

static void on_failed(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct talk *talk = ctx_data.ptr;

	HOLDS(doca_task_get_status(doca_comch_task_send_as_task(task)) != DOCA_SUCCESS);
	talk->failed++;
	doca_task_free(doca_comch_task_send_as_task(task));
	if (talk->on_failed)
		talk->on_failed(talk);
}

static void on_server_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
			      struct doca_comch_connection *connection)
{
	talk_of(connection, true)->received++;
}

static void on_client_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
			      struct doca_comch_connection *connection)
{
	talk_of(connection, false)->received++;
}

static void on_connected(struct doca_comch_event_connection_status_changed *event,
			 struct doca_comch_connection *connection, uint8_t is_success)
{
	struct talk *talk = talk_of(connection, true);

	HOLDS(is_success);
	talk->connected++;
	talk->connection = connection;
	if (talk->on_connected)
		talk->on_connected(talk, connection);
}

static void on_disconnected(struct doca_comch_event_connection_status_changed *event,
			    struct doca_comch_connection *connection, uint8_t is_success)
{
	talk_of(connection, true)->disconnected++;
}

static void on_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states before,
		     enum doca_ctx_states next)
{
	struct talk *talk = data.ptr;

	if (talk->on_state)
		talk->on_state(talk, next);
}

static void connect_ctx(struct talk *talk, struct doca_ctx *ctx)
{
	talk->ctx = ctx;
	OK(doca_pe_create(&talk->pe));
	OK(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = talk }));
	OK(doca_ctx_set_state_changed_cb(ctx, on_state));
	OK(doca_pe_connect_ctx(talk->pe, ctx));
}

/* Of the device and representor that are open. */
static void make_server(struct talk *talk, const char *name)
{
	OK(doca_comch_server_create(talk->dev, talk->rep, name, &talk->server));
	OK(doca_comch_server_task_send_set_conf(talk->server, on_sent, on_failed, TALK_NUM_TASKS));
	OK(doca_comch_server_event_msg_recv_register(talk->server, on_server_message));
	OK(doca_comch_server_event_connection_status_changed_register(talk->server, on_connected, on_disconnected));
	connect_ctx(talk, doca_comch_server_as_ctx(talk->server));
}

void talk_open_server(struct talk *talk, const char *pci_addr, const char *rep_addr, const char *name)
{
	*talk = (struct talk){ .dev = report_open_dev(pci_addr) };
	talk->rep = report_open_rep(talk->dev, rep_addr);
	make_server(talk, name);
}

void talk_open_server_on(struct talk *talk, const char *pci_addr,
			 struct doca_dev_rep *(*open_rep)(struct doca_dev *dev), const char *name)
{
	*talk = (struct talk){ .dev = report_open_dev(pci_addr) };
	talk->rep = open_rep(talk->dev);
	make_server(talk, name);
}

void talk_open_client(struct talk *talk, const char *pci_addr, const char *name)
{
	*talk = (struct talk){ .dev = report_open_dev(pci_addr) };
	OK(doca_comch_client_create(talk->dev, name, &talk->client));
	OK(doca_comch_client_task_send_set_conf(talk->client, on_sent, on_failed, TALK_NUM_TASKS));
	OK(doca_comch_client_event_msg_recv_register(talk->client, on_client_message));
	connect_ctx(talk, doca_comch_client_as_ctx(talk->client));
}

void talk_close(struct talk *talk)
{
	report_stop(talk->pe, talk->ctx);
	if (talk->server)
		OK(doca_comch_server_destroy(talk->server));
	else
		OK(doca_comch_client_destroy(talk->client));
	OK(doca_pe_destroy(talk->pe));
	if (talk->rep)
		OK(doca_dev_rep_close(talk->rep));
	OK(doca_dev_close(talk->dev));
}

void talk_start_server(struct talk *talk)
{
	OK(doca_ctx_start(talk->ctx));
}

void talk_connect(struct talk *talk)
{
	WANT(doca_ctx_start(talk->ctx), DOCA_ERROR_IN_PROGRESS);
	report_progress_to(talk->pe, talk->ctx, DOCA_CTX_STATE_RUNNING);
	OK(doca_comch_client_get_connection(talk->client, &talk->connection));
}

bool talk_send(struct talk *talk)
{
	struct doca_comch_task_send *task;
	doca_error_t result =
		talk->server ? doca_comch_server_task_send_alloc_init(talk->server, talk->connection, "x", 1, &task) :
			       doca_comch_client_task_send_alloc_init(talk->client, talk->connection, "x", 1, &task);

	if (result != DOCA_SUCCESS)
		return false;
	if (doca_task_submit(doca_comch_task_send_as_task(task)) == DOCA_SUCCESS)
		return true;
	doca_task_free(doca_comch_task_send_as_task(task));
	return false;
}

int talk_main(int argc, char **argv, void (*serve)(void), void (*call)(void))
{
	(argc == 2 && argv[1][0] == 's' ? serve : call)();
	return 0;
}
