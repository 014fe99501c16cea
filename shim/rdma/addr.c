/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of servers, and the GIDs of a device. */
#include <arpa/inet.h>
#include <string.h>

#include "addr_priv.h"
#include "shim/common/base/check.h"

/* ---- addresses ---- */

static bool parse(enum doca_rdma_addr_type type, const char *text, uint8_t *ret_bytes)
{
	int family = type == DOCA_RDMA_ADDR_TYPE_IPv4 ? AF_INET : AF_INET6;

	return inet_pton(family, text, ret_bytes) == 1;
}

doca_error_t doca_rdma_addr_create(enum doca_rdma_addr_type addr_type, const char *address, uint16_t port,
				   struct doca_rdma_addr **addr)
{
	uint8_t bytes[16] = { 0 };
	struct doca_rdma_addr *created;

	SHIM_NEED_OUT(address);
	SHIM_NEED_OUT(addr);
	if (addr_type != DOCA_RDMA_ADDR_TYPE_IPv4 && addr_type != DOCA_RDMA_ADDR_TYPE_IPv6 &&
	    addr_type != DOCA_RDMA_ADDR_TYPE_GID)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no type of address", (int)addr_type);
	if (strlen(address) >= RDMA_ADDR_TEXT_SIZE || !parse(addr_type, address, bytes))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the text is no address of type %s",
				   addr_type == DOCA_RDMA_ADDR_TYPE_IPv4 ? "IPv4" :
				   addr_type == DOCA_RDMA_ADDR_TYPE_IPv6 ? "IPv6" :
									   "GID");
	created = shim_object_new(SHIM_RDMA_ADDR, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->type = addr_type;
	created->port = port;
	memcpy(created->bytes, bytes, sizeof(bytes));
	strcpy(created->text, address);
	*addr = created;
	return DOCA_SUCCESS;
}

struct doca_rdma_addr *rdma_addr_of_server(const struct pcie_function *function, uint16_t port)
{
	struct doca_rdma_addr *addr = shim_object_new(SHIM_RDMA_ADDR, sizeof(*addr));

	if (!addr)
		return NULL;
	addr->type = function->has_ipv4 ? DOCA_RDMA_ADDR_TYPE_IPv4 : DOCA_RDMA_ADDR_TYPE_IPv6;
	addr->port = port;
	addr->num_users = 1;
	if (function->has_ipv4)
		memcpy(addr->bytes, function->ipv4, sizeof(function->ipv4));
	else
		memcpy(addr->bytes, function->ipv6, sizeof(function->ipv6));
	inet_ntop(function->has_ipv4 ? AF_INET : AF_INET6, addr->bytes, addr->text, sizeof(addr->text));
	return addr;
}

doca_error_t doca_rdma_addr_destroy(struct doca_rdma_addr *addr)
{
	SHIM_NEED(addr, SHIM_RDMA_ADDR);
	if (addr->num_users > 0)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "a connection uses the address; disconnect it first");
	shim_object_free(addr, SHIM_RDMA_ADDR);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_addr_get_params(struct doca_rdma_addr *addr, enum doca_rdma_addr_type *addr_type,
				       const char **address, uint16_t *port)
{
	SHIM_NEED(addr, SHIM_RDMA_ADDR);
	SHIM_NEED_OUT(addr_type);
	SHIM_NEED_OUT(address);
	SHIM_NEED_OUT(port);
	*addr_type = addr->type;
	*address = addr->text;
	*port = addr->port;
	return DOCA_SUCCESS;
}

/* ---- GIDs ---- */

/* Entries as mlx5 devices have them: 0 and 1 link-local (RoCE v1 and v2), 2 and 3 IPv4-mapped. */
static void gid_of(const struct pcie_function *function, uint32_t index, struct doca_rdma_gid *ret_gid)
{
	memset(ret_gid, 0, sizeof(*ret_gid));
	if (index < 2) {
		memcpy(ret_gid->raw, function->ipv6, sizeof(function->ipv6));
	} else if (index < 4 && function->has_ipv4) {
		ret_gid->raw[10] = ret_gid->raw[11] = 0xff;
		memcpy(ret_gid->raw + 12, function->ipv4, sizeof(function->ipv4));
	}
}

bool rdma_has_gid(const struct pcie_function *function, uint32_t index)
{
	static const struct doca_rdma_gid none;
	struct doca_rdma_gid gid;

	gid_of(function, index, &gid);
	return memcmp(&gid, &none, sizeof(gid)) != 0;
}

bool rdma_addr_is_of(const struct doca_rdma_addr *addr, const struct pcie_function *function)
{
	struct doca_rdma_gid gid;

	if (addr->type == DOCA_RDMA_ADDR_TYPE_IPv4)
		return function->has_ipv4 && memcmp(addr->bytes, function->ipv4, sizeof(function->ipv4)) == 0;
	for (uint32_t i = 0; i < 4; i++) {
		gid_of(function, i, &gid);
		if (memcmp(addr->bytes, gid.raw, sizeof(gid.raw)) == 0)
			return true;
	}
	return false;
}

doca_error_t doca_rdma_cap_get_gid(const struct doca_devinfo *devinfo, uint32_t start_index, uint32_t num_entries,
				   struct doca_rdma_gid *gid_array)
{
	uint32_t size;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(gid_array);
	size = devinfo->function->caps.rdma_gids;
	if (num_entries == 0 || start_index >= size || num_entries > size - start_index)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "entries %u to %u; the device has %u", start_index,
				   start_index + num_entries, size);
	for (uint32_t i = 0; i < num_entries; i++)
		gid_of(devinfo->function, start_index + i, &gid_array[i]);
	return DOCA_SUCCESS;
}
