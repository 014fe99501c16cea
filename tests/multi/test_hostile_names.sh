#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs and services with control characters in their names: no command passes these on to the terminal.
#
#   test_hostile_names.sh BFSIM CLI_PEER TRACE_PEER       (TAP)

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/sessions.sh"

cli_peer=$(realpath "$2")
trace_peer=$(realpath "$3")
use_bfsim "$1"

# A newline, an escape sequence, its one-byte and its UTF-8 form, a change of direction.
hostile=$(printf 'a\nFORGED 1\t\033[31m\233x\302\233y\342\200\256z')
shown='a?FORGED 1??\[31m?x??y???z'
name=$(printf 'e\nv\033[31m\302\233l') # 15 bytes are all that the kernel keeps of a name

# harmless FILE: valid UTF-8 without control characters, except for newlines; no line is forged.
harmless() {
	python3 - "$1" <<-'EOF'
		import sys, unicodedata
		text = open(sys.argv[1], encoding="utf-8").read()
		bad = {c for c in text if c != "\n" and (unicodedata.category(c) == "Cc" or c in "\u2028\u2029\u202e")}
		assert not bad, (bad, text)
		assert not any(line.startswith(("FORGED", "v")) for line in text.splitlines()), text
	EOF
}

# A process that listens for its whole life, and one that has done some tasks and ended.
start_hostile_programs() {
	bfsim up --session s >/dev/null
	cp "$cli_peer" "$name"
	mkfifo in
	"$bfsim_program" exec --session s --on dpu -- "$PWD/$name" listen "$hostile" <in >ready &
	exec 8>in
	becomes_true has_text ready
	cp "$trace_peer" "t$name"
	bfsim exec --session s --on dpu -- "$PWD/t$name" 10
}

end_hostile_programs() {
	exec 8>&-
	wait
	bfsim down --session s
}

test_ps_shows_names_on_one_line() {
	start_hostile_programs
	status 0 bfsim ps --session s
	harmless out
	grep -q "^$shown " out
	says ' dpu +e\?v\?\[31m\?\?l ' out
	status 0 bfsim ps --session s --json
	harmless out
	python3 - "$hostile" <<-'EOF'
		import json, os, sys
		report = json.load(open("out"))
		wanted = os.fsencode(sys.argv[1]).decode("utf-8", "replace")
		assert [s["name"] for s in report["services"]] == [wanted], report
	EOF
	end_hostile_programs
}

test_counts_traces_and_reports_show_names_on_one_line() {
	start_hostile_programs
	status 0 bfsim stats --session s
	harmless out
	says 'te\?v\?\[' out
	for command in 'stats --json' 'top --once --interval 0.05'; do
		# shellcheck disable=SC2086
		status 0 bfsim $command --session s
		harmless out
	done
	for file in t.json t.csv t.jsonl; do
		bfsim trace s -o $file
		harmless $file
	done
	bfsim trace s -o t.bfsim
	bfsim report t.bfsim -o r.html
	harmless r.html
	bfsim fault replay t.bfsim >plan
	harmless plan
	end_hostile_programs
}

# Libraries and symbol versions of a program that somebody else built.
test_check_binary_shows_names_on_one_line() {
	python3 - "$trace_peer" program <<-'EOF'
		import sys
		program = open(sys.argv[1], "rb").read()
		assert b"libdoca_dma.so" in program
		open(sys.argv[2], "wb").write(program.replace(b"libdoca_dma.so", b"libdoca_\x1b[m.so"))
	EOF
	bfsim check-binary program >out || true
	harmless out
	says 'libdoca_\?\[m.so' out
	bfsim check-binary --json program >out || true
	harmless out
}

test_messages_show_names_on_one_line() {
	status 1 bfsim ps --session "$hostile"
	harmless err
	one_line err
	status 2 bfsim fault add "peer program=\"$hostile\" kill" --session s
	harmless err
	one_line err
}

run_tests "$0" "$work"
