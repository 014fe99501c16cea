/* SPDX-License-Identifier: BSD-3-Clause */
/* The C library of device code: memory. Whole ranges are checked before. */
#include <string.h>

#include "runtime.h"

static void copy_up(unsigned char *dst, const unsigned char *src, size_t len)
{
	for (; len >= 8; len -= 8, dst += 8, src += 8) {
		uint64_t word;

		__builtin_memcpy(&word, src, 8);
		__builtin_memcpy(dst, &word, 8);
	}
	while (len--)
		*dst++ = *src++;
}

static void copy_down(unsigned char *dst, const unsigned char *src, size_t len)
{
	while (len--)
		dst[len] = src[len];
}

static inline void *copy_at(void *dst, const void *src, size_t len, uintptr_t pc)
{
	bfsim_dpa_check_at((uintptr_t)src, len, false, pc);
	bfsim_dpa_check_at((uintptr_t)dst, len, true, pc);
	if ((uintptr_t)dst - (uintptr_t)src < len)
		copy_down(dst, src, len);
	else
		copy_up(dst, src, len);
	return dst;
}

static inline void *set_at(void *dst, int value, size_t len, uintptr_t pc)
{
	unsigned char *at = dst;

	bfsim_dpa_check_at((uintptr_t)dst, len, true, pc);
	while (len--)
		*at++ = (unsigned char)value;
	return dst;
}

#define PC ((uintptr_t)__builtin_return_address(0))

void *memcpy(void *restrict dst, const void *restrict src, size_t len)
{
	return copy_at(dst, src, len, PC);
}

void *memmove(void *dst, const void *src, size_t len)
{
	return copy_at(dst, src, len, PC);
}

void *memset(void *dst, int value, size_t len)
{
	return set_at(dst, value, len, PC);
}

int memcmp(const void *a, const void *b, size_t len)
{
	const unsigned char *x = a, *y = b;

	bfsim_dpa_check(a, len, false);
	bfsim_dpa_check(b, len, false);
	for (size_t i = 0; i < len; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

void *memchr(const void *at, int value, size_t len)
{
	const unsigned char *x = at;

	for (size_t i = 0; i < len; i++) {
		bfsim_dpa_check(x + i, 1, false);
		if (x[i] == (unsigned char)value)
			return (void *)(uintptr_t)(x + i);
	}
	return NULL;
}

/* Newer compilers call these instead, with the same meaning. */
void *__tsan_memcpy(void *dst, const void *src, size_t len);
void *__tsan_memcpy(void *dst, const void *src, size_t len)
{
	return copy_at(dst, src, len, PC);
}

void *__tsan_memmove(void *dst, const void *src, size_t len);
void *__tsan_memmove(void *dst, const void *src, size_t len)
{
	return copy_at(dst, src, len, PC);
}

void *__tsan_memset(void *dst, int value, size_t len);
void *__tsan_memset(void *dst, int value, size_t len)
{
	return set_at(dst, value, len, PC);
}
