#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# dpacc and dpa-app-attributes2blob: spellings of options, places of marks, and refusals with the program's own lines.
#
#   test_dpacc.sh DPACC ATTRIBUTES2BLOB HOSTCC LIB_DIR -I...
set -u
dpacc=$(realpath "$1") blob=$(realpath "$2") hostcc=$3 libs=$4
shift 4
includes=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
	echo "FAILED: $*"
	failures=$((failures + 1))
}

# compile SOURCE OPTION...: the messages are in "said".
compile() {
	local source=$1
	shift
	"$dpacc" "$source" -o out.a "--hostcc=$hostcc" "--device-libs=-L$libs,-ldoca_dpa_dev" \
		'--devicecc-options=-Wno-deprecated-declarations -Wall -Wextra -Werror' "${includes[@]}" "$@" >said 2>&1
}

# refused SOURCE TEXT OPTION...
refused() {
	local source=$1 text=$2
	shift 2
	rm -f out.a
	if compile "$source" "$@"; then
		fail "$source $*: was accepted"
	elif ! grep -qF -- "$text" said; then
		fail "$source $*: does not say \"$text\":"
		cat said
	elif [ -e out.a ]; then
		fail "$source $*: left an archive"
	fi
}

cat >good.c <<'END'
#include <doca_dpa_dev.h>
typedef struct { int a; } __attribute__((packed)) __dpa_global__ marked;
struct behind { int b; } __dpa_global__;
__dpa_global__ void declared(uint64_t arg);
#define KERNEL(name) __dpa_global__ void name(uint64_t args)
KERNEL(by_macro) { (void)args; }
static __dpa_rpc__ uint64_t hidden(marked m, int list[4], int (*call)(int, char), _Bool flag)
{
	return (uint64_t)m.a + (uint64_t)list[0] + (uint64_t)call(1, 2) + flag;
}
__dpa_global__ static void nothing() {}
const char *text(void);
const char *text(void) { return "__dpa_global__ void in_a_string(int x) {"; } /* __dpa_rpc__ int x( */
END
compile good.c -flto -mcpu=nv-dpa-bf3,nv-dpa-cx7,nv-dpa-cx8,nv-dpa-cx9 -app-name my_app -MMD --keep-dir kept || { fail "good.c"; cat said; }
[ -s out.d ] && grep -q 'doca_dpa_dev.h' out.d || fail "no dependencies"
names=$(nm out.a | awk '$2 == "W" { print $3 }' | sort | tr '\n' ' ')
[ "$names" = "by_macro hidden nothing " ] || fail "stubs: $names"
nm out.a | grep -q ' [DR] my_app$' || fail "no my_app"
[ "$(ar t out.a)" = hostStubs.o ] || fail "members: $(ar t out.a)"
[ -e kept/hostStubs.c ] || fail "nothing was kept"

# No jump to itself is left.
cat >endless.c <<'END'
static volatile int sink;
__dpa_global__ void direct(int a) { sink = a; for (;;) ; }
__dpa_global__ void counting(int a) { int i = 0; if (a) while (1) i++; sink = i; }
__dpa_global__ void jumping(int a) { if (a) goto end; sink = a; end: goto end; }
END
objdump=$($hostcc -print-prog-name=objdump)
for level in -O0 -O1 -O2 -Os; do
	compile endless.c "$level" --keep-dir kept || { fail "endless.c $level"; cat said; }
	[ $level = -O0 ] || $objdump -d kept/unit0.plain.o | grep -qE '^ *([0-9a-f]+):.*\s(jmp|b)\s+\1 ' || fail "endless.c $level: no loop"
	! $objdump -d kept/unit0.guarded.o | grep -E '^ *([0-9a-f]+):.*\s(jmp|b)\s+\1 ' || fail "endless.c $level: no hook"
done

# Scripts of releases up to 2.8 name the header's folder as that of the libraries, and -ldpa; the SDK tree has the rest.
mkdir -p tree/tools tree/include
ln -s "$dpacc" tree/tools/dpacc
echo 'enum { OF_THE_TREE = 1 };' >tree/include/of_the_tree.h
cat >old_script.c <<'END'
#include <doca_dpa_dev.h>
#include <of_the_tree.h>
__dpa_global__ void hello(void) { DOCA_DPA_DEV_LOG_INFO("Hello %d\n", OF_THE_TREE); }
END
old_script() {
	tree/tools/dpacc old_script.c -o out.a -hostcc="$hostcc" -device-libs="-L$work/tree/include -ldoca_dpa_dev_comm" \
		"${includes[@]}" "$@" >said 2>&1
}
old_script -ldpa -flto || { fail "-ldpa"; cat said; }
old_script && fail "without -ldpa"
grep -q 'of_the_tree.h' said || { fail "without -ldpa: another reason"; cat said; }

echo '__dpa_global__ void k(unsigned a) { unsigned b = a / 0u + c; }' >wrong.c
refused wrong.c "wrong.c:1:"
printf '#include <stdio.h>\n__dpa_global__ void k(int a)\n{\n\tprintf("%%d", a);\n}\n' >print.c
refused print.c "printf: not on the DPA; use DOCA_DPA_DEV_LOG_INFO"
grep -qF 'print.c:4' said || { fail "print.c: no line"; cat said; }
printf '__thread int mine;\n__dpa_global__ void k(int a)\n{\n\tmine = a;\n}\n' >tls.c
refused tls.c "tls.c: error: mine is thread-local"
printf '__dpa_global__ void k(a)\nint a;\n{\n\t(void)a;\n}\n' >old.c
refused old.c "old.c:1: error: dpacc"
echo 'int x;' >none.c
refused none.c "no kernel"
cp good.c plus.cpp
refused plus.cpp "device code is C, not C++"
refused good.c "makes archives for host programs only" -gen-libs
refused good.c "nv-dpa-bf9 is none of" -mcpu=nv-dpa-bf9
refused good.c "no name of a C variable" --app-name=a-b
refused good.c "unrecognized option" --no-such-option
"$dpacc" --help | grep -q -- -mcpu || fail "no -mcpu in --help"

printf 'Feature_list:\n  Generating_Empty_CQE: true\n' >good.yaml
"$blob" good.yaml good.blob || fail good.yaml
compile good.c --dpa-proc-attr=good.blob || fail "with attributes"
refused good.c "not made by bfsim's dpa-app-attributes2blob" --dpa-proc-attr=good.yaml
printf 'Feature_list:\n  Generating_Full_CQE: true\n' >bad.yaml
"$blob" bad.yaml bad.blob 2>said && fail bad.yaml
grep -qF 'bad.yaml:2: Feature_list.Generating_Full_CQE: no feature' said || { fail "bad.yaml"; cat said; }
exit $((failures > 0))
