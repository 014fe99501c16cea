/* SPDX-License-Identifier: BSD-3-Clause */
/* The rail over connected endpoints of libfabric. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "rail.h"
#include "rail_priv.h"
#include "sim/base/log.h"
#include "strangers.h"

#define LOOK_NS 250000000u /* between two looks for strangers */

#define MAX_MESSAGES 16 /* of one connection in one poll */

static int to_errno(ssize_t rc)
{
	return rc > -FI_ERRNO_OFFSET ? (int)rc : -EIO;
}

/* ---- opening ---- */

/* What the gateway needs of a provider, or of any (NULL). NULL without memory. */
static struct fi_info *make_hints(const char *provider)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		return NULL;
	hints->caps = FI_MSG;
	hints->mode = FI_CONTEXT;
	hints->ep_attr->type = FI_EP_MSG;
	hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->fabric_attr->prov_name = provider ? strdup(provider) : NULL;
	return hints;
}

static int find_provider(const struct rail_cfg *cfg, const char *provider, struct fi_info **ret_info)
{
	struct fi_info *hints = make_hints(provider);
	int rc = hints ? fi_getinfo(FI_VERSION(1, 17), cfg->host, cfg->port, cfg->is_listener ? FI_SOURCE : 0, hints,
				    ret_info) :
			 -ENOMEM;

	fi_freeinfo(hints);
	if (rc < 0)
		sim_err("libfabric's provider %s cannot %s %s, port %s: %s; see fi_info -e FI_EP_MSG", provider,
			cfg->is_listener ? "listen at" : "reach", cfg->host, cfg->port, fi_strerror(-rc));
	return rc < 0 ? -EADDRNOTAVAIL : 0;
}

/* Layers over providers ("tcp;ofi_rxm") are left out. */
void rail_describe(char *text, size_t size)
{
	struct fi_info *hints = make_hints(NULL), *all = NULL;
	const char *last = "";
	size_t len;

	len = (size_t)snprintf(text, size, "libfabric %u.%u:", FI_MAJOR(fi_version()), FI_MINOR(fi_version()));
	if (hints)
		fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &all);
	for (const struct fi_info *info = all; info && len < size; info = info->next) {
		const char *name = info->fabric_attr->prov_name;

		if (strcmp(name, last) != 0)
			len += (size_t)snprintf(text + len, size - len, "%s %s", last[0] ? "," : "", name);
		last = name;
	}
	if (!last[0] && len < size)
		snprintf(text + len, size - len, " no provider of connected endpoints");
	fi_freeinfo(all);
	fi_freeinfo(hints);
}

static int open_eq(struct rail *rail, struct fid_eq **ret_eq)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_FD, .size = 64 };

	return to_errno(fi_eq_open(rail->fabric, &attr, ret_eq, NULL));
}

static int listen_at(struct rail *rail)
{
	int rc = open_eq(rail, &rail->eq);

	if (rc == 0)
		rc = to_errno(fi_passive_ep(rail->fabric, rail->info, &rail->pep, NULL));
	if (rc == 0)
		rc = to_errno(fi_pep_bind(rail->pep, &rail->eq->fid, 0));
	if (rc == 0)
		rc = to_errno(fi_listen(rail->pep));
	return rc;
}

/* A listener that is opened again listens at the same port, though any was wanted. */
static void keep_port(struct rail *rail)
{
	size_t len = rail->info->src_addrlen;

	fi_getname(&rail->pep->fid, rail->info->src_addr, &len);
}

static int begin_to_listen(struct rail *rail)
{
	int rc = listen_at(rail);

	if (rc < 0)
		return rc;
	keep_port(rail);
	rail->strangers = strangers_create();
	return rail->strangers ? 0 : -ENOMEM;
}

int rail_open(const struct rail_cfg *cfg, struct rail **ret_rail)
{
	const char *wanted = cfg->provider ? cfg->provider : getenv("FI_PROVIDER");
	struct rail *rail = calloc(1, sizeof(*rail));
	int rc;

	if (!rail)
		return -ENOMEM;
	rail->cfg = *cfg;
	LIST_INIT(&rail->conns);
	rc = find_provider(cfg, wanted && wanted[0] ? wanted : "tcp", &rail->info);
	if (rc < 0) {
		free(rail);
		return rc;
	}
	rc = to_errno(fi_fabric(rail->info->fabric_attr, &rail->fabric, NULL));
	if (rc == 0)
		rc = to_errno(fi_domain(rail->fabric, rail->info, &rail->domain, NULL));
	if (rc == 0 && cfg->is_listener)
		rc = begin_to_listen(rail);
	if (rc < 0) {
		sim_err("cannot %s %s, port %s: %s", cfg->is_listener ? "listen at" : "connect to", cfg->host,
			cfg->port, strerror(-rc));
		rail_destroy(rail);
		return rc;
	}
	*ret_rail = rail;
	return 0;
}

static void close_listener(struct rail *rail)
{
	if (rail->pep)
		fi_close(&rail->pep->fid);
	if (rail->eq)
		fi_close(&rail->eq->fid);
	rail->pep = NULL;
	rail->eq = NULL;
	rail->may_wait = false;
}

void rail_destroy(struct rail *rail)
{
	if (!rail)
		return;
	close_listener(rail);
	strangers_destroy(rail->strangers);
	if (rail->domain)
		fi_close(&rail->domain->fid);
	if (rail->fabric)
		fi_close(&rail->fabric->fid);
	fi_freeinfo(rail->info);
	free(rail);
}

const char *rail_provider(const struct rail *rail)
{
	return rail->info->fabric_attr->prov_name;
}

uint16_t rail_port(const struct rail *rail)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} addr = { 0 };
	size_t len = sizeof(addr);

	if (!rail->pep || fi_getname(&rail->pep->fid, &addr, &len) < 0)
		return 0;
	return ntohs(addr.any.sa_family == AF_INET6 ? addr.in6.sin6_port : addr.in.sin_port);
}

/* ---- connections ---- */

static int register_buffers(struct rail_conn *conn, size_t len)
{
	if (!(conn->rail->info->domain_attr->mr_mode & FI_MR_LOCAL))
		return 0;
	return to_errno(fi_mr_reg(conn->rail->domain, conn->memory, len, FI_SEND | FI_RECV, 0, 0, 0, &conn->mr, NULL));
}

static int make_buffers(struct rail_conn *conn)
{
	const size_t len = (size_t)(RAIL_SENDS + RAIL_RECEIVES) * RAIL_MESSAGE_BYTES;
	int rc;

	conn->memory = malloc(len);
	if (!conn->memory)
		return -ENOMEM;
	rc = register_buffers(conn, len);
	for (uint32_t i = 0; i < RAIL_SENDS + RAIL_RECEIVES; i++) {
		conn->buffers[i] = (struct rail_buffer){ .is_receive = i >= RAIL_SENDS,
							 .bytes = conn->memory + (size_t)i * RAIL_MESSAGE_BYTES };
		if (i < RAIL_SENDS)
			SLIST_INSERT_HEAD(&conn->free_sends, &conn->buffers[i], link);
	}
	return rc;
}

static int post_receive(struct rail_conn *conn, struct rail_buffer *buffer)
{
	return to_errno(fi_recv(conn->ep, buffer->bytes, RAIL_MESSAGE_BYTES, conn->mr ? fi_mr_desc(conn->mr) : NULL, 0,
				&buffer->context));
}

static int open_endpoint(struct rail_conn *conn, struct fi_info *info)
{
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_FD,
				   .format = FI_CQ_FORMAT_MSG,
				   .size = RAIL_SENDS + RAIL_RECEIVES };
	int rc = open_eq(conn->rail, &conn->eq);

	if (rc == 0)
		rc = to_errno(fi_cq_open(conn->rail->domain, &attr, &conn->cq, NULL));
	if (rc == 0)
		rc = to_errno(fi_endpoint(conn->rail->domain, info, &conn->ep, NULL));
	if (rc == 0)
		rc = to_errno(fi_ep_bind(conn->ep, &conn->eq->fid, 0));
	if (rc == 0)
		rc = to_errno(fi_ep_bind(conn->ep, &conn->cq->fid, FI_TRANSMIT | FI_RECV));
	if (rc == 0)
		rc = to_errno(fi_enable(conn->ep));
	if (rc == 0)
		rc = make_buffers(conn);
	for (uint32_t i = RAIL_SENDS; rc == 0 && i < RAIL_SENDS + RAIL_RECEIVES; i++)
		rc = post_receive(conn, &conn->buffers[i]);
	return rc;
}

static struct rail_conn *conn_new(struct rail *rail, struct fi_info *info)
{
	struct rail_conn *conn = calloc(1, sizeof(*conn));
	int rc;

	if (!conn)
		return NULL;
	conn->rail = rail;
	SLIST_INIT(&conn->free_sends);
	LIST_INSERT_HEAD(&rail->conns, conn, link);
	rc = open_endpoint(conn, info);
	if (rc == 0)
		return conn;
	sim_warn("a connection to another machine cannot be made: %s", strerror(-rc));
	rail_close(conn);
	return NULL;
}

int rail_connect(struct rail *rail, void *owner, struct rail_conn **ret_conn)
{
	struct rail_conn *conn = conn_new(rail, rail->info);
	int rc;

	if (!conn)
		return -EIO;
	conn->owner = owner;
	rc = to_errno(fi_connect(conn->ep, rail->info->dest_addr, NULL, 0));
	if (rc < 0) {
		rail_close(conn);
		return rc;
	}
	*ret_conn = conn;
	return 0;
}

static void close_fid(struct fid *fid)
{
	if (fid)
		fi_close(fid);
}

/* The endpoint goes first: then nothing uses the buffers, and no event comes. */
void rail_close(struct rail_conn *conn)
{
	if (!conn)
		return;
	if (conn->is_connected)
		fi_shutdown(conn->ep, 0);
	close_fid(conn->ep ? &conn->ep->fid : NULL);
	close_fid(conn->cq ? &conn->cq->fid : NULL);
	close_fid(conn->eq ? &conn->eq->fid : NULL);
	close_fid(conn->mr ? &conn->mr->fid : NULL);
	free(conn->memory);
	if (conn->rail->next == conn)
		conn->rail->next = LIST_NEXT(conn, link);
	LIST_REMOVE(conn, link);
	free(conn);
}

/* ---- messages ---- */

uint8_t *rail_buffer(struct rail_conn *conn)
{
	struct rail_buffer *buffer = conn->is_connected ? SLIST_FIRST(&conn->free_sends) : NULL;

	conn->wants_room |= !buffer;
	return buffer ? buffer->bytes : NULL;
}

/* The first free buffer is on its way, unless @rc says that it is not. */
static int take_sent(struct rail_conn *conn, ssize_t rc)
{
	if (rc < 0)
		return to_errno(rc);
	SLIST_REMOVE_HEAD(&conn->free_sends, link);
	conn->num_sending++;
	return 0;
}

int rail_send(struct rail_conn *conn, size_t len)
{
	struct rail_buffer *buffer = SLIST_FIRST(&conn->free_sends);

	/* A short message needs no completion, which would cost more than the copy. */
	if (len <= conn->rail->info->tx_attr->inject_size && fi_inject(conn->ep, buffer->bytes, len, 0) == 0)
		return 0;
	return take_sent(conn, fi_send(conn->ep, buffer->bytes, len, conn->mr ? fi_mr_desc(conn->mr) : NULL, 0,
				       &buffer->context));
}

int rail_send_with(struct rail_conn *conn, size_t len, const void *body, size_t body_len)
{
	struct rail_buffer *buffer = SLIST_FIRST(&conn->free_sends);
	struct iovec parts[2] = { { buffer->bytes, len }, { (void *)(uintptr_t)body, body_len } };

	if (conn->mr || conn->rail->info->tx_attr->iov_limit < 2)
		return -EOPNOTSUPP;
	return take_sent(conn, fi_sendv(conn->ep, parts, NULL, 2, 0, &buffer->context));
}

bool rail_is_idle(const struct rail_conn *conn)
{
	return conn->num_sending == 0;
}

/* Whether the connection has not been closed. */
static bool has_conn(const struct rail *rail, const struct rail_conn *wanted)
{
	const struct rail_conn *conn;

	LIST_FOREACH(conn, &rail->conns, link)
		if (conn == wanted)
			return true;
	return false;
}

/* A callback may close the connection: nothing of it is used afterwards. */
static void take_completion(struct rail_conn *conn, const struct fi_cq_msg_entry *entry)
{
	struct rail_buffer *buffer = (struct rail_buffer *)entry->op_context;
	const struct rail_ops *ops = conn->rail->cfg.ops;
	void *arg = conn->rail->cfg.arg;
	struct rail *rail = conn->rail;

	if (buffer->is_receive) {
		ops->on_message(arg, conn->owner, buffer->bytes, entry->len);
		if (has_conn(rail, conn) && post_receive(conn, buffer) < 0)
			ops->on_closed(arg, conn->owner, -ECONNRESET);
		return;
	}
	SLIST_INSERT_HEAD(&conn->free_sends, buffer, link);
	conn->num_sending--;
	if (conn->wants_room) {
		conn->wants_room = false;
		ops->on_room(arg, conn->owner);
	}
}

static void close_with(struct rail_conn *conn, int reason)
{
	conn->rail->cfg.ops->on_closed(conn->rail->cfg.arg, conn->owner, reason);
}

/* Returns whether there was something; the connection may be closed then. */
static bool poll_cq(struct rail_conn *conn)
{
	struct fi_cq_msg_entry entry;
	struct fi_cq_err_entry error = { 0 };
	ssize_t got = fi_cq_read(conn->cq, &entry, 1);

	if (got == -FI_EAGAIN)
		return false;
	if (got == 1) {
		take_completion(conn, &entry);
		return true;
	}
	if (got == -FI_EAVAIL && fi_cq_readerr(conn->cq, &error, 0) == 1)
		close_with(conn, -ECONNRESET);
	else
		close_with(conn, to_errno(got));
	return true;
}

static int read_error(struct rail_conn *conn)
{
	struct fi_eq_err_entry error = { 0 };

	return fi_eq_readerr(conn->eq, &error, 0) > 0 && error.err > 0 ? -error.err : -EIO;
}

static bool poll_eq(struct rail_conn *conn)
{
	struct fi_eq_cm_entry entry;
	uint32_t event = 0;
	ssize_t got = fi_eq_read(conn->eq, &event, &entry, sizeof(entry), 0);

	conn->may_wait = false;
	if (got == -FI_EAGAIN)
		return false;
	if (got < 0) {
		close_with(conn, got == -FI_EAVAIL ? read_error(conn) : to_errno(got));
	} else if (event == FI_CONNECTED) {
		conn->is_connected = true;
		conn->rail->cfg.ops->on_connected(conn->rail->cfg.arg, conn->owner);
	} else if (event == FI_SHUTDOWN) {
		close_with(conn, -ECONNRESET);
	}
	return true;
}

static void take_request(struct rail *rail, struct fi_info *info)
{
	struct rail_conn *conn = conn_new(rail, info);
	void *owner = conn ? rail->cfg.ops->on_request(rail->cfg.arg, conn) : NULL;

	if (!owner) {
		rail_close(conn);
		fi_reject(rail->pep, info->handle, NULL, 0);
	} else {
		conn->owner = owner;
		conn->peer_len = sizeof(conn->peer);
		if (fi_getpeer(conn->ep, &conn->peer, &conn->peer_len) < 0)
			conn->peer_len = 0;
		if (fi_accept(conn->ep, NULL, 0) < 0)
			close_with(conn, -ECONNABORTED);
	}
	fi_freeinfo(info);
}

static bool poll_listener(struct rail *rail)
{
	struct fi_eq_cm_entry entry;
	struct fi_eq_err_entry error = { 0 };
	uint32_t event = 0;
	ssize_t got;

	errno = ECONNRESET; /* the provider tcp (1.17) takes an old EAGAIN for that of a stranger that has gone, and keeps it */
	got = rail->eq ? fi_eq_read(rail->eq, &event, &entry, sizeof(entry), 0) : -FI_EAGAIN;

	rail->may_wait = false;
	if (got == -FI_EAVAIL)
		fi_eq_readerr(rail->eq, &error, 0);
	if (got < 0)
		return got != -FI_EAGAIN;
	if (event == FI_CONNREQ)
		take_request(rail, entry.info);
	return true;
}

/* Take messages, so that what they lead to leaves together. The owner may close the connection. */
static bool poll_messages(struct rail *rail, struct rail_conn *conn)
{
	bool found = false;

	for (int i = 0; i < MAX_MESSAGES && has_conn(rail, conn) && poll_cq(conn); i++)
		found = true;
	return found;
}

bool rail_poll(struct rail *rail, bool is_rare)
{
	bool found = is_rare && poll_listener(rail);

	for (struct rail_conn *conn = LIST_FIRST(&rail->conns); conn; conn = rail->next) {
		rail->next = LIST_NEXT(conn, link);
		if ((is_rare || !conn->is_connected) && poll_eq(conn))
			found = true;
		else if (conn->is_connected)
			found |= poll_messages(rail, conn);
	}
	rail->next = NULL;
	return found;
}

/* ---- strangers ---- */

static bool is_reset(const struct rail_conn *conn)
{
	struct sockaddr_storage peer;
	size_t len = sizeof(peer);

	return conn->peer_len == 0 || fi_getpeer(conn->ep, &peer, &len) < 0;
}

static bool is_known(void *arg, const struct sockaddr *peer, socklen_t len)
{
	const struct rail *rail = arg;
	const struct rail_conn *conn;

	LIST_FOREACH(conn, &rail->conns, link)
		if (len > 0 ? conn->peer_len == len && memcmp(&conn->peer, peer, len) == 0 : is_reset(conn))
			return true;
	return false;
}

uint64_t rail_tick(struct rail *rail, uint64_t now_ns)
{
	uint16_t port = rail->pep ? rail_port(rail) : 0;
	uint32_t count;

	if (!rail->strangers)
		return UINT64_MAX;
	if (now_ns < rail->look_ns)
		return rail->look_ns;
	rail->look_ns = now_ns + LOOK_NS;
	if (port == 0 || !strangers_are_due(rail->strangers, port, now_ns, is_known, rail))
		return rail->look_ns;
	close_listener(rail);
	count = strangers_close(rail->strangers, port, is_known, rail);
	if (listen_at(rail) < 0)
		sim_err("cannot listen at port %u again: no further machine can join", port);
	sim_dbg("%u connections that did not say what they want are closed", count);
	return rail->look_ns;
}

/* ---- sleep ---- */

static int add_fd(struct fid *fid, struct pollfd *fds, size_t room, size_t *count)
{
	int fd;

	if (*count == room)
		return -ENOBUFS;
	if (fi_control(fid, FI_GETWAIT, &fd) < 0)
		return -ENOSYS;
	fds[(*count)++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	return 0;
}

/* Whether a sleep ends when something comes, and nothing is there yet. */
static bool may_wait_for(const struct rail *rail, struct fid *fid)
{
	return fi_trywait(rail->fabric, &fid, 1) == 0;
}

/* Returns 0, or -EAGAIN: there is something. */
static int try_to_wait(struct rail *rail)
{
	struct rail_conn *conn;

	rail->may_wait = rail->may_wait || !rail->eq || may_wait_for(rail, &rail->eq->fid);
	if (!rail->may_wait)
		return -EAGAIN;
	LIST_FOREACH(conn, &rail->conns, link) {
		conn->may_wait = conn->may_wait || may_wait_for(rail, &conn->eq->fid);
		if (!conn->may_wait || !may_wait_for(rail, &conn->cq->fid))
			return -EAGAIN;
	}
	return 0;
}

int rail_prepare_sleep(struct rail *rail, struct pollfd *fds, size_t room, size_t *ret_num_rare)
{
	struct rail_conn *conn;
	size_t count = 0;
	int rc = rail->eq ? add_fd(&rail->eq->fid, fds, room, &count) : 0;

	LIST_FOREACH(conn, &rail->conns, link)
		if (rc == 0)
			rc = add_fd(&conn->eq->fid, fds, room, &count);
	*ret_num_rare = count;
	LIST_FOREACH(conn, &rail->conns, link)
		if (rc == 0)
			rc = add_fd(&conn->cq->fid, fds, room, &count);
	if (rc == 0)
		rc = try_to_wait(rail);
	return rc < 0 ? rc : (int)count;
}
