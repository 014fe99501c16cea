/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a memory map's range: whether it is mapped and writable, and which shared object, if any,
 * holds it, so that another process can map it as well. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "shim/common/base/check.h"
#include "mmap_priv.h"
#include "sim/base/vma_query.h"

/* One mapping of this process. */
struct vma {
	uint64_t start, end, offset;
	bool readable, writable, shared;
	dev_t device;
	ino_t inode;
};

static bool parse_vma(const char *line, struct vma *ret_vma)
{
	unsigned int major, minor;
	uint64_t inode;
	char mode[5];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &ret_vma->start, &ret_vma->end, mode,
		   &ret_vma->offset, &major, &minor, &inode) != 7)
		return false;
	ret_vma->readable = mode[0] == 'r';
	ret_vma->writable = mode[1] == 'w';
	ret_vma->shared = mode[3] == 's';
	ret_vma->device = makedev(major, minor);
	ret_vma->inode = inode;
	return true;
}

/* Return whether the descriptor can be mapped for reading, and for writing if @writable. */
static bool fd_can_map(int fd, bool writable)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || flags & O_PATH)
		return false;
	return (flags & O_ACCMODE) == O_RDWR || (!writable && (flags & O_ACCMODE) == O_RDONLY);
}

static bool fd_is_object_of(int fd, const struct vma *vma, bool writable)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_ino == vma->inode && st.st_dev == vma->device && fd_can_map(fd, writable);
}

/* Return a duplicate of the descriptor if it is the object's; else -1. Other threads may close and open
 * descriptors meanwhile, so the duplicate is checked again. */
static int duplicate_object_fd(int fd, const struct vma *vma, bool writable)
{
	int duplicate;

	if (!fd_is_object_of(fd, vma, writable))
		return -1;
	duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (duplicate < 0 || fd_is_object_of(duplicate, vma, writable))
		return duplicate;
	close(duplicate);
	return -1;
}

/* Return a duplicate of a descriptor of this process that can map the object; or -1. */
static int find_object_fd(const struct vma *vma, bool writable)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int found = -1;

	while (dir && found < 0 && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && fd != dirfd(dir))
			found = duplicate_object_fd(fd, vma, writable);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Open the object by the kernel's name of the mapping, which needs privileges. */
static int open_map_file(const struct vma *vma, bool writable)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/map_files/%" PRIx64 "-%" PRIx64, vma->start, vma->end);
	return open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
}

static void close_object(struct doca_mmap *mmap)
{
	if (mmap->object_fd >= 0)
		close(mmap->object_fd);
	mmap->object_fd = -1;
	mmap->object_offset = 0;
}

/* Return a descriptor of the object that holds the whole range, and the range's offset in it; -1 = none. */
static int open_object(const struct vma *vma, uint64_t addr, bool writable, uint64_t *ret_offset)
{
	int fd;

	if (!vma->shared || vma->inode == 0)
		return -1;
	fd = find_object_fd(vma, writable);
	if (fd < 0)
		fd = open_map_file(vma, writable);
	*ret_offset = vma->offset + (addr - vma->start);
	return fd;
}

/* Result of a walk over the vmas of a range. */
struct range_walk {
	uint64_t next_addr;  /* end of the walk: behind the range, or at the problem */
	const char *problem; /* NULL = none */
	bool no_memory;
	struct vma covering; /* vma that holds all of the range; zeroed = none */
};

static bool wants_more(const struct range_walk *walk, uint64_t end)
{
	return walk->next_addr < end && !walk->problem;
}

/* Go on with the vma at walk->next_addr. */
static void step(struct range_walk *walk, const struct vma *vma, uint64_t start, uint64_t end, bool writable)
{
	if (!vma->readable)
		walk->problem = "not readable";
	else if (writable && !vma->writable)
		walk->problem = "read-only";
	else if (vma->start <= start && vma->end >= end)
		walk->covering = *vma;
	if (!walk->problem)
		walk->next_addr = vma->end;
}

/* Returns 0, or an error of sim_vma_query(). */
static int query_vma(int maps_fd, uint64_t addr, struct vma *ret_vma)
{
	struct sim_vma_query query;
	int rc = sim_vma_query(maps_fd, addr, 0, &query);

	*ret_vma = (struct vma){ .start = query.start,
				 .end = query.end,
				 .offset = query.offset,
				 .readable = query.flags & SIM_VMA_READABLE,
				 .writable = query.flags & SIM_VMA_WRITABLE,
				 .shared = query.flags & SIM_VMA_SHARED,
				 .device = makedev(query.dev_major, query.dev_minor),
				 .inode = query.inode };
	return rc;
}

/* By the text of the file, where the kernel answers no questions. */
static void read_vmas(struct range_walk *walk, uint64_t start, uint64_t end, bool writable, FILE *maps)
{
	char *line = NULL;
	size_t size = 0;
	struct vma vma;

	errno = 0;
	while (wants_more(walk, end) && getline(&line, &size, maps) > 0) {
		if (!parse_vma(line, &vma) || vma.end <= walk->next_addr)
			continue;
		if (vma.start > walk->next_addr)
			break;
		step(walk, &vma, start, end, writable);
	}
	walk->no_memory = wants_more(walk, end) && errno == ENOMEM;
	free(line);
}

static struct range_walk walk_vmas(uint64_t start, uint64_t end, bool writable, FILE *maps)
{
	struct range_walk walk = { .next_addr = start };
	struct vma vma;
	int rc = 0;

	while (wants_more(&walk, end) && (rc = query_vma(fileno(maps), walk.next_addr, &vma)) == 0)
		step(&walk, &vma, start, end, writable);
	if (rc < 0 && rc != -ENOENT)
		read_vmas(&walk, start, end, writable, maps);
	if (wants_more(&walk, end))
		walk.problem = "not mapped";
	return walk;
}

/* Check the vmas of the map's range, and find their object. */
static doca_error_t probe_vmas(const char *func, struct doca_mmap *mmap, bool writable, FILE *maps)
{
	uint64_t start = (uintptr_t)mmap->addr;
	struct range_walk walk = walk_vmas(start, start + mmap->len_bytes, writable, maps);

	if (walk.no_memory)
		return DOCA_ERROR_NO_MEMORY;
	if (walk.problem) {
		sim_err("%s: memory at %#" PRIx64
			" of the range %p, %zu bytes, is %s; register memory that exists, with permissions (doca_mmap_set_permissions()) that it has",
			func, walk.next_addr, mmap->addr, mmap->len_bytes, walk.problem);
		return DOCA_ERROR_INVALID_VALUE;
	}
	mmap->object_fd = open_object(&walk.covering, start, writable, &mmap->object_offset);
	return DOCA_SUCCESS;
}

const char *shim_range_probe(const void *addr, size_t len, int *ret_fd, uint64_t *ret_offset)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t start = (uintptr_t)addr;
	struct range_walk walk;

	if (ret_fd)
		*ret_fd = -1;
	if (!maps)
		return NULL; /* as in shim_mmap_probe() */
	walk = walk_vmas(start, start + len, true, maps);
	fclose(maps);
	if (ret_fd && !walk.problem)
		*ret_fd = open_object(&walk.covering, start, true, ret_offset);
	return walk.problem;
}

/* Return whether the object has that many bytes. An object without a size (a pipe, a driver's) passes. */
static bool object_covers(int fd, uint64_t offset, uint64_t len)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || (st.st_size == 0 && !S_ISREG(st.st_mode)))
		return true;
	return offset <= (uint64_t)st.st_size && len <= (uint64_t)st.st_size - offset;
}

/* A dmabuf may have shrunk since it was mapped, or be read-only. */
static doca_error_t check_dmabuf(const char *func, const struct doca_mmap *mmap, bool writable)
{
	if (writable && mmap->cpu_read_only) {
		sim_err("%s: the dmabuf's descriptor is read-only, but the map's permissions let devices write; see doca_mmap_set_permissions()",
			func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (mmap->object_fd >= 0 && !object_covers(mmap->object_fd, mmap->object_offset, mmap->len_bytes)) {
		sim_err("%s: the dmabuf has become shorter than the range", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t shim_mmap_probe(const char *func, struct doca_mmap *mmap, bool writable)
{
	doca_error_t result;
	FILE *maps;

	if (mmap->cpu_base)
		return check_dmabuf(func, mmap, writable);
	close_object(mmap);
	maps = fopen("/proc/self/maps", "re");
	if (!maps) /* without /proc the range is not checked */
		return errno == ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS;
	result = probe_vmas(func, mmap, writable, maps);
	fclose(maps);
	return result;
}

/* Map the object for reading and writing, or for reading alone if it is read-only. */
static void *mmap_shared_fd(int fd, size_t offset, size_t len, bool *ret_read_only)
{
	void *mapping = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	*ret_read_only = mapping == MAP_FAILED && (errno == EACCES || errno == EPERM);
	return *ret_read_only ? mmap(NULL, len, PROT_READ, MAP_SHARED, fd, (off_t)offset) : mapping;
}

/* Return DOCA_SUCCESS if the descriptor may be mapped; else log why not. */
static doca_error_t check_mappable(const char *func, int fd, size_t offset, size_t len)
{
	if (fcntl(fd, F_GETFD) < 0) {
		sim_err("%s: %d is not a file descriptor", func, fd);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!object_covers(fd, offset, len)) {
		sim_err("%s: offset %zu and %zu bytes exceed the object's size", func, offset, len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t shim_mmap_map_object(const char *func, struct doca_mmap *mmap, int fd, size_t offset, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), before = offset % page;
	doca_error_t result = check_mappable(func, fd, offset, len);
	void *mapping;

	if (result != DOCA_SUCCESS)
		return result;
	mapping = mmap_shared_fd(fd, offset - before, len + before, &mmap->cpu_read_only);
	if (mapping == MAP_FAILED) {
		sim_err("%s: descriptor %d can't be mapped: %s", func, fd, strerror(errno));
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	mmap->cpu_base = (uint8_t *)mapping + before;
	mmap->object_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	mmap->object_offset = offset;
	return DOCA_SUCCESS;
}
