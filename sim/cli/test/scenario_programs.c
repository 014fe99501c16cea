/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking the shell for a program. */
#include "scenario_programs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/cli/base/cli.h"

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./"

/* The first word, if it is plain: no quote, variable or assignment, and not the name of a function. The caller frees it. */
static char *first_word(const char *command)
{
	size_t len;

	command += strspn(command, " \t\n");
	len = strspn(command, PLAIN);
	return len > 0 && (!command[len] || strchr(" \t\n;&|<>", command[len])) ? strndup(command, len) : NULL;
}

/* Does not return. Commands of the scenario's folder are found by their names, as in a run. */
static void ask_shell(const struct cli_scenario *scenario, char *word)
{
	const char *old = getenv("PATH");
	char path[2 * PATH_MAX];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	snprintf(path, sizeof(path), "%s:%s", scenario->folder, old ? old : "/usr/bin:/bin");
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	if (setenv("PATH", path, 1) == 0)
		execl("/bin/sh", "sh", "-c", "command -v \"$1\"", "sh", word, (char *)NULL);
	_exit(0);
}

static bool knows_command(const struct cli_scenario *scenario, char *word)
{
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		ask_shell(scenario, word);
	return pid < 0 || waitpid(pid, &status, 0) != pid || status == 0;
}

/* Whether the run's directory, which is new, may have the file. */
static bool may_be_made(const struct cli_scenario *scenario, const struct cli_scenario_side *side)
{
	return scenario->before || scenario->copy.count > 0 || side->after || side->delay;
}

int cli_scenario_check_program(const struct cli_scenario *scenario, const struct cli_scenario_side *side)
{
	char *word = first_word(side->command);
	int rc = 0;

	if (!word)
		return 0;
	if (!strchr(word, '/') && !scenario->before && !knows_command(scenario, word))
		rc = cli_scenario_fail(scenario->path, side->line, "%s: there is no program %s in %s, nor in PATH",
				       side->name, word, scenario->folder);
	else if (word[0] == '/' && !scenario->before && access(word, X_OK) < 0)
		rc = cli_scenario_fail(scenario->path, side->line, "%s: there is no program %s", side->name, word);
	else if (word[0] != '/' && strchr(word, '/') && !may_be_made(scenario, side))
		rc = cli_scenario_fail(
			scenario->path, side->line,
			"%s: there is no %s: a run begins in an empty directory; programs of the scenario's folder are found by their "
			"names alone, files by copy",
			side->name, word);
	free(word);
	return rc;
}
