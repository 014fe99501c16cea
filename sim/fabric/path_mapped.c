/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "path.h"

/* A mapping past an object's end would fault on access. */
static bool covers(int fd, const struct sim_region *region)
{
	struct stat st;

	return fstat(fd, &st) == 0 && region->object_offset <= (uint64_t)st.st_size &&
	       region->len_bytes <= (uint64_t)st.st_size - region->object_offset;
}

static int mapped_open(struct sim_remote *remote, const struct sim_remote_cfg *cfg, const char **ret_reason)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t before = cfg->region.object_offset % page;
	int prot = PROT_READ | (cfg->region.access & SIM_ACCESS_WRITE ? PROT_WRITE : 0);
	size_t len = cfg->region.len_bytes + before;
	void *mapping;

	if (cfg->object_fd < 0) {
		*ret_reason = "not in a shared object";
		return -ENOENT;
	}
	if (!covers(cfg->object_fd, &cfg->region)) {
		*ret_reason = "its object is shorter than the range";
		return -ENXIO;
	}
	mapping = mmap(NULL, len, prot, MAP_SHARED, cfg->object_fd, (off_t)(cfg->region.object_offset - before));
	if (mapping == MAP_FAILED) {
		*ret_reason = "its object can't be mapped here";
		return -errno;
	}
	remote->mapping = mapping;
	remote->mapping_len_bytes = len;
	remote->base = (uint8_t *)mapping + before;
	return 0;
}

static void mapped_close(struct sim_remote *remote)
{
	munmap(remote->mapping, remote->mapping_len_bytes);
	remote->base = NULL;
}

const struct sim_path_ops sim_path_mapped = {
	.name = "mapped",
	.open = mapped_open,
	.close = mapped_close,
	.read = sim_path_no_read,
	.write = sim_path_no_write,
};
