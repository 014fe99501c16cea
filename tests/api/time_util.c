/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions with a modelled clock, for tests of time. */
#include "cmocka_test.h"
#include "time_util.h"

#include <sys/wait.h>
#include <unistd.h>

#include "dma_util.h"

#define NS_PER_S UINT64_C(1000000000)

void run(const char *clock, program *program, struct text *ret_text)
{
	int fds[2], status;
	size_t len = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		setenv("BFSIM_CLOCK", clock, 1);
		close(fds[0]);
		program(fds[1]);
		_exit(0);
	}
	close(fds[1]);
	while (len < TEXT_SIZE - 1 && (got = read(fds[0], ret_text->chars + len, TEXT_SIZE - 1 - len)) > 0)
		len += (size_t)got;
	ret_text->chars[len] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

void assert_same_each_time(const char *clock, program *program)
{
	struct text first, again;

	run(clock, program, &first);
	assert_true(strlen(first.chars) > 0);
	for (int i = 0; i < 3; i++) {
		run(clock, program, &again);
		assert_string_equal(again.chars, first.chars);
	}
}

uint64_t now_ns(struct doca_clock *clock)
{
	union doca_clock_timespec_t now;

	MUST(doca_clock_get_timestamp(clock, DOCA_CLOCK_NIC_FREE_RUNNING, &now));
	return (uint64_t)now.ts.tv_sec * NS_PER_S + (uint64_t)now.ts.tv_nsec;
}
