/* SPDX-License-Identifier: BSD-3-Clause */
/* Cross-memory attach. A pid is believed only after the process behind it has
 * shown the exporter's cookie: pids mean other processes in other namespaces. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "path.h"

static int copy_all(int32_t pid, void *local, uint64_t remote_addr, size_t len,
		    ssize_t (*vm_op)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long,
				     unsigned long))
{
	while (len > 0) {
		struct iovec local_iov = { .iov_base = local, .iov_len = len };
		struct iovec remote_iov = { .iov_base = (void *)(uintptr_t)remote_addr, .iov_len = len };
		ssize_t moved = vm_op(pid, &local_iov, 1, &remote_iov, 1, 0);

		if (moved < 0)
			return -errno;
		if (moved == 0)
			return -EFAULT;
		local = (uint8_t *)local + moved;
		remote_addr += (uint64_t)moved;
		len -= (size_t)moved;
	}
	return 0;
}

static int cma_open(struct sim_remote *remote, const struct sim_remote_cfg *cfg, const char **ret_reason)
{
	uint8_t cookie[SIM_SECRET_SIZE];
	int rc = copy_all(cfg->exporter.pid, cookie, cfg->exporter.cookie_addr, sizeof(cookie), process_vm_readv);

	if (rc == 0 && memcmp(cookie, cfg->exporter.cookie, sizeof(cookie)) != 0)
		rc = -ESRCH;
	if (rc < 0) {
		*ret_reason = rc == -EPERM  ? "the kernel forbids process_vm_readv (other user, or ptrace scope)" :
			      rc == -ENOSYS ? "no process_vm_readv here" :
					      "its pid means another process here (other PID namespace)";
		return rc;
	}
	remote->pid = cfg->exporter.pid;
	return 0;
}

static void cma_close(struct sim_remote *remote)
{
	remote->pid = 0;
}

static int cma_read(struct sim_remote *remote, void *local, uint64_t offset, size_t len)
{
	return copy_all(remote->pid, local, remote->region.cpu_addr + offset, len, process_vm_readv);
}

static int cma_write(struct sim_remote *remote, const void *local, uint64_t offset, size_t len)
{
	return copy_all(remote->pid, (void *)(uintptr_t)local, remote->region.cpu_addr + offset, len,
			process_vm_writev);
}

const struct sim_path_ops sim_path_cma = {
	.name = "cma",
	.open = cma_open,
	.close = cma_close,
	.read = cma_read,
	.write = cma_write,
};
