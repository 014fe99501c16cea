/* SPDX-License-Identifier: BSD-3-Clause */
/* The macros of doca_log.h in C++, trace records included. */
#define DOCA_LOGGING_ALLOW_TRACE
#include <doca_log.h>

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <string>

extern "C" {
#include <cmocka.h>
}

#include "log_child.h"
#include "check.h"

DOCA_LOG_REGISTER(TEST::LOG::CXX);

namespace
{

struct speaker {
	template <typename T> void say(T value)
	{
		DOCA_LOG_CRIT("crit %s", std::to_string(value).c_str());
	}
};

void every_macro()
{
	struct doca_log_backend *backend;

	CHECK(doca_log_backend_create_with_fd(STDOUT_FILENO, &backend) == DOCA_SUCCESS);
	CHECK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_TRACE) == DOCA_SUCCESS);
	speaker().say(1);
	DOCA_LOG_ERR("err");
	DOCA_LOG_WARN("warn");
	DOCA_LOG_INFO("info %d %s", 2, "x");
	DOCA_LOG_DBG("dbg");
	DOCA_LOG_TRC("trc %d", 3);
	[] { DOCA_LOG(DOCA_LOG_LEVEL_INFO, "lambda"); }();
	if (backend)
		DOCA_LOG_INFO("in a branch");
	else
		DOCA_LOG_INFO("never");
	CHECK(doca_log(DOCA_LOG_LEVEL_INFO, log_source, nullptr, 1, nullptr, "source") == DOCA_SUCCESS);
}

void test_every_macro_makes_its_record_in_cxx(void **)
{
	const char *line = in_child(every_macro)->out;
	const char *const ends[] = { "[say] crit 1\n", "] err\n",         "] warn\n",
				     "] info 2 x\n",   "] dbg\n",         "] trc 3\n",
				     "] lambda\n",     "] in a branch\n", "[TEST::LOG::CXX:1] source\n" };
	const char *const tags[] = {
		"[CRT][test_log_cxx.cc:", "[ERR]", "[WRN]", "[INF]", "[DBG]", "[TRC]", "[INF]", "[INF]", "[INF]"
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		std::string one(line, strcspn(line, "\n") + 1);

		assert_true(one.find(tags[i]) != std::string::npos);
		assert_true(one.size() > strlen(ends[i]));
		assert_string_equal(one.c_str() + one.size() - strlen(ends[i]), ends[i]);
		line += one.size();
	}
	assert_string_equal(line, "");
}

} // namespace

int main()
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_macro_makes_its_record_in_cxx),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
