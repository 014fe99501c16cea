#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Sessions and users: who may use a session, and what the others read.
#
#   test_users.sh BFSIM CLI_PEER       (TAP; needs root, who can take the place of other users)

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/sessions.sh"

if [ "$(id -u)" -ne 0 ] || ! setpriv --reuid 12345 --regid 12345 --clear-groups true 2>/dev/null; then
	echo '1..0 # SKIP needs root and setpriv'
	exit 0
fi
use_bfsim "$1"

# The other users can't reach a build tree below a private directory.
mkdir "$work/bin"
cp "$1" "${BFSIM_BFSIMD:-${1}d}" "$2" "$work/bin"
unset BFSIM_BFSIMD XDG_RUNTIME_DIR
PATH=$work/bin:$PATH
chmod 755 "$work"

# Numbers that no account needs to have. owner and member are in group 34567, stranger is not.
as_owner() { setpriv --reuid 12345 --regid 12345 --groups 34567 "$@"; }
as_member() { setpriv --reuid 23456 --regid 23456 --groups 34567 "$@"; }
as_stranger() { setpriv --reuid 23456 --regid 23456 --clear-groups "$@"; }

# session_of_owner OPTION...: in ./s, with a umask that forbids nothing.
session_of_owner() {
	chmod 755 .
	mkdir s
	chown 12345:12345 s
	(umask 0 && as_owner bfsim up --session "$PWD/s" "$@" >/dev/null)
}

test_the_owner_and_root_use_a_session() {
	session_of_owner
	as_owner bfsim ps --session "$PWD/s" >out
	status 0 bfsim ps --session s
	same '600 12345' "$(stat -c '%a %u' s/bfsimd.sock)"
	status 0 bfsim down --session s
}

test_a_stranger_is_refused_and_reads_the_remedy() {
	session_of_owner
	status 1 as_stranger bfsim ps --session "$PWD/s"
	says "$PWD/s: it is another user's: run this as that user, or share the session with a group" err
	one_line err
	chmod 777 s # whatever the directory's mode
	chmod 666 s/*
	status 1 as_stranger bfsim ps --session "$PWD/s"
	says "it is another user's" err
	status 125 as_stranger bfsim exec --session "$PWD/s" --on host -- cli_peer export key
	says "it is another user's" err
	status 1 as_stranger bfsim down --session "$PWD/s"
	bfsim ps --session s >/dev/null
	bfsim down --session s
}

# With a directory of root, as a volume of several containers is: the daemon refuses.
test_the_daemon_names_the_user_whom_it_refuses() {
	chmod 755 .
	bfsim up --session s >/dev/null
	chmod 755 s
	chmod 644 s/lock s/topology.yaml
	chmod 666 s/bfsimd.sock
	status 1 as_stranger bfsim ps --session "$PWD/s"
	says "it is another user's" err
	status 1 as_stranger env BFSIM_SESSION="$PWD/s" BFSIM_SIDE=host cli_peer export key
	says "it is another user's" err
	says "process [0-9]+ of user 23456 is refused, as this session is user 0's: .*bfsim up --group" s/bfsimd.log
	same 2 "$(wc -l <s/bfsimd.log)"
	bfsim down --session s
}

test_members_of_the_group_use_a_shared_session() {
	session_of_owner --group 34567
	mkfifo in
	as_member bfsim exec --session "$PWD/s" --on dpu -- cli_peer listen name <in >ready 2>err &
	exec 8>in
	becomes_true has_text ready
	status 0 as_member bfsim ps --session "$PWD/s"
	says '^name ' out
	status 0 as_member bfsim fault add --session "$PWD/s" 'dma.memcpy hang'
	same '640 34567 660 34567' "$(stat -c '%a %g' s/topology.yaml s/bfsimd.sock | xargs)"
	same '750 12345 34567' "$(stat -c '%a %u %g' s)"
	status 1 as_stranger bfsim ps --session "$PWD/s"
	says "it is another user's" err
	exec 8>&-
	wait
	as_owner bfsim down --session "$PWD/s"
}

# The privileged importer would have the rights to read any process.
# expect_no_cma AS_EXPORTER: the exporter runs as a user, and the importer as root.
expect_no_cma() {
	mkfifo exporter importer
	"$1" bfsim exec --session "$PWD/s" --on host -- cli_peer export "$PWD/s/key" <exporter >ready 2>err &
	exec 8>exporter
	becomes_true has_text ready
	bfsim exec --session s --on dpu -- cli_peer import s/key <importer >imported 2>err &
	exec 9>importer
	becomes_true has_text imported
	status 0 bfsim ps --session s
	says "shm .*$2" out
	exec 8>&- 9>&-
	wait
	bfsim down --session s
}

test_root_does_not_lend_its_rights_to_a_session_of_another_user() {
	session_of_owner
	expect_no_cma as_owner 'cma: the session belongs to another user'
}

test_root_does_not_lend_its_rights_to_a_member_of_its_session() {
	chmod 755 .
	bfsim up --session s --group 34567 >/dev/null
	chmod 770 s
	expect_no_cma as_member 'cma: the exporter belongs to another user'
}

# Nobody but that user can remove it from /tmp. The user here is root in a namespace without /tmp's real contents.
test_a_default_directory_that_another_user_made_is_in_no_ones_way() {
	unshare --mount true 2>/dev/null || return 0 # this machine forbids namespaces
	cat >script <<-'END'
		mount --bind "$1" /mnt && mount -t tmpfs none /tmp && mkdir /tmp/bfsim-0 /tmp/own && chown 12345 /tmp/bfsim-0 || exit 9
		PATH=/mnt/bin:$PATH TMPDIR=/tmp/own
		bfsim up 2>&1 && exit 1
		bfsim devs >/dev/null && bfsim run --host true && bfsim up --session /tmp/own/s && bfsim ps --session /tmp/own/s &&
			bfsim down --session /tmp/own/s && XDG_RUNTIME_DIR=/tmp/own bfsim up && XDG_RUNTIME_DIR=/tmp/own bfsim down
	END
	status 0 unshare --mount sh script "$work"
	says '^bfsim up: /tmp/bfsim-0 is not a directory of this user alone: choose another with --session or' out
}

test_a_default_directory_that_others_can_write_to_is_refused() {
	unshare --mount true 2>/dev/null || return 0 # this machine forbids namespaces
	cat >script <<-'END'
		mount --bind "$1" /mnt && mount -t tmpfs none /tmp && mkdir /tmp/bfsim-0 || exit 9
		PATH=/mnt/bin:$PATH
		for mode in 770 707 777; do
			chmod $mode /tmp/bfsim-0
			bfsim up 2>&1 && exit 1
		done
		chmod 755 /tmp/bfsim-0
		bfsim up && bfsim down
	END
	status 0 unshare --mount sh script "$work"
	same 3 "$(grep -c '^bfsim up: /tmp/bfsim-0 is not a directory of this user alone' out)"
}

test_a_group_that_the_user_is_not_in_is_refused() {
	chmod 755 .
	mkdir s
	chown 12345:12345 s
	status 1 as_owner bfsim up --session "$PWD/s" --group 45678
	says 'cannot share the session with group 45678: Operation not permitted; the daemon.s user must own' err
	lacks 'cannot start a session' err
	same '' "$(ls -A s)"
	status 2 bfsim up --session s --group 'no such group'
	says 'there is no such group; getent group lists them' err
}

test_a_session_in_a_directory_of_another_user_is_refused() {
	chmod 755 .
	mkdir s
	chown 12345:12345 s
	chmod 777 s
	ln -s /etc/passwd s/topology.yaml.new
	status 1 bfsim up --session s
	says 'the directory .*/s is another user.s: choose another --session' err
	one_line err
	status 1 as_stranger bfsim up --session "$PWD/s"
	says 'another user.s' err
	same topology.yaml.new "$(ls s)"
}

# The kernel shows the user who made the namespace, whatever it is called inside.
test_processes_in_user_namespaces_keep_their_user() {
	session_of_owner
	for map in '' -r; do
		as_owner unshare -U $map true 2>/dev/null || continue # this machine forbids them
		status 0 as_owner unshare -U $map bfsim ps --session "$PWD/s"
		says 'no process is attached' out
	done
	bfsim down --session s
}

# in_other_time CLOCK STATUS: what a process says that joins a session whose daemon has another CLOCK_MONOTONIC.
in_other_time() {
	bfsim up --session s --clock "$1" >/dev/null
	for offset in -300 5000; do
		mkfifo in
		unshare --time --monotonic $offset bfsim exec --session s --on host -- cli_peer export key <in >out 2>err &
		exec 8>in
		becomes_true has_text err
		exec 8>&-
		ended=0
		wait $! || ended=$?
		same "$2" "$ended"
		rm in
	done
	bfsim down --session s
}

test_a_process_with_another_clock_is_refused_in_timed_sessions() {
	unshare --time --monotonic -300 true 2>/dev/null || return 0 # this machine forbids them
	in_other_time timed 1
	says 'in another time namespace than the daemon, so its tasks would end at wrong times: start both in one, or use' err
	in_other_time functional 0
	says 'in another time namespace than the daemon: times in recordings and reports are wrong' err
}

run_tests "$0" "$work"
