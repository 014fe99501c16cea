# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-3-Clause
# ci/package: an installation that runs wherever it is unpacked, with the libraries that a machine may lack.

newest_glibc=2.34 # Ubuntu 22.04 has 2.35

# What each system has.
is_of_system() {
	case $1 in
	libc.so.* | libm.so.* | ld-linux*.so.* | libpthread.so.* | libdl.so.* | librt.so.* | libgcc_s.so.*) true ;;
	*) false ;;
	esac
}

list_needed() { objdump -p "$1" | awk '$1 == "NEEDED" { print $2 }'; }

# Programs and libraries below a directory.
list_elf() {
	find "$1" -type f | while read -r file; do
		[ "$(head -c 4 "$file" | tr -d '\0')" != $'\x7fELF' ] || echo "$file"
	done
}

path_of_library() { ldconfig -p | awk -v name="$1" '$1 == name && /x86-64|AArch64/ { print $NF; exit }'; }

# Those of other packages that FILE needs, to DIR; with what these need.
carry_libraries() {
	local name path
	for name in $(list_needed "$1"); do
		! is_of_system "$name" && [ ! -e "$2/$name" ] && [ -z "$(find "$tree/lib" "$tree/sdk" -name "$name" -print -quit)" ] || continue
		carry_library "$name" "$2"
	done
}
carry_library() {
	local path
	path=$(path_of_library "$1")
	[ -n "$path" ] || die "$1 is not installed on this machine"
	cp -L "$path" "$2/$1"
	chmod 755 "$2/$1"
	copy_licence "$path"
	carry_libraries "$2/$1" "$2"
}

copy_licence() {
	local package
	package=$(dpkg-query -S "$(realpath "$1")" "*/$(basename "$(realpath "$1")")" 2>/dev/null | head -n 1 | cut -d : -f 1)
	[ -n "$package" ] || die "no Debian package has $1"
	cp "/usr/share/doc/$package/copyright" "$tree/share/doc/bfsim/licences/$package"
}

# Each file finds what was carried relative to itself.
set_search_path() {
	local own dir
	dir="\$ORIGIN/$(realpath --relative-to "$(dirname "$1")" "$2")"
	own=$(patchelf --print-rpath "$1")
	patchelf --set-rpath "${own:+$own:}$dir" "$1"
}

# A version of glibc that a file needs, above the limit.
check_glibc() {
	local file version
	list_elf "$1" | while read -r file; do
		version=$(objdump -T "$file" | grep -o 'GLIBC_2\.[0-9]*' | sed s/GLIBC_// | sort -Vu | tail -n 1)
		[ "$(printf '%s\n' "${version:-0}" $newest_glibc | sort -V | tail -n 1)" = $newest_glibc ] ||
			die "${file#"$1"/} needs glibc $version: $(objdump -T "$file" | grep -F "GLIBC_$version" | awk '{ print $NF }' | head -n 3 | tr '\n' ' ')"
	done
}

# install_tree WORK NAME
install_tree() {
	meson setup "$1/build" "$top" --prefix "/$2" --buildtype=release -Dtests=false -Dabi=false -Dgateway=disabled &&
		ninja -C "$1/build" && DESTDIR=$1 meson install -C "$1/build" --no-rebuild
}

make_tar() {
	local out=$1 name work file deps
	"$top/ci/deps" build package || die "packages are missing"
	mkdir -p "$out"
	name=bfsim-$(version)-linux-$(uname -m)
	work=$(mktemp -d)
	# shellcheck disable=SC2064
	trap "rm -rf '$work'" EXIT
	tree=$work/$name
	echo "building; the log is $out/build-tar.log"
	run_counting "$out/build-tar.log" install_tree "$work" "$name" || die "it can't be built; the log is $out/build-tar.log"
	deps=$tree/lib/carried
	mkdir -p "$deps" "$tree/share/doc/bfsim/licences"
	cp "$top/LICENSE" "$tree/"
	sed "s/@VERSION@/$(version)/" "$top/share/packaging/README.directory.md" >"$tree/README.md"
	list_elf "$tree" >"$work/own"
	while read -r file; do carry_libraries "$file" "$deps"; done <"$work/own"
	# Loaded on first use. OpenSSL stays the system's, which mends it.
	for file in $(sed -n 's/.*{ file = "\([^"]*\)".*/\1/p' "$top"/shim/*/library.toml | grep -v libcrypto | sort -u); do
		[ -e "$deps/$file" ] || carry_library "$file" "$deps"
	done
	# The trees have links to the libraries, whose directory is then the tree's.
	for file in "$tree"/sdk/*/lib; do ln -s "$(realpath --relative-to "$file" "$deps")" "$file/carried"; done
	strip --strip-unneeded "$deps"/*
	while read -r file; do set_search_path "$file" "$deps"; done < <(cat "$work/own"; list_elf "$deps")
	check_glibc "$tree"
	"$tree/bin/bfsim" doctor >"$work/doctor" || { cat "$work/doctor" >&2; die "bfsim doctor found a problem"; }
	tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git -C "$top" log -1 --format=%ct)" \
		-czf "$out/$name.tar.gz" "$name"
	ls -sh "$out/$name.tar.gz"
}
