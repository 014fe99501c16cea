/* SPDX-License-Identifier: BSD-3-Clause */
/* The C library of device code: strings, each byte checked, and small arithmetic. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

static char get(const char *at, uintptr_t pc)
{
	bfsim_dpa_check_at((uintptr_t)at, 1, false, pc);
	return *at;
}

static void put(char *at, char value, uintptr_t pc)
{
	bfsim_dpa_check_at((uintptr_t)at, 1, true, pc);
	*at = value;
}

#define PC ((uintptr_t)__builtin_return_address(0))

size_t strlen(const char *text)
{
	size_t len = 0;

	while (get(text + len, PC))
		len++;
	return len;
}

size_t strnlen(const char *text, size_t max)
{
	size_t len = 0;

	while (len < max && get(text + len, PC))
		len++;
	return len;
}

int strncmp(const char *a, const char *b, size_t max)
{
	for (size_t i = 0; i < max; i++) {
		unsigned char x = (unsigned char)get(a + i, PC), y = (unsigned char)get(b + i, PC);

		if (x != y)
			return x < y ? -1 : 1;
		if (!x)
			return 0;
	}
	return 0;
}

int strcmp(const char *a, const char *b)
{
	for (size_t i = 0;; i++) {
		unsigned char x = (unsigned char)get(a + i, PC), y = (unsigned char)get(b + i, PC);

		if (x != y)
			return x < y ? -1 : 1;
		if (!x)
			return 0;
	}
}

char *strcpy(char *restrict dst, const char *restrict src)
{
	size_t i = 0;
	char c;

	do {
		c = get(src + i, PC);
		put(dst + i++, c, PC);
	} while (c);
	return dst;
}

char *strncpy(char *restrict dst, const char *restrict src, size_t max)
{
	bool is_over = false;

	for (size_t i = 0; i < max; i++) {
		char c = is_over ? 0 : get(src + i, PC);

		is_over = !c;
		put(dst + i, c, PC);
	}
	return dst;
}

char *strcat(char *restrict dst, const char *restrict src)
{
	size_t end = 0, i = 0;
	char c;

	while (get(dst + end, PC))
		end++;
	do {
		c = get(src + i, PC);
		put(dst + end + i++, c, PC);
	} while (c);
	return dst;
}

char *strchr(const char *text, int c)
{
	for (;; text++) {
		char found = get(text, PC);

		if (found == (char)c)
			return (char *)(uintptr_t)text;
		if (!found)
			return NULL;
	}
}

char *strrchr(const char *text, int c)
{
	const char *last = NULL;

	for (;; text++) {
		char found = get(text, PC);

		if (found == (char)c)
			last = text;
		if (!found)
			return (char *)(uintptr_t)last;
	}
}

int abs(int value)
{
	return value < 0 ? -value : value;
}

long labs(long value)
{
	return value < 0 ? -value : value;
}

long long llabs(long long value)
{
	return value < 0 ? -value : value;
}

div_t div(int a, int b)
{
	return (div_t){ a / b, a % b };
}

ldiv_t ldiv(long a, long b)
{
	return (ldiv_t){ a / b, a % b };
}

void abort(void)
{
	bfsim_dpa_fatal("the device code called abort()");
}

/* What glibc's assert() calls. */
void __assert_fail(const char *condition, const char *file, unsigned line, const char *function)
	__attribute__((noreturn));
void __assert_fail(const char *condition, const char *file, unsigned line, const char *function)
{
	(void)file;
	(void)line;
	(void)function;
	bfsim_dpa_fatal(condition);
}
