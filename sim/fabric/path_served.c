/* SPDX-License-Identifier: BSD-3-Clause */
/* The paths "shm" and "tcp": the exporter's helper thread reads and writes the memory, at the importer's request. */
#include <errno.h>

#include "path.h"
#include "sim/base/log.h"

static const char *reason_of(int rc)
{
	switch (rc) {
	case -ENOSYS:
		return "another process can't serve memory to this one";
	case -ETIMEDOUT:
		return "the exporter does not answer";
	case -EUSERS:
		return "too many processes access the exporter's memory";
	case -EMFILE:
		return "too many open files";
	default:
		return "the exporter could not open it";
	}
}

static int served_open(struct sim_remote *remote, const struct sim_remote_cfg *cfg, enum sim_transport transport,
		       const char **ret_reason)
{
	const struct sim_initiator_cfg initiator_cfg = {
		.transport = transport,
		.target_id = cfg->exporter.id,
		.len_bytes = cfg->region.len_bytes,
		.is_writable = cfg->region.access & SIM_ACCESS_WRITE,
		.is_far = cfg->region.access & SIM_ACCESS_FAR,
		.describe = cfg->peer.describe,
		.arg = cfg->peer.arg,
	};
	int rc = sim_initiator_create(&initiator_cfg, &remote->initiator);

	if (rc == -EIO) /* the exporter closed the connection: it has left or died */
		return -ESTALE;
	if (rc < 0)
		*ret_reason = reason_of(rc);
	return rc;
}

static int shm_open_path(struct sim_remote *remote, const struct sim_remote_cfg *cfg, const char **ret_reason)
{
	return served_open(remote, cfg, SIM_TRANSPORT_SHM, ret_reason);
}

static int tcp_open_path(struct sim_remote *remote, const struct sim_remote_cfg *cfg, const char **ret_reason)
{
	return served_open(remote, cfg, SIM_TRANSPORT_TCP, ret_reason);
}

static void served_close(struct sim_remote *remote)
{
	sim_initiator_destroy(remote->initiator);
	remote->initiator = NULL;
}

static int served_copy(struct sim_remote *remote, bool write, void *local, uint64_t offset, size_t len)
{
	int rc = sim_initiator_copy(remote->initiator, write, local, offset, len, &remote->revoked);

	if (rc == -ETIMEDOUT)
		sim_warn(
			"a copy failed: process %d (%s), which exports the memory, lives but does not serve path %s; is it stopped (SIGSTOP, a debugger)?",
			(int)remote->exporter_pid, remote->program, remote->path->name);
	return rc;
}

static int served_read(struct sim_remote *remote, void *local, uint64_t offset, size_t len)
{
	return served_copy(remote, false, local, offset, len);
}

static int served_write(struct sim_remote *remote, const void *local, uint64_t offset, size_t len)
{
	return served_copy(remote, true, (void *)(uintptr_t)local, offset, len);
}

const struct sim_path_ops sim_path_shm = {
	.name = "shm",
	.open = shm_open_path,
	.close = served_close,
	.read = served_read,
	.write = served_write,
	.move_pieces = sim_path_move_no_pieces,
};

const struct sim_path_ops sim_path_tcp = {
	.name = "tcp",
	.open = tcp_open_path,
	.close = served_close,
	.read = served_read,
	.write = served_write,
	.move_pieces = sim_path_move_no_pieces,
};

/* The gateway of this machine passes the requests on. */
const struct sim_path_ops sim_path_gateway = {
	.name = "gateway",
	.open = shm_open_path,
	.close = served_close,
	.read = served_read,
	.write = served_write,
	.move_pieces = sim_path_move_no_pieces,
};

const struct sim_grant *sim_remote_grant(const struct sim_remote *remote)
{
	return sim_initiator_grant(remote->initiator);
}

int sim_remote_operate(struct sim_remote *remote, uint64_t addr, const struct sim_far_operands *operands,
		       uint64_t *ret_before)
{
	int rc = sim_initiator_operate(remote->initiator, operands, addr - remote->region.addr, &remote->revoked,
				       ret_before);

	if (rc == -ETIMEDOUT)
		sim_warn("an operation on memory of another machine failed: this machine's gateway does not answer");
	return rc;
}
