/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening endpoints without connections, and what their ends offer each other.
 *
 * Each connection has one of its own: an endpoint gives its buffers back when it is closed, and one for several machines could not be
 * closed when one of them is lost. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "pcie_model/arith.h"
#include "rail_rdm_priv.h"
#include "sim/base/log.h"

#define HOST_SIZE 64

/* ---- opening ---- */

static struct fi_info *find(const char *provider, const char *host)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	if (!hints)
		return NULL;
	hints->caps = FI_MSG;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->fabric_attr->prov_name = provider ? strdup(provider) : NULL;
	if (fi_getinfo(FI_VERSION(1, 17), host, NULL, host ? FI_SOURCE : 0, hints, &info) < 0)
		info = NULL;
	fi_freeinfo(hints);
	if (info && info->ep_attr->max_msg_size >= RDM_HEAD_BYTES + RAIL_MESSAGE_BYTES)
		return info;
	fi_freeinfo(info);
	return NULL;
}

struct fi_info *rail_rdm_find(const char *provider)
{
	return find(provider, NULL);
}

static bool has_ip_addresses(const struct fi_info *info)
{
	return info->addr_format == FI_SOCKADDR || info->addr_format == FI_SOCKADDR_IN ||
	       info->addr_format == FI_SOCKADDR_IN6;
}

/* The provider, at the address that the connection has here if it has such addresses. */
static struct fi_info *find_beside(const struct rail_conn *conn)
{
	const struct fi_info *any = conn->rail->rdm_info;
	struct sockaddr_storage address;
	size_t len = sizeof(address);
	char host[HOST_SIZE];

	if (!has_ip_addresses(any))
		return fi_dupinfo(any);
	if (fi_getname(&conn->msg.ep->fid, &address, &len) < 0 ||
	    getnameinfo((struct sockaddr *)&address, (socklen_t)len, host, sizeof(host), NULL, 0, NI_NUMERICHOST) != 0)
		return NULL;
	return find(any->fabric_attr->prov_name, host);
}

static int open_rdm(struct rail_rdm *rdm, struct rail_conn *conn)
{
	struct fi_av_attr attr = { .type = FI_AV_UNSPEC };
	int rc;

	rdm->info = find_beside(conn);
	if (!rdm->info)
		return -EADDRNOTAVAIL;
	rc = rail_errno(fi_fabric(rdm->info->fabric_attr, &rdm->fabric, NULL));
	if (rc == 0)
		rc = rail_errno(fi_domain(rdm->fabric, rdm->info, &rdm->domain, NULL));
	if (rc == 0)
		rc = rail_errno(fi_av_open(rdm->domain, &attr, &rdm->av, NULL));
	if (rc < 0)
		return rc;
	rdm->endpoint.fabric = rdm->fabric;
	rdm->endpoint.domain = rdm->domain;
	rdm->endpoint.info = rdm->info;
	rc = rail_endpoint_open(&rdm->endpoint);
	if (rc == 0)
		rc = rail_errno(fi_ep_bind(rdm->endpoint.ep, &rdm->av->fid, 0));
	return rc == 0 ? rail_endpoint_enable(&rdm->endpoint) : rc;
}

void rail_rdm_close(struct rail_conn *conn)
{
	struct rail_rdm *rdm = conn->rdm;

	if (!rdm)
		return;
	conn->rdm = NULL;
	conn->sender = &conn->msg;
	rail_endpoint_close(&rdm->endpoint);
	if (rdm->av)
		fi_close(&rdm->av->fid);
	if (rdm->domain)
		fi_close(&rdm->domain->fid);
	if (rdm->fabric)
		fi_close(&rdm->fabric->fid);
	fi_freeinfo(rdm->info);
	free(rdm);
}

/* ---- offers ---- */

static const char *provider_of(const struct rail_conn *conn)
{
	return conn->rail->rdm_info->fabric_attr->prov_name;
}

static void give_up(struct rail_conn *conn, const char *words)
{
	snprintf(conn->why, sizeof(conn->why), "%s: %s", provider_of(conn), words);
	sim_info("messages go by %s, not by %s", conn->rail->info->fabric_attr->prov_name, conn->why);
	rail_rdm_close(conn);
}

static int make_offer(const struct rail_rdm *rdm, struct rdm_offer *offer)
{
	offer->address_len = sizeof(offer->address);
	memcpy(offer->nonce, rdm->nonce, RDM_NONCE_BYTES);
	snprintf(offer->provider, sizeof(offer->provider), "%s", rdm->info->fabric_attr->prov_name);
	return rail_errno(fi_getname(&rdm->endpoint.ep->fid, offer->address, &offer->address_len));
}

size_t rail_offer(struct rail_conn *conn, uint8_t to[RAIL_OFFER_BYTES])
{
	_Static_assert(RAIL_OFFER_BYTES >= RDM_OFFER_BYTES, "an offer has room");
	struct rdm_offer offer = { 0 };
	struct rail_rdm *rdm;
	int rc;

	if (!conn->rail->rdm_info || conn->rdm)
		return 0;
	rdm = calloc(1, sizeof(*rdm));
	if (!rdm)
		return 0;
	conn->rdm = rdm;
	rdm->peer = FI_ADDR_UNSPEC;
	rdm->endpoint = (struct rail_endpoint){ .carrier = &rail_rdm_carrier,
						.conn = conn,
						.num_sends = RAIL_SENDS + RDM_SPARE_SENDS,
						.num_receives = RDM_WINDOW + RDM_SPARE_RECEIVES };
	STAILQ_INIT(&rdm->waiting);
	rdm_window_init(&rdm->window);
	rc = open_rdm(rdm, conn);
	if (rc == 0)
		rc = getrandom(rdm->nonce, sizeof(rdm->nonce), 0) == sizeof(rdm->nonce) ? 0 : -EIO;
	if (rc == 0)
		rc = make_offer(rdm, &offer);
	if (rc < 0) {
		give_up(conn, strerror(-rc));
		return 0;
	}
	snprintf(conn->why, sizeof(conn->why), "%s: the other machine has not chosen it", provider_of(conn));
	return rdm_offer_write(&offer, to);
}

/* Whether both addresses have the same host. */
static bool is_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return a->sa_family == AF_INET6 &&
	       memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr, &((const struct sockaddr_in6 *)b)->sin6_addr,
		      sizeof(struct in6_addr)) == 0;
}

/* Whether the peer offers the address from which its connection comes: a member of the session can have this machine call no other. */
static bool is_own_address(const struct rail_conn *conn, const struct rdm_offer *offer)
{
	struct sockaddr_storage peer, address = { 0 };
	size_t len = sizeof(peer);

	memcpy(&address, offer->address, min_size(offer->address_len, sizeof(address)));
	return fi_getpeer(conn->msg.ep, &peer, &len) == 0 &&
	       is_same_host((const struct sockaddr *)&peer, (const struct sockaddr *)&address);
}

/* Returns why the offer is not taken, or NULL. */
static const char *find_objection(const struct rail_conn *conn, const struct rdm_offer *offer)
{
	struct rdm_offer own = { 0 };

	if (strcmp(offer->provider, provider_of(conn)) != 0)
		return "the other machine has chosen another one";
	if (make_offer(conn->rdm, &own) < 0 || own.address_len != offer->address_len)
		return "the other machine has addresses of another kind";
	if (has_ip_addresses(conn->rdm->info) && !is_own_address(conn, offer))
		return "a translation of addresses (NAT) is between the machines";
	return NULL;
}

void rail_take_offer(struct rail_conn *conn, const uint8_t *bytes, size_t len)
{
	struct rail_rdm *rdm = conn->rdm;
	struct rdm_offer offer;
	const char *objection;

	if (!rdm || rdm->peer != FI_ADDR_UNSPEC)
		return;
	objection = rdm_offer_read(bytes, len, &offer) == 0 ? find_objection(conn, &offer) : "its offer is wrong";
	if (!objection && fi_av_insert(rdm->av, offer.address, 1, &rdm->peer, 0, NULL) != 1)
		objection = "the provider does not take its address";
	if (objection) {
		give_up(conn, objection);
		return;
	}
	memcpy(rdm->peer_nonce, offer.nonce, RDM_NONCE_BYTES);
	snprintf(conn->why, sizeof(conn->why), "%s: it has not been reached", provider_of(conn));
	rdm->must_tell = rdm->is_active = true;
}
