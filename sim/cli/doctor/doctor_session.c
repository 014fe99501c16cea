/* SPDX-License-Identifier: BSD-3-Clause */
/* Where sessions live, and the one that is live. */
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"
#include "sim/cli/base/json.h"
#include "sim/control/control.h"
#include "sim/protocol/session_dir.h"

static void check_temporary(struct cli_doctor *doctor)
{
	const char *dir = getenv("TMPDIR");
	struct cli_doctor_finding *finding;

	dir = dir && dir[0] ? dir : "/tmp";
	if (access(dir, W_OK | X_OK) == 0) {
		cli_doctor_add(doctor, "temporary", "%s is writable", dir);
		return;
	}
	finding = cli_doctor_add(doctor, "temporary", "%s: %s", dir, strerror(errno));
	cli_doctor_fail(finding, CLI_DOCTOR_PROBLEM, "bfsim run can't make its session",
			"set TMPDIR to a directory that this user may write to");
}

/* The namespace of that kind of process @pid and of this one differ. */
static bool is_other_namespace(uint64_t pid, const char *kind)
{
	char path[64], own[64] = "", other[64] = "";

	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	if (readlink(path, own, sizeof(own) - 1) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/ns/%s", pid, kind);
	return readlink(path, other, sizeof(other) - 1) < 0 || strcmp(own, other) != 0;
}

/* Of programs that do not see each other's processes. */
static void check_passing(struct cli_doctor *doctor, bool passes_memory)
{
	struct cli_doctor_finding *finding;

	if (passes_memory) {
		cli_doctor_add(doctor, "passing", "programs of the session pass their memory to those of their user");
		return;
	}
	finding = cli_doctor_add(doctor, "passing", "the session does not let programs pass their memory");
	finding->lost_path = "procmem";
	cli_doctor_fail(
		finding, CLI_DOCTOR_WARNING,
		"no data path procmem between programs here and there, which needs no help of the exporter",
		"bfsim up --procmem, if programs of this user may reach all of each other's memory (doc/security.md)");
}

static void check_namespaces(struct cli_doctor *doctor, uint64_t daemon, bool passes_memory)
{
	struct cli_doctor_finding *finding;

	if (is_other_namespace(daemon, "pid")) {
		finding = cli_doctor_add(doctor, "namespaces",
					 "the daemon is in another PID namespace than this command");
		finding->lost_path = "cma";
		cli_doctor_fail(finding, CLI_DOCTOR_WARNING,
				passes_memory ? "no data path cma between programs here and there: procmem instead" :
						"no data path cma between programs here and there: shm instead",
				"docker run --pid container:NAME, or one pod with shareProcessNamespace");
		check_passing(doctor, passes_memory);
	} else {
		cli_doctor_add(doctor, "namespaces", "the daemon is in this PID namespace%s",
			       is_other_namespace(daemon, "net") ? ", and in another network namespace" : "");
	}
}

/* The daemon's status; NULL = it did not answer. */
static json_object *request_status(int dir_fd, int *ret_rc)
{
	struct sim_msg msg = { .type = SIM_MSG_STATUS };
	json_object *status = NULL;
	int fd = -1;

	*ret_rc = sim_control_exchange(dir_fd, &msg, -1, &fd);
	if (*ret_rc == 0 && fd >= 0)
		status = json_object_from_fd(fd);
	if (fd >= 0)
		close(fd);
	return status;
}

static void check_live(struct cli_doctor *doctor, const char *dir, int dir_fd)
{
	struct cli_doctor_finding *finding;
	json_object *status;
	const char *version;
	int rc;

	status = request_status(dir_fd, &rc);
	version = cli_json_text(status, "version");
	finding = cli_doctor_add(doctor, "session", "%s is live, its daemon is of version %s", dir,
				 version[0] ? version : "unknown");
	if (!status && rc != -EPROTO)
		cli_doctor_fail(finding, CLI_DOCTOR_PROBLEM, "its daemon does not answer",
				"bfsim down, then bfsim up; DIR/bfsimd.log may say why");
	else if (strcmp(version, BFSIM_VERSION) != 0)
		cli_doctor_fail(finding, CLI_DOCTOR_PROBLEM,
				"its daemon is of another version than this command (" BFSIM_VERSION
				"): programs can't attach",
				"install one version on both sides; end the session with the bfsim that began it");
	if (status)
		check_namespaces(doctor, cli_json_number(status, "pid"),
				 json_object_get_boolean(cli_json_member(status, "procmem")));
	json_object_put(status);
}

/* A directory that does not exist yet: bfsim up makes it. */
static void check_parent(struct cli_doctor *doctor, const char *dir)
{
	char *copy = strdup(dir), *parent = copy ? dirname(copy) : NULL;
	struct cli_doctor_finding *finding;

	if (!parent)
		return;
	if (access(parent, W_OK | X_OK) == 0) {
		cli_doctor_add(doctor, "session", "none in %s; bfsim up starts one", dir);
	} else {
		finding = cli_doctor_add(doctor, "session", "%s: %s", parent, strerror(errno));
		cli_doctor_fail(finding, CLI_DOCTOR_PROBLEM, "bfsim up can't make the session's directory there",
				"name another one with --session, or in BFSIM_SESSION");
	}
	free(copy);
}

void cli_doctor_check_session(struct cli_doctor *doctor, const char *dir)
{
	int dir_fd = sim_session_dir_open(dir, false);
	struct cli_doctor_finding *finding;
	struct stat info;

	check_temporary(doctor);
	if (dir_fd == -ENOENT) {
		check_parent(doctor, dir);
		return;
	}
	if (dir_fd < 0) {
		finding = cli_doctor_add(doctor, "session", "%s: %s", dir, sim_session_dir_strerror(dir_fd));
		cli_doctor_fail(finding, CLI_DOCTOR_PROBLEM, "programs of this user can't attach to it",
				"bfsim up --group GROUP shares a session; --session names another");
		return;
	}
	if (fstat(dir_fd, &info) == 0)
		cli_doctor_add(doctor, "directory", "%s belongs to user %u, mode %04o", dir, info.st_uid,
			       info.st_mode & 07777);
	if (sim_session_dir_is_live(dir_fd))
		check_live(doctor, dir, dir_fd);
	else
		cli_doctor_add(doctor, "session", "none in %s; bfsim up starts one", dir);
	close(dir_fd);
}
