/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments: sealed memfds that two processes map. */
#include "segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

static int map_shared(int fd, size_t len, struct sim_segment *ret_segment)
{
	void *base = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (base == MAP_FAILED)
		return -errno;
	*ret_segment = (struct sim_segment){ .base = base, .len_bytes = len };
	return 0;
}

int sim_segment_create(size_t len, struct sim_segment *ret_segment, int *ret_fd)
{
	int fd = memfd_create("bfsim", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int rc;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)len) < 0 || fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL) < 0)
		rc = -errno;
	else
		rc = map_shared(fd, len, ret_segment);
	if (rc < 0)
		close(fd);
	else
		*ret_fd = fd;
	return rc;
}

int sim_segment_map(int fd, size_t min_len, struct sim_segment *ret_segment)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat stat;

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &stat) < 0 || (uint64_t)stat.st_size < min_len)
		return -EPROTO;
	return map_shared(fd, (size_t)stat.st_size, ret_segment);
}

void sim_segment_unmap(struct sim_segment *segment)
{
	if (segment->base)
		munmap(segment->base, segment->len_bytes);
	*segment = (struct sim_segment){ 0 };
}
