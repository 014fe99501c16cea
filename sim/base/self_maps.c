/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads /proc/self/maps: "7f00-7f01 rw-p 1000 ...". */
#include "self_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Bare system calls: sanitizers' wrappers are not for signal handlers. */
bool sim_self_maps_open(struct sim_self_maps *maps)
{
	maps->at = maps->end = 0;
	maps->fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	return maps->fd >= 0;
}

void sim_self_maps_close(struct sim_self_maps *maps)
{
	syscall(SYS_close, maps->fd);
}

/* Returns '\0' at the end. */
static char next_char(struct sim_self_maps *maps)
{
	if (maps->at == maps->end) {
		long got;

		do {
			got = syscall(SYS_read, maps->fd, maps->text, sizeof(maps->text));
		} while (got < 0 && errno == EINTR);
		if (got <= 0)
			return '\0';
		maps->at = 0;
		maps->end = (size_t)got;
	}
	return maps->text[maps->at++];
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns whether the number ends with @last. */
static bool read_number(struct sim_self_maps *maps, char last, uint64_t *ret)
{
	char c;
	int digit;

	*ret = 0;
	while ((digit = hex_digit(c = next_char(maps))) >= 0)
		*ret = *ret * 16 + (uint64_t)digit;
	return c == last;
}

bool sim_self_maps_next(struct sim_self_maps *maps, struct sim_vma *ret_vma)
{
	uint64_t begin, end;
	char c;

	if (!read_number(maps, '-', &begin) || !read_number(maps, ' ', &end))
		return false;
	ret_vma->begin = begin;
	ret_vma->end = end;
	ret_vma->prot = next_char(maps) == 'r' ? PROT_READ : 0;
	ret_vma->prot |= next_char(maps) == 'w' ? PROT_WRITE : 0;
	ret_vma->prot |= next_char(maps) == 'x' ? PROT_EXEC : 0;
	next_char(maps); /* private or shared */
	next_char(maps);
	if (!read_number(maps, ' ', &ret_vma->offset))
		return false;
	do {
		c = next_char(maps);
	} while (c != '\n' && c != '\0');
	return true;
}
