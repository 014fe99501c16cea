/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of bfsim.h: child processes, devices, copies. */
#include "bfsim_util.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void become_one(const struct own_test *test, const char *dir)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	unsetenv("BFSIM_SESSION");
	unsetenv("BFSIM_TOPOLOGY");
	unsetenv("BFSIM_CLOCK");
	unsetenv("BFSIM_TRACE");
	setenv("BFSIM_SIDE", "dpu", 1);
	CHECK(chdir(dir) == 0);
	test->body();
	exit(0);
}

static void run_one(void **state)
{
	const struct own_test *test = *state;
	char dir[] = "/tmp/bfsim-test-XXXXXX", command[64];
	int status;
	pid_t pid;

	assert_non_null(mkdtemp(dir));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		become_one(test, dir);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
	assert_int_equal(status, 0);
}

int own_run(const struct own_test *tests, size_t num_tests)
{
	struct CMUnitTest *units = calloc(num_tests, sizeof(*units));
	int rc;

	if (!units)
		return 1;
	for (size_t i = 0; i < num_tests; i++)
		units[i] = (struct CMUnitTest){ .name = tests[i].name,
						.test_func = run_one,
						.initial_state = (void *)(uintptr_t)&tests[i] };
	rc = _cmocka_run_group_tests("bfsim.h", units, num_tests, NULL, NULL);
	free(units);
	return rc;
}

void wait_well(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(status == 0);
}

/* ---- cards ---- */

static struct bfsim_session *session;

bool card_is_private(void)
{
	const char *card = getenv("CARD");

	return card && strcmp(card, "private") == 0;
}

void card_begin(const char *side, const char *topology, const char *clock)
{
	const struct bfsim_session_cfg cfg = { .topology = topology, .clock = clock };

	if (card_is_private()) {
		setenv("BFSIM_SIDE", side, 1);
		setenv("BFSIM_TOPOLOGY", topology ? topology : "", 1);
		setenv("BFSIM_CLOCK", clock ? clock : "", 1);
		return;
	}
	NEED_OK(bfsim_session_start(&cfg, &session));
	NEED_OK(bfsim_session_enter(session, side));
}

void card_end(void)
{
	NEED_OK(bfsim_session_stop(session));
}

/* The daemon has applied it before it reads the next request, which the second call is. On a private card it is
 * applied when the rule is added. */
uint32_t card_inject(const char *rule)
{
	struct bfsim_fault fault;
	uint32_t id;

	NEED_OK(bfsim_fault_add(rule, &id));
	NEED_OK(bfsim_fault_seed(0));
	NEED_OK(bfsim_fault_get(id, &fault));
	CHECK(fault.fired > 0);
	return id;
}

void own_need(int rc, int code, const char *text, const char *call, const char *file, int line)
{
	if (rc == code && (rc == 0 || strstr(bfsim_error(), text)))
		return;
	fprintf(stderr, "%s:%d: %s is %d (%s), not %d (%s)\n", file, line, call, rc, bfsim_error(), code, text);
	exit(1);
}
