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
    "line %d sends away the threads with `%s`: let them stay, and guard with the opposite condition what needs an "
    "element, but no barrier; a value that they leave out of a sum is 0",
    "第 %d 行让 `%s` 的线程提前离开：让它们留下，用相反的条件保护需要元素的部分，但不要把同步点放在条件里；"
    "它们在求和中的值是 0"},
    call_for_all{"not all threads enter the if of line %d: let all call %s",
                 "并非所有线程都进入第 %d 行的 if：让所有线程都调用 %s"},
    move_out{
        "move it out of the branch of line %d, `%s`, which some threads do not enter: end the branch before it, "
        "begin "
        "it again after it, and let one %s serve all",
        "把它移到第 %d 行的分支（`%s`）之外，因为有些线程不进入这个分支：在它之前结束分支，在它之后重新开始，"
        "所有线程共用一个 %s"},
    equal_rounds{
        "let all take as many rounds of the loop of line %d, `%s`: none may depend on the thread, and guard the "
        "work "
        "between the barriers with if",
        "让所有线程执行第 %d 行循环（`%s`）的轮数相同：轮数不能取决于线程，并用 if 保护同步点之间的工作"},
    set_before_sum{
        "nothing sets it before values are added: after line %d, where it is declared, let the threads set all %zu "
        "elements, to 0 for a sum, and put __syncthreads() after that",
        "累加之前没有给它赋初值：在声明它的第 %d 行之后，让线程给全部 %zu 个元素赋值（求和则为 0），然后加上 "
        "__syncthreads()"},
    set_or_index{
        "other elements of the array are set in \1: check the index here and there; or if threads without a value "
        "set nothing there, let them set the element, to 0 for a sum",
        "\1设置的是数组的其他元素：检查这里和那里的下标；如果没有值的线程在那里什么也不设置，就让它们给元素赋值"
        "（求和则为 0）"};

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
    one_thread{
        "check the index of line %d: two threads write one element (does it count the threads of a warp or tile, "
        "not "
        "those of the block?); if that is meant, let one of them write: if (threadIdx.x == 0)",
        "检查第 %d 行的下标：两个线程写同一个元素（它是否只在线程束或 tile 内编号，而不是在线程块内编号？）；"
        "如果是有意的，只让其中一个写：if (threadIdx.x == 0)"},
    equal_values{
        "nothing goes wrong while all write the same value in line %d; if one may write another, let one thread "
        "write",
        "只要都在第 %d 行写同一个值就不会出错；如果可能写不同的值，只让一个线程写"},
    own_element{
        "check the index `%s` in \1: it lets two threads change one element; if that is meant, let one thread "
        "write, or use an atomic",
        "检查\1的下标 `%s`：它使两个线程修改同一个元素；如果是有意的，只让一个线程写，或者使用原子操作"},
    index_of_blocks{
        "check the index `%s` in \1: two blocks use one element; a thread's own is blockIdx.x * blockDim.x + "
        "threadIdx.x, a block's own is blockIdx.x, and a loop over the grid goes on by blockDim.x * gridDim.x; if "
        "it "
        "is meant, let one block write, or use an atomic",
        "检查\1的下标 `%s`：两个线程块使用同一个元素；每个线程一个元素时是 blockIdx.x * blockDim.x + threadIdx.x，"
        "每个线程块一个元素时是 blockIdx.x，遍历整个网格的循环步长是 blockDim.x * gridDim.x；如果是有意的，"
        "只让一个线程块写，或者使用原子操作"},
    own_variable_words{
        "__shared__ in line %d makes `%s` one variable for all threads, but each sets it: if each has a value of "
        "its "
        "own, declare it without __shared__; if all share one, put __syncthreads() after it is set and before it "
        "is "
        "read, and change it by an atomic",
        "第 %d 行的 __shared__ 使 `%s` 成为所有线程共用的一个变量，而每个线程都设置它：如果各有各的值，就去掉 "
        "__shared__；如果共用一个值，就在设置之后、读取之前加上 __syncthreads()，并用原子操作修改它"};

// ---- out of bounds

constexpr Sentence one_too_far{"%zu elements end with number %zu: ", "%zu 个元素的最后一个编号是 %zu："},
    compared_there{"check the index of %s, and what line %d compares", "检查 %s 的下标，以及第 %d 行的比较"},
    check_first{"check the index of %s", "检查 %s 的下标"},
    either_or{
        ": either it is wrong, or the array is too small, or threads without such an element leave out this "
        "access, but not their other work",
        "：要么下标有误，要么数组太小，要么没有这个元素的线程只跳过这次访问，而不跳过其他工作"},
    pointer_is{"; in line %d, `%s = %s`, + counts elements of the pointer's type, not bytes",
               "；第 %d 行的 `%s = %s` 里，+ 以指针类型的元素计，而不是以字节计"},
    row_length{"; what multiplies a row's number is the length of this array's rows",
               "；与行号相乘的是这个数组每行的长度"},
    up_to{"; this line uses elements up to number %ld", "；这一行用到的元素编号最大是 %ld"},
    not_compared{"; the launch has %zu threads, and no condition compares the index",
                 "；启动了 %zu 个线程，而没有条件比较这个下标"};

}  // namespace cudacpu::race
