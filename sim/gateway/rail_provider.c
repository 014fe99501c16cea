/* SPDX-License-Identifier: BSD-3-Clause */
/* The providers of libfabric: which ones a rail can use, and which one is wanted. */
#include <errno.h>
#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <string.h>

#include "rail_priv.h"
#include "sim/base/log.h"

#define DEFAULT_PROVIDER "tcp"
#define PROVIDER_SIZE    64

/* Describe what the gateway needs of @provider, or of any (NULL). Returns NULL without memory. */
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
	return rc;
}

/* Take ":rdm" from the end: the provider's endpoints without connections are wanted, though it may have others. */
static bool take_rdm(char *wanted)
{
	char *colon = strrchr(wanted, ':');

	if (!colon || strcmp(colon, ":rdm") != 0)
		return false;
	*colon = '\0';
	return true;
}

/* The provider sockets (1.17) sends the messages of a connected endpoint over connections that it makes besides, from both sides, and fails
 * with -FI_ENOENT when one is not made at once. */
static bool breaks_connections(const char *wanted)
{
	return strcmp(wanted, "sockets") == 0;
}

int rail_find_providers(struct rail *rail)
{
	const struct rail_cfg *cfg = &rail->cfg;
	char wanted[PROVIDER_SIZE];
	const char *provider = wanted;
	int rc;

	snprintf(wanted, sizeof(wanted), "%s", cfg->provider ? cfg->provider : DEFAULT_PROVIDER);
	rc = take_rdm(wanted) || breaks_connections(wanted) ? -FI_ENODATA : find_provider(cfg, wanted, &rail->info);
	if (rc < 0 && (rail->rdm_info = rail_rdm_find(wanted))) {
		provider = DEFAULT_PROVIDER;
		rc = find_provider(cfg, provider, &rail->info);
	}
	if (rc < 0)
		sim_err("libfabric's provider %s cannot %s %s, port %s: %s; bfsim doctor names the providers", provider,
			cfg->is_listener ? "listen at" : "reach", cfg->host, cfg->port, fi_strerror(-rc));
	return rc < 0 ? -EADDRNOTAVAIL : 0;
}

static bool is_named_before(const struct fi_info *all, const struct fi_info *info)
{
	for (; all != info; all = all->next)
		if (strcmp(all->fabric_attr->prov_name, info->fabric_attr->prov_name) == 0)
			return true;
	return false;
}

/* Write the providers' names behind the first @len bytes of @text. Returns the length then. */
static size_t add_names(char *text, size_t size, size_t len, const struct fi_info *all)
{
	for (const struct fi_info *info = all; info && len < size; info = info->next)
		if (!is_named_before(all, info))
			len += (size_t)snprintf(text + len, size - len, "%s %s", info == all ? "" : ",",
						info->fabric_attr->prov_name);
	return len;
}

void rail_describe(char *text, size_t size)
{
	struct fi_info *hints = make_hints(NULL), *all = NULL, *rdm;
	size_t len;

	len = (size_t)snprintf(text, size, "libfabric %u.%u:", FI_MAJOR(fi_version()), FI_MINOR(fi_version()));
	if (hints)
		fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &all);
	len = add_names(text, size, len, all);
	if (!all && len < size)
		len += (size_t)snprintf(text + len, size - len, " no provider of connected endpoints");
	rdm = rail_rdm_find(NULL);
	if (rdm && len < size)
		len += (size_t)snprintf(text + len, size - len, "; without connections:");
	add_names(text, size, len, rdm);
	fi_freeinfo(rdm);
	fi_freeinfo(all);
	fi_freeinfo(hints);
}
