#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds as users have them, against what "meson install" lays down. Build files name /opt/mellanox/doca; the tests put a link
# to a tree in its place.
#
#   test_builds.sh BUILD_DIR SOURCE_DIR LIBDIR CC...       (TAP)

. "$(dirname "$0")/../multi/tap.sh"

build=$1
source=$2
libdir=$3
shift 3
compiler=$*
here=$source/tests/builds
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
unset BFSIM_SESSION BFSIM_SIDE BFSIM_PATH BFSIM_TOPOLOGY LD_LIBRARY_PATH LIBRARY_PATH CPATH PKG_CONFIG_PATH DESTDIR CFLAGS LDFLAGS
export TMPDIR="$work" XDG_RUNTIME_DIR="$work" CC="$compiler"

meson install -C "$build" --no-rebuild --destdir "$work/destination" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
prefix=$(dirname "$(find "$work/destination" -type d -name sdk)")
doca=$work/opt/mellanox/doca
mkdir -p "$work/opt/mellanox"

use_tree() { ln -sfn "$prefix/sdk/$1" "$doca"; }
compile() { $compiler -DDOCA_ALLOW_EXPERIMENTAL_API "$@"; }

# Directories with libraries that the vendor's packages and guides have, and build files name, on a side.
directories_of() {
	case $1 in
	*dpu) own=lib/aarch64-linux-gnu ;;
	*host) own=lib/x86_64-linux-gnu ;;
	esac
	[ $own != "$libdir" ] || own=
	echo "$libdir" lib64 infrastructure/lib $own
}
release_of() { case $1 in workq-*) echo 2.2 ;; *) echo 3.0 ;; esac; }

# take FOLDER: its files, and the program, to this directory.
take() {
	cp -r "$here/$1/." "$here/app.c" .
	find . -type f -exec sed -i "s|/opt/mellanox/doca|$doca|g" {} +
}

# prints TREE COMMAND...: the program says the side and release of that tree.
prints() {
	tree=$1
	shift
	"$@" 2>err >said || { cat err; return 1; }
	says "^${tree##*-} $(release_of "$tree")\." said
}

for_each_directory() {
	for tree in host dpu task-2.5-host task-2.5-dpu workq-host workq-dpu; do
		use_tree $tree
		for directory in $(directories_of $tree); do
			"$1" $tree "$directory" || { echo "$tree, $directory"; return 1; }
		done
	done
}

# These run where a failure does not end the shell: without the last directory's program, one that is not built is noticed.
by_pkg_config() {
	rm -f app
	flags=$(PKG_CONFIG_PATH=$doca/$2/pkgconfig pkg-config --cflags --libs doca-dma doca-common)
	# shellcheck disable=SC2086 # lists of words
	compile "$here/app.c" $flags -o app
	prints "$1" env LD_LIBRARY_PATH="$doca/$2" ./app
}
test_each_directory_serves_pkg_config() {
	for_each_directory by_pkg_config
}

by_flags() {
	rm -f app
	include=include
	[ "$2" != infrastructure/lib ] || include=infrastructure/include
	compile -I"$doca/$include" -L"$doca/$2" "$here/app.c" -ldoca_dma -ldoca_common -o app
	prints "$1" env LD_LIBRARY_PATH="$doca/$2" ./app || return 1
	rm app
	compile -I"$doca/$include" "$here/app.c" "$doca/$2/libdoca_dma.so" "$doca/$2/libdoca_common.so" -Wl,-rpath,"$doca/$2" -o app
	prints "$1" ./app
}
test_each_directory_serves_flags_that_name_it() {
	for_each_directory by_flags
}

test_each_directory_serves_cmake() {
	command -v cmake >/dev/null || return 0
	take paths
	for tree in host dpu; do
		use_tree $tree
		list=$(directories_of $tree | tr ' ' ';')
		cmake -S . -B cmake-$tree -DDIRECTORIES="$list" >log 2>&1 && cmake --build cmake-$tree >log 2>&1 || { cat log; return 1; }
		for directory in $(directories_of $tree); do
			prints $tree "cmake-$tree/app_$(echo "$directory" | tr / _)"
		done
	done
}

test_each_directory_serves_meson() {
	take paths
	cp meson.build with_mark
	for tree in host dpu; do
		use_tree $tree
		list=$(directories_of $tree | sed "s/ /', '/g")
		sed "s|DIRECTORIES|['$list']|" with_mark >meson.build
		meson setup meson-$tree >log 2>&1 && ninja -C meson-$tree >log 2>&1 || { cat log; return 1; }
		for directory in $(directories_of $tree); do
			prints $tree "meson-$tree/app_$(echo "$directory" | sed 's/[^a-z0-9]/_/g')"
		done
	done
}

# NVIDIA-DOCA/doca-samples, 3.0 to 3.2.
test_a_sample_takes_its_version_from_the_sdk() {
	use_tree dpu
	take sample
	export PKG_CONFIG_PATH="$doca/lib/aarch64-linux-gnu/pkgconfig"
	meson setup b >log 2>&1 && ninja -C b >>log 2>&1 || { cat log; return 1; }
	says 'Message: version (3\.0\.[0-9]+) \1$' log
	says 'Message: rdma [Tt]rue libdir' log
	prints dpu b/app
}

# The find modules of several public CMake projects.
test_a_find_module_finds_the_components_that_there_are() {
	command -v cmake >/dev/null || return 0
	use_tree dpu
	take find_module
	for way in "PKG_CONFIG_PATH=$doca/lib64/pkgconfig" "DOCA_ROOT=$doca"; do
		rm -rf b
		env "$way" cmake -S . -B b -DDOCA_ARCH=aarch64 >log 2>&1 && cmake --build b >>log 2>&1 || { cat log; return 1; }
		says 'gpunetio: DOCA_gpunetio_LIBRARY-NOTFOUND, dma: /' log
		prints dpu b/app
	done
}

# The host's Makefile of DPUMesh.
test_a_makefile_takes_the_library_directory_for_its_run_path() {
	for tree in host dpu; do
		use_tree $tree
		take makefile
		for directory in $(directories_of $tree); do
			rm -f app
			PKG_CONFIG_PATH=$doca/$directory/pkgconfig make -s CC="$compiler" >log 2>&1 || { cat log; return 1; }
			prints $tree ./app
		done
	done
}

# build.rs of a Rust project for 1.5 and 2.0.
test_cargo_links_with_the_directory_of_its_processor() {
	command -v cargo >/dev/null || return 0
	use_tree workq-host
	take build_rs
	CARGO_HOME=$work/cargo cargo build --offline --quiet >log 2>&1 || { cat log; return 1; }
	LD_LIBRARY_PATH=$doca/$libdir target/debug/app >said 2>err || { cat err; return 1; }
	says '^2\.2\.' said
}

# setup.py of an extension of PyTorch.
test_a_script_sorts_the_flags_into_lists() {
	use_tree host
	take setup_py
	# shellcheck disable=SC2086 # a list of words
	python3 build.py $compiler
	prints host python3 -c 'import ctypes; ctypes.CDLL("./app.so").main()'
}

# Extensions of interpreters, plug-ins: the loader has little room for the thread-local data of what it loads so.
test_programs_load_the_libraries_while_they_run() {
	for tree in host workq-dpu; do
		python3 - "$prefix/sdk/$tree/lib64" <<-'EOF'
			import ctypes, pathlib, sys
			libraries = sorted(pathlib.Path(sys.argv[1]).glob('lib*.so'))
			assert len(libraries) > 7
			for library in libraries:
			    ctypes.CDLL(str(library))
		EOF
	done
}

# Makefile and cgo flags of gobeyondidentity/secure-infra, which packs the libraries with its program.
test_copies_of_the_libraries_run_in_a_session() {
	use_tree dpu
	mkdir copies
	cp "$doca"/lib/aarch64-linux-gnu/libdoca_common.so* "$doca"/lib/aarch64-linux-gnu/libdoca_dma.so* copies
	compile -I"$doca/include" "$here/app.c" -L"$doca/lib/aarch64-linux-gnu" -ldoca_dma -ldoca_common -Wl,-rpath,"$PWD/copies" -o app
	status 0 "$prefix/bin/bfsim" run --timeout 60 --dpu ./app
	says '^dpu *\| dpu 3\.0\.' out
}

test_an_umbrella_gives_a_program_what_it_needs() {
	for tree in dpu workq-dpu; do
		use_tree $tree
		# shellcheck disable=SC2046 # a list of words
		compile -Wl,--no-as-needed "$here/app.c" $(PKG_CONFIG_PATH=$doca/lib64/pkgconfig pkg-config --cflags --libs doca) -o app
		same 'libdoca_common.so.2 libdoca_dma.so.2' \
			"$(readelf -d app | sed -n 's/.*(NEEDED).*\[\(libdoca.*\)\]/\1/p' | sort | tr '\n' ' ' | sed 's/ $//')"
		prints $tree env LD_LIBRARY_PATH="$doca/lib64" ./app
	done
}

modules() { python3 "$source/shim/abi/libraries.py" modules "$source/shim/abi/modules.txt"; }

# A module of the vendor resolves, or its sentence says that bfsim does not have it. Those of the older releases have their
# libraries in each tree.
test_modules_resolve_or_say_that_bfsim_lacks_them() {
	modules >list
	for tree in host workq-host; do
		use_tree $tree
		export PKG_CONFIG_PATH="$doca/$libdir/pkgconfig"
		while read -r module releases _; do
			libs=$(pkg-config --libs "doca-$module" 2>err) && found=yes || found=no
			description=$source/shim/$(echo "$module" | tr - _)/library.toml
			wanted=no
			if [ -e "$description" ]; then
				wanted=yes
				[ $tree = host ] || grep -q '^generations = .*"workq"' "$description" || continue # of later releases
			fi
			same "$module $wanted" "$module $found"
			if [ $found = yes ]; then
				echo "$libs" | grep -q -- "-ldoca_$(echo "$module" | tr - _)"
			else
				says "bfsim-does-not-have-doca-$module--" err
			fi
		done <list
	done
	for module in eth flow telemetry-exporter; do
		status 1 pkg-config --libs doca-$module-lib
		says "bfsim-does-not-have-doca-$module--" err
	done
}

test_headers_compile_or_say_that_bfsim_lacks_them() {
	modules | while read -r _ _ libraries headers; do
		for header in $(echo "$headers" | tr -d ' ' | tr ',' ' '); do
			[ "$header" = - ] || echo "doca_$header.h" "${libraries%%[ ,]*}"
		done
	done >list
	for tree in dpu workq-dpu; do
		use_tree $tree
		while read -r header library; do
			echo "#include <$header>" >one.c
			if [ -e "$source/shim/include/$header" ] || [ -e "$source/shim/workq/include/$header" ] || [ "$header" = doca_build_config.h ] ||
			   { [ $tree = dpu ] && [ -e "$source/shim/dpa_dev/include/$header" ]; }; then
				[ ! -e "$doca/include/$header" ] || compile -fsyntax-only -I"$doca/include" one.c
				continue
			fi
			status 1 compile -fsyntax-only -I"$doca/include" one.c
			says "bfsim does not have $header \(libdoca_$library\): leave it out" err
		done <list
	done
}

# fake ARCH: what an installation for it leaves in a tree, as far as links are concerned.
fake() {
	mkdir -p "sdk/dpu/lib/$1-linux-gnu/pkgconfig"
	for name in libbfsim.so libdoca_dma.so; do
		ln -sf "../../../../lib/$1-linux-gnu/$name" "sdk/dpu/lib/$1-linux-gnu/$name"
	done
	rm -f "sdk/dpu/lib/$1-linux-gnu/pkgconfig/doca-dma.pc"
	echo "$1" >"sdk/dpu/lib/$1-linux-gnu/pkgconfig/doca-dma.pc"
	MESON_INSTALL_DESTDIR_PREFIX=$PWD python3 "$source/shim/abi/link_trees.py" "$1-linux-gnu"
}
leads_to() { same "$2" "$(readlink "sdk/dpu/$1")"; }

test_libraries_of_two_processors_have_their_own_directories() {
	arm=lib/aarch64-linux-gnu
	fake x86_64
	leads_to $arm/libdoca_dma.so ../x86_64-linux-gnu/libdoca_dma.so
	for order in 'x86_64 aarch64' 'aarch64 x86_64 x86_64' 'x86_64 aarch64 x86_64'; do
		rm -rf sdk
		for arch in $order; do fake "$arch"; done
		leads_to lib64 lib/x86_64-linux-gnu
		for arch in x86_64 aarch64; do
			leads_to lib/$arch-linux-gnu/libdoca_dma.so "../../../../lib/$arch-linux-gnu/libdoca_dma.so"
			same $arch "$(cat sdk/dpu/lib/$arch-linux-gnu/pkgconfig/doca-dma.pc)"
		done
	done
	rm -rf sdk
	fake aarch64
	leads_to lib64 lib/aarch64-linux-gnu
	absent sdk/dpu/lib/x86_64-linux-gnu
}

# A directory of links alone has no libraries for its processor: what is built for that one is told so.
test_links_are_no_libraries_for_another_processor() {
	[ "$(uname -m)" = x86_64 ] || return 0
	status 1 "$prefix/bin/bfsim" sdk --on dpu --arch aarch64
	says 'no libraries for aarch64' err
	# shellcheck disable=SC2016 # the shell of the program expands it
	status 0 "$prefix/bin/bfsim" run --dpu 'echo $LD_LIBRARY_PATH'
	says "^dpu *\| $prefix/sdk/dpu/$libdir:?$" out
}

run_tests "$0" "$work"
