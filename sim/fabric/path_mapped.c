/* SPDX-License-Identifier: BSD-3-Clause */
/* The path "mapped": a mapping of the shared object that holds the memory. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "path.h"
#include "sim/base/memory_signals.h"

/* A later truncation is noticed by the copy that meets it (memory_guard.h). */
static bool object_covers(const struct stat *object, const struct sim_region *region)
{
	return region->object_offset <= (uint64_t)object->st_size &&
	       region->len_bytes <= (uint64_t)object->st_size - region->object_offset;
}

/* The alignment of mappings of the object: its huge page (hugetlbfs), else a page. */
static uint64_t object_page_size(const struct stat *object)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), block = (uint64_t)object->st_blksize;

	return block > page && block % page == 0 ? block : page;
}

static int mapped_open(struct sim_remote *remote, const struct sim_remote_cfg *cfg, const char **ret_reason)
{
	int prot = PROT_READ |
		   (cfg->region.access & (SIM_ACCESS_WRITE | SIM_ACCESS_SYNC | SIM_ACCESS_INBOX) ? PROT_WRITE : 0);
	uint64_t page, before;
	struct stat object;
	void *mapping;
	size_t len;

	if (cfg->object_fd < 0) {
		*ret_reason = "not in a shared object";
		return -ENOENT;
	}
	if (fstat(cfg->object_fd, &object) < 0 || !object_covers(&object, &cfg->region)) {
		*ret_reason = "its object is shorter than the range";
		return -ENXIO;
	}
	if (cfg->region.access & SIM_ACCESS_INBOX && !(fcntl(cfg->object_fd, F_GET_SEALS) & F_SEAL_SHRINK)) {
		*ret_reason = "its object can shrink";
		return -EPROTO;
	}
	page = object_page_size(&object);
	before = cfg->region.object_offset % page;
	len = (before + cfg->region.len_bytes + page - 1) / page * page;
	mapping = mmap(NULL, len, prot, MAP_SHARED, cfg->object_fd, (off_t)(cfg->region.object_offset - before));
	if (mapping == MAP_FAILED) {
		*ret_reason = "its object can't be mapped here";
		return -errno;
	}
	sim_memory_signals_install();
	remote->mapping.addr = mapping;
	remote->mapping.len_bytes = len;
	remote->base = (uint8_t *)mapping + before;
	return 0;
}

static void mapped_close(struct sim_remote *remote)
{
	munmap(remote->mapping.addr, remote->mapping.len_bytes);
	remote->mapping.addr = NULL;
	remote->base = NULL;
}

const struct sim_path_ops sim_path_mapped = {
	.name = "mapped",
	.open = mapped_open,
	.close = mapped_close,
	.read = sim_path_read_unsupported,
	.write = sim_path_write_unsupported,
	.move_pieces = sim_path_move_no_pieces,
};
