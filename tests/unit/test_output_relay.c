/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which the output of several programs is passed on. */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/cli/run/output_relay.h"

#define NUM_PROGRAMS 3
#define NUM_ROUNDS   20

struct outputs {
	int epoll_fd;
	int fds[NUM_PROGRAMS]; /* which the programs write to */
	struct cli_output_relay relays[NUM_PROGRAMS];
	FILE *out;
	char *text;
	size_t len;
};

static void open_outputs(struct outputs *outputs)
{
	static const char *const names[] = { "a", "b", "c" };

	outputs->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	assert_true(outputs->epoll_fd >= 0);
	outputs->out = open_memstream(&outputs->text, &outputs->len);
	assert_non_null(outputs->out);
	for (size_t i = 0; i < NUM_PROGRAMS; i++) {
		int pipe_fds[2];

		assert_int_equal(pipe(pipe_fds), 0);
		outputs->fds[i] = pipe_fds[1];
		assert_int_equal(cli_output_relay_init(&outputs->relays[i], pipe_fds[0], outputs->out, names[i], 1,
						       outputs->epoll_fd),
				 0);
	}
}

static void write_text(const struct outputs *outputs, size_t i, const char *text)
{
	assert_int_equal(write(outputs->fds[i], text, strlen(text)), strlen(text));
}

/* Returns the number of relays that had output. */
static int forward(const struct outputs *outputs)
{
	struct epoll_event events[NUM_PROGRAMS];
	int count = epoll_wait(outputs->epoll_fd, events, NUM_PROGRAMS, 0);

	for (int i = 0; i < count; i++)
		assert_true(cli_output_relay_forward(events[i].data.ptr));
	return count;
}

static void close_outputs(struct outputs *outputs)
{
	for (size_t i = 0; i < NUM_PROGRAMS; i++) {
		close(outputs->fds[i]);
		cli_output_relay_fini(&outputs->relays[i]);
	}
	fclose(outputs->out);
	free(outputs->text);
	close(outputs->epoll_fd);
}

static void test_lines_keep_the_order_of_the_programs(void **state)
{
	struct outputs outputs = { 0 };

	open_outputs(&outputs);
	for (unsigned int round = 0; round < NUM_ROUNDS; round++) {
		size_t first = round % NUM_PROGRAMS, second = (round * 2 + 1) % NUM_PROGRAMS;
		char expected[32];

		if (second == first)
			second = (first + 1) % NUM_PROGRAMS;
		rewind(outputs.out);
		write_text(&outputs, first, "one\n");
		write_text(&outputs, second, "two\n");
		assert_int_equal(forward(&outputs), 2);
		snprintf(expected, sizeof(expected), "%c| one\n%c| two\n", (char)('a' + first), (char)('a' + second));
		assert_memory_equal(outputs.text, expected, strlen(expected));
	}
	assert_int_equal(forward(&outputs), 0);
	close_outputs(&outputs);
}

static void test_more_than_one_read_is_passed_on(void **state)
{
	static char text[40000];
	struct outputs outputs = { 0 };

	open_outputs(&outputs);
	memset(text, 'x', sizeof(text) - 1);
	write_text(&outputs, 1, text);
	while (forward(&outputs) > 0)
		;
	write_text(&outputs, 1, "\n");
	assert_int_equal(forward(&outputs), 1);
	assert_int_equal(outputs.len, strlen("b| ") + sizeof(text) - 1 + strlen("\n"));
	close_outputs(&outputs);
}

static void test_output_before_the_end_is_passed_on(void **state)
{
	struct outputs outputs = { 0 };

	open_outputs(&outputs);
	write_text(&outputs, 2, "last");
	close(outputs.fds[2]);
	while (forward(&outputs) > 0)
		;
	assert_int_equal(outputs.relays[2].fd, -1);
	assert_string_equal(outputs.text, "c| last\n");
	outputs.fds[2] = -1;
	close_outputs(&outputs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_keep_the_order_of_the_programs),
		cmocka_unit_test(test_more_than_one_read_is_passed_on),
		cmocka_unit_test(test_output_before_the_end_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
