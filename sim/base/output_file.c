/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing beside, and renaming. */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns 0 with the descriptor in *ret_fd, and "" in file->temporary if that is the file itself; or -errno. */
static int open_beside(struct sim_output_file *file, int *ret_fd)
{
	int len = snprintf(file->temporary, sizeof(file->temporary), "%s.%d.tmp", file->path, getpid());

	if (len >= (int)sizeof(file->temporary))
		return -ENAMETOOLONG;
	*ret_fd = open(file->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	return *ret_fd < 0 ? -errno : 0;
}

static int open_in_place(struct sim_output_file *file, int *ret_fd)
{
	file->temporary[0] = '\0';
	*ret_fd = open(file->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return *ret_fd < 0 ? -errno : 0;
}

enum place { NOTHING_YET, ORDINARY_FILE, OTHER };

/* Returns 0, or -errno if what is at the path can't be written to. */
static int look_at(const char *path, enum place *ret_place)
{
	struct stat info;

	*ret_place = NOTHING_YET;
	if (lstat(path, &info) < 0)
		return 0;
	*ret_place = S_ISREG(info.st_mode) ? ORDINARY_FILE : OTHER;
	if (S_ISLNK(info.st_mode) && stat(path, &info) < 0)
		return 0; /* what the link leads to can be made */
	if (S_ISDIR(info.st_mode))
		return -EISDIR;
	return access(path, W_OK) < 0 ? -errno : 0;
}

static int open_fd(struct sim_output_file *file, int *ret_fd)
{
	enum place place;
	int rc = look_at(file->path, &place);

	if (rc < 0)
		return rc;
	if (place == OTHER)
		return open_in_place(file, ret_fd);
	rc = open_beside(file, ret_fd);
	return rc < 0 && place == ORDINARY_FILE ? open_in_place(file, ret_fd) : rc;
}

int sim_output_file_check(const char *path)
{
	struct sim_output_file file;
	enum place place;
	int fd, rc = look_at(path, &place);

	if (rc < 0 || place != NOTHING_YET)
		return rc;
	if ((size_t)snprintf(file.path, sizeof(file.path), "%s", path) >= sizeof(file.path))
		return -ENAMETOOLONG;
	rc = open_beside(&file, &fd);
	if (rc < 0)
		return rc;
	close(fd);
	unlink(file.temporary);
	return 0;
}

int sim_output_file_open(const char *path, struct sim_output_file *ret_file)
{
	int fd, rc;

	if ((size_t)snprintf(ret_file->path, sizeof(ret_file->path), "%s", path) >= sizeof(ret_file->path))
		return -ENAMETOOLONG;
	rc = open_fd(ret_file, &fd);
	if (rc < 0)
		return rc;
	ret_file->stream = fdopen(fd, "w");
	if (ret_file->stream)
		return 0;
	rc = -errno;
	close(fd);
	if (ret_file->temporary[0])
		unlink(ret_file->temporary);
	return rc;
}

/* A file that is mounted by itself, as into a container, can't be renamed over. */
static int copy_into_place(const struct sim_output_file *file)
{
	int in = open(file->temporary, O_RDONLY | O_CLOEXEC);
	int out = in < 0 ? -1 : open(file->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	ssize_t moved = out < 0 ? -1 : 1;
	int rc;

	while (moved > 0)
		moved = sendfile(out, in, NULL, 1 << 20);
	rc = moved < 0 ? -errno : 0;
	if (out >= 0 && close(out) < 0 && rc == 0)
		rc = -errno;
	if (in >= 0)
		close(in);
	return rc;
}

static int put_in_place(const struct sim_output_file *file)
{
	int rc = rename(file->temporary, file->path) < 0 ? -errno : 0;

	if (rc == -EBUSY)
		rc = copy_into_place(file);
	if (rc != 0 || access(file->temporary, F_OK) == 0)
		unlink(file->temporary);
	return rc;
}

int sim_output_file_close(struct sim_output_file *file)
{
	bool failed = fflush(file->stream) != 0 || ferror(file->stream);
	int rc = failed ? (errno ? -errno : -EIO) : 0;

	if (fclose(file->stream) != 0 && rc == 0)
		rc = errno ? -errno : -EIO;
	if (!file->temporary[0])
		return rc;
	if (rc == 0)
		return put_in_place(file);
	unlink(file->temporary);
	return rc;
}

void sim_output_file_abort(struct sim_output_file *file)
{
	fclose(file->stream);
	if (file->temporary[0])
		unlink(file->temporary);
}
