#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a user types: help, versions, mistyped words, completion, colours.
#
#   test_command_line.sh BFSIM BFSIMD SOURCES CLI_PEER       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"

bfsimd_program=$(realpath "$2")
sources=$(realpath "$3")
use_bfsim "$1"

all_commands() { bfsim completion --list | cut -f 1; }

test_bfsim_alone_lists_the_commands_with_a_line_each() {
	status 2 bfsim
	same '' "$(cat out)"
	says '^  run +run programs on both sides' err
	says '^  completion +print' err
	same "$(all_commands)" "$(sed -n 's/^  \([a-z-]*\) .*/\1/p' err)"
}

test_h_and_v_are_help_and_version() {
	for words in '' up run exec; do
		# shellcheck disable=SC2086
		status 0 bfsim $words -h
		says "^Usage: bfsim" out
		# shellcheck disable=SC2086
		status 0 bfsim $words -v
		says '^bfsim [0-9]' out
	done
	status 2 bfsim run --clock -h --host true # the value of an option is no option
	says 'clock -h: write functional' err
	status 0 "$bfsimd_program" -v
	status 125 bfsim exec --session nowhere --on host ./app -h # nor are the program's
	says 'no session in nowhere' err
}

# Help ends in argp, which does not look whether it was written.
test_a_full_disk_is_a_failure_of_each_command() {
	[ -e /dev/full ] || return 0
	for words in --help --version --usage version help 'help run' 'run --help' 'run --version' 'completion --list' devs; do
		got=0
		# shellcheck disable=SC2086
		bfsim $words >/dev/full 2>err || got=$?
		[ $got -ne 0 ] || { echo "bfsim $words: status 0"; return 1; }
		says 'cannot write all of the output(: No space left.*)?$' err # without a reason if the file met it before its end
	done
	got=0
	"$bfsimd_program" --help >/dev/full 2>err || got=$?
	[ $got -ne 0 ]
}

test_the_version_is_that_of_the_build_with_the_releases_that_it_presents() {
	version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$sources/meson.build")
	for words in version --version -V; do
		status 0 bfsim $words
		same "bfsim $version" "$(head -n 1 out)"
		says '^DOCA 3\.0' out
		says '^DOCA 2\.2' out
	done
	says "^## $version" "$sources/CHANGELOG.md"
}

test_a_mistyped_command_names_the_closest() {
	status 2 bfsim rnu
	says 'no command "rnu"; did you mean "run"' err
	status 2 bfsim help statz
	says 'did you mean "stats"' err
	status 2 bfsim fly
	says 'no command "fly"; bfsim --help lists them' err
}

test_a_mistyped_option_names_the_closest() {
	status 2 bfsim run --topolgy=x.yaml --host true
	says '^bfsim run: there is no option --topolgy=x.yaml; did you mean --topology\? bfsim run --help lists them' err
	one_line err
	status 2 bfsim up --wings
	says '^bfsim up: there is no option --wings; bfsim up --help lists them' err
	status 2 bfsim ps -x
	says 'there is no option -x' err
	status 2 bfsim --hlep
	says 'did you mean --help' err
	status 2 "$bfsimd_program" --foregroud
	says 'did you mean --foreground' err
	status 0 bfsim devs --js # a beginning is enough, as ever
	status 2 bfsim run "--$(printf '\033[31m')"
	lacks "$(printf '\033')" err
}

test_a_mistyped_action_names_the_closest() {
	status 2 bfsim fault ad 'dma.memcpy hang'
	says 'fault ad: unknown action; did you mean add\? Give list, add, rm, clear or replay' err
	status 2 bfsim function rest 03:00.0
	says 'did you mean reset' err
	status 2 bfsim link dwon 03:00.0
	says 'did you mean down' err
	status 2 bfsim link up 03:00.0
	says 'bfsim fault rm ID' err
}

test_a_mistyped_field_of_a_topology_names_the_closest() {
	printf 'cards:\n  - profile: bluefield-3\n    functons: []\n' >card.yaml
	status 1 bfsim devs --topology card.yaml
	says 'card.yaml:3: .*functons: unknown field; did you mean functions\?' err
}

test_a_log_level_that_is_none_is_reported() {
	export BFSIM_LOG_LEVEL=foo
	status 1 "$bfsimd_program" --session s --topology nowhere.yaml --foreground
	says 'BFSIM_LOG_LEVEL=foo: not a level; give 20' err
	same 1 "$(grep -c BFSIM_LOG_LEVEL err)"
	says nowhere.yaml err
}

# Completions of a line in bash: complete WORD... (the last one is completed).
complete_in_bash() {
	bash -c '. /dev/stdin
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_bfsim
		printf "%s\n" "${COMPREPLY[@]}"' - "$@" <script
}

test_completion_in_bash_knows_commands_options_and_values() {
	command -v bash >/dev/null || return 0
	bfsim completion bash >script
	cmp script "$sources/share/completion/bfsim.bash"
	same "$(printf 'up\n')" "$(complete_in_bash "$bfsim_program" u)"
	complete_in_bash "$bfsim_program" run --re >words
	says '^--report=$' words
	says '^--require-faults$' words
	same 'dpu' "$(complete_in_bash "$bfsim_program" run --on d)"
	same 'virtual' "$(complete_in_bash "$bfsim_program" run --host true --clock v)"
	same 'otlp' "$(complete_in_bash "$bfsim_program" trace --format o)"
	same 'openmetrics' "$(complete_in_bash "$bfsim_program" stats --format o)"
	same '--compare' "$(complete_in_bash "$bfsim_program" report --c)"
	complete_in_bash "$bfsim_program" link '' >words
	says '^degrade$' words
	touch here.yaml
	same 'here.yaml' "$(complete_in_bash "$bfsim_program" up --topology he)"
	same 'rules' "$(complete_in_bash "$bfsim_program" help rul)"
}

test_scripts_of_other_shells_are_those_that_are_installed() {
	for shell in zsh fish; do
		bfsim completion $shell >script
		cmp script "$sources/share/completion/bfsim.$shell"
		! command -v $shell >/dev/null || $shell -n script
	done
	status 2 bfsim completion tcsh
	says 'give bash, zsh or fish' err
	status 2 bfsim completion
}

test_completion_lists_each_options_of_each_command() {
	for command in $(all_commands | grep -vx help); do
		status 0 bfsim completion --list "$command"
		says '^--help	' out
	done
	status 0 bfsim completion --list run
	says '^--host=	' out
}

test_colours_are_for_terminals_that_want_them() {
	export TERM=xterm
	unset NO_COLOR
	escape=$(printf '\033')
	bfsim ps --session nowhere 2>err && return 1
	lacks "$escape" err
	status 1 "$here/on_terminal.py" "$bfsim_program" ps --session nowhere
	grep -q "$escape\[1;31mbfsim:" out
	status 0 "$here/on_terminal.py" "$bfsim_program" devs
	grep -q "$escape\[1mSIDE" out
	status 1 env NO_COLOR=1 "$here/on_terminal.py" "$bfsim_program" ps --session nowhere
	lacks "$escape" out
	status 1 env TERM=dumb "$here/on_terminal.py" "$bfsim_program" ps --session nowhere
	lacks "$escape" out
}

run_tests "$0" "$work"
