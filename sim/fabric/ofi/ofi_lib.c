/* SPDX-License-Identifier: BSD-3-Clause */
/* Loading libfabric.
 *
 * libfabric is not linked but opened on first use. Measured with Debian's 1.17: its dependencies libinfinipath and
 * libpsm2 take 0.1 s each in their constructors. They install handlers for SIGINT, SIGILL, SIGABRT, SIGBUS, SIGSEGV
 * and SIGTERM that print a stack and call exit(1). The first fi_getinfo() takes another 0.1 s, later calls 0.2 ms.
 * The shm provider installs handlers when its first endpoint opens. Applications that use other paths should not
 * pay for the loading, and the handlers are removed for all.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "ofi_priv.h"
#include "sim/base/log.h"

#define LIBRARY         "libfabric.so.1"
#define FILTER_VARIABLE "FI_PROVIDER="

static struct sim_ofi_lib lib;
static bool lib_usable;
static pthread_once_t lib_once = PTHREAD_ONCE_INIT;

static pthread_mutex_t handlers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction saved_handlers[SIGSYS + 1];
static atomic_bool handlers_saved; /* saved_handlers is complete */

void sim_ofi_save_signal_handlers(void)
{
	pthread_mutex_lock(&handlers_lock);
	for (int sig = 1; sig <= SIGSYS; sig++)
		sigaction(sig, NULL, &saved_handlers[sig]);
	atomic_store(&handlers_saved, true);
}

static void restore_changed_handlers(void)
{
	for (int sig = 1; sig <= SIGSYS; sig++) {
		struct sigaction now;

		if (sigaction(sig, NULL, &now) == 0 && now.sa_handler != saved_handlers[sig].sa_handler)
			sigaction(sig, &saved_handlers[sig], NULL);
	}
}

void sim_ofi_restore_signal_handlers(void)
{
	restore_changed_handlers();
	atomic_store(&handlers_saved, false);
	pthread_mutex_unlock(&handlers_lock);
}

/* The child has no thread that would restore the handlers that the parent was changing. */
static void reset_in_child(void)
{
	if (atomic_load(&handlers_saved))
		restore_changed_handlers();
	atomic_store(&handlers_saved, false);
	pthread_mutex_init(&handlers_lock, NULL);
}

static void __attribute__((constructor)) handle_forks(void)
{
	pthread_atfork(NULL, NULL, reset_in_child);
}

/* Replace the variable @from by @to in the environment. Only a pointer changes, so other threads can read other
 * variables meanwhile. */
static void swap_env(const char *from, char *to)
{
	for (char **slot = environ; slot && *slot; slot++)
		if (*slot == from) {
			*slot = to;
			return;
		}
}

static char *find_filter(void)
{
	for (char **slot = environ; slot && *slot; slot++)
		if (strncmp(*slot, FILTER_VARIABLE, strlen(FILTER_VARIABLE)) == 0)
			return *slot;
	return NULL;
}

/* The first fi_getinfo() reads FI_PROVIDER, and libfabric then offers only the providers that this filter permits.
 * A user's filter for other programs must not remove the providers that we need. So the variable is hidden during
 * this call, unless the application uses libfabric itself. */
static void init_providers(bool is_first_user)
{
	static char hidden[] = "BFSIM_FI_PROVIDER_HIDDEN=1";
	char *filter = is_first_user ? find_filter() : NULL;
	struct fi_info *hints = lib.dupinfo(NULL), *info = NULL;

	if (!hints)
		return;
	hints->fabric_attr->prov_name = strdup("none");
	if (filter)
		swap_env(filter, hidden);
	if (lib.getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info) == 0)
		lib.freeinfo(info);
	if (filter)
		swap_env(hidden, filter);
	lib.freeinfo(hints);
}

static void load_libfabric(void)
{
	void *loaded = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
	void *handle;

	sim_ofi_lsan_disable();
	sim_ofi_save_signal_handlers();
	handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (handle) {
		*(void **)&lib.getinfo = dlsym(handle, "fi_getinfo");
		*(void **)&lib.freeinfo = dlsym(handle, "fi_freeinfo");
		*(void **)&lib.dupinfo = dlsym(handle, "fi_dupinfo");
		*(void **)&lib.fabric = dlsym(handle, "fi_fabric");
		*(void **)&lib.strerror = dlsym(handle, "fi_strerror");
		lib_usable = lib.getinfo && lib.freeinfo && lib.dupinfo && lib.fabric && lib.strerror;
	}
	if (lib_usable)
		init_providers(!loaded);
	else
		sim_warn("no libfabric (%s): memory of other processes can't be reached over shm or tcp; "
			 "install libfabric1",
			 handle ? "it lacks functions" : dlerror());
	sim_ofi_restore_signal_handlers();
	sim_ofi_lsan_enable();
}

const struct sim_ofi_lib *sim_ofi_lib(void)
{
	pthread_once(&lib_once, load_libfabric);
	return lib_usable ? &lib : NULL;
}

int sim_ofi_errno(ssize_t rc)
{
	if (rc >= 0)
		return 0;
	return rc > -FI_ERRNO_OFFSET ? (int)rc : -EIO; /* codes below the offset are those of errno */
}
