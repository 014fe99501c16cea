/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that is written: a temporary file until the copy is complete. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failure.h"
#include "file.h"

/* The directory that @path is in, for the caller to free. */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static doca_error_t create_named(const char *directory, struct target *target)
{
	if (asprintf(&target->temporary, "%s/.dma_copy.XXXXXX", directory) < 0) {
		target->temporary = NULL;
		return failure_report(DOCA_ERROR_NO_MEMORY, "No memory for a file name");
	}
	target->fd = mkostemp(target->temporary, O_CLOEXEC);
	if (target->fd >= 0)
		return DOCA_SUCCESS;
	failure_report_errno("create", target->temporary);
	free(target->temporary);
	target->temporary = NULL;
	return DOCA_ERROR_IO_FAILED;
}

/* File systems without nameless files report that in one of three ways. */
static doca_error_t create_in(const char *directory, struct target *target)
{
	target->fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (target->fd >= 0)
		return DOCA_SUCCESS;
	if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)
		return create_named(directory, target);
	return failure_report_errno("create a file in", directory);
}

doca_error_t target_create(const char *path, struct target *ret_target)
{
	struct target target = { .fd = -1, .path = path };
	char *directory = directory_of(path);
	doca_error_t result;

	if (!directory)
		return failure_report(DOCA_ERROR_NO_MEMORY, "No memory for a file name");
	result = create_in(directory, &target);
	free(directory);
	if (result == DOCA_SUCCESS)
		*ret_target = target;
	return result;
}

doca_error_t target_write(struct target *target, const void *bytes, size_t len)
{
	const uint8_t *next = bytes;

	while (len > 0) {
		ssize_t put = write(target->fd, next, len);

		if (put < 0 && errno != EINTR)
			return failure_report_errno("write", target->path);
		if (put > 0) {
			next += put;
			len -= (size_t)put;
		}
	}
	return DOCA_SUCCESS;
}

static int link_nameless(const struct target *target)
{
	char itself[32];

	snprintf(itself, sizeof(itself), "/proc/self/fd/%d", target->fd);
	return linkat(AT_FDCWD, itself, AT_FDCWD, target->path, AT_SYMLINK_FOLLOW);
}

/* Not every file system can refuse to replace; there, the check at the start is all. */
static int rename_named(struct target *target)
{
	int rc = renameat2(AT_FDCWD, target->temporary, AT_FDCWD, target->path, RENAME_NOREPLACE);

	if (rc < 0 && (errno == EINVAL || errno == ENOSYS))
		rc = rename(target->temporary, target->path);
	if (rc < 0)
		return rc;
	free(target->temporary);
	target->temporary = NULL;
	return 0;
}

doca_error_t target_commit(struct target *target, uint32_t mode)
{
	if (fchmod(target->fd, mode & 0777) < 0)
		return failure_report_errno("set the permissions of", target->path);
	if (fsync(target->fd) < 0)
		return failure_report_errno("write", target->path);
	if ((target->temporary ? rename_named(target) : link_nameless(target)) < 0)
		return failure_report_errno("create", target->path);
	return DOCA_SUCCESS;
}

void target_discard(struct target *target)
{
	if (target->temporary)
		unlink(target->temporary);
	free(target->temporary);
	target->temporary = NULL;
	if (target->fd >= 0)
		close(target->fd);
	target->fd = -1;
}
