// median.cpp - one CSV file of several that a program wrote in as many runs: each number is their median, and all
// else is the first one's.
//   median OUT.csv RUN.csv RUN.csv RUN.csv
// Exit status: 0 written, 3 a file is not as the first.
#include "csv.hpp"
#include <algorithm>
#include <cstdio>
#include <fstream>

namespace {

using namespace tools;

std::string median(std::vector<std::string> texts) {
    if (!std::all_of(texts.begin(), texts.end(), [](const std::string& s) { return number_in(s); }))
        return texts[0];
    std::sort(texts.begin(), texts.end(),
              [](const std::string& a, const std::string& b) { return *number_in(a) < *number_in(b); });
    return texts[texts.size() / 2];
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 3) throw Problem("type median OUT.csv RUN.csv ...");
    std::vector<std::vector<std::vector<std::string>>> runs;  // run, line, field
    for (int i = 2; i < argc; ++i) {
        runs.push_back(csv_lines(read(argv[i]), argv[i]));
        if (runs.back().size() != runs[0].size())
            throw Problem(std::string(argv[i]) + " has other lines than the first");
    }
    std::string out;
    for (size_t line = 0; line < runs[0].size(); ++line) {
        std::vector<std::string> fields;
        for (size_t column = 0; column < runs[0][line].size(); ++column) {
            std::vector<std::string> texts;
            texts.reserve(runs.size());
            for (const auto& run : runs) texts.push_back(column < run[line].size() ? run[line][column] : "");
            fields.push_back(csv_field(median(texts)));
        }
        out += join(fields, ",") + "\n";
    }
    if (!(std::ofstream(argv[1]) << out << std::flush)) throw Problem(std::string(argv[1]) + ": cannot be written");
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "median: %s\n", e.what());
    return 3;
}
