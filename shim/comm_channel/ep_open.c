/* SPDX-License-Identifier: BSD-3-Clause */
/* How an endpoint begins to listen or to connect, and how it is closed. */
#include <doca_ctx.h>
#include <doca_pe.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ep_priv.h"
#include "sim/base/watch.h"
#include "shim/comch/endpoint/comm_channel_hooks.h"
#include "shim/common/base/check.h"
#include "shim/common/pe/ctx_priv.h"
#include "shim/common/pe/pe_progress.h"

/* ---- descriptors ---- */

static int create_eventfd(void)
{
	return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

/* A descriptor that is readable when @event_fd or the engine's is. */
static int create_epoll(int event_fd, int pe_fd)
{
	const epoll_data_t unused = { .u64 = 0 };
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd >= 0 &&
	    (sim_watch_add(fd, event_fd, EPOLLIN, unused) < 0 || sim_watch_add(fd, pe_fd, EPOLLIN, unused) < 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static doca_error_t open_descriptors(struct doca_comm_channel_ep_t *ep)
{
	doca_notification_handle_t pe_fd;

	doca_pe_get_notification_handle(ep->pe, &pe_fd);
	ep->status_eventfd = create_eventfd();
	ep->send_eventfd = create_eventfd();
	ep->recv_eventfd = create_eventfd();
	ep->send_epoll = create_epoll(ep->send_eventfd, pe_fd);
	ep->recv_epoll = create_epoll(ep->recv_eventfd, pe_fd);
	return ep->status_eventfd < 0 || ep->send_epoll < 0 || ep->recv_epoll < 0 ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_descriptors(struct doca_comm_channel_ep_t *ep)
{
	close_fd(&ep->send_epoll);
	close_fd(&ep->recv_epoll);
	close_fd(&ep->send_eventfd);
	close_fd(&ep->recv_eventfd);
	close_fd(&ep->status_eventfd);
}

/* ---- the Comch server or client within ---- */

static doca_error_t create_server(struct doca_comm_channel_ep_t *ep, const char *name)
{
	doca_error_t result = doca_comch_server_create(ep->dev, ep->rep, name, &ep->server);

	if (result != DOCA_SUCCESS)
		return result;
	ep->ctx = doca_comch_server_as_ctx(ep->server);
	result = comch_set_comm_channel_mode(ep->ctx, ep->status_eventfd);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_set_max_msg_size(ep->server, ep->max_msg_bytes);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_set_recv_queue_size(ep->server, ep->recv_queue_size);
	return result;
}

static doca_error_t create_client(struct doca_comm_channel_ep_t *ep, const char *name)
{
	doca_error_t result = doca_comch_client_create(ep->dev, name, &ep->client);

	if (result != DOCA_SUCCESS)
		return result;
	ep->ctx = doca_comch_client_as_ctx(ep->client);
	comch_client_set_connect_timeout(ep->client, 0); /* the service must listen already */
	result = comch_set_comm_channel_mode(ep->ctx, -1);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_set_max_msg_size(ep->client, ep->max_msg_bytes);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_set_recv_queue_size(ep->client, ep->recv_queue_size);
	return result;
}

/* IN_USE (the name is taken) and DRIVER (the card does not answer) are not the caller's mistake. */
static doca_error_t start_ctx(struct doca_comm_channel_ep_t *ep)
{
	doca_error_t result = doca_pe_connect_ctx(ep->pe, ep->ctx);

	if (result == DOCA_SUCCESS)
		result = channel_set_callbacks(ep);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ep->ctx);
	if (result == DOCA_ERROR_IN_USE || result == DOCA_ERROR_DRIVER)
		return DOCA_ERROR_CONNECTION_ABORTED;
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result;
}

/* The user knows the client's one peer before it is connected. */
static doca_error_t add_client_addr(struct doca_comm_channel_ep_t *ep)
{
	return channel_addr_new(ep, comch_client_connection(ep->client), CHANNEL_CONNECTING) ? DOCA_SUCCESS :
											       DOCA_ERROR_NO_MEMORY;
}

static doca_error_t open_in_role(struct doca_comm_channel_ep_t *ep, enum channel_role role, const char *name)
{
	doca_error_t result = doca_pe_create(&ep->pe);

	if (result == DOCA_SUCCESS)
		result = open_descriptors(ep);
	if (result == DOCA_SUCCESS)
		result = role == CHANNEL_SERVICE ? create_server(ep, name) : create_client(ep, name);
	if (result == DOCA_SUCCESS)
		result = start_ctx(ep);
	if (result == DOCA_SUCCESS && role == CHANNEL_CLIENT)
		result = add_client_addr(ep);
	return result;
}

doca_error_t channel_open(const char *func, struct doca_comm_channel_ep_t *ep, enum channel_role role, const char *name)
{
	doca_error_t result = open_in_role(ep, role, name);

	if (result == DOCA_SUCCESS) {
		channel_role_set(&ep->role, role);
		return result;
	}
	sim_err("%s: the endpoint can't be opened: %s", func, doca_error_get_descr(result));
	channel_close(ep);
	return result;
}

/* ---- closing ---- */

/* The context becomes idle: no task or other object keeps it from that. */
static void stop_ctx(struct doca_comm_channel_ep_t *ep)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	doca_ctx_stop(ep->ctx);
	while (doca_ctx_get_state(ep->ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE)
		shim_pe_progress_one(ep->pe);
}

/* The endpoint may be half-built. */
void channel_close(struct doca_comm_channel_ep_t *ep)
{
	channel_role_set(&ep->role, CHANNEL_IDLE); /* a half-built one is idle already */
	while (!LIST_EMPTY(&ep->addrs))
		channel_addr_free(LIST_FIRST(&ep->addrs));
	if (ep->ctx)
		stop_ctx(ep);
	if (ep->server)
		doca_comch_server_destroy(ep->server);
	if (ep->client)
		doca_comch_client_destroy(ep->client);
	if (ep->pe)
		doca_pe_destroy(ep->pe);
	ep->server = NULL;
	ep->client = NULL;
	ep->ctx = NULL;
	ep->pe = NULL;
	close_descriptors(ep);
	ep->send_armed = ep->recv_armed = false;
	free(ep->snapshot_addrs);
	ep->snapshot_addrs = NULL;
	ep->num_snapshot_addrs = ep->snapshot_pending = 0;
}
