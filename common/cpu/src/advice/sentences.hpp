// sentences.hpp - what the advice says, in English and in Chinese. \1 stands for the numbers of lines.
#pragma once
#include "report/race_report.hpp"

namespace cudacpu::race {

// ---- edits

constexpr Sentence put_after{"put %s after \1", "在\1之后加上 %s"},
    put_after_in_loop{"put %s after \1, inside the loop", "在\1之后（循环内）加上 %s"},
    put_before{"put %s before \1", "在\1之前加上 %s"},
    put_within{"in line %2$d put %1$s after `%3$s`", "在第 %2$d 行的 `%3$s` 之后加上 %1$s"},
    put_in_braces{"give the %3$s of line %2$d braces, and put %1$s after \1, inside them",
                  "给第 %2$d 行的%3$s加上花括号，并在其中\1之后加上 %1$s"},
    write_for{"in line %d write `%s` for `%s`", "在第 %d 行写 `%s`，代替 `%s`"},
    write_for_lines{"write `%s` for lines %d to %d", "写 `%s`，代替第 %d 到 %d 行"},
    write_after{"after line %d write `%s`", "在第 %d 行之后写 `%s`"}, drop_line{"drop line %d", "删去第 %d 行"},
    drop_lines{"drop lines %d to %d", "删去第 %d 到 %d 行"};

// ---- a barrier

constexpr Sentence rounds{
    "not all threads take all rounds of the loop of line %d: let all take as many, guard the work "
    "with if, and put __syncthreads() between lines %d and %d",
    "并非所有线程都执行第 %d 行循环的每一轮：让它们轮数相同，用 if 保护其中的工作，并在第 %d "
    "行和第 %d 行之间加上 __syncthreads()"},
    split_if{"not all threads enter the if of line %d: ", "并非所有线程都进入第 %d 行的 if："},
    split_by_hand{
        "end it after line %d, put __syncthreads() there, and begin it again; what both halves use is "
        "declared before",
        "在第 %d 行之后结束它，加上 __syncthreads()，再重新开始；两半都用到的变量要在它之前声明"},
    split_call{"not all threads call %s: let all call it, and put __syncthreads() between lines %d and %d",
               "并非所有线程都调用 %s：让所有线程都调用它，并在第 %d 行和第 %d 行之间加上 __syncthreads()"},
    mask{"the mask of line %d leaves out one of the two lanes: ", "第 %d 行的掩码漏掉了其中一个通道："},
    all_must_read{
        "check the index of line %d: in this one statement a thread reads what another writes; if that is "
        "meant, all must have read before one writes: ",
        "检查第 %d 行的下标：在这一条语句里，一个线程读取另一个线程写入的元素；如果是有意的，"
        "所有线程都要先读完再写："},
    read_where_all_come{"read into a variable, put __syncthreads() where all threads come, and write then",
                        "先读入变量，在所有线程都会到达的地方加上 __syncthreads()，然后再写"},
    smaller{"a thread reads what another writes there: ", "一个线程读取另一个线程在那里写入的元素："},
    exchange_once{
        "two threads exchange the same elements, and each undoes what the other does; let one of them do it: ",
        "两个线程交换同一对元素，互相抵消；只让其中一个去做："},
    order{"order the two: put %s between them", "给两次访问规定先后：在它们之间加上 %s"};

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
    use_loop{"use a loop around atomicCAS: ", "使用 atomicCAS 循环："},
    some_atomic{"use an atomic in line %d: atomicAdd, ... or a loop around atomicCAS",
                "在第 %d 行使用原子操作：atomicAdd 等，或者 atomicCAS 循环"},
    too_small{"use an atomic in line %d: none has %zu bytes, so make the elements int first",
              "在第 %d 行使用原子操作：没有 %zu 字节的原子操作，所以先把元素改成 int"},
    one_word{
        "what lines %d to %d set belongs together: put it into one 64-bit word, the upper half what line %d "
        "compares, and take its %s(), or hold a lock",
        "第 %d 到 %d 行设置的值是一个整体：把它们放进一个 64 位的字，高半部分是第 %d 行所比较的值，对它用 %s()，"
        "或者加锁"},
    old_value{"take the old value from the atomic: ", "用原子操作返回的旧值："},
    read_by_atomic{
        "read it by an atomic in line %d: atomicAdd(&x, 0); others go on changing it, and its last value is "
        "for the next kernel or the host to read",
        "在第 %d 行用原子操作读取：atomicAdd(&x, 0)；其他线程还在修改它，最终的值由下一个核函数或主机来读"},
    set_before{"set it before the launch (cudaMemset), not in line %d: no barrier spans the blocks",
               "在启动之前设置它（cudaMemset），不要在第 %d 行：没有同步点能跨越线程块"},
    no_source_atomic{"use an atomic (atomicAdd, ...), or let one thread write",
                     "使用原子操作（atomicAdd 等），或者只让一个线程写"};

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
    no_source_blocks{"blocks cannot wait for each other: use an atomic, or a second kernel",
                     "线程块不能互相等待：使用原子操作，或者第二个核函数"};

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
