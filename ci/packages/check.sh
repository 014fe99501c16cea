# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-3-Clause
# ci/package: what was made is used in a fresh root file system.

in_root() { chroot "$root" "$@"; }
as_user() { chroot "$root" su - user -c "$1"; }

list_files() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./home -o -path ./var \
	-o -path ./packages \) -prune -o -print | sort); }

clean_root() {
	for dir in dev/shm proc dev; do
		umount "$root/$dir" 2>/dev/null || true
	done
	rm -rf --one-file-system "$root"
}

# A Debian 12 in $root, as mmdebstrap's options say.
make_system() {
	[ "$(id -u)" -eq 0 ] || die "check needs root, for its root file system"
	"$top/ci/deps" package || die "packages are missing"
	root=$(mktemp -d)
	trap clean_root EXIT
	chmod 755 "$root"
	mmdebstrap --quiet "$@" bookworm "$root" 2>/dev/null || die "mmdebstrap can't make a root file system"
	mount --bind /dev "$root/dev"
	mount -t tmpfs tmpfs "$root/dev/shm"
	mount -t proc proc "$root/proc"
}

# With what a user who compiles has, and an ordinary user.
make_root() {
	make_system --variant=apt --include=gcc,libc6-dev,pkgconf
	in_root useradd -m user
}

# An example is built and run: what sets PATH.
# shellcheck disable=SC2016 # the user's shell expands it
try_example() {
	as_user "$1"' cp -r "$(dirname "$(realpath "$(command -v bfsim)")")"/../share/doc/bfsim/examples/comch_hello . 2>/dev/null ||
			cp -r /usr/share/doc/bfsim/examples/comch_hello .
		cd comch_hello &&
		for side in host dpu; do
			(eval "$(bfsim sdk --on $side --env)" && cc -o $side $side.c $(pkg-config --cflags --libs doca-common doca-comch)) || exit 1
		done
		bfsim run --dpu ./dpu --host ./host && bfsim test test.yaml' || die "the example does not run"
	[ -z "$(ls -A "$root/dev/shm")" ] || die "the example left shared memory"
}

# Device code compiles, with the tools and headers of the SDK tree.
# shellcheck disable=SC2016 # the user's shell expands it
try_device_code() {
	as_user "$1"' tree=$(bfsim sdk --on host) &&
		printf "#include <doca_dpa_dev.h>\n#include <dpaintrin.h>\n__dpa_rpc__ uint64_t time(void) { return __dpa_thread_time(); }\n" >kernel.c &&
		"$tree/tools/dpacc" kernel.c -o kernel.a --app-name=app -mcpu=nv-dpa-bf3 "-I$tree/include" \
			-device-libs="-L$tree/lib/$(uname -m)-linux-gnu -ldoca_dpa_dev" && [ -s kernel.a ]' || die "device code does not compile"
}

# The test in Python of doc/python.md, as it stands there.
# shellcheck disable=SC2016 # the user's shell expands it
try_python() {
	in_root sh -c 'DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends /packages/python/*.deb' >"$root/apt.log" 2>&1 ||
		die "the plugin of pytest can't be installed"
	as_user 'cd comch_hello && zcat -f /usr/share/doc/bfsim/doc/python.md* | awk "/^\`\`\`/ { n++; next } n == 1" >test_hello.py &&
		[ -s test_hello.py ] && pytest-3 -q -p no:cacheprovider' || die "the test in Python does not pass"
}

# The commands of the README at the top of DIRECTORY, as they stand there.
# shellcheck disable=SC2016 # the user's shell expands it
try_readme() {
	as_user "cd $1"' && awk "/^\`\`\`/ { n++; next } n == 1" README.md >~/commands && [ -s ~/commands ] && sh -eux ~/commands &&
		rm -r ~/comch_hello ~/commands' || die "what the README says does not work"
}

check_deb() {
	local packages=$1 begun
	compgen -G "$packages/*.deb" >/dev/null || die "no packages in $packages; ci/package deb makes them"
	make_root
	mkdir -p "$root/packages/python"
	cp "$packages"/*.deb "$root/packages"
	mv "$root/packages"/python3-*.deb "$root/packages/python"
	in_root sh -c 'apt-get -q update && apt-get -qy install libc6' >/dev/null
	list_files >"$root/before"
	begun=$SECONDS
	in_root sh -c 'DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends /packages/*.deb' >"$root/apt.log" 2>&1 || {
		tail -n 20 "$root/apt.log" >&2
		die "the packages can't be installed"
	}
	echo "installed in $((SECONDS - begun)) s"
	begun=$SECONDS
	try_example ''
	try_device_code ''
	as_user 'pkg-config --exists bfsim && bfsim doctor >/dev/null && bfsim --version' || die "what is installed does not work"
	echo "built and ran an example in $((SECONDS - begun)) s"
	try_python
	mkdir -p "$root/opt/mellanox"
	in_root update-alternatives --install /opt/mellanox/doca doca-sdk /usr/lib/bfsim/sdk/host 10 >/dev/null
	in_root test -e /opt/mellanox/doca/include/doca_dma.h || die "the alternative /opt/mellanox/doca does not lead to the tree"
	in_root sh -c 'DEBIAN_FRONTEND=noninteractive apt-get -qy purge bfsim bfsim-sdk-host bfsim-sdk-dpu bfsim-dev bfsim-doc python3-bfsim-pytest &&
		apt-get -qy autoremove --purge' >"$root/apt.log" 2>&1 || die "the packages can't be removed"
	rmdir "$root/opt/mellanox" || die "the alternative is left"
	list_files >"$root/after"
	! diff "$root/before" "$root/after" | grep -E '^>.*(bfsim|doca|mellanox)' || die "the packages left these files"
	echo "removed; nothing of them is left"
}

check_tar() {
	local tarball begun=$SECONDS
	tarball=$(compgen -G "$1/bfsim-*-linux-$(uname -m).tar.gz" | head -n 1) || die "no tarball in $1; ci/package tar makes it"
	make_root
	begun=$SECONDS
	as_user 'tar -xz' <"$tarball" || die "it can't be unpacked"
	as_user 'mv bfsim-* elsewhere && elsewhere/bin/bfsim doctor' || die "bfsim doctor found a problem"
	try_readme elsewhere
	# shellcheck disable=SC2016
	try_example 'PATH=$HOME/elsewhere/bin:$PATH;'
	echo "unpacked, and built and ran an example in $((SECONDS - begun)) s"
}
