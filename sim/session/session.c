/* SPDX-License-Identifier: BSD-3-Clause */
/* Attaching to a card and detaching from it. */
#include "session_priv.h"
#include "pcie_model/arith.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channel_list.h"
#include "sim/protocol/session_dir.h"
#include "exports.h"
#include "current_session.h"
#include "imports.h"
#include "kick.h"
#include "private_fault_events.h"
#include "sim/clock/launch.h"
#include "sim/clock/link_state.h"
#include "sim/engine/engine.h"
#include "sim/faults/inject/injector.h"
#include "sim/clock/vclock_sched.h"
#include "sim/base/env_check.h"
#include "sim/base/log.h"
#include "sim/base/process_check.h"
#include "sim/base/shell_quote.h"
#include "sim/trace/trace.h"

static uint64_t inode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_ino : 0;
}

static void fill_self_info(struct sim_session *session)
{
	struct sim_peer_info *self = &session->self;

	session->pid_ns = inode_of("/proc/self/ns/pid");
	self->pid = getpid();
	self->uid = geteuid();
	memcpy(self->side, session->side, sizeof(self->side));
	strncpy(self->program, program_invocation_short_name, sizeof(self->program) - 1);
	strncpy(self->check, sim_process_check(), sizeof(self->check) - 1);
}

static int load_topology(struct sim_session *session, const char *name, const char *yaml, size_t len)
{
	char error[PCIE_ERROR_SIZE];
	int rc = pcie_topology_parse(name, yaml, len, &session->topology, error);

	if (rc < 0)
		sim_err("topology: %s", rc == -ENOMEM ? "out of memory" : error);
	return rc;
}

static int load_private_topology(struct sim_session *session, const char *path)
{
	const char *builtin = pcie_topology_default_yaml();
	char *yaml;
	size_t len;
	int rc;

	if (!path)
		return load_topology(session, "built-in topology", builtin, strlen(builtin));
	rc = sim_session_dir_read(AT_FDCWD, path, &yaml, &len);
	if (rc < 0) {
		sim_err("topology file %s: %s", path, sim_session_dir_strerror(rc));
		return rc;
	}
	rc = load_topology(session, path, yaml, len);
	free(yaml);
	return rc;
}

/* Start the recording. With a daemon, any process can read it from the daemon; on a private card only this process can,
 * for counts. */
static void start_recording(struct sim_session *session, uint32_t level)
{
	const struct sim_clock_page *page = &sim_shared_state_of(&session->shared)->clock;
	const struct sim_trace_clock clock = { .zero_ns = sim_clock_page_start_ns(page),
					       .virtual_ns = sim_clock_page_virtual_ns(page) };
	int fd;
	int rc = sim_trace_begin(level, &clock, &fd);

	if (rc == 0) {
		session->is_recording = true;
		session->owner->life->record(session->owner, fd);
		close(fd);
	} else if (rc == -EINVAL) {
		sim_warn("BFSIM_TRACE=%s: not one of off, sampled, full; nothing is recorded", getenv("BFSIM_TRACE"));
	} else if (rc != -ENOENT && rc != -EBUSY) {
		sim_warn("nothing that this process does is recorded: no memory for it: %s", strerror(-rc));
	}
}

/* Revoke stale imports. On a private card their running copies have also ended when this returns. */
static void functions_changed(struct sim_session *session)
{
	void (*hook)(void) = atomic_load(&session->on_functions_changed);

	sim_imports_revoke_stale(session->imports);
	if (!session->has_daemon)
		sim_imports_drain(session->imports, SIM_ANY_KEY);
	if (hook)
		hook();
}

static struct sim_owner_env owner_env(struct sim_session *session)
{
	return (struct sim_owner_env){ .session = session,
				       .self = &session->self,
				       .exports = session->exports,
				       .imports = session->imports,
				       .channels = session->channels,
				       .kicks = session->kicks,
				       .on_functions_changed = functions_changed };
}

static int attach_private(struct sim_session *session, const struct sim_session_cfg *cfg)
{
	const struct sim_owner_env env = owner_env(session);
	int rc = load_private_topology(session, cfg->topology);

	if (rc < 0)
		return rc;
	if (getrandom(session->id, sizeof(session->id), 0) != sizeof(session->id) ||
	    getrandom(&session->self.id, sizeof(session->self.id), 0) != sizeof(session->self.id))
		return -EIO;
	rc = sim_shared_state_private(&session->shared);
	if (rc < 0)
		return rc;
	sim_clock_page_reset(&sim_shared_state_of(&session->shared)->clock, cfg->clock);
	rc = sim_owner_local_create(&env, sim_shared_state_of(&session->shared), session->topology, &session->owner);
	if (rc == -ENOENT)
		sim_err("the private card has no side \"%s\" (BFSIM_SIDE)%s: see its sides with bfsim devs",
			session->side, pcie_topology_describe_no_side(session->topology, session->side));
	if (rc == 0)
		start_recording(session, SIM_TRACE_COUNTS);
	return rc;
}

static int load_session_topology(struct sim_session *session, int dir_fd)
{
	char *yaml;
	size_t len;
	int rc = sim_session_dir_read(dir_fd, SIM_SESSION_TOPOLOGY, &yaml, &len);

	if (rc < 0)
		return rc;
	rc = load_topology(session, "topology.yaml", yaml, len);
	free(yaml);
	return rc;
}

/* In another time namespace (time_namespaces(7)), CLOCK_MONOTONIC has an offset. Timed sessions compare its times. */
static int check_time_namespace(const struct sim_session *session)
{
	const struct sim_clock_page *page = &sim_shared_state_of(&session->shared)->clock;

	if (sim_clock_page_mode(page) != SIM_CLOCK_TIMED) {
		sim_warn(
			"this process is in another time namespace than the daemon: times in recordings and reports are wrong");
		return 0;
	}
	sim_err("this process is in another time namespace than the daemon, so its tasks would end at wrong times: start both in "
		"one, or use --clock functional or virtual");
	return -EXDEV;
}

/* Connects before reading the topology: the file is then that of the running daemon, not of a dead one. */
static int attach_daemon(struct sim_session *session, int dir_fd)
{
	const struct sim_owner_env env = owner_env(session);
	int sock = sim_session_dir_connect(dir_fd);
	struct sim_attach_reply reply;
	int rc;

	if (sock < 0)
		return sock;
	rc = load_session_topology(session, dir_fd);
	if (rc < 0) {
		close(sock);
		return rc;
	}
	session->has_daemon = true;
	session->is_own_user = sim_session_dir_is_own_user(sock);
	rc = sim_owner_daemon_create(&env, sock, session->epoll_fd, &reply, &session->shared, &session->owner);
	if (rc < 0)
		return rc;
	memcpy(session->id, reply.session_id, sizeof(session->id));
	session->self.id = reply.id;
	session->self.pid = reply.pid;
	session->self.uid = reply.uid;
	session->passes_memory = session->is_own_user && reply.passes_memory;
	if (session->passes_memory)
		sim_exports_permit_memory(session->exports);
	start_recording(session, reply.trace_level);
	return reply.has_own_clock ? check_time_namespace(session) : 0;
}

static void log_no_daemon(const char *dir, int rc)
{
	char *quoted = sim_shell_quote(dir);
	const char *word = quoted ? quoted : dir;

	if (rc == -ENOENT)
		sim_err("no session in %s: start one with bfsim up --session %s", dir, word);
	else if (getenv("BFSIM_OUTPUT")) /* of bfsim run, which made the session and will end it */
		sim_err("the session in %s is stale, its daemon died: start bfsim run again", dir);
	else
		sim_err("the session in %s is stale, its daemon died: start it again with bfsim up --session %s", dir,
			word);
	free(quoted);
}

static void log_attach_error(const struct sim_session *session, const char *dir, int rc)
{
	switch (rc) {
	case 0:
	case -EINVAL: /* the topology parser logged the error */
	case -EXDEV:  /* check_time_namespace() did */
		return;
	case -ENOENT:
		if (session->topology && !pcie_topology_has_side(session->topology, session->side))
			sim_err("session %s has no side \"%s\"%s: see its sides with bfsim devs", dir, session->side,
				pcie_topology_describe_no_side(session->topology, session->side));
		else
			log_no_daemon(dir, rc);
		return;
	case -EREMOTE:
		sim_err("side \"%s\" of session %s is on another machine: start the program there, where bfsim join was called",
			session->side, dir);
		return;
	case -ECONNREFUSED:
		log_no_daemon(dir, rc);
		return;
	case -EUSERS:
		sim_err("the daemon of session %s has no descriptors for another process: raise ulimit -n where it starts, and start it again",
			dir);
		return;
	case -EPROTO:
		sim_err("the daemon of session %s hung up: it is of another version of bfsim, or out of descriptors; %s/bfsimd.log says which",
			dir, dir);
		return;
	default:
		sim_err("cannot attach to session %s: %s", dir, sim_session_dir_strerror(rc));
	}
}

static void warn(const char *line)
{
	sim_warn("%s", line);
}

/* Once for a process: a variable that has no effect makes a run that is not what its user thinks. */
static void check_env(void)
{
	sim_log_check_level();
	sim_env_check(warn, NULL, 0);
}

static int attach(struct sim_session *session, const struct sim_session_cfg *cfg)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int dir_fd, rc;

	pthread_once(&once, check_env);
	if (!cfg->dir)
		return attach_private(session, cfg);
	if (cfg->topology)
		sim_warn("BFSIM_TOPOLOGY is ignored: session %s has a topology of its own", cfg->dir);
	if (cfg->clock != SIM_CLOCK_FUNCTIONAL)
		sim_warn(
			"BFSIM_CLOCK is ignored: how time passes in session %s was said when it was started (bfsim up --clock)",
			cfg->dir);
	dir_fd = sim_session_dir_open(cfg->dir, false);
	rc = dir_fd < 0 ? dir_fd : attach_daemon(session, dir_fd);
	if (dir_fd >= 0)
		close(dir_fd);
	log_attach_error(session, cfg->dir, rc);
	return rc;
}

#define HOST_RANK   (1u << 31)
#define OTHERS_RANK (HOST_RANK - 1)

static void begin_fault(void *arg, uint32_t id)
{
	struct sim_session *session = arg;

	session->owner->life->begin_fault(session->owner, id);
}

static int create_faults(struct sim_session *session)
{
	const struct sim_injector_cfg cfg = {
		.plan = &sim_shared_state_of(&session->shared)->plan,
		.topology = session->topology,
		.self = { .side = session->side, .program = session->self.program, .pid = session->self.pid },
		.on_begin = begin_fault,
		.arg = session,
	};

	return sim_injector_create(&cfg, &session->faults);
}

/* Participants on DPU sides run before the others, and of one side in the order in which their processes were started.
 * Those that no command started come last. */
static uint32_t participant_rank(const struct sim_session *session, const struct sim_clock_launch *launch)
{
	uint32_t rank = launch->number ? min_u32(launch->number, OTHERS_RANK) : OTHERS_RANK;

	return pcie_side_is_dpu(session->side) ? rank : HOST_RANK + rank;
}

static uint64_t advance_own_jobs(void *engine)
{
	return sim_engine_advance_own(engine);
}

static int open_clock(struct sim_session *session, const char *launch_text)
{
	struct sim_clock_page *page = &sim_shared_state_of(&session->shared)->clock;
	int rc = sim_clock_create(page, session->topology, &session->clock);
	struct sim_clock_launch launch;

	sim_clock_launch_read(launch_text, &launch);
	sim_trace_set_command(launch.number);
	if (rc < 0 || sim_clock_mode(session->clock) != SIM_CLOCK_VIRTUAL)
		return rc;
	sim_engine_set_virtual(session->engine);
	sim_clock_launch_attached(page, &launch);
	rc = sim_vclock_sched_create(session->clock, participant_rank(session, &launch), &launch, &session->turns);
	if (rc == 0)
		sim_vclock_sched_set_advance(session->turns, advance_own_jobs, session->engine);
	return rc;
}

int sim_session_attach(const struct sim_session_cfg *cfg, struct sim_session **ret_session)
{
	struct sim_session *session = calloc(1, sizeof(*session));
	int rc;

	if (!session)
		return -ENOMEM;
	strncpy(session->side, cfg->side, sizeof(session->side) - 1);
	session->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	rc = session->epoll_fd < 0 ? -errno : 0;
	if (rc == 0 && cfg->forced_path) {
		session->forced_path = strdup(cfg->forced_path);
		rc = session->forced_path ? 0 : -ENOMEM;
	}
	if (rc == 0)
		rc = sim_engine_create(&session->engine);
	if (rc == 0)
		rc = sim_exports_create(session->epoll_fd, SIM_OWNER_TARGET_TAG, &session->exports);
	if (rc == 0)
		rc = sim_kicks_create(session->engine, session->epoll_fd, &session->kicks);
	if (rc == 0)
		rc = sim_imports_create(session, &session->imports);
	if (rc == 0)
		rc = sim_channels_create(session, &session->channels);
	if (rc == 0) {
		fill_self_info(session);
		rc = attach(session, cfg);
	}
	if (rc == 0)
		rc = create_faults(session);
	if (rc == 0)
		rc = open_clock(session, cfg->launch);
	if (rc == 0)
		rc = sim_current_session_set(cfg->dir, session->side, session->topology,
					     sim_shared_state_of(&session->shared));
	if (rc == 0 && !cfg->dir)
		rc = sim_owner_local_start_fault_events(session->owner, session->topology, session->clock);
	if (rc < 0) {
		sim_session_detach(session);
		return rc;
	}
	*ret_session = session;
	return 0;
}

static void leave_ledger(struct sim_session *session)
{
	if (session->shared.base)
		sim_shared_ledger_leave(sim_session_ledger(session), sim_session_process_id(session));
}

void sim_session_detach(struct sim_session *session)
{
	if (!session)
		return;
	sim_private_fault_events_stop(session->owner);
	sim_current_session_clear(sim_shared_state_of(&session->shared));
	sim_kicks_close(session->kicks);
	sim_engine_destroy(session->engine);
	sim_vclock_sched_destroy(session->turns);
	sim_clock_destroy(session->clock);
	if (session->owner)
		session->owner->life->destroy(session->owner);
	if (session->is_recording)
		sim_trace_end(); /* after the helper thread has ended, as the thread records, too */
	leave_ledger(session);
	sim_exports_destroy(session->exports);
	sim_imports_destroy(session->imports);
	sim_channels_destroy(session->channels);
	sim_kicks_destroy(session->kicks);
	sim_injector_destroy(session->faults);
	sim_shared_state_release(&session->shared);
	pcie_topology_destroy(session->topology);
	if (session->epoll_fd >= 0)
		close(session->epoll_fd);
	free(session->forced_path);
	free(session);
}

void sim_session_leave(struct sim_session *session)
{
	sim_private_fault_events_stop(session->owner);
	session->owner->life->leave(session->owner);
	leave_ledger(session);
	sim_exports_close(session->exports);
}

/* Keeps the session's memory, as objects of the application may still point into it. */
void sim_session_abandon(struct sim_session *session)
{
	static struct sim_session *abandoned;

	sim_private_fault_events_abandon();
	sim_current_session_clear(sim_shared_state_of(&session->shared));
	sim_trace_forked();
	session->owner->life->abandon(session->owner);
	sim_exports_abandon(session->exports);
	sim_channels_abandon(session->channels);
	sim_kicks_abandon(session->kicks);
	sim_vclock_sched_abandon(session->turns);
	close(session->epoll_fd);
	session->next_abandoned = abandoned;
	abandoned = session;
}
