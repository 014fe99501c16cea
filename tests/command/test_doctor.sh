#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim doctor: findings, their consequences, and the status for scripts.
#
#   test_doctor.sh BFSIM BFSIMD SOURCES CLI_PEER       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
use_bfsim "$1"

# finding CHECK: its line and those that explain it.
finding() { awk -v name="$1" '/^(ok|warning|problem) / { on = $2 == name } on' out; }

test_doctor_checks_machine_installation_and_session() {
	status 0 bfsim doctor
	for check in memfd cma procmem tcp pidfd /dev/shm files command daemon gateway sdk compiler pkg-config library temporary session; do
		[ -n "$(finding $check)" ] || { echo "no $check"; cat out; return 1; }
	done
	status 0 bfsim doctor --json
	python3 - <<-'EOF2'
		import json
		for finding in json.load(open('out')):
		    assert finding['state'] in ('ok', 'warning', 'problem'), finding
		    assert (finding['effect'] is None) == (finding['state'] == 'ok') == (finding['remedy'] is None), finding
	EOF2
}

test_few_open_files_are_a_warning_with_its_remedy() {
	(ulimit -n 256; status 0 bfsim doctor)
	finding files >files
	says '^warning .*256 open files' files
	says 'so: a program runs out of them' files
	says 'remedy: ulimit -n' files
}

test_a_daemon_that_cannot_run_is_a_problem() {
	status 1 env BFSIM_BFSIMD=/nowhere "$bfsim_program" doctor
	finding daemon >daemon
	says '^problem .*/nowhere: can.t be run' daemon
	says 'remedy: .*BFSIM_BFSIMD' daemon
}

test_a_daemon_of_another_version_is_a_problem() {
	printf '#!/bin/sh\necho bfsim 0.0.1\n' >bfsimd
	chmod +x bfsimd
	status 1 env BFSIM_BFSIMD="$PWD/bfsimd" "$bfsim_program" doctor
	finding daemon >daemon
	says 'so: the daemon is of another version' daemon
}

test_a_gateway_that_is_not_there_is_a_warning() {
	status 0 env BFSIM_GATEWAY=/nowhere "$bfsim_program" doctor
	finding gateway >gateway
	says '^warning .*/nowhere: is not there' gateway
	says 'so: sessions are of one machine' gateway
	says 'remedy: install the package bfsim-gateway' gateway
}

test_a_gateway_is_shown_with_its_providers() {
	printf '#!/bin/sh\necho "%s; libfabric 1.17: tcp; OpenSSL 3"\n' "$(bfsim --version | head -n 1)" >gateway
	chmod +x gateway
	status 0 env BFSIM_GATEWAY="$PWD/gateway" "$bfsim_program" doctor
	finding gateway >found
	says '^ok .*; libfabric 1.17: tcp; OpenSSL 3$' found
	printf '#!/bin/sh\necho "bfsim 0.0.1; libfabric 1.17: tcp"\n' >gateway
	status 0 env BFSIM_GATEWAY="$PWD/gateway" "$bfsim_program" doctor
	finding gateway >found
	says 'so: the gateway is of another version' found
}

test_a_compiler_or_pkg_config_that_is_not_there_is_a_warning() {
	mkdir empty
	status 0 env PATH="$PWD/empty" "$bfsim_program" doctor
	for check in compiler pkg-config; do
		finding $check >$check
		says '^warning .*there is no (cc|pkg-config) in PATH' $check
		says 'remedy: apt install ' $check
	done
	ln -s /bin/sh empty/clang
	status 0 env PATH="$PWD/empty" "$bfsim_program" doctor
	says "^ok +compiler +$PWD/empty/clang" out
}

test_a_lost_data_path_is_named_and_can_be_required() {
	status 0 bfsim doctor --need shm
	status 2 bfsim doctor --need cna
	says 'did you mean cma' err
	unshare -rn true 2>/dev/null || return 0
	status 0 unshare -rn "$bfsim_program" doctor
	finding tcp >tcp
	says '^warning ' tcp
	says 'so: no data path tcp' tcp
	says 'remedy: ip link set lo up' tcp
	status 1 unshare -rn "$bfsim_program" doctor --need tcp
	says 'the data path tcp is lost' err
	status 0 unshare -rn "$bfsim_program" doctor --need shm
}

test_a_live_session_is_looked_at() {
	bfsim up --session s >/dev/null
	status 0 bfsim doctor --session s
	says '^ok +session +s is live, its daemon is of version [0-9]' out
	says '^ok +directory +s belongs to user .* mode 0700' out
	says '^ok +namespaces +the daemon is in this PID namespace' out
	bfsim down --session s
}

# As in another container, from which the daemon's process can't be seen.
test_what_passing_memory_would_bring_is_said_where_cma_is_lost() {
	apart='unshare --user --map-root-user --pid --fork --mount-proc'
	$apart true 2>/dev/null || return 0 # this machine forbids namespaces
	bfsim up --session s >/dev/null
	status 0 $apart "$bfsim_program" doctor --session s
	finding passing >passing
	says '^warning +passing +the session does not let programs pass their memory' passing
	says 'so: no data path procmem between programs here and there' passing
	says 'remedy: bfsim up --procmem' passing
	status 1 $apart "$bfsim_program" doctor --session s --need procmem
	bfsim down --session s
	bfsim up --session s --procmem >/dev/null
	status 0 $apart "$bfsim_program" doctor --session s --need procmem
	says '^ok +passing ' out
	says 'so: no data path cma .*: procmem instead' out
	bfsim down --session s
}

test_where_no_session_can_be_is_a_problem() {
	status 1 env TMPDIR="$PWD/nowhere" "$bfsim_program" doctor
	finding temporary >temporary
	says 'remedy: set TMPDIR' temporary
	status 1 bfsim doctor --session nowhere/s
	says 'remedy: name another one with --session' out
}

run_tests "$0" "$work"
