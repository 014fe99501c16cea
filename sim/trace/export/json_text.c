/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON written to a stream. */
#include "json_text.h"

#include <inttypes.h>

void sim_json_put_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void sim_json_put_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, ",\"%s\":", key);
	sim_json_put_string(out, text);
}

void sim_json_put_number(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, ",\"%s\":%" PRIu64, key, value);
}

void sim_json_put_us(FILE *out, const char *key, uint64_t ns)
{
	fprintf(out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned int)(ns % 1000));
}
