/* SPDX-License-Identifier: BSD-3-Clause */
/* An importer's calls: checking a descriptor, connecting, reading and writing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ofi_priv.h"

struct sim_ofi_link {
	struct sim_ofi_peer *peer;
	struct sim_ofi_remote_mr remote_mr;
};

static bool provider_valid(const char provider[SIM_OFI_PROVIDER_SIZE])
{
	size_t len = strnlen(provider, SIM_OFI_PROVIDER_SIZE);

	if (len == 0 || len == SIM_OFI_PROVIDER_SIZE)
		return false;
	for (size_t i = 0; i < len; i++)
		if (provider[i] <= ' ' || provider[i] > '~')
			return false;
	return true;
}

static bool addr_valid(enum sim_ofi_kind kind, const uint8_t *addr, uint32_t len)
{
	if (len == 0 || len > SIM_OFI_ADDR_SIZE)
		return false;
	if (kind == SIM_OFI_SHM)
		return addr[len - 1] == '\0' && sim_ofi_shm_name_valid((const char *)addr, len);
	return kind != SIM_OFI_SOCKETS || sim_ofi_addr_valid(addr, len);
}

static bool desc_valid(const struct sim_ofi_desc *desc)
{
	if (!provider_valid(desc->provider) || desc->writable > 1 || desc->num_addrs == 0 ||
	    desc->num_addrs > SIM_OFI_MAX_ADDRS)
		return false;
	for (uint32_t i = 0; i < desc->num_addrs; i++)
		if (!addr_valid(sim_ofi_kind(desc->provider), desc->addr[i], desc->addr_len[i]))
			return false;
	return true;
}

int sim_ofi_link_create(const struct sim_ofi_desc *desc, size_t len, unsigned int timeout_ms,
			void (*notify_peer)(void *notify_arg), void *notify_arg, struct sim_ofi_link **ret_link)
{
	struct sim_ofi_link *link;
	uint8_t byte;
	int rc;

	if (!desc_valid(desc))
		return -EPROTO;
	if (len == 0 ||
	    (sim_ofi_kind(desc->provider) == SIM_OFI_SHM && sim_ofi_shm_name_is_own((const char *)desc->addr[0])))
		return -EINVAL;
	link = malloc(sizeof(*link));
	if (!link)
		return -ENOMEM;
	*link = (struct sim_ofi_link){
		.remote_mr = {
			.key = desc->mr_key,
			.base = desc->base,
			.len = len,
			.writable = desc->writable,
			.timeout_ms = timeout_ms,
			.notify_peer = notify_peer,
			.notify_arg = notify_arg,
		},
	};
	rc = sim_ofi_peer_get(desc, &link->peer);
	if (rc == 0)
		rc = sim_ofi_peer_run(
			link->peer, &link->remote_mr,
			&(struct sim_ofi_op){ .local = &byte, .len = 1, .timeout_ms = timeout_ms, .is_first = true });
	if (rc < 0) {
		sim_ofi_link_destroy(link);
		return rc == -ENOENT || rc == -ECONNRESET ? -EHOSTUNREACH : rc;
	}
	*ret_link = link;
	return 0;
}

void sim_ofi_link_destroy(struct sim_ofi_link *link)
{
	if (!link)
		return;
	sim_ofi_peer_put(link->peer);
	free(link);
}

static int run_op(struct sim_ofi_link *link, const struct sim_ofi_op *op)
{
	int rc;

	if (op->offset > link->remote_mr.len || op->len > link->remote_mr.len - op->offset)
		return -EFAULT;
	if (op->write && !link->remote_mr.writable)
		return -EACCES;
	rc = sim_ofi_peer_run(link->peer, &link->remote_mr, op);
	/* Callers need not tell apart the ways to lose the connection. */
	return rc == 0 || rc == -ENOMEM || rc == -EACCES ? rc : -EIO;
}

int sim_ofi_link_read(struct sim_ofi_link *link, void *local, uint64_t offset, size_t len, const atomic_bool *revoked)
{
	return run_op(link, &(struct sim_ofi_op){ .local = local, .offset = offset, .len = len, .revoked = revoked });
}

int sim_ofi_link_write(struct sim_ofi_link *link, const void *local, uint64_t offset, size_t len,
		       const atomic_bool *revoked)
{
	return run_op(
		link,
		&(struct sim_ofi_op){
			.write = true, .local = (void *)local, .offset = offset, .len = len, .revoked = revoked });
}
