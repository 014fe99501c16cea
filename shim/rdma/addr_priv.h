/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/rdma/addr_priv.h - addresses of servers, and the GIDs of a device. */
#ifndef SHIM_RDMA_ADDR_PRIV_H
#define SHIM_RDMA_ADDR_PRIV_H

#include <doca_rdma.h>

#include "shim/common/base/object.h"
#include "shim/common/dev/dev_priv.h"

#define RDMA_ADDR_TEXT_SIZE 64

struct doca_rdma_addr {
	struct shim_object object;
	enum doca_rdma_addr_type type;
	uint8_t bytes[16]; /* in network byte order; of an IPv4 address the first 4 */
	char text[RDMA_ADDR_TEXT_SIZE];
	uint16_t port;
	uint32_t num_users; /* connections */
};

/* The address of a server on the function: its IPv4 address, or else its link-local one. NULL without memory. The owner
 * frees it with shim_object_free(). */
struct doca_rdma_addr *rdma_addr_of_server(const struct pcie_function *function, uint16_t port);

/* Whether it is an address of the function. */
bool rdma_addr_is_of(const struct doca_rdma_addr *addr, const struct pcie_function *function);

/* Whether the function has a GID at @index. */
bool rdma_has_gid(const struct pcie_function *function, uint32_t index);

#endif
