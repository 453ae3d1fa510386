// 06_shared_image - what does a missing barrier look like?
//
// A grey picture of waves, 16 x 16 pixels a block. Each thread computes one pixel into shared
// memory and writes the one that the thread opposite has computed, which turns each tile by half.
// Without a barrier in between, some threads read a pixel that is not there yet.
//
//   tutorial        the sines' phase in double, then tile[tx][ty]    slow: arithmetic in double
//   tutorial_float  the phase in float                               slow: bank conflicts
//   conflict_free   tile[ty][tx]: neighbours use neighbouring words  slow: two sines a pixel
//   no_shared       each thread computes the pixel that it writes    slow: two sines a pixel
//   separable       a tile's 16 + 16 sines: pixel = column * row     slow: stores of one byte
//   wide_stores     16 pixels a store, a strip of 512 x 128 a block  slow: converts each pixel
//   no_conversion   an addition leaves the pixel in the last byte    the memory's speed
//
//   06_shared_image --out picture.png                        write the picture
//   06_shared_image --wrong no_barrier --out wrong.png       write it without the barrier
//   nvcc -std=c++17 -arch=native -Icommon -I/usr/include/opencv4 06_shared_image/shared_image.cu
//       common/lab.cpp common/write_file.cpp -lopencv_imgcodecs -lopencv_core -o shared_image
#include <opencv2/core.hpp>
#ifdef LAB_WINDOWS  // the build found OpenCV's highgui
#include <opencv2/highgui.hpp>
#endif
#include "lab.cuh"
#include "picture.hpp"  // sizes of pictures, and files of them

constexpr int side = 16;                // of a tile, and of a block of threads
constexpr float period = 128.0f;        // pixels from crest to crest
constexpr double pi = 3.1415926;        // the tutorial's, and a double as there
constexpr float float_pi = 3.1415926f;  // the later rungs'
constexpr int most_columns = 1 << 30, most_rows = 65535 * side;  // the latter by gridDim.y
static_assert((side & (side - 1)) == 0, "x ^ (side - 1) must be the opposite place in x's tile");

// ---- CPU reference ------------------------------------------------------------------------------

// The argument of the sine. Host and device round alike, so both take the sine of the same number.
float phase_in_double(int at) { return float(at * 2.0f * pi / period); }
float phase_in_float(int at) { return at * 2.0f * float_pi / period; }

// A pixel is a wave across times a wave down, from 0 to 255. Each tile is turned by half.
__host__ __device__ constexpr int opposite(int at) { return at ^ (side - 1); }
std::vector<double> cpu_wave(int length, float (*phase)(int)) {
    std::vector<double> wave(length);
    for (int at = 0; at < length; ++at) wave[at] = std::sin(double(phase(opposite(at)))) + 1;
    return wave;
}
double cpu_reference(double across, double down) { return 255 * across * down / 4; }

// ---- the tutorial's kernel ----------------------------------------------------------------------

// A thread computes its own pixel into the tile, and writes the one of the thread opposite.
__global__ void tutorial(unsigned char* image, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    // Differs: a row is as long as the picture is wide, not the grid; the index may pass 2^31.
    const int64_t pixel = int64_t(y) * width + x;
    __shared__ float tile[side][side];
    const float column = sinf(x * 2.0f * pi / period) + 1.0f;  // the product is a double, as pi is
    const float row = sinf(y * 2.0f * pi / period) + 1.0f;
    tile[threadIdx.x][threadIdx.y] = 255 * column * row / 4.0f;
    __syncthreads();  // the tile is complete: the next line reads what another thread has written
    // Differs: the picture may end within a tile. Only the store is guarded, because all threads
    // must arrive at the barrier.
    if (x < width && y < height)
        image[pixel] = tile[side - 1 - threadIdx.x][side - 1 - threadIdx.y];
}

// ---- the tutorial's whole program ---------------------------------------------------------------

bool show_window = false;                // the option --show
bool is_right(int pixel, double exact);  // see "how exact a pixel is", below

// The end of the tutorial's program: a window shows the picture until a key is pressed.
void open_window([[maybe_unused]] const cv::Mat& picture) {
#ifdef LAB_WINDOWS
    if (std::getenv("DISPLAY") || std::getenv("WAYLAND_DISPLAY")) {
        std::printf("press a key in the window to go on\n");
        cv::namedWindow("06_shared_image", cv::WINDOW_NORMAL);
        cv::imshow("06_shared_image", picture);
        cv::waitKey(0);
        return;
    }
#endif
    std::printf("--show: no display here, or OpenCV has no windows; type --out picture.png\n");
    show_window = false;  // once is enough
}

bool whole_program() {
    constexpr int width = 1024, height = 1024;
    cv::Mat image(height, width, CV_8UC1, cv::Scalar::all(0));  // grey, one byte a pixel
    unsigned char* d_image = nullptr;
    CHECK(cudaMalloc(&d_image, width * height));
    const dim3 blocks(width / side, height / side), threads(side, side);
    tutorial<<<blocks, threads>>>(d_image, width, height);
    CHECK(cudaGetLastError());       // was the launch legal?
    CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?
    CHECK(cudaMemcpy(image.data, d_image, width * height, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_image));
    if (show_window) open_window(image);  // the tutorial always does, and ends

    // A viewer cannot tell 254 from 255, so compare every pixel.
    const std::vector<double> across = cpu_wave(width, phase_in_double);
    const std::vector<double> down = cpu_wave(height, phase_in_double);
    int wrong = 0;
    double cpu_sum = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const double exact = cpu_reference(across[x], down[y]);
            cpu_sum += int(exact);
            if (!is_right(image.at<unsigned char>(y, x), exact)) ++wrong;
        }
    std::printf("mean grey %.4f, on the CPU %.4f; %d of %d pixels are wrong\n", cv::mean(image)[0],
                cpu_sum / (width * height), wrong, width * height);
    return wrong == 0;
}

// ---- the rungs, slow to fast --------------------------------------------------------------------

struct Image {  // what a kernel needs
    unsigned char* pixels;
    int width, height;
    // Tiles cover the whole picture and may reach over its edges.
    __device__ void put(int x, int y, float brightness) const {
        if (x < width && y < height) pixels[int64_t(y) * width + x] = brightness;
    }
};
struct Job {  // what a launch needs
    Image image;
    cv::Mat picture;                       // its pixels, copied to the host
    cv::Mat cpu_picture;                   // what they should be
    float (*phase)(int) = phase_in_float;  // what the launched kernel takes the sine of
    std::string drawn_by = "";             // the last variant

    dim3 block() const { return dim3(side, side); }  // a thread for each pixel of a tile
    dim3 tiles() const { return cover(side, side); }
    dim3 cover(int w, int h) const {  // blocks of w x h pixels, rounded up
        return dim3((image.width + w - 1) / w, (image.height + h - 1) / h);
    }
};

// Differs: the grid is rounded up, so that it covers a picture of any size.
void launch_tutorial(Job& job) {
    job.phase = phase_in_double;
    tutorial<<<job.tiles(), job.block()>>>(job.image.pixels, job.image.width, job.image.height);
}

// This thread's pixel of the picture.
__device__ int global_x() { return blockIdx.x * side + threadIdx.x; }
__device__ int global_y() { return blockIdx.y * side + threadIdx.y; }

// A pixel is a column's factor times a row's. With a float pi the phase is also a float.
__device__ float column(int x) { return 255.0f * (sinf(x * 2.0f * float_pi / period) + 1.0f); }
__device__ float row(int y) { return (sinf(y * 2.0f * float_pi / period) + 1.0f) / 4.0f; }

// The tutorial's steps without a double. A warp's 32 threads store to words 16 apart, so 8 threads
// meet in a bank.
__global__ void tutorial_float(Image image) {
    __shared__ float tile[side][side];
    const int tx = threadIdx.x, ty = threadIdx.y, x = global_x(), y = global_y();
    tile[tx][ty] = column(x) * row(y);
    __syncthreads();  // the tile is complete
    image.put(x, y, tile[side - 1 - tx][side - 1 - ty]);
}
void launch_tutorial_float(Job& job) { tutorial_float<<<job.tiles(), job.block()>>>(job.image); }

// The indices change places: a warp's 32 threads store to 32 neighbouring words, each in a bank of
// its own.
__global__ void conflict_free(Image image) {
    __shared__ float tile[side][side];
    const int tx = threadIdx.x, ty = threadIdx.y, x = global_x(), y = global_y();
    tile[ty][tx] = column(x) * row(y);
    __syncthreads();  // the tile is complete
    image.put(x, y, tile[side - 1 - ty][side - 1 - tx]);
}
void launch_conflict_free(Job& job) { conflict_free<<<job.tiles(), job.block()>>>(job.image); }

// The thread computes the opposite pixel in the first place: no tile and no barrier.
__global__ void no_shared(Image image) {
    const int x = global_x(), y = global_y();
    image.put(x, y, column(opposite(x)) * row(opposite(y)));
}
void launch_no_shared(Job& job) { no_shared<<<job.tiles(), job.block()>>>(job.image); }

// Shared memory where it saves work: 32 threads compute the sines that all 256 use.
__global__ void separable(Image image) {
    __shared__ float columns[side], rows[side];
    const int tx = threadIdx.x, ty = threadIdx.y, x = global_x(), y = global_y();
    if (ty == 0) columns[tx] = column(x);
    if (ty == 1) rows[tx] = row(blockIdx.y * side + tx);
    __syncthreads();  // all 16 columns and all 16 rows are there
    image.put(x, y, columns[side - 1 - tx] * rows[side - 1 - ty]);
}
void launch_separable(Job& job) { separable<<<job.tiles(), job.block()>>>(job.image); }

// In the last rungs a block draws a strip of 512 x 128 pixels. A warp stores 512 bytes of one row,
// and then goes on to the row 8 further down. Each thread keeps its 16 columns in registers.
constexpr int warp = 32;       // threads of a warp, called its lanes
constexpr int per_store = 16;  // pixels, one byte each
constexpr int strip_width = warp * per_store, strip_rows = 128;
constexpr int strip_threads = 256, strip_warps = strip_threads / warp;
static_assert(per_store == sizeof(uint4), "a store must hold whole pixels");
static_assert(strip_width % side == 0 && strip_rows % side == 0, "a strip must hold whole tiles");
static_assert(strip_rows <= strip_threads, "a thread computes one row's sine at most");

struct Strip {                           // in shared memory
    float columns[per_store][warp + 1];  // a lane's column k is [k][lane]: a bank for each lane
    float rows[strip_rows];
};

// Computes the sines of the block's strip: one for each column, and one for each row.
__device__ void compute_sines(Strip& strip) {
    const int tid = threadIdx.x, left = blockIdx.x * strip_width, top = blockIdx.y * strip_rows;
    for (int i = tid; i < strip_width; i += strip_threads)
        strip.columns[i % per_store][i / per_store] = column(opposite(left + i));
    if (tid < strip_rows) strip.rows[tid] = row(opposite(top + tid));
}

// Packs four pixels, each in the last byte of its word, into one word. The third argument of
// __byte_perm names the bytes to take: 0x40 the last of each word, 0x5410 the last two of each.
__device__ unsigned pack_four(unsigned a, unsigned b, unsigned c, unsigned d) {
    const unsigned low = __byte_perm(a, b, 0x40), high = __byte_perm(c, d, 0x40);
    return __byte_perm(low, high, 0x5410);
}

// Stores sixteen pixels, four in a word, to row y from x on. If the width is a multiple of 16, each
// row is aligned to 16 bytes, and one store writes all. Else each pixel within the picture has a
// store of its own.
__device__ void store_sixteen(Image image, int x, int y, const unsigned* words) {
    unsigned char* to = image.pixels + int64_t(y) * image.width + x;
    if (image.width % per_store == 0) {  // __stcs: the pixels need not stay in a cache
        __stcs(reinterpret_cast<uint4*>(to), make_uint4(words[0], words[1], words[2], words[3]));
        return;
    }
    for (int k = 0; k < per_store; ++k)
        if (x + k < image.width) to[k] = words[k / 4] >> 8 * (k % 4);
}

// The brightness as a byte, rounded down. A GPU has few converters from float to integer: 16 a
// clock and SM on many.
__device__ unsigned convert(float column, float row) { return column * row; }

// 16 pixels a thread and store, and 512 + 128 sines a strip.
__global__ void wide_stores(Image image) {
    __shared__ Strip strip;
    compute_sines(strip);
    __syncthreads();  // all columns and rows of the strip are there
    const int tid = threadIdx.x, lane = tid % warp, top = blockIdx.y * strip_rows;
    const int x = blockIdx.x * strip_width + lane * per_store;
    if (x >= image.width) return;
    float columns[per_store];
    for (int k = 0; k < per_store; ++k) columns[k] = strip.columns[k][lane];
    for (int i = tid / warp; i < strip_rows && top + i < image.height; i += strip_warps) {
        const float row = strip.rows[i];
        unsigned words[per_store / 4];
        for (int k = 0; k < per_store; k += 4)
            words[k / 4] = pack_four(convert(columns[k], row), convert(columns[k + 1], row),
                                     convert(columns[k + 2], row), convert(columns[k + 3], row));
        store_sixteen(image, x, top + i, words);
    }
}
void launch_wide_stores(Job& job) {
    wide_stores<<<job.cover(strip_width, strip_rows), strip_threads>>>(job.image);
}

// The same byte by adding a magic number. From 2^23 on, a float's last bit is worth 1, so this sum
// is a whole number, and its last byte is the pixel. Rounded to the nearest after adding 255.5, a
// number is 256 more than rounded down. (A whole number is a tie then, and may lose 1, as the
// number a last bit below it does.)
__device__ unsigned add_magic(float column, float row) {
    return __float_as_uint(fmaf(column, row, 0.5f) + (8388608.0f + 255.0f));
}

// An addition in place of the conversion.
__global__ void no_conversion(Image image) {
    __shared__ Strip strip;
    compute_sines(strip);
    __syncthreads();  // all columns and rows of the strip are there
    const int tid = threadIdx.x, lane = tid % warp, top = blockIdx.y * strip_rows;
    const int x = blockIdx.x * strip_width + lane * per_store;
    if (x >= image.width) return;
    float columns[per_store];
    for (int k = 0; k < per_store; ++k) columns[k] = strip.columns[k][lane];
    for (int i = tid / warp; i < strip_rows && top + i < image.height; i += strip_warps) {
        const float row = strip.rows[i];
        unsigned words[per_store / 4];
        for (int k = 0; k < per_store; k += 4)
            words[k / 4] =
                pack_four(add_magic(columns[k], row), add_magic(columns[k + 1], row),
                          add_magic(columns[k + 2], row), add_magic(columns[k + 3], row));
        store_sixteen(image, x, top + i, words);
    }
}
void launch_no_conversion(Job& job) {
    no_conversion<<<job.cover(strip_width, strip_rows), strip_threads>>>(job.image);
}

// ---- wrong twins: the classic mistakes ----------------------------------------------------------

// No barrier: a thread that comes early reads a pixel that is not there yet.
__global__ void no_barrier(Image image) {
    __shared__ float tile[side][side];
    const int tx = threadIdx.x, ty = threadIdx.y, x = global_x(), y = global_y();
    tile[tx][ty] = column(x) * row(y);
    image.put(x, y, tile[side - 1 - tx][side - 1 - ty]);
}
void launch_no_barrier(Job& job) { no_barrier<<<job.tiles(), job.block()>>>(job.image); }

// Written as tile[tx][ty], read as tile[ty][tx]: the tile is turned and mirrored.
__global__ void swapped_index(Image image) {
    __shared__ float tile[side][side];
    const int tx = threadIdx.x, ty = threadIdx.y, x = global_x(), y = global_y();
    tile[tx][ty] = column(x) * row(y);
    __syncthreads();  // the tile is complete
    image.put(x, y, tile[side - 1 - ty][side - 1 - tx]);
}
void launch_swapped_index(Job& job) { swapped_index<<<job.tiles(), job.block()>>>(job.image); }

// The tutorial's own index: a row is as long as the grid is wide. Right only if the width is a
// multiple of 16.
__global__ void grid_as_width(Image image) {
    __shared__ float tile[side][side];
    const int tx = threadIdx.x, ty = threadIdx.y, x = global_x(), y = global_y();
    tile[tx][ty] = column(x) * row(y);
    __syncthreads();  // the tile is complete
    const int64_t at = x + int64_t(y) * gridDim.x * blockDim.x;
    if (at < int64_t(image.width) * image.height)
        image.pixels[at] = tile[side - 1 - tx][side - 1 - ty];
}
void launch_grid_as_width(Job& job) { grid_as_width<<<job.tiles(), job.block()>>>(job.image); }

// The tutorial's own grid: width / 16 blocks in a row. The rest of the picture is never drawn.
void launch_dropped_edge(Job& job) {
    job.phase = phase_in_double;
    const dim3 blocks(std::max(1, job.image.width / side), job.tiles().y);
    tutorial<<<blocks, job.block()>>>(job.image.pixels, job.image.width, job.image.height);
}

// add_magic() without its 255.5: the addition rounds to the nearest, and half of the pixels are one
// too bright. A viewer does not see it; only a strict comparison does.
__device__ unsigned nearest(float column, float row) {
    return __float_as_uint(column * row + 8388608.0f);
}
__global__ void rounded(Image image) {
    __shared__ Strip strip;
    compute_sines(strip);
    __syncthreads();  // all columns and rows of the strip are there
    const int tid = threadIdx.x, lane = tid % warp, top = blockIdx.y * strip_rows;
    const int x = blockIdx.x * strip_width + lane * per_store;
    if (x >= image.width) return;
    float columns[per_store];
    for (int k = 0; k < per_store; ++k) columns[k] = strip.columns[k][lane];
    for (int i = tid / warp; i < strip_rows && top + i < image.height; i += strip_warps) {
        const float row = strip.rows[i];
        unsigned words[per_store / 4];
        for (int k = 0; k < per_store; k += 4)
            words[k / 4] = pack_four(nearest(columns[k], row), nearest(columns[k + 1], row),
                                     nearest(columns[k + 2], row), nearest(columns[k + 3], row));
        store_sixteen(image, x, top + i, words);
    }
}
void launch_rounded(Job& job) {
    rounded<<<job.cover(strip_width, strip_rows), strip_threads>>>(job.image);
}

// ---- how exact a pixel is -----------------------------------------------------------------------

// The most by which a kernel's float may differ from the reference. In units of 2^-24:
//   sine + 1, at most 2: the sine errs by 2 units in its last place (CUDA C++ Programming Guide),
//     which are 2, and the sum is rounded by 1. Of two such factors and of a brightness of at most
//     255: 2 * 3 / 2 * 255 = 765
//   255 * (sine + 1), at most 510, is rounded by 256; times the other factor, at most 2 / 4: 128
//   the product, at most 255, is rounded by 128 (no_conversion: once, with 0.5 added)
// Together 1021. The products of errors add less than 1. All kernels have the same slack.
constexpr double slack = 1024.0 / (1 << 24);

// The fraction is cut off, so a pixel may be off by one if a whole number is within the slack.
bool is_right(int pixel, double exact) {
    const int least = int(exact - slack), most = int(exact + slack);
    return least <= pixel && pixel <= most;
}

// ---- check, table, main -------------------------------------------------------------------------

constexpr lab::Variant<Job> variants[] = {
    {"tutorial", "tile[tx][ty], the phase in double", launch_tutorial},
    {"tutorial_float", "the same, the phase in float", launch_tutorial_float},
    {"conflict_free", "tile[ty][tx]", launch_conflict_free},
    {"no_shared", "every thread computes the pixel that it writes", launch_no_shared},
    {"separable", "one sine a row and column of a tile", launch_separable},
    {"wide_stores", "16 pixels a store, strips of 512 x 128", launch_wide_stores},
    {"no_conversion", "an addition leaves the pixel in the last byte", launch_no_conversion},
};
constexpr lab::Variant<Job> twins[] = {
    {"no_barrier", "reads the tile before it is complete", launch_no_barrier},
    {"swapped_index", "writes tile[tx][ty], reads tile[ty][tx]", launch_swapped_index},
    {"grid_as_width", "takes the grid's width for the picture's", launch_grid_as_width},
    {"dropped_edge", "width / 16 blocks: the edge is never drawn", launch_dropped_edge},
    {"rounded", "rounds to the nearest: half of the pixels are off by one", launch_rounded},
};

void prepare(Job& job) {
    job.phase = phase_in_float;
    CHECK(cudaMemsetAsync(job.image.pixels, 0xff, job.picture.total()));  // poison
}

void check(Job& job, lab::Row& row) {
    const int width = job.image.width, height = job.image.height;
    const int64_t n = int64_t(width) * height;
    CHECK(cudaMemcpy(job.picture.data, job.image.pixels, n, cudaMemcpyDeviceToHost));
    const auto across = cpu_wave(width, job.phase), down = cpu_wave(height, job.phase);
    int64_t wrong = 0, off_by_one = 0, may_be_off = 0;
    std::string first;  // of the wrong ones
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const double exact = cpu_reference(across[x], down[y]);
            const int pixel = job.picture.at<unsigned char>(y, x), want = int(exact);
            job.cpu_picture.at<unsigned char>(y, x) = want;
            const bool right = is_right(pixel, exact);
            if (!right && wrong++ == 0)
                first = lab::text("at x %d, y %d: got %d, wanted %d", x, y, pixel, want);
            off_by_one += right && pixel != want;
            may_be_off += is_right(want - 1, exact) || is_right(want + 1, exact);
        }
    const std::string of_all = lab::with_commas(wrong) + " of " + lab::with_commas(n);
    row.wrong = wrong == 0 ? "" : of_all + " pixels, the first " + first;
    row.result = lab::text("mean grey %.4f", cv::mean(job.picture)[0]);
    row.bytes = double(n);
    row.columns = {lab::with_commas(off_by_one), lab::with_commas(may_be_off)};
    job.drawn_by = row.variant;
}

// The size that was typed. Refuses one that is too large, counting the pixels of whole tiles.
cv::Size choose_size(lab::Sample& sample, int64_t& width, int64_t& height) {
    const bool by_sides = width || height;
    if (by_sides && sample.typed("--n"))
        sample.refuse("--n excludes --width and --height; type one or the others");
    if (!by_sides) lab::squarest(sample.n(), width, height);
    if (!width || !height) width = height = std::max(width, height);
    const auto smaller = by_sides ? lab::type_sides : lab::type_n;
    if (width > most_columns || height > most_rows)
        sample.refuse("too wide or too high; type %s", smaller(1 << 20).c_str());
    const bool edge = sample.wants_twin("grid_as_width") || sample.wants_twin("dropped_edge");
    if (edge && width % side == 0) {
        sample.say("(one pixel narrower: with a multiple of %d this mistake does not show)", side);
        --width;
    }
    sample.set_n(width * height);
    const int64_t cost = std::max<int64_t>(width, side) * std::max<int64_t>(height, side);
    sample.require_memory(sample.shows_limit() ? 2 : 1, 0,
                          {cost, by_sides ? "--width times --height, " : "--n", smaller});
    return cv::Size(int(width), int(height));
}

int main(int argc, char** argv) {
    lab::Sample sample("06_shared_image", "What does a missing barrier look like?");
    int64_t width = 0, height = 0;
    std::string out, cpu_out;
    sample.defaults(1024 * 1024, 0, 0, "pixels, in the squarest picture that has so many", "");
    sample.option("--width", width, 1, most_columns, "pixels a row, instead of --n");
    sample.option("--height", height, 1, most_rows, "rows (default: as many as --width)");
    sample.file_option("--out", out, "write the last variant's or twin's picture to it (.png)");
    sample.file_option("--cpu-out", cpu_out, "write the CPU's picture to it (.png)");
    sample.option("--show", show_window, "show the pictures in a window, as the tutorial does");
    sample.variant("whole_program", "the tutorial's whole program, on its own sizes");
    sample.variants(variants);
    sample.twins(twins);
    sample.start(argc, argv);
    const bool draws = sample.wants_any(variants) || sample.wants_any(twins);
    if (!draws && !(out + cpu_out).empty())
        sample.refuse("the whole program keeps no picture; type another variant after --only");
    lab::require_writer(sample, {out, cpu_out});
    const cv::Size size = choose_size(sample, width, height);
    if (sample.wants("whole_program")) sample.program(whole_program);
    if (!draws) return sample.verdict();

    Job job{{nullptr, size.width, size.height}, {size, CV_8UC1}, {size, CV_8UC1}};
    CHECK(cudaMalloc(&job.image.pixels, sample.n()));
    sample.new_table(lab::text("a grey picture of %d x %d pixels", size.width, size.height));
    sample.columns({"off by one", "may be"});
    sample.limit_row(lab::Limit::set, sample.n());
    sample.rows(job, variants, prepare, check);
    sample.rows(job, twins, prepare, check);
    CHECK(cudaFree(job.image.pixels));  // before any file is written
    sample.say("may be: pixels that rounding may change by one; off by one: those that it changed");
    lab::write_picture(sample, out, job.picture, job.drawn_by);
    if (show_window) open_window(job.picture);
    lab::write_picture(sample, cpu_out, job.cpu_picture, "the CPU");
    return sample.verdict();
}
