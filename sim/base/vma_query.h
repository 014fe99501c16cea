/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/vma_query.h - one mapping of a process, by a descriptor of its /proc/PID/maps (PROCMAP_QUERY, Linux 6.11). The file's
 * text takes the kernel some 0.2 us for each mapping of the process, this question 0.3 us.
 */
#ifndef SIM_VMA_QUERY_H
#define SIM_VMA_QUERY_H

#include <errno.h>
#include <stdint.h>
#include <sys/ioctl.h>

#define SIM_VMA_READABLE 0x01u
#define SIM_VMA_WRITABLE 0x02u
#define SIM_VMA_SHARED   0x08u

/* The kernel's struct procmap_query; it takes sizes that it knows. */
struct sim_vma_query {
	uint64_t size, wanted, addr;
	uint64_t start, end, flags, page_bytes, offset, inode; /* the answer; the rest is not asked for */
	uint32_t dev_major, dev_minor, name_size, build_id_size;
	uint64_t name_addr, build_id_addr;
};

/* Ask for the mapping that has @addr and all @wanted flags. Returns 0, -ENOENT (none), -ESRCH (the process has ended), -ENOTTY
 * (the kernel does not know the question) or another -errno. */
static inline int sim_vma_query(int maps_fd, uint64_t addr, uint64_t wanted, struct sim_vma_query *ret_query)
{
	*ret_query = (struct sim_vma_query){ .size = sizeof(*ret_query), .wanted = wanted, .addr = addr };
	return ioctl(maps_fd, _IOWR('f', 17, struct sim_vma_query), ret_query) < 0 ? -errno : 0;
}

#endif
