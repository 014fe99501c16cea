/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptors that calls on a session's directory return or use, and files that can't be written whole. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dir_fixture.h"
#include "first_fd.h"
#include "under_valgrind.h"

/* Each call gets number 0; what lasts moves elsewhere. */
static void test_first_descriptor_is_as_good_as_any(void **state)
{
	struct fixture *f = *state;
	int input = close_input(), lock, listening, got[8], written, read;
	bool is_live;
	char *text = NULL;
	size_t len;

	close(got[0] = sim_session_dir_open(f->path, false));
	got[1] = sim_session_dir_lock(f->fd);
	lock = fcntl(got[1], F_DUPFD, 3);
	close(got[1]);
	is_live = sim_session_dir_is_live(f->fd);
	for (int i = 2; i < 4; i++) /* a new log, and the log that is there */
		close(got[i] = sim_session_dir_open_log(f->fd));
	got[4] = sim_session_dir_listen(f->fd);
	listening = fcntl(got[4], F_DUPFD, 3);
	close(got[4]);
	close(got[5] = sim_session_dir_connect(f->fd));
	close(got[6] = sim_session_dir_watch(f->fd));
	written = sim_session_dir_write(f->fd, "file", "x", 1);
	read = sim_session_dir_read(f->fd, "file", &text, &len);
	got[7] = lowest_free_fd();
	restore_input(input);
	for (int i = 0; i < 8; i++)
		assert_int_equal(got[i], 0);
	assert_true(is_live);
	assert_int_equal(written, 0);
	assert_int_equal(read, 0);
	free(text);
	close(listening);
	close(lock);
}

static void test_started_programs_get_no_descriptor(void **state)
{
	struct fixture *f = *state;
	int fds[7];

	fds[0] = sim_session_dir_open(f->path, false);
	fds[1] = sim_session_dir_lock(f->fd);
	fds[2] = sim_session_dir_open_log(f->fd); /* new */
	fds[3] = sim_session_dir_open_log(f->fd); /* there already */
	fds[4] = sim_session_dir_listen(f->fd);
	fds[5] = sim_session_dir_connect(f->fd);
	fds[6] = sim_session_dir_watch(f->fd);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		assert_int_equal(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
		close(fds[i]);
	}
}

static void test_calls_leave_no_descriptor(void **state)
{
	struct fixture *f = *state;
	int before = lowest_free_fd(), log, lock;
	char *text;
	size_t len;

	errno = EEXIST; /* of an earlier call */
	log = sim_session_dir_open_log(f->fd);
	assert_int_equal(log, before);
	close(log);
	assert_int_equal(sim_session_dir_connect(f->fd), -ENOENT);
	assert_int_equal(sim_session_dir_read(f->fd, ".", &text, &len), -EISDIR);
	assert_int_equal(unlinkat(f->fd, "bfsimd.log", 0), 0);
	assert_int_equal(mkfifoat(f->fd, "bfsimd.log", 0600), 0);
	assert_int_equal(sim_session_dir_open_log(f->fd), -EPERM);
	lock = sim_session_dir_lock(f->fd);
	assert_int_equal(lock, before);
	assert_int_equal(sim_session_dir_lock(f->fd), -EBUSY);
	assert_true(sim_session_dir_is_live(f->fd));
	assert_int_equal(sim_session_dir_watch(-1), -ENOENT);
	assert_int_equal(sim_session_dir_write(f->fd, "file", "x", 1), 0);
	assert_int_equal(sim_session_dir_read(f->fd, "file", &text, &len), 0);
	free(text);
	assert_int_equal(lowest_free_fd(), before + 1);
	close(lock);
}

static void test_log_in_a_directory_that_is_gone_has_no_place(void **state)
{
	struct fixture *f = *state;
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/gone", f->path);
	fd = sim_session_dir_open(path, true);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(sim_session_dir_open_log(fd), -ENOENT);
	close(fd);
}

static void test_watch_tells_of_a_file_that_goes(void **state)
{
	struct fixture *f = *state;
	struct rlimit limit, none;
	char event[sizeof(struct inotify_event) + NAME_MAX + 1];
	int watch = sim_session_dir_watch(f->fd), rc;

	assert_true(watch >= 0);
	assert_int_equal(sim_session_dir_write(f->fd, "file", "x", 1), 0);
	while (read(watch, event, sizeof(event)) > 0)
		;
	assert_int_equal(unlinkat(f->fd, "file", 0), 0);
	assert_true(read(watch, event, sizeof(event)) > 0);
	close(watch);
	if (RUNNING_ON_VALGRIND) /* it lets the program have more */
		return;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	rc = sim_session_dir_watch(f->fd);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(rc, -EMFILE);
}

/* A disk that is full, here a file's limit, leaves the file that was there. */
static void test_file_that_cannot_be_written_whole_stays_as_it_was(void **state)
{
	struct fixture *f = *state;
	struct rlimit limit, small;
	size_t len = 0;
	char *text;
	int rc;

	assert_int_equal(sim_session_dir_write(f->fd, "file", "old", 3), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = (struct rlimit){ 4, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	rc = sim_session_dir_write(f->fd, "file", "longer", 6);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(rc, -EFBIG);
	assert_int_equal(sim_session_dir_read(f->fd, "file", &text, &len), 0);
	assert_string_equal(text, "old");
	free(text);
	assert_false(has(f, "file.new"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_first_descriptor_is_as_good_as_any),
		TEST(test_started_programs_get_no_descriptor),
		TEST(test_calls_leave_no_descriptor),
		TEST(test_log_in_a_directory_that_is_gone_has_no_place),
		TEST(test_watch_tells_of_a_file_that_goes),
		TEST(test_file_that_cannot_be_written_whole_stays_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
