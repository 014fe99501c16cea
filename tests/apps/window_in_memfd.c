/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that is linked with --wrap=mmap64 has its anonymous memory in memfds, which another process can map. */
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

void *__real_mmap64(void *addr, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *addr, size_t bytes, int protection, int flags, int fd, off_t offset);

void *__wrap_mmap64(void *addr, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	void *memory = MAP_FAILED;
	int memfd;

	if (!(flags & MAP_ANONYMOUS))
		return __real_mmap64(addr, bytes, protection, flags, fd, offset);
	memfd = memfd_create("window", MFD_CLOEXEC);
	if (memfd >= 0 && ftruncate(memfd, (off_t)bytes) == 0)
		memory = __real_mmap64(addr, bytes, protection, MAP_SHARED, memfd, 0);
	return memory; /* the descriptor stays open: by it the memory map finds the object */
}
