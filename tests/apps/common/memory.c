/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates or maps the memory that holds a file's contents. */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(APP::MEMORY);

static const char *const kind_names[] = {
	[MEMORY_HEAP] = "heap",
	[MEMORY_PRIVATE] = "private",
	[MEMORY_SHARED] = "shared",
};

doca_error_t memory_kind_parse(const char *name, enum memory_kind *ret_kind)
{
	for (size_t i = 0; i < sizeof(kind_names) / sizeof(kind_names[0]); i++) {
		if (strcmp(name, kind_names[i]) == 0) {
			*ret_kind = (enum memory_kind)i;
			return DOCA_SUCCESS;
		}
	}
	DOCA_LOG_ERR("No memory of kind %s: choose heap, private or shared", name);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t file_error(const char *what, const char *path)
{
	DOCA_LOG_ERR("Cannot %s %s: %s", what, path, strerror(errno));
	return DOCA_ERROR_IO_FAILED;
}

static int read_all(int fd, uint8_t *addr, size_t len_bytes)
{
	while (len_bytes > 0) {
		ssize_t got = read(fd, addr, len_bytes);

		if (got == 0)
			errno = ENODATA; /* it became shorter */
		if (got <= 0)
			return -1;
		addr += got;
		len_bytes -= (size_t)got;
	}
	return 0;
}

static int write_all(int fd, const uint8_t *addr, size_t len_bytes)
{
	while (len_bytes > 0) {
		ssize_t put = write(fd, addr, len_bytes);

		if (put < 0)
			return -1;
		addr += put;
		len_bytes -= (size_t)put;
	}
	return 0;
}

static int load(int fd, struct memory *memory)
{
	memory->addr = malloc(memory->len_bytes);
	if (!memory->addr)
		return -1;
	if (read_all(fd, memory->addr, memory->len_bytes) == 0)
		return 0;
	free(memory->addr);
	return -1;
}

static int map(int fd, bool writable, struct memory *memory)
{
	bool shared = memory->kind == MEMORY_SHARED;
	int protection = PROT_READ | (writable || !shared ? PROT_WRITE : 0);
	void *addr = mmap(NULL, memory->len_bytes, protection, shared ? MAP_SHARED : MAP_PRIVATE, fd, 0);

	if (addr == MAP_FAILED)
		return -1;
	memory->addr = addr;
	return 0;
}

static doca_error_t take(int fd, const char *path, bool writable, struct memory *memory)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return file_error("examine", path);
	if (status.st_size == 0) {
		DOCA_LOG_ERR("%s is empty: there is nothing to copy", path);
		return DOCA_ERROR_EMPTY;
	}
	memory->len_bytes = (size_t)status.st_size;
	if (memory->kind == MEMORY_HEAP)
		return load(fd, memory) < 0 ? file_error("read", path) : DOCA_SUCCESS;
	return map(fd, writable, memory) < 0 ? file_error("map", path) : DOCA_SUCCESS;
}

doca_error_t memory_of_file(const char *path, enum memory_kind kind, bool writable, struct memory *ret_memory)
{
	int fd = open(path, (kind == MEMORY_SHARED && writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	struct memory memory = { .kind = kind };
	doca_error_t result;

	if (fd < 0)
		return file_error("open", path);
	result = take(fd, path, writable, &memory);
	close(fd); /* a mapping outlives it */
	if (result == DOCA_SUCCESS)
		*ret_memory = memory;
	return result;
}

doca_error_t memory_of_zeros(size_t len_bytes, struct memory *ret_memory)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *addr;

	if (posix_memalign(&addr, page, len_bytes) != 0) {
		DOCA_LOG_ERR("No memory for %zu bytes", len_bytes);
		return DOCA_ERROR_NO_MEMORY;
	}
	memset(addr, 0, len_bytes);
	*ret_memory = (struct memory){ .addr = addr, .len_bytes = len_bytes, .kind = MEMORY_HEAP };
	return DOCA_SUCCESS;
}

doca_error_t memory_to_file(const struct memory *memory, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	doca_error_t result = DOCA_SUCCESS;

	if (fd < 0)
		return file_error("create", path);
	if (write_all(fd, memory->addr, memory->len_bytes) < 0)
		result = file_error("write", path);
	if (close(fd) < 0 && result == DOCA_SUCCESS)
		result = file_error("write", path);
	return result;
}

void memory_release(struct memory *memory)
{
	if (!memory->addr)
		return;
	if (memory->kind == MEMORY_HEAP)
		free(memory->addr);
	else
		munmap(memory->addr, memory->len_bytes);
	memory->addr = NULL;
}
