#compdef bfsim
# SPDX-License-Identifier: BSD-3-Clause
# Completion of bfsim for zsh: a file _bfsim in $fpath, or sourced after compinit.
# bfsim itself lists its commands, their options and their actions.

# Lines "word<tab>description" of bfsim, as _describe takes them: "word:description".
_bfsim_list() {
	local line
	bfsim_words=()
	while IFS= read -r line; do
		bfsim_words+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
	done < <(bfsim completion --list "$@" 2>/dev/null)
}

_bfsim() {
	local -a bfsim_words
	if ((CURRENT == 2)) || [[ $words[2] == help ]]; then
		_bfsim_list
		_describe command bfsim_words
		return
	fi
	case $words[CURRENT - 1] in
	--on) compadd host dpu && return ;;
	--clock) compadd functional timed virtual && return ;;
	--format | -f)
		[[ $words[2] == trace ]] && compadd perfetto csv otlp raw && return
		[[ $words[2] == stats ]] && compadd table json openmetrics && return
		;;
	--trace-level) compadd off sampled full && return ;;
	--generation | -g) compadd task task-2.5 workq && return ;;
	--arch | -a) compadd x86_64 aarch64 && return ;;
	--check-fail) compadd error warning portability performance hint none && return ;;
	--check-sync) compadd doca any && return ;;
	esac
	if [[ $words[CURRENT] == -* ]] || ((CURRENT == 3)); then
		_bfsim_list $words[2]
		_describe -o option bfsim_words -S '' && return
	fi
	_files
}

if [[ $funcstack[1] == _bfsim ]]; then
	_bfsim "$@"
else
	compdef _bfsim bfsim
fi
