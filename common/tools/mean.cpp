// mean.cpp - one CSV file of several that a program wrote in as many processes: each number that was measured is
// their mean. All else is the first one's, and what it found: result, error and old values.
//   mean_csv OUT.csv RUN.csv RUN.csv RUN.csv
// Exit status: 0 written, 3 a file is not as the first.
#include "csv.hpp"
#include <cstdio>
#include <fstream>

namespace {

using namespace tools;

/// Their mean, with as many digits as the first has. (Processes come in two groups, as the launch takes longer in
/// some: to leave out the least and the greatest would widen what the mean varies by.)
std::string mean(const std::vector<std::string>& texts) {
    double sum = 0;
    bool differ = false;
    for (const std::string& text : texts) {
        const auto value = number_in(text);
        if (!value) return texts[0];
        sum += *value;
        differ = differ || text != texts[0];
    }
    if (!differ) return texts[0];
    const size_t point = texts[0].find('.');
    const int digits = point == std::string::npos ? 0 : static_cast<int>(texts[0].size() - point - 1);
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, sum / static_cast<double>(texts.size()));
    return text;
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 3) throw Problem("type mean_csv OUT.csv RUN.csv ...");
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
            fields.push_back(csv_field(found ? texts[0] : mean(texts)));
        }
        out += join(fields, ",") + "\n";
    }
    if (!(std::ofstream(argv[1]) << out << std::flush)) throw Problem(std::string(argv[1]) + ": cannot be written");
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "mean_csv: %s\n", e.what());
    return 3;
}
