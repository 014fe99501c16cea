/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/fabric/device_io.h - system calls that move bytes for a device, from or to memory of this process.
 *
 * Sanitizers replace the C library's functions to watch accesses of the program, which the device's are not: where its moves are
 * not watched (sim/base/move.h), neither are these. Results and errno as of the functions.
 */
#ifndef SIM_FABRIC_DEVICE_IO_H
#define SIM_FABRIC_DEVICE_IO_H

#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sim/base/move.h"

static inline ssize_t sim_device_vm_readv(pid_t pid, const struct iovec *here, unsigned long num_here,
					  const struct iovec *there, unsigned long num_there, unsigned long flags)
{
	if (sim_move == memmove)
		return process_vm_readv(pid, here, num_here, there, num_there, flags);
	return syscall(SYS_process_vm_readv, pid, here, num_here, there, num_there, flags);
}

static inline ssize_t sim_device_vm_writev(pid_t pid, const struct iovec *here, unsigned long num_here,
					   const struct iovec *there, unsigned long num_there, unsigned long flags)
{
	if (sim_move == memmove)
		return process_vm_writev(pid, here, num_here, there, num_there, flags);
	return syscall(SYS_process_vm_writev, pid, here, num_here, there, num_there, flags);
}

static inline ssize_t sim_device_preadv(int fd, const struct iovec *here, int num_here, off_t at)
{
	return sim_move == memmove ? preadv(fd, here, num_here, at) : syscall(SYS_preadv, fd, here, num_here, at, 0);
}

static inline ssize_t sim_device_pwritev(int fd, const struct iovec *here, int num_here, off_t at)
{
	return sim_move == memmove ? pwritev(fd, here, num_here, at) : syscall(SYS_pwritev, fd, here, num_here, at, 0);
}

static inline ssize_t sim_device_pread(int fd, void *to, size_t len, off_t at)
{
	return sim_move == memmove ? pread(fd, to, len, at) : syscall(SYS_pread64, fd, to, len, at);
}

static inline ssize_t sim_device_pwrite(int fd, const void *from, size_t len, off_t at)
{
	return sim_move == memmove ? pwrite(fd, from, len, at) : syscall(SYS_pwrite64, fd, from, len, at);
}

#endif
