# The commands of the lab; `make help` lists them. Each one also builds what it needs, with CMake.
# DEVICE=auto|gpu|cpu   the device for run and report    NO_INSTALL=1   never install; print the command instead
# BUILD=folder          the build folder                 JOBS=n         number of parallel jobs
# ARGS and CMAKE_FLAGS may have several words: quotes and backslashes group them as in a shell, and nothing in them is expanded.
# Neither make nor a shell expands what the user types: recipes read it from the environment.
override BUILD := $(or $(value BUILD),build)
override JOBS := $(or $(value JOBS),$(shell nproc 2>/dev/null || echo 2))
override DEVICE := $(or $(value DEVICE),auto)
override CMAKE := $(or $(value CMAKE),cmake)
override CMAKE_FLAGS := $(value CMAKE_FLAGS)
override ARGS := $(value ARGS)
override FILE := $(value FILE)
override EX := $(value EX)
override RESET := $(value RESET)
override SHOW := $(value SHOW)
override GDB := $(value GDB)
override OF := $(value OF)
override FLAGS := $(value FLAGS)
# In make try yours.cu, make learn 04.2 and make diff 04 modulo masked, the words after the goal are not goals.
ifneq "$(filter try learn grade diff,$(firstword $(MAKECMDGOALS)))" ""
more := $(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS))
override FILE := $(or $(FILE),$(more))
override EX := $(or $(EX),$(more))
MAKEFLAGS += $(if $(more),--silent)
endif
export BUILD JOBS DEVICE CMAKE CMAKE_FLAGS ARGS FLAGS FILE EX RESET SHOW GDB OF
unexport CDPATH
# Exit status 1 of these goals means "not all right". It must not become a make error, which prints "*** Error 1". With -q, make
# runs only the lines that begin with +, and ends silently with status 1 if a target has another line.
ifneq "$(filter learn exercises grade,$(firstword $(MAKECMDGOALS)))" ""
MAKEFLAGS += -q
answer := $(shell mktemp)
endif
answered = +@$(1); status=$$?; [ $$status != 1 ] || echo wrong >"$(answer)"; [ $$status -le 1 ] || { rm -f "$(answer)"; exit $$status; }
is_wrong = $(if $(shell cat "$(answer)"; rm -f "$(answer)"),@false)
quoted = '$(subst ','\'',$(1))'

number = $(firstword $(subst _, ,$(1)))
samples := $(foreach folder,$(wildcard [0-9][0-9]_*),$(call number,$(folder)))
# For example 05_atomics and its sequel 05_ordered_filter. A name may end with a slash, because a shell completes it so.
programs := $(foreach file,$(wildcard [0-9][0-9]_*/*.cu),$(call number,$(file))_$(basename $(notdir $(file))))
programs += $(addsuffix /,$(programs))

# A line break in a name would end the line of the recipe, and make would run the rest of the name as a command.
define newline


endef
ifneq "$(findstring $(newline),$(MAKECMDGOALS)$(FILE)$(EX)$(RESET)$(BUILD)$(DEVICE))" ""
$(error The name contains a line break; type it in one line)
endif
ifeq "$(origin SAMPLE)" "command line"
$(error There is no variable SAMPLE: type make $(value SAMPLE))
endif
ifeq "$(and $(filter 1,$(words $(DEVICE))),$(filter auto gpu cpu,$(DEVICE)))" ""
$(error DEVICE is '$(DEVICE)'; type DEVICE=gpu, DEVICE=cpu or DEVICE=auto)
endif

.NOTPARALLEL:
.PHONY: all build asan $(samples) $(programs) learn learn_once exercises exercises_once grade grade_once try diff run report test check-all lint hazards bench bench-cpu \
    counters counters-gpu plots pictures tables doctor clean help

# MAKEFLAGS is removed, because the inner make has its own number of jobs.
inner = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL sh
tools = $(inner) common/tools
with_args = $(tools)/words.sh ARGS sh common/tools

all: build
	@echo
	@echo "Built. Next: make run                 run all samples and check their results"
	@echo "             make 04                  build and check sample 04, after an edit"
	@echo "             make learn               exercises: each save is checked"
	@echo "             make try FILE=yours.cu   check your own .cu file for races"
	@echo "             make help                list all commands"

build:
	@$(tools)/build.sh "$$BUILD"

asan:
	@$(tools)/build.sh "$$BUILD" all test_builds slow_builds asan_samples counters_samples

$(filter-out $(more),$(samples) $(programs)):
	@$(with_args)/one.sh "$$BUILD" "$$DEVICE" $(call quoted,$(@:/=))

learn: learn_once
	$(is_wrong)
learn_once:
	$(call answered,$(tools)/learn.sh "$$BUILD" "$$EX" "$$RESET" "$$SHOW" "$$GDB")

exercises: exercises_once
	$(is_wrong)
exercises_once:
	$(call answered,$(tools)/learn.sh "$$BUILD" --list)

grade: grade_once
	$(is_wrong)
grade_once:
	$(call answered,$(tools)/grade.sh "$$BUILD" "$$OF" "$$EX")

try:
	@$(with_args)/try.sh "$$BUILD" "$$FILE"

diff:
	@$(tools)/diff.sh $(foreach word,$(more),$(call quoted,$(word)))

run:
	@$(tools)/run.sh "$$BUILD" "$$DEVICE"

report: build
	@$(tools)/report.sh "$$BUILD" "$$DEVICE" "$$BUILD/report"

plots:
	@$(tools)/plots.sh

# These programs record the traces that the pages' pictures show.
pictured = counters_04_reduction_variants counters_05_atomics counters_06_shared_image
pictures:
	@$(tools)/build.sh "$$BUILD" $(pictured)
	@$(tools)/pictures.sh "$$BUILD"

tables: build
	@"$$BUILD/figures" tables .

test:
	@$(tools)/build.sh "$$BUILD" gpu_samples cpu_samples hazards_samples test_builds
	@$(tools)/test.sh "$$BUILD" "$$JOBS"

check-all: asan
	@$(tools)/test.sh "$$BUILD" "$$JOBS" -C slow

lint: build
	@$(inner) common/test/maintenance/lint.sh "$$BUILD" "$$JOBS"

bench: build
	@$(tools)/bench.sh "$$BUILD" "$$BUILD/bench"

counters-gpu: build
	@$(tools)/counters.sh "$$BUILD" "$$BUILD/bench"

counters:
	@$(tools)/build.sh "$$BUILD" counters_samples
	@echo "Built. $$BUILD/counters/NN_name counts the work of each line"
	@echo "of its kernels; --trace FILE.html draws it step by step."

hazards: asan
	@$(inner) common/test/hazards.sh "$$BUILD" "$$JOBS"

bench-cpu:
	@$(tools)/build.sh "$$BUILD" bench_cpu
	@if [ -x "$$BUILD/cpu/bench_cpu" ]; then "$$BUILD/cpu/bench_cpu"; \
	else echo "There is no $$BUILD/cpu/bench_cpu. Type make doctor to see why."; exit 3; fi

doctor:
	@$(tools)/doctor.sh

clean:
	@rm -rf "$$BUILD"

.DEFAULT:
	$(if $(more),$(if $(filter try learn grade diff,$(firstword $@)),@,+@exit 0;),@)printf '%s\n' $(call quoted,There is no command make $@.$(if $(filter 0$@,$(samples)), Did you mean make 0$@?)) \
	    'The samples are $(samples). Type make help to list all commands.' >&2; exit 2

help:
	@echo 'make              installs missing packages, and builds all samples'
	@echo 'make run          runs all samples on the GPU; without one, on the CPU device'
	@echo 'make 04           builds and runs one sample (01 ... 06), and checks it for'
	@echo '                  races; a sequel by its name: make 04_all_gpus'
	@echo 'make 04 ARGS="--only sequential"    the same, with options of the sample; quotes'
	@echo '                  group words as in a shell, and nothing in them is expanded'
	@echo 'make try FILE=yours.cu    checks your own .cu file for races, without a GPU;'
	@echo '                          FLAGS="-Iinclude -DN=8" adds options for cudacpu'
	@echo 'make diff 04 modulo masked    shows the differences between two rungs'
	@echo 'make learn        exercises: you write kernels, and each save is checked;'
	@echo '                  make learn EX=04.2 goes to one, RESET=04.2 restores it,'
	@echo '                  SHOW=04.2 prints its model answer after you have solved it,'
	@echo '                  GDB=04.2 runs it in gdb'
	@echo 'make exercises    lists the exercises: right, wrong or to do'
	@echo 'make grade        checks all exercises, and writes build/grade/junit.xml;'
	@echo '                  OF=folder checks those in a folder, EX="01 04.2" only these'
	@echo "make test         runs the tests; without a GPU, the GPU's tests are skipped"
	@echo ''
	@echo 'make report       runs all samples, and writes build/report/index.html:'
	@echo '                  verdicts, plots, tables and races'
	@echo 'make hazards      runs every kernel and every wrong twin under every detector of'
	@echo '                  the CPU device, and prints one table'
	@echo 'make bench        measures all samples over their sizes on the GPU, and compares'
	@echo '                  the results with the bars of common/README.md'
	@echo 'make counters     builds the samples with counters: build/counters/NAME counts'
	@echo '                  what its kernels do, without a GPU'
	@echo "make counters-gpu counts what the kernels do on the GPU, with NVIDIA's ncu"
	@echo 'make bench-cpu    measures the CPU device itself: switches, barriers, launches'
	@echo 'make check-all    runs all tests, also the slow ones: other compilers, more'
	@echo '                  random inputs, AddressSanitizer, sizes above 2^32 on a GPU'
	@echo 'make lint         checks common/ with clang-format, clang-tidy and cppcheck'
	@echo 'make plots        redraws the plots in results/'
	@echo 'make pictures     runs kernels on the CPU device, and redraws the pictures of'
	@echo '                  the pages: lanes, banks, sectors'
	@echo 'make tables       rewrites the tables of the pages from results/'
	@echo 'make doctor       lists what this machine has and what is missing, with commands'
	@echo 'make clean        removes the build folder'
	@echo ''
	@echo 'make run DEVICE=cpu     uses the CPU device even if there is a GPU'
	@echo 'make NO_INSTALL=1       installs nothing; prints the command instead'
	@echo 'make CMAKE_FLAGS=-DCMAKE_CUDA_ARCHITECTURES=90    builds for this architecture'
	@echo ''
	@echo 'The programs are build/gpu/NAME and build/cpu/NAME; each has the option --help.'
