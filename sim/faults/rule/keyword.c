/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of keywords, from the rows of words.h. */
#include "rule_priv.h"

#include <stddef.h>
#include <string.h>

#include "pcie_model/did_you_mean.h"

#define FIELD(field) .offset = offsetof(struct sim_rule, field), .size = sizeof(((struct sim_rule *)0)->field)
#define VALUE(type_, field, least_, most_, what_)                                                  \
	{                                                                                          \
		.type = (type_), FIELD(field), .least = (least_), .most = (most_), .what = (what_) \
	}

#define NONE                         \
	{                            \
		.type = SIM_ARG_NONE \
	}
#define NUMBER(field, least, most, what) VALUE(SIM_ARG_NUMBER, field, least, most, what)
#define BYTES(field, least, most, what)  VALUE(SIM_ARG_BYTES, field, least, most, what)
#define PART(field, least, most, what)   VALUE(SIM_ARG_PART, field, least, most, what)
#define TIME(field, absent_)                                                                     \
	{                                                                                        \
		.type = SIM_ARG_TIME, FIELD(field), .most = SIM_RULE_MAX_NS, .absent = (absent_) \
	}
#define TEXT(field)                                \
	{                                          \
		.type = SIM_ARG_TEXT, FIELD(field) \
	}
#define OWN_FUNCTIONS(name) \
	.type = SIM_ARG_OWN, .read = sim_read_##name, .write = sim_write_##name, .check = sim_check_##name
#define OWN(name)                   \
	{                           \
		OWN_FUNCTIONS(name) \
	}
#define OWN_OR_NONE(name)                                   \
	{                                                   \
		OWN_FUNCTIONS(name), .may_be_missing = true \
	}

static const struct sim_keyword keywords[] = {
#define X(id, name, usage, arg) { name, usage, SIM_KEYWORD_CONDITION, SIM_WHERE_NUMBER_##id, arg },
	SIM_CONDITIONS(X)
#undef X
#define X(id, name, usage, arg) { name, usage, SIM_KEYWORD_LIMIT, SIM_WHEN_NUMBER_##id, arg },
		SIM_LIMITS(X)
#undef X
#define X(id, name, usage, arg, role) { name, usage, SIM_KEYWORD_ACT, SIM_ACT_##id, arg },
			SIM_ACTS(X)
#undef X
				{ "moved", "moved=BYTES or moved=PERCENT%", SIM_KEYWORD_PART, 0, OWN(moved) },
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

	return keyword && (keyword->arg.type == SIM_ARG_NONE || keyword->arg.may_be_missing);
}

bool sim_keyword_allows_value(const char *name)
{
	const struct sim_keyword *keyword = find_keyword(name);

	return keyword && keyword->arg.type != SIM_ARG_NONE;
}
