/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch between two processes: ping-pong and streams. */
#include "comch.h"

#include <doca_ctx.h>
#include <doca_error.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "dma.h"
#include "measure.h"

#define NUM_SENDS 64

static uint8_t message[BENCH_COMCH_MAX_MSG];

static int fail(const char *what, doca_error_t result)
{
	return bench_fail("%s: %s", what, doca_error_get_descr(result));
}

/* ---- callbacks ---- */

static struct bench_comch *end_of(const struct doca_comch_connection *connection)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);
	struct doca_comch_client *client = doca_comch_client_get_client_ctx(connection);
	union doca_data data = { 0 };

	doca_ctx_get_user_data(server ? doca_comch_server_as_ctx(server) : doca_comch_client_as_ctx(client), &data);
	return data.ptr;
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct bench_comch *end = ctx_data.ptr;

	end->sent++;
	if (end->cfg->echoes)
		doca_task_free(doca_comch_task_send_as_task(task));
}

static void on_send_failed(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	on_sent(task, task_data, ctx_data);
	((struct bench_comch *)ctx_data.ptr)->failed++;
}

static void echo(struct bench_comch *end, struct doca_comch_connection *connection, uint32_t len)
{
	struct doca_comch_task_send *task;
	doca_error_t result;

	result = doca_comch_server_task_send_alloc_init(end->server, connection, end->message, len, &task);
	if (result == DOCA_SUCCESS)
		result = doca_task_submit(doca_comch_task_send_as_task(task));
	if (result != DOCA_SUCCESS)
		end->failed++;
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct bench_comch *end = end_of(connection);

	end->last = 0;
	memcpy(&end->last, bytes, len < sizeof(end->last) ? len : sizeof(end->last));
	end->received++;
	if (end->cfg->echoes)
		echo(end, connection, len);
}

static void on_connected(struct doca_comch_event_connection_status_changed *event,
			 struct doca_comch_connection *connection, uint8_t well)
{
	struct bench_comch *end = end_of(connection);

	end->failed += !well;
	end->connections++;
	if (!end->connection)
		end->connection = connection;
}

static void on_disconnected(struct doca_comch_event_connection_status_changed *event,
			    struct doca_comch_connection *connection, uint8_t well)
{
	end_of(connection)->connections--;
}

static void on_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	end_of(connection)->consumer = id;
}

static void on_consumer_expired(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
				uint32_t id)
{
}

/* ---- life ---- */

static int open_rep(struct bench_comch *end)
{
	struct doca_devinfo_rep **list;
	doca_error_t result;
	uint32_t count;

	result = doca_devinfo_rep_create_list(end->dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count);
	if (result != DOCA_SUCCESS)
		return fail("doca_devinfo_rep_create_list", result);
	result = count > 0 ? doca_dev_rep_open(list[0], &end->rep) : DOCA_ERROR_NOT_FOUND;
	doca_devinfo_rep_destroy_list(list);
	return result == DOCA_SUCCESS ? 0 : fail("a representor", result);
}

static int open_handle(struct bench_comch *end)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = -1 };
	doca_error_t result = doca_pe_get_notification_handle(end->pe, &end->handle);

	if (result != DOCA_SUCCESS)
		return fail("doca_pe_get_notification_handle", result);
	end->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (end->epoll_fd < 0 || epoll_ctl(end->epoll_fd, EPOLL_CTL_ADD, end->handle, &event) < 0)
		return bench_fail("epoll: %s", strerror(errno));
	return 0;
}

int bench_comch_open(const struct bench_comch_cfg *cfg, bool is_server, struct bench_comch *ret_end)
{
	doca_error_t result;

	*ret_end = (struct bench_comch){ .cfg = cfg, .epoll_fd = -1, .message = message };
	bench_card_enter(cfg->card, is_server ? "dpu" : "host", NULL);
	if (bench_dev_open(is_server ? BENCH_DPU_PCI : BENCH_HOST_PCI, &ret_end->dev) < 0 ||
	    (is_server && open_rep(ret_end) < 0))
		return -1;
	result = doca_pe_create(&ret_end->pe);
	if (result != DOCA_SUCCESS)
		return fail("doca_pe_create", result);
	return open_handle(ret_end);
}

static doca_error_t make_server(struct bench_comch *end)
{
	doca_error_t result = doca_comch_server_create(end->dev, end->rep, end->cfg->name, &end->server);

	if (result != DOCA_SUCCESS)
		return result;
	end->ctx = doca_comch_server_as_ctx(end->server);
	result = doca_comch_server_task_send_set_conf(end->server, on_sent, on_send_failed, NUM_SENDS);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_msg_recv_register(end->server, on_message);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_connection_status_changed_register(end->server, on_connected,
										    on_disconnected);
	return result;
}

static doca_error_t make_client(struct bench_comch *end)
{
	doca_error_t result = doca_comch_client_create(end->dev, end->cfg->name, &end->client);

	if (result != DOCA_SUCCESS)
		return result;
	end->ctx = doca_comch_client_as_ctx(end->client);
	result = doca_comch_client_task_send_set_conf(end->client, on_sent, on_send_failed, NUM_SENDS);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_event_msg_recv_register(end->client, on_message);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_event_consumer_register(end->client, on_consumer, on_consumer_expired);
	return result;
}

int bench_comch_start(struct bench_comch *end)
{
	doca_error_t result = end->rep ? make_server(end) : make_client(end);

	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(end->pe, end->ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(end->ctx, (union doca_data){ .ptr = end });
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(end->ctx);
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_IN_PROGRESS)
		return fail(end->rep ? "a Comch server" : "a Comch client", result);
	return 0;
}

bool bench_comch_rest(struct bench_comch *end, int fd)
{
	struct epoll_event events[2];
	bool is_fd = false;
	int count;

	doca_pe_request_notification(end->pe);
	count = epoll_wait(end->epoll_fd, events, 2, -1);
	for (int i = 0; i < count; i++)
		is_fd |= events[i].data.fd == fd;
	doca_pe_clear_notification(end->pe, end->handle);
	return is_fd;
}

void bench_comch_wait(struct bench_comch *end, const uint64_t *counter, uint64_t value)
{
	while (*counter < value)
		if (!doca_pe_progress(end->pe) && end->cfg->blocks && *counter < value)
			bench_comch_rest(end, -1);
}

static bool is_running(const struct bench_comch *end)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	doca_ctx_get_state(end->ctx, &state);
	return state == DOCA_CTX_STATE_RUNNING;
}

int bench_comch_wait_connected(struct bench_comch *end)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;

	while (end->client ? !is_running(end) : end->connections == 0) {
		doca_ctx_get_state(end->ctx, &state);
		if (state == DOCA_CTX_STATE_IDLE)
			return bench_fail("the client %s can't connect", end->cfg->name);
		if (!doca_pe_progress(end->pe) && end->cfg->blocks)
			bench_comch_rest(end, -1);
	}
	if (end->client && doca_comch_client_get_connection(end->client, &end->connection) != DOCA_SUCCESS)
		return -1;
	return 0;
}

int bench_comch_stop(struct bench_comch *end)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STOPPING;
	doca_error_t result = DOCA_SUCCESS;

	if (end->ping)
		doca_task_free(doca_comch_task_send_as_task(end->ping));
	if (end->ctx)
		doca_ctx_stop(end->ctx);
	while (end->ctx && doca_ctx_get_state(end->ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(end->pe);
	if (end->server)
		result = doca_comch_server_destroy(end->server);
	if (end->client)
		result = doca_comch_client_destroy(end->client);
	return result == DOCA_SUCCESS ? 0 : fail("a Comch end can't be destroyed", result);
}

int bench_comch_close(struct bench_comch *end)
{
	doca_error_t result = bench_comch_stop(end) < 0 ? DOCA_ERROR_IN_USE : DOCA_SUCCESS;

	if (result == DOCA_SUCCESS && end->pe)
		result = doca_pe_destroy(end->pe);
	if (result == DOCA_SUCCESS && end->rep)
		result = doca_dev_rep_close(end->rep);
	if (result == DOCA_SUCCESS && end->dev)
		result = doca_dev_close(end->dev);
	if (end->epoll_fd >= 0)
		close(end->epoll_fd);
	return result == DOCA_SUCCESS ? 0 : fail("closing a Comch end", result);
}
