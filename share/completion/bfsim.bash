# SPDX-License-Identifier: BSD-3-Clause
# Completion of bfsim for bash: source it, or install it as bash-completion/completions/bfsim.
# bfsim itself lists its commands, their options and their actions.

# _bfsim_values OPTION: the values that an option takes, if they are few.
_bfsim_values() {
	case $1 in
	--on) echo "host dpu" ;;
	--clock) echo "functional timed virtual" ;;
	--format | -f)
		case ${COMP_WORDS[1]} in
		trace) echo "perfetto csv otlp raw" ;;
		stats) echo "table json openmetrics" ;;
		esac
		;;
	--trace-level) echo "off sampled full" ;;
	--generation | -g) echo "task task-2.5 workq" ;;
	--arch | -a) echo "x86_64 aarch64" ;;
	--check-fail) echo "error warning portability performance hint none" ;;
	--check-sync) echo "doca any" ;;
	esac
}

_bfsim() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		words=$("${COMP_WORDS[0]}" completion --list 2>/dev/null | cut -f 1)
	elif [ "${COMP_WORDS[1]}" = help ]; then
		words=$("${COMP_WORDS[0]}" completion --list 2>/dev/null | cut -f 1)
	else
		words=$(_bfsim_values "$previous")
		if [ -z "$words" ] && { [ "${current#-}" != "$current" ] || [ "$COMP_CWORD" -eq 2 ]; }; then
			words=$("${COMP_WORDS[0]}" completion --list "${COMP_WORDS[1]}" 2>/dev/null | cut -f 1)
		fi
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
	if [ ${#COMPREPLY[@]} -eq 0 ]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$current") # the name of a file
		compopt -o filenames 2>/dev/null
	fi
	case ${COMPREPLY[0]-} in
	--*=) compopt -o nospace 2>/dev/null ;;
	esac
	return 0
}

complete -F _bfsim bfsim
