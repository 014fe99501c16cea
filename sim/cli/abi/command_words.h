/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/abi/command_words.h - the words of a command, and the programs that they name. */
#ifndef SIM_CLI_ABI_COMMAND_WORDS_H
#define SIM_CLI_ABI_COMMAND_WORDS_H

/* Bytes that end a word in a command for sh(1), unless they are quoted. */
#define CLI_BETWEEN_WORDS " \t\n;&|<>()"

/* The path that execvp() finds; NULL: none, or no memory. The caller frees it. */
char *cli_program_find(const char *command);

/* Copy the next word at *text without its quotes to @word, which has the size of the text; *text is then behind it.
 * Nothing is expanded. */
void cli_next_word(const char **text, char *word);

#endif
