/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/export/json_text.h - JSON written to a stream, without a tree in memory.
 *
 * A member begins with a comma: the caller writes the first member of an object itself. Texts are
 * printable UTF-8 (sim_make_printable_array()); keys need no escapes.
 */
#ifndef SIM_TRACE_JSON_TEXT_H
#define SIM_TRACE_JSON_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* A string, with its quotes. */
void sim_json_put_string(FILE *out, const char *text);

/* ,"key":"text" */
void sim_json_put_text(FILE *out, const char *key, const char *text);

/* ,"key":value */
void sim_json_put_number(FILE *out, const char *key, uint64_t value);

/* ,"key":microseconds, with three decimals */
void sim_json_put_us(FILE *out, const char *key, uint64_t ns);

#endif
