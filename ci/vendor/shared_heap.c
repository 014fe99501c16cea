/* SPDX-License-Identifier: BSD-3-Clause */
/* ci/vendor/shared_heap.c - preloaded into programs whose exported memory comes from aligned_alloc(): here it lies in a shared
 * object, so that the data path "mapped" reaches it. Blocks below a page come from the C library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_BLOCKS 4096

static struct block {
	void *addr;
	size_t len;
} blocks[MAX_BLOCKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

extern void __libc_free(void *memory);

/* Take an empty entry (@addr NULL), or that of a block. */
static struct block *find_block(const void *addr)
{
	for (int i = 0; i < MAX_BLOCKS; i++)
		if (blocks[i].addr == addr)
			return &blocks[i];
	return NULL;
}

static void *map_shared(size_t len)
{
	int fd = memfd_create("shared-heap", MFD_CLOEXEC);
	void *addr = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)len) == 0)
		addr = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return addr == MAP_FAILED ? NULL : addr;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct block *block;
	void *addr;

	if (alignment != page)
		return memalign(alignment, size);
	addr = map_shared(size);
	pthread_mutex_lock(&lock);
	block = addr ? find_block(NULL) : NULL;
	if (block)
		*block = (struct block){ addr, size };
	pthread_mutex_unlock(&lock);
	if (block)
		return addr;
	if (addr)
		munmap(addr, size);
	return memalign(alignment, size);
}

void free(void *memory)
{
	struct block *block;

	if (!memory)
		return;
	if ((uintptr_t)memory % (size_t)sysconf(_SC_PAGESIZE) != 0) {
		__libc_free(memory);
		return;
	}
	pthread_mutex_lock(&lock);
	block = find_block(memory);
	if (block)
		munmap(memory, block->len);
	if (block)
		block->addr = NULL;
	pthread_mutex_unlock(&lock);
	if (!block)
		__libc_free(memory);
}

/* The checker asks when it sees free(). */
size_t malloc_usable_size(void *memory)
{
	size_t (*usable_size)(void *) = (size_t(*)(void *))dlsym(RTLD_NEXT, "malloc_usable_size");
	const struct block *block;
	size_t len = 0;

	pthread_mutex_lock(&lock);
	block = memory ? find_block(memory) : NULL;
	if (block)
		len = block->len;
	pthread_mutex_unlock(&lock);
	return len > 0 ? len : usable_size(memory);
}
