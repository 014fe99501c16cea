/* SPDX-License-Identifier: BSD-3-Clause */
/* The path "cma": cross-memory attach, process_vm_readv() and process_vm_writev().
 *
 * A pid refers to another process in another PID namespace, and the kernel reuses it after the process's death. So the
 * path opens only if the process behind the pid holds the exporter's cookie, and copies only while that process lives
 * (peer_process.h). A system call in progress keeps the memory of the process that it found at its start. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "path.h"
#include "peer_process.h"

static int copy_all(struct sim_peer_process *process, void *local, uint64_t remote_addr, size_t len,
		    ssize_t (*vm_op)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long,
				     unsigned long))
{
	while (len > 0) {
		struct iovec local_iov = { .iov_base = local, .iov_len = len };
		struct iovec remote_iov = { .iov_base = (void *)(uintptr_t)remote_addr, .iov_len = len };
		ssize_t moved;

		if (!sim_peer_process_is_alive(process))
			return -ESRCH;
		moved = vm_op(process->pid, &local_iov, 1, &remote_iov, 1, 0);
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

/* If the process still lives after the read, the cookie was read from it. */
static int check_cookie(struct sim_peer_process *process, const struct sim_peer_info *exporter)
{
	uint8_t cookie[SIM_SECRET_SIZE];
	int rc = copy_all(process, cookie, exporter->cookie_addr, sizeof(cookie), process_vm_readv);

	if (rc < 0)
		return rc;
	if (memcmp(cookie, exporter->cookie, sizeof(cookie)) != 0 || !sim_peer_process_check(process))
		return -ESRCH;
	return 0;
}

static int cma_open(struct sim_remote *remote, const struct sim_remote_cfg *cfg, const char **ret_reason)
{
	struct sim_peer_process *process = NULL;
	int rc = sim_peer_process_get(cfg->exporter.pid, &process);

	if (rc == 0)
		rc = check_cookie(process, &cfg->exporter);
	if (rc < 0) {
		sim_peer_process_put(process);
		*ret_reason = rc == -EPERM  ? "the kernel forbids process_vm_readv (other user, or ptrace scope)" :
			      rc == -ENOSYS ? "no process_vm_readv here" :
			      rc == -EMFILE ? "too many open files in this process" :
					      "its pid means another process here (other PID namespace)";
		return rc;
	}
	remote->process = process;
	return 0;
}

static void cma_close(struct sim_remote *remote)
{
	sim_peer_process_put(remote->process);
	remote->process = NULL;
}

static int cma_read(struct sim_remote *remote, void *local, uint64_t offset, size_t len)
{
	return copy_all(remote->process, local, remote->region.cpu_addr + offset, len, process_vm_readv);
}

static int cma_write(struct sim_remote *remote, const void *local, uint64_t offset, size_t len)
{
	return copy_all(remote->process, (void *)(uintptr_t)local, remote->region.cpu_addr + offset, len,
			process_vm_writev);
}

bool sim_remote_is_unmapped(struct sim_remote *remote, uint64_t addr, size_t len)
{
	uint64_t cpu_addr = remote->region.cpu_addr + (addr - remote->region.addr);
	bool is_unmapped;
	uint8_t byte;

	if (!remote->process || !sim_remote_acquire(remote))
		return false;
	is_unmapped = copy_all(remote->process, &byte, cpu_addr, 1, process_vm_readv) == -EFAULT ||
		      copy_all(remote->process, &byte, cpu_addr + len - 1, 1, process_vm_readv) == -EFAULT;
	sim_remote_release(remote);
	return is_unmapped;
}

const struct sim_path_ops sim_path_cma = {
	.name = "cma",
	.open = cma_open,
	.close = cma_close,
	.read = cma_read,
	.write = cma_write,
};
