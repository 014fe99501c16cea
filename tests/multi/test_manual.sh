#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The manual pages list exactly the commands and options that exist.
#
#   test_manual.sh BFSIM BFSIMD MAN       (TAP; MAN is the folder of the pages)

. "$(dirname "$0")/tap.sh"

bfsim_program=$(realpath "$1")
bfsimd_program=$(realpath "$2")
man=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

bfsim() { "$bfsim_program" "$@"; }

commands() { bfsim --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' | grep -vx help; }

# The lines of a page's section, with plain hyphens: section NAME PAGE.
section() { sed -n "/^\\.SH $1\$/,/^\\.SH [^\"]*\$/{/^\\.SH/d;s/\\\\-/-/g;p}" "$2"; }

# Both spellings of each option in a program's help; options common to all programs are in bfsim(1).
options_of_help() {
	sed -nE 's/^ +((-[^ ], )?--[a-z0-9-]+).*/\1/p' | tr -d ' ' | tr ',' '\n' |
		grep -vxE -- '-\?|--help|--usage|-V|--version' | sort -u
}

# Those that head a paragraph of OPTIONS in a page.
options_of_page() {
	section OPTIONS "$1" | awk '/^\.TP/ { heads = 1; next } heads { print; heads = 0 }' | tr '", ' '\n' | grep -xE -- '-[a-zA-Z]|--[a-z0-9-]+' | sort -u
}

same_options() {
	same "$(options_of_help <"$1")" "$(options_of_page "$2")"
}

test_each_command_has_a_page_with_its_options() {
	[ "$(commands | wc -l)" -gt 10 ]
	for command in $(commands); do
		page=$man/bfsim-$command.1
		says "^bfsim-$command .. " "$page"
		bfsim "$command" --help >help
		echo "$command:"
		same_options help "$page"
	done
}

# In the synopsis, however its words are set.
test_a_synopsis_names_each_option() {
	for command in $(commands); do
		section SYNOPSIS "$man/bfsim-$command.1" >synopsis
		bfsim "$command" --help | options_of_help | grep -- '^--' >options || continue
		! grep -q SWITCH synopsis || continue # one word for many
		while read -r option; do
			grep -qE -- "$option( |\$|\"|])" synopsis || { echo "$command: no $option in the synopsis"; exit 1; }
		done <options
	done
}

test_the_daemon_has_a_page_with_its_options() {
	"$bfsimd_program" --help >help
	same_options help "$man/bfsimd.8"
}

test_the_page_of_bfsim_lists_all_commands_and_ends_with_their_pages() {
	section DESCRIPTION "$man/bfsim.1" | sed -n 's/^\.BR bfsim-\([a-z-]*\) (1)$/\1/p' >listed
	section 'SEE ALSO' "$man/bfsim.1" | sed -n 's/^\.BR bfsim-\([a-z-]*\) (1).*/\1/p' >seen
	same "$(commands)" "$(cat seen)"
	same "$(commands)" "$(cat listed)"
}

test_pages_refer_to_pages_that_are_there() {
	sed -n 's/^\.BR \(bfsim[a-z-]*\) (\([18]\)).*/\1.\2/p' "$man"/*.[18] | sort -u >pages
	while read -r page; do
		[ -e "$man/$page" ] || { echo "there is no $page"; exit 1; }
	done <pages
}

# doc/exit-status.md has a row for each command, or for all others.
statuses_of_document() {
	row=$(grep -F "| \`bfsim $1\` |" "$man/../doc/exit-status.md") || row=$(grep -F '| all others |' "$man/../doc/exit-status.md")
	echo "$row" | sed 's/.*`//' | grep -oE '[0-9]+' | sort -n
}

test_exit_statuses_are_those_of_the_document() {
	for command in $(commands); do
		echo "$command:"
		same "$(statuses_of_document "$command")" "$(section 'EXIT STATUS' "$man/bfsim-$command.1" | grep -oE '\b(0|1|2|70|12[0-9])\b' | sort -nu)"
	done
}

test_all_pages_are_installed() {
	for page in "$man"/*.[18]; do
		says "'$(basename "$page")'" "$man/meson.build"
	done
}

# The formatter, where it is installed, prints no warning.
test_pages_are_well_formed() {
	command -v groff >/dev/null || return 0
	for page in "$man"/*.[18]; do
		groff -man -ww -z "$page" 2>&1
	done >warnings
	same '' "$(cat warnings)"
}

run_tests "$0" "$work"
