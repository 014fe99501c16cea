/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/common/pe/ctx_priv.h"
#include "shim/common/dev/dev_priv.h"
#include "shim/common/mem/export.h"
#include "shim/common/log/log_priv.h"
#include "sim/base/log.h"
#include "sim/session/current_session.h"
#include "shim/common/base/slab.h"
#include "shim/common/sync/sync_watch.h"

/* One process is one attachment: this is the place that knows it. */
static struct {
	pthread_mutex_t lock;
	struct sim_session *session;
} runtime = { .lock = PTHREAD_MUTEX_INITIALIZER };

uint32_t shim_fork_generation;
struct sim_vclock_sched *shim_vclock;

/* The first line of the file that an SDK tree's root has for us; @side is left alone without one. */
static void read_sdk_tree_side(char *side, size_t size)
{
	char path[PATH_MAX];
	const char *slash;
	Dl_info self;
	FILE *file;

	if (!dladdr((void *)(uintptr_t)read_sdk_tree_side, &self) || !self.dli_fname)
		return;
	slash = strrchr(self.dli_fname, '/');
	snprintf(path, sizeof(path), "%.*s../../bfsim-side", slash ? (int)(slash - self.dli_fname + 1) : 0,
		 self.dli_fname);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(side, (int)size, file))
		side[strcspn(side, "\n")] = '\0';
	fclose(file);
}

static const char *getenv_nonempty(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

/* A fork waits while another thread attaches, else the child would have a copy
 * of a socket that it doesn't know of. */
static void fork_prepare(void)
{
	pthread_mutex_lock(&runtime.lock);
	shim_log_before_fork();
}

static void fork_parent(void)
{
	shim_log_after_fork();
	pthread_mutex_unlock(&runtime.lock);
}

/* A forked child is not its parent: it lets go, and attaches anew when it uses a device. */
static void fork_child(void)
{
	shim_fork_generation++;
	shim_log_after_fork();
	shim_log_sources_forked();
	shim_log_rates_forked();
	shim_log_streams_forked();
	shim_objects_forked();
	shim_slabs_forked();
	shim_sync_watcher_forked();
	shim_pe_forked();
	shim_exports_forked();
	if (runtime.session)
		sim_session_abandon(runtime.session);
	runtime.session = NULL;
	shim_vclock = NULL;
	shim_devices_forked();
	shim_dev_reps_forked();
	pthread_mutex_unlock(&runtime.lock); /* of fork_prepare() */
}

static void __attribute__((constructor)) install_fork_handlers(void)
{
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}

static int parse_clock_mode(const char *text, enum sim_clock_mode *ret_mode)
{
	if (!text || sim_clock_mode_parse(text, ret_mode) == 0)
		return 0;
	sim_err("BFSIM_CLOCK=%s: write " SIM_CLOCK_MODES, text);
	return -EINVAL;
}

static void detach(void)
{
	shim_devices_clear();
	shim_dev_reps_clear();
	shim_vclock = NULL;
	sim_session_detach(runtime.session);
	runtime.session = NULL;
}

/* What has to do with the session is an open device, or a graph, which has none; what else there is
 * of it are lists, which are as stale behind this as destroyed ones. */
static bool detach_if_unused(void)
{
	bool unused;

	pthread_mutex_lock(&runtime.lock);
	unused = !shim_devices_in_use() && !shim_pe_any_in_use();
	if (runtime.session && unused)
		detach();
	pthread_mutex_unlock(&runtime.lock);
	return unused;
}

static int attach(void)
{
	int rc;
	char side[PCIE_SIDE_SIZE] = "host";
	const char *chosen = getenv_nonempty("BFSIM_SIDE");
	struct sim_session_cfg cfg = {
		.dir = getenv_nonempty("BFSIM_SESSION"),
		.topology = getenv_nonempty("BFSIM_TOPOLOGY"),
		.side = chosen ? chosen : side,
		.forced_path = getenv_nonempty("BFSIM_PATH"),
	};

	read_sdk_tree_side(side, sizeof(side));
	if (parse_clock_mode(getenv_nonempty("BFSIM_CLOCK"), &cfg.clock) < 0)
		return -EINVAL;
	rc = sim_session_attach(&cfg, &runtime.session);
	if (rc == 0)
		shim_vclock = sim_session_turns(runtime.session);
	if (rc == 0)
		sim_session_on_functions_changed(runtime.session, shim_pe_wake_all);
	if (rc == 0)
		sim_current_session_set_detach_hook(detach_if_unused);
	return rc;
}

doca_error_t shim_runtime_get(struct sim_session **ret_session)
{
	int rc = 0;

	pthread_mutex_lock(&runtime.lock);
	if (!runtime.session)
		rc = attach();
	pthread_mutex_unlock(&runtime.lock);
	if (rc < 0)
		return rc == -ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_NOT_FOUND;
	*ret_session = runtime.session;
	return DOCA_SUCCESS;
}

struct sim_session *shim_session(void)
{
	return runtime.session;
}

/* At exit: a program that closed its devices leaves in order; another one is
 * cut off by the kernel, as a crashed one is. Threads that main() did not wait
 * for may look at devices just now: they find all as it was. */
static void __attribute__((destructor)) leave_at_exit(void)
{
	if (runtime.session && !shim_devices_in_use())
		sim_session_leave(runtime.session);
}
