// counters.cpp - what ncu counted, as a CSV file like the samples' own: a row a kernel, a column a counter.
//   counters NCU RUN PROGRAM COUNTERS OUT
// NCU is what `ncu --csv --page raw --print-units base` printed, RUN the CSV file of the program's run under it
// (which names the GPU and n), COUNTERS the counters.txt with the lines `metric NAME HEADING`. Launches of one
// kernel with the same grid and block are averaged. Exit status: 0 written, 3 not.
#include "csv.hpp"
#include "lab.hpp"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace {

using namespace tools;

/// ncu's lines of CSV: it prints others between them, which begin with ==.
std::string csv_part(const std::string& log) {
    std::string out;
    for (const std::string& line : lines_of(log))
        if (starts_with(line, "\"")) out += line + "\n";
    return out;
}

/// "(512, 1, 1)" -> "512", "(16, 16, 1)" -> "16 x 16"
std::string dimensions(std::string text) {
    text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == '(' || c == ')' || c == ' '; }),
               text.end());
    auto sizes = split(text, ",");
    while (sizes.size() > 1 && sizes.back() == "1") sizes.pop_back();
    return join(sizes, " x ");
}

std::string number(double value) {
    char text[40];
    const bool whole = std::fabs(value) >= 1000 || value == std::floor(value);
    std::snprintf(text, sizeof text, whole ? "%.0f" : std::fabs(value) < 10 ? "%.3f" : "%.2f", value);
    return text;
}

/// What a counter's value is in its heading's unit. ncu gives times in ns.
double in_unit_of(const std::string& heading, const std::string& unit, double value) {
    const bool ns = unit == "ns" || unit == "nsecond";
    return ns && heading.find("µs") != std::string::npos ? value / 1000 : value;
}

/// The launches of one kernel with one grid and block.
struct Kernel {
    std::string name, grid, block;
    int launches = 0;
    std::map<std::string, double> sums;
};

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 6) throw Problem("type counters NCU RUN PROGRAM COUNTERS OUT");
    const std::string program = argv[3];
    const auto lines = csv_lines(csv_part(read(argv[1])), argv[1]);
    const Table run = read_csv(argv[2]);
    if (run.rows.empty()) throw Problem(std::string(argv[2]) + " has no rows");
    if (lines.size() < 3 || lines[0][0] != "ID") throw Problem(std::string(argv[1]) + ": ncu profiled no kernel");
    std::vector<std::pair<std::string, std::string>> metrics;  // name and heading
    for (const Setting& s : settings(argv[4])) {
        if (s.word != "metric" || s.program != program) continue;
        const size_t blank = std::min(s.rest.find_first_of(" \t"), s.rest.size());
        metrics.emplace_back(s.rest.substr(0, blank), trim(s.rest.substr(blank)));
    }

    const auto& head = lines[0];
    const auto column = [&](const std::string& name) {
        const auto it = std::find(head.begin(), head.end(), name);
        if (it == head.end()) throw Problem(std::string(argv[1]) + ": ncu's table has no column " + name);
        return static_cast<size_t>(it - head.begin());
    };
    const size_t id = column("ID"), name = column("Kernel Name"), grid = column("Grid Size"),
                 block = column("Block Size");
    std::vector<Kernel> kernels;
    std::vector<std::string> units(head.size());
    for (size_t l = 1; l < lines.size(); ++l) {
        const auto& line = lines[l];
        if (line.size() != head.size()) throw Problem(std::string(argv[1]) + ": " + join(line, ","));
        if (line[id].empty()) {
            units = line;
            continue;
        }
        const std::string whole =
            line[name].substr(0, line[name].find_first_of("<("));  // without "void " before it
        const Kernel of{whole.substr(whole.rfind(' ') + 1), dimensions(line[grid]), dimensions(line[block]), 0, {}};
        auto it = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& k) {
            return k.name == of.name && k.grid == of.grid && k.block == of.block;
        });
        if (it == kernels.end()) it = kernels.insert(kernels.end(), of);
        ++it->launches;
        for (const auto& [metric, heading] : metrics) {
            const size_t at = column(metric);
            const auto value = number_in(line[at]);
            it->sums[metric] += value ? in_unit_of(heading, units[at], *value) : NAN;
        }
    }

    std::string out = "sample,device,n,variant,grid,block,launches";
    for (const auto& [metric, heading] : metrics) out += "," + csv_field(heading.empty() ? metric : heading);
    for (const Kernel& k : kernels) {
        out += "\n" + program + "," + csv_field(cell(run.rows[0], "device")) + "," + cell(run.rows[0], "n") + "," +
               csv_field(k.name) + "," + k.grid + "," + k.block + "," + std::to_string(k.launches);
        for (const auto& [metric, heading] : metrics) {
            const double mean = k.sums.at(metric) / k.launches;
            out += "," + (std::isnan(mean) ? "" : number(mean));
        }
    }
    lab::write_file(argv[5], out + "\n");
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "counters: %s\n", e.what());
    return 3;
}
