// sentences.hpp - what the advice says, in English and in Chinese. \1 stands for the numbers of lines.
#pragma once
#include "report/race_report.hpp"

namespace cudacpu::race {

// ---- edits

constexpr Sentence put_after{"put %s after \1", "在\1之后加上 %s"},
    put_after_in_loop{"put %s after \1, inside the loop", "在\1之后（循环内）加上 %s"},
    put_before{"put %s before \1", "在\1之前加上 %s"},
    write_for{"in line %d write `%s` for `%s`", "在第 %d 行写 `%s`，代替 `%s`"},
    write_for_lines{"write `%s` for lines %d to %d", "写 `%s`，代替第 %d 到 %d 行"};

// ---- a barrier

constexpr Sentence not_all_come{
    "not all threads come to lines %d and %d, because of line %d: let all threads of the block pass there, equally "
    "often, guard only the work with if, and put __syncthreads() between the two lines, outside of that if",
    "由于第 %3$d 行，并非所有线程都到达第 %1$d 行和第 %2$d 行：让线程块的所有线程都以相同的次数经过那里，只用 if "
    "保护其中的工作，并在这两行之间、该 if 之外加上 __syncthreads()"},
    all_must_read{
        "in \1, a thread reads what another writes: read into a variable first, put %1$s where all threads come, "
        "and write then; in a loop, put %1$s also at its end; or if that is not meant, check the index",
        "在\1，一个线程读取另一个线程写入的元素：先读入变量，在所有线程都会到达的地方加上 "
        "%1$s，然后再写；如果在循环中，循环末尾也要加上 %1$s；如果不是有意的，检查下标"},
    order{
        "line %d must come before line %d for all threads, or after it: take them apart, and put %s between them, "
        "where all threads come; in a loop, also at its end",
        "对所有线程来说，第 %d 行都要在第 %d 行之前或之后：把它们分开，并在两者之间所有线程都会到达的地方加上 "
        "%s；如果在循环中，循环末尾也要加上"},
    no_source{
        "order the two accesses: put %s between them, use an atomic (atomicAdd, ...), or let one thread write; "
        "blocks cannot wait for each other, so they need an atomic or a second kernel",
        "给两次访问规定先后：在它们之间加上 %s，使用原子操作（atomicAdd "
        "等），或者只让一个线程写；线程块不能互相等待，所以需要原子操作或者第二个核函数"};

// ---- threads that do not come

constexpr Sentence sent_away{
    "line %d sends away the threads with `%s`: let them stay, and guard with the opposite condition what needs an "
    "element, but no barrier; in a sum, they contribute 0",
    "第 %d 行让 `%s` "
    "的线程提前离开：让它们留下，用相反的条件保护需要元素的部分，但不要把同步点放在条件里；它们在求和中的值是 0"},
    present_lanes{
        "the function counts lanes, so the mask must name only those that are counted: take it once, before, from "
        "__ballot_sync() or __activemask()",
        "这个函数要数通道，所以掩码只能包含被数的通道：在之前由 __ballot_sync() 或 __activemask() 取得一次"},
    move_out{
        "move line %d out of the branch of line %d, `%s`, which some threads do not enter: close the branch before "
        "that line, and reopen it after",
        "把第 %d 行移到第 %d "
        "行的分支（`%s`）之外，因为有些线程不进入这个分支：在这一行之前结束分支，在它之后重新开始"},
    equal_rounds{
        "let all threads run the loop of line %d, `%s`, equally often: guard the work between the barriers with if",
        "让所有线程执行第 %d 行循环（`%s`）的次数相同：用 if 保护同步点之间的工作"},
    set_before_sum{
        "nothing sets it before values are added: after line %d, where it is declared, let the threads set all %zu "
        "elements, to 0 for a sum, and put __syncthreads() after that",
        "累加之前没有给它赋初值：在声明它的第 %d 行之后，让线程给全部 %zu 个元素赋值（求和则为 0），然后加上 "
        "__syncthreads()"},
    one_element{"element %s", "元素 %s"}, elements_to{"elements %s to %s", "元素 %s 到 %s"},
    and_also{" and %s", "、%s"},
    set_or_index{
        "no thread sets %s (\1: others): set them in a loop with the step blockDim.x, or load them from beside "
        "their neighbours' data; past the edge, use a value that does not change the result; or check the indices",
        "没有线程设置%s（\1：其他元素）：用步长为 blockDim.x "
        "的循环设置它们，或者从其邻居所取数据的旁边装入；超出数据边缘时取不改变结果的值；或者检查下标"};

// ---- an atomic

constexpr Sentence use_atomic{"use an atomic: ", "使用原子操作："},
    some_atomic{
        "use an atomic in line %d: atomicAdd, ... or a loop around atomicCAS; the elements need 4 bytes or more, "
        "and must not be volatile",
        "在第 %d 行使用原子操作：atomicAdd 等，或者 atomicCAS 循环；元素需要至少 4 个字节，并且不能是 volatile"},
    ask_by_atomic{
        "line %d reads what line %d sets, and another thread can set it in between: let one atomic do both "
        "(atomicMin, a loop around atomicCAS, ...); what is set together belongs in one 64-bit word, or needs a "
        "lock",
        "第 %d 行读取第 %d "
        "行所设置的值，而另一个线程可能在这期间设置它：用一个原子操作完成两步（atomicMin、atomicCAS "
        "循环等）；一起设置的值要放进一个 64 位的字，或者加锁"},
    ask_by_cas{
        "line %1$d reads what line %2$d sets, and another thread can set it in between: copy the value into `old`, "
        "test `old`, add `&& atomicCAS(&%3$s, old, %4$s) == old` to the condition, and drop the assignment",
        "第 %1$d 行读取第 %2$d 行所设置的值，而另一个线程可能在这期间设置它：把值复制到 `old`，用 `old` "
        "来判断，在条件中加上 `&& atomicCAS(&%3$s, old, %4$s) == old`，并删去赋值"},
    by_old_value{
        "line %1$d reads what line %2$d changes, and another thread can change it in between: in line %1$d take "
        "the old value that atomicAdd (or atomicExch) returns, and drop the change in line %2$d",
        "第 %1$d 行读取第 %2$d 行所修改的值，而另一个线程可能在这期间修改它：在第 %1$d 行使用 atomicAdd（或 "
        "atomicExch）返回的旧值，并删去第 %2$d 行的修改"},
    no_atomic{
        "line %d uses no atomic, and other threads change the value by atomics at the same time: set it before the "
        "launch (cudaMemset) or by atomicExch; take the old value that an atomic returns, or read it in the next "
        "kernel or by atomicAdd(&x, 0)",
        "第 %d 行没有用原子操作，而其他线程同时在用原子操作修改这个值：在启动之前（cudaMemset）或者用 atomicExch "
        "设置它；使用原子操作返回的旧值，或者由下一个核函数或用 atomicAdd(&x, 0) 来读"};

// ---- a fence

constexpr Sentence narrow_scope{
    "the fence or atomic of \1 has the scope of one block, and two blocks use the memory: take the form without "
    "_block, or cuda::thread_scope_device",
    "\1的栅栏或原子操作只对一个线程块有效，而两个线程块使用这块内存：去掉 _block，或者用 "
    "cuda::thread_scope_device"},
    set_too_early{
        "line %3$d sets the word too early: line %1$d waits for it, but line %2$d is not done yet; set it after "
        "line %2$d and a __threadfence(); if its value is needed before, let line %1$d wait for another word that "
        "is set there",
        "第 %3$d 行过早地设置了一个字：第 %1$d 行等待它，而第 %2$d 行还没有完成；在第 %2$d 行和 __threadfence() "
        "之后再设置它；如果之前就需要它的值，让第 %1$d 行等待另一个在那里设置的字"},
    look_again{
        "line %2$d may read a mix of old and new values: after it, put __threadfence(), and repeat the read of "
        "line %1$d; if the value has changed, repeat both reads",
        "第 %2$d 行读到的可能有新有旧：在它和 __threadfence() 之后，再读一次第 %1$d "
        "行读过的值；如果变了，就都重新读取"},
    set_by_atomic{"set the word in \1 by atomicExch() after __threadfence(), not by a plain store",
                  "\1不要用普通的写入，而要在 __threadfence() 之后用 atomicExch() 设置这个字"},
    wait_by_atomic{"wait in \1 by atomicAdd(&x, 0), not by a plain read",
                   "\1不要用普通的读取，而要用 atomicAdd(&x, 0) 等待"};

// ---- two blocks

constexpr Sentence other_array{
    "line %1$d changes what another block reads, and blocks cannot wait for each other: check its index; if it is "
    "meant, let line %1$d write into another array, and launch the kernel once a round; the new array also needs "
    "the elements that no thread changes",
    "第 %1$d 行修改了另一个线程块读取的元素，而线程块不能互相等待：检查它的下标；如果是有意的，让第 %1$d "
    "行写到另一个数组，并且每一轮启动一次核函数；没有线程修改的元素也要放进新数组"},
    second_kernel{
        "blocks cannot wait for each other: end the kernel after line %d, and do line %d in a second kernel",
        "线程块不能互相等待：在第 %d 行之后结束核函数，在第二个核函数里执行第 %d 行"};

// ---- an index

constexpr Sentence two_blocks{
    "check the index of line %d: two blocks write one element (should it hold blockIdx.x?); if that is meant, let "
    "one block write, or use an atomic",
    "检查第 %d 行的下标：两个线程块写同一个元素（是否应含有 "
    "blockIdx.x？）；如果是有意的，只让一个线程块写，或者使用原子操作"},
    one_thread{
        "check the index of line %d: two threads write one element (does it count the threads of a warp or tile, "
        "not those of the block?); if they share one result, let one write it: in each warp the first lane, in "
        "each block the first thread",
        "检查第 %d 行的下标：两个线程写同一个元素（它是否只在线程束或 tile "
        "内编号，而不是在线程块内编号？）；如果它们共有一个结果，只让一个来写：每个线程束的第一个通道，或者每个线程"
        "块的第一个线程"},
    equal_values{
        "nothing goes wrong while all write the same value in line %d; if one may write another, let one thread "
        "write",
        "只要都在第 %d 行写同一个值就不会出错；如果可能写不同的值，只让一个线程写"},
    hidden_step{
        "the blocks go over the same elements: check the step of the loop of line %d; over the whole grid, it is "
        "blockDim.x * gridDim.x",
        "各线程块遍历同样的元素：检查第 %d 行循环的步长；遍历整个网格时，步长是 blockDim.x * gridDim.x"},
    step_of_grid{
        "the blocks go over the same elements, because the loop of line %d goes on by one block's threads, `%s`: "
        "over the whole grid, the step is blockDim.x * gridDim.x",
        "各线程块遍历同样的元素，因为第 %d 行的循环每次只前进一个线程块的线程数，`%s`：遍历整个网格时，步长是 "
        "blockDim.x * gridDim.x"},
    own_element{
        "check the index `%s` in \1: it lets two threads change one element; if that is meant, let one thread "
        "write, or use an atomic",
        "检查\1的下标 `%s`：它使两个线程修改同一个元素；如果是有意的，只让一个线程写，或者使用原子操作"},
    lacks_block{
        "the index `%1$s` in \1 does not depend on blockIdx.%2$s, so blocks share elements: a thread's own number "
        "is blockIdx.%2$s * blockDim.%2$s + threadIdx.%2$s, a block's own is blockIdx.%2$s; or let one block write",
        "\1的下标 `%1$s` 与 blockIdx.%2$s 无关，所以线程块共用元素：每个线程自己的编号是 blockIdx.%2$s * "
        "blockDim.%2$s + threadIdx.%2$s，每个线程块自己的编号是 blockIdx.%2$s；或者只让一个线程块写"},
    parts_share{
        "check where `%s` and `%s` begin in \1: they share this element; + counts elements of the pointer's type, "
        "and the second part begins after all bytes of the first",
        "检查\1中 `%s` 和 `%s` 的起点：它们共用这个元素；+ "
        "以指针类型的元素计，第二部分要在第一部分的全部字节之后开始"},
    own_variable_words{
        "__shared__ in line %d makes `%s` one variable for all threads, but each sets it: if each has its own "
        "value, drop __shared__; else put __syncthreads() after it is set, and change it by an atomic",
        "第 %d 行的 __shared__ 使 `%s` 成为所有线程共用的一个变量，而每个线程都设置它：如果各有各的值，就去掉 "
        "__shared__；否则在设置之后加上 __syncthreads()，并用原子操作修改它"};

// ---- the host's calls

constexpr Sentence same_memory{
    "line %1$d passes the same memory for `%2$s` and `%3$s`: pass another array for the one that is written, and "
    "in a loop, swap the two after each launch; the new array also needs the elements that no thread changes",
    "第 %1$d 行把同一块内存传给 `%2$s` 和 "
    "`%3$s`"
    "：给被写入的那个传另一个数组，并且如果在循环中，每次启动之后交换这两个数组；没有线程修改的元素也要放进去"},
    counted_elements{
        "%1$s gives %2$zu bytes, and the accesses need %3$zu: if %2$zu is a number of elements, multiply it by "
        "%4$zu, the bytes of each; if not, check the index",
        "%1$s给出 %2$zu 字节，而访问需要 %3$zu 字节：如果 %2$zu 是元素个数，就乘以每个元素的字节数 "
        "%4$zu；否则检查下标"},
    third_argument{"the third argument of <<<>>> in %s", "%s中 <<<>>> 的第三个参数"};

// ---- out of bounds

constexpr Sentence check_first{"check the index of %s", "检查%s的下标"}, this_line{"this line", "这一行"},
    compared_there{", or the condition of line %d, which lets it pass: `%s`",
                   "，或者第 %d 行没有拦住它的条件：`%s`"},
    not_compared{": the launch has %zu threads, and no condition compares it",
                 "：启动了 %zu 个线程，而没有条件比较它"},
    either_or{
        "; or make the array longer; a thread without an element must skip only this access, not its other work",
        "；或者加长数组；没有这个元素的线程只跳过这次访问，而不跳过其他工作"},
    pitch_counts_bytes{
        "a pitch is in bytes, but + counts elements: row y begins at `(T*)((char*)p + y * pitch)`, where T is the "
        "type of an element; if the code does so already, check the index",
        "pitch 以字节计，而 + 以元素计：第 y 行从 `(T*)((char*)p + y * pitch)` 开始，T "
        "是元素的类型；如果已经如此，检查下标"},
    whole_vectors{
        "`%1$s` number i covers elements %2$d * i to %2$d * i + %3$d, and only n / %2$d whole ones are there: ",
        "第 i 个 `%1$s` 包括元素 %2$d * i 到 %2$d * i + %3$d，而那里只有 n / %2$d 个完整的："},
    rounds_up{"line %d rounds their number up, `%s`: write `%s`, and do the rest one by one",
              "第 %d 行向上取整，`%s`：写 `%s`，其余的元素逐个处理"},
    round_down{
        "let the guard ask for the last of them (i + %d < n), or round their number down where it is calculated; "
        "do the rest one by one",
        "用条件检查其中最后一个元素（i + %d < n），或者计算个数时向下取整；其余的元素逐个处理"},
    or_less{" (should `<=` be `<`?)", "（`<=` 是否应为 `<`？）"},
    one_not_compared{": no condition compares `%2$s` of line %1$d", "：没有条件比较第 %1$d 行的 `%2$s`"},
    row_length{"; in row * length + column, length is the length of this array's rows, and column < length",
               "；在 行 * 长度 + 列 中，长度是这个数组每行的长度，而且列 < 长度"},
    pointer_is{"; in line %d, `%s`, + counts elements, not bytes",
               "；第 %d 行的 `%s` 里，+ 以元素计，而不是以字节计"},
    longer{"make the array longer, because this line uses elements up to number %ld; or ",
           "加长数组，因为这一行用到的元素编号最大是 %ld；或者"};

}  // namespace cudacpu::race
