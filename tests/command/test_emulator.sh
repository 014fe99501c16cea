#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs of another architecture in a command: they get an emulator, or one line says what is missing. The programs
# are heads of ELF files, and the emulator is a script that prints its arguments, so that this needs neither.
#
#   test_emulator.sh BFSIM       (TAP)
# shellcheck disable=SC2016

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"

use_bfsim "$1"
unset QEMU_LD_PREFIX QEMU_SET_ENV LD_LIBRARY_PATH
case $(uname -m) in
aarch64) arch=x86_64 machine='\076\000' debian=amd64 ;;
*) arch=aarch64 machine='\267\000' debian=arm64 ;;
esac

# foreign FILE [LOADER]: a program for the other architecture.
foreign() {
	{
		printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\003\000%b\001\000\000\000' "$machine"
		printf '\000\000\000\000\000\000\000\000\100\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000'
		printf '\000\000\000\000\100\000\070\000%b\000\000\000\000\000\000\000' "${2:+\\001}${2:-\\000}" | head -c 16
		if [ -n "${2:-}" ]; then # a header PT_INTERP: the name is behind it
			printf '\003\000\000\000\004\000\000\000\170\000\000\000\000\000\000\000'
			head -c 40 /dev/zero
			printf '%s\000' "$2"
		fi
	} >"$1"
	chmod +x "$1"
}

# programs: a directory of programs for $PATH, none of which is an emulator.
programs() {
	mkdir bin
	for name in cat env timeout true; do
		ln -s "$(command -v $name)" bin/
	done
}

# emulator SUFFIX: the same with an emulator.
emulator() {
	programs
	printf '#!/bin/sh\necho "emulated: $*"\n' >"bin/qemu-$arch$1"
	chmod +x "bin/qemu-$arch$1"
}

# The command, with these programs alone.
run() { status 0 env PATH="$PWD/bin" "$bfsim_program" run "$@"; }

test_a_program_of_the_other_architecture_gets_the_emulator() {
	emulator -static
	foreign app
	run --dpu './app --size 4096'
	says '^dpu\| emulated: ./app --size 4096$' out
	same '' "$(cat err)"
}

test_the_emulator_may_be_linked_dynamically() {
	emulator ''
	foreign app
	run --dpu ./app
	says 'emulated: ./app$' out
}

test_the_emulator_goes_in_front_of_each_program_and_of_nothing_else() {
	emulator -static
	foreign app
	mkdir 'a dir'
	cp app 'a dir/app'
	HERE=$PWD && export HERE
	run --dpu 'A=1 timeout 9 ./app one; echo ./app; (./app two) | cat && "$HERE"/app three; '"'a dir/app'"' <app >app.out; cat app.out; env B=2 "./app" four'
	sed -n 's/^dpu| //p' out >said
	printf '%s\n' 'emulated: ./app one' './app' 'emulated: ./app two' "emulated: $PWD/app three" 'emulated: a dir/app' \
		'emulated: ./app four' >wanted
	same "$(cat wanted)" "$(cat said)"
}

test_a_program_of_this_machine_gets_none() {
	emulator -static
	run --host 'cat /dev/null; echo done'
	same 'host| done' "$(cat out)"
}

test_exec_starts_the_emulator() {
	emulator -static
	foreign app
	status 0 bfsim up
	status 0 env PATH="$PWD/bin" "$bfsim_program" exec --on dpu -- timeout 9 ./app 'an argument'
	says '^emulated: ./app an argument$' out
}

test_a_missing_emulator_is_named_in_one_line() {
	programs
	foreign app
	env PATH="$PWD/bin" "$bfsim_program" run --dpu ./app >out 2>err || true
	grep "an $arch program" err >said
	one_line said
	says "^bfsim: .*/?app is an $arch program, and there is no qemu-$arch-static or qemu-$arch in PATH: install qemu-user-static" said
}

test_a_missing_loader_is_named_in_one_line() {
	emulator -static
	foreign app /lib/no-such-loader.so.1
	run --dpu ./app
	one_line err
	says "its loader /lib/no-such-loader.so.1 is missing: install libc6:$debian .*QEMU_LD_PREFIX" err
	mkdir -p tree/lib
	touch tree/lib/no-such-loader.so.1
	QEMU_LD_PREFIX=$PWD/tree && export QEMU_LD_PREFIX
	run --dpu ./app
	same '' "$(cat err)"
}

test_a_damaged_program_is_left_to_the_shell() {
	emulator -static
	foreign app /lib/x
	head -c 70 app >short
	chmod +x short
	run --dpu ./short
	says 'emulated: ./short' out
	printf '\177ELF' >tiny
	chmod +x tiny
	env PATH="$PWD/bin" "$bfsim_program" run --dpu ./tiny >out 2>err && return 1
	[ ! -s out ]
}

run_tests "$0" "$work"
