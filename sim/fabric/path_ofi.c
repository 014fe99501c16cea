/* SPDX-License-Identifier: BSD-3-Clause */
/* The paths "shm" and "tcp": libfabric with two providers. */
#include <errno.h>

#include "path.h"

#define CONNECT_TIMEOUT_MS 5000 /* enough for a busy machine */

static int ofi_open(struct sim_remote *remote, const struct sim_remote_cfg *cfg, const char *provider,
		    const char **ret_reason)
{
	struct sim_ofi_desc desc;
	int rc = cfg->peer.describe(cfg->peer.arg, provider, &desc);

	if (rc < 0) {
		*ret_reason = rc == -ENOSYS    ? "libfabric has no such provider there" :
			      rc == -ETIMEDOUT ? "the exporter does not answer; is it stopped?" :
						 "the exporter could not open it";
		return rc;
	}
	rc = sim_ofi_link_create(&desc, cfg->region.len_bytes, CONNECT_TIMEOUT_MS, cfg->peer.notify_peer, cfg->peer.arg,
				 &remote->link);
	if (rc == -EHOSTUNREACH && cfg->peer.describe(cfg->peer.arg, provider, &desc) == -ESTALE)
		return -ESTALE; /* the export ended while we connected */
	if (rc < 0)
		*ret_reason = rc == -ENOSYS ? "libfabric has no such provider here" : "the exporter can't be reached";
	return rc;
}

/* libfabric hides its shm provider if /dev/shm is too small. */
static int shm_open_path(struct sim_remote *remote, const struct sim_remote_cfg *cfg, const char **ret_reason)
{
	int rc;

	if (cfg->self.shm_dev == 0 || cfg->self.shm_dev != cfg->exporter.shm_dev) {
		*ret_reason = "the two don't see one /dev/shm";
		return -EXDEV;
	}
	rc = ofi_open(remote, cfg, "shm", ret_reason);
	if (rc == -ENOSYS)
		*ret_reason =
			"libfabric offers no shm: it lacks the provider, or /dev/shm is too small (64 MiB do for two processes)";
	return rc;
}

static int tcp_open_path(struct sim_remote *remote, const struct sim_remote_cfg *cfg, const char **ret_reason)
{
	return ofi_open(remote, cfg, "tcp", ret_reason);
}

static void ofi_close(struct sim_remote *remote)
{
	sim_ofi_link_destroy(remote->link);
	remote->link = NULL;
}

static int ofi_read(struct sim_remote *remote, void *local, uint64_t offset, size_t len)
{
	return sim_ofi_link_read(remote->link, local, offset, len, &remote->revoked);
}

static int ofi_write(struct sim_remote *remote, const void *local, uint64_t offset, size_t len)
{
	return sim_ofi_link_write(remote->link, local, offset, len, &remote->revoked);
}

const struct sim_path_ops sim_path_shm = {
	.name = "shm",
	.open = shm_open_path,
	.close = ofi_close,
	.read = ofi_read,
	.write = ofi_write,
};

const struct sim_path_ops sim_path_tcp = {
	.name = "tcp",
	.open = tcp_open_path,
	.close = ofi_close,
	.read = ofi_read,
	.write = ofi_write,
};
