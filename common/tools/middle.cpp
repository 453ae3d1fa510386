// middle.cpp - one CSV file of several that a program wrote in as many processes: each number that was measured is
// their mean without the least and the greatest. All else is the first one's, and what it found: result, error and
// old values.
//   middle_csv OUT.csv RUN.csv RUN.csv RUN.csv
// Exit status: 0 written, 3 a file is not as the first.
#include "csv.hpp"
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>

namespace {

using namespace tools;

/// The mean of all but the least and the greatest (of one or two: of all), with as many digits as the first has.
std::string middle(const std::vector<std::string>& texts) {
    std::vector<double> values;
    for (const std::string& text : texts) {
        const auto value = number_in(text);
        if (!value) return texts[0];
        values.push_back(*value);
    }
    std::sort(values.begin(), values.end());
    if (values.front() == values.back()) return texts[0];
    const std::ptrdiff_t cut = values.size() > 2 ? 1 : 0,
                         count = static_cast<std::ptrdiff_t>(values.size()) - 2 * cut;
    const double sum = std::accumulate(values.begin() + cut, values.end() - cut, 0.0);
    const size_t point = texts[0].find('.');
    const int digits = point == std::string::npos ? 0 : static_cast<int>(texts[0].size() - point - 1);
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, sum / static_cast<double>(count));
    return text;
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 3) throw Problem("type middle_csv OUT.csv RUN.csv ...");
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
            const std::string& name = column < runs[0][0].size() ? runs[0][0][column] : "";
            const bool found = name == "result" || name == "error" || name == "old values";
            fields.push_back(csv_field(found ? texts[0] : middle(texts)));
        }
        out += join(fields, ",") + "\n";
    }
    if (!(std::ofstream(argv[1]) << out << std::flush)) throw Problem(std::string(argv[1]) + ": cannot be written");
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "middle_csv: %s\n", e.what());
    return 3;
}
