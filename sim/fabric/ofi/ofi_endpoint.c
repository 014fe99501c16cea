/* SPDX-License-Identifier: BSD-3-Clause */
/* One libfabric endpoint: choosing the provider's parameters, opening and closing its objects. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ofi_priv.h"
#include "sim/base/log.h"

#define API_VERSION  FI_VERSION(1, 17)
#define TARGET_DEPTH 512 /* queued commands: an operation of a shm peer takes two */
#define LINK_DEPTH   16  /* a link has one operation in flight */

/* Modes of memory registration that a provider may require. The first query offers none: a provider that needs none
 * then accepts random keys. */
#define MR_MODES (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT)

const char *const *sim_ofi_provider_names(const char *const *provider)
{
	static const char *const over_sockets[] = { "net", "tcp", NULL };

	return strcmp(*provider, "tcp") == 0 ? over_sockets : provider;
}

enum sim_ofi_kind sim_ofi_kind(const char *provider)
{
	static const char *const over_sockets[] = { "net", "tcp", "tcp;ofi_rxm", "net;ofi_rxm" };

	if (strcmp(provider, "shm") == 0)
		return SIM_OFI_SHM;
	for (size_t i = 0; i < sizeof(over_sockets) / sizeof(over_sockets[0]); i++)
		if (strcmp(provider, over_sockets[i]) == 0)
			return SIM_OFI_SOCKETS;
	return SIM_OFI_OTHER;
}

/* Set our address: the name of a shm region, or a socket address with a fixed port. */
static int set_address(struct fi_info *info, const void *addr, size_t len)
{
	void *copy = malloc(len);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, addr, len);
	free(info->src_addr);
	info->src_addr = copy;
	info->src_addrlen = len;
	return 0;
}

static int fill_hints(struct fi_info *hints, const struct sim_ofi_endpoint_cfg *cfg, int mr_mode)
{
	hints->caps = FI_RMA | (cfg->target ? FI_REMOTE_READ | FI_REMOTE_WRITE : FI_READ | FI_WRITE);
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->mr_mode = mr_mode;
	if (!cfg->target)
		hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	if (cfg->target && sim_ofi_kind(cfg->provider) == SIM_OFI_SHM) {
		/* FI_HMEM has one wanted side effect: shm does not use CMA on this region. */
		hints->caps |= FI_HMEM;
		hints->domain_attr->mr_mode = FI_MR_HMEM;
	}
	hints->fabric_attr->prov_name = strdup(cfg->provider);
	if (!hints->fabric_attr->prov_name)
		return -ENOMEM;
	if (!cfg->bind)
		return 0;
	hints->addr_format = cfg->bind->sa_family == AF_INET6 ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
	return set_address(hints, cfg->bind, cfg->bind_len);
}

static int query_info(const struct sim_ofi_lib *lib, const struct sim_ofi_endpoint_cfg *cfg, int mr_mode,
		      struct fi_info **ret_info)
{
	struct fi_info *hints = lib->dupinfo(NULL);
	int rc;

	if (!hints)
		return -ENOMEM;
	rc = fill_hints(hints, cfg, mr_mode);
	if (rc == 0) {
		rc = lib->getinfo(API_VERSION, NULL, NULL, 0, hints, ret_info);
		rc = rc == -FI_ENODATA ? -ENOSYS : sim_ofi_errno(rc);
	}
	lib->freeinfo(hints);
	return rc;
}

static int open_info(const struct sim_ofi_lib *lib, const struct sim_ofi_endpoint_cfg *cfg,
		     struct sim_ofi_endpoint *endpoint)
{
	size_t depth = cfg->target ? TARGET_DEPTH : LINK_DEPTH;
	int rc = query_info(lib, cfg, 0, &endpoint->info);

	if (rc == -ENOSYS)
		rc = query_info(lib, cfg, MR_MODES, &endpoint->info);
	if (rc < 0)
		return rc;
	if (cfg->bind) /* "net" ignores the port in the hints */
		return set_address(endpoint->info, cfg->bind, cfg->bind_len);
	if (endpoint->kind != SIM_OFI_SHM)
		return 0;
	endpoint->info->tx_attr->size = depth;
	endpoint->info->rx_attr->size = depth;
	return set_address(endpoint->info, cfg->shm_name, strlen(cfg->shm_name) + 1);
}

/* Open the CQ, with a descriptor to wait on if @wait and if the provider has one (shm has none). */
static int open_cq(struct sim_ofi_endpoint *endpoint, bool wait)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_CONTEXT, .size = 64, .wait_obj = FI_WAIT_FD };
	int rc = -FI_ENOSYS;

	endpoint->cq_fd = -1;
	if (wait)
		rc = fi_cq_open(endpoint->domain, &attr, &endpoint->cq, NULL);
	if (rc == 0 && fi_control(&endpoint->cq->fid, FI_GETWAIT, &endpoint->cq_fd) != 0)
		endpoint->cq_fd = -1;
	if (rc == 0)
		return 0;
	attr.wait_obj = FI_WAIT_NONE;
	return fi_cq_open(endpoint->domain, &attr, &endpoint->cq, NULL);
}

static int open_objects(const struct sim_ofi_lib *lib, bool target, struct sim_ofi_endpoint *endpoint)
{
	struct fi_av_attr av_attr = { .type = FI_AV_UNSPEC };
	int rc;

	rc = lib->fabric(endpoint->info->fabric_attr, &endpoint->fabric, NULL);
	if (rc == 0)
		rc = fi_domain(endpoint->fabric, endpoint->info, &endpoint->domain, NULL);
	if (rc == 0)
		rc = fi_av_open(endpoint->domain, &av_attr, &endpoint->av, NULL);
	if (rc == 0)
		rc = open_cq(endpoint, target);
	if (rc == 0) {
		sim_ofi_save_signal_handlers(); /* the first shm endpoint installs handlers */
		rc = fi_endpoint(endpoint->domain, endpoint->info, &endpoint->ep, NULL);
		sim_ofi_restore_signal_handlers();
	}
	if (rc == 0)
		rc = fi_ep_bind(endpoint->ep, &endpoint->av->fid, 0);
	if (rc == 0)
		rc = fi_ep_bind(endpoint->ep, &endpoint->cq->fid, FI_TRANSMIT | FI_RECV);
	if (rc == 0)
		rc = fi_enable(endpoint->ep);
	return rc;
}

int sim_ofi_endpoint_open(const struct sim_ofi_endpoint_cfg *cfg, struct sim_ofi_endpoint *ret)
{
	const struct sim_ofi_lib *lib = sim_ofi_lib();
	struct sim_ofi_endpoint endpoint = { .kind = sim_ofi_kind(cfg->provider), .cq_fd = -1 };
	int rc;

	*ret = endpoint;
	if (!lib)
		return -ENOSYS;
	sim_ofi_lsan_disable();
	rc = open_info(lib, cfg, &endpoint);
	if (rc == 0) {
		rc = open_objects(lib, cfg->target, &endpoint);
		if (rc < 0)
			sim_warn("libfabric can't open an endpoint of provider %s: %s", cfg->provider,
				 lib->strerror(-rc));
		rc = sim_ofi_errno(rc);
	}
	sim_ofi_lsan_enable();
	if (rc < 0) {
		sim_ofi_endpoint_close(&endpoint);
		return rc;
	}
	endpoint.kind = sim_ofi_kind(endpoint.info->fabric_attr->prov_name);
	*ret = endpoint;
	return 0;
}

void sim_ofi_endpoint_halt(struct sim_ofi_endpoint *endpoint)
{
	if (endpoint->ep)
		fi_close(&endpoint->ep->fid);
	endpoint->ep = NULL;
}

void sim_ofi_endpoint_close(struct sim_ofi_endpoint *endpoint)
{
	sim_ofi_endpoint_halt(endpoint);
	if (endpoint->cq)
		fi_close(&endpoint->cq->fid);
	if (endpoint->av)
		fi_close(&endpoint->av->fid);
	if (endpoint->domain)
		fi_close(&endpoint->domain->fid);
	if (endpoint->fabric)
		fi_close(&endpoint->fabric->fid);
	if (endpoint->info)
		sim_ofi_lib()->freeinfo(endpoint->info);
	*endpoint = (struct sim_ofi_endpoint){ .cq_fd = -1 };
}
