# One command each: make, demo, test, test-all, e2e, lockers, clients, window, fleet, check, bench, soak, fuzz, lint, sanitize, pot, man, build-date, install, deb, deps, clean.

SWIFT ?= swift
# Debian's own: its packages bring the D-Bus and libsodium bindings that the tests use.
PYTHON ?= /usr/bin/python3
FUZZ_SECONDS ?= 60
MACHINES ?= 10000
DESTDIR ?=

prefix = /usr
TRIPLET := $(shell gcc -print-multiarch 2>/dev/null || echo "$$(uname -m)-linux-gnu")
libexecdir = $(prefix)/libexec/appvault
moduledir = $(prefix)/lib/$(TRIPLET)/security
docdir = $(prefix)/share/doc/appvault
localedir = $(prefix)/share/locale
mandir = $(prefix)/share/man
unitdir = $(prefix)/lib/systemd/system
userunitdir = $(prefix)/lib/systemd/user
sysusersdir = $(prefix)/lib/sysusers.d
pamconfigsdir = $(prefix)/share/pam-configs
apparmordir = $(sysconfdir)/apparmor.d
sysconfdir = /etc
STRIP = $(PYTHON) Tools/strip

RELEASE = .build/release
LANGUAGES = $(patsubst po/%.po,%,$(wildcard po/*.po))
CATALOGUES = $(LANGUAGES:%=.build/locale/%/LC_MESSAGES/appvault.mo)
PAGES = appvault.1 appvault-policy.conf.5 appvaultd.8 pam_appvault.8
# SwiftPM would add RUNPATH $ORIGIN, and libpam loads the module into every process that logs people in.
# Without gold, as in newer Debians, swift takes ld.bfd, which leaves RELRO out of our programs; lld comes with swift.
LINKER = $(if $(shell command -v ld.gold),,-Xswiftc -use-ld=lld)
# What is installed is stripped: nobody would ever see its debug information.
SWIFT_BUILD = $(SWIFT) build -c release --disable-local-rpath -debug-info-format none $(LINKER)

# The build of the tests, in a folder of its own: each module compiled at once, its interface in the same pass, and
# without debug information, which is the least work from scratch. A developer's build takes more, and a change compiles
# in parts. SwiftPM finds tests by the index, so there is one, of our own modules alone.
TESTS = .build/tests/debug
FOR_TESTS = --scratch-path .build/tests -debug-info-format none \
	-Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 1 -Xswiftc -no-emit-module-separately-wmo \
	-Xswiftc -index-ignore-system-modules -Xswiftc -index-ignore-clang-modules

# What goes beside the programs of a build: the module by its name, the manual pages, the completions.
define beside
@cp -f $(1)/libpam_appvault.so $(1)/pam_appvault.so
@mkdir -p .build/man .build/completions && $(1)/manpages .build/man .build/completions
endef

.PHONY: all build deps deps-build deps-demo demo test test-all e2e lockers clients window fleet check bench soak fuzz lint format sanitize install clean
.NOTPARALLEL:

all: build

# A swift that is new enough, or one line that says how to get it.
.PHONY: swift
swift:
	@SWIFT='$(SWIFT)' Tools/need-swift

deps:
	@SWIFT='$(SWIFT)' Tools/need-swift --path
	@SWIFT='$(SWIFT)' Tools/deps build test
	@SWIFT='$(SWIFT)' Tools/need-swift

deps-build:
	@SWIFT='$(SWIFT)' Tools/need-swift --path
	@SWIFT='$(SWIFT)' Tools/deps build
	@SWIFT='$(SWIFT)' Tools/need-swift

# No more than that: it may be somebody's own computer.
deps-demo:
	@SWIFT='$(SWIFT)' Tools/need-swift --path
	@SWIFT='$(SWIFT)' Tools/deps demo
	@SWIFT='$(SWIFT)' Tools/need-swift

build: deps-build $(CATALOGUES)
	$(SWIFT_BUILD)
	$(call beside,$(RELEASE))

# Package builds have their dependencies already, and neither root nor a network.
.PHONY: build-only
build-only: swift $(CATALOGUES)
	$(SWIFT_BUILD)
	$(call beside,$(RELEASE))

.PHONY: build-tests build-tested swift-test
build-tests:
	$(SWIFT) build --build-tests $(FOR_TESTS)

# Of them the programs alone, which suites run.
build-tested:
	$(SWIFT) build $(FOR_TESTS)

# In a quick run without those that are named as slow.
SKIPPED = $(if $(filter quick,$(APPVAULT_TESTS)),$(addprefix --skip ,$(shell grep -v '^\#' Tests/slow)))

# At most 16 tests at a time: with all at once each one takes minutes, longer than deadlines that are meant for what hangs.
swift-test:
	@SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=16 $(SWIFT) test --disable-xctest $(FOR_TESTS) $(SKIPPED) $(if $(REPORT),--xunit-output $(REPORT))

# The manual pages alone, to be read: man -l .build/man/appvault.1
.PHONY: man
man:
	$(SWIFT) build --product manpages
	@mkdir -p .build/man .build/completions && .build/debug/manpages .build/man .build/completions

.build/locale/%/LC_MESSAGES/appvault.mo: po/%.po
	@mkdir -p $(@D)
	msgfmt -c -o $@ $<

# The template for translators, after a text was added; then the catalogues, whose new texts are empty.
.PHONY: pot
pot:
	$(SWIFT) build --product appvaultd
	.build/debug/appvaultd --list-texts > po/appvault.pot
	for po in po/*.po; do msgmerge -q -N -U --backup=none --no-wrap $$po po/appvault.pot; done

# With a release, after its heading got its date: by a clock before this nothing expires.
.PHONY: build-date
build-date:
	$(PYTHON) Tools/build-date

demo: deps-demo build
	@INTERACTIVE='$(INTERACTIVE)' $(PYTHON) Tools/demo

# With one build: the suites run the programs that it makes, with the checks of such a build. Swift's tests are compiled
# beside the suites, which mostly wait.
test: deps build-tested $(CATALOGUES)
	$(call beside,$(TESTS))
	@SWIFT='$(SWIFT)' APPVAULT_BUILD='$(CURDIR)/$(TESTS)' $(PYTHON) Tools/run-tests quick

# Everything: each suite, with the programs that people get, the packages and the machines that are booted with them.
test-all: deps
	@SWIFT='$(SWIFT)' MAKE_FIRST='$(MAKE) --no-print-directory build packages-for-e2e' $(PYTHON) Tools/run-tests all

# The part of `make test-all` that boots a Debian of its own; as root. All of it on a later Debian: make e2e DEBIAN=trixie
e2e: deps build packages-for-e2e
	@SWIFT='$(SWIFT)' APPVAULT_DEBIAN='$(DEBIAN)' $(PYTHON) Tools/run-tests e2e

# Real screen lockers on a booted machine; a few minutes. As root.
lockers: deps build packages-for-e2e
	@SWIFT='$(SWIFT)' APPVAULT_LOCKERS=1 $(PYTHON) Tools/run-tests e2e lockers_real

# Real programs of a desktop that keep their secrets, on each Debian; a quarter of an hour. As root.
clients: deps build packages-for-e2e
	@SWIFT='$(SWIFT)' APPVAULT_CLIENTS=1 $(PYTHON) Tools/run-tests e2e secrets_

# The window on each Debian, as the packages install it; half an hour. As root.
window: deps build packages-for-e2e
	@SWIFT='$(SWIFT)' APPVAULT_WINDOW=1 $(PYTHON) Tools/run-tests e2e window_

# Where no machine can be booted nobody needs them.
.PHONY: packages-for-e2e
packages-for-e2e:
	@! $(PYTHON) Tests/Labs/machine.py || $(MAKE) --no-print-directory deb PACK=-Znone

# An organisation's machines, 10,000 of them unless MACHINES says otherwise; what they cost is told at its end. As root.
fleet: deps build
	@APPVAULT_MACHINES='$(MACHINES)' PYTHONPATH=Tests/Labs $(PYTHON) Tests/Integration/fleet/machines.py

check: build-only
	@SWIFT='$(SWIFT)' $(PYTHON) Tools/run-tests check

soak: deps build sanitize
	@SWIFT='$(SWIFT)' $(PYTHON) Tools/run-tests soak

# 368 bytes that the Swift runtime leaves at exit are not ours; the module's leaks are valgrind's business.
sanitize: deps
	ASAN_OPTIONS=detect_leaks=0 $(SWIFT) test --disable-xctest --sanitize=address --build-path .build/asan
	$(SWIFT) test --disable-xctest --sanitize=thread --build-path .build/tsan

bench: deps build
	@SWIFT='$(SWIFT)' $(PYTHON) Benchmarks/run

fuzz: deps
	@SWIFT='$(SWIFT)' FUZZ_SECONDS='$(FUZZ_SECONDS)' $(PYTHON) Tests/Fuzz/run

lint: swift
	@$(PYTHON) Tools/lint
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Benchmarks Examples pam

format: swift
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests Benchmarks Examples pam

# After `make`, so that `sudo make install` compiles nothing as root.
install:
	@test -x $(RELEASE)/appvaultd || { echo 'appvault: run make first' >&2; exit 1; }
	install -D -m 755 $(RELEASE)/appvaultd $(DESTDIR)$(libexecdir)/appvaultd
	install -D -m 755 $(RELEASE)/appvault-rules $(DESTDIR)$(libexecdir)/appvault-rules
	install -D -m 755 $(RELEASE)/appvault-fetch $(DESTDIR)$(libexecdir)/appvault-fetch
	install -D -m 755 $(RELEASE)/appvault-fingerprint $(DESTDIR)$(libexecdir)/appvault-fingerprint
	install -D -m 755 $(RELEASE)/appvault-agent $(DESTDIR)$(libexecdir)/appvault-agent
	install -D -m 755 $(RELEASE)/appvault-windows $(DESTDIR)$(libexecdir)/appvault-windows
	install -D -m 755 $(RELEASE)/appvault-scan $(DESTDIR)$(libexecdir)/appvault-scan
	install -D -m 755 $(RELEASE)/appvault-secrets $(DESTDIR)$(libexecdir)/appvault-secrets
	install -D -m 755 $(RELEASE)/appvault $(DESTDIR)$(prefix)/bin/appvault
	install -D -m 755 $(RELEASE)/appvault-desktop $(DESTDIR)$(prefix)/bin/appvault-desktop
	install -D -m 644 $(RELEASE)/pam_appvault.so $(DESTDIR)$(moduledir)/pam_appvault.so
	$(STRIP) $(DESTDIR)$(libexecdir)/appvaultd $(DESTDIR)$(libexecdir)/appvault-rules $(DESTDIR)$(prefix)/bin/appvault \
		$(DESTDIR)$(libexecdir)/appvault-fetch $(DESTDIR)$(libexecdir)/appvault-fingerprint \
		$(DESTDIR)$(libexecdir)/appvault-agent $(DESTDIR)$(prefix)/bin/appvault-desktop \
		$(DESTDIR)$(libexecdir)/appvault-windows $(DESTDIR)$(libexecdir)/appvault-secrets \
		$(DESTDIR)$(libexecdir)/appvault-scan \
		$(DESTDIR)$(moduledir)/pam_appvault.so
	install -D -m 644 config/policy.conf $(DESTDIR)$(prefix)/lib/appvault/policy.conf
	install -d $(DESTDIR)$(unitdir) $(DESTDIR)$(sysusersdir) $(DESTDIR)$(pamconfigsdir)
	install -m 644 config/systemd/* $(DESTDIR)$(unitdir)
	install -d $(DESTDIR)$(userunitdir)
	install -m 644 config/systemd-user/* $(DESTDIR)$(userunitdir)
	install -d $(DESTDIR)$(prefix)/share/dbus-1/services
	install -m 644 config/dbus/* $(DESTDIR)$(prefix)/share/dbus-1/services
	install -D -m 644 config/portal/appvault.portal \
		$(DESTDIR)$(prefix)/share/xdg-desktop-portal/portals/appvault.portal
	install -D -m 644 config/secret-service/gnome-keyring-daemon.conf \
		$(DESTDIR)$(userunitdir)/gnome-keyring-daemon.service.d/appvault.conf
	install -D -m 644 config/secret-service/kwalletrc $(DESTDIR)$(prefix)/share/appvault/kwalletrc
	install -D -m 644 config/desktop/org.appvault.Desktop.desktop \
		$(DESTDIR)$(prefix)/share/applications/org.appvault.Desktop.desktop
	install -D -m 644 config/desktop/org.appvault.Desktop.svg \
		$(DESTDIR)$(prefix)/share/icons/hicolor/scalable/apps/org.appvault.Desktop.svg
	install -D -m 644 config/desktop/org.appvault.Desktop.metainfo.xml \
		$(DESTDIR)$(prefix)/share/metainfo/org.appvault.Desktop.metainfo.xml
	install -D -m 644 config/dbus-system/org.appvault.conf \
		$(DESTDIR)$(prefix)/share/dbus-1/system.d/org.appvault.conf
	install -D -m 644 config/autostart/appvault-agent.desktop \
		$(DESTDIR)$(sysconfdir)/xdg/autostart/appvault-agent.desktop
	for target in hibernate hybrid-sleep suspend-then-hibernate; do \
		install -d $(DESTDIR)$(unitdir)/$$target.target.wants; \
		ln -sf ../appvault-hibernate.service $(DESTDIR)$(unitdir)/$$target.target.wants/; \
	done
	install -m 644 config/sysusers.d/* $(DESTDIR)$(sysusersdir)
	install -m 644 pam/pam-configs/* $(DESTDIR)$(pamconfigsdir)
	install -D -m 755 config/appvault-fingerprint-udev $(DESTDIR)$(libexecdir)/appvault-fingerprint-udev
	install -d $(DESTDIR)$(apparmordir)
	install -m 644 config/apparmor/* $(DESTDIR)$(apparmordir)
	install -D -m 644 config/polkit/org.appvault.policy $(DESTDIR)$(prefix)/share/polkit-1/actions/org.appvault.policy
	install -D -m 644 config/needrestart/appvault.conf $(DESTDIR)$(sysconfdir)/needrestart/conf.d/appvault.conf
	install -D -m 644 .build/completions/appvault.bash $(DESTDIR)$(prefix)/share/bash-completion/completions/appvault
	install -D -m 644 .build/completions/_appvault $(DESTDIR)$(prefix)/share/zsh/vendor-completions/_appvault
	install -D -m 644 .build/completions/appvault.fish $(DESTDIR)$(prefix)/share/fish/vendor_completions.d/appvault.fish
	install -D -m 644 pam/pam.d/appvault $(DESTDIR)$(sysconfdir)/pam.d/appvault
	for language in $(LANGUAGES); do install -D -m 644 .build/locale/$$language/LC_MESSAGES/appvault.mo \
		$(DESTDIR)$(localedir)/$$language/LC_MESSAGES/appvault.mo || exit 1; done
	for page in $(PAGES); do \
		install -D -m 644 .build/man/$$page $(DESTDIR)$(mandir)/man$${page##*.}/$$page || exit 1; done
	install -d $(DESTDIR)$(docdir)
	install -m 644 $(wildcard *.md docs/*.md) LICENSE $(DESTDIR)$(docdir)
	install -D -m 644 docs/fleet/nginx.conf $(DESTDIR)$(docdir)/fleet/nginx.conf

# The five packages in .build/deb, of this very tree and without the tests; a plain dpkg-buildpackage runs them too.
# With a swift of swift.org's on PATH, which dpkg knows nothing of. How dpkg-deb packs: a test installs them many times.
PACK = -z1
.PHONY: deb
deb:
	@dpkg-checkbuilddeps -Ppkg.appvault.toolchain || { \
		echo 'appvault: sudo apt-get build-dep -Ppkg.appvault.toolchain ./ installs these' >&2; exit 1; }
	rm -rf .build/deb debian/tmp && mkdir -p .build/deb
	DEB_BUILD_PROFILES=pkg.appvault.toolchain DEB_BUILD_OPTIONS=nocheck DEB_RULES_REQUIRES_ROOT=no \
		$(MAKE) -f debian/rules binary DEBS=$(CURDIR)/.build/deb PACK=$(PACK)
	dh_clean
	@ls -l .build/deb

clean:
	rm -rf .build Benchmarks/.build Tests/Fuzz/.build
