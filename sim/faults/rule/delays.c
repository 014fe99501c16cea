/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of delays. */
#include "delays.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/file.h"
#include "sim/base/printable.h"
#include "value.h"

#define MAX_FILE_BYTES (4u << 20)

static int format_error(int rc, char error[SIM_RULE_ERROR_SIZE], const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int format_error(int rc, char error[SIM_RULE_ERROR_SIZE], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, SIM_RULE_ERROR_SIZE, format, args);
	va_end(args);
	sim_make_printable(error);
	return rc;
}

size_t sim_delays_size(uint32_t count)
{
	return sizeof(struct sim_delays) + (size_t)count * sizeof(uint64_t);
}

int sim_delays_check(const struct sim_delays *delays, size_t len)
{
	if (len < sizeof(*delays) || !delays->count || delays->count > SIM_DELAYS_MAX ||
	    len < sim_delays_size(delays->count) || !delays->file[0] ||
	    !memchr(delays->file, '\0', sizeof(delays->file)))
		return -EINVAL;
	if (!sim_value_is_name((struct sim_text){ delays->file, strlen(delays->file) }))
		return -EINVAL;
	for (uint32_t i = 0; i < delays->count; i++)
		if (delays->delay_ns[i] > SIM_RULE_MAX_NS)
			return -EINVAL;
	return 0;
}

struct line_reader {
	const char *at, *end;
	unsigned int number;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Read the next line, without its comment and the space around its value. Returns false at the end. */
static bool next_line(struct line_reader *lines, struct sim_text *ret_text)
{
	const char *begin = lines->at, *newline, *end;

	if (lines->at == lines->end)
		return false;
	newline = memchr(begin, '\n', (size_t)(lines->end - begin));
	lines->at = newline ? newline + 1 : lines->end;
	lines->number++;
	end = newline ? newline : lines->end;
	for (const char *at = begin; at < end; at++)
		if (*at == '#')
			end = at;
	while (begin < end && is_blank(*begin))
		begin++;
	while (begin < end && is_blank(end[-1]))
		end--;
	*ret_text = (struct sim_text){ begin, (size_t)(end - begin) };
	return true;
}

static int read_delay(struct sim_text text, uint64_t *ret_ns)
{
	if (sim_value_time(text, ret_ns) == 0)
		return 0;
	return sim_value_number(text, SIM_RULE_MAX_NS, ret_ns);
}

static int append_delay(struct sim_delays **delays, uint64_t ns)
{
	uint32_t count = (*delays)->count;

	if (count >= 64 && (count & (count - 1)) == 0) { /* full: double it */
		struct sim_delays *larger = realloc(*delays, sim_delays_size(2 * count));

		if (!larger)
			return -ENOMEM;
		*delays = larger;
	}
	(*delays)->delay_ns[(*delays)->count++] = ns;
	return 0;
}

static int read_lines(struct sim_delays **delays, struct line_reader *lines, const char *file,
		      char error[SIM_RULE_ERROR_SIZE])
{
	struct sim_text text;
	uint64_t ns;

	while (next_line(lines, &text)) {
		if (!text.len)
			continue;
		if (read_delay(text, &ns))
			return format_error(-EINVAL, error,
					    "%.80s:%u: expected a delay (20us, or a number of ns), got `%.*s`", file,
					    lines->number, (int)(text.len < 48 ? text.len : 48), text.at);
		if ((*delays)->count == SIM_DELAYS_MAX)
			return format_error(-EINVAL, error, "%.80s:%u: there are more than %d delays", file,
					    lines->number, SIM_DELAYS_MAX);
		if (append_delay(delays, ns))
			return format_error(-ENOMEM, error, "%.80s: no memory for its delays", file);
	}
	if (!(*delays)->count)
		return format_error(-EINVAL, error, "%.80s: has no delays; it needs one a line (20us)", file);
	return 0;
}

int sim_delays_parse(const char *file, const char *text, size_t len, struct sim_delays **ret_delays,
		     char error[SIM_RULE_ERROR_SIZE])
{
	struct line_reader lines = { .at = text, .end = text + len };
	struct sim_delays *delays;
	int rc;

	if (!*file || strlen(file) >= SIM_DELAYS_FILE_SIZE)
		return format_error(-EINVAL, error, "%.80s: the name of a file of delays has up to %d bytes", file,
				    SIM_DELAYS_FILE_SIZE - 1);
	delays = calloc(1, sim_delays_size(64));
	if (!delays)
		return format_error(-ENOMEM, error, "%.80s: no memory for its delays", file);
	snprintf(delays->file, sizeof(delays->file), "%s", file);
	rc = read_lines(&delays, &lines, file, error);
	if (rc) {
		free(delays);
		return rc;
	}
	*ret_delays = delays;
	return 0;
}

int sim_delays_load(const char *file, const char *dir, struct sim_delays **ret_delays, char error[SIM_RULE_ERROR_SIZE])
{
	char *path = NULL, *text = NULL;
	size_t len = 0;
	int rc;

	if (asprintf(&path, "%s%s%s", *file != '/' && dir ? dir : "", *file != '/' && dir ? "/" : "", file) < 0)
		return format_error(-ENOMEM, error, "%.80s: no memory for its name", file);
	rc = sim_file_read(path, MAX_FILE_BYTES, &text, &len);
	if (rc)
		format_error(rc, error, "%.160s: can't read these delays: %s", path, strerror(-rc));
	free(path);
	if (rc)
		return rc;
	rc = sim_delays_parse(file, text, len, ret_delays, error);
	free(text);
	return rc;
}

int sim_rule_load(const char *text, const char *dir, struct sim_rule *ret_rule, struct sim_delays **ret_delays,
		  struct sim_rule_error *ret_error)
{
	char file[SIM_DELAYS_FILE_SIZE];
	struct sim_delays *delays = NULL;
	struct sim_rule rule;
	int rc;

	rc = sim_rule_parse(text, &rule, file, ret_error);
	if (rc)
		return rc;
	if (file[0]) {
		const char *word = strstr(text, "trace(");

		rc = sim_delays_load(file, dir, &delays, ret_error->text);
		ret_error->column = (unsigned int)(word - text) + 1;
	}
	if (rc)
		return rc;
	*ret_rule = rule;
	*ret_delays = delays;
	return 0;
}
