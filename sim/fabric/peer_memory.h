/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/fabric/peer_memory.h - the address space of another process, behind a descriptor of its /proc/PID/mem.
 *
 * The kernel checks the right to the memory when the file is opened. The descriptor keeps the address space, not the pid, so it
 * never reaches a stranger, and it can be passed to a process in other namespaces. When the process has ended or has executed
 * another program, the address space is gone, and a read or a write moves 0 bytes.
 *
 * The kernel forces accesses by this file: a write also changes private pages that the process may only read, such as its
 * code, and a read also succeeds on pages without any permission. So before each write a second descriptor, of
 * /proc/PID/maps, is asked whether the process may write the whole range (PROCMAP_QUERY, Linux 6.11), and the write is
 * refused if not. The question and the write are two calls: a process that takes the permission away, or maps something
 * else there, while a write to its memory is under way, can still be written to. Without the second descriptor there are no
 * writes.
 *
 * Remotes of one exporter share the descriptors. Any thread may call. A forked child may go on to use what it inherits.
 */
#ifndef SIM_FABRIC_PEER_MEMORY_H
#define SIM_FABRIC_PEER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

/* Which of two ways is faster for large copies; found out once for each exporter. */
enum sim_large_copies {
	SIM_LARGE_UNKNOWN,
	SIM_LARGE_BY_MEMORY,
	SIM_LARGE_BY_SHM,
};

struct sim_peer_memory {
	uint64_t process_id; /* of struct sim_peer_info */
	bool is_writable;
	int mem_fd;
	int maps_fd;            /* -1 = none, and no writes */
	_Atomic uint32_t large; /* enum sim_large_copies */
	unsigned int refs;      /* with the list, under the lock of peer_memory.c */
	LIST_ENTRY(sim_peer_memory) entry;
};

/* Open the two files of process @pid, 0 = this one. *ret_maps_fd is -1 if the memory is not for writing. Returns 0 or -errno. */
int sim_peer_memory_open(int pid, bool is_writable, int *ret_mem_fd, int *ret_maps_fd);

/* Take a reference to the memory of a process that was reached before. NULL = it was not. */
struct sim_peer_memory *sim_peer_memory_find(uint64_t process_id, bool is_writable);

/* Keep the descriptors, which are taken, also on failure. They may come from a process that is not trusted: what is no such
 * file is refused. Returns 0, -EPROTO (they are no files of memory and mappings), -ENOSYS (the kernel does not know the
 * question before writes), -ESRCH (the process has ended) or -ENOMEM. */
int sim_peer_memory_create(uint64_t process_id, bool is_writable, int mem_fd, int maps_fd,
			   struct sim_peer_memory **ret_memory);

/* Give the reference back. NULL is fine. */
void sim_peer_memory_put(struct sim_peer_memory *memory);

/* Return 0, -EFAULT (a memory is not mapped, or the process may not write there), -EACCES (a write, and the memory was opened to be
 * read), -ESRCH (the process has ended, or executes another program) or another -errno. */
int sim_peer_memory_read(const struct sim_peer_memory *memory, void *local, uint64_t addr, size_t len);
int sim_peer_memory_write(const struct sim_peer_memory *memory, const void *local, uint64_t addr, size_t len);

struct sim_piece;

#define SIM_PEER_MEMORY_MAX_WRITE \
	((size_t)256 << 10) /* of one call, so that little time passes between question and write */

/* Move [@addr, ...) of the memory from or to the local sides of at most SIM_MAX_PIECES @pieces (remote.h), by one call. Returns
 * the number of bytes that have moved; 0 also for what sim_peer_memory_read() and sim_peer_memory_write() give an error. */
size_t sim_peer_memory_move(const struct sim_peer_memory *memory, bool is_read, uint64_t addr,
			    const struct sim_piece *pieces, size_t count);

#endif
