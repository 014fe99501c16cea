/* SPDX-License-Identifier: BSD-3-Clause */
/* Passing on the output of a program in whole lines. */
#include "output_relay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "sim/base/watch.h"

#define RELAY_EVENTS (EPOLLIN | EPOLLONESHOT)

int cli_output_relay_init(struct cli_output_relay *relay, int fd, FILE *out, const char *name, int name_width,
			  int epoll_fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	*relay = (struct cli_output_relay){
		.fd = fd, .epoll_fd = epoll_fd, .out = out, .name = name, .name_width = name_width
	};
	return sim_watch_add(epoll_fd, fd, RELAY_EVENTS, (epoll_data_t){ .ptr = relay });
}

static void emit_line(struct cli_output_relay *relay)
{
	fprintf(relay->out, "%-*s| ", relay->name_width, relay->name);
	fwrite(relay->partial, 1, relay->len, relay->out);
	fputc('\n', relay->out);
	relay->len = 0;
}

/* Make room for @len more bytes. Returns false without memory. */
static bool reserve(struct cli_output_relay *relay, size_t len)
{
	size_t size = relay->size ? relay->size : 256;
	char *partial;

	while (size < relay->len + len)
		size *= 2;
	if (size == relay->size)
		return true;
	partial = realloc(relay->partial, size);
	if (!partial)
		return false;
	relay->partial = partial;
	relay->size = size;
	return true;
}

static void append_partial(struct cli_output_relay *relay, const char *text, size_t len)
{
	if (relay->len + len > CLI_OUTPUT_RELAY_LINE_MAX)
		emit_line(relay);
	if (!reserve(relay, len))
		return; /* no memory: the text is dropped */
	memcpy(relay->partial + relay->len, text, len);
	relay->len += len;
}

static void split_lines(struct cli_output_relay *relay, const char *text, size_t len)
{
	const char *end = text + len, *newline;

	while ((newline = memchr(text, '\n', (size_t)(end - text)))) {
		append_partial(relay, text, (size_t)(newline - text));
		emit_line(relay);
		text = newline + 1;
	}
	if (text < end)
		append_partial(relay, text, (size_t)(end - text));
}

static void close_input(struct cli_output_relay *relay)
{
	if (relay->fd < 0)
		return;
	sim_watch_close(relay->epoll_fd, relay->fd);
	relay->fd = -1;
	if (relay->len > 0)
		emit_line(relay);
}

bool cli_output_relay_forward(struct cli_output_relay *relay)
{
	char text[16384];
	ssize_t got = read(relay->fd, text, sizeof(text));

	if (got > 0)
		split_lines(relay, text, (size_t)got);
	else if (got == 0 || errno != EAGAIN)
		close_input(relay);
	if (relay->fd >= 0 &&
	    sim_watch_change(relay->epoll_fd, relay->fd, RELAY_EVENTS, (epoll_data_t){ .ptr = relay }) < 0)
		return false;
	return fflush(relay->out) == 0 && !ferror(relay->out);
}

void cli_output_relay_fini(struct cli_output_relay *relay)
{
	char text[16384];
	ssize_t got;

	while (relay->fd >= 0 && (got = read(relay->fd, text, sizeof(text))) > 0)
		split_lines(relay, text, (size_t)got);
	close_input(relay);
	fflush(relay->out);
	free(relay->partial);
	relay->partial = NULL;
}
