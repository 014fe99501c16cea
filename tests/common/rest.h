/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/rest.h - between polls that find nothing: other tests have work for the CPU. */
#ifndef TESTS_COMMON_REST_H
#define TESTS_COMMON_REST_H

#include <unistd.h>

static inline void rest_between_polls(void)
{
	usleep(20);
}

#endif
