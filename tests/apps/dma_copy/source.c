/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that is read. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failure.h"
#include "file.h"

static doca_error_t examine(const struct source *source, struct message_hello *ret_offer)
{
	struct stat status;

	if (fstat(source->fd, &status) < 0)
		return failure_report_errno("examine", source->path);
	if (!S_ISREG(status.st_mode))
		return failure_report(DOCA_ERROR_INVALID_VALUE, "%s is no regular file, and only those can be copied",
				      source->path);
	*ret_offer = (struct message_hello){
		.has_file = true,
		.mode = status.st_mode & 0777,
		.size_bytes = (uint64_t)status.st_size,
	};
	return DOCA_SUCCESS;
}

doca_error_t source_open(const char *path, struct source *ret_source, struct message_hello *ret_offer)
{
	/* A FIFO without a writer must not block us. */
	struct source source = { .fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), .path = path };
	doca_error_t result;

	if (source.fd < 0 && errno != ENOENT)
		return failure_report_errno("open", path);
	if (source.fd < 0) {
		*ret_source = source;
		*ret_offer = (struct message_hello){ .has_file = false };
		return DOCA_SUCCESS;
	}
	result = examine(&source, ret_offer);
	if (result == DOCA_SUCCESS)
		*ret_source = source;
	else
		close(source.fd);
	return result;
}

doca_error_t source_read(struct source *source, void *bytes, size_t len)
{
	uint8_t *next = bytes;

	while (len > 0) {
		ssize_t got = read(source->fd, next, len);

		if (got == 0)
			return failure_report(DOCA_ERROR_IO_FAILED, "%s has become shorter while it was sent",
					      source->path);
		if (got < 0 && errno != EINTR)
			return failure_report_errno("read", source->path);
		if (got > 0) {
			next += got;
			len -= (size_t)got;
		}
	}
	return DOCA_SUCCESS;
}

void source_close(struct source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	source->fd = -1;
}
