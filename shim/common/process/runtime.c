/* SPDX-License-Identifier: BSD-3-Clause */
/* The attachment of this process to a session: attach, detach, fork and exit. */
#include "runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/common/base/error.h"
#include "shim/common/base/slab.h"
#include "shim/common/log/log_priv.h"
#include "sim/base/fork.h"
#include "sim/base/log.h"
#include "sim/session/current_session.h"

static struct {
	pthread_mutex_t lock; /* protects writes of @session, and @num_holds */
	_Atomic(struct sim_session *) session;
	uint32_t num_holds;
	struct shim_runtime_user *users; /* settled before main() */
} runtime = { .lock = PTHREAD_MUTEX_INITIALIZER };

uint32_t shim_fork_generation;
struct sim_vclock_sched *shim_vclock;

void shim_runtime_add_user(struct shim_runtime_user *user)
{
	user->next = runtime.users;
	runtime.users = user;
}

/* Read the side from the file bfsim-side in the root of the SDK tree. Without the file @side stays. */
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

/* A fork waits while another thread attaches. Otherwise the child would inherit a socket that it can't close. */
static void fork_prepare(void)
{
	pthread_mutex_lock(&runtime.lock);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&runtime.lock);
}

/* A forked child is a process of its own: it abandons the session, and attaches when it uses a device. */
static void fork_child(void)
{
	shim_fork_generation++;
	if (runtime.session)
		sim_session_abandon(runtime.session);
	runtime.session = NULL;
	runtime.num_holds = 0;
	shim_vclock = NULL;
	pthread_mutex_unlock(&runtime.lock); /* of fork_prepare() */
}

SIM_AT_FORK(SIM_FORK_ATTACHMENT, .before = fork_prepare, .parent = fork_parent, .child = fork_child);

static int parse_clock_mode(const char *text, enum sim_clock_mode *ret_mode)
{
	if (!text || sim_clock_mode_parse(text, ret_mode) == 0)
		return 0;
	sim_err("BFSIM_CLOCK=%s: write " SIM_CLOCK_MODES, text);
	return -EINVAL;
}

static void detach(void)
{
	struct sim_session *session = runtime.session;

	for (const struct shim_runtime_user *user = runtime.users; user; user = user->next)
		if (user->detach)
			user->detach();
	shim_vclock = NULL;
	runtime.session = NULL;
	sim_session_detach(session);
}

static bool is_in_use(void)
{
	for (const struct shim_runtime_user *user = runtime.users; user; user = user->next)
		if (user->in_use && user->in_use())
			return true;
	return runtime.num_holds > 0;
}

static bool detach_if_unused(void)
{
	bool unused;

	pthread_mutex_lock(&runtime.lock);
	unused = !is_in_use();
	if (runtime.session && unused)
		detach();
	pthread_mutex_unlock(&runtime.lock);
	return unused;
}

static void notify_functions_changed(void)
{
	for (const struct shim_runtime_user *user = runtime.users; user; user = user->next)
		if (user->functions_changed)
			user->functions_changed();
}

static int attach(void)
{
	char side[PCIE_SIDE_SIZE] = "host";
	const char *chosen = getenv_nonempty("BFSIM_SIDE");
	struct sim_session_cfg cfg = {
		.dir = getenv_nonempty("BFSIM_SESSION"),
		.topology = getenv_nonempty("BFSIM_TOPOLOGY"),
		.side = chosen ? chosen : side,
		.forced_path = getenv_nonempty("BFSIM_PATH"),
		.launch = getenv_nonempty("BFSIM_LAUNCH"),
	};
	struct sim_session *session;
	int rc;

	read_sdk_tree_side(side, sizeof(side));
	if (parse_clock_mode(getenv_nonempty("BFSIM_CLOCK"), &cfg.clock) < 0)
		return -EINVAL;
	rc = sim_session_attach(&cfg, &session);
	if (rc < 0)
		return rc;
	shim_vclock = sim_session_vclock(session);
	sim_session_on_functions_changed(session, notify_functions_changed);
	sim_current_session_set_detach_hook(detach_if_unused);
	runtime.session = session;
	return 0;
}

doca_error_t shim_runtime_hold(struct sim_session **ret_session)
{
	static const struct shim_call_errors attach_errors = {
		.allowed = SHIM_ERROR_BIT(NO_MEMORY),
		.other = DOCA_ERROR_NOT_FOUND,
	};
	int rc = 0;

	pthread_mutex_lock(&runtime.lock);
	if (!runtime.session)
		rc = attach();
	if (rc == 0) {
		runtime.num_holds++;
		*ret_session = runtime.session;
	}
	pthread_mutex_unlock(&runtime.lock);
	return shim_error_for_call(rc, &attach_errors);
}

void shim_runtime_release(void)
{
	pthread_mutex_lock(&runtime.lock);
	runtime.num_holds--;
	pthread_mutex_unlock(&runtime.lock);
}

struct sim_session *shim_session(void)
{
	return atomic_load_explicit(&runtime.session, memory_order_acquire);
}

uint64_t shim_now_ns(void)
{
	return sim_session_now_ns(shim_session());
}

void shim_runtime_leave(void)
{
	struct sim_session *session = shim_session();

	if (session)
		sim_session_leave(session);
}

uint64_t shim_shuffle_seed(void)
{
	static atomic_uint num_contexts;
	const char *text = getenv_nonempty("BFSIM_SHUFFLE");
	uint64_t seed = text ? strtoull(text, NULL, 0) : 0;

	/* Consecutive seeds and contexts differ in all bits. */
	return text ? ((seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + atomic_fetch_add(&num_contexts, 1)) *
				       UINT64_C(0xbf58476d1ce4e5b9) |
			       1 :
		      0;
}
