/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/printable.h - makes text of other processes and files printable.
 *
 * Names of programs, services and files may have newlines and control sequences of the terminal. The code that shows such a
 * name makes it printable first: tables, messages and JSON of the command, lines of the log, recordings.
 */
#ifndef SIM_PRINTABLE_H
#define SIM_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the byte is no control character of ASCII. */
static inline bool sim_is_printable(char c)
{
	return (unsigned char)c >= ' ' && c != 0x7f;
}

/* Read the character that @text begins with. Returns its length in bytes; 0 = the byte there is not part of valid
 * UTF-8, or ends the text. */
size_t sim_utf8_read(const char *text, uint32_t *ret_code);

/* Whether a terminal shows the character, instead of obeying it: no control character (of either set), separator of
 * lines, or change of the writing direction. */
bool sim_is_printable_code(uint32_t code);

/* Replace by '?' each byte of @text that is not part of a printable character. */
void sim_make_printable(char *text);

/* The same for an array of @size bytes, which may lack its terminating zero. */
void sim_make_printable_array(char *text, size_t size);

#endif
