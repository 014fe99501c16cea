/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a compiled rule. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rule_priv.h"

struct writer {
	char *text;
	size_t used;
};

static void put(struct writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct writer *writer, const char *format, ...)
{
	size_t room = SIM_RULE_TEXT_SIZE - writer->used;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(writer->text + writer->used, room, format, args);
	va_end(args);
	writer->used += len < 0 ? 0 : (size_t)len < room ? (size_t)len : room - 1;
}

/* ---- operations: all, whole families, and single ones ---- */

static size_t family_len(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot ? (size_t)(dot - name) + 1 : 0;
}

static uint64_t family_of(enum sim_op op)
{
	const char *name = sim_op_name(op);
	size_t len = family_len(name);
	uint64_t ops = 0;

	for (enum sim_op other = 0; len && other < SIM_OP_COUNT; other++)
		if (strncmp(sim_op_name(other), name, len) == 0)
			ops |= SIM_OP_BIT(other);
	return ops;
}

static void put_ops(struct writer *writer, uint64_t ops)
{
	const char *comma = "";

	if (ops == SIM_OPS_ALL) {
		put(writer, "*");
		return;
	}
	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++) {
		uint64_t family = family_of(op);

		if (!(ops & SIM_OP_BIT(op)))
			continue;
		if ((family & (family - 1)) && (ops & family) == family) {
			put(writer, "%s%.*s*", comma, (int)family_len(sim_op_name(op)), sim_op_name(op));
			ops &= ~family;
		} else {
			put(writer, "%s%s", comma, sim_op_name(op));
		}
		comma = ",";
	}
}

/* ---- where and when ---- */

/* Quotes also keep a name that begins with "=" apart from the comparison before it. */
static void put_name(struct writer *writer, const char *word, const char *name)
{
	const char *quote = *name == '=' || *name == '\'' || strpbrk(name, " ()") ? "\"" : "";

	if (*name)
		put(writer, " %s=%s%s%s", word, quote, name, quote);
}

static void put_bytes(struct writer *writer, const char *before, uint64_t bytes)
{
	char text[SIM_VALUE_SIZE];

	sim_value_write_bytes(bytes, text);
	put(writer, "%s%s", before, text);
}

static void put_size(struct writer *writer, const struct sim_rule *rule)
{
	if (rule->size_min == rule->size_max) {
		put_bytes(writer, " size=", rule->size_min);
	} else if (rule->size_max == UINT64_MAX) {
		put_bytes(writer, " size>=", rule->size_min);
	} else if (rule->size_min == 0) {
		put_bytes(writer, " size<=", rule->size_max);
	} else {
		put_bytes(writer, " size=", rule->size_min);
		put_bytes(writer, "..", rule->size_max);
	}
}

static void put_where(struct writer *writer, const struct sim_rule *rule)
{
	put_name(writer, "side", rule->side);
	put_name(writer, "program", rule->program);
	if (rule->where & SIM_WHERE_PID)
		put(writer, " pid=%" PRId32, rule->pid);
	put_name(writer, "device", rule->device);
	if (rule->where & SIM_WHERE_SIZE)
		put_size(writer, rule);
	if (rule->where & SIM_WHERE_ADDR)
		put(writer, " addr=0x%" PRIx64 "..0x%" PRIx64, rule->addr_min, rule->addr_max);
}

static void put_time(struct writer *writer, const char *before, uint64_t ns)
{
	char text[SIM_VALUE_SIZE];

	sim_value_write_time(ns, text);
	put(writer, "%s%s", before, text);
}

static void put_fraction(struct writer *writer, const char *before, uint64_t ppb)
{
	char text[SIM_VALUE_SIZE];

	sim_value_write_ppb(ppb, text);
	put(writer, "%s%s", before, text);
}

static void put_count(struct writer *writer, const struct sim_rule *rule, enum sim_when when, const char *word,
		      uint64_t count)
{
	if (rule->when & when)
		put(writer, " %s=%" PRIu64, word, count);
}

static void put_when(struct writer *writer, const struct sim_rule *rule)
{
	if (rule->when & SIM_WHEN_AFTER) {
		put(writer, " after='");
		put_ops(writer, rule->after_ops);
		put(writer, " nth=%" PRIu32 "'", rule->nth);
	}
	if (rule->when & SIM_WHEN_FROM)
		put_time(writer, " from=", rule->from_ns);
	if (rule->when & SIM_WHEN_UNTIL)
		put_time(writer, " until=", rule->until_ns);
	put_count(writer, rule, SIM_WHEN_SKIP, "skip", rule->skip);
	put_count(writer, rule, SIM_WHEN_NTH, "nth", rule->nth);
	put_count(writer, rule, SIM_WHEN_EVERY, "every", rule->every);
	if (rule->when & SIM_WHEN_CHANCE)
		put_fraction(writer, " p=", rule->chance_ppb);
	put_count(writer, rule, SIM_WHEN_SEED, "seed", rule->seed);
	put_count(writer, rule, SIM_WHEN_TIMES, "times", rule->times);
}

/* ---- actions ---- */

static void put_delay(struct writer *writer, const struct sim_rule *rule, const char *delays_file)
{
	static const char *const names[] = {
		[SIM_DELAY_UNIFORM] = "uniform",
		[SIM_DELAY_NORMAL] = "normal",
		[SIM_DELAY_LOGNORMAL] = "lognormal",
		[SIM_DELAY_PARETO] = "pareto",
	};

	if (rule->delay_kind == SIM_DELAY_TRACE) {
		const char *quote = strpbrk(delays_file ? delays_file : "", " ()") ? "\"" : "";

		put(writer, "=trace(%s%s%s)", quote, delays_file ? delays_file : "?", quote);
		return;
	}
	if (rule->delay_kind == SIM_DELAY_FIXED) {
		put_time(writer, "=", rule->delay_a);
		return;
	}
	put(writer, "=%s", names[rule->delay_kind]);
	put_time(writer, "(", rule->delay_a);
	if (rule->delay_kind == SIM_DELAY_PARETO)
		put_fraction(writer, ",", rule->delay_b);
	else
		put_time(writer, ",", rule->delay_b);
	put(writer, ")");
}

static void put_fail(struct writer *writer, const struct sim_rule *rule)
{
	put(writer, "=%s", sim_status_name(rule->status));
	if (rule->moved_is_fraction) {
		put_fraction(writer, " moved=", rule->moved * 100);
		put(writer, "%%");
	} else if (sim_rule_moves(rule)) {
		put_bytes(writer, " moved=", rule->moved);
	}
}

static void put_parameter(struct writer *writer, const struct sim_rule *rule, enum sim_act act, const char *delays_file)
{
	switch (act) {
	case SIM_ACT_FAIL:
		put_fail(writer, rule);
		break;
	case SIM_ACT_REFUSE:
		if (rule->refuse_status)
			put(writer, "=%s", sim_status_name(rule->refuse_status));
		break;
	case SIM_ACT_DELAY:
		put_delay(writer, rule, delays_file);
		break;
	case SIM_ACT_FLIP:
		put(writer, "=%" PRIu32, rule->flip_bits);
		break;
	case SIM_ACT_REORDER:
		put(writer, "=%" PRIu32, rule->window);
		break;
	case SIM_ACT_TRUNCATE:
		put_bytes(writer, "=", rule->truncate_bytes);
		break;
	case SIM_ACT_STALL:
	case SIM_ACT_DOWN:
	case SIM_ACT_PAUSE:
		put_time(writer, "=", rule->duration_ns);
		break;
	case SIM_ACT_DEGRADE:
		put(writer, "=gen%ux%u", rule->link_gen, rule->link_lanes);
		break;
	case SIM_ACT_ERRORS:
		put_fraction(writer, "=", rule->errors_ppb);
		break;
	case SIM_ACT_NUM_VFS:
		put(writer, "=%" PRIu32, rule->num_vfs);
		break;
	default:
		break;
	}
}

size_t sim_rule_format(const struct sim_rule *rule, const char *delays_file, char ret_text[SIM_RULE_TEXT_SIZE])
{
	struct writer writer = { .text = ret_text };

	put_ops(&writer, rule->ops);
	put_where(&writer, rule);
	put_when(&writer, rule);
	for (enum sim_act act = 0; act < SIM_ACT_COUNT; act++) {
		if (!(rule->actions & SIM_ACT_BIT(act)))
			continue;
		put(&writer, " %s", sim_act_name(act));
		put_parameter(&writer, rule, act, delays_file);
	}
	return writer.used;
}
