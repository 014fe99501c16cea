/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of other processes by /proc/PID/mem: one pair of descriptors for each, shared by all its users. */
#include "peer_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "device_io.h"
#include "pcie_model/arith.h"
#include "remote.h"
#include "sim/base/fork.h"
#include "sim/base/vma_query.h"

#define PROC_MAGIC 0x9fa0 /* PROC_SUPER_MAGIC, of statfs(2) */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, sim_peer_memory) memories = LIST_HEAD_INITIALIZER(memories);

/* As in peer_process.c. */
SIM_AT_FORK(SIM_FORK_LOCKS, .lock = &lock);

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Returns a descriptor or -errno. */
static int open_file(int pid, const char *name, int flags)
{
	char path[64];
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	else
		snprintf(path, sizeof(path), "/proc/self/%s", name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int sim_peer_memory_open(int pid, bool is_writable, int *ret_mem_fd, int *ret_maps_fd)
{
	int maps_fd = -1, mem_fd = open_file(pid, "mem", is_writable ? O_RDWR : O_RDONLY);

	if (mem_fd < 0)
		return mem_fd;
	if (is_writable)
		maps_fd = open_file(pid, "maps", O_RDONLY);
	if (is_writable && maps_fd < 0) {
		close(mem_fd);
		return maps_fd;
	}
	*ret_mem_fd = mem_fd;
	*ret_maps_fd = maps_fd;
	return 0;
}

/* Whether the descriptor is that of a file /proc/.../@name. Other files could block, or be the importer's only to write. */
static bool is_proc_file(int fd, const char *name)
{
	char path[64], target[256];
	const char *slash;
	struct statfs fs;
	ssize_t len;

	if (fd < 0 || fstatfs(fd, &fs) < 0 || fs.f_type != PROC_MAGIC)
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		return false;
	target[len] = '\0';
	slash = strrchr(target, '/');
	return slash && strcmp(slash + 1, name) == 0;
}

/* Whether the process may write the whole range. Returns 0, -EFAULT (no), -ESRCH, -ENOTTY (the kernel does not know the
 * question) or another -errno. */
static int check_writable(int maps_fd, uint64_t addr, size_t len)
{
	const uint64_t end = addr + len;

	while (addr < end) {
		struct sim_vma_query query;
		int rc = sim_vma_query(maps_fd, addr, SIM_VMA_WRITABLE, &query);

		if (rc < 0)
			return rc == -ENOENT ? -EFAULT : rc;
		if (query.start > addr || query.end <= addr)
			return -EFAULT;
		addr = query.end;
	}
	return 0;
}

static int check_files(bool is_writable, int mem_fd, int maps_fd)
{
	int rc;

	if (!is_proc_file(mem_fd, "mem") || (is_writable && !is_proc_file(maps_fd, "maps")))
		return -EPROTO;
	rc = is_writable ? check_writable(maps_fd, 0, 1) : 0;
	if (rc == 0 || rc == -EFAULT) /* any answer will do */
		return 0;
	return rc == -ESRCH ? rc : -ENOSYS;
}

/* With the lock. */
static struct sim_peer_memory *find(uint64_t process_id, bool is_writable)
{
	struct sim_peer_memory *memory;

	LIST_FOREACH(memory, &memories, entry)
		if (memory->process_id == process_id && memory->is_writable == is_writable)
			break;
	return memory;
}

struct sim_peer_memory *sim_peer_memory_find(uint64_t process_id, bool is_writable)
{
	struct sim_peer_memory *memory;

	pthread_mutex_lock(&lock);
	memory = find(process_id, is_writable);
	if (memory)
		memory->refs++;
	pthread_mutex_unlock(&lock);
	return memory;
}

int sim_peer_memory_create(uint64_t process_id, bool is_writable, int mem_fd, int maps_fd,
			   struct sim_peer_memory **ret_memory)
{
	struct sim_peer_memory *memory;
	int rc = check_files(is_writable, mem_fd, maps_fd);

	memory = rc == 0 ? calloc(1, sizeof(*memory)) : NULL;
	if (!memory) {
		close_fd(mem_fd);
		close_fd(maps_fd);
		return rc < 0 ? rc : -ENOMEM;
	}
	memory->process_id = process_id;
	memory->is_writable = is_writable;
	memory->mem_fd = mem_fd;
	memory->maps_fd = maps_fd;
	memory->refs = 1;
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&memories, memory, entry);
	pthread_mutex_unlock(&lock);
	*ret_memory = memory;
	return 0;
}

void sim_peer_memory_put(struct sim_peer_memory *memory)
{
	bool is_last;

	if (!memory)
		return;
	pthread_mutex_lock(&lock);
	is_last = --memory->refs == 0;
	if (is_last)
		LIST_REMOVE(memory, entry);
	pthread_mutex_unlock(&lock);
	if (!is_last)
		return;
	close_fd(memory->mem_fd);
	close_fd(memory->maps_fd);
	free(memory);
}

/* The kernel reports remote memory that is not mapped as EIO, and local memory as EFAULT. */
static int error_of(ssize_t moved)
{
	if (moved == 0)
		return -ESRCH;
	return errno == EIO ? -EFAULT : -errno;
}

int sim_peer_memory_read(const struct sim_peer_memory *memory, void *local, uint64_t addr, size_t len)
{
	while (len > 0) {
		ssize_t moved = sim_device_pread(memory->mem_fd, local, len, (off_t)addr);

		if (moved <= 0)
			return error_of(moved);
		local = (uint8_t *)local + moved;
		addr += (uint64_t)moved;
		len -= (size_t)moved;
	}
	return 0;
}

size_t sim_peer_memory_move(const struct sim_peer_memory *memory, bool is_read, uint64_t addr,
			    const struct sim_piece *pieces, size_t count)
{
	struct iovec here[SIM_MAX_PIECES];
	size_t bytes = 0;
	ssize_t moved;

	for (size_t i = 0; i < count; i++) {
		here[i] = (struct iovec){ pieces[i].local, pieces[i].len };
		bytes += pieces[i].len;
	}
	/* As in sim_peer_memory_write(). */
	if (!is_read && (memory->maps_fd < 0 || bytes > SIM_PEER_MEMORY_MAX_WRITE ||
			 check_writable(memory->maps_fd, addr, bytes) < 0))
		return 0;
	moved = is_read ? sim_device_preadv(memory->mem_fd, here, (int)count, (off_t)addr) :
			  sim_device_pwritev(memory->mem_fd, here, (int)count, (off_t)addr);
	return moved > 0 ? (size_t)moved : 0;
}

/* In pieces, so that little time passes between the question and the write. */
int sim_peer_memory_write(const struct sim_peer_memory *memory, const void *local, uint64_t addr, size_t len)
{
	if (memory->maps_fd < 0)
		return -EACCES;
	while (len > 0) {
		size_t piece = min_size(len, SIM_PEER_MEMORY_MAX_WRITE);
		int rc = check_writable(memory->maps_fd, addr, piece);
		ssize_t moved = rc == 0 ? sim_device_pwrite(memory->mem_fd, local, piece, (off_t)addr) : rc;

		if (rc < 0)
			return rc;
		if (moved <= 0)
			return error_of(moved);
		local = (const uint8_t *)local + moved;
		addr += (uint64_t)moved;
		len -= (size_t)moved;
	}
	return 0;
}
