// csv.hpp - reads the CSV files that lab.cpp writes, and the settings in a sample's folder.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tools {

namespace fs = std::filesystem;

/// An error in a file; the message names the file.
struct Problem : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Returns the whole file. read_if_there returns an empty string if there is no file.
std::string read(const fs::path& path);
std::string read_if_there(const fs::path& path);

std::vector<std::string> lines_of(const std::string& contents);
std::vector<std::string> split(const std::string& s, const std::string& separator);
/// Removes the blanks at both ends.
std::string trim(const std::string& s);
bool starts_with(const std::string& s, const std::string& start);
/// Reads a number such as 1,056 or 20.62 or 2^24. Returns nothing if the text is not a number.
std::optional<double> number_in(const std::string& s);
/// The words joined by a separator.
std::string join(const std::vector<std::string>& words, const std::string& separator);

// ---- CSV files --------------------------------------------------------------------------------------------------

using Row = std::map<std::string, std::string>;  // its columns and their values

struct Table {
    std::vector<std::string> header;
    std::vector<Row> rows;
    bool has(const std::string& column) const;
};

/// A row's value; empty if it has none, or "-".
std::string cell(const Row& row, const std::string& column);

/// A CSV file with its header. Nothing in it, if there is no such file; a Problem, if there are no rows.
Table read_csv(const fs::path& path);

// ---- a sample's folder ------------------------------------------------------------------------------------------

/// The folders of the samples, by name: those that begin with two digits and _.
std::vector<fs::path> sample_folders(const fs::path& top);
/// The folder of a program: the one of its name; for a sequel (04_all_gpus) that of its number.
fs::path folder_of(const fs::path& top, const std::string& program);

/// A line of bench.txt, report.txt or counters.txt: `WORD REST`, about a program.
struct Setting {
    std::string program, word, rest;
    std::string where;  ///< file:line, for messages
};

/// The lines of such a file, without comments; `program NAME` has set the program of each. Empty if there is no
/// file.
std::vector<Setting> settings(const fs::path& file);

/// The parts of `A | B | C`; a Problem if there are more or fewer.
std::vector<std::string> parts(const Setting& setting, size_t count);

}  // namespace tools
