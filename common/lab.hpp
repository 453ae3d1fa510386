// lab.hpp - the code without CUDA that all samples share: the command line, the table, the CSV file and the
// verdict. lab.cpp is compiled once for all samples.
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

/// How a program ends, and its last message: on stdout with status 0, otherwise on stderr.
struct Ended {
    Status status;
    std::string text;
};

constexpr double not_timed = std::numeric_limits<double>::quiet_NaN();

/// How long something takes.
struct Time {
    double ms = not_timed;      ///< median of the runs, in milliseconds
    double spread = not_timed;  ///< in %: the middle half of the runs took between ms - spread and ms + spread
    double back_to_back = not_timed;  ///< ms per launch when many launches are queued
    Time() = default;
    Time(double median) : ms(median) {}
    operator double() const { return ms; }
};

/// The fewest threads of a block with warp operations on all 32 lanes, or with a count of its warps.
constexpr int whole_warps = 32;

/// The kinds of rows in the table.
enum class Kind {
    variant,  ///< a kernel of the sample: counts for the verdict
    limit,    ///< the machine's limit: the "% limit" of later rows refers to it
    library,  ///< the vendor's library: the "x library" of later rows refers to it; checked like a variant
    shown,    ///< printed, but not part of the verdict (a race on purpose, a CPU's time)
};

/// One row of the table.
struct Row {
    std::string variant;       ///< its name for --only and --wrong
    std::string result = "-";  ///< the computed result, as text
    Time ms;                   ///< its time in milliseconds
    double bytes = 0;          ///< the bytes that it must read and write in memory
    std::string wrong;         ///< empty if it is right; otherwise the wrong element, its value and the right value
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
    /// Sets the defaults of --n, --blocks (0: the sample chooses, as `blocks_help` explains) and --threads.
    void defaults(int64_t n, int blocks, int threads, const char* n_help, const char* blocks_help);
    /// Adds a right variant or a wrong twin: its name, a few words on how it works or what is wrong, and the
    /// least --threads. With fewer it is left out; --only and --wrong are then rejected.
    void variant(const char* variant, const char* how, int least_threads = 1);
    /// Marks a variant that takes seconds for any size. Tests that run a sample often leave it out (see --list).
    void slow(const char* variant);
    void twin(const char* twin, const char* mistake, int least_threads = 1);
    /// The same for all rows of tables with the members name, how and least_threads.
    template <class... Tables>
    void variants(const Tables&... tables) {
        (each(&Lab::variant, tables), ...);
    }
    template <class... Tables>
    void twins(const Tables&... tables) {
        (each(&Lab::twin, tables), ...);
    }
    /// Adds an option of the sample: one of several words, a whole number in a range, a flag, or an output file.
    void option(const char* option, std::string& value, const std::vector<std::string>& choices, const char* help);
    void option(const char* option, int64_t& value, int64_t least, int64_t most, const char* help);
    void option(const char* option, bool& value, const char* help);
    void file_option(const char* option, std::string& path, const char* help);

    /// Reads the command line. Ends the program with status 0 after printing the help or the list, with status 2
    /// after an error, and with status 3 if a file cannot be written. An option may be given once, --only several
    /// times. Its value is the next argument or follows "=". Numbers are written 1000000, 1e6 or 2^20.
    void parse(int argc, char** argv);
    /// The same without printing or ending. Returns nothing if the program continues.
    std::optional<Ended> read(int argc, char** argv);

    // ---- what the command line asked for -----------------------------------------------------------------------
    int64_t n() const { return n_; }
    void set_n(int64_t n) { n_ = n; }  ///< the next rows are about n elements (a sweep over sizes)
    int blocks() const { return static_cast<int>(std::min<int64_t>(blocks_, std::numeric_limits<int>::max())); }
    int threads() const { return static_cast<int>(threads_); }
    uint64_t seed() const { return seed_; }
    /// The number of timed runs; the least number, if --repeats was not typed.
    int repeats() const { return static_cast<int>(std::min(repeats_, most_repeats)); }
    bool warm() const { return warm_; }
    bool on_gpu() const { return on_gpu_; }
    bool writes_csv() const { return !csv_.empty(); }
    /// Is this option on the command line?
    bool typed(const char* option) const;
    /// Does this variant or twin run? By default all variants run for which --threads is enough. With --only, only
    /// the named variants run; with --wrong, only the twin.
    bool wants(const std::string& variant) const;
    bool wants_twin(const std::string& twin) const { return twin == wrong_; }
    /// Does a variant or a twin of this table run?
    template <class Table>
    bool wants_any(const Table& table) const {
        return std::any_of(std::begin(table), std::end(table), [&](const auto& v) { return wants(v.name); });
    }
    /// Leaves out a variant that this machine, or another option, does not allow; `why` completes "left out,
    /// because". If --only names the variant, the program ends with status 2 and says to type `instead`. Call it
    /// before require_memory().
    void leave_out(const std::string& variant, const char* why, const char* instead);
    /// Is this a plain run, with neither --only nor --wrong?
    bool wants_all() const { return only_.empty() && wrong_.empty(); }

    // ---- the table ---------------------------------------------------------------------------------------------
    /// Sets the sample's own columns, between the result and the time, and in the CSV file. They are as wide as the
    /// cells of the first row, and at least `least`; the column of the result is at least `of_result` wide.
    void columns(std::vector<std::string> names, size_t least = 6, size_t of_result = 11);
    /// Prints a line of text above, between or below the tables.
    void say(const char* format, ...) __attribute__((format(printf, 2, 3)));
    /// Runs the tutorial's whole program, and prints a verdict below its output. `whole_program` returns whether
    /// the device's result equals the CPU's. It counts like a variant's row.
    void program(bool (*whole_program)());
    /// Prints one row, under a header if the columns have changed, and keeps it for the CSV file.
    void row(const Row& row);
    /// Starts a new table: the next row prints the title and a header; limit and library are reset. Pass false for
    /// `predicted` if the rows' bytes do not go through device memory: its bandwidth then predicts no times.
    void new_table(const std::string& title, bool predicted = true);
    /// Adds a line, pairs of column and value, only to the CSV file.
    void record(std::vector<std::pair<std::string, std::string>> fields);
    /// Writes the CSV file, prints the verdict, and returns the exit status for main.
    int verdict();
    /// The exit status that follows from the results.
    Status status() const { return checked_ == 0 || wrong_count_ > 0 ? result_wrong : all_agree; }

    /// Prints what is wrong with the command line and what to type instead, and ends with status 2.
    [[noreturn]] void refuse(const char* format, ...) const __attribute__((format(printf, 2, 3)));

    /// Sets the sample's own limit of --n or --blocks, and the reason, for the error message.
    void at_most(const char* option, int64_t most, const char* why);
    /// The cost of a run of n elements, and how its size is typed.
    struct Room {
        int64_t cost = 0;                  ///< the elements that count for the time on the CPU device (0: n)
        std::string elements_are = "--n";  ///< the option that says how many there are
        std::string (*smaller)(int64_t) = nullptr;  ///< what to type for so many (default: --n N or less)
    };
    /// Ends with status 2 if n elements, `per_thread` for each thread, need more blocks than a grid can have.
    void require_blocks(int per_thread = 1) const;

protected:
    /// Ends with status 2 if the run would take more than about a minute on the CPU device, exceeds at_most(), or
    /// needs more than `free` bytes: `per_element` for each element, and `fixed`. The command that it suggests
    /// runs.
    void require_room(double free, double per_element, double fixed, Room room) const;
    /// The cached blocks of a kernel per SM, 0 before the first query: launches ask for it while they are timed.
    int& known_occupancy(const void* kernel, int threads, size_t shared_bytes) const;
    void runs_on(std::string device, bool gpu, const char* remark = "");  // called by timing.cuh
    /// The times of the runs in ms. Are there enough of them? --repeats sets their number. Without it, a GPU's runs
    /// continue until the median is known to 0.5 % or half a second has passed.
    void begin_times() { times_.clear(); }
    bool enough_times() const;
    /// Keeps a run's time, unless the SMs' clock was below three quarters of the highest, as in nvbench. At most
    /// one run in ten is discarded; verdict() prints how many.
    void keep_time(double ms, double ghz, double highest_ghz);
    Time median_time(double back_to_back) const;
    /// Sets the values for predictions: a row of b bytes takes launch_ms + b / bytes_per_ms. These are the time of
    /// an empty kernel, and the nominal bandwidth of the memory (two transfers per clock over the whole bus).
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
    /// One cell of the table: its heading, its text, and the least width of its column.
    struct Cell {
        std::string heading, text;
        size_t least = 0;
        int dispensable = 0;  ///< on a narrow screen, columns with a larger value are left out first; 0: never
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
    std::vector<Cells> waiting_;  // the limit's row, until the next row sets the widths of the columns
    std::map<std::string, OwnLimit> own_limits_;
    size_t rows_ = 0, least_width_ = 6, result_width_ = 11;
    int64_t n_ = 1, blocks_ = 0, threads_ = 256, repeats_ = 0;
    uint64_t seed_ = 42;
    std::string wrong_, csv_, blocks_help_, n_help_, title_;
    std::string path_, typed_n_, typed_blocks_, typed_repeats_;
    std::vector<std::string> only_, left_out_, columns_, choices_, slow_, wrong_rows_;
    std::vector<std::pair<std::string, const std::string*>> files_;  // options and their file names
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

/// The quantile of the values, interpolated between two of them; `values` must not be empty.
double quantile(std::vector<double> values, double share);
/// The middle value (the mean of the two middle ones).
double median(const std::vector<double>& values);
/// The values in ascending order. (std::sort is compiled once here, because it takes longer than any kernel.)
std::vector<int> sorted(std::vector<int> values);

/// Writes a file completely or not at all: writes a new file in the same folder, then renames it. Links are
/// followed, and the old file's mode is kept. Pipes and terminals are written directly. A signal that would end the
/// program is delayed until the file is complete. If writing fails, prints the reason and ends with status 3.
void write_file(const std::string& path, const std::string& contents);
/// Returns why write_file() could not write there and what to type, if that is known without writing; otherwise
/// empty.
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
/// Makes foreign text safe to print: control characters and invalid UTF-8 become \x1b, and long text is cut.
std::string printable(const std::string& words);
/// The version of a library of NVIDIA from its number (300102: 3.1.2), for a row's version.
inline std::string library_version(int version) {
    return std::to_string(version / 100000) + "." + std::to_string(version / 100 % 1000) + "." +
           std::to_string(version % 100);
}
/// printf into a string.
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// The byte with which poison() fills memory. It makes a large number of every type, and differs for each seed and
/// run. wanted() recognizes it in a result that no thread wrote, or that a thread added to.
constexpr int first_poison = 0x60, poisons = 16;
inline unsigned char poison_byte = first_poison;

/// The value of a poisoned word, for the current byte or another one.
template <class T>
T poisoned(unsigned char byte = poison_byte) {
    T word;
    std::memset(&word, byte, sizeof word);
    return word;
}

std::string wanted(const std::string& got, const std::string& want, bool left, bool added, bool wrapped);
/// Returns "got 5, wanted 7" for a row's `wrong`. The poison from before the launch is a large number. If the
/// result contains it, no thread wrote the word, or the word was not reset before an addition. For floats the two
/// may be indistinguishable. If only the lower half of a 64-bit sum is right, a 32-bit sum overflowed.
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
    for (int byte = first_poison; byte < first_poison + poisons; ++byte) {  // also those of earlier runs
        const T held = poisoned<T>(static_cast<unsigned char>(byte));
        if constexpr (std::is_integral_v<T>) {
            using Bits = std::make_unsigned_t<T>;  // overflow is defined
            left |= sizeof(T) > 1 && got == held;
            added |= sizeof(T) > 1 &&
                     static_cast<Bits>(got) == static_cast<Bits>(static_cast<Bits>(want) + static_cast<Bits>(held));
        } else {  // such a large sum is rounded, perhaps several times
            const double before = static_cast<double>(held), off = static_cast<double>(got) - before;
            const bool shows = std::fabs(static_cast<double>(want)) < before / 1000;
            left |= shows && std::fabs(off) <= before * 1e-6;
            added |= shows && std::fabs(off - static_cast<double>(want)) <= before * 1e-6;
        }
    }
    return wanted(number(got), number(want), left, added, wrapped);
}

}  // namespace lab
