/* SPDX-License-Identifier: BSD-3-Clause */
/* Random rules: each one that compiles is written as a text that compiles to the same, byte for byte; each one
 * that does not gives an error. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/faults/rule/rule.h"

#define ROUNDS 20000

static uint64_t chance = 1; /* a fixed seed: each run has the same rules */

static uint64_t below(uint64_t n)
{
	chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (chance >> 33) % n;
}

#define one_of(...)                                                      \
	({                                                               \
		static const char *const choices_[] = { __VA_ARGS__ };   \
		choices_[below(sizeof(choices_) / sizeof(choices_[0]))]; \
	})

static void append(char *text, const char *word)
{
	size_t len = strlen(text);

	assert_true(len + strlen(word) + 2 < SIM_RULE_LINE_SIZE);
	sprintf(text + len, "%s%s", len ? " " : "", word);
}

/* "1234us", of any size. */
static const char *random_time(char text[64])
{
	sprintf(text, "%" PRIu64 "%s", below(below(2) ? 10 : 1000000), one_of("ns", "us", "ms", "s"));
	return text;
}

static void append_condition(char *text)
{
	char word[256], time[64];

	switch (below(10)) {
	case 0:
		append(text, one_of("side=host", "side=node0/*", "program=app", "program=\"my app\"", "program=a?b*"));
		return;
	case 1:
		append(text,
		       one_of("device=03:00.0", "device=0000:b1:00.2", "device=mlx5_0", "device=\"x (y)\"", "pid=17"));
		return;
	case 2:
		sprintf(word, "size%s%" PRIu64 "%s", one_of("=", "==", "<", ">", "<=", ">="), below(5000),
			one_of("", "k", "M", "G"));
		break;
	case 3:
		sprintf(word, "size=%" PRIu64 "..%" PRIu64 "k", below(5000), below(5000));
		break;
	case 4:
		sprintf(word, "addr=0x%" PRIx64 "..0x%" PRIx64, below(100000), below(1000000));
		break;
	case 5:
		sprintf(word, "%s=%" PRIu64, one_of("nth", "every", "times", "skip", "seed"), below(1000));
		break;
	case 6:
		sprintf(word, "p=0.%09" PRIu64, below(1000000000));
		break;
	case 7:
		sprintf(word, "p=%" PRIu64 "%s", below(20), one_of("%", "e-3", "e-9", ""));
		break;
	default:
		sprintf(word, "%s=%s", one_of("from", "until"), random_time(time));
	}
	append(text, word);
}

static void append_delay(char *text)
{
	char word[256], a[64], b[64];

	switch (below(4)) {
	case 0:
		sprintf(word, "delay=%s", random_time(a));
		break;
	case 1:
		sprintf(word, "delay=pareto(%s,%" PRIu64 ".%" PRIu64 ")", random_time(a), below(5), below(1000));
		break;
	case 2:
		sprintf(word, "delay=%s", one_of("trace(a.txt)", "trace(\"a b\")", "trace(/x/y(z))"));
		break;
	default:
		sprintf(word, "delay=%s(%s,%s)", one_of("uniform", "normal", "lognormal"), random_time(a),
			random_time(b));
	}
	append(text, word);
}

static void append_action(char *text)
{
	char word[256], time[64];

	switch (below(6)) {
	case 0:
		append(text, one_of("hang", "tear", "drop", "duplicate", "break", "fatal", "reset", "remove", "add",
				    "kill", "rep_remove", "refuse", "refuse=AGAIN", "refuse=NO_MEMORY"));
		return;
	case 1:
		append(text,
		       one_of("fail=IO_FAILED", "fail=NO_MEMORY", "fail=DRIVER moved=12.5%", "fail=AGAIN moved=4k",
			      "degrade=gen1x1", "degrade=gen6x16", "errors=0.001", "errors=1e-9"));
		return;
	case 2:
		append_delay(text);
		return;
	case 3:
		sprintf(word, "%s=%s", one_of("stall", "down", "pause"), random_time(time));
		break;
	default:
		sprintf(word, "%s=%" PRIu64, one_of("flip", "reorder", "truncate", "num_vfs"), below(2000));
	}
	append(text, word);
}

static void make_rule(char *text)
{
	uint64_t conditions = below(4), actions = 1 + below(2);

	*text = '\0';
	append(text, one_of("*", "dma.memcpy", "comch.*", "comch.send", "comch.connect,comm_channel.connect", "link",
			    "function", "peer", "daemon", "alloc", "*.recv", "comch.send,comch.recv,dma.*", "mmap.*",
			    "dma.memcpy", "comm_channel.send", "sync_event.?*"));
	while (conditions--)
		append_condition(text);
	while (actions--)
		append_action(text);
}

static void assert_written_back(const struct sim_rule *rule, const char *file, const char *text)
{
	char again_file[SIM_DELAYS_FILE_SIZE], written[SIM_RULE_TEXT_SIZE], twice[SIM_RULE_TEXT_SIZE];
	struct sim_rule_error error;
	struct sim_rule again;

	if (sim_rule_check(rule))
		fail_msg("compiled to something unsound: %s", text);
	sim_rule_format(rule, file, written);
	if (sim_rule_parse(written, &again, again_file, &error))
		fail_msg("%s\nwas written as\n%s\n%*s^ %s", text, written, (int)error.column - 1, "", error.text);
	if (memcmp(rule, &again, sizeof(again)) != 0 || strcmp(file, again_file) != 0)
		fail_msg("%s\nand\n%s\nare not the same", text, written);
	sim_rule_format(&again, again_file, twice);
	assert_string_equal(written, twice);
}

static void test_rules_survive_being_written(void **state)
{
	char text[SIM_RULE_LINE_SIZE], file[SIM_DELAYS_FILE_SIZE];
	unsigned int taken = 0, refused = 0;
	struct sim_rule_error error;
	struct sim_rule rule;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		make_rule(text);
		if (sim_rule_parse(text, &rule, file, &error) == 0) {
			taken++;
			assert_written_back(&rule, file, text);
			assert_true(sim_rule_ops(&rule));
		} else {
			refused++;
			assert_in_range(error.column, 1, strlen(text) + 1);
			assert_true(strlen(error.text) > 10);
		}
	}
	/* The rounds mean nothing unless there are many of both. */
	assert_true(taken > ROUNDS / 20);
	assert_true(refused > ROUNDS / 20);
}

/* ---- names: characters that mean something to rules, files and terminals ---- */

static void append_name(char *text, const char *word, size_t max_len)
{
	static const char characters[] = "ab_0.:*?=<>()[]{},;#'`$%&|~!^-+/\\ \t\n\r\033\177\200\233\303\251\"";
	const char *quote = below(4) ? "\"" : "";
	size_t count = 1 + below(below(4) ? 6 : max_len + 2);
	char name[SIM_DELAYS_FILE_SIZE + 8];

	for (size_t i = 0; i < count; i++)
		name[i] = characters[below(below(3) ? 8 : sizeof(characters) - 1)];
	name[count] = '\0';
	sprintf(text + strlen(text), "%s%s%s%s", word, quote, name, quote);
}

/* A rule with names whose parser and whose check agree: what compiles can be sent to a daemon, which checks it, and is
 * listed as a text that compiles to the same rule. */
static void test_rules_with_any_names_survive_being_written(void **state)
{
	char text[SIM_RULE_LINE_SIZE], file[SIM_DELAYS_FILE_SIZE];
	unsigned int taken = 0, refused = 0;
	struct sim_rule_error error;
	struct sim_rule rule;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		strcpy(text, "dma.memcpy");
		append_name(text, " program=", SIM_RULE_PROGRAM_SIZE);
		if (below(2))
			append_name(text, " side=", SIM_RULE_SIDE_SIZE);
		if (below(2))
			append_name(text, " device=", SIM_RULE_DEVICE_SIZE);
		if (below(2)) {
			append_name(text, " delay=trace(", SIM_DELAYS_FILE_SIZE);
			strcat(text, ")");
		} else {
			strcat(text, " hang");
		}
		if (sim_rule_parse(text, &rule, file, &error) == 0) {
			taken++;
			assert_written_back(&rule, file, text);
		} else {
			refused++;
		}
	}
	assert_true(taken > ROUNDS / 20);
	assert_true(refused > ROUNDS / 20);
}

static void test_names_are_listed_as_they_were_given(void **state)
{
	static const char *const texts[] = {
		"dma.memcpy device=\"=mlx5_0\" hang",
		"dma.memcpy program=\"a (b) c\" hang",
		"dma.memcpy side=host program=a=b device=<x> hang",
	};
	char file[SIM_DELAYS_FILE_SIZE], written[SIM_RULE_TEXT_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(sim_rule_parse(texts[i], &rule, file, &error), 0);
		sim_rule_format(&rule, file, written);
		assert_string_equal(written, texts[i]);
	}
}

/* ---- compiled rules, as a process sends them ---- */

/* The number of a plan's series of delays has no text. */
static void assert_has_a_text(struct sim_rule rule)
{
	char file[SIM_DELAYS_FILE_SIZE], written[SIM_RULE_TEXT_SIZE];
	struct sim_rule_error error;
	struct sim_rule again;

	if (rule.delay_kind == SIM_DELAY_TRACE)
		rule.delay_a = 0;
	sim_rule_format(&rule, "file", written);
	if (sim_rule_parse(written, &again, file, &error))
		fail_msg("%s\n%*s^ %s", written, (int)error.column - 1, "", error.text);
	if (memcmp(&rule, &again, sizeof(again)) != 0)
		fail_msg("another rule than the one that was written as\n%s", written);
}

static void test_rules_that_pass_the_check_have_a_text(void **state)
{
	char text[SIM_RULE_LINE_SIZE], file[SIM_DELAYS_FILE_SIZE];
	unsigned int passed = 0, refused = 0;
	struct sim_rule_error error;
	struct sim_rule rule;

	for (unsigned int i = 0; i < ROUNDS * 2; i++) {
		make_rule(text);
		if (sim_rule_parse(text, &rule, file, &error))
			continue;
		for (uint64_t changes = below(3); changes > 0; changes--)
			((uint8_t *)&rule)[below(sizeof(rule))] ^= (uint8_t)(1 << below(8));
		if (sim_rule_check(&rule)) {
			refused++;
			continue;
		}
		passed++;
		assert_has_a_text(rule);
	}
	assert_true(passed > ROUNDS / 20);
	assert_true(refused > ROUNDS / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_survive_being_written),
		cmocka_unit_test(test_rules_with_any_names_survive_being_written),
		cmocka_unit_test(test_names_are_listed_as_they_were_given),
		cmocka_unit_test(test_rules_that_pass_the_check_have_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
