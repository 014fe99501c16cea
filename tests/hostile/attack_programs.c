/* SPDX-License-Identifier: BSD-3-Clause */
/* Attacks on programs that are executed: kills of the work-queue generation's programs, and damaged traces for the
 * reader of bfsim report. */
#include "hostile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc.h"

#define IN_BYTES 1000003
#define DAMAGES  20 /* in one round */
#define KILL_MS  25

static struct program next; /* what the next process executes */

static int execute(struct bout *bout, int sock)
{
	char path[4096];

	if (sock >= 0)
		CHECK(dup2(sock, 0) == 0);
	unsetenv("LD_LIBRARY_PATH"); /* both generations name their libraries alike */
	snprintf(path, sizeof(path), "%s/%s", getenv("BUILD"), next.path);
	CHECK(chdir(next.dir) == 0);
	next.argv[0] = path;
	execv(path, (char *const *)(uintptr_t)next.argv);
	CHECK(!"the program can be executed");
	return ROLE_WRONG;
}

struct party *program_start(struct bout *bout, const char *side, int sock, const struct program *program)
{
	next = *program;
	return bout_start(bout, program->path, side, execute, sock);
}

int program_run(struct bout *bout, const struct program *program)
{
	struct party *party = program_start(bout, "dpu", -1, program);

	return bout_wait(bout, party) && WIFEXITED(party->status) ? WEXITSTATUS(party->status) : -1;
}

static void write_file(const char *dir, const char *name, const void *bytes, size_t len)
{
	char path[160];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	CHECK(file && fwrite(bytes, 1, len, file) == len && fclose(file) == 0);
}

void work_make(const struct bout *bout, char dir[96])
{
	snprintf(dir, 96, "%s.work", bout->dir);
	CHECK(mkdir(dir, 0700) == 0);
}

void work_remove(const char *dir)
{
	static const char *const names[] = { "in",    "out",     "descriptor",     "info",
					     "trace", "damaged", "descriptor.new", "info.new" };
	char path[160];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	CHECK(rmdir(dir) == 0);
}

/* ---- the work-queue generation ---- */

/* Wait for the file that the exporter writes last. Returns false if there is none. */
static bool await_info(struct bout *bout, const struct party *exporter, const char *dir)
{
	int64_t end = proc_now_ms() + 1000 * bout->patience_s;
	char path[160];
	siginfo_t info = { 0 };

	snprintf(path, sizeof(path), "%s/info", dir);
	while (access(path, R_OK) != 0) {
		if (proc_now_ms() > end ||
		    (waitid(P_PID, (id_t)exporter->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0))
			return false;
		usleep(500);
	}
	return true;
}

static void kill_workq(struct bout *bout)
{
	static uint8_t in[IN_BYTES];
	struct party *choice[3];
	char dir[96];
	int socks[2];

	work_make(bout, dir);
	write_file(dir, "in", in, sizeof(in));
	bout_session(bout);
	bout_pair(socks);
	choice[0] = bout->daemon;
	choice[1] = program_start(
		bout, "host", socks[0],
		&(struct program){ dir, "tests/apps/workq/map_export", { "", "in", "descriptor", "info" } });
	close(socks[0]);
	if (await_info(bout, choice[1], dir)) {
		choice[2] = program_start(bout, "dpu", socks[1],
					  &(struct program){ dir,
							     "tests/apps/workq/map_import",
							     { "", "descriptor", "info", "read", "out" } });
		bout_kill_within(bout, choice[bout_random(bout, 3)], KILL_MS);
		bout_wait(bout, choice[2]);
	}
	close(socks[1]);
	bout_wait(bout, choice[1]);
	work_remove(dir);
}

static const char *const private_paths[] = { "procmem", "cma", "shm", "tcp", NULL };

const struct attack attack_workq = { "kill-workq", private_paths, 100, 2, kill_workq };

/* ---- the report's reader ---- */

static size_t read_trace(const char *dir, char **ret_bytes)
{
	char path[160];
	size_t len = 0, got;
	FILE *file;

	snprintf(path, sizeof(path), "%s/trace", dir);
	file = fopen(path, "r");
	*ret_bytes = malloc(1 << 20);
	CHECK(*ret_bytes);
	while (file && (got = fread(*ret_bytes + len, 1, (1 << 20) - len, file)) > 0)
		len += got;
	if (file)
		fclose(file);
	return len;
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* Cut off, bytes changed to any others, or, so that the file can still be read, digits to other digits. */
static size_t damage(struct bout *bout, char *bytes, size_t len)
{
	size_t count = 1 + bout_random(bout, 20), kind = bout_random(bout, 4);

	if (kind == 0)
		return bout_random(bout, len);
	for (size_t i = 0; i < count; i++) {
		size_t at = bout_random(bout, len);

		if (kind == 1)
			bytes[at] = (char)bout_random(bout, 256);
		else if (is_digit(bytes[at]))
			bytes[at] = (char)('0' + bout_random(bout, 10));
	}
	return len;
}

static void damage_trace(struct bout *bout)
{
	char dir[96], *trace, *damaged;
	size_t len, damaged_len;

	work_make(bout, dir);
	setenv("BFSIM_TRACE", "full", 1);
	bout_session(bout);
	program_run(bout, &(struct program){ dir, "tests/multi/trace_peer", { "", "20", "fail" } });
	program_run(bout, &(struct program){ dir, "sim/cli/bfsim", { "", "trace", "-f", "perfetto", "-o", "trace" } });
	setenv("BFSIM_TRACE", "off", 1);
	len = read_trace(dir, &trace);
	if (len == 0)
		bout_defect(bout, &bout->tally->wrong, "no trace was written", "bfsim trace");
	damaged = malloc(len + 1);
	CHECK(damaged);
	for (int i = 0; len > 0 && i < DAMAGES; i++) {
		memcpy(damaged, trace, len);
		damaged_len = damage(bout, damaged, len);
		write_file(dir, "damaged", damaged, damaged_len);
		bout->tally->tried++;
		program_run(bout, &(struct program){ dir, "sim/cli/bfsim", { "", "report", "-o", "out", "damaged" } });
	}
	free(trace);
	free(damaged);
	work_remove(dir);
}

const struct attack attack_report = { "report", attack_no_path, 50, 1, damage_trace };
