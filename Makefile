# norch's build. Python, make and a C++17 compiler are all it needs; `make help` lists the targets.

PYTHON ?= python3
CXX    ?= g++
# The toolkit's folder comes first: an nvcc on PATH may be a wrapper.
NVCC   ?= $(firstword $(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc 2>/dev/null))

ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
endif

# `make V=1` shows the commands.
QUIET := $(if $(V),,@)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all wheel example pictures links notebook docs test bench check check-all clean help FORCE

# ---- Variants: each has a folder of its own in build/; those with CUDA link the C++ objects of the one without -------

# CUDA=0: without CUDA. CUDA=1: with CUDA, which needs nvcc. CUDA=emu: cuda.cu compiled as C++, for tests without a GPU.
# Unset: 1 if there is both an nvcc and an NVIDIA driver, because compiling the kernels takes minutes.
DRIVER := $(firstword $(wildcard /proc/driver/nvidia/version) $(shell command -v nvidia-smi 2>/dev/null))
CUDA   ?= $(if $(and $(NVCC),$(DRIVER)),1,0)

ifeq ($(origin CUDA),file)
CUDA_WHY := $(if $(NVCC),nvcc is $(NVCC),no nvcc was found),$(if $(DRIVER), an NVIDIA driver is here, no NVIDIA driver was found)
else
CUDA_WHY := as CUDA=$(CUDA) asks
endif

ifeq ($(CUDA),0)
CUDA_NOTE := built without CUDA
else ifeq ($(CUDA),1)
CUDA_NOTE := built with CUDA by $(NVCC)
ifeq ($(NVCC),)
CUDA_ERROR := CUDA=1 needs nvcc, found neither in /usr/local/cuda/bin nor on PATH: build with CUDA=0
endif
else ifeq ($(CUDA),emu)
CUDA_NOTE := built with the CUDA emulator of tools/cuda_emulator
else
CUDA_ERROR := CUDA=$(CUDA) is none of 0, 1, emu
endif

ifneq ($(filter-out address thread,$(SANITIZE)),)
$(error SANITIZE=$(SANITIZE) is neither address nor thread)
endif

# FIRST=1: for `make example` in a fresh clone, what is compiled fastest: without optimization, for any processor, and
# without integers. ONE_COPY=1: kernels for any processor alone. Sanitizers watch one copy, too: AddressSanitizer that for
# the processor it is compiled on, ThreadSanitizer that for any, because threads share the same memory in all of them.
ONE_COPY := $(or $(FIRST),$(SANITIZE),$(ONE_COPY))
KIND    := $(if $(SANITIZE),-$(SANITIZE))$(if $(MACHINE),-$(MACHINE))
PLAIN   := build/$(if $(FIRST),first,cpu$(KIND))
BUILD   := $(if $(filter 0,$(CUDA)),$(PLAIN),build/$(if $(filter emu,$(CUDA)),cuda-emu,cuda)$(KIND))
LIBRARY := $(BUILD)/libnorch.so
PACKAGE := norch/libnorch.so

# ---- Flags -----------------------------------------------------------------------------------------------------------

# Never -ffast-math: linking with it flushes denormals in the whole process, and NaN and infinity go wrong.
# -fwrapv: integers wrap around when they overflow, as in NumPy and PyTorch.
MODE_        := -O3
# Sanitized: lines without variables (-g1), and not what AddressSanitizer sees as well, halve the time of compiling.
MODE_address := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined \
                -fno-sanitize=null,object-size,vptr
MODE_thread  := -O1 -g1 -fno-omit-frame-pointer -fsanitize=thread
MODE  := $(if $(FIRST),-O0,$(MODE_$(SANITIZE)))
FLAGS := -std=c++17 -Inorch/csrc $(MODE) -fPIC -fvisibility=hidden -pthread -fno-math-errno -fno-trapping-math \
         -ffp-contract=fast -fwrapv -Wall -Wextra $(CPPFLAGS) $(CXXFLAGS)
FLAGS += $(if $(ONE_COPY),-DNORCH_BASELINE_ONLY) $(if $(FIRST),-DNORCH_REALS_ONLY)
CLANG := $(findstring clang,$(shell $(CXX) --version))# macOS calls it g++, too
ifneq ($(CLANG),)
# clang asks for parentheses around every & before a ?, and reports every loop that it does not vectorize.
FLAGS += -Wno-bitwise-conditional-parentheses -Wno-pass-failed
endif
LINK  := -shared -pthread $(MODE) $(CXXFLAGS) $(LDFLAGS)
ifeq ($(shell uname -s),Linux)
LINK  += -Wl,-z,defs -ldl# a missing symbol fails here, not at import; -ldl: where libc is older than 2.34
endif

# ---- The library -----------------------------------------------------------------------------------------------------

SOURCES := $(sort $(wildcard norch/csrc/*.cpp norch/csrc/*/*.cpp))

# cpu.cpp and cpu/*.cpp are compiled once for each instruction set, each time in a namespace of its name
# (norch/csrc/host/instruction_sets.h). The flags are what instruction_sets.cpp asks the processor for, no more.
# The copy for AVX-512 leaves integers to the one for AVX2. A short loop that crosses a line of 64 bytes takes twice as
# long on some processors: loops begin at multiples of 32.
X86  := $(findstring x86_64,$(shell $(CXX) -dumpmachine))
ISAS := baseline$(if $(ONE_COPY),,$(if $(X86), avx2 avx512))
ISA_FLAGS_baseline := $(if $(and $(X86),$(filter address,$(SANITIZE))),-march=native)
ISA_FLAGS_avx2   := -mavx2 -mfma -mf16c -falign-loops=32
ISA_FLAGS_avx512 := $(ISA_FLAGS_avx2) -DNORCH_REALS_ONLY -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl \
                    -mprefer-vector-width=512

KERNEL_SOURCES := $(filter norch/csrc/cpu.cpp norch/csrc/cpu/%,$(SOURCES))
KERNEL_OBJECTS := $(foreach isa,$(ISAS),$(KERNEL_SOURCES:norch/csrc/%.cpp=$(PLAIN)/%.$(isa).o))
OBJECTS := $(KERNEL_OBJECTS) $(patsubst norch/csrc/%.cpp,$(PLAIN)/%.o,$(filter-out $(KERNEL_SOURCES),$(SOURCES)))

CUDA_PARTS := $(wildcard norch/csrc/cuda.cu norch/csrc/cuda/*.cuh)
EMULATOR   := tools/cuda_emulator
# The runtime is linked statically, so that the library loads where there is no CUDA; the toolkit's own nvcc knows where
# it is, a wrapper around it does too.
CUDA_LIBRARIES := $(firstword $(wildcard $(patsubst %/bin/nvcc,%,$(realpath $(NVCC)))/lib64 /usr/local/cuda/lib64))
CUDART         := $(addprefix -L,$(CUDA_LIBRARIES)) -lcudart_static -ldl -lrt
ifneq ($(CUDA),0)
OBJECTS := $(filter-out %/cuda/stub.o,$(OBJECTS)) $(BUILD)/cuda.o
endif
ifeq ($(CUDA),1)
LDLIBS  += $(CUDART)
else ifeq ($(CUDA),emu)
OBJECTS += $(addprefix $(BUILD)/,emulator.o memory.o graphs.o)
endif

# Variants that are sanitized, emulated, for another MACHINE or FIRST stay out of the package:
# NORCH_LIBRARY=build/cpu-address/libnorch.so loads one.
INSTALLED := $(if $(SANITIZE)$(MACHINE)$(FIRST)$(filter emu,$(CUDA)),,yes)
all: $(LIBRARY)
	@echo "CUDA: $(CUDA_NOTE) ($(CUDA_WHY))"
ifeq ($(INSTALLED),yes)
	@cmp -s $< $(PACKAGE) || { cp $< $(PACKAGE).new && mv -f $(PACKAGE).new $(PACKAGE); }
	@echo "library: $(PACKAGE)"
else
	@echo "library: $<"
endif

$(LIBRARY): $(OBJECTS) $(BUILD)/linked
	@echo "link $@"
	$(QUIET)$(CXX) -o $@ $(OBJECTS) $(LINK) $(LDLIBS)

# "[3/45] ": the third of the 45 objects that are missing or older than the flags. Without these, sources were edited,
# and nothing is counted.
COMPILED :=
COUNT = $(eval COMPILED += x)$(if $(TOTAL),,$(eval TOTAL := $(shell for object in $(OBJECTS); do \
    [ $$object -nt $(PLAIN)/flags ] || echo x; done) none))$(if $(word $(words $(COMPILED) x),$(TOTAL)),[$(words \
    $(COMPILED))/$(words $(filter x,$(TOTAL)))] )

$(PLAIN)/%.o: norch/csrc/%.cpp $(PLAIN)/flags
	@mkdir -p $(@D)
	@echo "$(COUNT)compile $<"
	$(QUIET)$(CXX) $(FLAGS) $(SMALLER) $(COMMON) -MMD -MP -c -o $@ $<

# Random numbers are the same on every machine: no product is fused with a sum where the processor could.
$(ISAS:%=$(PLAIN)/cpu/fill.%.o) $(ISAS:%=$(PLAIN)/cpu/random.%.o): FLAGS += -ffp-contract=off

# Kernels are many, for all dtypes and formulas, and -O3 copies their loops for arguments that are constants and for the
# last elements. WHOLE are those that this makes faster. In the others it is left out; 64 lanes of floats (row_sum.h), so
# many vectors and one, stay unrolled. -O2 serves what it makes no slower: COMPACT, which wait for memory; LEAN, if it
# inlines as -O3 does; and what is no kernel. OLD, the copies for processors without AVX2, need only be right.
WHOLE   := $(foreach file,cpu/depthwise cpu/distances cpu/fill cpu/random host/ api/factorizations,$(PLAIN)/$(file)%)
COMPACT := $(foreach file,attention columns convolution grid padding pooling recurrent selection,$(PLAIN)/cpu/$(file).%)
LEAN    := $(foreach file,cpu/rows,$(PLAIN)/$(file).%)
OLD     := $(if $(filter avx2,$(ISAS)),%.baseline.o)
UNROLLED_baseline := 15
UNROLLED_avx2     := 7
UNROLLED_avx512   := 3
FLAGS_COMPACT := -O2 -fvect-cost-model=dynamic
FLAGS_LEAN    := $(FLAGS_COMPACT) -funswitch-loops --param max-inline-insns-auto=30 --param max-inline-insns-single=200 \
                 --param early-inlining-insns=14 --param inline-min-speedup=15
FLAGS_REST     = -fno-peel-loops -fno-ipa-cp-clone -fno-split-loops --param max-completely-peel-times=$(UNROLLED_$(1))
SMALLER = $(or $(if $(filter $(OLD),$@),-Os),$(if $(filter $(WHOLE),$@),-O3),$(if $(filter $(COMPACT),$@),$(FLAGS_COMPACT)), \
    $(if $(filter $(LEAN),$@),$(FLAGS_LEAN)),$(if $(filter $(KERNEL_OBJECTS),$@),$(FLAGS_REST)),-O2)
ifneq ($(CLANG)$(filter-out -O3,$(MODE) $(filter -O%,$(CXXFLAGS))),)
SMALLER :=
endif

define KERNEL_RULE
$(PLAIN)/%.$(1).o: norch/csrc/%.cpp $(PLAIN)/flags
	@mkdir -p $$(@D)
	@echo "$$(COUNT)compile $$< for $(1)"
	$$(QUIET)$$(CXX) $$(FLAGS) $$(call SMALLER,$(1)) $$(COMMON) -DNORCH_ISA=$(1) $$(ISA_FLAGS_$(1)) -MMD -MP -c -o $$@ $$<
endef
$(foreach isa,$(ISAS),$(eval $(call KERNEL_RULE,$(isa))))

# Without optimization a third of the time is reading the headers that almost every file reads: they are compiled once.
ifneq ($(FIRST),)
$(OBJECTS): COMMON = -include $(PLAIN)/common.h
$(OBJECTS): $(PLAIN)/common.h.gch
$(PLAIN)/common.h.gch: CONTENT := \#include "dispatch.h"
$(KERNEL_OBJECTS): COMMON = -include $(PLAIN)/kernels.h
$(KERNEL_OBJECTS): $(PLAIN)/kernels.h.gch
$(PLAIN)/kernels.h.gch: CONTENT := \#include "cpu/backend.h"
$(PLAIN)/kernels.h.gch: FLAGS += -DNORCH_ISA=baseline
$(PLAIN)/%.h.gch: $(PLAIN)/flags
	@echo '$(CONTENT)' > $(@:.gch=)
	$(QUIET)$(CXX) $(FLAGS) -MMD -MP -MF $@.d -MT $@ -x c++-header -o $@ $(@:.gch=)
-include $(wildcard $(PLAIN)/*.gch.d)
endif

# Compute capabilities 7.5 (T4), 8.0 (A100), 9.0 (H100), and 9.0 as PTX, from which drivers compile for newer cards.
GENCODE   := -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=sm_80 \
             -gencode arch=compute_90,code=[sm_90,compute_90]
HOST_COMPILER := $(firstword $(filter-out ccache %/ccache distcc,$(CXX)))
# 186: "comparison of unsigned integer with zero", in formulas that serve every dtype.
NVCCFLAGS := -std=c++17 -Inorch/csrc -O3 --expt-relaxed-constexpr --threads 0 -ccbin $(HOST_COMPILER) -diag-suppress 186 \
             -Xcompiler -fPIC,-fvisibility=hidden,-fwrapv,-Wall,-Wextra

ifeq ($(CUDA),1)
$(BUILD)/cuda.o: norch/csrc/cuda.cu $(BUILD)/linked
	@echo "$(COUNT)compile $< (this takes minutes)"
	$(QUIET)$(NVCC) $(NVCCFLAGS) $(GENCODE) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
else ifeq ($(CUDA),emu)
$(BUILD)/translated/cuda.cpp: $(CUDA_PARTS) $(EMULATOR)/translate.py $(BUILD)/linked
	$(QUIET)$(PYTHON) $(EMULATOR)/translate.py norch/csrc/cuda.cu $(@D)

# Not at -O3: what counts is that it behaves as written. (For AddressSanitizer -O1 takes twice as long as -O0.)
$(BUILD)/cuda.o: $(BUILD)/translated/cuda.cpp $(BUILD)/linked
	@echo "$(COUNT)compile norch/csrc/cuda.cu for the emulator"
	$(QUIET)$(CXX) -I$(EMULATOR) -I$(@D)/translated $(FLAGS) $(if $(filter address,$(SANITIZE)),-O0,-O1) -ffp-contract=off -Wno-unknown-pragmas -MMD -MP -c -o $@ $<

# The emulator itself is not sanitized: it tells the sanitizers what runs.
$(addprefix $(BUILD)/,emulator.o memory.o graphs.o): $(BUILD)/%.o: $(EMULATOR)/%.cpp $(BUILD)/linked
	@echo "$(COUNT)compile $<"
	$(QUIET)$(CXX) -std=c++17 -O2 -g -fPIC -fvisibility=hidden -Wall -Wextra \
	    $(if $(filter address,$(SANITIZE)),-DEMULATOR_ADDRESS) $(if $(filter thread,$(SANITIZE)),-DEMULATOR_THREAD) \
	    -I$(EMULATOR) -MMD -MP -c -o $@ $<
endif

# Rewritten only when the compiler, a flag or the list of objects changes; what depends on it is then built anew.
COMPILE := $(CXX) $(FLAGS) $(if $(SMALLER),$(FLAGS_LEAN) $(FLAGS_REST)) $(ISA_FLAGS_avx512) \
           $(WHOLE) $(COMPACT) $(LEAN) $(OLD)
LINKED  := $(COMPILE) $(LINK) $(LDLIBS) $(OBJECTS) $(if $(filter 1,$(CUDA)),$(NVCC) $(NVCCFLAGS) $(GENCODE))
$(PLAIN)/flags: COMMANDS = $(COMPILE)
$(BUILD)/linked: COMMANDS = $(LINKED)
$(PLAIN)/flags $(BUILD)/linked: FORCE
	$(if $(CUDA_ERROR),$(error $(CUDA_ERROR)))
	@mkdir -p $(@D)
	@echo '$(COMMANDS)' | cmp -s - $@ || echo '$(COMMANDS)' > $@

-include $(OBJECTS:.o=.d)

# ---- Wheels ----------------------------------------------------------------------------------------------------------

# One file for Linux with glibc 2.27 or later and CPython 3.9 or later; with CUDA=1 that of norch-cuda, which brings the
# library with CUDA beside norch's own (glibc 2.34, for cudart). For another processor:
# make wheel MACHINE=aarch64 CXX=aarch64-linux-gnu-g++
DIST     := dist
PLATFORM := manylinux_$(if $(filter 1,$(CUDA)),2_34,2_27)_$(firstword $(subst -, ,$(shell $(CXX) -dumpmachine)))
PORTABLE := $(BUILD)/portable/libnorch.so
wheel: $(PORTABLE)
ifeq ($(CUDA),1)
	$(PYTHON) tools/cuda_wheel.py $< $(PLATFORM) $(DIST)
else
	rm -rf build/lib.* # of an earlier wheel: it may hold files that norch has no more
	NORCH_PACKED=$(abspath $<) $(PYTHON) -m pip wheel --quiet --no-deps --wheel-dir $(DIST) \
	    --config-settings=--build-option=--plat-name=$(PLATFORM) .
endif

# The same objects, linked to older versions of libc's functions. libpthread and libdl are files of their own in older
# libcs.
$(PORTABLE): $(LIBRARY) tools/portable.cpp
	@mkdir -p $(@D)
	$(QUIET)$(CXX) $(FLAGS) -fno-builtin -c -o $(@D)/portable.o tools/portable.cpp
	$(QUIET)$(CXX) -o $@ $(OBJECTS) $(@D)/portable.o $(LINK) -s -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 \
	    $(LDLIBS)

# ---- The example and the tests ---------------------------------------------------------------------------------------

# In a fresh clone the losses come first, from a library that is compiled in a fifth of the time; then the one to keep.
ifeq ($(INSTALLED)$(wildcard $(PACKAGE))$(ARGS),yes)
example: $(PLAIN)/flags
	@echo "First a library for the example alone."
	@$(MAKE) --no-print-directory FIRST=1 CUDA=0 all
	@NORCH_LIBRARY=build/first/libnorch.so $(PYTHON) examples/sin2.py
	@echo "Now the library for your own work, which is faster; to stop here, press Ctrl-C."
	@$(MAKE) --no-print-directory all
else
example: all
	@$(PYTHON) examples/sin2.py $(ARGS)
endif

# Draws the tutorial's pictures and makes its pages that move, each beside its script.
pictures: all
	@PYTHONPATH=. $(PYTHON) tools/pictures.py $(wildcard examples/tutorial/pictures/*.py examples/tutorial/pages/*.py)

# Makes each file that the tutorial names a link to its line.
links:
	@$(PYTHON) tools/links.py $(wildcard examples/tutorial/*.md examples/tutorial/steps/*.md)

# Runs the notebook and stores what it shows, and makes notebooks of the chapters; this needs no Jupyter.
notebook: all
	@$(PYTHON) tools/chapters.py
	@PYTHONPATH=. $(PYTHON) tools/notebooks.py examples/quick_tour.ipynb

# The site: start, tutorial, examples and the reference, which is made from the docstrings.
docs: all .venv-docs/ready
	PYTHONPATH=. .venv-docs/bin/python docs/site/build.py build/docs

# The suite, which needs pytest alone; `make test ARGS="-k matmul"` runs a part. On the emulator, kernels get memory of
# exact size that is full of NaNs; so the allocator's cache is tested separately.
ifeq ($(CUDA),emu)
test example: export NORCH_LIBRARY := $(abspath $(LIBRARY))
test: all .venv/ready
	NORCH_CUDA_CACHE=0 .venv/bin/python -m pytest --ignore=tests/native/test_packaging.py $(ARGS)
	.venv/bin/python -m pytest tests/native/test_cuda.py $(ARGS)
else
test: all .venv/ready
	.venv/bin/python -m pytest $(ARGS)
endif

# Compares norch with torch and NumPy, and with magnetron if `.venv-check/bin/pip install magnetron` has been run.
bench: all .venv-check/ready
	PYTHONPATH=. .venv-check/bin/python benchmarks/run.py --picture build/bench.svg --json build/bench.json $(ARGS)
	PYTHONPATH=. .venv-check/bin/python benchmarks/programs.py
	PYTHONPATH=. .venv-check/bin/python benchmarks/replays.py
	PYTHONPATH=. .venv-check/bin/python benchmarks/wide.py --limit 360 --picture build/wide.svg --json build/wide.json
	PYTHONPATH=. .venv-check/bin/python benchmarks/breakdown.py
	PYTHONPATH=. .venv-check/bin/python benchmarks/memory.py
	PYTHONPATH=. .venv-check/bin/python benchmarks/imports.py
	PYTHONPATH=. .venv-check/bin/python benchmarks/small.py

# Separate environments: the suite must pass without torch and NumPy, and the pages need neither.
.venv/ready: tests/requirements.txt
.venv-docs/ready: docs/requirements.txt
.venv-check/ready: tests/oracle/requirements.txt docs/requirements.txt
.venv/ready .venv-docs/ready .venv-check/ready:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 9))" || { $(PYTHON) --version; \
	    echo "norch needs Python 3.9 or later: name one with PYTHON="; exit 1; }
	@$(PYTHON) -c "import venv, ensurepip" 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments:" \
	    "install its venv module (Debian, Ubuntu: apt install python3-venv), or name another with PYTHON="; exit 1; }
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --requirement $<
	@touch $@

include tools/checks.mk

clean:
	rm -rf $(filter-out build/.gitignore,$(wildcard build/*)) $(PACKAGE) $(PACKAGE).new

help:
	@echo "make           build the library: build/<variant>/libnorch.so, copied into norch/"
	@echo "make example   train the sin2 regression of examples/sin2.py (ARGS=\"--epochs 20\" for its options)"
	@echo "make pictures  draw the tutorial's pictures, make its pages that move"
	@echo "make links     link the files that the tutorial names to their lines"
	@echo "make notebook  run examples/quick_tour.ipynb and store what it shows, make those of the chapters"
	@echo "make docs      the site, with tutorial and reference: build/docs/index.html"
	@echo "make test      the test suite, in .venv with pytest"
	@echo "make bench     norch's speed beside torch and NumPy (ARGS=\"--quick --only exp\" for its options)"
	@echo "make check     the suite and the deeper checks of tools/checks.mk: lint, torch and NumPy, sanitizers, CUDA emulated and more"
	@echo "make check-all the same with every case of the long products"
	@echo "make attack    random programs beside torch, hostile arguments, failing allocations, fuzzed files (SECONDS=600)"
	@echo "make wheel     a wheel in dist/ for Linux with glibc 2.27 or later (CUDA=1: norch-cuda, the library with CUDA)"
	@echo "make clean     remove what was built"
	@echo "Variables: CUDA=0|1|emu  SANITIZE=address|thread  CXX  CXXFLAGS  PYTHON  V=1 (show the commands)"
