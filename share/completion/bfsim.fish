# SPDX-License-Identifier: BSD-3-Clause
# Completion of bfsim for fish: source it, or install it in vendor_completions.d.
# bfsim itself lists its commands, their options and their actions.

function __bfsim_command
	set -l words (commandline -opc)
	test (count $words) -gt 1; and echo $words[2]
end

function __bfsim_value_of
	set -l words (commandline -opc)
	contains -- $words[-1] $argv
end

complete -c bfsim -n 'test -z (__bfsim_command)' -f -a '(bfsim completion --list 2>/dev/null)'
complete -c bfsim -n 'test (__bfsim_command) = help' -f -a '(bfsim completion --list 2>/dev/null)'
complete -c bfsim -n 'test -n (__bfsim_command)' -a '(bfsim completion --list (__bfsim_command) 2>/dev/null)'
complete -c bfsim -n '__bfsim_value_of --on' -f -a 'host dpu'
complete -c bfsim -n '__bfsim_value_of --clock' -f -a 'functional timed virtual'
complete -c bfsim -n 'test (__bfsim_command) = trace; and __bfsim_value_of --format -f' -f -a 'perfetto csv otlp raw'
complete -c bfsim -n 'test (__bfsim_command) = stats; and __bfsim_value_of --format' -f -a 'table json openmetrics'
complete -c bfsim -n '__bfsim_value_of --trace-level' -f -a 'off sampled full'
complete -c bfsim -n '__bfsim_value_of --generation -g' -f -a 'task task-2.5 workq'
complete -c bfsim -n '__bfsim_value_of --arch -a' -f -a 'x86_64 aarch64'
complete -c bfsim -n '__bfsim_value_of --check-fail' -f -a 'error warning portability performance hint none'
complete -c bfsim -n '__bfsim_value_of --check-sync' -f -a 'doca any'
