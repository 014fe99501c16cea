/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into programs of a side whose memory pages are larger than this machine's (doc/hardware.md): they see the size
 * $BFSIM_PAGE_SIZE, get mappings that are aligned to it, and are refused addresses and offsets that are not.
 *
 * Only calls through the dynamic linker pass here; the C library's own mappings do not. Lengths stay as they are: a kernel
 * with such pages would map the rest of the last page, too. */
#undef _FILE_OFFSET_BITS /* it would rename mmap() to mmap64(): both are defined here */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

PUBLIC extern long __sysconf(int name); /* glibc's own name of sysconf() */

/* A power of two; the machine's size if the variable is missing or smaller. */
static uintptr_t page_bytes(void)
{
	static _Atomic uintptr_t known;
	uintptr_t bytes = atomic_load_explicit(&known, memory_order_relaxed), real;
	const char *text;

	if (bytes)
		return bytes;
	text = getenv("BFSIM_PAGE_SIZE");
	real = getauxval(AT_PAGESZ);
	bytes = text ? strtoul(text, NULL, 10) : 0;
	if (bytes < real || (bytes & (bytes - 1)))
		bytes = real;
	atomic_store_explicit(&known, bytes, memory_order_relaxed);
	return bytes;
}

static bool is_aligned(uintptr_t value)
{
	return (value & (page_bytes() - 1)) == 0;
}

PUBLIC long sysconf(int name)
{
	return name == _SC_PAGESIZE ? (long)page_bytes() : __sysconf(name);
}

PUBLIC int getpagesize(void)
{
	return (int)page_bytes();
}

static void *map(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset); /* -1 is MAP_FAILED */
}

static void unmap(uintptr_t addr, size_t len)
{
	if (len)
		syscall(SYS_munmap, addr, len);
}

/* Reserve enough for an aligned range, map there, and give the rest back. */
static void *map_aligned(size_t len, int prot, int flags, int fd, off_t offset)
{
	size_t real = getauxval(AT_PAGESZ), page = page_bytes(), used = (len + real - 1) / real * real;
	void *reserved = map(NULL, used + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uintptr_t start, end = (uintptr_t)reserved + used + page;
	void *mapped;

	if (reserved == MAP_FAILED)
		return MAP_FAILED;
	start = ((uintptr_t)reserved + page - 1) / page * page;
	mapped = map((void *)start, len, prot, flags | MAP_FIXED, fd, offset);
	if (mapped == MAP_FAILED) {
		int error = errno;

		unmap((uintptr_t)reserved, used + page);
		errno = error;
		return MAP_FAILED;
	}
	unmap((uintptr_t)reserved, start - (uintptr_t)reserved);
	unmap(start + used, end - start - used);
	return mapped;
}

PUBLIC void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	bool is_fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
	void *mapped;

	if (!is_aligned((uintptr_t)offset) || (is_fixed && !is_aligned((uintptr_t)addr))) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	mapped = map(addr, len, prot, flags, fd, offset);
	if (mapped == MAP_FAILED || is_fixed || is_aligned((uintptr_t)mapped))
		return mapped;
	unmap((uintptr_t)mapped, len);
	return map_aligned(len, prot, flags, fd, offset);
}

PUBLIC void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return mmap(addr, len, prot, flags, fd, offset);
}

PUBLIC int munmap(void *addr, size_t len)
{
	if (is_aligned((uintptr_t)addr))
		return (int)syscall(SYS_munmap, addr, len);
	errno = EINVAL;
	return -1;
}

PUBLIC int mprotect(void *addr, size_t len, int prot)
{
	if (is_aligned((uintptr_t)addr))
		return (int)syscall(SYS_mprotect, addr, len, prot);
	errno = EINVAL;
	return -1;
}
