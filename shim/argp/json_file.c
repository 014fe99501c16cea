/* SPDX-License-Identifier: BSD-3-Clause */
/* Read a JSON file: one object, with comments allowed. */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "argp_priv.h"

#define FIRST_READ_BYTES ((size_t)4096)
#define MAX_FILE_BYTES   ((size_t)16 << 20) /* more than any file of flags needs */

struct content {
	char *bytes;
	size_t size;
	size_t capacity;
};

static doca_error_t grow_if_full(struct content *content, const char *path)
{
	size_t capacity = content->capacity ? 2 * content->capacity : FIRST_READ_BYTES;
	char *bytes;

	if (content->size < content->capacity)
		return DOCA_SUCCESS;
	if (capacity > MAX_FILE_BYTES) {
		shim_argp_report("'%s' has %zu bytes or more; is it the right file?", path, MAX_FILE_BYTES);
		return DOCA_ERROR_IO_FAILED;
	}
	bytes = realloc(content->bytes, capacity);
	if (!bytes)
		return shim_argp_report_no_memory();
	content->bytes = bytes;
	content->capacity = capacity;
	return DOCA_SUCCESS;
}

static doca_error_t read_all(int fd, const char *path, struct content *content)
{
	doca_error_t result;
	ssize_t got;

	do {
		result = grow_if_full(content, path);
		if (result != DOCA_SUCCESS)
			return result;
		got = read(fd, content->bytes + content->size, content->capacity - content->size);
		if (got > 0)
			content->size += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got == 0)
		return DOCA_SUCCESS;
	shim_argp_report("can't read the JSON file '%s': %s", path, strerror(errno));
	return DOCA_ERROR_IO_FAILED;
}

/* json-c needs a character after a line comment or a number at the end of the file. */
static doca_error_t append_newline(struct content *content, const char *path)
{
	doca_error_t result = grow_if_full(content, path);

	if (result == DOCA_SUCCESS)
		content->bytes[content->size++] = '\n';
	return result;
}

static doca_error_t read_file(const char *path, struct content *content)
{
	doca_error_t result;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		shim_argp_report("can't open the JSON file '%s': %s", path, strerror(errno));
		return DOCA_ERROR_IO_FAILED;
	}
	result = read_all(fd, path, content);
	close(fd);
	return result == DOCA_SUCCESS ? append_newline(content, path) : result;
}

static size_t line_number(const struct content *content, size_t at)
{
	size_t line = 1, i;

	for (i = 0; i < at && i < content->size; i++)
		line += content->bytes[i] == '\n';
	return line;
}

/* Check the result of @tokener on @content; @root may be NULL. */
static doca_error_t check_parsed(struct json_tokener *tokener, const struct json_object *root,
				 const struct content *content, const char *path)
{
	enum json_tokener_error error = json_tokener_get_error(tokener);
	size_t end = json_tokener_get_parse_end(tokener);

	if (error == json_tokener_continue) {
		shim_argp_report("'%s' is cut off: the JSON in it has no end", path);
		return DOCA_ERROR_IO_FAILED;
	}
	if (error != json_tokener_success) {
		shim_argp_report("'%s', line %zu: not JSON: %s", path, line_number(content, end),
				 json_tokener_error_desc(error));
		return DOCA_ERROR_IO_FAILED;
	}
	if (end != content->size) { /* blanks and comments count as parsed */
		shim_argp_report("'%s', line %zu: unexpected text after the end of the JSON", path,
				 line_number(content, end));
		return DOCA_ERROR_IO_FAILED;
	}
	if (json_object_is_type(root, json_type_object))
		return DOCA_SUCCESS;
	shim_argp_report("'%s' must be one JSON object, with sections like \"doca_program_flags\"", path);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t parse(const struct content *content, const char *path, struct json_object **ret_root)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *root;
	doca_error_t result;

	if (!tokener)
		return shim_argp_report_no_memory();
	root = json_tokener_parse_ex(tokener, content->bytes, (int)content->size);
	result = check_parsed(tokener, root, content, path);
	json_tokener_free(tokener);
	if (result == DOCA_SUCCESS)
		*ret_root = root;
	else
		json_object_put(root);
	return result;
}

doca_error_t shim_argp_json_read(const char *path, struct json_object **ret_root)
{
	struct content content = { 0 };
	doca_error_t result = read_file(path, &content);

	if (result == DOCA_SUCCESS)
		result = parse(&content, path, ret_root);
	free(content.bytes);
	return result;
}
