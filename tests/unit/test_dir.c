/* SPDX-License-Identifier: BSD-3-Clause */
/* A session's directory: its owner, and how the daemon's socket is found in it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dir_fixture.h"
#include "first_fd.h"

#define LONG_NAME "a-name-of-fifty-characters-that-goes-on-and-on-and-"

static bool is_empty(const struct fixture *f)
{
	DIR *dir = fdopendir(dup(f->fd));
	int count = 0;

	rewinddir(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count == 2; /* . and .. */
}

static void test_a_directory_is_made_only_when_asked_for(void **state)
{
	struct fixture *f = *state;
	char path[96];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/new", f->path);
	assert_int_equal(sim_session_dir_open(path, false), -ENOENT);
	fd = sim_session_dir_open(path, true);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	close(fd);
	snprintf(path, sizeof(path), "%s/no/such", f->path);
	assert_int_equal(sim_session_dir_open(path, true), -ENOENT);
}

static void test_a_file_is_no_directory(void **state)
{
	struct fixture *f = *state;
	char path[96];

	assert_int_equal(sim_session_dir_write(f->fd, "file", "x", 1), 0);
	snprintf(path, sizeof(path), "%s/file", f->path);
	assert_int_equal(sim_session_dir_open(path, true), -ENOTDIR);
}

static void test_one_at_a_time_holds_the_lock(void **state)
{
	struct fixture *f = *state;
	int lock = sim_session_dir_lock(f->fd), next;

	assert_true(lock >= 0);
	assert_true(sim_session_dir_is_live(f->fd));
	assert_int_equal(sim_session_dir_lock(f->fd), -EBUSY);
	close(lock);
	assert_false(sim_session_dir_is_live(f->fd));
	next = sim_session_dir_lock(f->fd);
	assert_true(next >= 0);
	close(next);
}

static void test_the_lock_of_a_dead_process_is_free(void **state)
{
	struct fixture *f = *state;
	pid_t pid = fork();
	int lock;

	if (pid == 0)
		_exit(sim_session_dir_lock(f->fd) >= 0 ? 0 : 1);
	assert_int_equal(waitpid(pid, &lock, 0), pid);
	assert_int_equal(lock, 0);
	assert_true(has(f, "lock"));
	assert_false(sim_session_dir_is_live(f->fd));
	lock = sim_session_dir_lock(f->fd);
	assert_true(lock >= 0);
	close(lock);
}

/* Two concurrent readers get the same answer, and a daemon may start meanwhile. */
static void test_looking_takes_nothing(void **state)
{
	struct fixture *f = *state;
	int lock = sim_session_dir_lock(f->fd), looking;

	close(lock);
	looking = openat(f->fd, "lock", O_RDWR | O_CLOEXEC);
	flock(looking, LOCK_EX | LOCK_NB); /* as a reader that takes the lock */
	assert_false(sim_session_dir_is_live(f->fd));
	lock = sim_session_dir_lock(f->fd);
	assert_true(lock >= 0);
	close(lock);
	close(looking);
}

/* A daemon that ends removes the lock file. A process that opened it before and gets its lock afterwards holds
 * nothing: a third process may create the name anew. The child ends sessions all the time; the lock that this
 * process takes must be of the file that has the name. */
static void test_the_lock_held_is_the_one_that_has_the_name(void **state)
{
	struct fixture *f = *state;
	int lowest = lowest_free_fd(), status, taken = 0;
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < 3000; i++) {
			int lock = sim_session_dir_lock(f->fd);

			if (lock >= 0) {
				sim_session_dir_remove_files(f->fd);
				close(lock);
			}
		}
		_exit(0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct stat held, named;
		int lock = sim_session_dir_lock(f->fd);

		if (lock < 0)
			continue;
		assert_int_equal(fstat(lock, &held), 0);
		assert_int_equal(fstatat(f->fd, "lock", &named, 0), 0);
		assert_int_equal(held.st_ino, named.st_ino);
		taken++;
		sim_session_dir_remove_files(f->fd);
		close(lock);
	}
	assert_int_equal(status, 0);
	assert_true(taken > 0);
	assert_int_equal(lowest_free_fd(), lowest);
}

static void test_a_socket_is_found_through_its_directory(void **state)
{
	struct fixture *f = *state;
	int lock = sim_session_dir_lock(f->fd), listening, there, here;
	char byte = 'x';

	assert_int_equal(sim_session_dir_connect(f->fd), -ENOENT);
	assert_false(sim_session_dir_has_socket(f->fd));
	listening = sim_session_dir_listen(f->fd);
	assert_true(listening >= 0);
	assert_true(sim_session_dir_has_socket(f->fd));
	there = sim_session_dir_connect(f->fd);
	assert_true(there >= 0);
	here = accept(listening, NULL, NULL);
	assert_int_equal(send(there, &byte, 1, 0), 1);
	assert_int_equal(recv(here, &byte, 1, 0), 1);
	close(here);
	close(there);
	close(listening);
	assert_int_equal(sim_session_dir_connect(f->fd), -ECONNREFUSED);
	close(lock);
}

/* A socket's address has room for 107 characters; this path has over 200. */
static void test_a_path_longer_than_a_socket_address_works(void **state)
{
	struct fixture *f = *state;
	char path[320];
	int fd, lock, listening, there;

	snprintf(path, sizeof(path), "%s/" LONG_NAME LONG_NAME LONG_NAME LONG_NAME, f->path);
	fd = sim_session_dir_open(path, true);
	assert_true(fd >= 0);
	lock = sim_session_dir_lock(fd);
	listening = sim_session_dir_listen(fd);
	assert_true(listening >= 0);
	there = sim_session_dir_connect(fd);
	assert_true(there >= 0);
	close(there);
	close(listening);
	sim_session_dir_remove_files(fd);
	close(lock);
	close(fd);
	assert_int_equal(rmdir(path), 0);
}

static void test_a_stale_socket_is_replaced(void **state)
{
	struct fixture *f = *state;
	int lock = sim_session_dir_lock(f->fd), listening = sim_session_dir_listen(f->fd);

	close(listening); /* as after SIGKILL: the socket's file remains */
	close(lock);
	assert_true(has(f, "bfsimd.sock"));
	lock = sim_session_dir_lock(f->fd);
	listening = sim_session_dir_listen(f->fd);
	assert_true(listening >= 0);
	close(listening);
	close(lock);
}

static void test_cleaning_leaves_an_empty_directory(void **state)
{
	struct fixture *f = *state;
	int lock = sim_session_dir_lock(f->fd), listening = sim_session_dir_listen(f->fd), half;

	assert_int_equal(sim_session_dir_write(f->fd, "topology.yaml", "x", 1), 0);
	assert_int_equal(sim_session_dir_write(f->fd, "bfsimd.log", "x", 1), 0);
	half = openat(f->fd, "topology.yaml.new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600); /* of a writer that died */
	close(half);
	sim_session_dir_remove_files(f->fd);
	assert_true(is_empty(f));
	close(listening);
	close(lock);
}

static void test_a_file_is_written_whole_and_read_back(void **state)
{
	enum { LEN = 100000 };
	struct fixture *f = *state;
	char *text = test_malloc(LEN), *got;
	size_t len;

	memset(text, 'y', LEN);
	assert_int_equal(sim_session_dir_write(f->fd, "file", "old", 3), 0);
	assert_int_equal(sim_session_dir_write(f->fd, "file", text, LEN), 0);
	assert_int_equal(sim_session_dir_read(f->fd, "file", &got, &len), 0);
	assert_int_equal(len, LEN);
	assert_memory_equal(got, text, LEN);
	assert_int_equal(got[LEN], '\0');
	assert_false(has(f, "file.new"));
	free(got);
	test_free(text);
}

static void test_an_empty_file_is_an_empty_text(void **state)
{
	struct fixture *f = *state;
	char *got;
	size_t len;

	assert_int_equal(sim_session_dir_write(f->fd, "file", "", 0), 0);
	assert_int_equal(sim_session_dir_read(f->fd, "file", &got, &len), 0);
	assert_int_equal(len, 0);
	assert_string_equal(got, "");
	free(got);
}

/* A file of /proc has size 0 and contents; so has a pipe. */
static void test_a_file_without_a_size_is_read_to_its_end(void **state)
{
	char *got;
	size_t len;

	assert_int_equal(sim_session_dir_read(AT_FDCWD, "/proc/self/status", &got, &len), 0);
	assert_true(len > 0);
	assert_int_equal(strlen(got), len);
	free(got);
}

static void test_what_cannot_be_read_says_why(void **state)
{
	struct fixture *f = *state;
	char *got = NULL;
	size_t len;

	assert_int_equal(sim_session_dir_read(f->fd, "none", &got, &len), -ENOENT);
	assert_int_equal(sim_session_dir_read(f->fd, ".", &got, &len), -EISDIR);
	assert_int_equal(sim_session_dir_read(AT_FDCWD, "/dev/zero", &got, &len), -ENODEV);
	assert_null(got);
}

/* 16 MiB, and a byte more. */
static void test_file_without_end_is_refused(void **state)
{
	struct fixture *f = *state;
	int file = openat(f->fd, "large", O_RDWR | O_CREAT, 0600);
	char *text;
	size_t len;

	assert_int_equal(ftruncate(file, 16 << 20), 0);
	assert_int_equal(sim_session_dir_read(f->fd, "large", &text, &len), 0);
	assert_int_equal(len, 16 << 20);
	free(text);
	assert_int_equal(ftruncate(file, (16 << 20) + 1), 0);
	assert_int_equal(sim_session_dir_read(f->fd, "large", &text, &len), -EFBIG);
	close(file);
}

static void test_the_default_is_the_users_own(void **state)
{
	char path[64], long_one[PATH_MAX];

	setenv("BFSIM_SESSION", "/a/session", 1);
	assert_int_equal(sim_session_dir_default(path, sizeof(path)), 0);
	assert_string_equal(path, "/a/session");
	setenv("BFSIM_SESSION", "", 1);
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	assert_int_equal(sim_session_dir_default(path, sizeof(path)), 0);
	assert_string_equal(path, "/run/user/7/bfsim");
	unsetenv("XDG_RUNTIME_DIR");
	assert_int_equal(sim_session_dir_default(path, sizeof(path)), 0);
	assert_ptr_equal(strstr(path, "/tmp/bfsim-"), path);
	memset(long_one, 'x', sizeof(long_one) - 1);
	long_one[sizeof(long_one) - 1] = '\0';
	setenv("BFSIM_SESSION", long_one, 1);
	assert_int_equal(sim_session_dir_default(path, sizeof(path)), -ENAMETOOLONG);
	setenv("BFSIM_SESSION", "/seven!", 1);
	assert_int_equal(sim_session_dir_default(path, 7), -ENAMETOOLONG);
	assert_int_equal(sim_session_dir_default(path, 8), 0);
	unsetenv("BFSIM_SESSION");
}

static void test_errors_of_a_directory_say_what_to_do(void **state)
{
	assert_non_null(strstr(sim_session_dir_strerror(-EPERM), "another user's"));
	assert_non_null(strstr(sim_session_dir_strerror(-EACCES), "another user's"));
	assert_non_null(strstr(sim_session_dir_strerror(-ELOOP), "which somebody else made"));
	assert_non_null(strstr(sim_session_dir_strerror(-ENODEV), "plain file"));
	assert_string_equal(sim_session_dir_strerror(-ENOENT), strerror(ENOENT));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_directory_is_made_only_when_asked_for),
		TEST(test_a_file_is_no_directory),
		TEST(test_one_at_a_time_holds_the_lock),
		TEST(test_the_lock_of_a_dead_process_is_free),
		TEST(test_looking_takes_nothing),
		TEST(test_the_lock_held_is_the_one_that_has_the_name),
		TEST(test_a_socket_is_found_through_its_directory),
		TEST(test_a_path_longer_than_a_socket_address_works),
		TEST(test_a_stale_socket_is_replaced),
		TEST(test_cleaning_leaves_an_empty_directory),
		TEST(test_a_file_is_written_whole_and_read_back),
		TEST(test_an_empty_file_is_an_empty_text),
		TEST(test_a_file_without_a_size_is_read_to_its_end),
		TEST(test_what_cannot_be_read_says_why),
		TEST(test_file_without_end_is_refused),
		TEST(test_the_default_is_the_users_own),
		TEST(test_errors_of_a_directory_say_what_to_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
