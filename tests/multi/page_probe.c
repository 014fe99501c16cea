/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program sees of the pages of its side: prints the size, and checks that mappings keep to it. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page;

static void check(int holds, const char *what)
{
	if (holds)
		return;
	printf("not so: %s\n", what);
	exit(1);
}

static uint8_t *map_len(size_t len)
{
	uint8_t *mapped = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(mapped != MAP_FAILED, "memory can be mapped");
	check((uintptr_t)mapped % page == 0, "a mapping is aligned");
	memset(mapped, 1, len);
	return mapped;
}

int main(void)
{
	uint8_t *maps[16], *two;

	page = (size_t)sysconf(_SC_PAGESIZE);
	check((size_t)getpagesize() == page, "getpagesize() says the same");
	for (size_t i = 0; i < 16; i++)
		maps[i] = map_len(4096 * (i + 1));
	for (size_t i = 0; i < 16; i++)
		check(munmap(maps[i], 4096 * (i + 1)) == 0, "a mapping can be removed");
	two = map_len(2 * page);
	check(mprotect(two + page, page, PROT_READ) == 0, "the second page can be protected");
	if (page > 4096) {
		check(mprotect(two + 4096, 4096, PROT_READ) < 0 && errno == EINVAL,
		      "a part of a page can't be protected");
		check(munmap(two + 4096, 4096) < 0 && errno == EINVAL, "a part of a page can't be removed");
		check(mmap(two + 4096, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED &&
			      errno == EINVAL,
		      "a part of a page can't be replaced");
	}
	check(munmap(two, 2 * page) == 0, "two pages can be removed");
	printf("%zu\n", page);
	return 0;
}
