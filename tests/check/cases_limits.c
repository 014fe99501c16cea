/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about memory that registers here and not on other machines. */
#include "cases.h"

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Without the capability to lock all memory, as most programs of users are. */
static void drop_lock_capability(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	CHECK(syscall(SYS_capget, &header, data) == 0);
	data[0].effective &= ~(1u << CAP_IPC_LOCK);
	CHECK(syscall(SYS_capset, &header, data) == 0);
}

static void register_with_limit(rlim_t limit_bytes)
{
	struct rlimit limit;

	CHECK(getrlimit(RLIMIT_MEMLOCK, &limit) == 0);
	limit.rlim_cur = limit_bytes;
	CHECK(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
	drop_lock_capability();
	rig_close(rig_open(NULL));
}

static void register_beyond_limit(void)
{
	register_with_limit(RIG_ARENA_BYTES - 1);
}

static void register_up_to_limit(void)
{
	register_with_limit(RIG_ARENA_BYTES);
}

/* A block that is aligned to @alignment and no more, on a side with pages of 64 KiB. */
static void register_aligned_to(size_t alignment)
{
	uint8_t *block = aligned_alloc(65536, 3 * 65536);
	struct doca_mmap *map;
	struct doca_dev *dev;

	setenv("BFSIM_TOPOLOGY", LARGE_PAGES, 1);
	CHECK(block);
	dev = rig_open_dev(0);
	map = rig_make_mmap(dev, block + alignment, 65536, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_mmap_destroy(map));
	MUST(doca_dev_close(dev));
	free(block);
}

static void register_small_page(void)
{
	register_aligned_to(4096);
}

static void register_large_page(void)
{
	register_aligned_to(65536);
}

#define HUGE_BYTES ((size_t)2 << 20)

/* As many bytes as a huge page, from the middle of one to the middle of the next: they never are in a huge page. */
static void register_unaligned(bool wants_huge)
{
	uint8_t *block = aligned_alloc(HUGE_BYTES, 2 * HUGE_BYTES), *memory = block + HUGE_BYTES / 2;
	struct rig *rig = rig_open(NULL);

	CHECK(block);
	CHECK(madvise(block, 2 * HUGE_BYTES, MADV_NOHUGEPAGE) == 0);
	if (wants_huge)
		CHECK(madvise(memory, HUGE_BYTES, MADV_HUGEPAGE) == 0);
	memset(memory, 1, HUGE_BYTES);
	MUST(doca_mmap_destroy(rig_make_mmap(rig->dev, memory, HUGE_BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE)));
	rig_close(rig);
	free(block);
}

static void ask_for_huge_pages(void)
{
	register_unaligned(true);
}

static void ask_for_no_huge_pages(void)
{
	register_unaligned(false);
}

const struct check_case limits_cases[] = {
	{ "locked-memory-limit", register_beyond_limit, register_up_to_limit },
	{ "page-size-assumed", register_small_page, register_large_page },
	{ "huge-pages-missing", ask_for_huge_pages, ask_for_no_huge_pages },
	{ 0 },
};
