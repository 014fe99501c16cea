/* SPDX-License-Identifier: BSD-3-Clause */
/* Explains undefined functions. */
#include "link_errors.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *prefix, *advice;
} advices[] = {
	{ "printf", "use DOCA_DPA_DEV_LOG_INFO" },
	{ "puts", "use DOCA_DPA_DEV_LOG_INFO" },
	{ "putchar", "use DOCA_DPA_DEV_LOG_INFO" },
	{ "fprintf", "use DOCA_DPA_DEV_LOG_INFO" },
	{ "flexio_dev_", "bfsim has DOCA's device functions, not FlexIO's" },
	{ "malloc", "the host gives memory: doca_dpa_mem_alloc()" },
	{ "calloc", "the host gives memory: doca_dpa_mem_alloc()" },
	{ "realloc", "the host gives memory: doca_dpa_mem_alloc()" },
	{ "free", "the host gives memory: doca_dpa_mem_alloc()" },
	{ "doca_dpa_dev_verbs_", "add -ldoca_dpa_dev_verbs to --device-libs" },
	{ "doca_dpa_dev_rdma_", "add -ldoca_dpa_dev_comm to --device-libs" },
	{ "doca_dpa_dev_comch_", "add -ldoca_dpa_dev_comm to --device-libs" },
	{ "doca_dpa_dev_devemu_", "add -ldoca_dpa_dev_comm to --device-libs" },
	{ "doca_dpa_dev_", "add -ldoca_dpa_dev to --device-libs" },
	{ "doca_", "a function of the host" },
	{ "pthread_", "the host starts threads: doca_dpa_thread_create()" },
};

static const char *find_advice(const char *name)
{
	for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++)
		if (strncmp(name, advices[i].prefix, strlen(advices[i].prefix)) == 0)
			return advices[i].advice;
	return "the C library of device code has mem* and str* functions, abs(), div() and atomics";
}

/* "...: undefined reference to `NAME'", of ld; lld: "undefined symbol: NAME". */
static bool find_undefined(const char *line, size_t len, char *ret_name, size_t size)
{
	static const char *const texts[] = { "undefined reference to `", "undefined reference to '",
					     "undefined symbol: " };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *at = memmem(line, len, texts[i], strlen(texts[i]));

		if (at) {
			at += strlen(texts[i]);
			snprintf(ret_name, size, "%.*s", (int)strcspn(at, "'`\n"), at);
			return true;
		}
	}
	return false;
}

/* "FILE:LINE" in front of the linker's text, if the object has lines. */
static void print_undefined(const char *line, size_t len, const char *name)
{
	const char *place = line, *end = memmem(line, len, ": undefined", 11);
	size_t place_len = end ? (size_t)(end - line) : 0;

	/* ld names itself, and the object if it has no line. */
	for (const char *at = line; place_len && at < end; at++)
		if (at[0] == ':' && at[1] == ' ')
			place = at + 2;
	if (place_len && memchr(place, ':', (size_t)(end - place)) && !memchr(place, '(', (size_t)(end - place)))
		fprintf(stderr, "%.*s: ", (int)(end - place), place);
	fprintf(stderr, "error: %s: not on the DPA; %s\n", name, find_advice(name));
}

void link_errors_print(const char *messages)
{
	char name[256], last[256] = "";

	while (*messages) {
		size_t len = strcspn(messages, "\n");

		if (find_undefined(messages, len, name, sizeof(name))) {
			print_undefined(messages, len, name);
			snprintf(last, sizeof(last), "%s", name);
		} else if (!last[0] ||
			   (!memmem(messages, len, "in function", 11) && !memmem(messages, len, "collect2", 8) &&
			    !memmem(messages, len, "linker command failed", 21))) {
			if (!memmem(messages, len, "in function", 11))
				fprintf(stderr, "%.*s\n", (int)len, messages);
		}
		messages += len + (messages[len] == '\n');
	}
}
