/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes export descriptors to files and waits for them. */
#include "desc_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_log.h>
#include <doca_mmap.h>

#include "app.h"

DOCA_LOG_REGISTER(APP::DESC_FILE);

#define MAX_DESC_BYTES 4096
#define LOOK_AGAIN_NS  2000000

/* The head of the file; the descriptor follows. Both ends are programs of one machine. */
struct head {
	uint64_t addr;
	uint64_t len_bytes;
	uint64_t desc_bytes;
};

static doca_error_t file_error(const char *what, const char *path)
{
	DOCA_LOG_ERR("Cannot %s %s: %s", what, path, strerror(errno));
	return DOCA_ERROR_IO_FAILED;
}

static doca_error_t write_file(const char *path, const struct head *head, const void *desc)
{
	FILE *file = fopen(path, "wbe");
	bool written;

	if (!file)
		return file_error("create", path);
	written = fwrite(head, sizeof(*head), 1, file) == 1 && fwrite(desc, head->desc_bytes, 1, file) == 1;
	written = fclose(file) == 0 && written;
	return written ? DOCA_SUCCESS : file_error("write", path);
}

static doca_error_t publish(const char *path, const struct head *head, const void *desc)
{
	char new_path[PATH_MAX];
	doca_error_t result;

	if (snprintf(new_path, sizeof(new_path), "%s.new", path) >= (int)sizeof(new_path)) {
		DOCA_LOG_ERR("%s is too long a name", path);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = write_file(new_path, head, desc);
	if (result == DOCA_SUCCESS && rename(new_path, path) < 0)
		result = file_error("rename to", path);
	return result;
}

doca_error_t desc_file_export(const char *path, struct doca_mmap *mmap, struct doca_dev *dev)
{
	const void *desc;
	size_t desc_bytes, len_bytes;
	void *addr;
	struct head head;
	doca_error_t result = app_check(doca_mmap_get_memrange(mmap, &addr, &len_bytes), "ask for the map's range");

	if (result != DOCA_SUCCESS)
		return result;
	result = app_check(doca_mmap_export_pci(mmap, dev, &desc, &desc_bytes), "export the memory");
	if (result != DOCA_SUCCESS)
		return result;
	head = (struct head){ .addr = (uintptr_t)addr, .len_bytes = len_bytes, .desc_bytes = desc_bytes };
	return publish(path, &head, desc);
}

/* NULL when the time is up, or when the file is there but can't be opened; it was logged. */
static FILE *wait_for_file(const char *path, uint32_t timeout_s)
{
	const struct timespec pause = { .tv_nsec = LOOK_AGAIN_NS };
	double deadline_s = app_now_s() + timeout_s;

	for (;;) {
		FILE *file = fopen(path, "rbe");

		if (file)
			return file;
		if (errno != ENOENT) {
			file_error("open", path);
			return NULL;
		}
		if (app_now_s() > deadline_s) {
			DOCA_LOG_ERR("No %s after %u s: does the process run that is to write it?", path, timeout_s);
			return NULL;
		}
		nanosleep(&pause, NULL);
	}
}

static doca_error_t import(FILE *file, const char *path, struct doca_dev *dev, struct remote *remote)
{
	uint8_t desc[MAX_DESC_BYTES];
	struct head head;

	if (fread(&head, sizeof(head), 1, file) != 1 || head.desc_bytes > sizeof(desc) ||
	    fread(desc, 1, head.desc_bytes, file) != head.desc_bytes) {
		DOCA_LOG_ERR("%s is no descriptor file, or damaged", path);
		return DOCA_ERROR_INVALID_VALUE;
	}
	remote->addr = (uint8_t *)(uintptr_t)head.addr;
	remote->len_bytes = head.len_bytes;
	return app_check(doca_mmap_create_from_export(NULL, desc, head.desc_bytes, dev, &remote->mmap),
			 "import the other process's memory");
}

doca_error_t desc_file_import(const char *path, uint32_t timeout_s, struct doca_dev *dev, struct remote *ret_remote)
{
	FILE *file = wait_for_file(path, timeout_s);
	struct remote remote = { 0 };
	doca_error_t result;

	if (!file)
		return DOCA_ERROR_NOT_FOUND;
	result = import(file, path, dev, &remote);
	fclose(file);
	if (result == DOCA_SUCCESS)
		*ret_remote = remote;
	return result;
}

void remote_release(struct remote *remote)
{
	if (remote->mmap)
		app_check(doca_mmap_destroy(remote->mmap), "let go of the other process's memory");
	remote->mmap = NULL;
}
