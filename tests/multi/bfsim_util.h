/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/bfsim_util.h - tests that are processes of their own, each in an empty directory.
 *
 * cmocka's assertions don't work there: CHECK, MUST (dma_util.h), NEED_OK and NEED_ERROR
 * end the process, and with it the test.
 */
#ifndef TESTS_MULTI_BFSIM_UTIL_H
#define TESTS_MULTI_BFSIM_UTIL_H

#include <stdbool.h>
#include <sys/types.h>

#include <bfsim.h>

#include "cmocka_test.h"
#include "../api/dma_util.h"

struct own_test {
	const char *name;
	void (*body)(void);
};

#define OWN_TEST(body)      \
	{                   \
#body, body \
	}
#define OWN_RUN(tests) own_run((tests), sizeof(tests) / sizeof((tests)[0]))

/* Run each in a process that is in no session. The result is main()'s. */
int own_run(const struct own_test *tests, size_t num_tests);

/* Wait for a child, which must end with status 0. */
void wait_well(pid_t pid);

/* A card for the test. With CARD=private in the environment, the process uses its private card; else it enters a
 * session on @side. @side NULL = the default. */
bool card_is_private(void);
void card_begin(const char *side, const char *topology, const char *clock);
void card_end(void);

/* Add a rule for a link or a function, and return its id after the rule has hit. On a private card the process
 * must have listed devices before. */
uint32_t card_inject(const char *rule);

/* @call returns 0; or @code, with an explanation that contains @text. */
#define NEED_OK(call)                own_need((call), 0, "", #call, __FILE__, __LINE__)
#define NEED_ERROR(call, code, text) own_need((call), (code), (text), #call, __FILE__, __LINE__)

void own_need(int rc, int code, const char *text, const char *call, const char *file, int line);

#endif
