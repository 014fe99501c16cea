/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutes hits, prints them, and writes them to the file of hits and to the process's report. */
#include "hit_output.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/check/base/check.h"
#include "sim/base/log.h"
#include "sim/check/hit.h"
#include "sim/check/hit_list.h"
#include "sim/check/mutes.h"
#include "sim/check/report.h"
#include "sim/trace/trace.h"
#include "stack.h"

static struct {
	pthread_mutex_t lock;
	int fd; /* the file of hits; -1 = none */
	char report_path[PATH_MAX];
	pid_t pid; /* of the process that the list and the report belong to */
	struct sim_check_report report;
	struct sim_check_mutes *mutes; /* may be NULL */
} output = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static const char *env(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

static void write_report(bool is_complete)
{
	int rc;

	if (!output.report_path[0])
		return;
	output.report.is_complete = is_complete;
	rc = sim_check_report_write(&output.report, output.report_path);
	if (rc < 0) {
		sim_err("BFSIM_CHECK_REPORT: cannot write %s: %s; there is no report", output.report_path,
			strerror(-rc));
		output.report_path[0] = '\0';
	}
}

static void open_hits(void)
{
	const char *path = env("BFSIM_CHECK_HITS");

	if (!path)
		return;
	output.fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (output.fd < 0)
		sim_err("BFSIM_CHECK_HITS: cannot open %s: %s", path, strerror(errno));
}

/* One write, so that lines of several processes do not mix. */
static void write_line(struct json_object *json)
{
	const char *text = json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN);
	size_t len = strlen(text);
	char *line = malloc(len + 1);

	if (!line)
		return;
	memcpy(line, text, len);
	line[len] = '\n';
	if (write(output.fd, line, len + 1) < 0)
		sim_err("cannot write to the file of hits: %s", strerror(errno));
	free(line);
}

/* So that a run without hits can tell what it has checked. */
static void write_program(bool is_checked)
{
	struct json_object *line = json_object_new_object();

	json_object_object_add(line, "program", json_object_new_string(program_invocation_short_name));
	json_object_object_add(line, "pid", json_object_new_int(getpid()));
	json_object_object_add(line, "is_checked", json_object_new_boolean(is_checked));
	if (output.fd >= 0)
		write_line(line);
	json_object_put(line);
}

/* So that a run can tell a program that was checked to its end from one that was killed. */
static void write_end(void)
{
	struct json_object *line = json_object_new_object();

	json_object_object_add(line, "ended", json_object_new_int(getpid()));
	if (output.fd >= 0)
		write_line(line);
	json_object_put(line);
}

/* Make the path absolute, as the program may change its directory, and put the process number for "%p". */
static bool expand_path(const char *text)
{
	const char *number = strstr(text, "%p");
	char dir[PATH_MAX] = "", pid[16];
	int len;

	snprintf(pid, sizeof(pid), "%d", getpid());
	if (text[0] != '/' && !getcwd(dir, sizeof(dir)))
		return false;
	len = snprintf(output.report_path, sizeof(output.report_path), "%s%s%.*s%s%s", dir, dir[0] ? "/" : "",
		       number ? (int)(number - text) : (int)strlen(text), text, number ? pid : "",
		       number ? number + 2 : "");
	return len < (int)sizeof(output.report_path);
}

static void open_report(void)
{
	const char *path = env("BFSIM_CHECK_REPORT");
	enum sim_check_format format;

	if (!path || output.fd >= 0) /* bfsim run writes the report of all its programs */
		return;
	if (sim_check_report_format(path, &format) < 0) {
		sim_err("BFSIM_CHECK_REPORT=%s: the name must end in " SIM_CHECK_FORMATS "; there is no report", path);
	} else if (!expand_path(path)) {
		output.report_path[0] = '\0';
		sim_err("BFSIM_CHECK_REPORT=%s: the path is too long; there is no report", path);
	} else {
		write_report(false);
	}
}

static void read_mutes(void)
{
	const char *path = env("BFSIM_CHECK_MUTES");
	char error[SIM_CHECK_MUTES_ERROR_SIZE];

	if (path && sim_check_mutes_read(path, &output.mutes, error) < 0)
		sim_err("BFSIM_CHECK_MUTES: %s; nothing is muted", error);
}

static void read_fail(void)
{
	const char *text = env("BFSIM_CHECK_FAIL");

	output.report.fail_severity = SIM_CHECK_ERROR;
	output.report.fails = text && strcmp(text, "none") != 0;
	if (output.report.fails && sim_check_severity_parse(text, &output.report.fail_severity) < 0) {
		sim_err("BFSIM_CHECK_FAIL=%s: give " SIM_CHECK_SEVERITIES " or none; error is taken", text);
		output.report.fail_severity = SIM_CHECK_ERROR;
	}
}

void check_output_open(void)
{
	output.pid = getpid();
	output.report.hits = json_object_new_array();
	output.report.mode = check_mode;
	read_fail();
	read_mutes();
	open_hits();
	write_program(true);
	open_report();
}

void check_output_refuse(void)
{
	open_hits();
	write_program(false);
	if (output.fd >= 0)
		close(output.fd);
	output.fd = -1;
}

/* The whole hit at once, so that lines of several threads and processes do not mix. */
static void print(struct json_object *hit)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	sim_hit_print(hit, out);
	fclose(out);
	fflush(stdout);
	(void)!write(STDERR_FILENO, text, len);
	free(text);
}

/* In a forked child, with the lock: leave the parent's hits and report to the parent. */
static void leave_parent(void)
{
	struct json_object *parents = output.report.hits; /* may be in use by a thread that is not here */
	char path[PATH_MAX], *dot;

	if (output.pid == getpid())
		return;
	output.pid = getpid();
	output.report.hits = json_object_new_array();
	json_object_set_userdata(output.report.hits, parents, NULL); /* so that it is not lost */
	if (!output.report_path[0])
		return;
	dot = strrchr(output.report_path, '.'); /* the extension */
	if (snprintf(path, sizeof(path), "%.*s.%d%s", (int)(dot - output.report_path), output.report_path, getpid(),
		     dot) < (int)sizeof(path))
		strcpy(output.report_path, path);
}

void check_output_hit(enum sim_check_rule rule, struct json_object *hit)
{
	const struct sim_check_rule_entry *entry = &sim_check_rules[rule];
	const struct sim_check_mute *mute = sim_check_mutes_find(output.mutes, entry, hit);

	if (mute)
		sim_check_hit_mute(hit, mute->reason, mute->line);
	else
		print(hit);
	if (!mute)
		sim_trace_check_hit(entry->id, entry->severity,
				    json_object_get_string(json_object_object_get(hit, "message")));
	pthread_mutex_lock(&output.lock);
	leave_parent();
	if (output.fd >= 0)
		write_line(hit);
	json_object_array_add(output.report.hits, hit);
	write_report(false);
	pthread_mutex_unlock(&output.lock);
}

void check_output_repeats(enum sim_check_rule rule, struct json_object *hit, const void *caller, uint64_t count)
{
	struct check_stack stack = check_stack_of(caller);
	struct json_object *line;

	if (hit)
		json_object_object_add(hit, "count", json_object_new_uint64(count));
	if (output.fd < 0)
		return;
	line = json_object_new_object();
	json_object_object_add(line, "repeated", json_object_new_string(sim_check_rules[rule].id));
	json_object_object_add(line, "pid", json_object_new_int(getpid()));
	json_object_object_add(line, "stack", check_stack_to_json(&stack));
	json_object_object_add(line, "count", json_object_new_uint64(count));
	write_line(line);
	json_object_put(line);
}

bool check_output_end(void)
{
	if (output.pid != getpid()) /* a forked child without hits */
		return false;
	pthread_mutex_lock(&output.lock);
	write_report(true);
	write_end();
	if (output.fd < 0)
		sim_check_mutes_print_useless(output.mutes, output.report.hits, stderr);
	pthread_mutex_unlock(&output.lock);
	return output.report.fails && sim_hit_list_has(output.report.hits, output.report.fail_severity);
}

void check_output_forked(void)
{
	pthread_mutex_init(&output.lock, NULL);
}
