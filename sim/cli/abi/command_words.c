/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a command, and the programs that they name. */
#include "command_words.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_executable_file(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

static char *find_in_dir(const char *dir, size_t len, const char *command)
{
	char *path;

	if (asprintf(&path, "%.*s%s%s", (int)len, dir, len ? "/" : "", command) < 0)
		return NULL;
	if (is_executable_file(path))
		return path;
	free(path);
	return NULL;
}

char *cli_program_find(const char *command)
{
	const char *list = getenv("PATH"), *end;
	char *path = NULL;

	if (strchr(command, '/') || !list)
		return is_executable_file(command) ? strdup(command) : NULL;
	do {
		end = strchrnul(list, ':');
		path = find_in_dir(list, (size_t)(end - list), command);
		list = end + 1;
	} while (!path && *end);
	return path;
}

void cli_next_word(const char **text, char *word)
{
	char quote = '\0';

	for (; **text && (quote || !strchr(CLI_BETWEEN_WORDS, **text)); (*text)++) {
		if (**text == quote)
			quote = '\0';
		else if (!quote && (**text == '\'' || **text == '"'))
			quote = **text;
		else if (quote != '\'' && **text == '\\' && (*text)[1])
			*word++ = *++*text;
		else
			*word++ = **text;
	}
	*word = '\0';
}
