/* SPDX-License-Identifier: BSD-3-Clause */
/* Stubs for builds without libfabric. */
#include "ofi.h"

#include <errno.h>

int sim_ofi_target_create(const char *provider, struct sim_ofi_target **ret_target)
{
	(void)provider, (void)ret_target;
	return -ENOSYS;
}

void sim_ofi_target_destroy(struct sim_ofi_target *target)
{
	(void)target;
}

int sim_ofi_target_register(struct sim_ofi_target *target, void *addr, size_t len, bool writable,
			    struct sim_ofi_mem **ret_mem, struct sim_ofi_desc *ret_desc)
{
	(void)target, (void)addr, (void)len, (void)writable, (void)ret_mem, (void)ret_desc;
	return -ENOSYS;
}

void sim_ofi_target_deregister(struct sim_ofi_mem *mem)
{
	(void)mem;
}

int sim_ofi_target_fd(const struct sim_ofi_target *target)
{
	(void)target;
	return -1;
}

int sim_ofi_target_serve(struct sim_ofi_target *target)
{
	(void)target;
	return 0;
}

bool sim_ofi_target_may_sleep(struct sim_ofi_target *target)
{
	(void)target;
	return true;
}

int sim_ofi_link_create(const struct sim_ofi_desc *desc, size_t len, unsigned int timeout_ms,
			void (*notify_peer)(void *notify_arg), void *notify_arg, struct sim_ofi_link **ret_link)
{
	(void)desc, (void)len, (void)timeout_ms, (void)notify_peer, (void)notify_arg, (void)ret_link;
	return -ENOSYS;
}

void sim_ofi_link_destroy(struct sim_ofi_link *link)
{
	(void)link;
}

int sim_ofi_link_read(struct sim_ofi_link *link, void *local, uint64_t offset, size_t len, const atomic_bool *revoked)
{
	(void)link, (void)local, (void)offset, (void)len, (void)revoked;
	return -ENOSYS;
}

int sim_ofi_link_write(struct sim_ofi_link *link, const void *local, uint64_t offset, size_t len,
		       const atomic_bool *revoked)
{
	(void)link, (void)local, (void)offset, (void)len, (void)revoked;
	return -ENOSYS;
}

void sim_ofi_shm_prefix(char ret_prefix[SIM_OFI_SHM_PREFIX_SIZE])
{
	ret_prefix[0] = '\0';
}

int sim_ofi_shm_cleanup(const char *prefix)
{
	(void)prefix;
	return 0;
}
