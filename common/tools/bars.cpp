// bars.cpp - prints the bars of the samples' bench.txt and the measured values.
//   bars TOP [MEASURED]
// TOP is the lab's top folder. The values come from MEASURED/SAMPLE/gpu_TAG.csv; without MEASURED, from
// SAMPLE/results/h200_TAG.csv. Exit status: 0 even if a bar is not reached, 3 a file has an error.
#include "csv.hpp"
#include <cmath>
#include <cstdio>
#include <set>

namespace {

using namespace tools;

/// A measured row and its value.
struct Best {
    double value = NAN;
    std::string variant;
    bool found() const { return !std::isnan(value); }
};

class Bars {
public:
    Bars(fs::path top, fs::path measured) : top_(std::move(top)), measured_(std::move(measured)) {}

    void folder(const fs::path& folder) {
        std::map<std::string, std::string> names;
        std::set<std::string> tags;
        for (const Setting& s : settings(folder / "bench.txt")) {
            if (s.word == "run" || s.word == "once") {
                const std::string tag = s.rest.substr(0, s.rest.find_first_of(" \t"));
                if (!tags.insert(tag).second) throw Problem(s.where + ": there is a run " + tag + " already");
            } else if (s.word == "names") {
                const std::string name = s.rest.substr(0, s.rest.find_first_of(" \t"));
                names[name] = trim(s.rest.substr(name.size()));
            } else if (s.word == "bar") {
                bar(s, folder.filename().string(), names, tags);
            } else {
                throw Problem(s.where + ": " + s.word + " is neither program, run, once, names nor bar");
            }
        }
    }

    void count() const {
        std::printf("\n%d bars: %d reached, %d not, %d not measured\n", reached_ + by_limit_ + missed_ + unknown_,
                    reached_ + by_limit_, missed_, unknown_);
        if (by_limit_)
            std::printf("%d of them by limit: the row is within 5 %% of what the run's limit allows\n", by_limit_);
    }

private:
    const Table& table(const std::string& sample, const std::string& tag) {
        const fs::path folder = folder_of(top_, sample), name = folder.filename();
        const fs::path path = measured_.empty() ? folder / "results" / ("h200_" + tag + ".csv")
                                                : measured_ / name / ("gpu_" + tag + ".csv");
        const auto [at, is_new] = tables_.try_emplace(path.string());
        if (is_new) at->second = read_csv(path);
        return at->second;
    }

    /// The greatest or least value of a column among the rows of this n that are named, and not wrong.
    static Best best(const Table& table, double n, const std::vector<std::string>& names, const std::string& column,
                     bool greatest) {
        Best best;
        for (const Row& row : table.rows) {
            const auto value = number_in(cell(row, column));
            if (!value || number_in(cell(row, "n")) != n || cell(row, "verdict") == "WRONG") continue;
            for (const std::string& name : names) {
                if (cell(row, "variant") != name) continue;
                if (!best.found() || (greatest ? *value > best.value : *value < best.value)) best = {*value, name};
            }
        }
        return best;
    }

    void bar(const Setting& s, const std::string& sample, const std::map<std::string, std::string>& short_names,
             const std::set<std::string>& tags) {
        const auto part = parts(s, 6);
        const std::string &how = part[0], &tag = part[1], &title = part[5];
        const auto n = number_in(part[2]);
        const bool least = starts_with(part[4], ">=");
        const auto wanted = number_in(trim(part[4].substr(std::min<size_t>(2, part[4].size()))));
        if (!n) throw Problem(s.where + ": n is " + part[2]);
        if (!wanted || (!least && !starts_with(part[4], "<=")))
            throw Problem(s.where + ": the bar is neither >= nor <= a number: " + part[4]);
        if (!tags.count(tag)) throw Problem(s.where + ": no run above is " + tag);
        std::vector<std::string> names;
        for (const std::string& name : split(part[3], ",")) {
            const auto it = short_names.find(trim(name));
            for (const std::string& one : split(it == short_names.end() ? name : it->second, ","))
                names.push_back(trim(one));
        }

        const Table& rows = table(sample, tag);
        const std::string kind = how.substr(0, how.find(' '));
        const std::string other = how.size() > kind.size() ? trim(how.substr(kind.size())) : "";
        Best found;
        if (kind == "library" && (other.empty() || other == "only")) {
            found = best(rows, *n, names, "times_library", least);
        } else if (kind == "limit") {
            found = best(rows, *n, names, "percent_of_limit", least);
        } else if (kind == "nominal") {
            found = best(rows, *n, names, "gb_per_s", least);
            found.value *= 100 / best(rows, *n, {found.variant}, "nominal_gb_per_s", true).value;
        } else if (kind == "column" && !other.empty()) {
            found = best(rows, *n, names, other, least);
        } else if ((kind == "over" || kind == "speedup") && !other.empty()) {
            found = best(rows, *n, names, "time_us", false);
            const Best reference =
                best(reference_table(other, sample, tag, s), *n, {row_of(other)}, "time_us", false);
            found.value = kind == "over" ? found.value / reference.value : reference.value / found.value;
        } else {
            throw Problem(
                s.where +
                ": a bar is library, library only, limit, nominal, column NAME, over ROW or speedup ROW, and not " +
                how);
        }

        // At as many digits as are shown: what reads 1.00 reaches a bar of 1.00.
        const double shown = std::round(100 * found.value) / 100;
        const bool yes = least ? shown >= *wanted : shown <= *wanted;
        // No row can exceed the limit of its run, so a row within 5 % of the limit passes, and the table says so.
        const bool by_limit = !yes && found.found() && how == "library" &&
                              best(rows, *n, {found.variant}, "percent_of_limit", true).value >= 95;
        ++(!found.found() ? unknown_ : yes ? reached_ : by_limit ? by_limit_ : missed_);
        char value[32] = "-";
        const Best own = best(rows, *n, {found.variant}, "spread", false);  // of its own time
        char spread[32] = "-";
        if (own.found()) std::snprintf(spread, sizeof spread, "%.1f", own.value);
        if (found.found()) std::snprintf(value, sizeof value, "%.2f", found.value);
        if (!headed_)
            std::printf("%-22s  %-44s  %8s  %9s  %6s  %-8s  %s\n", "sample", "work", "bar", "measured", "+- %",
                        "reached", "variant");
        headed_ = true;
        std::printf("%-22s  %-44s  %s%6s  %9s  %6s  %-8s  %s\n", s.program.c_str(), title.c_str(),
                    part[4].substr(0, 2).c_str(), trim(part[4].substr(2)).c_str(), value, spread,
                    !found.found() ? "unknown"
                    : yes          ? "yes"
                    : by_limit     ? "by limit"
                                   : "no",
                    found.variant.c_str());
    }

    /// `ROW` or `ROW of SAMPLE TAG`
    static std::string row_of(const std::string& other) { return other.substr(0, other.rfind(" of ")); }
    const Table& reference_table(const std::string& other, const std::string& sample, const std::string& tag,
                                 const Setting& s) {
        const size_t of = other.rfind(" of ");
        if (of == std::string::npos) return table(sample, tag);
        const auto where = split(trim(other.substr(of + 4)), " ");
        if (where.size() != 2) throw Problem(s.where + ": not ROW of SAMPLE TAG: " + other);
        return table(where[0], where[1]);
    }

    fs::path top_, measured_;
    std::map<std::string, Table> tables_;
    int reached_ = 0, by_limit_ = 0, missed_ = 0, unknown_ = 0;
    bool headed_ = false;
};

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 2 && argc != 3) throw tools::Problem("type bars TOP [MEASURED]");
    Bars bars(argv[1], argc == 3 ? argv[2] : "");
    for (const auto& folder : tools::sample_folders(argv[1])) bars.folder(folder);
    bars.count();
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "bars: %s\n", e.what());
    return 3;
}
