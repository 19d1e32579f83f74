# SPDX-License-Identifier: BSD-2-Clause
#
# teltools: libtel and its filters.  GNU make; "make help" lists the targets.
# Every variant of the build goes through this file with its own BUILD folder
# and flags, as in:  make BUILD=build/small CFLAGS=-Os

VERSION   := $(shell sed -n \
    's/^.define TEL_VERSION "\(.*\)"$$/\1/p' include/tel/base.h)
SOVERSION = 0
DEPS      = libzstd
# Their headers alone: the libraries are loaded when they are needed.  With
# libarchive among DEPS, it is linked, as in a static program.
LOADED    = libarchive liblz4 liblzma sqlite3 zlib

BUILD      = build
PREFIX     ?= /usr/local
BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR     ?= $(PREFIX)/share/man
DATADIR    ?= $(PREFIX)/share/teltools
# Where the Python module goes; nowhere, if empty.  And what pip calls the
# installer: "pip uninstall" leaves the module to it.
PYTHONDIR  ?=
PYTHONBY   ?= make
BASHDIR    ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR     ?= $(PREFIX)/share/zsh/site-functions
# fish does not look into /usr/local unless XDG_DATA_DIRS names it
FISHDIR    ?= $(if $(filter /usr/local,$(PREFIX)),/etc/fish/completions,$(PREFIX)/share/fish/vendor_completions.d)
INSTALL    ?= install
PKG_CONFIG ?= pkg-config
CFLAGS     ?= -O2 -g
FUZZTIME   ?= 20
JOBS       ?= $(shell nproc 2>/dev/null || echo 1)

WARN = -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
    -Wmissing-prototypes -Wcast-qual -Wwrite-strings -Wvla -Wformat=2 -Wundef

# The commands see the public header and what they share, no more.
INC_lib   = -Iinclude -Ilib
INC_cmd   = -Iinclude -Icmd -Ilib
INC_tests = -Iinclude -Ilib -Icmd -Itests/unit

# Asked of pkg-config once, and only when something is compiled.
DEP_CFLAGS = $(eval DEP_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(DEPS) $(LOADED) 2>/dev/null))$(DEP_CFLAGS)
DEP_LIBS   = $(eval DEP_LIBS := $(shell $(PKG_CONFIG) --libs $(DEPS) 2>/dev/null))$(DEP_LIBS)

# Against what hostile input may do to memory, as far as the compiler has it;
# HARDEN= leaves it out, and CFLAGS, CPPFLAGS and LDFLAGS come behind it.
# _FORTIFY_SOURCE is for optimised code, and for no sanitizer; the user's goes
# before ours, and both together are a warning for each file.
HARDEN       ?= -fstack-protector-strong -D_FORTIFY_SOURCE=2
HARDEN_LINK  ?= -Wl,-z,relro -Wl,-z,now
TRY           = $(if $(shell printf 'int main(void) { return 0; }' | \
    $(CC) -O1 $(1) -x c -o /dev/null - 2>/dev/null && echo yes),$(1))
OPTIMISED     = $(filter-out -O0,$(filter -O%,$(CFLAGS)))
FORTIFIED     = $(and $(OPTIMISED),$(if $(findstring -fsanitize,$(CFLAGS))$(findstring \
    _FORTIFY_SOURCE,$(CFLAGS) $(CPPFLAGS)),,1))
HARD_CFLAGS   = $(eval HARD_CFLAGS := $(foreach f,$(if $(FORTIFIED),$(HARDEN), \
    $(filter-out -D_FORTIFY%,$(HARDEN))),$(call TRY,$(f))))$(HARD_CFLAGS)
HARD_LDFLAGS  = $(eval HARD_LDFLAGS := $(foreach f,$(HARDEN_LINK), \
    $(call TRY,$(f))))$(HARD_LDFLAGS)

ALL_CPPFLAGS = -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 \
	-DTEL_EXPERIMENTAL \
    $(if $(filter libarchive,$(DEPS)),-DTEL_ARCHIVE_LINKED) \
    $(DEP_CFLAGS) $(CPPFLAGS)
ALL_CFLAGS   = -std=c11 $(WARN) -pthread -fPIC -fvisibility=hidden \
    $(HARD_CFLAGS) $(CFLAGS)
# dlopen(): of a library of its own where libc is older than glibc 2.34
DL_LIBS     := $(if $(filter Linux,$(shell uname -s)),-ldl)
ALL_LIBS     = $(DEP_LIBS) $(DL_LIBS) $(LDLIBS)
LINK         = $(CC) $(ALL_CFLAGS) $(HARD_LDFLAGS) $(LDFLAGS)

TOOLS   = $(patsubst cmd/%/main.c,%,$(wildcard cmd/tel*/main.c))
# The umbrella headers, and the parts of tel.h.
HEADERS = $(sort $(wildcard include/*.h))
PARTS   = $(sort $(wildcard include/tel/*.h))
MANS    = $(sort $(wildcard man/*.[1-8]))
# libtel-emit is a library of its own, which needs libc alone.  Both libraries
# have the encoder of .tel, hidden in each.
EMIT_SRC = $(sort $(wildcard lib/emit/*.c))
EMIT_OBJ = $(call obj,$(EMIT_SRC) $(sort $(wildcard lib/wire/*.c)) \
    lib/base/array.c lib/base/buffer.c)
LIB_SRC = $(filter-out $(EMIT_SRC),$(sort \
    $(wildcard lib/*/*.c lib/format/*/*.c)))
# The script, the style and the shell of pages, the events of the MPS with their
# descriptions, and those of Singularity, as C.
PAGE    = lib/print/page
MPS     = lib/format/mps
MADE_OBJ = $(BUILD)/lib/print/page_parts.o $(BUILD)/$(MPS)/docs_rows.o \
    $(BUILD)/$(MPS)/events_rows.o $(BUILD)/lib/format/ets/builtin_tmf.o
# page.js comes first: the others add to what it defines.  A page of a report
# has some of the scripts, a page of a log the others.
PAGE_SCRIPTS = $(PAGE)/page.js $(filter-out $(PAGE)/page.js,$(sort \
    $(wildcard $(PAGE)/*.js)))
# Pages have no indents and no comments, but the same lines; nor blanks around
# signs that stand between blanks in no text of the scripts.
PAGE_SMALLER = s/^[[:blank:]]*//; s,^//.*,,; s,^/\*.*\*/$$,,; \
    s/ (=>|===|!==|&&|\|\||\?\?|=) /\1/g
PAGE_REPORT = $(PAGE)/chart.js $(PAGE)/report.js
CMD_SRC = $(sort $(wildcard cmd/common/*.c cmd/common/*/*.c))
ALL_SRC = $(LIB_SRC) $(EMIT_SRC) $(wildcard cmd/*/*.c cmd/*/*/*.c tests/unit/*.c \
    tests/emit/*.c tests/fuzz/*.c)
SCRIPTS = $(PAGE)/embed.sh .ci/run tests/run-test \
    $(filter-out %/control, $(wildcard debian/tests/*)) \
    $(wildcard tests/*.sh tests/*/*.sh examples/*/*.sh)
BATS    = $(wildcard tests/*/*.bats tests/*/*.bash)
COMPLETIONS = share/completions/teltools

obj     = $(patsubst %.c,$(BUILD)/%.o,$(1))
BIN     = $(TOOLS:%=$(BUILD)/bin/%)
UNIT    = $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(sort \
    $(wildcard tests/unit/test_*.c)))
EMIT_UNIT = $(patsubst tests/emit/%.c,$(BUILD)/tests/%,$(sort \
    $(wildcard tests/emit/*.c)))
FUZZ    = $(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
HELPERS = test_ets test_hpm dies dies_mps lives
# The fuzz targets with a main() of ours, which runs them over files.
REPLAY  = $(FUZZ:%=$(BUILD)/tests/%)
# What "make check" runs; the longest first, as they run side by side.
LONGEST = tests/check/io_failures.bats $(patsubst %,tests/cli/%.bats,telreplay_run \
    telcat_html telreplay_failures telreplay_report) tests/spec/spec.bats \
    $(patsubst %,tests/cli/%.bats,arrow timeline telcat_input range \
    telrec_allocators native telrec telrec_options jfr convert) \
    tests/check/alloc_failures.bats
TESTS_ALL = $(wildcard tests/cli/*.bats tests/emit/*.bats tests/spec/*.bats \
    tests/check/*.bats) tests/cluster/parallel.bats tests/cluster/pipe.bats
TESTS   ?= $(LONGEST) $(filter-out $(LONGEST),$(sort $(TESTS_ALL))) \
    $(REPLAY) $(UNIT) $(filter $(BUILD)/tests/test_%,$(EMIT_UNIT))

# What a compiler, a word size or a sanitizer may change, of all tests.
SAMPLE ?= tests/cli/matrix.bats tests/cli/telcat_damage.bats \
    tests/cli/telreplay_failures.bats tests/cli/split.bats \
    tests/cli/pairs.bats tests/cli/columns.bats tests/spec/spec.bats \
    tests/emit/control.bats tests/emit/follow.bats $(REPLAY) $(UNIT) \
    $(filter $(BUILD)/tests/test_%,$(EMIT_UNIT))
# Those that need a browser.
PAGE_TESTS ?= tests/page/colours.py tests/page/timeline.py \
    tests/page/layout.py tests/page/memory.py tests/page/figures.py \
    tests/page/logs.py tests/page/report.py tests/page/packages.py \
    tests/page/firefox.py tests/page/perfetto.py tests/page/search.py
# What finds faults in pages and exports, of npm.
PAGE_NPM = axe-core@4.14.1 speedscope@1.25.0

# V=1 shows whole commands.
ifeq ($(V),)
Q   = @
SAY = @printf '  %-4s %s\n'
else
Q   =
SAY = @:
endif
# Lets a make below this one use all processors, unless -j was said.
PAR = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))
MAKEFLAGS += --no-print-directory

all: $(BUILD)/libtel.a $(BUILD)/libtel.so $(BUILD)/libtel-emit.a \
    $(BUILD)/libtel-emit.so $(BIN) $(BUILD)/libtelrec.so \
    $(BUILD)/schemas.tel.gz $(BUILD)/.environment

# ------------------------------------------------------------ compilation

$(BUILD)/lib/%: INC = $(INC_lib)
$(BUILD)/cmd/%: INC = $(INC_cmd)
$(BUILD)/tests/%: INC = $(INC_tests)
# Where it is installed, if that is not ../lib from the commands.
$(BUILD)/cmd/telrec/run.o $(BUILD)/cmd/telrec/run.clang: ALL_CPPFLAGS += -DTELREC_LIBDIR='"$(LIBDIR)"'

$(BUILD)/%.o: %.c $(BUILD)/.flags
	$(SAY) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(INC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/lib/print/page_parts.c: $(PAGE)/embed.sh $(PAGE)/page.html \
    $(PAGE)/page.css $(PAGE_SCRIPTS) $(BUILD)/.sources
	$(SAY) GEN $@
	@mkdir -p $(@D)
	$(Q)sed -E '$(PAGE_SMALLER)' $(filter-out $(PAGE_REPORT),$(PAGE_SCRIPTS)) \
	    >$(@D)/timeline.js
	$(Q)sed -E '$(PAGE_SMALLER)' $(PAGE)/page.js $(PAGE)/flame.js \
	    $(PAGE_REPORT) >$(@D)/report.js
	$(Q)sed -E '$(PAGE_SMALLER)' $(PAGE)/page.css >$(@D)/page.css
	$(Q)$(PAGE)/embed.sh $(PAGE)/page.html $(@D)/page.css \
	    $(@D)/timeline.js $(@D)/report.js >$@

# Rows of so many columns, of which the first ones are numbers, all others text.
$(BUILD)/$(MPS)/docs_rows.c: ROWS = doc docs 0 3
$(BUILD)/$(MPS)/events_rows.c: ROWS = row rows 5 9
$(BUILD)/$(MPS)/docs_rows.c $(BUILD)/$(MPS)/events_rows.c: \
    $(BUILD)/$(MPS)/%_rows.c: $(MPS)/%.tsv Makefile
	$(SAY) GEN $@
	@mkdir -p $(@D)
	$(Q)awk -F '\t' -v rows='$(ROWS)' 'BEGIN { split(rows, of, " "); \
	    print "#include \"format/mps/mps.h\"\nconst struct mps_" of[1] \
	    " tel__mps_" of[2] "[] = {" } \
	    !/^#/ { n++; for (i = 1; i <= of[4]; i++) printf("%s%s", \
	    i == 1 ? "\t{ " : ", ", i > of[3] ? "\"" $$i "\"" : $$i); \
	    print " }," } \
	    END { print "};\nconst unsigned tel__mps_n" of[2] " = " n ";" }' \
	    $< >$@

# A string a provider, which starts with its number.
$(BUILD)/lib/format/ets/builtin_tmf.c: lib/format/ets/builtin.tmf Makefile
	$(SAY) GEN $@
	@mkdir -p $(@D)
	$(Q)awk 'BEGIN { print "#include \"format/ets/ets.h\"\n" \
	    "const char *const tel__ets_builtin[] = {" } \
	    /^[0-9]/ && n++ { print "\t," } \
	    !/^\/\// { print "\t\"" $$0 "\\n\"" } \
	    END { print "};\nconst unsigned tel__ets_nbuiltin = " n ";" }' \
	    lib/format/ets/builtin.tmf >$@

$(MADE_OBJ): %.o: %.c $(BUILD)/.flags
	$(SAY) CC $@
	$(Q)$(CC) $(INC_lib) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# These change only when their text does: objects are remade when a flag
# changes, libraries and programs when a source file goes away.
$(BUILD)/.flags: export TEXT = $(LINK) $(ALL_CPPFLAGS) $(ALL_LIBS) \
    $(INC_lib) $(INC_cmd) $(INC_tests)
$(BUILD)/.sources: export TEXT = $(ALL_SRC) $(PAGE_SCRIPTS)
$(BUILD)/.environment: export TEXT = export $(ENVIRONMENT)
$(BUILD)/.flags $(BUILD)/.sources $(BUILD)/.environment: FORCE
	@tests/deps.sh -n build
	@mkdir -p $(@D)
	@printf '%s\n' "$$TEXT" | cmp -s - $@ || printf '%s\n' "$$TEXT" >$@

$(BUILD)/libtel.a: $(call obj,$(LIB_SRC)) $(MADE_OBJ) $(BUILD)/.sources
	$(SAY) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(BUILD)/libcmd.a: $(call obj,$(CMD_SRC)) $(BUILD)/.sources
	$(SAY) AR $@
	$(Q)rm -f $@ && $(AR) qcs $@ $(filter %.o,$^)

$(BUILD)/libtel.so: $(call obj,$(LIB_SRC)) $(MADE_OBJ) lib/libtel.map $(BUILD)/.sources
	$(SAY) LD $@
	$(Q)$(LINK) -shared -Wl,-soname,libtel.so.$(SOVERSION) \
	    -Wl,--version-script,lib/libtel.map -o $@ $(filter %.o,$^) \
	    $(ALL_LIBS)

$(BUILD)/libtel-emit.a: $(EMIT_OBJ) $(BUILD)/.sources
	$(SAY) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(BUILD)/libtel-emit.so: $(EMIT_OBJ) lib/emit/emit.map \
    $(BUILD)/.sources
	$(SAY) LD $@
	$(Q)$(LINK) -shared -Wl,-soname,libtel-emit.so.$(SOVERSION) \
	    -Wl,--version-script,lib/emit/emit.map -o $@ $(filter %.o,$^)

ARCHIVES = $(BUILD)/libcmd.a $(BUILD)/libtel.a
# What commands use of libtel-emit.
ARCHIVES_telrec = $(BUILD)/libtel-emit.a
ARCHIVES_telstat = $(BUILD)/libtel-emit.a

# The parts of telreplay, for the tests of them.
$(BUILD)/libtelreplay.a: $(call obj,$(wildcard cmd/telreplay/*/*.c)) \
    $(BUILD)/.sources
	$(SAY) AR $@
	$(Q)rm -f $@ && $(AR) qcs $@ $(filter %.o,$^)
TESTED = $(BUILD)/libtelreplay.a $(ARCHIVES)

# What telrec preloads into the programs that it records: libc alone.
PRELOAD_SRC = $(sort $(wildcard cmd/telrec/preload/*.c))
# Its functions are callers in the stacks that it walks.  Those that end with a
# call of dlopen() must jump to it: modules are found by what the caller's states.
$(call obj,$(PRELOAD_SRC)): ALL_CFLAGS += -fno-omit-frame-pointer -O2 \
    -foptimize-sibling-calls
$(BUILD)/libtelrec.so: $(call obj,$(PRELOAD_SRC)) \
    cmd/telrec/preload/preload.map $(BUILD)/.sources
	$(SAY) LD $@
	$(Q)$(LINK) -shared -Wl,-soname,libtelrec.so \
	    -Wl,--version-script,cmd/telrec/preload/preload.map -o $@ \
	    $(filter %.o,$^) $(DL_LIBS)

define TOOL
$(BUILD)/bin/$(1): $(call obj,$(filter-out $(PRELOAD_SRC), \
    $(wildcard cmd/$(1)/*.c cmd/$(1)/*/*.c))) \
    $(ARCHIVES) $(ARCHIVES_$(1))
	$$(SAY) LD $$@
	@mkdir -p $$(@D)
	$$(Q)$$(LINK) -o $$@ $$^ $$(ALL_LIBS)
endef
$(foreach t,$(TOOLS),$(eval $(call TOOL,$(t))))

# All built-in schemas, for decoders of others: tel(5).
$(BUILD)/schemas.tel.gz: $(BUILD)/bin/telcat
	$(SAY) GEN $@
	$(Q)$(RUN) $(BUILD)/bin/telcat --types -f tel >$@.raw && \
	    gzip -9 -n <$@.raw >$@.new && rm -f $@.raw && mv $@.new $@

# Unit tests may see the insides of the library and of the commands.
$(UNIT): $(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(TESTED)
	$(SAY) LD $@
	$(Q)$(LINK) -o $@ $^ $(ALL_LIBS)

# Those of libtel-emit read with libtel what they wrote.
$(EMIT_UNIT): $(BUILD)/tests/%: $(BUILD)/tests/emit/%.o \
    $(BUILD)/libtel-emit.a $(BUILD)/libtel.a
	$(SAY) LD $@
	$(Q)$(LINK) -o $@ $^ $(ALL_LIBS)

$(REPLAY): $(BUILD)/tests/%: $(BUILD)/tests/fuzz/%.o \
    $(BUILD)/tests/fuzz/driver.o $(TESTED)
	$(SAY) LD $@
	$(Q)$(LINK) -o $@ $^ $(ALL_LIBS)

$(FUZZ:%=$(BUILD)/fuzz/%): $(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/%.o \
    $(TESTED)
	$(SAY) LD $@
	@mkdir -p $(@D)
	$(Q)$(LINK) -fsanitize=fuzzer -o $@ $^ $(ALL_LIBS)

programs: all $(UNIT) $(EMIT_UNIT) $(REPLAY)

# ------------------------------------------------------- the two commands

demo:
	@tests/deps.sh build demo
	@$(MAKE) $(PAR) all
	@PATH="$(abspath $(BUILD))/bin:$$PATH" tests/demo.sh

check:
	@tests/deps.sh build check
	@$(MAKE) $(PAR) programs
	@$(MAKE) run-tests

# ------------------------------------------------------------------ tests

# What the tests see of the build.
ENVIRONMENT = CC='$(CC)' CXX='$(CXX)' CFLAGS='$(CFLAGS)' \
    LDFLAGS='$(LDFLAGS)' PKG_CONFIG='$(PKG_CONFIG)' PREFIX='$(PREFIX)' \
    LIBDIR='$(LIBDIR)' BINDIR='$(BINDIR)' MANDIR='$(MANDIR)' FISHDIR='$(FISHDIR)' \
    VERSION='$(VERSION)' JOBS='$(JOBS)'
# Runs TESTS with one closing total; of a build that is complete.
run-tests: $(BUILD)/stage/.done
	@$(ENVIRONMENT) tests/suite.sh '$(BUILD)' $(TESTS)

# For tests/environment.bash: the same for a shell, and the programs that bats
# tests run, which "make" does not build.
helpers: all $(HELPERS:%=$(BUILD)/tests/%)

# Installed for the tests to look at, and installed and removed again.
STAGED = $(PREFIX)/lib/python3/dist-packages
$(BUILD)/stage/.done: all FORCE
	@rm -rf $(BUILD)/stage $(BUILD)/unstage
	@$(MAKE) install DESTDIR='$(abspath $(BUILD))/stage' \
	    PYTHONDIR='$(STAGED)' V=
	@$(MAKE) install DESTDIR='$(abspath $(BUILD))/unstage' \
	    PYTHONDIR='$(STAGED)' V=
	@$(MAKE) uninstall DESTDIR='$(abspath $(BUILD))/unstage' \
	    PYTHONDIR='$(STAGED)' V=
	@touch $@

check-unit:
	@$(MAKE) check TESTS='$(filter-out $(NOT),$(UNIT)) \
	    $(filter $(BUILD)/tests/test_%,$(EMIT_UNIT)) $(REPLAY)'
check-cli:
	@$(MAKE) check TESTS='$(sort $(wildcard tests/cli/*.bats))'
check-install:
	@$(MAKE) check TESTS='$(sort $(wildcard tests/check/*.bats))'

# The examples of examples/cluster, each with the engine that it is for.
check-cluster:
	@tests/deps.sh build check cluster
	@$(MAKE) check TESTS='$(sort $(wildcard tests/cluster/*.bats))'

# Every call and every allocation that can fail, not samples of them.
check-faults:
	@TEST_FAULTS=0 $(MAKE) check TESTS='tests/check/io_failures.bats \
	    tests/check/alloc_failures.bats'

# Single faults, COUNT of each SEED, and the tests that reach them.
SEED  ?= 1
COUNT ?= 50
LIMIT ?= 60
PATHS ?= lib/,cmd/
# Tests of texts, and those that need what few machines have.
MUTATE_NOT = $(patsubst %,tests/check/%.bats,exports helpers \
    install lint man mutation source words)
mutate:
	@tests/deps.sh build check
	@$(ENVIRONMENT) tests/mutation/mutate.py -s '$(SEED)' -n '$(COUNT)' \
	    -p '$(PATHS)' -l '$(LIMIT)' -j '$(JOBS)' -b '$(BUILD)/mutate' \
	    $(patsubst $(BUILD)/%,build/%,$(filter-out $(MUTATE_NOT),$(TESTS)))

ASAN = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
    -fno-sanitize-recover=all
TSAN = -O1 -g -fno-omit-frame-pointer -fsanitize=thread

# Loops that "make check" takes samples of, from their start to their end.
SLOW = $(BUILD)/tests/fuzz_reader $(patsubst %,$(BUILD)/tests/test_%,attack \
        feed filter_random mps_decode native reader_run) \
    $(patsubst %,tests/cli/%.bats,arrow completions convert cores ctf database \
        jfr last matrix native operands range telcat_damage telcat_data telcat_html \
        telcat_input telfilter_stream telrec_options) \
    $(patsubst %,tests/spec/%.bats,history live ranges spec) \
    $(patsubst %,tests/check/%.bats,alloc_failures exports helpers io_failures mutation) \
    tests/cluster/parallel.bats tests/cluster/pipe.bats
check-slow:
	@tests/deps.sh build check
	@$(MAKE) $(PAR) programs
	@TEST_WHOLE=1 $(MAKE) run-tests TESTS='$(SLOW)'

# gcc's libubsan writes where UBSAN_OPTIONS says only when it is linked in.
asan:
	@tests/deps.sh build check
	@$(MAKE) $(PAR) BUILD=$(BUILD)/asan CC=gcc CXX=g++ CFLAGS='$(ASAN)' \
	    LDFLAGS=-static-libubsan check
# Of it, what .ci/run has the time for: each tool with each format, damaged logs,
# and the unit programs.
asan-sample:
	@$(MAKE) asan TESTS='$$(SAMPLE)'
# Pages, faults and system calls of a process are also those of the sanitizer.
tsan:
	@tests/deps.sh build check
	@$(MAKE) $(PAR) BUILD=$(BUILD)/tsan CFLAGS='$(TSAN)' check-unit \
	    NOT='%/test_replay_facts %/test_replay_process'
valgrind:
	@tests/deps.sh build check valgrind
	@TEST_VALGRIND=1 $(MAKE) $(PAR) BUILD=$(BUILD)/valgrind \
	    CFLAGS='-O1 -g -DNO_SANDBOX' check

# Other compilers, word sizes and C libraries.
check-clang:
	@tests/deps.sh build check clang
	@$(MAKE) $(PAR) BUILD=$(BUILD)/clang CC=clang CXX=clang++ \
	    CFLAGS='-O2 -Werror' check-unit

# Libraries for i386 are unpacked into a folder, as their -dev packages cannot
# be installed beside those of the machine; with them are the compilers for it.
ROOT32 = $(abspath $(BUILD))/32/root
LIBS32 = $(ROOT32)/usr/lib/i386-linux-gnu:$(ROOT32)/lib/i386-linux-gnu
check-32:
	@tests/deps.sh build check m32
	@tests/sysroot32.sh '$(ROOT32)'
	@PKG_CONFIG_LIBDIR=$(ROOT32)/usr/lib/i386-linux-gnu/pkgconfig \
	    LD_LIBRARY_PATH=$(LIBS32) \
	    $(MAKE) $(PAR) BUILD=$(BUILD)/32 CC=$(ROOT32)/cc CXX=$(ROOT32)/c++ \
	    CFLAGS=-O2 check
# Of it, what .ci/run has the time for.
check-32-sample:
	@$(MAKE) check-32 TESTS='$$(SAMPLE)'

# Readers from npm, which no Debian package has.
check-arrow: all
	@PATH="$(abspath $(BUILD))/bin:$$PATH" tests/arrow.sh $(BUILD)/arrow

# What tests/abi has of the last release.  Changes that are meant need
# "make abi-release", with a new soname once there was a release.
check-abi:
	@tests/deps.sh build check abi
	@$(MAKE) $(PAR) all
	@$(ENVIRONMENT) tests/suite.sh '$(BUILD)' tests/abi/abi.bats
abi-release:
	@tests/deps.sh build abi
	@$(MAKE) $(PAR) all
	@abidw --exported-interfaces-only --no-show-locs --no-corpus-path \
	    --no-comp-dir-path --no-parameter-names --type-id-style hash \
	    $(BUILD)/libtel.so | zstd -q -f -19 -o tests/abi/libtel.abi.zst
	@tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - \
	    include/tel.h include/tel | zstd -q -f -19 -o tests/abi/include.tar.zst

# Pages of "telcat -f html", in a browser without a window.  Screenshots are
# kept in $(BUILD)/page.
check-page:
	@tests/deps.sh build page
	@$(MAKE) $(PAR) all $(BUILD)/tests/test_ets
	@tests/npm.sh $(BUILD)/npm $(PAGE_NPM)
	@$(ENVIRONMENT) JOBS=1 tests/suite.sh '$(BUILD)' $(PAGE_TESTS)

# Debian has no libarchive, libzstd or SQLite for musl: libtel-emit needs none.
check-musl:
	@tests/deps.sh build musl
	@$(MAKE) $(PAR) BUILD=$(BUILD)/musl CC=musl-gcc CFLAGS='-O2 -Werror' \
	    DEPS= LOADED= $(BUILD)/musl/libtel-emit.a $(BUILD)/musl/libtel-emit.so

# The packages of debian/, built twice.
deb-check:
	@tests/deps.sh build deb
	@tests/deb.sh '$(BUILD)/deb'

fuzz:
	@tests/deps.sh build fuzz
	@$(MAKE) $(PAR) BUILD=$(BUILD)/fuzz CC=clang \
	    CFLAGS='$(ASAN) -fsanitize=fuzzer-no-link' fuzz-programs
	@tests/fuzz/run.sh '$(BUILD)/fuzz' '$(FUZZTIME)' $(FUZZ)
fuzz-programs: $(FUZZ:%=$(BUILD)/fuzz/%)

# Pools of the Memory Pool System as a plug-in of telreplay, over an MPS that
# is installed, or over that of MPS_SRC, the folder of its mps.c: see
# telreplay(1).  The archive of an MPS is fit for it if it was built with -fPIC.
MPS_SRC ?=
MPS_CFLAGS ?= $(MPS_SRC:%=-I%)
MPS_LIBS ?= $(if $(MPS_SRC),-w $(MPS_SRC)/mps.c -lpthread -lm,-lmps)
mps-pools:
	@mkdir -p $(BUILD)
	$(SAY) CC $(BUILD)/mps.so
	$(Q)$(CC) -std=c11 -O2 -shared -fPIC -Iinclude $(CPPFLAGS) $(CFLAGS) \
	    $(MPS_CFLAGS) $(LDFLAGS) -o $(BUILD)/mps.so examples/pools/mps.c \
	    $(MPS_LIBS)

# bench-quick: processor time alone, in two minutes; bench-peers: the same work
# by tools of others
bench bench-quick bench-peers:
	@tests/deps.sh build $(if $(filter bench-peers,$@),bench-peers,bench)
	@$(MAKE) $(PAR) all $(BUILD)/tests/test_ets $(BUILD)/tests/bench_emit
	@PATH="$(abspath $(BUILD))/bin:$$PATH" tests/bench/bench.sh \
	    $(BUILD)/bench $(@:bench-%=%)

# Each kind of files has a stamp in $(BUILD)/lint: those that are newer are checked
# again, all if what checks them is.  Warnings of clang do not depend on what it
# optimises, so that it compiles nothing; those of gcc do: its build is that of
# "make check", if CFLAGS and LINT_GCC say so.
LINT     = $(BUILD)/lint
LINT_GCC ?= $(BUILD)/gcc
# None where "make check-clang" follows, which compiles the same files.
LINT_CLANG ?= $(ALL_SRC)
LINT_layout = $(sort $(shell find include lib cmd tests examples -name '*.[ch]'))
LINT_bats = $(BATS)
LINT_page = $(PAGE_SCRIPTS) $(wildcard $(PAGE)/*.css $(PAGE)/*.html)
LINT_sh   = $(SCRIPTS) $(COMPLETIONS).bash
LINT_man  = $(MANS)
# Those that are newer than the stamp that is made; how they are checked alone.
NEWER = $(if $(filter-out $(LINT_$(@F)),$?),$(LINT_$(@F)),$?)
ALONE = || { echo "\# alone: make $(if $(filter $(BUILD)/lint%,$@),,BUILD=$(BUILD) \
    CC=$(CC) CFLAGS='$(CFLAGS)' )$@" >&2; exit 1; }

$(foreach kind,layout bats page sh man,$(eval \
    $(LINT)/$(kind): $$(LINT_$(kind))))
$(LINT)/layout: .clang-format
	@mkdir -p $(@D)
	$(Q)clang-format --dry-run -Werror $(NEWER) $(ALONE)
	@touch $@
$(LINT)/bats: tests/lint.py
	@mkdir -p $(@D)
	$(Q)shellcheck -x -s bats $(NEWER) $(ALONE)
	$(Q)tests/lint.py $(NEWER) $(ALONE)
	@touch $@
$(LINT)/page: tests/lint.py
	@mkdir -p $(@D)
	$(Q)tests/lint.py $(NEWER) $(ALONE)
	@touch $@
$(LINT)/sh:
	@mkdir -p $(@D)
	$(Q)shellcheck -x $(NEWER) $(ALONE)
	@touch $@
$(LINT)/man:
	@mkdir -p $(@D)
	$(Q)mandoc -Tlint -Wwarning $(NEWER) $(ALONE)
	@touch $@

$(BUILD)/%.clang: %.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(Q)$(CC) -fsyntax-only $(INC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP \
	    -MF $(@:.clang=.d) -MT $@ $< $(ALONE)
	@touch $@

lint:
	@tests/deps.sh build lint
	@$(MAKE) $(PAR) linted lint-gcc $(if $(LINT_CLANG),lint-clang)
lint-clang:
	@$(MAKE) BUILD=$(LINT)/clang CC=clang CFLAGS='-O2 -Werror' \
	    $(LINT_CLANG:%.c=$(LINT)/clang/%.clang)
lint-gcc:
	@$(MAKE) BUILD=$(LINT_GCC) CC=gcc CFLAGS='-O2 -g -Werror' objects
linted: $(addprefix $(LINT)/,bats layout page sh man)
objects: $(call obj,$(ALL_SRC)) $(MADE_OBJ)

# ----------------------------------------------------------- installation

PC = -e 's|@PREFIX@|$(PREFIX)|' \
    -e 's|@LIBDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))|' \
    -e 's|@INCLUDEDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(INCLUDEDIR))|' \
    -e 's|@VERSION@|$(VERSION)|' -e 's|@DEPS@|$(DEPS)|' \
    -e 's|@DL_LIBS@|$(DL_LIBS)|'

# DESTDIR and these may have blanks in their names; BUILD may not.
TO_BIN = $(DESTDIR)$(BINDIR)
TO_INC = $(DESTDIR)$(INCLUDEDIR)
TO_LIB = $(DESTDIR)$(LIBDIR)
TO_MAN = $(DESTDIR)$(MANDIR)
TO_DATA = $(DESTDIR)$(DATADIR)
TO_BASH = $(DESTDIR)$(BASHDIR)
TO_ZSH = $(DESTDIR)$(ZSHDIR)
TO_FISH = $(DESTDIR)$(FISHDIR)
TO_PYTHON = $(DESTDIR)$(PYTHONDIR)
TO_DIST = $(TO_PYTHON)/teltools-$(VERSION).dist-info
# What programs that are not part of teltools may use.
DATA = $(BUILD)/schemas.tel.gz share/tel.magic share/tel.xml

install: all
	$(SAY) TO '$(DESTDIR)$(PREFIX)'
	$(Q)$(INSTALL) -d '$(TO_BIN)' '$(TO_INC)/tel' '$(TO_LIB)/pkgconfig'
	$(Q)$(INSTALL) -m 755 $(BIN) '$(TO_BIN)'
	$(Q)$(INSTALL) -m 644 $(HEADERS) '$(TO_INC)'
	$(Q)$(INSTALL) -m 644 $(PARTS) '$(TO_INC)/tel'
	$(Q)$(INSTALL) -m 644 $(BUILD)/libtel.a '$(TO_LIB)'
	$(Q)$(INSTALL) -m 644 $(BUILD)/libtel-emit.a '$(TO_LIB)'
	$(Q)$(INSTALL) -d '$(TO_LIB)/teltools'
	$(Q)$(INSTALL) -m 755 $(BUILD)/libtelrec.so '$(TO_LIB)/teltools'
	$(Q)for lib in libtel libtel-emit; do \
	    $(INSTALL) -m 755 $(BUILD)/$$lib.so \
	        '$(TO_LIB)'/$$lib.so.$(VERSION) && \
	    ln -sf $$lib.so.$(VERSION) '$(TO_LIB)'/$$lib.so.$(SOVERSION) && \
	    ln -sf $$lib.so.$(SOVERSION) '$(TO_LIB)'/$$lib.so && \
	    sed $(PC) lib/$$lib.pc.in \
	        >'$(TO_LIB)'/pkgconfig/$$lib.pc && \
	    chmod 644 '$(TO_LIB)'/pkgconfig/$$lib.pc || exit 1; done
	$(Q)$(INSTALL) -d '$(TO_DATA)'
	$(Q)$(INSTALL) -m 644 $(DATA) '$(TO_DATA)'
	$(Q)test -z '$(PYTHONDIR)' || { \
	    $(INSTALL) -d '$(TO_DIST)' && \
	    $(INSTALL) -m 644 python/teltools.py '$(TO_PYTHON)' && \
	    sed '/^#/d; s/@VERSION@/$(VERSION)/' python/METADATA.in \
	        >'$(TO_DIST)'/METADATA && \
	    echo '$(PYTHONBY)' >'$(TO_DIST)'/INSTALLER && \
	    echo teltools >'$(TO_DIST)'/top_level.txt && \
	    chmod 644 '$(TO_DIST)'/*; }
	$(Q)$(INSTALL) -d '$(TO_BASH)' '$(TO_ZSH)' '$(TO_FISH)'
	$(Q)$(INSTALL) -m 644 $(COMPLETIONS).zsh '$(TO_ZSH)'/_teltools
	$(Q)for tool in $(TOOLS); do \
	    $(INSTALL) -m 644 $(COMPLETIONS).bash '$(TO_BASH)'/$$tool && \
	    $(INSTALL) -m 644 $(COMPLETIONS).fish '$(TO_FISH)'/$$tool.fish || \
	    exit 1; done
	$(Q)for page in $(MANS); do \
	    $(INSTALL) -d '$(TO_MAN)'/man$${page##*.} && \
	    $(INSTALL) -m 644 $$page '$(TO_MAN)'/man$${page##*.} || \
	    exit 1; done

uninstall:
	$(SAY) RM '$(DESTDIR)$(PREFIX)'
	$(Q)for tool in $(TOOLS); do \
	    rm -f '$(TO_BIN)'/$$tool '$(TO_BASH)'/$$tool \
	        '$(TO_FISH)'/$$tool.fish || exit 1; done
	$(Q)rm -f '$(TO_ZSH)'/_teltools
	$(Q)test -z '$(PYTHONDIR)' || \
	    rm -rf '$(TO_PYTHON)'/teltools.py '$(TO_DIST)'
	$(Q)for header in $(notdir $(HEADERS)) $(PARTS:include/%=%); do \
	    rm -f '$(TO_INC)'/$$header || exit 1; done
	$(Q)test ! -d '$(TO_INC)/tel' || \
	    rmdir --ignore-fail-on-non-empty '$(TO_INC)/tel'
	$(Q)for lib in libtel libtel-emit; do \
	    rm -f '$(TO_LIB)'/$$lib.a '$(TO_LIB)'/$$lib.so \
	        '$(TO_LIB)'/$$lib.so.$(SOVERSION) \
	        '$(TO_LIB)'/$$lib.so.$(VERSION) \
	        '$(TO_LIB)'/pkgconfig/$$lib.pc || exit 1; done
	$(Q)rm -f '$(TO_LIB)/teltools/libtelrec.so'
	$(Q)test ! -d '$(TO_LIB)/teltools' || \
	    rmdir --ignore-fail-on-non-empty '$(TO_LIB)/teltools'
	$(Q)for file in $(notdir $(DATA)); do \
	    rm -f '$(TO_DATA)'/$$file || exit 1; done
	$(Q)test ! -d '$(TO_DATA)' || \
	    rmdir --ignore-fail-on-non-empty '$(TO_DATA)'
	$(Q)for page in $(notdir $(MANS)); do \
	    rm -f '$(TO_MAN)'/man$${page##*.}/$$page || exit 1; done

# The archive is what git has under HEAD, and nothing else.
DIST = teltools-$(VERSION)
dist:
	@mkdir -p $(BUILD)
	git archive --format=tar.gz --prefix=$(DIST)/ \
	    -o $(BUILD)/$(DIST).tar.gz HEAD
	dist/sbom.py $(BUILD)/$(DIST).tar.gz $(VERSION) \
	    $$(git log -1 --format=%ct) >$(BUILD)/$(DIST).spdx.json
	@if test -n "$$(gpg --list-secret-keys 2>/dev/null)"; then \
	    gpg --batch --yes --armor --detach-sign \
	        $(BUILD)/$(DIST).tar.gz && echo "signed: $(DIST).tar.gz.asc"; \
	else echo "not signed: gpg has no secret key" >&2; fi

distcheck: dist
	rm -rf $(BUILD)/distcheck && mkdir -p $(BUILD)/distcheck
	tar -xzf $(BUILD)/$(DIST).tar.gz -C $(BUILD)/distcheck
	$(MAKE) -C $(BUILD)/distcheck/$(DIST) check-install

clean:
	rm -rf $(BUILD)

help:
	@sed -n '/^# HELP/,/^# END/s/^# \{0,1\}//p' Makefile | sed '1d;$$d'
# HELP
# make             build the library and the commands into build/
# make demo        install what is missing, build, and show what telcat does
# make check       install what is missing, build, and run all tests
#                  (TESTS='FILE ...' runs some; check-unit, check-cli,
#                  check-install run a part)
# make check-cluster  with GNU parallel, ssh, Slurm, Dask and Prometheus
# make check-faults  let every read, write and allocation of some runs fail
# make check-slow  from their start to their end, loops that others sample
# make asan        all tests under the address and undefined sanitizers;
#                  make asan-sample, some of them
# make check-clang the unit tests, built by clang with -Werror
# make check-32    all tests, built for i386 with gcc -m32; make
#                  check-32-sample, some of them
# make check-abi   libtel beside the interface of the last release
# make check-arrow tables of "telcat -f arrow", as readers from npm see them
# make check-page  pages of "telcat -f html", in Chromium
# make check-musl  build libtel-emit with musl
# make deb-check   build Debian packages twice, compare them, run lintian
# make mutate      put COUNT=50 random faults of each SEED=1 into a copy, and
#                  list those that no test notices
# make tsan        the unit tests under the thread sanitizer
# make valgrind    all tests under valgrind
# make lint        manual pages, scripts, layout, warnings of gcc and clang
# make fuzz        run the fuzz targets, FUZZTIME=20 seconds each
# make bench       measure speed and memory; BENCHLOG=FILE for another log
# make bench-quick the processor time alone
# make bench-peers the same work by tools of others
# make mps-pools   build/mps.so, a plug-in of telreplay, with MPS_CFLAGS and
#                  MPS_LIBS of a Memory Pool System that is installed
# make install     into DESTDIR and PREFIX=/usr/local; make uninstall; with
#                  PYTHONDIR=FOLDER the Python module, too
# make dist        build/teltools-VERSION.tar.gz of HEAD, with its SPDX bill of
#                  materials, signed if gpg has a key; make distcheck
# make clean       remove build/
# V=1 shows the commands; CC, CFLAGS, CPPFLAGS, LDFLAGS, BUILD are honoured.
# CC=aarch64-linux-gnu-gcc RUN='qemu-aarch64 -L ROOT' builds for another machine.
# END

FORCE:
.PHONY: all mps-pools programs demo check check-slow check-clang check-32 \
    check-32-sample check-musl linted lint-clang lint-gcc objects asan-sample \
    check-page check-arrow check-abi abi-release \
    run-tests helpers check-unit check-cli \
    check-install check-cluster check-faults mutate deb-check asan tsan valgrind fuzz fuzz-programs bench bench-quick bench-peers lint install \
    uninstall dist distcheck clean help FORCE
.SECONDARY:
.DELETE_ON_ERROR:

-include $(patsubst %.c,$(BUILD)/%.d,$(ALL_SRC))
