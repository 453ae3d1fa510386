// csv.cpp - see csv.hpp.
#include "csv.hpp"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace tools {

std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::string contents{std::istreambuf_iterator<char>(in), {}};
    if (!in || in.bad()) throw Problem("cannot read " + path.string());
    return contents;
}

std::string read_if_there(const fs::path& path) { return fs::exists(path) ? read(path) : ""; }

std::vector<std::string> lines_of(const std::string& contents) {
    std::istringstream in(contents);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::vector<std::string> split(const std::string& s, const std::string& separator) {
    std::vector<std::string> parts;
    size_t at = 0;
    for (size_t end; (end = s.find(separator, at)) != std::string::npos; at = end + separator.size())
        parts.push_back(s.substr(at, end - at));
    parts.push_back(s.substr(at));
    return parts;
}

std::string trim(const std::string& s) {
    const size_t first = s.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return "";
    return s.substr(first, s.find_last_not_of(" \t\r\n") - first + 1);
}

bool starts_with(const std::string& s, const std::string& start) { return s.compare(0, start.size(), start) == 0; }

std::optional<double> number_in(const std::string& s) {
    std::string digits;
    for (char c : s)
        if (c != ',') digits += c;
    if (digits.empty() || digits.find_first_not_of("0123456789.+-e^") != std::string::npos) return std::nullopt;
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    if (end == digits.c_str()) return std::nullopt;
    if (*end == '^') {
        const char* exponent = end + 1;
        const double power = std::strtod(exponent, &end);
        if (end == exponent || *end) return std::nullopt;
        return std::pow(value, power);
    }
    if (*end) return std::nullopt;
    return value;
}

std::string join(const std::vector<std::string>& words, const std::string& separator) {
    std::string out;
    for (size_t i = 0; i < words.size(); ++i) out += (i ? separator : "") + words[i];
    return out;
}

// ---- CSV files --------------------------------------------------------------------------------------------------

bool Table::has(const std::string& column) const {
    return std::find(header.begin(), header.end(), column) != header.end();
}

std::string cell(const Row& row, const std::string& column) {
    const auto it = row.find(column);
    return it == row.end() || it->second == "-" ? "" : it->second;
}

/// The fields of each line of a CSV text (RFC 4180).
static std::vector<std::vector<std::string>> csv_lines(const std::string& contents, const std::string& name) {
    std::vector<std::vector<std::string>> lines;
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (size_t i = 0; i < contents.size(); ++i) {
        const char c = contents[i];
        if (quoted) {
            if (c != '"')
                fields.back() += c;
            else if (contents.compare(i, 2, "\"\"") == 0)
                fields.back() += contents[++i];
            else
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == ',') {
            fields.emplace_back();
        } else if (c == '\n') {
            lines.push_back(fields);
            fields.assign(1, "");
        } else if (c != '\r') {
            fields.back() += c;
        }
    }
    if (quoted) throw Problem(name + " ends within quotes");
    if (fields.size() > 1 || !fields[0].empty()) lines.push_back(fields);
    return lines;
}

Table read_csv(const fs::path& path) {
    Table table;
    const auto lines = csv_lines(read_if_there(path), path.string());
    for (size_t line = 0; line < lines.size(); ++line) {
        const auto& fields = lines[line];
        if (line == 0) {
            table.header = fields;
            continue;
        }
        if (fields.size() != table.header.size())
            throw Problem(path.string() + ", line " + std::to_string(line + 1) + ": " +
                          std::to_string(fields.size()) + " fields, and the header names " +
                          std::to_string(table.header.size()));
        Row& row = table.rows.emplace_back();
        for (size_t i = 0; i < fields.size(); ++i) row[table.header[i]] = fields[i];
    }
    if (table.rows.empty() && fs::exists(path)) throw Problem(path.string() + " has no rows");
    return table;
}

// ---- a sample's folder ------------------------------------------------------------------------------------------

std::vector<fs::path> sample_folders(const fs::path& top) {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(top)) {
        const std::string name = entry.path().filename().string();
        const bool numbered = name.size() > 3 && name.find_first_not_of("0123456789") == 2 && name[2] == '_';
        if (entry.is_directory() && numbered) folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    return folders;
}

fs::path folder_of(const fs::path& top, const std::string& program) {
    if (fs::is_directory(top / program)) return top / program;
    for (const fs::path& folder : sample_folders(top))
        if (starts_with(folder.filename().string(), program.substr(0, program.find('_')) + "_")) return folder;
    throw Problem("no folder in " + top.string() + " is that of " + program);
}

std::vector<Setting> settings(const fs::path& file) {
    std::vector<Setting> all;
    if (!fs::exists(file)) return all;
    std::string program = fs::absolute(file).parent_path().filename().string();
    int number = 0;
    for (const std::string& line : lines_of(read(file))) {
        ++number;
        const std::string text = trim(line);
        if (text.empty() || text[0] == '#') continue;
        const size_t blank = std::min(text.find_first_of(" \t"), text.size());
        const Setting setting{program, text.substr(0, blank), trim(text.substr(blank)),
                              file.string() + ":" + std::to_string(number)};
        if (setting.word == "program")
            program = setting.rest;
        else
            all.push_back(setting);
    }
    return all;
}

std::vector<std::string> parts(const Setting& setting, size_t count) {
    auto all = split(setting.rest, "|");
    if (all.size() != count)
        throw Problem(setting.where + ": " + setting.word + " takes " + std::to_string(count) +
                      " parts with | between, and here are " + std::to_string(all.size()));
    for (std::string& part : all) part = trim(part);
    return all;
}

}  // namespace tools
