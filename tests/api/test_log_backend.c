/* SPDX-License-Identifier: BSD-3-Clause */
/* The destinations of log records: the standard streams, FILE, descriptor,
 * buffer and syslog. */
#include <doca_log.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <syslog.h>

#include "cmocka_test.h"
#include "log_child.h"

DOCA_LOG_REGISTER(TEST::LOG::BACKEND);

/* --- Standard --- */

static void say_all(const char *when)
{
	DOCA_LOG_CRIT("c%s", when);
	DOCA_LOG_ERR("e%s", when);
	DOCA_LOG_WARN("w%s", when);
	DOCA_LOG_INFO("i%s", when);
	DOCA_LOG_DBG("d%s", when);
}

static void standard(void)
{
	say_all("0"); /* no backend yet */
	CHECK(doca_log_backend_create_standard() == DOCA_SUCCESS);
	say_all("1");
	CHECK(doca_log_backend_create_standard() == DOCA_SUCCESS);
	say_all("2");
}

static void test_standard_backend_splits_by_severity_and_exists_once(void **state)
{
	const struct child_output *got = in_child(standard);

	assert_int_equal(count_of(got->out, "\n"), 2);
	assert_non_null(strstr(got->out, "] i1\n"));
	assert_non_null(strstr(got->out, "] i2\n"));
	assert_int_equal(count_of(got->err, "\n"), 6);
	assert_non_null(strstr(got->err, "] c1\n"));
	assert_non_null(strstr(got->err, "] e1\n"));
	assert_non_null(strstr(got->err, "] w1\n"));
	assert_int_equal(count_of(got->err, "2\n"), 3);
}

static void standard_under_global_limits(void)
{
	CHECK(doca_log_backend_create_standard() == DOCA_SUCCESS);
	CHECK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG) == DOCA_SUCCESS);
	say_all("1");
	CHECK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR) == DOCA_SUCCESS);
	say_all("2");
	CHECK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO) == DOCA_SUCCESS);
	CHECK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_WARNING) == DOCA_SUCCESS);
	say_all("3");
}

/* 1: c e w | i d. 2: c e. 3: w | i. Neither stream takes the other's records. */
static void test_standard_backend_follows_global_limits_within_its_halves(void **state)
{
	const struct child_output *got = in_child(standard_under_global_limits);

	assert_int_equal(count_of(got->out, "\n"), 3);
	assert_non_null(strstr(got->out, "] i1\n"));
	assert_non_null(strstr(got->out, "] d1\n"));
	assert_non_null(strstr(got->out, "] i3\n"));
	assert_int_equal(count_of(got->err, "\n"), 6);
	assert_int_equal(count_of(got->err, "1\n"), 3);
	assert_int_equal(count_of(got->err, "] c2\n") + count_of(got->err, "] e2\n"), 2);
	assert_int_equal(count_of(got->err, "] w3\n"), 1);
}

static void standard_with_printf(void)
{
	CHECK(doca_log_backend_create_standard() == DOCA_SUCCESS);
	printf("before ");
	DOCA_LOG_INFO("record");
	printf("after");
}

static void test_standard_backend_keeps_its_place_among_printf(void **state)
{
	const struct child_output *got = in_child(standard_with_printf);

	assert_int_equal(strncmp(got->out, "before [", 8), 0);
	assert_non_null(strstr(got->out, "] record\nafter"));
}

/* --- FILE and descriptor --- */

static void bad_files_and_descriptors(void)
{
	struct doca_log_backend *backend = NULL;
	int fds[2];

	CHECK(pipe(fds) == 0);
	CHECK(doca_log_backend_create_with_file(NULL, &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_file(stdout, NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_file_sdk(NULL, &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_file_sdk(stdout, NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_fd(-1, &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_fd(fds[0], &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_fd(fds[1], NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_fd_sdk(fds[0], &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_fd_sdk(fds[1], NULL) == DOCA_ERROR_INVALID_VALUE);
	close(fds[0]);
	close(fds[1]);
	CHECK(doca_log_backend_create_with_fd(fds[1], &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(backend == NULL);
}

static void test_file_or_descriptor_that_can_not_be_written_is_refused(void **state)
{
	in_child(bad_files_and_descriptors);
}

/* Each write to a datagram socket is one datagram. The stream's earlier contents are one more. */
static void records_as_datagrams(void)
{
	struct doca_log_backend *backend;
	char got[8192];
	int fds[2], i;
	FILE *file;

	CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) == 0);
	file = fdopen(dup(fds[0]), "w");
	CHECK(file != NULL);
	CHECK(doca_log_backend_create_with_file(file, &backend) == DOCA_SUCCESS);
	CHECK(doca_log_backend_create_with_fd(fds[0], &backend) == DOCA_SUCCESS);
	fputs("held", file);
	DOCA_LOG_INFO("%02000d", 1);
	DOCA_LOG_INFO("%09000d", 2);
	CHECK(recv(fds[1], got, sizeof(got), MSG_DONTWAIT) == 4 && !memcmp(got, "held", 4));
	for (i = 0; i < 4; i++) {
		ssize_t n = recv(fds[1], got, sizeof(got), MSG_DONTWAIT);

		CHECK(n > 2000 && n <= 4096 && got[0] == '[' && got[n - 1] == '\n');
		CHECK(memchr(got, '\n', n) == got + n - 1);
	}
	CHECK(recv(fds[1], got, sizeof(got), MSG_DONTWAIT) < 0);
	CHECK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DISABLE) == DOCA_SUCCESS);
	fclose(file);
	close(fds[0]);
	close(fds[1]);
}

static void test_record_is_one_write(void **state)
{
	in_child(records_as_datagrams);
}

static void reader_is_slow_then_gone(void)
{
	struct doca_log_backend *backend;
	int fds[2], i;

	signal(SIGPIPE, SIG_IGN);
	CHECK(pipe2(fds, O_NONBLOCK) == 0);
	CHECK(doca_log_backend_create_with_fd(fds[1], &backend) == DOCA_SUCCESS);
	for (i = 0; i < 50; i++) /* more than a pipe holds */
		CHECK(DOCA_LOG_INFO("%04000d", i) == DOCA_SUCCESS);
	close(fds[0]);
	CHECK(DOCA_LOG_INFO("x") == DOCA_SUCCESS);
	close(fds[1]);
	CHECK(DOCA_LOG_INFO("x") == DOCA_SUCCESS);
}

static void test_record_that_can_not_be_written_is_lost(void **state)
{
	in_child(reader_is_slow_then_gone);
}

/* --- Buffer --- */

static struct {
	char start[64];
	char guard[8];
} small;
static unsigned int flushes;

static void flush_and_check_guard(char *buf)
{
	CHECK(buf == small.start);
	CHECK(!memcmp(small.guard, "guarded", 8));
	flushes++;
	printf("<%s>", buf);
}

static void buffer_of(size_t capacity)
{
	struct doca_log_backend *backend;

	memcpy(small.guard, "guarded", 8);
	CHECK(doca_log_backend_create_with_buf(small.start, capacity, flush_and_check_guard, &backend) == DOCA_SUCCESS);
}

static void buffer_flushed(void)
{
	buffer_of(sizeof(small.start));
	CHECK(doca_log(50, log_source, "f", 1, NULL, "one") == DOCA_SUCCESS);
	CHECK(doca_log(50, log_source, "f", 1, NULL, "two") == DOCA_SUCCESS);
	CHECK(doca_log(60, log_source, "f", 1, NULL, "three") == DOCA_SUCCESS);
	CHECK(flushes == 2);
}

static void test_buffer_is_flushed_record_by_record(void **state)
{
	const struct child_output *got = in_child(buffer_flushed);

	assert_int_equal(count_of(got->out, "<["), 2);
	assert_non_null(strstr(got->out, "[f:1] one\n>"));
	assert_non_null(strstr(got->out, "[f:1] two\n>"));
}

static void records_around_the_capacity(void)
{
	int n;

	buffer_of(sizeof(small.start));
	for (n = 1; n < 64; n++)
		CHECK(doca_log(50, log_source, "f", 1, NULL, "%0*d", n, 0) == DOCA_SUCCESS);
	CHECK(flushes == 63);
}

/* 64 bytes hold 63 of text; those of a longer record end in the mark of a cut. */
static void test_record_larger_than_the_buffer_is_cut(void **state)
{
	const char *got = in_child(records_around_the_capacity)->out;
	unsigned int whole, cut = 0, longest = 0;

	whole = count_of(got, "0\n>");
	for (got = strchr(got, '<'); got; got = strchr(got + 1, '<')) {
		size_t len = strcspn(got, ">") - 1;

		assert_in_range(len, 30, 63);
		longest += len == 63;
		cut += !strncmp(got + len - 3, "...\n", 4);
	}
	assert_true(whole > 0 && cut > 0);
	assert_int_equal(whole + cut, 63);
	assert_int_equal(longest, cut + 1); /* one record fits to the byte */
}

static void buffer_of_one(void)
{
	buffer_of(1);
	DOCA_LOG_INFO("x");
	CHECK(flushes == 1);
}

static void test_buffer_of_one_byte_gives_an_empty_string(void **state)
{
	assert_string_equal(in_child(buffer_of_one)->out, "<>");
}

static void bad_buffers(void)
{
	struct doca_log_backend *backend = NULL;
	char *buf = small.start;
	log_flush_callback flush = flush_and_check_guard;

	CHECK(doca_log_backend_create_with_buf(NULL, 9, flush, &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_buf(buf, 0, flush, &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_buf(buf, 9, NULL, &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_buf(buf, 9, flush, NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_buf_sdk(NULL, 9, flush, &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_buf_sdk(buf, 0, flush, &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_buf_sdk(buf, 9, NULL, &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_buf_sdk(buf, 9, flush, NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(backend == NULL);
}

static void test_buffer_without_room_or_handler_is_refused(void **state)
{
	in_child(bad_buffers);
}

static void flush_and_log(char *buf)
{
	flushes++;
	DOCA_LOG_INFO("from the handler");
	CHECK(!strcmp(strchr(buf, ' '), " outside\n"));
}

static void handler_that_logs(void)
{
	struct doca_log_backend *backend;

	CHECK(doca_log_backend_create_with_buf(small.start, sizeof(small.start), flush_and_log, &backend) ==
	      DOCA_SUCCESS);
	CHECK(doca_log_backend_create_with_fd(STDOUT_FILENO, &backend) == DOCA_SUCCESS);
	CHECK(doca_log(50, log_source, "f", 1, NULL, "outside") == DOCA_SUCCESS);
	CHECK(flushes == 1);
}

/* Its record goes to the other backends, not into the buffer it is reading. */
static void test_record_from_a_flush_handler_does_not_come_back_to_it(void **state)
{
	const struct child_output *got = in_child(handler_that_logs);

	assert_int_equal(count_of(got->out, "\n"), 2);
	assert_non_null(strstr(got->out, "] from the handler\n"));
	assert_non_null(strstr(got->out, "] outside\n"));
}

/* --- syslog: this program's syslog() replaces libc's --- */

static const char *syslog_ident;

void openlog(const char *ident, int option, int facility)
{
	syslog_ident = ident;
}

static void syslog_print(int priority, const char *format, va_list args)
{
	printf("%s %d:", syslog_ident, priority);
	vprintf(format, args);
	printf("\n");
}

void syslog(int priority, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	syslog_print(priority, format, args);
	va_end(args);
}

/* The name of syslog() where the compiler's fortification is on. */
void __syslog_chk(int priority, int flag, const char *format, ...);
void __syslog_chk(int priority, int flag, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	syslog_print(priority, format, args);
	va_end(args);
}

static void two_syslogs(void)
{
	struct doca_log_backend *all, *errors;
	char name[] = "all";

	CHECK(doca_log_backend_create_with_syslog(name, &all) == DOCA_SUCCESS);
	name[0] = 'X'; /* the name was copied */
	CHECK(doca_log_backend_set_level_lower_limit(all, DOCA_LOG_LEVEL_TRACE) == DOCA_SUCCESS);
	CHECK(doca_log_backend_create_with_syslog("errors", &errors) == DOCA_SUCCESS);
	CHECK(doca_log_backend_set_level_lower_limit(errors, DOCA_LOG_LEVEL_ERROR) == DOCA_SUCCESS);
	say_all("%s"); /* a record's text is no format */
	DOCA_LOG(DOCA_LOG_LEVEL_TRACE, "t");
}

static void test_syslog_has_name_and_priority_of_each_record(void **state)
{
	static const int priorities[] = { LOG_CRIT, LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG, LOG_DEBUG };
	const char *names[] = { "c%s", "e%s", "w%s", "i%s", "d%s", "t" };
	const struct child_output *got = in_child(two_syslogs);
	const char *line = got->out;
	char start[32], end[32];
	size_t i;

	assert_int_equal(count_of(got->out, "\n"), 6 + 2);
	assert_int_equal(count_of(got->out, "errors 2:") + count_of(got->out, "errors 3:"), 2);
	for (i = 0; i < 6; i++) {
		snprintf(start, sizeof(start), "all %d:[", priorities[i]);
		snprintf(end, sizeof(end), "] %s\n", names[i]);
		line = strstr(line, start);
		assert_non_null(line);
		assert_ptr_equal(strstr(line, end) + strlen(end), strchr(line, '\n') + 1);
		line++;
	}
}

static void bad_syslogs(void)
{
	struct doca_log_backend *backend = NULL;

	CHECK(doca_log_backend_create_with_syslog(NULL, &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_syslog("a", NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_syslog_sdk(NULL, &backend) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log_backend_create_with_syslog_sdk("a", NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(backend == NULL);
}

static void test_syslog_without_name_is_refused(void **state)
{
	in_child(bad_syslogs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_standard_backend_splits_by_severity_and_exists_once),
		cmocka_unit_test(test_standard_backend_follows_global_limits_within_its_halves),
		cmocka_unit_test(test_standard_backend_keeps_its_place_among_printf),
		cmocka_unit_test(test_file_or_descriptor_that_can_not_be_written_is_refused),
		cmocka_unit_test(test_record_is_one_write),
		cmocka_unit_test(test_record_that_can_not_be_written_is_lost),
		cmocka_unit_test(test_buffer_is_flushed_record_by_record),
		cmocka_unit_test(test_record_larger_than_the_buffer_is_cut),
		cmocka_unit_test(test_buffer_of_one_byte_gives_an_empty_string),
		cmocka_unit_test(test_buffer_without_room_or_handler_is_refused),
		cmocka_unit_test(test_record_from_a_flush_handler_does_not_come_back_to_it),
		cmocka_unit_test(test_syslog_has_name_and_priority_of_each_record),
		cmocka_unit_test(test_syslog_without_name_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
