/* SPDX-License-Identifier: BSD-3-Clause */
/* Keep libfabric's provider verbs from reading the kernel's table of symbols, 0.07 s of CPU in each process that loads libfabric.
 *
 * Up to release 1.17 at least it does so at each start, used or not, to find out whether memory of GPUs can be registered. A gateway
 * registers no such memory. libfabric calls the function of this program in place of libc's. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef FILE *open_file(const char *path, const char *mode);

/* The name for the linker is written out, as libc's headers call the function fopen64 here. */
__attribute__((visibility("default"))) open_file fopen_of_libraries __asm__("fopen");

FILE *fopen_of_libraries(const char *path, const char *mode)
{
	open_file *open_with_libc = (open_file *)dlsym(RTLD_NEXT, "fopen");

	if (!open_with_libc || strcmp(path, "/proc/kallsyms") == 0) {
		errno = EACCES;
		return NULL;
	}
	return open_with_libc(path, mode);
}
