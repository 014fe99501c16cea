/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that hold locks for long, so that a fork of the main thread meets held ones: these functions stand before the C library's, for
 * the whole process. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOLD_US     300
#define LCG(number) ((number)*1103515245u + 12345u)

/* One of so many calls of a thread holds. Not in the main thread: it forks. */
static void hold(unsigned int one_of)
{
	static __thread unsigned int number;
	long tid = syscall(SYS_gettid);

	if (tid == getpid())
		return;
	number = number ? LCG(number) : LCG((unsigned int)tid);
	if ((number >> 16) % one_of == 0)
		usleep(HOLD_US);
}

int pthread_mutex_lock(pthread_mutex_t *lock)
{
	static int (*real)(pthread_mutex_t * lock);
	int rc;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	rc = real(lock);
	hold(4);
	return rc;
}

struct callback {
	int (*see)(struct dl_phdr_info *info, size_t size, void *arg);
	void *arg;
};

static int hold_and_see(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct callback *callback = arg;

	hold(1);
	return callback->see(info, size, callback->arg);
}

int dl_iterate_phdr(int (*see)(struct dl_phdr_info *info, size_t size, void *arg), void *arg)
{
	static int (*real)(int (*see)(struct dl_phdr_info * info, size_t size, void *arg), void *arg);
	struct callback callback = { see, arg };

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	return real(hold_and_see, &callback);
}
