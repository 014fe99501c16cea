# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-3-Clause
# ci/package: Debian packages.

# What is committed or new, without what git ignores, as a source tree of Debian's.
make_source() {
	mkdir -p "$1"
	git -C "$top" ls-files -z --cached --others --exclude-standard | tar -C "$top" --null --files-from=- -c | tar -C "$1" -x
	cp -r "$1/share/packaging/debian" "$1/debian"
	cat >"$1/debian/changelog" <<-END
		bfsim ($(version)) unstable; urgency=medium

		  * CHANGELOG.md of the source lists the changes.

		 -- bfsim developers <bfsim@bfsim.invalid>  $(git -C "$top" log -1 --format=%cD)
	END
}

# What a job wants of them: print_install DIR ARCHITECTURE
print_install() {
	local name dir files=()
	dir=$(realpath --relative-base="$PWD" "$1")
	[ "${dir#/}" != "$dir" ] || dir=./$dir
	for name in bfsim bfsim-sdk-host bfsim-sdk-dpu; do
		files+=("$dir/${name}_$(version)_$2.deb")
	done
	echo "to build applications and run them:"
	echo "  sudo apt install --no-install-recommends ${files[*]} gcc pkgconf"
}

# make_deb DIR [ARCHITECTURE]: that of this machine, or arm64 by cross compilers, without the packages that hold for each.
make_deb() {
	local out=$1 arch=${2:-} work options=(-b) sets=(build package)
	if [ -n "$arch" ] && [ "$arch" != "$(dpkg --print-architecture)" ]; then
		[ "$arch" = arm64 ] || die "there is no cross build for $arch; arm64 is known"
		options=(-B "-a$arch" -d -Pcross,nocheck)
		sets+=(cross)
	fi
	"$top/ci/deps" "${sets[@]}" || die "packages are missing"
	mkdir -p "$out"
	work=$(mktemp -d)
	# shellcheck disable=SC2064
	trap "rm -rf '$work'" EXIT
	make_source "$work/bfsim"
	echo "building; the log is $out/build.log"
	run_counting "$out/build.log" env -C "$work/bfsim" dpkg-buildpackage -us -uc "${options[@]}" || {
		tail -n 40 "$out/build.log" >&2
		die "the packages can't be built; the whole log is $out/build.log"
	}
	rm -f "$out"/*_"${arch:-$(dpkg --print-architecture)}".*
	cp "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo "$out"
	lintian --allow-root --fail-on error,warning --info "$work"/*.changes || die "lintian has complaints"
	ls -sh "$out"/*.deb
	print_install "$out" "${arch:-$(dpkg --print-architecture)}"
}
