// sentences.hpp - what the advice says, in English and in Chinese. \1 stands for the numbers of lines.
#pragma once
#include "report/race_report.hpp"

namespace cudacpu::race {

// ---- edits

constexpr Sentence put_after{"put %s after \1", "在\1之后加上 %s"},
    put_after_in_loop{"put %s after \1, inside the loop", "在\1之后（循环内）加上 %s"},
    put_before{"put %s before \1", "在\1之前加上 %s"},
    put_in_braces{"give the body of line %2$d braces, and put %1$s after \1, inside them",
                  "给第 %2$d 行的主体加上花括号，并在其中\1之后加上 %1$s"},
    write_for{"in line %d write `%s` for `%s`", "在第 %d 行写 `%s`，代替 `%s`"},
    write_for_lines{"write `%s` for lines %d to %d", "写 `%s`，代替第 %d 到 %d 行"},
    write_after{"after line %d write `%s`", "在第 %d 行之后写 `%s`"}, drop_line{"drop line %d", "删去第 %d 行"},
    drop_lines{"drop lines %d to %d", "删去第 %d 到 %d 行"};

// ---- a barrier

constexpr Sentence not_all_come{
    "not all threads come to lines %d and %d, because of line %d: let all threads of the block pass there, equally "
    "often, guard only the work with if, and put __syncthreads() between the two lines, outside of that if",
    "由于第 %3$d 行，并非所有线程都到达第 %1$d 行和第 %2$d 行：让线程块的所有线程都以相同的次数经过那里，只用 if "
    "保护其中的工作，并在这两行之间、该 if 之外加上 __syncthreads()"},
    all_must_read{
        "check the index of \1: there, a thread reads what another writes; if that is meant, all must have read "
        "before one writes: read into a variable, put %1$s where all threads come, and write then; in a loop, put "
        "%1$s also at its end",
        "检查\1的下标：在那里，一个线程读取另一个线程写入的元素；如果是有意的，所有线程都要先读完再写：先读入变量，"
        "在所有线程都会到达的地方加上 %1$s，然后再写；如果在循环中，循环末尾也要加上 %1$s"},
    order{
        "line %d must come before line %d for all threads, or after it: take them apart, and put %s between them, "
        "where all threads come; in a loop, also on the way back",
        "对所有线程来说，第 %d 行都要在第 %d 行之前或之后：把它们分开，并在两者之间所有线程都会到达的地方加上 "
        "%s；如果在循环中，返回的路上也要加上"},
    no_source{
        "order the two accesses: put %s between them, use an atomic (atomicAdd, ...), or let one thread write; "
        "blocks cannot wait for each other, so they need an atomic or a second kernel",
        "给两次访问规定先后：在它们之间加上 %s，使用原子操作（atomicAdd "
        "等），或者只让一个线程写；线程块不能互相等待，所以需要原子操作或者第二个核函数"};

// ---- threads that do not come
constexpr Sentence sent_away{
    "line %d sends threads away: let them stay, and guard with if (%s) what needs an element",
    "第 %d 行让一些线程提前离开：让它们留下，并用 if (%s) 保护需要元素的部分"},
    sent_away_edit{"line %d sends threads away that a barrier needs: ", "第 %d 行让同步点需要的一些线程提前离开："},
    call_for_all{"not all threads enter the if of line %d: let all call %s",
                 "并非所有线程都进入第 %d 行的 if：让所有线程都调用 %s"},
    move_out{"move it out of the branch: ", "把它移到分支之外："},
    move_by_hand{
        "end the if of line %d before line %d, put %s there, and begin it again; what both halves use is "
        "declared before",
        "在第 %2$d 行之前结束第 %1$d 行的 if，在那里加上 %3$s，再重新开始；两半都用到的变量要在它之前声明"},
    rounds_by_hand{"let all take as many rounds of the loop of line %d, and guard the work in it with if",
                   "让所有线程执行第 %d 行循环的轮数相同，并用 if 保护其中的工作"},
    rounds_edit{
        "let all take as many rounds of the loop: in line %d write `%s` for `%s`, and guard the work between its "
        "barriers with if (%s)",
        "让所有线程执行循环的轮数相同：在第 %d 行写 `%s`，代替 `%s`，并用 if (%s) 保护同步点之间的工作"},
    lanes_come{"let all lanes come here: ", "让所有通道都到达这里："},
    set_first_edit{"its sum starts with no value, so set it first: ", "求和之前没有赋初值，所以先给它赋值："},
    set_or_index{
        "check the index here and in \1, where other elements of the array are set; set this one first only if it "
        "is meant",
        "检查这里和\1的下标，那里设置的是数组的其他元素；只有确实要用这个元素时，才先给它赋值"};

// ---- an atomic

constexpr Sentence use_atomic{"use an atomic: ", "使用原子操作："},
    some_atomic{
        "use an atomic in line %d: atomicAdd, ... or a loop around atomicCAS; the elements need 4 bytes or "
        "more, and no volatile",
        "在第 %d 行使用原子操作：atomicAdd 等，或者 atomicCAS 循环；元素需要至少 4 个字节，并且不能是 volatile"},
    ask_by_atomic{
        "line %d asks for what line %d sets, and another thread can set it in between: let one atomic do both: "
        "atomicMax, atomicMin, atomicCAS (returns the old value), or a loop around atomicCAS; what is set together "
        "belongs into one 64-bit word, or needs a lock",
        "第 %d 行检查第 %d "
        "行所设置的值，而另一个线程可能在这期间设置它：用一个原子操作完成两步：atomicMax、atomicMin、"
        "atomicCAS（返回旧值），或者 atomicCAS 循环；一起设置的值要放进一个 64 位的字，或者加锁"},
    by_old_value{"take the old value from the atomic: ", "用原子操作返回的旧值："},
    beside_atomics{
        "line %d uses no atomic, and other threads change the value by atomics at the same time: take the old "
        "value "
        "that an atomic returns; or set it before the launch (cudaMemset), and read its last value in the next "
        "kernel "
        "or on the host; atomicAdd(&x, 0) reads what it is by now",
        "第 %d 行没有用原子操作，而其他线程同时在用原子操作修改这个值：用原子操作返回的旧值；或者在启动之前设置它"
        "（cudaMemset），最终的值由下一个核函数或主机来读；atomicAdd(&x, 0) 读取当前的值"};

// ---- a fence

constexpr Sentence narrow_scope{
    "__threadfence_block() and atomics that end in _block order threads of one block only: ",
    "__threadfence_block() 和以 _block 结尾的原子操作只对同一线程块内的线程有效："},
    give_back{"release the lock after a fence, by an atomic: ", "在栅栏之后用原子操作释放锁："},
    flag_by_atomics{"a flag needs atomics, and a fence before it is set: ",
                    "标志需要原子操作，设置之前还需要栅栏："};

// ---- two blocks

constexpr Sentence other_array{"blocks cannot wait for each other: let line %d write into another array",
                               "线程块不能互相等待：让第 %d 行写到另一个数组"},
    second_kernel{
        "blocks cannot wait for each other: end the kernel after line %d, and do line %d in a second kernel",
        "线程块不能互相等待：在第 %d 行之后结束核函数，在第二个核函数里执行第 %d 行"},
    whole_grid{
        "put this_grid().sync() between lines %d and %d, where all threads of the grid come; in a loop, also at "
        "its end",
        "在第 %d 行和第 %d 行之间、网格的所有线程都会到达的地方加上 this_grid().sync()；如果在循环中，"
        "循环末尾也要加上"};

// ---- an index

constexpr Sentence two_blocks{
    "check the index of line %d: two blocks write one element (should it hold blockIdx.x?); if that is meant, let "
    "one block write, or use an atomic",
    "检查第 %d 行的下标：两个线程块写同一个元素（是否应含有 "
    "blockIdx.x？）；如果是有意的，只让一个线程块写，或者使用原子操作"},
    own_element{
        "check the index of line %d, `%s`: it lets two threads change one element; if that is meant, use an atomic",
        "检查第 %d 行的下标 `%s`：它使两个线程修改同一个元素；如果是有意的，使用原子操作"},
    one_thread{
        "check the index of line %d: two threads write one element; if that is meant, let one of them write: if "
        "(threadIdx.x == 0)",
        "检查第 %d 行的下标：两个线程写同一个元素；如果是有意的，只让其中一个写：if (threadIdx.x == 0)"},
    equal_values{
        "nothing goes wrong while all write the same value in line %d; if one may write another, let one thread "
        "write",
        "只要都在第 %d 行写同一个值就不会出错；如果可能写不同的值，只让一个线程写"},
    own_variable_words{"__shared__ makes it one variable for all threads, but each puts a value of its own there: ",
                       "__shared__ 使它成为所有线程共用的一个变量，而每个线程都往里放自己的值："},
    block_missing{"two blocks write one element, because its index lacks blockIdx.x: ",
                  "两个线程块写同一个元素，因为下标里没有 blockIdx.x："},
    tiles{
        "tiles of one block use the same elements, but each needs some of its own: add %s to the index in \1, and "
        "let the array have an element for each thread of the block",
        "同一线程块的各个 tile 使用了相同的元素，而它们各自需要自己的：在\1的下标上加 %s，"
        "并让数组对线程块的每个线程都有一个元素"},
    stride{"two blocks take one element, as the loop goes on by less than the grid has threads: ",
           "两个线程块取到同一个元素，因为循环的步长小于网格的线程数："},
    rows{
        "rows of `%1$s` have %2$s elements, but line %3$d lets %4$s go up to %2$s, not %5$s: write `%4$s * %6$s + "
        "%5$s`, or "
        "swap %4$s and %5$s in one of the two",
        "`%1$s` 的每行有 %2$s 个元素，但第 %3$d 行让 %4$s 而不是 %5$s 取到 %2$s：写 `%4$s * %6$s + %5$s`，"
        "或者在其中一处交换 %4$s 和 %5$s"};

// ---- out of bounds

constexpr Sentence one_too_far{"%zu elements end with number %zu: ", "%zu 个元素的最后一个编号是 %zu："},
    compared_there{"check the index of %s, and what line %d compares", "检查 %s 的下标，以及第 %d 行的比较"},
    check_first{"check the index of %s", "检查 %s 的下标"},
    either_or{
        ": either it is wrong, or the array is too small, or threads without such an element leave out this "
        "access, "
        "but not their other work",
        "：要么下标有误，要么数组太小，要么没有这个元素的线程只跳过这次访问，而不跳过其他工作"},
    pointer_is{"; in line %d, `%s = %s`, + counts elements of the pointer's type, not bytes",
               "；第 %d 行的 `%s = %s` 里，+ 以指针类型的元素计，而不是以字节计"},
    row_length{"; what multiplies a row's number is the length of this array's rows",
               "；与行号相乘的是这个数组每行的长度"},
    summand{"only one of the two elements exists in the last block: ",
            "在最后一个线程块里，两个元素只有一个存在："},
    enlarge{"the array is too small: ", "数组太小："},
    against_size{"check the index against the size: ", "把下标与大小相比较："};

}  // namespace cudacpu::race
