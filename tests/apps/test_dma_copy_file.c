/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of DMA Copy: what is sent, what is made of what arrives, and that
 * nothing is left of what failed.
 *
 *   test_dma_copy_file           files have no name until they are committed
 *   test_dma_copy_file named     the file system can't do that
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "dma_copy/file.h"

static bool named; /* refuse O_TMPFILE, as many file systems do */
static char directory[] = "/tmp/dma_copy.XXXXXX";

/* The build may name the call either way, by the size of its file offsets. */
int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode);
int __wrap_open64(const char *path, int flags, mode_t mode);

int __wrap_open(const char *path, int flags, mode_t mode)
{
	if (named && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return __real_open(path, flags, mode);
}

int __wrap_open64(const char *path, int flags, mode_t mode)
{
	return __wrap_open(path, flags, mode);
}

/* A path in the test's directory, valid until the third call after this one. */
static const char *in(const char *name)
{
	static char paths[4][320];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

static void make(const char *name, const char *text)
{
	FILE *file = fopen(in(name), "w");

	assert_non_null(file);
	assert_int_not_equal(fputs(text, file), EOF);
	assert_int_equal(fclose(file), 0);
}

static void expect_text(const char *name, const char *wanted)
{
	char text[64] = "";
	FILE *file = fopen(in(name), "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(text, wanted);
}

/* Files in the test's directory, hidden ones too; the test's end removes them. */
static unsigned int num_files(bool removing)
{
	unsigned int num = 0;
	DIR *dir = opendir(directory);
	struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		num++;
		if (removing)
			remove(in(entry->d_name));
	}
	closedir(dir);
	return num;
}

static int tear_down(void **state)
{
	num_files(true);
	return 0;
}

static void test_committed_file_has_name_bytes_and_mode(void **state)
{
	struct target target;
	struct stat status;

	assert_int_equal(target_create(in("new"), &target), DOCA_SUCCESS);
	assert_int_equal(target_write(&target, "seven ", 6), DOCA_SUCCESS);
	assert_int_equal(target_write(&target, "bytes", 5), DOCA_SUCCESS);
	assert_int_equal(target_commit(&target, 0751), DOCA_SUCCESS);
	target_discard(&target);
	assert_int_equal(num_files(false), 1);
	expect_text("new", "seven bytes");
	assert_int_equal(stat(in("new"), &status), 0);
	assert_int_equal(status.st_mode & 07777, 0751);
}

/* A mode from the other side cannot set the set-user-ID bit. */
static void test_set_user_id_bit_is_not_carried_over(void **state)
{
	struct target target;
	struct stat status;

	assert_int_equal(target_create(in("new"), &target), DOCA_SUCCESS);
	assert_int_equal(target_commit(&target, 06755), DOCA_SUCCESS);
	target_discard(&target);
	assert_int_equal(stat(in("new"), &status), 0);
	assert_int_equal(status.st_mode & 07777, 0755);
}

static void test_discarded_file_leaves_nothing(void **state)
{
	struct target target;

	assert_int_equal(target_create(in("new"), &target), DOCA_SUCCESS);
	assert_int_equal(target_write(&target, "x", 1), DOCA_SUCCESS);
	assert_int_equal(num_files(false), named ? 1 : 0);
	target_discard(&target);
	assert_int_equal(num_files(false), 0);
}

static void test_file_that_has_come_meanwhile_is_not_replaced(void **state)
{
	struct target target;

	assert_int_equal(target_create(in("new"), &target), DOCA_SUCCESS);
	make("new", "mine");
	assert_int_equal(target_commit(&target, 0644), DOCA_ERROR_IO_FAILED);
	target_discard(&target);
	expect_text("new", "mine");
	assert_int_equal(num_files(false), 1);
}

static void test_target_in_no_directory_is_refused(void **state)
{
	struct target target;

	assert_int_equal(target_create(in("missing/new"), &target), DOCA_ERROR_IO_FAILED);
}

static void test_name_without_a_slash_is_in_the_current_directory(void **state)
{
	struct target target;

	assert_int_equal(chdir(directory), 0);
	assert_int_equal(target_create("new", &target), DOCA_SUCCESS);
	assert_int_equal(target_commit(&target, 0600), DOCA_SUCCESS);
	target_discard(&target);
	assert_int_equal(access(in("new"), F_OK), 0);
	assert_int_equal(chdir("/"), 0);
}

static void test_source_tells_size_and_mode(void **state)
{
	struct source source;
	struct message_hello offer;
	char text[4] = "";

	make("old", "abc");
	assert_int_equal(chmod(in("old"), 0604), 0);
	assert_int_equal(source_open(in("old"), &source, &offer), DOCA_SUCCESS);
	assert_true(offer.has_file);
	assert_int_equal(offer.size_bytes, 3);
	assert_int_equal(offer.mode, 0604);
	assert_int_equal(source_read(&source, text, 1), DOCA_SUCCESS);
	assert_int_equal(source_read(&source, text + 1, 2), DOCA_SUCCESS);
	assert_string_equal(text, "abc");
	source_close(&source);
}

static void test_source_that_is_not_there_is_no_error(void **state)
{
	struct source source;
	struct message_hello offer = { .has_file = true };

	assert_int_equal(source_open(in("nothing"), &source, &offer), DOCA_SUCCESS);
	assert_false(offer.has_file);
	source_close(&source);
}

static void test_source_that_becomes_shorter_is_an_error(void **state)
{
	struct source source;
	struct message_hello offer;
	char text[4];

	make("old", "abc");
	assert_int_equal(source_open(in("old"), &source, &offer), DOCA_SUCCESS);
	assert_int_equal(truncate(in("old"), 2), 0);
	assert_int_equal(source_read(&source, text, 3), DOCA_ERROR_IO_FAILED);
	source_close(&source);
}

/* Without O_NONBLOCK, opening a FIFO would block. */
static void test_source_that_is_no_regular_file_is_refused(void **state)
{
	struct source source;
	struct message_hello offer;

	assert_int_equal(mkfifo(in("fifo"), 0600), 0);
	assert_int_equal(source_open(in("fifo"), &source, &offer), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(source_open(directory, &source, &offer), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(source_open("/dev/zero", &source, &offer), DOCA_ERROR_INVALID_VALUE);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_committed_file_has_name_bytes_and_mode, tear_down),
		cmocka_unit_test_teardown(test_set_user_id_bit_is_not_carried_over, tear_down),
		cmocka_unit_test_teardown(test_discarded_file_leaves_nothing, tear_down),
		cmocka_unit_test_teardown(test_file_that_has_come_meanwhile_is_not_replaced, tear_down),
		cmocka_unit_test_teardown(test_target_in_no_directory_is_refused, tear_down),
		cmocka_unit_test_teardown(test_name_without_a_slash_is_in_the_current_directory, tear_down),
		cmocka_unit_test_teardown(test_source_tells_size_and_mode, tear_down),
		cmocka_unit_test_teardown(test_source_that_is_not_there_is_no_error, tear_down),
		cmocka_unit_test_teardown(test_source_that_becomes_shorter_is_an_error, tear_down),
		cmocka_unit_test_teardown(test_source_that_is_no_regular_file_is_refused, tear_down),
	};
	int failed;

	named = argc > 1 && strcmp(argv[1], "named") == 0;
	if (!mkdtemp(directory))
		return EXIT_FAILURE;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
