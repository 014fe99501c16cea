/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting a case, and its end. */
#include "case.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case_priv.h"
#include "sim/base/monotonic.h"
#include "sim/cli/base/cli.h"

#define PREPARE_FAILED CLI_OWN_FAILURE
#define PREPARED       ".bfsim-prepared" /* a file in the directory, when all is ready for the commands */

int cli_case_init(const struct cli_scenario *scenario, bool has_seed, uint64_t seed, struct cli_case *ret_case)
{
	*ret_case = (struct cli_case){ .scenario = scenario,
				       .has_seed = has_seed,
				       .seed = seed,
				       .is_one_of_seeds = scenario->first_seed != scenario->last_seed };
	if ((has_seed ? asprintf(&ret_case->name, "%s seed %" PRIu64, scenario->name, seed) :
			asprintf(&ret_case->name, "%s", scenario->name)) >= 0)
		return 0;
	ret_case->name = NULL;
	return cli_error("out of memory");
}

/* ---- the command line of bfsim run ---- */

struct words {
	char **list;
	size_t count;
	bool failed; /* out of memory */
};

static void add_word(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_word(struct words *words, const char *format, ...)
{
	char **list = reallocarray(words->list, words->count + 2, sizeof(*list));
	va_list args;

	if (list)
		words->list = list;
	va_start(args, format);
	if (!list || vasprintf(&list[words->count], format, args) < 0)
		words->failed = true;
	else
		list[++words->count] = NULL;
	va_end(args);
}

/* A file of the scenario: relative to its folder. */
static void add_file_option(struct words *words, const char *option, const char *file, const char *folder)
{
	if (file && file[0] == '/')
		add_word(words, "%s=%s", option, file);
	else if (file)
		add_word(words, "%s=%s/%s", option, folder, file);
}

static void add_option(struct words *words, const char *option, const char *value)
{
	if (value)
		add_word(words, "%s=%s", option, value);
}

static void add_sides(struct words *words, const struct cli_scenario *scenario)
{
	for (size_t i = 0; i < scenario->num_sides; i++) {
		const struct cli_scenario_side *side = &scenario->sides[i];
		char *label = cli_case_label(scenario, i);

		add_option(words, "--generation", side->generation);
		add_word(words, "--on=%s=%s", side->name, side->command);
		if (side->after)
			add_word(words, "--start=%s after %s", label ? label : side->name, side->after);
		if (side->delay)
			add_word(words, "--delay=%s=%s", label ? label : side->name, side->delay);
		free(label);
	}
}

static struct words run_words(const struct cli_case *test)
{
	const struct cli_scenario *scenario = test->scenario;
	struct words words = { 0 };

	add_word(&words, "bfsim");
	add_word(&words, "run");
	add_word(&words, "--timeout=%" PRIu32, scenario->timeout_s);
	add_word(&words, "--trace=trace.bfsim");
	add_word(&words, "--verdict=" CLI_CASE_VERDICT);
	add_file_option(&words, "--topology", scenario->topology, scenario->folder);
	for (size_t i = 0; i < scenario->fault_plans.count; i++)
		add_file_option(&words, "--fault-plan", scenario->fault_plans.list[i], scenario->folder);
	add_option(&words, "--clock", scenario->clock);
	add_option(&words, "--until", scenario->until);
	for (size_t i = 0; i < scenario->faults.count; i++)
		add_option(&words, "--fault", scenario->faults.list[i]);
	if (!scenario->require_faults)
		add_word(&words, "--allow-unused-faults");
	if (test->has_seed)
		add_word(&words, "--seed=%" PRIu64, test->seed);
	if (scenario->nodes)
		add_word(&words, "--nodes");
	if (scenario->shuffle)
		add_word(&words, "--shuffle=%" PRIu64, test->seed);
	if (scenario->check) {
		add_word(&words, "--check=%s", scenario->check);
		add_word(&words, "--check-report=hits.json");
	}
	add_sides(&words, scenario);
	return words;
}

/* ---- the child ---- */

/* The process group that prepares the case; it ends with this process. */
static volatile sig_atomic_t preparing;

static void end_preparation(int number)
{
	if (preparing)
		kill(-(pid_t)preparing, SIGKILL);
	_exit(CLI_SIGNAL + number);
}

/* Run @argv, in a process group, and wait for it. Returns whether it ended with 0. */
static bool run_and_wait(char *const *argv)
{
	int status = -1;
	sigset_t term, old;
	pid_t pid;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &old);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGTERM, SIG_DFL);
		sigprocmask(SIG_SETMASK, &old, NULL);
		execvp(argv[0], argv);
		_exit(CLI_NOT_FOUND);
	}
	if (pid > 0)
		setpgid(pid, pid); /* in parent and child: the first call counts */
	preparing = pid > 0 ? pid : 0;
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	preparing = 0;
	return status == 0;
}

static bool copy_files(const struct cli_scenario *scenario)
{
	for (size_t i = 0; i < scenario->copy.count; i++) {
		char source[PATH_MAX];
		char *argv[] = { (char *)"cp", (char *)"-r", (char *)"--", source, (char *)".", NULL };

		snprintf(source, sizeof(source), "%s/%s", scenario->folder, scenario->copy.list[i]);
		if (!run_and_wait(argv))
			return false;
	}
	return true;
}

/* Commands of the scenario's folder are found by their names. */
static int set_env(const struct cli_case *test)
{
	const char *old = getenv("PATH");
	char path[2 * PATH_MAX], seed[24];

	snprintf(path, sizeof(path), "%s:%s", test->scenario->folder, old ? old : "/usr/bin:/bin");
	snprintf(seed, sizeof(seed), "%" PRIu64, test->seed);
	return setenv("PATH", path, 1) < 0 || setenv("BFSIM_TEST_FOLDER", test->scenario->folder, 1) < 0 ||
	       setenv("BFSIM_TEST_SEED", seed, 1) < 0;
}

/* Does not return. */
static void be_run(const struct cli_case *test, char *const *argv, pid_t parent)
{
	const char *before = test->scenario->before;
	char *const shell[] = { (char *)"/bin/sh", (char *)"-c", (char *)before, NULL };
	sigset_t none;
	int out;

	signal(SIGTERM, end_preparation); /* the exec takes this back */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(PREPARE_FAILED);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir(test->dir) < 0 || set_env(test))
		_exit(PREPARE_FAILED);
	out = open("output.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	if (out < 0 || !copy_files(test->scenario) || (before && !run_and_wait(shell)))
		_exit(PREPARE_FAILED);
	close(open(PREPARED, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
	execv("/proc/self/exe", argv);
	_exit(PREPARE_FAILED);
}

static char *make_dir(void)
{
	const char *parent = getenv("TMPDIR");
	char *dir = NULL;

	if (asprintf(&dir, "%s/bfsim-test-XXXXXX", parent && parent[0] ? parent : "/tmp") < 0)
		return NULL;
	if (mkdtemp(dir))
		return dir;
	cli_fail("cannot make the directory %s: %s; TMPDIR names another place", dir, strerror(errno));
	free(dir);
	return NULL;
}

int cli_case_start(struct cli_case *test)
{
	struct words words = run_words(test);
	pid_t self = getpid();

	test->dir = words.failed ? NULL : make_dir();
	fflush(NULL);
	test->began_ms = sim_monotonic_ms();
	test->pid = test->dir ? fork() : -1;
	if (test->pid == 0)
		be_run(test, words.list, self);
	for (size_t i = 0; i < words.count; i++)
		free(words.list[i]);
	free(words.list);
	if (test->pid > 0)
		return 0;
	if (test->dir)
		cli_fail("cannot start a process: %s", strerror(errno));
	test->pid = 0;
	return -1;
}

static bool was_prepared(const struct cli_case *test)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" PREPARED, test->dir);
	return access(path, F_OK) == 0;
}

void cli_case_finish(struct cli_case *test, int wait_status)
{
	test->pid = 0;
	test->is_done = true;
	test->took_ms = sim_monotonic_ms() - test->began_ms;
	test->status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : CLI_SIGNAL + WTERMSIG(wait_status);
	if (!was_prepared(test))
		cli_case_add_reason(test, "the files of copy, or the command of before, failed");
	cli_case_judge(test);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
	(void)info;
	(void)type;
	(void)walk;
	remove(path);
	return 0;
}

void cli_case_fini(struct cli_case *test)
{
	if (test->dir)
		nftw(test->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	for (size_t i = 0; i < test->reasons.count; i++)
		free(test->reasons.list[i]);
	free(test->reasons.list);
	for (size_t i = 0; i < test->num_misses; i++)
		free(test->misses[i].text);
	free(test->misses);
	free(test->name);
	free(test->dir);
	free(test->bundle);
	*test = (struct cli_case){ 0 };
}
