/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/unit/dir_fixture.h - an open session directory for each test. */
#ifndef TESTS_UNIT_DIR_FIXTURE_H
#define TESTS_UNIT_DIR_FIXTURE_H

#include <fcntl.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "proc.h"
#include "sim/protocol/session_dir.h"

struct fixture {
	char *path;
	int fd;
};

static inline int setup(void **state)
{
	struct fixture *f = test_calloc(1, sizeof(*f));

	f->path = proc_make_dir();
	f->fd = sim_session_dir_open(f->path, false);
	assert_true(f->fd >= 0);
	*state = f;
	return 0;
}

/* Remove the directory with all in it. */
static inline int teardown(void **state)
{
	struct fixture *f = *state;

	close(f->fd);
	proc_remove_dir(f->path);
	test_free(f);
	return 0;
}

static inline bool has(const struct fixture *f, const char *name)
{
	return faccessat(f->fd, name, F_OK, 0) == 0;
}

#endif
