/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about memory that registers here and not elsewhere: the limit of locked memory, and the size of pages. */
#include <inttypes.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/check/report/hit.h"
#include "shim/check/history/mmap_history.h"
#include "shim/common/process/runtime.h"

#define SMALL_PAGE_BYTES 4096

/* ---- the limit of locked memory ---- */

/* The kernel does not limit such a process. */
static bool may_lock_all(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capget, &header, data) == 0 && data[0].effective & (1u << CAP_IPC_LOCK);
}

static uint64_t to_kib(uint64_t bytes)
{
	return (bytes + 1023) / 1024;
}

static void check_locked(const struct shim_call *call, const struct doca_mmap *mmap)
{
	struct rlimit limit;
	struct check_hit *hit;
	uint32_t num_mmaps;
	uint64_t bytes;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY || mmap->cpu_base)
		return;
	bytes = check_mmap_started_bytes(&num_mmaps);
	if (bytes <= limit.rlim_cur || may_lock_all())
		return;
	hit = check_hit_begin(BFC_LOCKED_MEMORY_LIMIT, call,
			      "%s: %" PRIu32 " started memory map%s %" PRIu64 " KiB; the process may lock %" PRIu64
			      " KiB (RLIMIT_MEMLOCK): raise that by \"ulimit -l %" PRIu64 "\"",
			      check_call_name(call), num_mmaps, num_mmaps == 1 ? " has" : "s have", to_kib(bytes),
			      (uint64_t)limit.rlim_cur / 1024, to_kib(bytes));
	check_mmap_add_object(hit, mmap);
	check_hit_end(hit);
}

/* ---- the size of pages ---- */

static uint64_t page_bytes(void)
{
	const struct sim_session *session = shim_session();

	return session ? pcie_topology_page_bytes(sim_session_topology(session), sim_session_side(session)) : 0;
}

/* Memory that a program aligned by hand, to the pages of another system. */
static void check_pages(const struct shim_call *call, const struct doca_mmap *mmap)
{
	uint64_t page = page_bytes(), addr = (uintptr_t)mmap->addr;
	struct check_hit *hit;

	if (page <= SMALL_PAGE_BYTES || addr % SMALL_PAGE_BYTES || mmap->len_bytes % SMALL_PAGE_BYTES ||
	    addr % page == 0)
		return;
	hit = check_hit_begin(
		BFC_PAGE_SIZE_ASSUMED, call,
		"%s: the range begins at a multiple of %d KiB, inside a page: side %s has pages of %" PRIu64 " KiB",
		check_call_name(call), SMALL_PAGE_BYTES / 1024, sim_session_side(shim_session()), to_kib(page));
	check_mmap_add_call(hit, mmap, CHECK_MMAP_RANGE, "set the range");
	check_mmap_add_object(hit, mmap);
	check_hit_end(hit);
}

static void leave_start(struct shim_call *call)
{
	const struct doca_mmap *mmap = check_arg(call, 0);

	if (check_result(call) != DOCA_SUCCESS)
		return;
	check_locked(call, mmap);
	check_pages(call, mmap);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_mmap_start, NULL, leave_start },
};

const struct check_part check_mmap_limits = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
};
