/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "ofi_priv.h"
#include "sim/base/monotonic.h"

#define SHM_DIR       "/dev/shm"
#define NAME_PREFIX   "bfsim-"
#define SOCKET_SUFFIX ".door"
#define LOCK_SPINS    64

static pthread_mutex_t prefix_lock = PTHREAD_MUTEX_INITIALIZER;
static char own_prefix[SIM_OFI_SHM_PREFIX_SIZE]; /* "" = not yet */

void sim_ofi_shm_prefix_forked(void)
{
	pthread_mutex_init(&prefix_lock, NULL);
	own_prefix[0] = '\0';
}

void sim_ofi_shm_prefix(char ret_prefix[SIM_OFI_SHM_PREFIX_SIZE])
{
	uint64_t tag = 0;

	pthread_mutex_lock(&prefix_lock);
	if (!own_prefix[0]) {
		/* Containers that share /dev/shm may repeat process ids. */
		if (getrandom(&tag, sizeof(tag), 0) != sizeof(tag))
			tag = sim_monotonic_ns();
		snprintf(own_prefix, sizeof(own_prefix), NAME_PREFIX "%d-%016" PRIx64 "-", (int)getpid(), tag);
	}
	memcpy(ret_prefix, own_prefix, sizeof(own_prefix));
	pthread_mutex_unlock(&prefix_lock);
}

static bool prefix_valid(const char *prefix)
{
	size_t len = strnlen(prefix, SIM_OFI_SHM_PREFIX_SIZE);
	int pid, end = 0;
	uint64_t tag;

	return len < SIM_OFI_SHM_PREFIX_SIZE &&
	       sscanf(prefix, NAME_PREFIX "%d-%16" SCNx64 "-%n", &pid, &tag, &end) == 2 && (size_t)end == len;
}

int sim_ofi_shm_cleanup(const char *prefix)
{
	const struct dirent *entry;
	int found = 0;
	DIR *dir;

	if (!prefix_valid(prefix))
		return -EINVAL;
	dir = opendir(SHM_DIR);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)) != NULL)
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && unlinkat(dirfd(dir), entry->d_name, 0) == 0)
			found++;
	closedir(dir);
	return found;
}

void sim_ofi_shm_new_name(char ret_name[SIM_OFI_SHM_NAME_SIZE])
{
	static atomic_uint number;
	char prefix[SIM_OFI_SHM_PREFIX_SIZE];

	sim_ofi_shm_prefix(prefix);
	snprintf(ret_name, SIM_OFI_SHM_NAME_SIZE, "%s%u", prefix, atomic_fetch_add(&number, 1));
}

bool sim_ofi_shm_name_valid(const char *name, size_t size)
{
	size_t len = strnlen(name, size);

	return len < size && len < SIM_OFI_SHM_NAME_SIZE && strncmp(name, NAME_PREFIX, strlen(NAME_PREFIX)) == 0 &&
	       strspn(name + strlen(NAME_PREFIX), "0123456789abcdef-") == len - strlen(NAME_PREFIX);
}

bool sim_ofi_shm_name_is_own(const char *name)
{
	char prefix[SIM_OFI_SHM_PREFIX_SIZE];

	sim_ofi_shm_prefix(prefix);
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

void sim_ofi_shm_listener_addr(const char *name, struct sockaddr_un *ret_addr)
{
	*ret_addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(ret_addr->sun_path, sizeof(ret_addr->sun_path), SHM_DIR "/%s" SOCKET_SUFFIX, name);
}

int sim_ofi_shm_ctrl_map(int fd, struct sim_ofi_shm_ctrl **ret_ctrl)
{
	struct sim_ofi_shm_ctrl *ctrl = mmap(NULL, sizeof(*ctrl), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ctrl == MAP_FAILED)
		return -errno;
	*ret_ctrl = ctrl;
	return 0;
}

void sim_ofi_shm_ctrl_unmap(struct sim_ofi_shm_ctrl *ctrl)
{
	if (ctrl)
		munmap(ctrl, sizeof(*ctrl));
}

static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

int sim_ofi_shm_ctrl_create(int *ret_fd, struct sim_ofi_shm_ctrl **ret_ctrl)
{
	int fd = memfd_create("bfsim-shm-ctrl", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int rc;

	if (fd < 0)
		return -errno;
	/* Sealed, so that no peer can pull the page from under us. */
	if (ftruncate(fd, sizeof(struct sim_ofi_shm_ctrl)) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		rc = -errno;
	else
		rc = sim_ofi_shm_ctrl_map(fd, ret_ctrl);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	init_lock(&(*ret_ctrl)->lock);
	*ret_fd = fd;
	return 0;
}

static void cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

int sim_ofi_shm_ctrl_lock(struct sim_ofi_shm_ctrl *ctrl)
{
	int rc = EBUSY;

	for (int i = 0; i < LOCK_SPINS && rc == EBUSY; i++) {
		rc = pthread_mutex_trylock(&ctrl->lock);
		if (rc == EBUSY)
			cpu_relax();
	}
	if (rc == EBUSY)
		return -EBUSY;
	/* To leave it inconsistent would do, were it not for glibc (2.36), whose trylock
	 * then takes the lock and keeps it. */
	if (rc == EOWNERDEAD) {
		pthread_mutex_consistent(&ctrl->lock);
		ctrl->closed = 1;
	}
	if (!ctrl->closed)
		return 0;
	pthread_mutex_unlock(&ctrl->lock);
	return -EOWNERDEAD;
}

void sim_ofi_shm_ctrl_unlock(struct sim_ofi_shm_ctrl *ctrl)
{
	pthread_mutex_unlock(&ctrl->lock);
}
