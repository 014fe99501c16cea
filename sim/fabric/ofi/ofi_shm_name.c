/* SPDX-License-Identifier: BSD-3-Clause */
/* shm: names of regions and sockets in /dev/shm. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "ofi_priv.h"
#include "sim/base/monotonic.h"

#define SHM_DIR       "/dev/shm"
#define NAME_PREFIX   "bfsim-"
#define SOCKET_SUFFIX ".sock"

static pthread_mutex_t prefix_lock = PTHREAD_MUTEX_INITIALIZER;
static char own_prefix[SIM_OFI_SHM_PREFIX_SIZE]; /* "" = not yet */

static void reset_in_child(void)
{
	pthread_mutex_init(&prefix_lock, NULL);
	own_prefix[0] = '\0';
}

static void __attribute__((constructor)) handle_forks(void)
{
	pthread_atfork(NULL, NULL, reset_in_child);
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
