/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of other processes and files: what a terminal would obey becomes '?' (sim/base/printable.h), also in log lines
 * and error messages. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/base/last_error.h"
#include "sim/base/log.h"
#include "sim/base/printable.h"

#define HOSTILE "a\nb\033[31m\302\233c\377d"
#define SHOWN   "a?b?[31m??c?d"

static void assert_becomes(const char *from, const char *wanted)
{
	char text[256];

	strcpy(text, from);
	sim_make_printable(text);
	assert_string_equal(text, wanted);
}

static void test_printable_text_stays_as_it_is(void **state)
{
	static const char *const texts[] = { "",
					     "my app",
					     "\"~`",
					     "\302\265s",
					     "na\303\257ve",
					     "\344\270\255\346\226\207",
					     "\360\237\246\272",
					     "\302\240" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_becomes(texts[i], texts[i]);
}

static void test_control_characters_become_question_marks(void **state)
{
	assert_becomes(HOSTILE, SHOWN);
	assert_becomes("\t\r\b\177", "????");
	assert_becomes("\302\200\302\237", "????"); /* the second set of control characters */
}

static void test_separators_and_directions_become_question_marks(void **state)
{
	assert_becomes("a\342\200\250b", "a???b");           /* U+2028 */
	assert_becomes("\342\200\256txt.exe", "???txt.exe"); /* U+202E */
	assert_becomes("\342\201\246", "???");               /* U+2066 */
}

static void test_bytes_that_are_not_utf8_become_question_marks(void **state)
{
	assert_becomes("\200\277", "??");
	assert_becomes("\300\257", "??");           /* '/', too long */
	assert_becomes("\355\240\200", "???");      /* a surrogate */
	assert_becomes("\364\220\200\200", "????"); /* beyond the last character */
	assert_becomes("x\303", "x?");              /* cut off */
	assert_becomes("x\360\237\246", "x???");
}

static void test_array_without_end_is_ended(void **state)
{
	char text[4] = { 'a', '\n', 'b', 'c' };

	sim_make_printable_array(text, sizeof(text));
	assert_string_equal(text, "a?b");
}

static void test_error_message_is_printable(void **state)
{
	assert_int_equal(sim_set_error(-5, "program %s ends", HOSTILE), -5);
	assert_string_equal(sim_last_error(), "program " SHOWN " ends");
}

/* Without a shim: in the command and the daemon. */
static void test_log_line_is_printable(void **state)
{
	char text[256] = "";
	int saved = dup(STDERR_FILENO), fds[2];

	assert_int_equal(pipe(fds), 0);
	dup2(fds[1], STDERR_FILENO);
	sim_err("program %s ends", HOSTILE);
	dup2(saved, STDERR_FILENO);
	assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
	assert_string_equal(text, "bfsim: program " SHOWN " ends\n");
	close(saved);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_printable_text_stays_as_it_is),
		cmocka_unit_test(test_control_characters_become_question_marks),
		cmocka_unit_test(test_separators_and_directions_become_question_marks),
		cmocka_unit_test(test_bytes_that_are_not_utf8_become_question_marks),
		cmocka_unit_test(test_array_without_end_is_ended),
		cmocka_unit_test(test_error_message_is_printable),
		cmocka_unit_test(test_log_line_is_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
