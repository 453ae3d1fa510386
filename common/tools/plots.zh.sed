# plots.zh.sed: the words of the plots in Chinese. plots.sh makes h200.zh.svg of h200.svg with it.
s/the tutorial’s kernel</教程的核函数</
s/the best kernel</最快的核函数</
s/a simple kernel</简单的核函数</
s/>copy alone</>只复制</
s/>pinned copy only:/>只复制：/
s/>CPU, 1 thread</>CPU，1 个线程</
s/>CPU, all threads</>CPU，全部线程</
s/>CPU \([0-9]*\) threads*:/>CPU，\1 个线程：/
s/time for 10,000,000 ints</10,000,000 个 int 的时间</
s/>Clocks of one block</>一个线程块的周期数</
s/>blocks of 256 threads</>线程块的个数，每块 256 个线程</
s/>G80 of 2006, 16 SMs</>G80，16 个 SM</
s/>NVIDIA H200, mean</>NVIDIA H200，平均</
s/>NVIDIA H200, p95</>NVIDIA H200，p95</
s/>one on</>每个 SM</
s/>each SM</>一块</
s/>full, 8</>满了，</
s/>on each</>各 8 块</
s/>\([0-9,]*\) blocks, the first 4 SMs, 8 blocks at a time on each</>\1 个线程块，前 4 个 SM，每个同时放 8 块</
s/>µs since the first block began (orange: had to wait)</>第一块开始后的 µs（橙色：等待过）</
s/>block \([0-9]*\) on SM \([0-9]*\): \([0-9.]*\) to \([0-9.]* µs\)</>线程块 \1，SM \2：\3 到 \4</
s/>\([0-9]*\) blocks*: G80 clocks \([0-9]*\)</>\1 个线程块：G80 上 \2 个周期</
s/>\([0-9]*\) blocks*: clocks mean \([0-9]*\)</>\1 个线程块：平均 \2 个周期</
s/>error</>误差</
s/>its bound</>误差界</
s/>time, µs</>时间，µs</
s/>relative error</>相对误差</
s/one float on CPU/CPU 上一个 float/
s/closed form/公式/
s/: bound \([0-9]\)/：误差界 \1/
s/: error \([0-9]\)/：误差 \1/
s/>elements</>元素个数</
s/>limit</>上限</
s/, \([0-9,]*\) elements: \([0-9.]* %\) of the limit</，\1 个元素：上限的 \2</
s/: \([0-9.]* [^ ]*s\), \([0-9.]* %\) of the limit</：\1，上限的 \2</
s/>limit, \([0-9.]*\) µs</>上限，\1 µs</
s/>\([A-Za-z]*\), \([0-9.]* µs\)</>\1，\2</
s/ no fence, no ticket</ 没有栅栏和取号</
s/ no second launch</ 没有第二次启动</
s/ no 4-byte loads</ 没有 4 字节的读取</
s/ fewer blocks</ 线程块变少</
s/ fewer barriers</ 同步变少</
s/ no idle threads</ 没有闲着的线程</
s/ no bank conflicts</ 没有 bank 冲突</
s/ no remainder</ 没有求模</
s/ fewer warps</ 更少的线程束</
s/>µs for ten million elements</>一千万个元素，µs</
s/>\([0-9]*\), wrong</>\1，错</
s/>µs for 16 million numbers, cold L2</>1600 万个数，L2 是冷的，µs</
s/>µs, \([0-9]*²\) pixels</>µs，\1 像素</
s/>Time to add ten million ints by the kind of memory that they are in, on an/>一千万个 int 放在不同种类的内存里，相加所用的时间，/
s/>Clocks of a block by the number of blocks, and when each block ran, on an/>线程块数不同时一个线程块的周期数，以及每块在何时运行，/
s/>Error and time of each dot product of \([0-9,]*\) elements, and % of the limit by size, on an/>\1 个元素的各种点积的误差和时间，以及各种规模下占上限的百分比，/
s/>Time of each rung for ten million ints, and % of the limit by size, on an/>各级对一千万个 int 所用的时间，以及各种规模下占上限的百分比，/
s/>Time of each sum of \([0-9,]*\) numbers in one word, on an/>\1 个数加到一个字里，各种求和所用的时间，/
s/>Time to draw a small and a large picture by variant, on an/>各版本画一幅小图和一幅大图的时间，/
