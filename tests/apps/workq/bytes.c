/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the files that the programs exchange. */
#include "bytes.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define LOOK_AGAIN_NS 2000000
#define TIMEOUT_S     30

static void give_up(const char *what, const char *path)
{
	fprintf(stderr, "%s ", what);
	perror(path);
	exit(EXIT_FAILURE);
}

struct bytes bytes_of_zeros(size_t len)
{
	struct bytes bytes = { .addr = calloc(1, len ? len : 1), .len = len };

	if (!bytes.addr)
		give_up("no memory for", "a buffer");
	return bytes;
}

static struct bytes read_all(FILE *file, const char *path)
{
	struct bytes bytes;
	struct stat status;

	if (fstat(fileno(file), &status) < 0)
		give_up("look at", path);
	bytes = bytes_of_zeros((size_t)status.st_size);
	if (fread(bytes.addr, 1, bytes.len, file) != bytes.len)
		give_up("read", path);
	fclose(file);
	return bytes;
}

struct bytes bytes_of_file(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file)
		give_up("open", path);
	return read_all(file, path);
}

void bytes_to_file(struct bytes bytes, const char *path)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(bytes.addr, 1, bytes.len, file) != bytes.len || fclose(file) != 0)
		give_up("write", path);
}

void bytes_publish(struct bytes bytes, const char *path)
{
	char new_path[PATH_MAX];

	snprintf(new_path, sizeof(new_path), "%s.new", path);
	bytes_to_file(bytes, new_path);
	if (rename(new_path, path) < 0)
		give_up("rename to", path);
}

struct bytes bytes_await(const char *path)
{
	const struct timespec pause = { .tv_nsec = LOOK_AGAIN_NS };
	FILE *file = fopen(path, "rb");

	for (long waited_ns = 0; !file && waited_ns < TIMEOUT_S * 1000000000L; waited_ns += LOOK_AGAIN_NS) {
		nanosleep(&pause, NULL);
		file = fopen(path, "rb");
	}
	if (!file)
		give_up("wait for", path);
	return read_all(file, path);
}
