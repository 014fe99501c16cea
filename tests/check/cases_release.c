/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about memory that the program takes away while a task in flight uses it. */
#include "cases.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BYTES      ((size_t)256 << 10) /* more than free() keeps */
#define ROOM_BYTES ((size_t)1 << 30)

/* A sanitizer's functions, which are part of the program, stand before those that the checker sees. */
static void skip_if_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	exit(CASE_SKIPPED);
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
	exit(CASE_SKIPPED);
#endif
#endif
}

/* A task whose source, or destination, is memory of its own. */
struct lone {
	struct rig *rig;
	struct doca_mmap *map;
	uint8_t *bytes;
	int fd; /* -1 = anonymous */
};

static struct lone open_lone(uint8_t *bytes, int fd)
{
	struct lone lone = { .rig = rig_start(rig_open(NULL)), .bytes = bytes, .fd = fd };

	rig_submit_small(lone.rig, 0); /* the engine starts its thread, whose stack may come to lie anywhere */
	rig_drain(lone.rig);
	lone.map = rig_make_mmap(lone.rig->dev, bytes, BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	return lone;
}

/* In the middle of room where no other mapping comes to lie. */
static uint8_t *map_apart(int fd)
{
	uint8_t *room = mmap(NULL, ROOM_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint8_t *bytes;

	CHECK(room != MAP_FAILED && munmap(room, ROOM_BYTES) == 0);
	bytes = mmap(room + ROOM_BYTES / 2, BYTES, PROT_READ | PROT_WRITE,
		     fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	CHECK(bytes == room + ROOM_BYTES / 2);
	memset(bytes, 1, BYTES);
	return bytes;
}

static struct lone open_mapped(void)
{
	return open_lone(map_apart(-1), -1);
}

static struct lone open_object(void)
{
	int fd = memfd_create("lone", MFD_CLOEXEC);

	CHECK(fd >= 0 && ftruncate(fd, BYTES) == 0);
	return open_lone(map_apart(fd), fd);
}

static struct lone open_heap(void)
{
	uint8_t *bytes;

	mallopt(M_MMAP_THRESHOLD, BYTES / 2);
	bytes = calloc(1, BYTES);
	CHECK(bytes);
	return open_lone(bytes, -1);
}

/* Staged: the engine does not run it before the next doorbell. */
static void stage(struct lone *lone, bool is_source)
{
	struct rig *rig = lone->rig;
	struct doca_buf *src = is_source ? rig_buf(rig, lone->map, lone->bytes, 64, 0, 64) : rig_src(rig, 0, 64);
	struct doca_buf *dst = is_source ? rig_dst(rig, 4096, 64) : rig_buf(rig, lone->map, lone->bytes, 64, 0, 0);

	MUST(doca_task_submit_ex(rig_task(rig, 1, src, dst), DOCA_TASK_SUBMIT_FLAG_NONE));
}

/* The task ends, well or not. */
static void run(struct lone *lone)
{
	doca_ctx_flush_tasks(lone->rig->ctx);
	rig_drain(lone->rig);
}

static void end(struct lone *lone)
{
	struct rig *rig = lone->rig;

	end_context(rig);
	while (rig->num_bufs > 0)
		MUST(doca_buf_dec_refcount(rig->bufs[--rig->num_bufs], NULL));
	MUST(doca_mmap_destroy(lone->map));
	if (lone->fd >= 0)
		CHECK(close(lone->fd) == 0);
	rig_close(rig);
}

static void unmap_in_flight(void)
{
	struct lone lone = open_mapped();

	skip_if_sanitized();
	stage(&lone, true);
	CHECK(munmap(lone.bytes, BYTES) == 0);
	run(&lone);
	end(&lone);
}

static void unmap_behind_the_task(void)
{
	struct lone lone = open_mapped();

	stage(&lone, true);
	CHECK(munmap(lone.bytes + BYTES / 2, BYTES / 2) == 0 &&
	      mmap(lone.bytes + BYTES / 2, BYTES / 2, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
		      lone.bytes + BYTES / 2);
	run(&lone);
	end(&lone);
	CHECK(munmap(lone.bytes, BYTES) == 0);
}

static void free_in_flight(void)
{
	struct lone lone = open_heap();

	skip_if_sanitized();
	stage(&lone, false);
	free(lone.bytes);
	run(&lone);
	end(&lone);
}

static void free_another_block_in_flight(void)
{
	struct lone lone = open_heap();
	void *other = malloc(BYTES);

	CHECK(other);
	stage(&lone, false);
	free(other);
	run(&lone);
	end(&lone);
	free(lone.bytes);
}

/* A block that free() keeps: the task writes into the heap. */
static void free_small_in_flight(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	uint8_t *block = malloc(64);
	struct doca_mmap *map = rig_make_mmap(rig->dev, block, 64, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct lone lone = { .rig = rig, .map = map, .bytes = block, .fd = -1 };

	skip_if_sanitized();
	memset(block, 1, 64);
	stage(&lone, true);
	free(block);
	run(&lone);
	end(&lone);
}

static void truncate_in_flight(void)
{
	struct lone lone = open_object();

	skip_if_sanitized();
	stage(&lone, true);
	CHECK(ftruncate(lone.fd, 0) == 0);
	run(&lone);
	end(&lone);
}

static void truncate_behind_the_task(void)
{
	struct lone lone = open_object();

	stage(&lone, true);
	CHECK(ftruncate(lone.fd, BYTES / 2) == 0);
	run(&lone);
	CHECK(ftruncate(lone.fd, BYTES) == 0);
	end(&lone);
}

static void replace_in_flight(void)
{
	struct lone lone = open_mapped();

	skip_if_sanitized();
	stage(&lone, true);
	CHECK(mmap(lone.bytes, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	      lone.bytes);
	run(&lone);
	end(&lone);
}

static void discard_in_flight(void)
{
	struct lone lone = open_mapped();

	skip_if_sanitized();
	stage(&lone, true);
	CHECK(madvise(lone.bytes, BYTES, MADV_DONTNEED) == 0);
	run(&lone);
	end(&lone);
}

static void advise_in_flight(void)
{
	struct lone lone = open_mapped();

	stage(&lone, true);
	CHECK(madvise(lone.bytes, BYTES, MADV_WILLNEED) == 0);
	run(&lone);
	end(&lone);
	CHECK(munmap(lone.bytes, BYTES) == 0);
}

static void move_in_flight(void)
{
	struct lone lone = open_mapped();
	void *moved;

	skip_if_sanitized();
	stage(&lone, true);
	moved = mremap(lone.bytes, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, lone.bytes + 2 * BYTES);
	CHECK(moved == lone.bytes + 2 * BYTES);
	run(&lone);
	end(&lone);
	CHECK(munmap(moved, BYTES) == 0);
}

/* The checker does not see the call: the engine meets what is gone. */
static void unmap_unseen(void)
{
	struct lone lone = open_mapped();

	stage(&lone, true);
	CHECK(syscall(SYS_munmap, lone.bytes, BYTES) == 0);
	run(&lone);
	end(&lone);
}

/* Before the submission, which this mode does not look at. */
static void unmap_before_the_task(void)
{
	struct lone lone = open_mapped();

	CHECK(munmap(lone.bytes, BYTES) == 0);
	stage(&lone, true);
	run(&lone);
	end(&lone);
}

static void protect_in_flight(void)
{
	struct lone lone = open_mapped();

	skip_if_sanitized();
	stage(&lone, false);
	CHECK(mprotect(lone.bytes, BYTES, PROT_READ) == 0);
	run(&lone);
	end(&lone);
	CHECK(munmap(lone.bytes, BYTES) == 0);
}

/* The task only reads. */
static void protect_from_writes(void)
{
	struct lone lone = open_mapped();

	stage(&lone, true);
	CHECK(mprotect(lone.bytes, BYTES, PROT_READ) == 0);
	run(&lone);
	end(&lone);
	CHECK(munmap(lone.bytes, BYTES) == 0);
}

const struct check_case release_cases[] = {
	{ "memory-released-in-flight", unmap_in_flight, unmap_behind_the_task },
	{ "memory-released-in-flight@free", free_in_flight, free_another_block_in_flight },
	{ "memory-released-in-flight@small", free_small_in_flight, free_another_block_in_flight },
	{ "memory-released-in-flight@truncate", truncate_in_flight, truncate_behind_the_task },
	{ "memory-released-in-flight@replace", replace_in_flight, unmap_behind_the_task },
	{ "memory-released-in-flight@discard", discard_in_flight, advise_in_flight },
	{ "memory-released-in-flight@move", move_in_flight, unmap_behind_the_task },
	{ "memory-released-in-flight@unseen", unmap_unseen, unmap_behind_the_task },
	{ "memory-released-in-flight@before", unmap_before_the_task, unmap_behind_the_task },
	{ "memory-protected-in-flight", protect_in_flight, protect_from_writes },
	{ 0 },
};
