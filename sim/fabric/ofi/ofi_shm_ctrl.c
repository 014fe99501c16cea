/* SPDX-License-Identifier: BSD-3-Clause */
/* shm: the control block that a target and its peers share. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ofi_priv.h"

#define LOCK_SPINS 64

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
	/* Sealed, so that no peer can truncate it. */
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
	/* Leaving the lock inconsistent would be enough, but glibc 2.36's trylock then takes the lock and
	 * keeps it. */
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
