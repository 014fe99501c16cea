/* SPDX-License-Identifier: BSD-3-Clause */
/* The path "cma": cross-memory attach, process_vm_readv() and process_vm_writev().
 *
 * With the rights of a privileged importer, these calls reach every process. So the importer takes no process's word
 * for the process that it reaches: the exporter is the one of the pidfd that the session's daemon made of the socket by
 * which the exporter attached. The path opens only if importer, exporter and daemon belong to one user, and copies only
 * while the exporter lives (peer_process.h). A system call in progress keeps the memory of the process that it found at
 * its start. */
#include <errno.h>
#include <sys/uio.h>

#include "device_io.h"
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

int sim_path_check_users(const struct sim_remote_cfg *cfg, const char **ret_reason)
{
	if (!cfg->is_own_session)
		*ret_reason = "the session belongs to another user";
	else if (cfg->exporter.uid != cfg->self.uid)
		*ret_reason = "the exporter belongs to another user";
	else if (cfg->pidfd < 0)
		*ret_reason = "the daemon has no pidfd of the exporter (old kernel, or too many open files)";
	else
		return 0;
	return -EPERM;
}

/* Whether the kernel lets this process read the exporter's memory. The exported range may be unmapped just now. */
static int check_kernel(struct sim_peer_process *process, const struct sim_region *region)
{
	uint8_t byte;
	int rc = copy_all(process, &byte, region->cpu_addr, sizeof(byte), sim_device_vm_readv);

	return rc == -EFAULT ? 0 : rc;
}

static const char *reason_of(int rc)
{
	switch (rc) {
	case -EPERM:
		return "the kernel forbids process_vm_readv (ptrace scope, or a process without core dumps)";
	case -ENOSYS:
		return "no process_vm_readv here";
	case -EMFILE:
		return "too many open files in this process";
	case -ENOTSUP:
		return "no /proc of this PID namespace";
	default:
		return "the exporter is not visible here (other PID namespace)";
	}
}

static int cma_open(struct sim_remote *remote, const struct sim_remote_cfg *cfg, const char **ret_reason)
{
	struct sim_peer_process *process = NULL;
	int rc = sim_path_check_users(cfg, ret_reason);

	if (rc < 0)
		return rc;
	rc = sim_peer_process_get(cfg->pidfd, &process);
	if (rc == 0)
		rc = check_kernel(process, &cfg->region);
	if (rc < 0) {
		sim_peer_process_put(process);
		*ret_reason = reason_of(rc);
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
	return copy_all(remote->process, local, remote->region.cpu_addr + offset, len, sim_device_vm_readv);
}

static int cma_write(struct sim_remote *remote, const void *local, uint64_t offset, size_t len)
{
	return copy_all(remote->process, (void *)(uintptr_t)local, remote->region.cpu_addr + offset, len,
			sim_device_vm_writev);
}

size_t sim_path_count_whole(const struct sim_piece *pieces, size_t count, size_t bytes)
{
	size_t whole = 0;

	while (whole < count && pieces[whole].len <= bytes)
		bytes -= pieces[whole++].len;
	return whole;
}

/* The kernel moves the pieces up to the first byte that is not mapped. */
static size_t cma_move_pieces(struct sim_remote *remote, bool is_read, const struct sim_piece *pieces, size_t count)
{
	struct iovec here[SIM_MAX_PIECES], there[SIM_MAX_PIECES];
	ssize_t moved;

	for (size_t i = 0; i < count; i++) {
		uint64_t addr = remote->region.cpu_addr + (pieces[i].addr - remote->region.addr);

		here[i] = (struct iovec){ pieces[i].local, pieces[i].len };
		there[i] = (struct iovec){ (void *)(uintptr_t)addr, pieces[i].len };
	}
	if (!sim_peer_process_is_alive(remote->process))
		return 0;
	moved = is_read ? sim_device_vm_readv(remote->process->pid, here, count, there, count, 0) :
			  sim_device_vm_writev(remote->process->pid, here, count, there, count, 0);
	return moved > 0 ? sim_path_count_whole(pieces, count, (size_t)moved) : 0;
}

const struct sim_path_ops sim_path_cma = {
	.name = "cma",
	.open = cma_open,
	.close = cma_close,
	.read = cma_read,
	.write = cma_write,
	.move_pieces = cma_move_pieces,
};
