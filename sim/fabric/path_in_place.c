/* SPDX-License-Identifier: BSD-3-Clause */
/* The path "in-place": the exporter is this process. */
#include <errno.h>

#include "path.h"

static int in_place_open(struct sim_remote *remote, const struct sim_remote_cfg *cfg, const char **ret_reason)
{
	if (cfg->self.id != cfg->exporter.id) {
		*ret_reason = "another process";
		return -EXDEV;
	}
	remote->base = (uint8_t *)(uintptr_t)cfg->region.cpu_addr;
	return 0;
}

static void in_place_close(struct sim_remote *remote)
{
	remote->base = NULL;
}

size_t sim_path_move_no_pieces(struct sim_remote *remote, bool is_read, const struct sim_piece *pieces, size_t count)
{
	(void)remote;
	(void)is_read;
	(void)pieces;
	(void)count;
	return 0;
}

int sim_path_read_unsupported(struct sim_remote *remote, void *local, uint64_t offset, size_t len)
{
	(void)remote, (void)local, (void)offset, (void)len;
	return -ENOSYS;
}

int sim_path_write_unsupported(struct sim_remote *remote, const void *local, uint64_t offset, size_t len)
{
	(void)remote, (void)local, (void)offset, (void)len;
	return -ENOSYS;
}

const struct sim_path_ops sim_path_in_place = {
	.name = "in-place",
	.open = in_place_open,
	.close = in_place_close,
	.read = sim_path_read_unsupported,
	.write = sim_path_write_unsupported,
	.move_pieces = sim_path_move_no_pieces,
};
