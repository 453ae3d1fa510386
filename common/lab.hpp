// lab.hpp - what every sample needs and none teaches, as far as it has nothing to do with CUDA:
// the command line, the table, the CSV file and the verdict. lab.cpp is compiled once for all samples.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace lab {

/// The exit statuses of every sample.
enum Status { all_agree = 0, result_wrong = 1, bad_command_line = 2, system_error = 3, no_device = 77 };

/// How a program ends, and what it says then: on stdout with status 0, else on stderr.
struct Ended {
    Status status;
    std::string text;
};

constexpr double not_timed = std::numeric_limits<double>::quiet_NaN();

/// How long something takes.
struct Time {
    double ms = not_timed;            ///< median of the runs, in milliseconds
    double spread = not_timed;        ///< the middle half of the runs lies within ms +- so many %
    double back_to_back = not_timed;  ///< ms a launch, where one launch follows the other
    Time() = default;
    Time(double median) : ms(median) {}
    operator double() const { return ms; }
};

/// The fewest threads of a block whose warp operations name all 32 lanes, or which counts its warps.
constexpr int whole_warps = 32;

/// What a row of the table stands for.
enum class Kind {
    variant,  ///< a kernel of the sample: counts for the verdict
    limit,    ///< what the machine can do at best: the later rows' % refer to it
    library,  ///< the vendor's library: the later rows' x refer to it, and it is checked like a variant
    shown,    ///< shown, but outside the verdict (a race on purpose, a CPU's time)
};

/// One row of the table.
struct Row {
    std::string variant;       ///< its name, as --only and --wrong take it
    std::string result = "-";  ///< what it computed, as text
    Time ms;                   ///< its time in milliseconds
    double bytes = 0;          ///< the traffic with memory that it declares, in bytes
    std::string wrong;         ///< empty if it agrees; else which element, what it got and what it should be
    Kind kind = Kind::variant;
    std::vector<std::string> columns = {};  ///< the texts of the sample's own columns, see Lab::columns()
    std::string version = {};               ///< of the library, and its mode
};

/// One run of one sample.
class Lab {
public:
    /// name: the sample's folder ("01_sum_managed"). question: what it answers, in one sentence.
    Lab(const char* name, const char* question);
    ~Lab();
    Lab(const Lab&) = delete;

    // ---- before parse() ----------------------------------------------------------------------------------------
    /// Default values of --n, --blocks (0: the sample chooses, and says how in `blocks_help`) and --threads.
    void defaults(int64_t n, int blocks, int threads, const char* n_help, const char* blocks_help);
    /// Adds a right variant or a wrong twin: its name, in a few words how it works or what it gets wrong, and the
    /// --threads that it needs at least. With fewer it is left out, and refused if it is asked for.
    void variant(const char* variant, const char* how, int least_threads = 1);
    /// This variant takes seconds whatever its size: tests that run a sample very often leave it out (--list says
    /// so).
    void slow(const char* variant);
    void twin(const char* twin, const char* mistake, int least_threads = 1);
    /// The same for all rows of tables, which have name, how and least_threads as members.
    template <class... Tables>
    void variants(const Tables&... tables) {
        (each(&Lab::variant, tables), ...);
    }
    template <class... Tables>
    void twins(const Tables&... tables) {
        (each(&Lab::twin, tables), ...);
    }
    /// An option of the sample's own: one of some words, a whole number in a range, a flag, or a file to write.
    void option(const char* option, std::string& value, const std::vector<std::string>& choices, const char* help);
    void option(const char* option, int64_t& value, int64_t least, int64_t most, const char* help);
    void option(const char* option, bool& value, const char* help);
    void file_option(const char* option, std::string& path, const char* help);

    /// Reads the command line. Prints the help or the list and ends with status 0, or says what to type and ends
    /// with status 2, or 3 if a file cannot be written. Each option is given once, but --only; a value is the next
    /// argument or follows "="; a number is written 1000000, 1e6 or 2^20.
    void parse(int argc, char** argv);
    /// The same without printing or ending: nothing, if the program is to go on.
    std::optional<Ended> read(int argc, char** argv);

    // ---- what the command line asked for -----------------------------------------------------------------------
    int64_t n() const { return n_; }
    void set_n(int64_t n) { n_ = n; }  ///< the next rows are about n elements (a sweep over sizes)
    int blocks() const { return static_cast<int>(std::min<int64_t>(blocks_, std::numeric_limits<int>::max())); }
    int threads() const { return static_cast<int>(threads_); }
    uint64_t seed() const { return seed_; }
    /// So many runs count for a time; at least, as long as nobody typed it.
    int repeats() const { return static_cast<int>(std::min(repeats_, most_repeats)); }
    bool warm() const { return warm_; }
    bool on_gpu() const { return on_gpu_; }
    bool writes_csv() const { return !csv_.empty(); }
    /// Is this option on the command line?
    bool typed(const char* option) const;
    /// Does this variant or twin run? All variants run that --threads is enough for, unless --only named others or
    /// --wrong asked for a twin, which then runs alone.
    bool wants(const std::string& variant) const;
    bool wants_twin(const std::string& twin) const { return twin == wrong_; }
    /// Does a variant or a twin of this table run?
    template <class Table>
    bool wants_any(const Table& table) const {
        return std::any_of(std::begin(table), std::end(table), [&](const auto& v) { return wants(v.name); });
    }
    /// This machine, or another option, rules the variant out: `why` completes "left out, because". If --only asked
    /// for it, the program ends with status 2 and says to type `instead`. Call it before require_memory().
    void leave_out(const std::string& variant, const char* why, const char* instead);
    /// Is this a plain run, with neither --only nor --wrong?
    bool wants_all() const { return only_.empty() && wrong_.empty(); }

    // ---- the table ---------------------------------------------------------------------------------------------
    /// Names the sample's own columns; they stand between the result and the time, and in the CSV file. They are as
    /// wide as the first row's cells, and at least `least`; the result's at least `of_result`.
    void columns(std::vector<std::string> names, size_t least = 6, size_t of_result = 11);
    /// A line of prose above, between or below the tables.
    void say(const char* format, ...) __attribute__((format(printf, 2, 3)));
    /// Runs the tutorial's whole program, which a sample has beside its kernels, and prints its verdict under what
    /// it prints itself. `whole_program` returns whether the device's result is the CPU's. It counts like a
    /// variant's row.
    void program(bool (*whole_program)());
    /// Prints one row, under a header if the columns have changed, and keeps it for the CSV file.
    void row(const Row& row);
    /// Starts a new table: the next row prints the title and a header, and limit and library are forgotten. Where
    /// the device's memory is not what the rows' bytes go through, times cannot be predicted from its bandwidth.
    void new_table(const std::string& title, bool predicted = true);
    /// Keeps a line for the CSV file alone: pairs of column and value.
    void record(std::vector<std::pair<std::string, std::string>> fields);
    /// Writes the CSV file, prints the verdict, and returns the exit status for main.
    int verdict();
    /// The exit status as far as the results decide it.
    Status status() const { return checked_ == 0 || wrong_count_ > 0 ? result_wrong : all_agree; }

    /// Says what is wrong with the command line and what to type instead; ends with status 2.
    [[noreturn]] void refuse(const char* format, ...) const __attribute__((format(printf, 2, 3)));

    /// The sample itself cannot do with more of this option, --n or --blocks, and why: "..., which are ...".
    void at_most(const char* option, int64_t most, const char* why);
    /// What a run of n elements takes, and how its size is typed.
    struct Room {
        int64_t cost = 0;                  ///< the elements that count for the time on the CPU device (0: n)
        std::string elements_are = "--n";  ///< the option that says how many there are
        std::string (*smaller)(int64_t) = nullptr;  ///< what to type for so many (default: --n N or less)
    };
    /// Ends with status 2 if n elements, `per_thread` for each of --threads, make more blocks than a grid may have.
    void require_blocks(int per_thread = 1) const;

protected:
    /// Ends with status 2 if the run is too large in any way: for the CPU device's time (a minute), for at_most(),
    /// or for the memory, with so many bytes an element and `fixed` besides; `free` are free. What it says to type
    /// runs.
    void require_room(double free, double per_element, double fixed, Room room) const;
    /// Blocks of a kernel on an SM, 0 as long as nobody asked: launches ask within the time that is measured.
    int& known_occupancy(const void* kernel, int threads, size_t shared_bytes) const;
    void runs_on(std::string device, bool gpu, const char* remark = "");  // lab.cuh tells
    /// The times of the runs, ms. Are there enough of them? So many as --repeats says; without it, on a GPU, so
    /// many more that the median is known to 0.5 %, or half a second is over.
    void begin_times() { times_.clear(); }
    bool enough_times() const;
    /// Keeps a run's time, unless the SMs' clock was below three quarters of the highest, as nvbench has it; but no
    /// more than one run in ten is left out. verdict() tells how many.
    void keep_time(double ms, double ghz, double highest_ghz);
    Time median_time(double back_to_back) const;
    /// Rows of b bytes are predicted to take launch_ms + b / bytes_per_ms: an empty kernel's time, and the memory's
    /// nominal bandwidth (two transfers a clock over the whole bus).
    void predict(double launch_ms, double bytes_per_ms);

private:
    struct CommandLine;
    Ended refusal(const std::string& problem) const;
    struct Entry {
        std::string name, how;
        int least_threads;
        bool twin;
    };
    template <class Table>
    void each(void (Lab::*add)(const char*, const char*, int), const Table& table) {
        for (const auto& v : table) (this->*add)(v.name, v.how, v.least_threads);
    }
    bool too_few_threads(const Entry& entry) const { return threads_ && threads_ < entry.least_threads; }
    /// One cell of the table: what stands above it, its text, and how wide its column is at least.
    struct Cell {
        std::string heading, text;
        size_t least = 0;
        int dispensable = 0;  ///< the larger, the sooner it is left out where the screen has no room; 0: never
        size_t end = 0;       ///< where its column ends
    };
    using Cells = std::vector<Cell>;
    struct OwnLimit {
        int64_t most;
        const char* why;
    };
    static constexpr int64_t most_repeats = 100000;
    size_t longest_name() const;
    int64_t wanted_count() const;
    void print(const std::string& line);
    void plan(const Cells& row);
    void print_row(const Cells& cells);
    void say_what_shows_more();
    std::string name_, question_, device_;
    bool on_gpu_ = false, warm_ = false, verbose_ = false, header_due_ = true;
    Cells plan_;
    std::vector<Cells> waiting_;  // the limit's row, until the next one tells how wide the columns are
    std::map<std::string, OwnLimit> own_limits_;
    size_t rows_ = 0, least_width_ = 6, result_width_ = 11;
    int64_t n_ = 1, blocks_ = 0, threads_ = 256, repeats_ = 0;
    uint64_t seed_ = 42;
    std::string wrong_, csv_, blocks_help_, n_help_, title_;
    std::string path_, typed_n_, typed_blocks_, typed_repeats_;
    std::vector<std::string> only_, left_out_, columns_, choices_, slow_, wrong_rows_;
    std::vector<std::pair<std::string, const std::string*>> files_;  // options and the names that they were given
    std::vector<Entry> entries_;                                     // variants and twins
    std::vector<std::vector<std::pair<std::string, std::string>>> records_;
    double limit_bytes_per_ms_ = 0, library_ms_ = 0;
    double launch_ms_ = 0, nominal_bytes_per_ms_ = 0;
    bool predicted_ = true;
    int checked_ = 0, wrong_count_ = 0;
    std::vector<double> times_;
    int runs_ = 0, repeated_ = 0;
    mutable std::map<std::tuple<const void*, int, size_t>, int> resident_;
    std::unique_ptr<CommandLine> line_;
};

/// The value below which so much of them lies, in proportion between two of them; `values` must not be empty.
double quantile(std::vector<double> values, double share);
/// The middle value (the mean of the two middle ones).
double median(const std::vector<double>& values);
/// The values in ascending order. (std::sort takes longer to compile than any kernel; so it is compiled once.)
std::vector<int> sorted(std::vector<int> values);

/// Writes a whole file or none: beside `path` first, then renamed. A link is followed, the old file's mode kept; a
/// pipe or a terminal is written directly. A signal that would end the program waits until the file is whole. Says
/// why and ends with status 3 if it cannot.
void write_file(const std::string& path, const std::string& contents);
/// Why write_file() could not write there, and what to type, as far as that can be told before; empty if it could.
std::string cannot_write(const std::string& path);

/// Random bits for element i: the same on every machine, for any i in any order (the finalizer of Steele, Lea and
/// Flood's splitmix64, "Fast splittable pseudorandom number generators", 2014).
inline uint64_t random_bits(uint64_t seed, uint64_t i) {
    uint64_t z = (seed + 1) * 0x9e3779b97f4a7c15u + i * 0xd1b54a32d192ed03u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// A number for people: 10,000,000.
std::string with_commas(int64_t value);
/// A number of bytes for people: "38.1 MiB".
std::string bytes_text(double bytes);
/// Text of others for people and terminals: control characters and what is no UTF-8 as \x1b, cut if it is long.
std::string printable(const std::string& words);
/// A version as NVIDIA's libraries count it (300102: 3.1.2), for a row's version.
inline std::string library_version(int version) {
    return std::to_string(version / 100000) + "." + std::to_string(version / 100 % 1000) + "." +
           std::to_string(version % 100);
}
/// printf into a string.
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// What poison() fills memory with: bytes that make a large number of every type, another one for every seed and
/// run. A result that nobody wrote is seen by it, and one that was added to it, too: see wanted().
constexpr int first_poison = 0x60, poisons = 16;
inline unsigned char poison_byte = first_poison;

/// What a poisoned word holds, now or with another byte.
template <class T>
T poisoned(unsigned char byte = poison_byte) {
    T word;
    std::memset(&word, byte, sizeof word);
    return word;
}

std::string wanted(const std::string& got, const std::string& want, bool left, bool added, bool wrapped);
/// "got 5, wanted 7" for a row's `wrong`. What the word held before the launch is a large number; where it shows in
/// the result, nobody wrote the word, or nobody reset it before something was added. In floats the two may be
/// alike. A sum of 64 bits whose lower half alone is right was added up in 32 somewhere.
template <class T>
std::string wanted(T got, T want) {
    const auto number = [](T x) {
        if constexpr (std::is_integral_v<T>)
            return with_commas(static_cast<int64_t>(x));
        else
            return text("%.9g", static_cast<double>(x));
    };
    bool left = false, added = false, wrapped = false;
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
        wrapped = got != want && static_cast<uint32_t>(got) == static_cast<uint32_t>(want);
    for (int byte = first_poison; byte < first_poison + poisons; ++byte) {  // an earlier run's is found, too
        const T held = poisoned<T>(static_cast<unsigned char>(byte));
        if constexpr (std::is_integral_v<T>) {
            using Bits = std::make_unsigned_t<T>;  // may wrap around
            left |= sizeof(T) > 1 && got == held;
            added |= sizeof(T) > 1 &&
                     static_cast<Bits>(got) == static_cast<Bits>(static_cast<Bits>(want) + static_cast<Bits>(held));
        } else {  // a sum that large is rounded, perhaps often
            const double before = static_cast<double>(held), off = static_cast<double>(got) - before;
            const bool shows = std::fabs(static_cast<double>(want)) < before / 1000;
            left |= shows && std::fabs(off) <= before * 1e-6;
            added |= shows && std::fabs(off - static_cast<double>(want)) <= before * 1e-6;
        }
    }
    return wanted(number(got), number(want), left, added, wrapped);
}

}  // namespace lab
