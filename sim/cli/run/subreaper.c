/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes below this one, found through /proc. */
#include "subreaper.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void cli_become_subreaper(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* The parent of process @pid, or 0. In /proc/PID/stat it follows the name of the program, which is in parentheses
 * and may contain any character. */
static pid_t read_parent_pid(const char *pid)
{
	char path[64], text[512];
	const char *end;
	FILE *stat;
	size_t len;
	int parent;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	stat = fopen(path, "re");
	if (!stat)
		return 0;
	len = fread(text, 1, sizeof(text) - 1, stat);
	fclose(stat);
	text[len] = '\0';
	end = strrchr(text, ')');
	return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* Whether one of the @groups, which end with 0, is the process's. */
static bool is_in_group(pid_t pid, const pid_t *groups)
{
	pid_t group = groups ? getpgid(pid) : 0;

	for (; groups && *groups; groups++)
		if (*groups == group)
			return true;
	return false;
}

static bool is_in_list(pid_t pid, const pid_t *list)
{
	for (; list && *list; list++)
		if (*list == pid)
			return true;
	return false;
}

unsigned int cli_signal_children(int signal, const pid_t *except, const pid_t *signalled)
{
	DIR *proc = opendir("/proc");
	unsigned int count = 0;
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		pid_t pid = atoi(entry->d_name);

		if (!isdigit((unsigned char)entry->d_name[0]) || is_in_list(pid, except) ||
		    read_parent_pid(entry->d_name) != getpid())
			continue;
		count++;
		if (signal && !is_in_group(pid, signalled))
			kill(pid, signal);
	}
	if (proc)
		closedir(proc);
	return count;
}

void cli_kill_descendants(const pid_t *except)
{
	while (cli_signal_children(SIGKILL, except, NULL) > 0 && (waitpid(-1, NULL, 0) > 0 || errno == EINTR))
		;
}
