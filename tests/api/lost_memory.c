/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that tests take away from tasks in flight, and what is left of it. */
#include "lost_memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/check.h"
#include "../common/under_valgrind.h"

uint8_t lost_byte(size_t offset)
{
	return (uint8_t)(offset * 7 + offset / 251);
}

const char *lost_name(enum lost_way way)
{
	static const char *const names[] = { "unmapped", "freed", "truncated", "protected", "read-only", "replaced" };

	return names[way];
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#define IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define IS_SANITIZED false
#endif

bool lost_is_possible(enum lost_way way)
{
	return way != LOST_FREED || !IS_SANITIZED;
}

static void *map(int fd, int prot, void *at, int flags)
{
	void *bytes = mmap(at, LOST_BYTES, prot, flags | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED), fd, 0);

	CHECK(bytes != MAP_FAILED);
	return bytes;
}

#define ROOM_BYTES ((size_t)1 << 30)

/* In the middle of room for all blocks, where no other mapping comes to lie when this one is gone. */
static void *map_apart(int fd)
{
	static uint8_t *room;
	static size_t used;

	if (!room) {
		room = mmap(NULL, ROOM_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		CHECK(room != MAP_FAILED && munmap(room, ROOM_BYTES) == 0);
	}
	used += 2 * LOST_BYTES;
	CHECK(used < ROOM_BYTES / 4);
	return map(fd, PROT_READ | PROT_WRITE, room + ROOM_BYTES / 2 + used, 0);
}

static void fill(uint8_t *bytes)
{
	for (size_t i = 0; i < LOST_BYTES; i++)
		bytes[i] = lost_byte(i);
}

struct lost_block lost_new(enum lost_way way)
{
	struct lost_block block = { .way = way, .fd = -1 };

	mallopt(M_MMAP_THRESHOLD, LOST_BYTES / 2); /* or it grows with the first free() */
	if (way == LOST_TRUNCATED || way == LOST_REPLACED) {
		block.fd = memfd_create("lost", MFD_CLOEXEC);
		CHECK(block.fd >= 0 && ftruncate(block.fd, LOST_BYTES) == 0);
	}
	block.bytes = way == LOST_FREED ? malloc(LOST_BYTES) : map_apart(way == LOST_TRUNCATED ? block.fd : -1);
	CHECK(block.bytes);
	fill(block.bytes);
	return block;
}

/* A file that can't be made writable. */
static void replace(const struct lost_block *block)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", block->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	map(fd, PROT_READ, block->bytes, MAP_FIXED);
	CHECK(close(fd) == 0);
}

void lost_take(struct lost_block *block)
{
	switch (block->way) {
	case LOST_UNMAPPED:
		CHECK(munmap(block->bytes, LOST_BYTES) == 0);
		break;
	case LOST_FREED:
		free(block->bytes);
		break;
	case LOST_TRUNCATED:
		CHECK(ftruncate(block->fd, 0) == 0);
		break;
	case LOST_PROTECTED:
		CHECK(mprotect(block->bytes, LOST_BYTES, PROT_NONE) == 0);
		break;
	case LOST_READ_ONLY:
		CHECK(mprotect(block->bytes, LOST_BYTES, PROT_READ) == 0);
		break;
	default:
		replace(block);
		break;
	}
}

bool lost_fails(enum lost_way way, bool is_write)
{
	return way == LOST_UNMAPPED || way == LOST_FREED || way == LOST_TRUNCATED || (way == LOST_REPLACED && is_write);
}

int lost_signal_of_access(volatile uint8_t *byte, bool is_write)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		if (is_write)
			*byte = 1;
		else
			(void)*byte;
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* First, last and a middle byte. */
static void check_accesses(uint8_t *bytes, bool is_write, int signal)
{
	const size_t offsets[] = { 0, LOST_BYTES / 2, LOST_BYTES - 1 };

	for (size_t i = 0; i < 3; i++)
		CHECK(lost_signal_of_access(bytes + offsets[i], is_write) == signal);
}

void lost_unprotect(struct lost_block *block)
{
	CHECK(mprotect(block->bytes, LOST_BYTES, PROT_READ | PROT_WRITE) == 0);
}

/* The mapping is the object's again. */
static void check_object(struct lost_block *block)
{
	uint8_t byte = 0x5a;

	check_accesses(block->bytes, false, SIGBUS);
	CHECK(ftruncate(block->fd, LOST_BYTES) == 0);
	for (size_t at = 0; at < LOST_BYTES; at += 4096) {
		CHECK(pwrite(block->fd, &byte, 1, (off_t)at) == 1);
		CHECK(block->bytes[at] == byte);
	}
}

void lost_end(struct lost_block *block)
{
	switch (block->way) {
	case LOST_UNMAPPED:
		check_accesses(block->bytes, false, SIGSEGV);
		break;
	case LOST_FREED:
		break;
	case LOST_TRUNCATED:
		check_object(block);
		break;
	case LOST_PROTECTED:
		check_accesses(block->bytes, false, SIGSEGV);
		break;
	default:
		check_accesses(block->bytes, false, 0);
		check_accesses(block->bytes, true, SIGSEGV);
		break;
	}
	if (block->way != LOST_UNMAPPED && block->way != LOST_FREED)
		CHECK(munmap(block->bytes, LOST_BYTES) == 0);
	if (block->fd >= 0)
		CHECK(close(block->fd) == 0);
}

int lost_group_setup(void **state)
{
	if (RUNNING_ON_VALGRIND)
		exit(77); /* "skipped", to meson */
	return 0;
}
