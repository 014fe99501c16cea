/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of strings, numbers in text, names of flags. */
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argp_priv.h"

char *shim_argp_dup(const char *text)
{
	size_t len = strlen(text);
	char *copy = calloc(1, len + 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

void shim_argp_set_text(char **slot, const char *text, const char *func)
{
	char *copy;

	if (!text) {
		shim_argp_log_misuse(func, "the text is NULL; nothing was set");
		return;
	}
	copy = shim_argp_dup(text);
	if (!copy) {
		shim_argp_log_misuse(func, "no memory for '%s'; nothing was set", text);
		return;
	}
	free(*slot);
	*slot = copy;
}

bool shim_argp_text_to_int(const char *text, int *ret_number)
{
	long number;
	char *end;

	if (!strchr("+-0123456789", text[0]) || text[0] == '\0')
		return false; /* strtol() would skip blanks */
	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || end == text || *end != '\0' || number < INT_MIN || number > INT_MAX)
		return false;
	*ret_number = (int)number;
	return true;
}

bool shim_argp_text_to_double(const char *text, double *ret_number)
{
	locale_t c_locale;
	char *end;

	if (!strchr("+-.0123456789", text[0]) || text[0] == '\0')
		return false; /* strtod() would skip blanks */
	c_locale = newlocale(LC_ALL_MASK, "C", NULL);
	if (!c_locale)
		return false;
	*ret_number = strtod_l(text, &end, c_locale);
	freelocale(c_locale);
	return end != text && *end == '\0' && isfinite(*ret_number);
}

const char *shim_argp_flag_name(const struct doca_argp_param *param)
{
	static char name[128];

	if (param->long_name)
		snprintf(name, sizeof(name), "--%s", param->long_name);
	else if (param->short_name)
		snprintf(name, sizeof(name), "-%s", param->short_name);
	else
		return "a parameter without a name";
	return name;
}
