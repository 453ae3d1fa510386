#!/bin/sh
# folders.sh: tests that the fast tests pass in any folder. .ci/run builds and tests a copy of the lab through a symbolic link, in
# a Chinese locale if localedef can create it. Then all tests run again with LC_ALL=C. The path of the copy has 150 characters.
# The copy, the link, the folder of temporary files and the home folder have a space, an apostrophe, an umlaut and a Chinese
# character in their names. Exit status: 0 if all pass, 1 if not.
. "$(dirname "$0")/lib.sh"
patience=6000 place=$(perl -CSDA -e 'print my $place = shift, "x" x (150 - length $place)' "$folder/it's a Käse, 文件夹+/")
link="$folder/link's ü 链接" temporary="$folder/tmp's ü 临时" HOME="$folder/home's ü 家"
mkdir -p "$place" "$temporary" "$HOME" && copy "$place" && ln -s "$place" "$link" && cd "$link" || exit 1
chinese="LC_ALL=zh_CN.UTF-8"
localedef -i zh_CN -f UTF-8 "$folder/zh_CN.UTF-8" >/dev/null 2>&1 ||
    { echo "left out: zh_CN.UTF-8, which localedef does not make here (apt-get install locales)"; chinese=""; }
export HOME LOCPATH="$folder" NO_INSTALL=1 CMAKE_FLAGS=-DLAB_GPU=OFF # otherwise the GPU tests would be skipped or run twice
set -- env TMPDIR="$temporary"
ends 0 "$@" $chinese .ci/run
ends 0 "$@" LC_ALL=C sh common/tools/test.sh build "$(nproc 2>/dev/null || echo 2)" --label-exclude slow
finish
