/* SPDX-License-Identifier: BSD-3-Clause */
/* Choosing and opening the path to another process's memory. */
#include "remote.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "path.h"
#include "sim/base/log.h"

static const struct sim_path_ops *const paths[] = {
	&sim_path_in_place, &sim_path_mapped, &sim_path_procmem, &sim_path_cma,
	&sim_path_shm,      &sim_path_tcp,    &sim_path_gateway,
};

#define NUM_PATHS (sizeof(paths) / sizeof(paths[0]))

static void add_reason(struct sim_remote *remote, const char *path, const char *reason)
{
	size_t used = strlen(remote->reason);

	snprintf(remote->reason + used, sizeof(remote->reason) - used, "%s%s: %s", used ? "; " : "", path, reason);
}

/* Whether @cfg permits the path. */
static bool is_candidate(const struct sim_path_ops *path, const struct sim_remote_cfg *cfg)
{
	if (cfg->region.access & SIM_ACCESS_FAR)
		return path == &sim_path_gateway;
	if (path == &sim_path_gateway)
		return false;
	if (cfg->region.access & (SIM_ACCESS_SYNC | SIM_ACCESS_INBOX))
		return path == &sim_path_in_place || path == &sim_path_mapped;
	return !cfg->forced_path || strcmp(path->name, cfg->forced_path) == 0;
}

/* Open the first path that works and keep the reasons against the others. Two results end the search: -ESTALE, as the
 * export has ended, and -ETIMEDOUT, as an exporter that does not answer, which may be stopped, would not answer for the
 * next path either. */
static int open_best_path(struct sim_remote *remote, const struct sim_remote_cfg *cfg)
{
	for (size_t i = 0; i < NUM_PATHS; i++) {
		const char *reason = "failed";
		int rc;

		if (!is_candidate(paths[i], cfg))
			continue;
		rc = paths[i]->open(remote, cfg, &reason);
		if (rc == 0) {
			remote->path = paths[i];
			remote->moves_pieces = paths[i]->move_pieces != sim_path_move_no_pieces;
			return 0;
		}
		if (rc == -ESTALE)
			return rc;
		if (paths[i] != &sim_path_in_place || cfg->forced_path)
			add_reason(remote, paths[i]->name, reason);
		if (rc == -ETIMEDOUT)
			return rc;
	}
	return -ENOTSUP;
}

static bool path_exists(const char *name)
{
	for (size_t i = 0; i < NUM_PATHS; i++)
		if (strcmp(paths[i]->name, name) == 0)
			return true;
	return false;
}

static void log_no_path(const struct sim_remote_cfg *cfg, const struct sim_remote *remote, int rc)
{
	if (rc == -ETIMEDOUT)
		sim_err("process %d (%s) on side %s lives but does not answer; is it stopped (SIGSTOP, a debugger)? %s",
			(int)cfg->exporter.pid, cfg->exporter.program, cfg->exporter.side, remote->reason);
	else if (rc != -ESTALE)
		sim_err("no data path to process %d (%s) on side %s works: %s", (int)cfg->exporter.pid,
			cfg->exporter.program, cfg->exporter.side, remote->reason);
}

int sim_remote_create(const struct sim_remote_cfg *cfg, struct sim_remote **ret_remote)
{
	struct sim_remote *remote;
	int rc;

	if (cfg->forced_path && !path_exists(cfg->forced_path)) {
		static atomic_flag was_said = ATOMIC_FLAG_INIT;

		if (!atomic_flag_test_and_set(&was_said))
			sim_err("BFSIM_PATH=%s names no data path; use in-place, mapped, procmem, cma, shm or tcp, or unset it",
				cfg->forced_path);
		return -ENOTSUP;
	}
	remote = calloc(1, sizeof(*remote));
	if (!remote)
		return -ENOMEM;
	remote->key = cfg->key;
	remote->region = cfg->region;
	remote->exporter_pid = cfg->exporter.pid;
	remote->exporter_id = cfg->exporter.id;
	memcpy(remote->program, cfg->exporter.program, sizeof(remote->program));
	rc = open_best_path(remote, cfg);
	if (rc < 0) {
		log_no_path(cfg, remote, rc);
		free(remote);
		return rc;
	}
	sim_dbg("memory of process %d (%s): path %s%s%s", (int)cfg->exporter.pid, cfg->exporter.program,
		remote->path->name, remote->reason[0] ? ", because " : "", remote->reason);
	*ret_remote = remote;
	return 0;
}

void sim_remote_destroy(struct sim_remote *remote)
{
	if (!remote)
		return;
	remote->path->close(remote);
	free(remote);
}

static void notify_revoked(struct sim_remote *remote)
{
	void (*notify)(void *arg) = atomic_load(&remote->notify);

	if (notify)
		notify(remote->notify_arg);
}

void sim_remote_on_revoked(struct sim_remote *remote, void (*notify)(void *arg), void *arg)
{
	remote->notify_arg = arg;
	atomic_store(&remote->notify, notify);
	if (atomic_load(&remote->revoked))
		notify_revoked(remote);
}

bool sim_remote_try_revoke(struct sim_remote *remote)
{
	atomic_fetch_add(&remote->in_flight, 1); /* another thread that revokes it waits until the owner was told */
	if (!atomic_exchange(&remote->revoked, true))
		notify_revoked(remote);
	return atomic_fetch_sub(&remote->in_flight, 1) == 1;
}

void sim_remote_revoke(struct sim_remote *remote)
{
	while (!sim_remote_try_revoke(remote))
		sched_yield();
}

const char *sim_remote_path(const struct sim_remote *remote)
{
	return remote->path->name;
}

bool sim_remote_is_direct(const struct sim_remote *remote)
{
	return remote->base || ((remote->process || remote->memory) && !remote->initiator);
}

bool sim_remote_is_unmapped(struct sim_remote *remote, uint64_t addr, size_t len)
{
	const struct sim_path_ops *path = remote->process ? &sim_path_cma : remote->path;
	uint64_t offset = addr - remote->region.addr;
	bool is_unmapped;
	uint8_t byte;

	if ((!remote->process && !remote->memory) || !sim_remote_acquire(remote))
		return false;
	is_unmapped = path->read(remote, &byte, offset, 1) == -EFAULT ||
		      path->read(remote, &byte, offset + len - 1, 1) == -EFAULT;
	sim_remote_release(remote);
	return is_unmapped;
}
