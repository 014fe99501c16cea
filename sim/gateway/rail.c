/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a rail: its domain and its listener, which it opens again to be rid of strangers. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "pcie_model/arith.h"
#include "rail_priv.h"
#include "sim/base/log.h"
#include "strangers.h"

/* ---- the listener ---- */

static int listen_at(struct rail *rail)
{
	int rc = rail_open_eq(rail, &rail->eq, &rail->eq_source);

	if (rc == 0)
		rc = rail_errno(fi_passive_ep(rail->fabric, rail->info, &rail->pep, NULL));
	if (rc == 0)
		rc = rail_errno(fi_pep_bind(rail->pep, &rail->eq->fid, 0));
	if (rc == 0)
		rc = rail_errno(fi_listen(rail->pep));
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

static void close_listener(struct rail *rail)
{
	if (rail->pep)
		fi_close(&rail->pep->fid);
	rail_close_queue(rail, rail->eq ? &rail->eq->fid : NULL);
	rail->pep = NULL;
	rail->eq = NULL;
	rail->may_wait = false;
}

/* ---- opening and closing ---- */

int rail_open(const struct rail_cfg *cfg, struct rail **ret_rail)
{
	struct rail *rail = calloc(1, sizeof(*rail));
	int rc;

	if (!rail)
		return -ENOMEM;
	rail->cfg = *cfg;
	LIST_INIT(&rail->conns);
	SLIST_INIT(&rail->beside);
	rail->first = cfg->beside ? cfg->beside : rail;
	if (cfg->beside)
		SLIST_INSERT_HEAD(&cfg->beside->beside, rail, in_beside);
	rail->epoll_fd = -1;
	rc = rail_find_providers(rail);
	if (rc < 0) {
		rail_destroy(rail);
		return rc;
	}
	rail->epoll_fd = cfg->beside ? cfg->beside->epoll_fd : epoll_create1(EPOLL_CLOEXEC);
	rc = rail->epoll_fd < 0 ? -errno : 0;
	if (rc == 0)
		rc = rail_errno(fi_fabric(rail->info->fabric_attr, &rail->fabric, NULL));
	if (rc == 0)
		rc = rail_errno(fi_domain(rail->fabric, rail->info, &rail->domain, NULL));
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
	fi_freeinfo(rail->rdm_info);
	if (rail->first != rail)
		SLIST_REMOVE(&rail->first->beside, rail, rail, in_beside);
	else if (rail->epoll_fd >= 0)
		close(rail->epoll_fd);
	free(rail);
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

/* ---- strangers ---- */

static bool is_reset(const struct rail_conn *conn)
{
	struct sockaddr_storage peer;
	size_t len = sizeof(peer);

	return conn->peer_len == 0 || fi_getpeer(conn->msg.ep, &peer, &len) < 0;
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

static uint64_t tick_conns(struct rail *rail, uint64_t now_ns)
{
	uint64_t next_ns = UINT64_MAX;

	for (struct rail_conn *conn = LIST_FIRST(&rail->conns); conn; conn = rail->next) {
		rail->next = LIST_NEXT(conn, link);
		next_ns = min_u64(next_ns, rail_rdm_tick(conn, now_ns));
	}
	rail->next = NULL;
	return next_ns;
}

static uint64_t tick_one(struct rail *rail, uint64_t now_ns)
{
	uint64_t next_ns;
	uint32_t count;
	uint16_t port;

	next_ns = tick_conns(rail, now_ns);
	if (!rail->strangers)
		return next_ns;
	if (now_ns < strangers_next_ns(rail->strangers))
		return min_u64(next_ns, strangers_next_ns(rail->strangers));
	port = rail_port(rail);
	if (!strangers_are_due(rail->strangers, port, now_ns, is_known, rail) || port == 0)
		return min_u64(next_ns, strangers_next_ns(rail->strangers));
	close_listener(rail);
	count = strangers_close(rail->strangers, port, is_known, rail);
	if (listen_at(rail) < 0)
		sim_err("cannot listen at port %u again: no further machine can join", port);
	sim_dbg("%u connections that did not say what they want are closed", count);
	return min_u64(next_ns, strangers_next_ns(rail->strangers));
}

uint64_t rail_tick(struct rail *rail, uint64_t now_ns)
{
	uint64_t next_ns = tick_one(rail, now_ns);
	struct rail *other;

	SLIST_FOREACH(other, &rail->beside, in_beside)
		next_ns = min_u64(next_ns, tick_one(other, now_ns));
	return next_ns;
}
