/* SPDX-License-Identifier: BSD-3-Clause */
#include "output_relay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cli_lines_init(struct cli_lines *lines, int fd, FILE *out, const char *name, int name_width)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	*lines = (struct cli_lines){.fd = fd, .out = out, .name = name, .name_width = name_width};
}

static void put_line(struct cli_lines *lines)
{
	fprintf(lines->out, "%-*s| ", lines->name_width, lines->name);
	fwrite(lines->held, 1, lines->len, lines->out);
	fputc('\n', lines->out);
	lines->len = 0;
}

/* Make room for @len bytes more. */
static bool make_room(struct cli_lines *lines, size_t len)
{
	size_t size = lines->size ? lines->size : 256;
	char *held;

	while (size < lines->len + len)
		size *= 2;
	if (size == lines->size)
		return true;
	held = realloc(lines->held, size);
	if (!held)
		return false;
	lines->held = held;
	lines->size = size;
	return true;
}

static void hold(struct cli_lines *lines, const char *text, size_t len)
{
	if (lines->len + len > CLI_LINE_MAX)
		put_line(lines);
	if (!make_room(lines, len))
		return; /* no memory: the text is dropped */
	memcpy(lines->held + lines->len, text, len);
	lines->len += len;
}

static void take(struct cli_lines *lines, const char *text, size_t len)
{
	const char *end = text + len, *newline;

	while ((newline = memchr(text, '\n', (size_t)(end - text)))) {
		hold(lines, text, (size_t)(newline - text));
		put_line(lines);
		text = newline + 1;
	}
	if (text < end)
		hold(lines, text, (size_t)(end - text));
}

static void end(struct cli_lines *lines)
{
	if (lines->fd < 0)
		return;
	close(lines->fd);
	lines->fd = -1;
	if (lines->len > 0)
		put_line(lines);
}

bool cli_lines_pump(struct cli_lines *lines)
{
	char text[16384];
	ssize_t got = read(lines->fd, text, sizeof(text));

	if (got > 0)
		take(lines, text, (size_t)got);
	else if (got == 0 || errno != EAGAIN)
		end(lines);
	return fflush(lines->out) == 0 && !ferror(lines->out);
}

void cli_lines_fini(struct cli_lines *lines)
{
	char text[16384];
	ssize_t got;

	while (lines->fd >= 0 && (got = read(lines->fd, text, sizeof(text))) > 0)
		take(lines, text, (size_t)got);
	end(lines);
	fflush(lines->out);
	free(lines->held);
	lines->held = NULL;
}
