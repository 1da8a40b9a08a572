# norch's build. Python, make and a C++17 compiler are all it needs; `make help` lists the targets.

PYTHON ?= python3
CXX    ?= g++
# The toolkit's own place first: an nvcc on PATH may be a wrapper.
NVCC   ?= $(firstword $(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc 2>/dev/null))

ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
endif

# `make V=1` shows the commands.
QUIET := $(if $(V),,@)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all example test check lint isas oracle sanitized races clean help FORCE

# ---- Variants: each has a folder of its own in build/, so that their objects never mix -------------------------------

# CUDA=0: without, whatever is installed. CUDA=1: with it, or fail. Unset: with it where there is an nvcc.
CUDA_SOURCE := $(wildcard norch/csrc/cuda.cu)
CUDA        ?= $(if $(CUDA_SOURCE),$(if $(NVCC),1,0),0)

ifeq ($(CUDA),0)
CUDA_NOTE := built without CUDA$(if $(CUDA_SOURCE),, (there is no norch/csrc/cuda.cu yet))
else ifeq ($(CUDA),1)
CUDA_NOTE := built with CUDA
ifeq ($(CUDA_SOURCE),)
CUDA_ERROR := CUDA=1 needs norch/csrc/cuda.cu, which does not exist yet: build with CUDA=0
else ifeq ($(NVCC),)
CUDA_ERROR := CUDA=1 needs nvcc, found neither in /usr/local/cuda/bin nor on PATH: build with CUDA=0
endif
else ifeq ($(CUDA),emu)
CUDA_ERROR := CUDA=emu needs tests/cuda_emulator, which does not exist yet: build with CUDA=0
else
CUDA_ERROR := CUDA=$(CUDA) is none of 0, 1, emu
endif

ifneq ($(filter-out address thread,$(SANITIZE)),)
$(error SANITIZE=$(SANITIZE) is neither address nor thread)
endif

BUILD   := build/$(if $(filter 0,$(CUDA)),cpu,cuda)$(if $(SANITIZE),-$(SANITIZE))
LIBRARY := $(BUILD)/libnorch.so
PACKAGE := norch/libnorch.so

# ---- Flags -----------------------------------------------------------------------------------------------------------

# Never -ffast-math: linking with it flushes denormals in the whole process, and NaN and infinity go wrong.
# -fwrapv: integers wrap around when they overflow, as in NumPy and PyTorch.
MODE_        := -O3
MODE_address := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
MODE_thread  := -O1 -g -fno-omit-frame-pointer -fsanitize=thread
MODE  := $(MODE_$(SANITIZE))
FLAGS := -std=c++17 $(MODE) -fPIC -fvisibility=hidden -pthread -fno-math-errno -fno-trapping-math \
         -ffp-contract=fast -fwrapv -Wall -Wextra $(CPPFLAGS) $(CXXFLAGS)
LINK  := -shared -pthread $(MODE) $(CXXFLAGS) $(LDFLAGS)
ifeq ($(shell uname -s),Linux)
LINK  += -Wl,-z,defs# a missing symbol fails here, not at import
endif

# ---- The library -----------------------------------------------------------------------------------------------------

SOURCES := $(sort $(wildcard norch/csrc/*.cpp))
ifneq ($(CUDA),0)
SOURCES := $(filter-out %/cuda_stub.cpp,$(SOURCES))
endif

# The kernel files are compiled once for each instruction set, each time in a namespace of its name (norch/csrc/isa.h).
# The flags are what isa.cpp asks the processor for, no more. Integers are left to the baseline copy.
ISAS := baseline$(if $(findstring x86_64,$(shell $(CXX) -dumpmachine)), avx2 avx512)
ISA_FLAGS_avx2   := -mavx2 -mfma -DNORCH_REALS_ONLY
ISA_FLAGS_avx512 := $(ISA_FLAGS_avx2) -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl -mprefer-vector-width=512

KERNEL_SOURCES := $(addprefix norch/csrc/,cpu.cpp cpu_reduce.cpp cpu_nn.cpp matmul.cpp)
KERNEL_OBJECTS := $(foreach isa,$(ISAS),$(KERNEL_SOURCES:norch/csrc/%.cpp=$(BUILD)/%.$(isa).o))
OBJECTS := $(KERNEL_OBJECTS) $(patsubst norch/csrc/%.cpp,$(BUILD)/%.o,$(filter-out $(KERNEL_SOURCES),$(SOURCES)))

# Sanitized variants stay out of the package: NORCH_LIBRARY=build/cpu-address/libnorch.so loads one.
all: $(LIBRARY)
	@echo "CUDA: $(or $(NVCC),no nvcc) found, $(CUDA_NOTE)"
ifeq ($(SANITIZE),)
	@cmp -s $< $(PACKAGE) || { cp $< $(PACKAGE).new && mv -f $(PACKAGE).new $(PACKAGE); }
	@echo "library: $(PACKAGE)"
else
	@echo "library: $<"
endif

$(LIBRARY): $(OBJECTS) $(BUILD)/flags
	@echo "link $@"
	$(QUIET)$(CXX) -o $@ $(OBJECTS) $(LINK) $(LDLIBS)

$(BUILD)/%.o: norch/csrc/%.cpp $(BUILD)/flags
	@echo "compile $<"
	$(QUIET)$(CXX) $(FLAGS) -MMD -MP -c -o $@ $<

# Random numbers are the same on every machine: no product is fused with a sum where the processor could.
$(BUILD)/cpu_fill.o: FLAGS += -ffp-contract=off

define KERNEL_RULE
$(BUILD)/%.$(1).o: norch/csrc/%.cpp $(BUILD)/flags
	@echo "compile $$< for $(1)"
	$$(QUIET)$$(CXX) $$(FLAGS) -DNORCH_ISA=$(1) $$(ISA_FLAGS_$(1)) -MMD -MP -c -o $$@ $$<
endef
$(foreach isa,$(ISAS),$(eval $(call KERNEL_RULE,$(isa))))

# Rewritten only when the compiler, a flag or the list of sources changes; everything is then built anew.
COMMANDS := $(CXX) $(FLAGS) $(ISA_FLAGS_avx512) $(LINK) $(LDLIBS) $(OBJECTS)
$(BUILD)/flags: FORCE
	$(if $(CUDA_ERROR),$(error $(CUDA_ERROR)))
	@mkdir -p $(BUILD)
	@echo '$(COMMANDS)' | cmp -s - $@ || echo '$(COMMANDS)' > $@

-include $(OBJECTS:.o=.d)

# ---- The example and the tests ---------------------------------------------------------------------------------------

example: all
	@PYTHONPATH=. $(PYTHON) examples/sin2.py $(ARGS)

# The suite that needs pytest alone; `make test ARGS="-k matmul"` chooses from it.
test: all .venv/ready
	.venv/bin/python -m pytest tests --ignore=tests/check $(ARGS)

# Everything else, one after the other: what the code looks like, then how it compares, then what the sanitizers say.
check:
	@$(MAKE) lint
	@$(MAKE) isas
	@$(MAKE) oracle
	@$(MAKE) sanitized
	@$(MAKE) races

lint: .venv-check/ready
	.venv-check/bin/ruff check .
	.venv-check/bin/mypy norch
	.venv-check/bin/clang-format --dry-run --Werror $(wildcard norch/csrc/*.cpp norch/csrc/*.h)

# Every instruction set computes the same, and no inline function leaves the namespace of its copy (norch/csrc/isa.h).
isas: all .venv-check/ready
	@for object in $(filter %.avx2.o %.avx512.o,$(KERNEL_OBJECTS)); do \
	    isa=$${object%.o}; isa=$${isa##*.}; \
	    if nm -C $$object | grep -E ' [WVu] ' | grep -vE " DW.ref|[ <(,]$$isa::"; then \
	        echo "$$object: the linker could take these for other instruction sets"; exit 1; fi; done
	for isa in $(ISAS); do NORCH_ISA=$$isa .venv-check/bin/python -m pytest -q tests/test_operations.py \
	    tests/test_reductions.py tests/test_special_values.py tests/test_formulas.py tests/test_fused.py $(ARGS) || exit 1; done

oracle: all .venv-check/ready
	.venv-check/bin/python -m pytest tests/check tests/test_examples.py $(ARGS)

sanitized: .venv-check/ready
	@$(MAKE) SANITIZE=address CUDA=0 all
	.venv-check/bin/python tests/check/sanitized.py build/cpu-address/libnorch.so --compiler "$(CXX)" $(ARGS)

# ThreadSanitizer watches a program with threads in kernels with threads, and must find a planted race.
RACES := build/cpu-thread/threads
races:
	@$(MAKE) SANITIZE=thread CUDA=0 all
	$(CXX) -std=c++17 -O1 -g -fsanitize=thread -pthread -o $(RACES) tests/check/threads.cpp build/cpu-thread/libnorch.so \
	    -Wl,-rpath,'$$ORIGIN'
	! TSAN_OPTIONS=halt_on_error=1 $(RACES) race 2> $(RACES).report
	grep -q "data race" $(RACES).report
	TSAN_OPTIONS=halt_on_error=1:die_after_fork=0 $(RACES)

# Two environments, because the suite must pass where torch and NumPy are not installed.
.venv/ready: tests/requirements.txt
.venv-check/ready: tests/check/requirements.txt
.venv/ready .venv-check/ready:
	@$(PYTHON) -c "import venv, ensurepip" 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments:" \
	    "install its venv module (Debian, Ubuntu: apt install python3-venv), or name another with PYTHON="; exit 1; }
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --requirement $<
	@touch $@

clean:
	rm -rf $(filter-out build/.gitignore,$(wildcard build/*)) $(PACKAGE) $(PACKAGE).new

help:
	@echo "make           build the library: build/<variant>/libnorch.so, copied into norch/"
	@echo "make example   train the sin2 regression of examples/sin2.py (ARGS=\"--epochs 20\" for its options)"
	@echo "make test      the test suite, in .venv with pytest"
	@echo "make check     ruff, mypy, clang-format, comparison with torch and NumPy, sanitizers, in .venv-check"
	@echo "make clean     remove what was built"
	@echo "Variables: CUDA=0|1  SANITIZE=address|thread  CXX  CXXFLAGS  PYTHON  V=1 (show the commands)"
