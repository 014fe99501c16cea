/* SPDX-License-Identifier: BSD-3-Clause */
/* ci/vendor/own_affinity.c - preloaded into programs whose new thread binds itself to a CPU by its std::thread, which the creator may
 * not have stored yet: the handle is empty then, and the C library would read through it. Here it stands for the calling thread. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/types.h>
#include <unistd.h>

#include <dlfcn.h>

typedef int set_fn(pthread_t thread, size_t size, const cpu_set_t *cpus);
typedef int get_fn(pthread_t thread, size_t size, cpu_set_t *cpus);

static pthread_t or_self(pthread_t thread)
{
	return thread ? thread : pthread_self();
}

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *cpus)
{
	set_fn *set = (set_fn *)dlsym(RTLD_NEXT, "pthread_setaffinity_np");

	return set(or_self(thread), size, cpus);
}

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *cpus)
{
	get_fn *get = (get_fn *)dlsym(RTLD_NEXT, "pthread_getaffinity_np");

	return get(or_self(thread), size, cpus);
}
