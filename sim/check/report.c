/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the checker's report: the choice of the format, and the replacement of the file. */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *extension;
	void (*print)(const struct sim_check_report *report, FILE *out);
} formats[SIM_CHECK_NUM_FORMATS] = {
	[SIM_CHECK_JSON] = { ".json", sim_check_report_print_json },
	[SIM_CHECK_SARIF] = { ".sarif", sim_check_report_print_sarif },
	[SIM_CHECK_JUNIT] = { ".xml", sim_check_report_print_junit },
};

int sim_check_report_format(const char *path, enum sim_check_format *ret_format)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

	for (int i = 0; dot && i < SIM_CHECK_NUM_FORMATS; i++)
		if (strcasecmp(dot, formats[i].extension) == 0) {
			*ret_format = (enum sim_check_format)i;
			return 0;
		}
	return -EINVAL;
}

void sim_check_report_print_json(const struct sim_check_report *report, FILE *out)
{
	struct json_object *json = json_object_new_object();

	json_object_object_add(json, "version", json_object_new_int(SIM_CHECK_REPORT_VERSION));
	json_object_object_add(json, "tool", json_object_new_string("bfsim " BFSIM_VERSION));
	json_object_object_add(json, "mode", json_object_new_string(sim_check_mode_name(report->mode)));
	json_object_object_add(json, "complete", json_object_new_boolean(report->is_complete));
	json_object_object_add(json, "hits", json_object_get(report->hits));
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(json);
}

/* Returns 0 or -errno. Closes @fd. */
static int print_to(const struct sim_check_report *report, enum sim_check_format format, int fd)
{
	FILE *out = fdopen(fd, "w");
	int rc = 0;

	if (!out) {
		rc = -errno;
		close(fd);
		return rc;
	}
	formats[format].print(report, out);
	if (fflush(out) != 0 || ferror(out))
		rc = errno ? -errno : -EIO;
	if (fclose(out) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

static int write_in_place(const struct sim_check_report *report, enum sim_check_format format, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	return fd < 0 ? -errno : print_to(report, format, fd);
}

/* A reader sees the old file or the new one. */
static int replace(const struct sim_check_report *report, enum sim_check_format format, const char *path)
{
	char temporary[PATH_MAX];
	int len = snprintf(temporary, sizeof(temporary), "%s.%d.tmp", path, getpid()), fd, rc;

	if (len >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd < 0)
		return -errno;
	rc = print_to(report, format, fd);
	if (rc == 0 && rename(temporary, path) < 0)
		rc = -errno;
	if (rc < 0)
		unlink(temporary);
	return rc;
}

int sim_check_report_write(const struct sim_check_report *report, const char *path)
{
	enum sim_check_format format;
	struct stat status;

	if (sim_check_report_format(path, &format) < 0)
		return -EINVAL;
	if (lstat(path, &status) == 0) {
		if (S_ISDIR(status.st_mode))
			return -EISDIR;
		if (!S_ISREG(status.st_mode)) /* also a link: what it leads to is replaced, not the link */
			return write_in_place(report, format, path);
		if (access(path, W_OK) < 0)
			return -errno;
	}
	return replace(report, format, path);
}
