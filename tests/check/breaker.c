/* SPDX-License-Identifier: BSD-3-Clause */
/* Breaks the rule "submit-not-running", and ends as its arguments say, in their order:
 *
 *     first, second    break it, each at a site of its own
 *     ok               submit and complete a task
 *     wait             with a device, print "waiting", and wait for the end of the input
 *     kill, segv       end by SIGKILL, SIGSEGV
 *     fork             the rest of the words is for a child; wait for it
 *     exit=N           exit status N */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dma_util.h"

static void break_rule(bool at_first_site)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *task = rig_small_task(rig, 1);

	CHECK(doca_ctx_stop(rig->ctx) == DOCA_ERROR_IN_PROGRESS);
	if (at_first_site)
		CHECK(doca_task_submit(task) == DOCA_ERROR_BAD_STATE);
	else
		CHECK(doca_task_submit(task) == DOCA_ERROR_BAD_STATE);
	doca_task_free(task);
	rig_close(rig);
}

static void complete_a_task(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	rig_submit_small(rig, 1);
	rig_drain(rig);
	rig_close(rig);
}

static void wait_for_input(void)
{
	struct doca_dev *dev = rig_open_dev(0);

	puts("waiting");
	fflush(stdout);
	while (getchar() != EOF)
		;
	MUST(doca_dev_close(dev));
}

/* The child goes on; the parent ends. */
static void continue_in_child(void)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0)
		return;
	CHECK(waitpid(pid, &status, 0) == pid);
	exit(WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "first") == 0 || strcmp(argv[i], "second") == 0)
			break_rule(argv[i][0] == 'f');
		else if (strcmp(argv[i], "ok") == 0)
			complete_a_task();
		else if (strcmp(argv[i], "wait") == 0)
			wait_for_input();
		else if (strcmp(argv[i], "kill") == 0)
			raise(SIGKILL);
		else if (strcmp(argv[i], "segv") == 0)
			raise(SIGSEGV);
		else if (strcmp(argv[i], "fork") == 0)
			continue_in_child();
		else if (strncmp(argv[i], "exit=", 5) == 0)
			return atoi(argv[i] + 5);
		else
			CHECK(!"a word that main() knows");
	}
	return 0;
}
