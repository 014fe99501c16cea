#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What "meson install" lays down, used as a user does: moved to another place,
# applications built against both trees by pkg-config, run on both sides, and
# without the command, with nothing but LD_LIBRARY_PATH.
#
#   test_install.sh BUILD_DIR APPS_SOURCE_DIR LIBDIR BINDGEN|- RUSTC|- CC...
set -eu
build=$1 apps=$2 libdir=$3 bindgen=$4 rustc=$5
shift 5

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
unset BFSIM_SESSION BFSIM_SIDE BFSIM_PATH BFSIM_TOPOLOGY LD_LIBRARY_PATH
export TMPDIR="$work"
cd "$work"

meson install -C "$build" --no-rebuild --destdir "$work/destination" >install.log
installed=$(find destination -type d -name sdk)
mv "$(dirname "$installed")" moved
bfsim=$work/moved/bin/bfsim

# The command prints the tree's path; a tree exists there.
for side in host dpu; do
	[ "$("$bfsim" sdk --on $side)" = "$work/moved/sdk/$side" ]
	[ "$("$bfsim" sdk --generation task --on $side)" = "$work/moved/sdk/$side" ]
	[ "$("$bfsim" sdk --generation task-2.5 --on $side)" = "$work/moved/sdk/task-2.5-$side" ]
	[ "$("$bfsim" sdk --generation workq --on $side)" = "$work/moved/sdk/workq-$side" ]
	for generation in task:3.0 task-2.5:3.0 workq:2.2; do
		version=$(eval "$("$bfsim" sdk --generation ${generation%:*} --on $side --env)" && pkg-config --modversion doca)
		[ "${version%.*}" = ${generation#*:} ]
	done
done

# The parts of an installation fit together, and each current tree has the vendor's tool.
"$bfsim" doctor >findings
grep -q "^ok .*sdk dpu .*/moved/sdk/dpu: DOCA 3.0" findings
grep -q "^ok .*sdk workq-host .*: DOCA 2.2" findings
grep -q "^ok .*sdk task-2.5-dpu .*/moved/sdk/task-2.5-dpu: " findings
for side in host dpu; do
	moved/sdk/$side/tools/doca_caps --list-devs >devices
	"$bfsim" caps --on $side --list-devs | cmp - devices
done
"$bfsim" completion bash | cmp - moved/share/bash-completion/completions/bfsim

# Documents link to what is installed.
(
	cd moved/share/doc/bfsim
	find . -name '*.md' | while read -r page; do
		grep -oE '\]\([^)#:]*' "$page" | sed 's/^](//' | grep -v '^https*$' | while read -r target; do
			[ -e "$(dirname "$page")/$target" ] || echo "$page: $target"
		done
	done >"$work/dead"
)
if [ -s dead ]; then
	cat dead
	exit 1
fi

# What is not there says so.
PKG_CONFIG_PATH=$("$bfsim" sdk --on host)/$libdir/pkgconfig
export PKG_CONFIG_PATH
if pkg-config --cflags doca-flow 2>err || pkg-config --exists doca-flow; then
	exit 1
fi
grep -q 'bfsim-does-not-have-doca-flow' err
for name in flow:flow mgmt_icm_quota:mgmt verbs:verbs telemetry_phy:telemetry; do
	echo "#include <doca_${name%:*}.h>" >lacking.c
	for generation in task task-2.5 workq; do
		if "$@" -c lacking.c -I"$("$bfsim" sdk --generation $generation --on host)/include" 2>err; then
			exit 1
		fi
		grep -q "bfsim does not have doca_${name%:*}.h (libdoca_${name#*:})" err
	done
done

# build TREE PROGRAM OUTPUT COMPILER...: the tree may be a symbolic link to one of ours.
build() {
	tree=$1 program=$2 output=$3
	shift 3
	PKG_CONFIG_PATH=$tree/$libdir/pkgconfig
	export PKG_CONFIG_PATH
	# shellcheck disable=SC2046 # lists of words
	"$@" -O1 -D_GNU_SOURCE -DDOCA_ALLOW_EXPERIMENTAL_API "$apps/$program.c" "$apps"/common/*.c -o "$output" \
		$(pkg-config --cflags --libs doca-common doca-dma doca-argp)
}

ln -s "$work/moved/sdk/dpu" doca # as it could stand in for the vendor's directory
build "$("$bfsim" sdk --on host)" host_copy host_copy "$@"
build "$work/doca" dpu_copy dpu_copy "$@"
build "$work/doca" local_copy local_copy "$@"
head -c 300000 /dev/urandom >in

"$bfsim" run --timeout 60 --host './host_copy --file in --descriptor d' --dpu './dpu_copy --descriptor d --file out'
cmp in out
rm out

# Without the tree of a side (its package is not installed) programs run, and a build is told what to install.
mv moved/sdk/dpu dpu_tree
"$bfsim" run --timeout 60 --host './host_copy --file in --descriptor d' --dpu './dpu_copy --descriptor d --file out'
cmp in out
rm out
! "$bfsim" sdk --on dpu 2>err
grep -q 'apt install bfsim-sdk-dpu' err
"$bfsim" doctor | grep -q 'remedy: apt install bfsim-sdk-dpu'
mv dpu_tree moved/sdk/dpu

# The example as its README describes: make, with pkg-config, once for each side.
mkdir on_dpu
for side in host dpu; do
	PKG_CONFIG_PATH=$("$bfsim" sdk --on $side)/$libdir/pkgconfig
	make -s -C moved/share/doc/bfsim/examples/dma_copy SIDE=$side CC="$*"
done
"$bfsim" run --timeout 60 \
	--host 'moved/share/doc/bfsim/examples/dma_copy/dma_copy_host -p b1:00.0 -f in' \
	--dpu 'moved/share/doc/bfsim/examples/dma_copy/dma_copy_dpu -p 03:00.0 -r b1:00.0 -f on_dpu/out'
cmp in on_dpu/out

# The same of the work-queue generation, whose build files name one module, or one for each library.
PKG_CONFIG_PATH=$("$bfsim" sdk --generation workq --on dpu)/$libdir/pkgconfig
[ "$(pkg-config --libs-only-l doca-argp doca-dma | tr -s ' ' '\n' | sort -u | tr '\n' ' ')" = \
	'-ldoca_argp -ldoca_common -ldoca_dma ' ]
pkg-config --exists doca-common doca-comm-channel doca-sha doca-compress doca-erasure-coding
printf '#include <doca_dma.h>\nint main(void) { struct doca_dma *dma; return doca_dma_create(&dma) != DOCA_SUCCESS || doca_dma_destroy(dma) != DOCA_SUCCESS; }\n' >one.c
# shellcheck disable=SC2046 # lists of words
"$@" one.c -o one $(pkg-config --cflags --libs doca-dma)
"$bfsim" run --timeout 60 --generation workq --dpu ./one
rm on_dpu/out
for side in host dpu; do
	PKG_CONFIG_PATH=$("$bfsim" sdk --generation workq --on $side)/$libdir/pkgconfig
	make -s -C moved/share/doc/bfsim/examples/workq/dma_copy SIDE=$side CC="$*"
done
"$bfsim" run --timeout 60 --generation workq \
	--host 'moved/share/doc/bfsim/examples/workq/dma_copy/dma_copy_host -p b1:00.0 -f in' \
	--dpu 'moved/share/doc/bfsim/examples/workq/dma_copy/dma_copy_dpu -p 03:00.0 -r b1:00.0 -f on_dpu/out'
cmp in on_dpu/out

# A program that handles faults and its test, as their README describes; then with faults from outside.
rm on_dpu/out
flaky=moved/share/doc/bfsim/examples/flaky_link
(
	eval "$("$bfsim" sdk --on dpu --env)"
	make -s -C $flaky all test CC="$*" >flaky.log 2>&1 || { cat flaky.log; exit 1; }
)
"$bfsim" run --timeout 60 --dpu "$flaky/flaky_link <in >on_dpu/out" --fault 'dma.memcpy every=3 fail=IO_FAILED' \
	--require-faults
cmp in on_dpu/out

# The shortest program of the README.
for side in host dpu; do
	PKG_CONFIG_PATH=$("$bfsim" sdk --on $side)/$libdir/pkgconfig
	# shellcheck disable=SC2046 # lists of words
	"$@" moved/share/doc/bfsim/examples/comch_hello/$side.c -o hello_$side $(pkg-config --cflags --libs doca-common doca-comch)
done
"$bfsim" run --timeout 60 --host ./hello_host --dpu ./hello_dpu >said
grep -q 'the DPU answers: hello, host' said
grep -q 'dma.memcpy' moved/share/doc/bfsim/doc/faults.md # named in messages
grep -q 'bfsim: bytes of exported memory' moved/share/doc/bfsim/valgrind.supp # for checks of it

# No session and no side: a private card, on the side that the tree is for.
LD_LIBRARY_PATH=$work/doca/$libdir ./local_copy -i in -o out
cmp in out
rm out
if LD_LIBRARY_PATH=$work/moved/sdk/host/$libdir ./local_copy -i in -o out 2>err; then
	echo "the DPU's program found 03:00.0 with the host's tree"
	exit 1
fi
grep -q 'side host' err # and the log says which side it is on

# The work-queue generation: one source for both of its trees, which prints the tree that it was built with and the
# side that it runs on.
cat >old.c <<'END'
#include <doca_argp.h>
#include <doca_comm_channel.h>
#include <doca_dma.h>
#include <doca_version.h>
#include <stdio.h>

int main(void)
{
	struct doca_devinfo **list;
	struct doca_pci_bdf bdf;
	uint32_t count;

	if (doca_devinfo_list_create(&list, &count) || doca_devinfo_get_pci_addr(list[0], &bdf))
		return 1;
#ifdef DOCA_ARCH_DPU
	printf("dpu ");
#else
	printf("host ");
#endif
	printf("%x %s\n", bdf.bus, doca_version_runtime());
	return doca_devinfo_list_destroy(list) || doca_argp_init("old", NULL) || doca_argp_destroy();
}
END
for side in host dpu; do
	tree=$("$bfsim" sdk --generation workq --on $side)
	PKG_CONFIG_PATH=$tree/$libdir/pkgconfig
	# shellcheck disable=SC2046 # lists of words
	"$@" -DDOCA_ALLOW_EXPERIMENTAL_API old.c -o old_$side $(pkg-config --cflags --libs doca)
	LD_LIBRARY_PATH=$tree/$libdir ./old_$side >>places
done
"$bfsim" run --timeout 60 --generation workq --host './old_host >>places; ./old_dpu >>places'
printf '%s 2.2.0080\n' 'host b1' 'dpu 3' 'host b1' 'dpu b1' | cmp - places

# Programs of that generation as users build them, one tree at the path that is the vendor's.
mkdir -p opt/mellanox
ln -s "$work/moved/sdk/workq-dpu" opt/mellanox/doca
build_old() {
	tree=$1 program=$2 output=$3
	shift 3
	PKG_CONFIG_PATH=$tree/$libdir/pkgconfig
	# shellcheck disable=SC2046 # lists of words
	"$@" -O1 -D_GNU_SOURCE -DDOCA_ALLOW_EXPERIMENTAL_API "$apps/workq/$program.c" "$apps/workq/common.c" "$apps/workq/bytes.c" -o "$output" \
		$(pkg-config --cflags --libs doca)
}
build_old "$("$bfsim" sdk --generation workq --on host)" map_export map_export "$@"
build_old "$work/opt/mellanox/doca" map_import map_import "$@"
build_old "$work/opt/mellanox/doca" local_copy old_local_copy "$@"
"$bfsim" run --timeout 60 --host './map_export in descriptor info' --dpu './map_import descriptor info read out'
cmp in out
rm out
LD_LIBRARY_PATH=$work/opt/mellanox/doca/$libdir ./old_local_copy in out
cmp in out

# And what rust-doca looks for there.
if [ "$bindgen" != - ]; then
	python3 "$apps/../abi/check_rust_doca.py" "$bindgen" "$rustc" "$work/opt/mellanox/doca/include"
fi
