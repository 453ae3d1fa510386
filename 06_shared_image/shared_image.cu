// 06_shared_image - what does a missing barrier look like?
//
// A grey picture of waves, 16 x 16 pixels a block. Every thread computes one pixel into shared memory, and writes
// the one that the thread opposite has computed: each tile of the picture is turned by half. Without a barrier
// between the two, some threads read before the others have written, and the picture shows where.
//
//   tutorial        tile[tx][ty]: neighbouring threads use words 16 apart   slow: bank conflicts, two sines a pixel
//   conflict_free   tile[ty][tx]: neighbouring threads use neighbouring words       slow: still two sines a pixel
//   no_shared       every thread computes the opposite pixel itself: no tile, no barrier    slow: two sines a pixel
//   separable       16 + 16 sines a tile are enough: pixel = column * row           slow: stores of one byte
//   wide_stores     16 pixels a thread and store, a strip of 512 x 128 a block      slow: each pixel is converted
//   no_conversion   the addition leaves the pixel in the float's last byte          the memory's speed
//
//   06_shared_image --out picture.png                        write the picture
//   06_shared_image --wrong no_barrier --out wrong.png       write it without the barrier
//   06_shared_image --width 1000 --height 17                 any size
//   06_shared_image --show                                   open a window
#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#ifdef LAB_WINDOWS  // the build found OpenCV's highgui
#include <opencv2/highgui.hpp>
#endif

#include "lab.cuh"

constexpr int side = 16;          // of a tile
constexpr int period = 128;       // pixels from crest to crest
constexpr float pi = 3.1415926f;  // as the tutorial has it
constexpr int warp = 32;
constexpr int per_store = 16;                                    // pixels, one byte each
constexpr int strip_width = warp * per_store, strip_rows = 128;  // what a block of wide_stores makes
constexpr int strip_threads = 256;
constexpr int most_rows = 65535 * side;  // CUDA's greatest gridDim.y
static_assert(side * side % warp == 0, "a block must be made of whole warps");
static_assert((side & (side - 1)) == 0, "x ^ (side - 1) must be the opposite place in x's tile");
static_assert(per_store == sizeof(uint4), "a store must hold whole pixels");
static_assert(strip_width % side == 0 && strip_rows % side == 0, "a strip must hold whole tiles");
static_assert(strip_rows <= strip_threads, "a thread computes one row's sine at most");

// ---- the answer, slowly ----------------------------------------------------------------------------------------

/// The wave's phase at pixel `at`: float on both sides, so that host and device take the sine of the same number.
__host__ __device__ float phase(int at) { return float(at) * 2.0f * pi / period; }

/// The picture in double, one wave across and one down. Every tile is turned by half: x is drawn at x ^ 15.
struct Picture {
    std::vector<double> across, down;
    Picture(int width, int height) : across(width), down(height) {
        for (int x = 0; x < width; ++x) across[x] = std::sin(double(phase(x ^ (side - 1)))) + 1;
        for (int y = 0; y < height; ++y) down[y] = std::sin(double(phase(y ^ (side - 1)))) + 1;
    }
    double at(int x, int y) const { return 255 * across[x] * down[y] / 4; }
};

// How far a kernel's float may lie from that: each sine errs by 2^-23 at most (2 units in the last place, CUDA C++
// Programming Guide), each sine + 1 is rounded by 2^-23 more, each of up to four later results by 2^-24 of 255, and
// no_conversion rounds down a little late. If a whole number lies within this distance, either side of it is right.
constexpr double slack = 255.0 * 12 / (1 << 24);

// ---- the kernels, slow to fast ---------------------------------------------------------------------------------

__device__ float column(int x) { return 255.0f * (sinf(phase(x)) + 1.0f); }
__device__ float row(int y) { return (sinf(phase(y)) + 1.0f) / 4.0f; }

// The tutorial's. Threads outside of the picture compute, too: the opposite pixel may lie inside, and all threads
// of a block must come to the barrier.
__global__ void tutorial(unsigned char* image, int width, int height) {
    __shared__ float tile[side][side];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * side + tx, y = blockIdx.y * side + ty;
    tile[tx][ty] = column(x) * row(y);
    __syncthreads();  // the tile is complete: the next line reads what another thread has written
    if (x < width && y < height) image[int64_t(y) * width + x] = tile[side - 1 - tx][side - 1 - ty];
}

__global__ void conflict_free(unsigned char* image, int width, int height) {
    __shared__ float tile[side][side];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * side + tx, y = blockIdx.y * side + ty;
    tile[ty][tx] = column(x) * row(y);
    __syncthreads();
    if (x < width && y < height) image[int64_t(y) * width + x] = tile[side - 1 - ty][side - 1 - tx];
}

__global__ void no_shared(unsigned char* image, int width, int height) {
    const int x = blockIdx.x * side + threadIdx.x, y = blockIdx.y * side + threadIdx.y;
    if (x < width && y < height)
        image[int64_t(y) * width + x] = column(x ^ (side - 1)) * row(y ^ (side - 1));
}

// Shared memory where it saves work: 32 threads compute the sines that all 256 use.
__global__ void separable(unsigned char* image, int width, int height) {
    __shared__ float columns[side], rows[side];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * side + tx, y = blockIdx.y * side + ty;
    if (ty == 0) columns[tx] = column(x);
    if (ty == 1) rows[tx] = row(blockIdx.y * side + tx);
    __syncthreads();  // all 16 columns and all 16 rows are there
    if (x < width && y < height) image[int64_t(y) * width + x] = columns[side - 1 - tx] * rows[side - 1 - ty];
}

struct Convert {  // the GPU's converters from float to integer are few: 16 a clock and SM on many
    __device__ unsigned operator()(float c, float r) const { return static_cast<unsigned>(c * r); }
};

// From 2^23 on, a float's last bit is worth 1, so this sum is a whole number, and its last byte is the pixel:
// rounded to the nearest after adding 255.5, a number is 256 more than rounded down. A little more than the half,
// since a whole number would be a tie, and ties go to the even side.
struct Add {
    __device__ unsigned operator()(float c, float r) const {
        return __float_as_uint(fmaf(c, r, 0.5f + float(slack / 8)) + (8388608.0f + 255.0f));
    }
};

// A warp stores 512 bytes of one row. Each thread keeps its 16 columns in registers and goes down the strip with
// them. Rows are aligned to 16 bytes if the width is a multiple of 16; else they are stored byte by byte.
// columns[k][lane] is column k of the 16 that this lane stores: neighbouring lanes use neighbouring banks.
template <class ToByte>
__global__ void wide_stores(unsigned char* image, int width, int height) {
    __shared__ float columns[per_store][warp + 1], rows[strip_rows];
    const int tid = threadIdx.x, left = blockIdx.x * strip_width, top = blockIdx.y * strip_rows;
    for (int i = tid; i < strip_width; i += strip_threads)
        columns[i % per_store][i / per_store] = column((left + i) ^ (side - 1));
    if (tid < strip_rows) rows[tid] = row((top + tid) ^ (side - 1));
    __syncthreads();  // all columns and rows of the strip are there
    const int x = left + tid % warp * per_store;
    if (x >= width) return;
    const ToByte to_byte;
    float c[per_store];
#pragma unroll
    for (int k = 0; k < per_store; ++k) c[k] = columns[k][tid % warp];
    for (int i = tid / warp; i < strip_rows && top + i < height; i += strip_threads / warp) {
        unsigned four[per_store / 4];
#pragma unroll
        for (int k = 0; k < per_store; k += 4) {  // __byte_perm 0x40: the last byte of each; 0x5410: of each two
            const unsigned low = __byte_perm(to_byte(c[k], rows[i]), to_byte(c[k + 1], rows[i]), 0x40);
            const unsigned high = __byte_perm(to_byte(c[k + 2], rows[i]), to_byte(c[k + 3], rows[i]), 0x40);
            four[k / 4] = __byte_perm(low, high, 0x5410);
        }
        unsigned char* to = image + int64_t(top + i) * width + x;
        if (width % per_store == 0) {
            __stcs(reinterpret_cast<uint4*>(to), make_uint4(four[0], four[1], four[2], four[3]));
        } else {
#pragma unroll
            for (int k = 0; k < per_store; ++k)
                if (x + k < width) to[k] = static_cast<unsigned char>(four[k / 4] >> 8 * (k % 4));
        }
    }
}

// ---- wrong twins: what goes wrong first ------------------------------------------------------------------------

// The tutorial's kernel without its barrier.
__global__ void no_barrier(unsigned char* image, int width, int height) {
    __shared__ float tile[side][side];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * side + tx, y = blockIdx.y * side + ty;
    tile[tx][ty] = column(x) * row(y);
    if (x < width && y < height) image[int64_t(y) * width + x] = tile[side - 1 - tx][side - 1 - ty];
}

// Written as tile[tx][ty], read as tile[ty][tx]: the tile is turned and mirrored.
__global__ void swapped_index(unsigned char* image, int width, int height) {
    __shared__ float tile[side][side];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * side + tx, y = blockIdx.y * side + ty;
    tile[tx][ty] = column(x) * row(y);
    __syncthreads();
    if (x < width && y < height) image[int64_t(y) * width + x] = tile[side - 1 - ty][side - 1 - tx];
}

// The tutorial takes the picture to be as wide as the grid: true if the width is a multiple of 16.
__global__ void grid_as_width(unsigned char* image, int width, int height) {
    __shared__ float tile[side][side];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * side + tx, y = blockIdx.y * side + ty;
    tile[tx][ty] = column(x) * row(y);
    __syncthreads();
    const int64_t at = x + int64_t(y) * gridDim.x * blockDim.x;
    if (at < int64_t(width) * height) image[at] = tile[side - 1 - tx][side - 1 - ty];
}

// dropped_edge is the tutorial's kernel and its width / 16 blocks a row: what is left over is never drawn.

// ---- the table of variants -------------------------------------------------------------------------------------

enum class Shape { tiles, whole_tiles, strips };  // what a block makes: 16 x 16, or 512 x 128

struct Variant {
    const char* name;
    const char* how;
    void (*kernel)(unsigned char*, int, int);
    Shape shape;
};
constexpr Variant variants[] = {
    {"tutorial", "tile[tx][ty] in shared memory", tutorial, Shape::tiles},
    {"conflict_free", "tile[ty][tx]", conflict_free, Shape::tiles},
    {"no_shared", "every thread computes the pixel that it writes", no_shared, Shape::tiles},
    {"separable", "one sine a row and column of a tile", separable, Shape::tiles},
    {"wide_stores", "16 pixels a store, strips of 512 x 128", wide_stores<Convert>, Shape::strips},
    {"no_conversion", "an addition leaves the pixel in the last byte", wide_stores<Add>, Shape::strips},
};
constexpr Variant twins[] = {
    {"no_barrier", "reads the tile before it is complete", no_barrier, Shape::tiles},
    {"swapped_index", "writes tile[tx][ty], reads tile[ty][tx]", swapped_index, Shape::tiles},
    {"grid_as_width", "takes the grid's width for the picture's", grid_as_width, Shape::tiles},
    {"dropped_edge", "width / 16 blocks: the edge is never drawn", tutorial, Shape::whole_tiles},
};

void launch(const Variant& v, unsigned char* image, int width, int height) {
    const bool strips = v.shape == Shape::strips;
    const int wide = strips ? strip_width : side, high = strips ? strip_rows : side;
    const int across = v.shape == Shape::whole_tiles ? std::max(1, width / wide) : (width + wide - 1) / wide;
    const dim3 blocks(across, (height + high - 1) / high);
    const dim3 threads = strips ? dim3(strip_threads) : dim3(side, side);
    v.kernel<<<blocks, threads>>>(image, width, height);
}

// ---- check, write, show ----------------------------------------------------------------------------------------

/// Compares all pixels. A pixel may differ by one where the exact value is so near to a whole number that a float's
/// last bits decide; how many did is told in `on_an_edge`.
std::string differences(const std::vector<unsigned char>& got, const Picture& want, int width, int height,
                        int64_t& on_an_edge) {
    int64_t wrong = 0;
    std::string first;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const double exact = want.at(x, y);
            const int pixel = got[int64_t(y) * width + x], least = int(exact - slack), most = int(exact + slack);
            on_an_edge += pixel != int(exact);
            if (least <= pixel && pixel <= most) continue;
            if (!wrong++) first = lab::text("the first at x %d, y %d: got %d, wanted %d", x, y, pixel, int(exact));
        }
    if (!wrong) return "";
    on_an_edge -= wrong;
    return lab::with_commas(wrong) + " of " + lab::with_commas(int64_t(width) * height) + " pixels, " + first;
}

/// Writes the picture in the format that the file's name ends in.
void write(const std::string& path, std::vector<unsigned char>& image, int width, int height) {
    std::vector<unsigned char> file;
    bool made = false;
    try {
        made = cv::imencode(path.substr(path.rfind('.')), cv::Mat(height, width, CV_8UC1, image.data()), file);
    } catch (const cv::Exception&) {  // OpenCV has said on stderr what it makes of it
    }
    if (!made) {
        std::fflush(stdout);
        std::fprintf(stderr,
                     "OpenCV cannot write %d x %d pixels as %s; type a smaller size or another kind of file\n",
                     width, height, path.c_str());
        std::exit(lab::system_error);
    }
    lab::write_file(path, std::string(file.begin(), file.end()));
}

void show(lab::Sample& sample, std::vector<unsigned char>& image, int width, int height) {
    const char* instead = "type --out picture.png, and open that file";
#ifdef LAB_WINDOWS
    if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY"))
        return sample.say("--show: there is no display here; %s", instead);
    try {
        cv::namedWindow("06_shared_image", cv::WINDOW_NORMAL);
        cv::imshow("06_shared_image", cv::Mat(height, width, CV_8UC1, image.data()));
        sample.say("press a key in the window to go on");
        cv::waitKey(0);
    } catch (const cv::Exception& e) {
        sample.say("--show: OpenCV cannot open a window (%s); %s", e.err.c_str(), instead);
    }
#else
    (void)image, (void)width, (void)height;
    sample.say("--show: this OpenCV has no windows (highgui); %s", instead);
#endif
}

/// All rows that were asked for. Returns the last one's picture.
std::vector<unsigned char> run_all(lab::Sample& sample, const Picture& want, int width, int height) {
    const int64_t pixels = int64_t(width) * height;
    lab::DeviceArray<unsigned char> d_image(pixels);
    std::vector<unsigned char> image;
    sample.set_n(pixels);
    sample.new_table(lab::text("a grey picture of %d x %d pixels", width, height));
    sample.columns({"off by one"});
    sample.limit_row(lab::Sample::Limit::set, pixels);
    const auto run = [&](const Variant& v) {
        const double ms = sample.time([&] { d_image.poison(); }, [&] { launch(v, d_image.get(), width, height); });
        image = d_image.download();
        int64_t on_an_edge = 0, sum = 0;
        const std::string wrong = differences(image, want, width, height, on_an_edge);
        for (unsigned char pixel : image) sum += pixel;
        sample.row({v.name, lab::text("mean grey %.4f", double(sum) / double(pixels)), ms, double(pixels), wrong,
                    lab::Kind::variant, {lab::with_commas(on_an_edge)}});
    };
    for (const auto& v : variants)
        if (sample.wants(v.name)) run(v);
    for (const auto& v : twins)
        if (sample.wants_twin(v.name)) run(v);
    sample.say("off by one: pixels so near to a whole number that a sine's last bits decide; they count as right");
    return image;
}

int main(int argc, char** argv) {
    lab::Sample sample("06_shared_image", "What does a missing barrier look like?");
    int64_t wide = 0, high = 0;
    std::string out, cpu_out;
    bool window = false;
    sample.defaults(1024 * 1024, 0, 0, "pixels in all, in the squarest picture that has so many", "");
    sample.option("--width", wide, 1, 1 << 30, "pixels a row, instead of --n");
    sample.option("--height", high, 1, most_rows, "rows (default: as many as --width)");
    sample.file_option("--out", out, "write the last variant's picture, or the twin's, to this file (.png)");
    sample.file_option("--cpu-out", cpu_out, "write the CPU's picture to this file (.png)");
    sample.option("--show", window, "open a window with the picture that --out would write");
    for (const auto& v : variants) sample.variant(v.name, v.how);
    for (const auto& v : twins) sample.twin(v.name, v.how);
    sample.start(argc, argv);

    for (const std::string& path : {out, cpu_out})
        if (!path.empty() && !cv::haveImageWriter(path))
            sample.refuse("OpenCV writes no such pictures as '%s'; type a name like picture.png", path.c_str());
    const bool by_sides = wide || high;
    if (by_sides && sample.typed("--n")) sample.refuse("--n excludes --width and --height; type one or the others");
    if (!by_sides) {  // the largest divisor of n that is not above its root
        for (high = int64_t(std::sqrt(double(sample.n()))); sample.n() % high != 0;) --high;
        wide = sample.n() / high;
    }
    if (!wide) wide = high;
    if (!high) high = wide;
    if (wide > 1 << 30 || high > most_rows)
        sample.refuse(
            "a picture has at most %d pixels a row and %lld rows; type a smaller --n, or --width and --height",
            1 << 30, (long long)most_rows);
    sample.require_time(std::max<int64_t>(wide, side) * std::max<int64_t>(high, side),  // whole tiles are computed
                        by_sides ? "a --width times --height of" : "--n");
    if ((sample.wants_twin("grid_as_width") || sample.wants_twin("dropped_edge")) && wide % side == 0)
        sample.say("(one pixel narrower: with a multiple of %d this mistake does not show)", side), --wide;
    size_t free = 0, total = 0;
    CHECK(cudaMemGetInfo(&free, &total));
    const double need = double(wide) * double(high) * (sample.shows_limit() ? 2 : 1);
    if (need > 0.9 * double(free))
        sample.refuse("%lld x %lld pixels need %s of device memory, and %s are free; type a smaller --n",
                      (long long)wide, (long long)high, lab::bytes_text(need).c_str(),
                      lab::bytes_text(double(free)).c_str());

    const int width = int(wide), height = int(high);
    const int64_t pixels = wide * high;
    const Picture want(width, height);
    std::vector<unsigned char> image = run_all(sample, want, width, height);

    if (!out.empty()) write(out, image, width, height);
    if (window) show(sample, image, width, height);
    if (!cpu_out.empty()) {
        for (int64_t i = 0; i < pixels; ++i)
            image[i] = static_cast<unsigned char>(want.at(int(i % width), int(i / width)));
        write(cpu_out, image, width, height);
    }
    return sample.verdict();
}
