/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands before the functions of the C library that take memory away, in the program and its libraries. Each function tells
 * what the call is about to do, and calls the C library's, or a sanitizer's. */
#undef _FILE_OFFSET_BITS /* it would rename mmap() to mmap64(): both are replaced here */
#undef _TIME_BITS
#include "release_calls.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim/check/base/imports.h"
#include "shim/check/history/releases.h"

#define CALLER __builtin_return_address(0)

int __sanitizer_get_ownership(const volatile void *block) __attribute__((weak));

static check_release_fn *released;

/* What free() takes away; 0 = no block of the heap, which is for free() to say. */
static size_t block_bytes(void *block)
{
	if (!block || !check_may_have_started_maps() ||
	    (__sanitizer_get_ownership && !__sanitizer_get_ownership(block)))
		return 0;
	return malloc_usable_size(block);
}

static void free_seen(void *block)
{
	size_t bytes = block_bytes(block);

	if (bytes > 0)
		released("free", CHECK_RELEASED, (uintptr_t)block, bytes, CALLER);
	free(block);
}

/* The block may grow in place: it is known behind the call. */
static void *realloc_seen(void *block, size_t bytes)
{
	const volatile uintptr_t old = (uintptr_t)block; /* not used, but compared */
	size_t before = block_bytes(block);
	void *moved = realloc(block, bytes);

	if (before > 0 && (moved || bytes == 0) && (uintptr_t)moved != old)
		released("realloc", CHECK_RELEASED, old, before, CALLER);
	return moved;
}

static int munmap_seen(void *addr, size_t len)
{
	released("munmap", CHECK_RELEASED, (uintptr_t)addr, len, CALLER);
	return munmap(addr, len);
}

static void *mremap_seen(void *old, size_t old_len, size_t new_len, int flags, ...)
{
	va_list args;
	void *to;

	va_start(args, flags);
	to = flags & MREMAP_FIXED ? va_arg(args, void *) : NULL;
	va_end(args);
	if (flags & MREMAP_MAYMOVE && (to || new_len > old_len))
		released("mremap", CHECK_RELEASED, (uintptr_t)old, old_len, CALLER);
	else if (new_len < old_len)
		released("mremap", CHECK_RELEASED, (uintptr_t)old + new_len, old_len - new_len, CALLER);
	return flags & MREMAP_FIXED ? mremap(old, old_len, new_len, flags, to) : mremap(old, old_len, new_len, flags);
}

static void *mmap_seen(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (flags & MAP_FIXED)
		released("mmap", CHECK_RELEASED, (uintptr_t)addr, len, CALLER);
	return mmap(addr, len, prot, flags, fd, offset);
}

static void *mmap64_seen(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
{
	if (flags & MAP_FIXED)
		released("mmap", CHECK_RELEASED, (uintptr_t)addr, len, CALLER);
	return mmap64(addr, len, prot, flags, fd, offset);
}

static int mprotect_seen(void *addr, size_t len, int prot)
{
	if (!(prot & PROT_READ) && !(prot & PROT_WRITE))
		released("mprotect", CHECK_NO_ACCESS, (uintptr_t)addr, len, CALLER);
	else if (!(prot & PROT_WRITE))
		released("mprotect", CHECK_NO_WRITE, (uintptr_t)addr, len, CALLER);
	return mprotect(addr, len, prot);
}

static int madvise_seen(void *addr, size_t len, int advice)
{
	if (advice == MADV_DONTNEED || advice == MADV_REMOVE || advice == MADV_FREE)
		released("madvise", CHECK_RELEASED, (uintptr_t)addr, len, CALLER);
	return madvise(addr, len, advice);
}

static void see_truncation(const char *function, int fd, uint64_t len, const void *caller)
{
	uintptr_t begin, end;
	uint64_t offset, kept;

	if (!check_find_map_of_object(fd, &begin, &end, &offset))
		return;
	kept = len > offset ? len - offset : 0;
	if (kept < end - begin)
		released(function, CHECK_RELEASED, begin + kept, end - begin - kept, caller);
}

static int ftruncate_seen(int fd, off_t len)
{
	see_truncation("ftruncate", fd, (uint64_t)len, CALLER);
	return ftruncate(fd, len);
}

static int ftruncate64_seen(int fd, off64_t len)
{
	see_truncation("ftruncate", fd, (uint64_t)len, CALLER);
	return ftruncate64(fd, len);
}

void check_release_calls_follow(check_release_fn *see)
{
	static const struct check_import imports[] = {
		{ "free", (void *)free_seen },           { "realloc", (void *)realloc_seen },
		{ "munmap", (void *)munmap_seen },       { "mremap", (void *)mremap_seen },
		{ "mmap", (void *)mmap_seen },           { "mmap64", (void *)mmap64_seen },
		{ "mprotect", (void *)mprotect_seen },   { "madvise", (void *)madvise_seen },
		{ "ftruncate", (void *)ftruncate_seen }, { "ftruncate64", (void *)ftruncate64_seen },
	};

	released = see;
	check_imports_replace(imports, sizeof(imports) / sizeof(imports[0]));
}
