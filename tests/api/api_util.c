/* SPDX-License-Identifier: BSD-3-Clause */
/* Worlds (a process with a private card each), child processes and devices for API tests. */
#include "api_util.h"
#include "under_valgrind.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- worlds ---- */

/* Set the topology of the library's environment. YAML text becomes a file that is not deleted. */
static void choose_topology(const char *topology)
{
	char path[4096];
	int fd;

	if (!topology) {
		unsetenv("BFSIM_TOPOLOGY");
		return;
	}
	if (strncmp(topology, "cards:", strlen("cards:")) != 0) {
		snprintf(path, sizeof(path), "%s/%s", API_DATA_DIR, topology);
	} else {
		fd = memfd_create("topology", 0);
		if (fd < 0 || write(fd, topology, strlen(topology)) != (ssize_t)strlen(topology))
			abort();
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	setenv("BFSIM_TOPOLOGY", path, 1);
}

static const struct api_world *this_world;

struct doca_dev *api_dev(void)
{
	return *this_world->dev;
}

static int enter_world(void **state)
{
	if (this_world->dev)
		*this_world->dev = api_open("03:00.0");
	return this_world->setup ? this_world->setup(state) : 0;
}

static int leave_world(void **state)
{
	int rc = this_world->teardown ? this_world->teardown(state) : 0;

	if (this_world->dev)
		assert_ok(doca_dev_close(*this_world->dev));
	return rc;
}

static int live_in(const struct api_world *world)
{
	unsetenv("BFSIM_SESSION");
	unsetenv("BFSIM_PATH");
	setenv("BFSIM_LOG_LEVEL", "0", 0); /* the tests provoke refusals; set it to 30 to read their log lines */
	setenv("BFSIM_SIDE", world->side, 1);
	choose_topology(world->topology);
	this_world = world;
	return _cmocka_run_group_tests(world->name, world->tests, world->num_tests, enter_world, leave_world);
}

int api_run(const struct api_world *worlds, size_t num_worlds)
{
	bool failed = false;
	int status;

	for (size_t i = 0; i < num_worlds; i++) {
		pid_t pid;

		fflush(NULL);
		pid = fork();
		if (pid == 0)
			exit(live_in(&worlds[i]) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
			fprintf(stderr, "world \"%s\" failed\n", worlds[i].name);
			failed = true;
		}
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

pid_t api_fork(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS };
	pid_t child;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	for (size_t i = 0; child == 0 && i < API_COUNT(signals); i++)
		signal(signals[i], SIG_DFL);
	return child;
}

void api_join(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status))
		fail_msg("the child was killed by signal %d", WTERMSIG(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- devices ---- */

struct doca_devinfo *api_devinfo_nth(uint32_t index)
{
	struct doca_devinfo **list, *found;
	uint32_t count;

	assert_ok(doca_devinfo_create_list(&list, &count));
	assert_true(index < count);
	found = list[index];
	assert_ok(doca_devinfo_destroy_list(list));
	return found;
}

struct doca_dev *api_open_nth(uint32_t index)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t count;

	assert_ok(doca_devinfo_create_list(&list, &count));
	assert_true(index < count);
	assert_ok(doca_dev_open(list[index], &dev));
	assert_ok(doca_devinfo_destroy_list(list));
	return dev;
}

struct doca_dev *api_open(const char *pci_addr)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;

	assert_ok(doca_devinfo_create_list(&list, &count));
	for (uint32_t i = 0; i < count && !dev; i++) {
		uint8_t is_equal;

		assert_ok(doca_devinfo_is_equal_pci_addr(list[i], pci_addr, &is_equal));
		if (is_equal)
			assert_ok(doca_dev_open(list[i], &dev));
	}
	assert_ok(doca_devinfo_destroy_list(list));
	if (!dev)
		fail_msg("no local device has the address %s", pci_addr);
	return dev;
}

/* ---- failing allocations: this program's malloc(), calloc() and realloc() replace the C library's ---- */

static _Thread_local long allocations_left = -1; /* allocations that still succeed; negative: all */
static _Thread_local bool one_failed;

static inline bool must_fail(void)
{
	if (allocations_left < 0)
		return false;
	if (allocations_left > 0) {
		allocations_left--;
		return false;
	}
	one_failed = true; /* and all later ones fail */
	errno = ENOMEM;
	return true;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#ifdef __SANITIZE_THREAD__
/* The process allocates before the wrappers can call the C library's functions. */
static const bool have_allocator = false;
#else

#ifdef __SANITIZE_ADDRESS__
void *__interceptor_malloc(size_t size);
void *__interceptor_calloc(size_t count, size_t size);
void *__interceptor_realloc(void *old, size_t size);
#define real_malloc  __interceptor_malloc
#define real_calloc  __interceptor_calloc
#define real_realloc __interceptor_realloc
#else
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
#define real_malloc  __libc_malloc
#define real_calloc  __libc_calloc
#define real_realloc __libc_realloc
#endif

static const bool have_allocator = true;

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	return must_fail() ? NULL : real_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
	return must_fail() ? NULL : real_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size)
{
	return must_fail() ? NULL : real_realloc(old, size);
}

#endif

/* Run @step; allocation number @n, counted from 0, and all later ones fail. */
static doca_error_t run_failing(doca_error_t (*step)(void), long n)
{
	doca_error_t result;

	one_failed = false;
	allocations_left = n;
	result = step();
	allocations_left = -1;
	return result;
}

void api_need_allocator(void)
{
	if (!have_allocator || RUNNING_ON_VALGRIND)
		skip();
}

void api_fail_each_allocation(doca_error_t (*step)(void), void (*undo)(void))
{
	bool refused = false;
	doca_error_t result;

	api_need_allocator();
	for (long n = 0; result = run_failing(step, n), one_failed; n++) {
		if (result == DOCA_SUCCESS && undo)
			undo();
		else
			assert_doca(result, DOCA_ERROR_NO_MEMORY);
		refused |= result == DOCA_ERROR_NO_MEMORY;
	}
	assert_ok(result);
	assert_true(refused);
}
