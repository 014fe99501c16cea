/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread's last error message.
 *
 * It is not a thread-local array: those of this library must fit into what the loader keeps for libraries that a running
 * program loads (dlopen), which is 512 bytes or little more. */
#include "last_error.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "printable.h"

#define ERROR_SIZE 2048

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t line_of_thread; /* freed when the thread ends */
static bool has_key;
static _Thread_local bool is_lost; /* there was no memory for the message */

static void make_key(void)
{
	has_key = pthread_key_create(&line_of_thread, free) == 0;
}

static char *get_line(void)
{
	pthread_once(&once, make_key);
	return has_key ? pthread_getspecific(line_of_thread) : NULL;
}

/* The thread's line, which is made on first use; NULL without memory. */
static char *make_line(void)
{
	char *line = get_line();

	if (line || !has_key)
		return line;
	line = malloc(ERROR_SIZE);
	if (line && pthread_setspecific(line_of_thread, line) == 0)
		return line;
	free(line);
	return NULL;
}

int sim_set_error(int rc, const char *format, ...)
{
	char text[ERROR_SIZE]; /* an argument may be the old message itself */
	char *line = make_line();
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sim_make_printable(text);
	is_lost = !line;
	if (line)
		snprintf(line, ERROR_SIZE, "%s", text);
	return rc;
}

const char *sim_last_error(void)
{
	const char *line = get_line();

	if (is_lost)
		return "out of memory";
	return line ? line : "";
}
