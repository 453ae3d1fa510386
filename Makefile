# The front door. `make run` and `make test` do everything, set-up included; CMake does the work.
# DEVICE=auto|gpu|cpu   where run and report run    NO_INSTALL=1   never install, print the command instead
# BUILD=folder          where to build              JOBS=n         jobs at a time
# ARGS and CMAKE_FLAGS are several words: quotes and backslashes group them as in a shell, and nothing in them is expanded.
# Neither make nor a shell expands what is typed: recipes get it from the environment.
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
override OF := $(value OF)
override FLAGS := $(value FLAGS)
# make try yours.cu, make learn 04.2, make diff 04 modulo masked: the words after the goal are not goals
ifneq "$(filter try learn grade diff,$(firstword $(MAKECMDGOALS)))" ""
more := $(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS))
override FILE := $(or $(FILE),$(more))
override EX := $(or $(EX),$(more))
MAKEFLAGS += $(if $(more),--silent)
endif
export BUILD JOBS DEVICE CMAKE CMAKE_FLAGS ARGS FLAGS FILE EX RESET SHOW OF
unexport CDPATH
# The exit status 1 of these goals is an answer and no failure of make, which would print "*** Error 1". With -q make runs
# only the lines that begin with +, and ends with status 1, without a word, if a target has another line.
ifneq "$(filter learn exercises grade,$(firstword $(MAKECMDGOALS)))" ""
MAKEFLAGS += -q
answer := $(shell mktemp)
endif
answered = +@$(1); status=$$?; [ $$status != 1 ] || echo wrong >"$(answer)"; [ $$status -le 1 ] || { rm -f "$(answer)"; exit $$status; }
is_wrong = $(if $(shell cat "$(answer)"; rm -f "$(answer)"),@false)
quoted = '$(subst ','\'',$(1))'

number = $(firstword $(subst _, ,$(1)))
samples := $(foreach folder,$(wildcard [0-9][0-9]_*),$(call number,$(folder)))
# 05_atomics and its sequel, 05_ordered_filter; a shell that completes a folder's name adds a slash
programs := $(foreach file,$(wildcard [0-9][0-9]_*/*.cu),$(call number,$(file))_$(basename $(notdir $(file))))
programs += $(addsuffix /,$(programs))

# A line of a recipe ends at a line break, and make would run the rest of the name as a command.
define newline


endef
ifneq "$(findstring $(newline),$(MAKECMDGOALS)$(FILE)$(EX)$(RESET)$(BUILD)$(DEVICE))" ""
$(error The name has a line break; type it in one line)
endif
ifeq "$(origin SAMPLE)" "command line"
$(error SAMPLE means nothing here: type make $(value SAMPLE))
endif
ifeq "$(and $(filter 1,$(words $(DEVICE))),$(filter auto gpu cpu,$(DEVICE)))" ""
$(error DEVICE is '$(DEVICE)'; type DEVICE=gpu, DEVICE=cpu or DEVICE=auto)
endif

.NOTPARALLEL:
.PHONY: all build asan $(samples) $(programs) learn learn_once exercises exercises_once grade grade_once try diff run report test check-all lint hazards bench bench-cpu \
    counters counters-gpu plots pictures tables doctor clean help

# MAKEFLAGS is hidden from the inner make, which has jobs of its own.
inner = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL sh
tools = $(inner) common/tools
with_args = $(tools)/words.sh ARGS sh common/tools

all: build
	@echo
	@echo "Built. Next: make run                 runs all samples and checks them"
	@echo "             make 04                  one of them, after you have changed it"
	@echo "             make learn               you write kernels, each save is checked"
	@echo "             make try FILE=yours.cu   your own .cu file: does it race?"
	@echo "             make help                what else there is"

build:
	@$(tools)/build.sh "$$BUILD"

asan:
	@$(tools)/build.sh "$$BUILD" all test_builds slow_builds asan_samples counters_samples

$(filter-out $(more),$(samples) $(programs)):
	@$(with_args)/one.sh "$$BUILD" "$$DEVICE" $(call quoted,$(@:/=))

learn: learn_once
	$(is_wrong)
learn_once:
	$(call answered,$(tools)/learn.sh "$$BUILD" "$$EX" "$$RESET" "$$SHOW")

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

# What the pictures of the pages are drawn from.
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
	@$(inner) common/test/lint.sh "$$BUILD" "$$JOBS"

bench: build
	@$(tools)/bench.sh "$$BUILD" "$$BUILD/bench"

counters-gpu: build
	@$(tools)/counters.sh "$$BUILD" "$$BUILD/bench"

counters:
	@$(tools)/build.sh "$$BUILD" counters_samples
	@echo "Built. $$BUILD/counters/NN_name counts what each line"
	@echo "of its kernels does; --trace FILE.html draws it."

hazards: asan
	@$(inner) common/test/hazards.sh "$$BUILD" "$$JOBS"

bench-cpu:
	@$(tools)/build.sh "$$BUILD" bench_cpu
	@if [ -x "$$BUILD/cpu/bench_cpu" ]; then "$$BUILD/cpu/bench_cpu"; \
	else echo "There is no $$BUILD/cpu/bench_cpu. Type make doctor to see what is missing."; exit 3; fi

doctor:
	@$(tools)/doctor.sh

clean:
	@rm -rf "$$BUILD"

.DEFAULT:
	$(if $(more),$(if $(filter try learn grade diff,$(firstword $@)),@,+@exit 0;),@)printf '%s\n' $(call quoted,There is no make $@.$(if $(filter 0$@,$(samples)), Did you mean make 0$@?)) \
	    'The samples are $(samples); make help says what else there is.' >&2; exit 2

help:
	@echo 'make              sets up what is missing, and builds all samples'
	@echo 'make run          runs all: on the GPU where one answers, else on the CPU device'
	@echo 'make 04           builds and runs one sample (01 ... 06), and looks for races;'
	@echo '                  a sequel by its name: make 04_all_gpus'
	@echo 'make 04 ARGS="--only sequential"    the same, with options of the sample; quotes'
	@echo '                  group words as in a shell, and nothing in them is expanded'
	@echo 'make try FILE=yours.cu    your own .cu file on the CPU device: does it race?'
	@echo '                          FLAGS="-Iinclude -DN=8" are more options for cudacpu'
	@echo 'make diff 04 modulo masked    what changes from one rung to the next'
	@echo 'make learn        exercises: you write the kernels, and each save is checked;'
	@echo '                  make learn EX=04.2 goes to one, RESET=04.2 restores it,'
	@echo '                  SHOW=04.2 prints its model answer once it is right'
	@echo 'make exercises    which are right, which wrong, and which still to do'
	@echo 'make grade        checks all exercises, and writes build/grade/junit.xml;'
	@echo '                  OF=folder those in a folder, EX="01 04.2" only these'
	@echo "make test         runs the tests (the GPU's are skipped where none answers)"
	@echo ''
	@echo 'make report       also runs all, and writes build/report/index.html: verdicts,'
	@echo '                  plots, tables, and what races'
	@echo 'make hazards      every kernel and every wrong twin under every detector of the'
	@echo '                  CPU device: one table'
	@echo 'make bench        measures all samples over their sizes on the GPU, and compares'
	@echo '                  with the bars of common/README.md'
	@echo 'make counters     builds the samples so that they count, without a GPU, what'
	@echo '                  their kernels do: build/counters/NAME'
	@echo "make counters-gpu counts with NVIDIA's ncu what the kernels do on the GPU"
	@echo 'make bench-cpu    measures the CPU device itself: switches, barriers, launches'
	@echo 'make check-all    all tests, also the slow ones: other compilers, more random'
	@echo '                  lines, AddressSanitizer, sizes past 2^32 on a GPU'
	@echo 'make lint         holds common/ against .clang-format, .clang-tidy and cppcheck'
	@echo 'make plots        draws the plots in results/ again'
	@echo 'make pictures     runs kernels on the CPU device, and draws the pictures of the'
	@echo '                  pages again: lanes, banks, sectors'
	@echo 'make tables       writes the tables of the pages again, from results/'
	@echo 'make doctor       what this machine has and lacks, and what mends it'
	@echo 'make clean        removes what was built'
	@echo ''
	@echo 'make run DEVICE=cpu     on the CPU device, even where a GPU answers'
	@echo 'make NO_INSTALL=1       installs nothing, prints the command instead'
	@echo 'make CMAKE_FLAGS=-DCMAKE_CUDA_ARCHITECTURES=90    for this GPU architecture'
	@echo ''
	@echo 'build/gpu/NAME and build/cpu/NAME are the programs; each takes --help.'
