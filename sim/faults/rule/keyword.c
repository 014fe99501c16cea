/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of keywords. */
#include "rule_priv.h"

#include <string.h>

#include "pcie_model/did_you_mean.h"

#define ACT(act) [SIM_ACT_##act]
static const struct sim_keyword keywords[] = {
	/* Actions come first, numbered as enum sim_act. */
	ACT(FAIL) = { "fail", "fail=STATUS", SIM_NEEDS_VALUE, sim_read_fail },
	ACT(HANG) = { "hang", "hang", SIM_NO_VALUE, sim_read_no_value },
	ACT(REFUSE) = { "refuse", "refuse or refuse=AGAIN", SIM_MAYBE_VALUE, sim_read_refuse },
	ACT(DELAY) = { "delay", "delay=TIME or delay=DISTRIBUTION(...)", SIM_NEEDS_VALUE, sim_read_delay },
	ACT(FLIP) = { "flip", "flip=BITS", SIM_NEEDS_VALUE, sim_read_flip },
	ACT(TEAR) = { "tear", "tear", SIM_NO_VALUE, sim_read_no_value },
	ACT(BAD_CHECKSUM) = { "bad_checksum", "bad_checksum", SIM_NO_VALUE, sim_read_no_value },
	ACT(BAD_TAG) = { "bad_tag", "bad_tag", SIM_NO_VALUE, sim_read_no_value },
	ACT(DROP) = { "drop", "drop", SIM_NO_VALUE, sim_read_no_value },
	ACT(DUPLICATE) = { "duplicate", "duplicate", SIM_NO_VALUE, sim_read_no_value },
	ACT(REORDER) = { "reorder", "reorder=MESSAGES", SIM_NEEDS_VALUE, sim_read_reorder },
	ACT(TRUNCATE) = { "truncate", "truncate=BYTES", SIM_NEEDS_VALUE, sim_read_truncate },
	ACT(STALL) = { "stall", "stall=TIME", SIM_NEEDS_VALUE, sim_read_duration },
	ACT(BREAK) = { "break", "break", SIM_NO_VALUE, sim_read_no_value },
	ACT(DOWN) = { "down", "down=TIME", SIM_NEEDS_VALUE, sim_read_duration },
	ACT(DEGRADE) = { "degrade", "degrade=gen2x4", SIM_NEEDS_VALUE, sim_read_degrade },
	ACT(ERRORS) = { "errors", "errors=PART", SIM_NEEDS_VALUE, sim_read_errors },
	ACT(FATAL) = { "fatal", "fatal", SIM_NO_VALUE, sim_read_no_value },
	ACT(RESET) = { "reset", "reset", SIM_NO_VALUE, sim_read_no_value },
	ACT(REMOVE) = { "remove", "remove", SIM_NO_VALUE, sim_read_no_value },
	ACT(ADD) = { "add", "add", SIM_NO_VALUE, sim_read_no_value },
	ACT(NUM_VFS) = { "num_vfs", "num_vfs=N", SIM_NEEDS_VALUE, sim_read_num_vfs },
	ACT(REP_REMOVE) = { "rep_remove", "rep_remove", SIM_NO_VALUE, sim_read_no_value },
	ACT(KILL) = { "kill", "kill", SIM_NO_VALUE, sim_read_no_value },
	ACT(PAUSE) = { "pause", "pause=TIME", SIM_NEEDS_VALUE, sim_read_duration },
	{ "moved", "moved=BYTES or moved=PERCENT%", SIM_NEEDS_VALUE, sim_read_moved },
	{ "side", "side=NAME", SIM_NEEDS_VALUE, sim_read_side },
	{ "program", "program=NAME", SIM_NEEDS_VALUE, sim_read_program },
	{ "pid", "pid=N", SIM_NEEDS_VALUE, sim_read_pid },
	{ "device", "device=ADDRESS or device=NAME", SIM_NEEDS_VALUE, sim_read_device },
	{ "size", "size=A..B, size>=BYTES, ...", SIM_NEEDS_VALUE, sim_read_size },
	{ "addr", "addr=A..B", SIM_NEEDS_VALUE, sim_read_addr },
	{ "nth", "nth=N", SIM_NEEDS_VALUE, sim_read_nth },
	{ "every", "every=N", SIM_NEEDS_VALUE, sim_read_every },
	{ "p", "p=PROBABILITY", SIM_NEEDS_VALUE, sim_read_chance },
	{ "seed", "seed=N", SIM_NEEDS_VALUE, sim_read_seed },
	{ "after", "after='OPERATION nth=N'", SIM_NEEDS_VALUE, sim_read_after },
	{ "from", "from=TIME", SIM_NEEDS_VALUE, sim_read_from },
	{ "until", "until=TIME", SIM_NEEDS_VALUE, sim_read_until },
	{ "times", "times=N", SIM_NEEDS_VALUE, sim_read_times },
	{ "skip", "skip=N", SIM_NEEDS_VALUE, sim_read_skip },
};

#define NUM_KEYWORDS (sizeof(keywords) / sizeof(keywords[0]))
_Static_assert(NUM_KEYWORDS < SIM_MAX_KEYWORDS, "room for all in sim_rule_parser.positions");

const struct sim_keyword *sim_keyword_at(size_t i)
{
	return i < NUM_KEYWORDS ? &keywords[i] : NULL;
}

size_t sim_keyword_find(struct sim_text name)
{
	for (size_t i = 0; i < NUM_KEYWORDS; i++)
		if (sim_text_equals(name, keywords[i].name))
			return i;
	return SIM_MAX_KEYWORDS;
}

static const char *keyword_name(const void *arg, size_t i)
{
	(void)arg;
	return keywords[i].name;
}

const char *sim_keyword_suggest(struct sim_text name)
{
	return pcie_did_you_mean(name.at, name.len, keyword_name, NULL, NUM_KEYWORDS);
}

static const struct sim_keyword *find_keyword(const char *name)
{
	return sim_keyword_at(sim_keyword_find((struct sim_text){ name, strlen(name) }));
}

bool sim_keyword_allows_no_value(const char *name)
{
	const struct sim_keyword *keyword = find_keyword(name);

	return keyword && keyword->value != SIM_NEEDS_VALUE;
}

bool sim_keyword_allows_value(const char *name)
{
	const struct sim_keyword *keyword = find_keyword(name);

	return keyword && keyword->value != SIM_NO_VALUE;
}
