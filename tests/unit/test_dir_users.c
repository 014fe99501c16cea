/* SPDX-License-Identifier: BSD-3-Clause */
/* A session's directory against other users: planted links and files, owners, modes, sharing with a group. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dir_fixture.h"
#include "first_fd.h"

static int users_teardown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(seteuid(getuid()), 0); /* a test may have failed as another user */
	sim_session_dir_remove_files(f->fd);
	unlinkat(f->fd, "victim", 0);
	assert_int_equal(proc_num_files(f->path), 0);
	return teardown(state);
}

static void write_victim(const struct fixture *f)
{
	assert_int_equal(sim_session_dir_write(f->fd, "victim", "precious", 8), 0);
}

static void expect_victim(const struct fixture *f)
{
	char *got;
	size_t len;

	assert_int_equal(sim_session_dir_read(f->fd, "victim", &got, &len), 0);
	assert_string_equal(got, "precious");
	free(got);
}

static void test_planted_links_are_not_followed(void **state)
{
	struct fixture *f = *state;
	char *got;
	size_t len;
	int lock;

	write_victim(f);
	assert_int_equal(symlinkat("victim", f->fd, "topology.yaml.new"), 0);
	assert_int_equal(sim_session_dir_write(f->fd, "topology.yaml", "x", 1), 0);
	unlinkat(f->fd, "topology.yaml", 0);
	assert_int_equal(symlinkat("victim", f->fd, "topology.yaml"), 0);
	assert_int_equal(sim_session_dir_read(f->fd, "topology.yaml", &got, &len), -ELOOP);
	assert_int_equal(sim_session_dir_write(f->fd, "topology.yaml", "x", 1), 0); /* replaces the link */
	assert_int_equal(symlinkat("victim", f->fd, "lock"), 0);
	assert_int_equal(sim_session_dir_lock(f->fd), -ELOOP);
	assert_false(sim_session_dir_is_live(f->fd));
	assert_int_equal(unlinkat(f->fd, "lock", 0), 0);
	lock = sim_session_dir_lock(f->fd);
	assert_int_equal(renameat(f->fd, "lock", f->fd, "locked"), 0);
	assert_int_equal(symlinkat("locked", f->fd, "lock"), 0);
	assert_false(sim_session_dir_is_live(f->fd));
	assert_int_equal(unlinkat(f->fd, "locked", 0), 0);
	close(lock);
	assert_int_equal(symlinkat("victim", f->fd, "bfsimd.log"), 0);
	assert_int_equal(sim_session_dir_open_log(f->fd), -ELOOP);
	expect_victim(f);
}

static void test_planted_pipe_does_not_block_a_reader(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkfifoat(f->fd, "lock", 0600), 0);
	assert_int_equal(sim_session_dir_lock(f->fd), -EPERM);
	assert_false(sim_session_dir_is_live(f->fd));
}

static void test_files_are_the_users_alone_whatever_the_mask(void **state)
{
	static const char *const names[] = { "lock", "bfsimd.sock", "topology.yaml", "bfsimd.log" };
	struct fixture *f = *state;
	mode_t mask = umask(0);
	int lock = sim_session_dir_lock(f->fd), listening = sim_session_dir_listen(f->fd);
	int log = sim_session_dir_open_log(f->fd);
	struct stat st;

	assert_int_equal(sim_session_dir_write(f->fd, "topology.yaml", "x", 1), 0);
	umask(mask);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(fstatat(f->fd, names[i], &st, 0), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
	}
	close(log);
	close(listening);
	close(lock);
}

#define OWNER  12345 /* numbers that no account needs to have */
#define MEMBER 23456
#define GROUP  34567

static void need_root(void)
{
	if (geteuid() != 0) {
		print_message("only root can take other users' places\n");
		skip();
	}
}

/* What @attempt returns in a process of that user and group: 0 or -errno, or a descriptor as 0. A refusal that leaves a
 * descriptor open is -EMFILE. */
static int as_user(uid_t user, gid_t group, int (*attempt)(const struct fixture *f), const struct fixture *f)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		int lowest = lowest_free_fd();
		int rc = setgroups(0, NULL) < 0 || setgid(group) < 0 || setuid(user) < 0 ? -EINVAL : attempt(f);

		if (rc < 0 && lowest_free_fd() != lowest)
			rc = -EMFILE;
		_exit(rc < 0 ? -rc : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

static int try_open(const struct fixture *f)
{
	return sim_session_dir_open(f->path, false);
}

static int try_lock(const struct fixture *f)
{
	return sim_session_dir_lock(f->fd);
}

static int try_connect(const struct fixture *f)
{
	return sim_session_dir_connect(f->fd);
}

static int try_read(const struct fixture *f)
{
	char *text;
	size_t len;
	int rc = sim_session_dir_read(f->fd, "topology.yaml", &text, &len);

	if (rc == 0)
		free(text);
	return rc;
}

/* Write the files of a session, and leave the name of a socket that nobody listens at any more. */
static int try_plant(const struct fixture *f)
{
	int rc = sim_session_dir_write(f->fd, "topology.yaml", "x", 1);

	return rc < 0 ? rc : sim_session_dir_listen(f->fd);
}

static void test_directory_of_another_user_is_refused(void **state)
{
	struct fixture *f = *state;

	need_root();
	assert_int_equal(fchown(f->fd, OWNER, OWNER), 0);
	assert_int_equal(fchmod(f->fd, 0777), 0);
	assert_int_equal(as_user(OWNER, OWNER, try_open, f), 0);
	assert_int_equal(as_user(MEMBER, OWNER, try_open, f), -EPERM);
	assert_int_equal(as_user(MEMBER, OWNER, try_lock, f), -EPERM);
	assert_int_equal(try_lock(f), -EPERM); /* root writes no session there */
	assert_false(has(f, "lock"));
}

static void expect_shared(const struct fixture *f, const char *name, mode_t mode)
{
	struct stat st;

	assert_int_equal(fstatat(f->fd, name, &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, mode);
	assert_int_equal(st.st_gid, GROUP);
}

static void test_session_that_is_shared_opens_to_the_group(void **state)
{
	struct fixture *f = *state;
	int lock, listening;

	need_root();
	assert_int_equal(fchown(f->fd, OWNER, OWNER), 0);
	assert_int_equal(seteuid(OWNER), 0);
	lock = sim_session_dir_lock(f->fd);
	listening = sim_session_dir_listen(f->fd);
	close(sim_session_dir_open_log(f->fd));
	assert_int_equal(sim_session_dir_write(f->fd, "topology.yaml", "x", 1), 0);
	assert_int_equal(sim_session_dir_share(f->fd, GROUP), -EPERM); /* it is not in the group */
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(sim_session_dir_share(f->fd, GROUP), 0);
	assert_int_equal(as_user(MEMBER, GROUP, try_open, f), 0);
	assert_int_equal(as_user(MEMBER, GROUP, try_read, f), 0);
	expect_shared(f, "lock", 0640);
	expect_shared(f, "topology.yaml", 0640);
	expect_shared(f, "bfsimd.log", 0640);
	expect_shared(f, "bfsimd.sock", 0660);
	assert_int_equal(as_user(MEMBER, GROUP, try_lock, f), -EPERM);
	assert_int_equal(as_user(MEMBER, MEMBER, try_open, f), -EACCES);
	close(listening);
	close(lock);
}

/* Everybody may write to the directory, as to a volume of several containers. */
static void test_what_another_user_planted_is_refused(void **state)
{
	struct fixture *f = *state;
	char *text;
	size_t len;

	need_root();
	assert_int_equal(fchmod(f->fd, 0777), 0);
	assert_int_equal(as_user(OWNER, OWNER, try_plant, f), 0);
	assert_int_equal(as_user(OWNER, OWNER, try_read, f), 0);
	assert_int_equal(fchmodat(f->fd, "topology.yaml", 0666, 0), 0);
	assert_int_equal(as_user(MEMBER, MEMBER, try_read, f), -EPERM);
	assert_int_equal(sim_session_dir_read(f->fd, "topology.yaml", &text, &len), -EPERM);
	assert_int_equal(as_user(OWNER, OWNER, try_lock, f), 0);
	assert_int_equal(fchmodat(f->fd, "lock", 0666, 0), 0);
	assert_int_equal(as_user(MEMBER, MEMBER, try_lock, f), -EPERM); /* the lock is the first one's */
	assert_int_equal(try_lock(f), -EPERM);
	assert_int_equal(fchmodat(f->fd, "lock", 0600, 0), 0);
	assert_int_equal(as_user(MEMBER, MEMBER, try_lock, f), -EACCES);
}

static void test_daemon_of_another_user_is_refused(void **state)
{
	struct fixture *f = *state;
	int listening;

	need_root();
	assert_int_equal(fchmod(f->fd, 0777), 0);
	assert_int_equal(seteuid(OWNER), 0);
	listening = sim_session_dir_listen(f->fd);
	assert_int_equal(seteuid(0), 0);
	assert_true(listening >= 0);
	assert_int_equal(fchmodat(f->fd, "bfsimd.sock", 0666, 0), 0);
	assert_int_equal(as_user(OWNER, OWNER, try_connect, f), 0);
	assert_int_equal(as_user(MEMBER, MEMBER, try_connect, f), -EPERM);
	close(listening);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, users_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_planted_links_are_not_followed),
		TEST(test_planted_pipe_does_not_block_a_reader),
		TEST(test_files_are_the_users_alone_whatever_the_mask),
		TEST(test_directory_of_another_user_is_refused),
		TEST(test_session_that_is_shared_opens_to_the_group),
		TEST(test_what_another_user_planted_is_refused),
		TEST(test_daemon_of_another_user_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
