// figures.cpp - holds the figures of the pages against the files in results/.
//   figures tables TOP [PAGE...]   writes the generated tables of the pages anew
//   figures check TOP [PAGE...]    are the tables as they would be written, and where does each figure come from?
// Without pages: README.md, README.zh-CN.md and measured.md of TOP, of its common/ and of each sample's folder.
//
// A generated table; TAG is results/h200_TAG.csv beside the page, or NN/TAG that of sample NN:
//   <!-- table: TAG | variant, time_us as time µs, + what it removed | n=16777216 | rows=modulo,packed -->
//   <!-- end -->
// A column is COLUMN or OTHER_TAG:COLUMN@n=4096&kernel=best (the row of the same name with these values), and `as
// TITLE`;
// `+ TITLE` is typed by hand, and keeps its text by the row's name. Filters and rows may be left out. A comma that
// a blank follows is part of a row's name.
//
// A figure is a number with a unit, with a decimal point, or with a power of ten: 6.1e-07, 6.1E-7, 6.1 × 10⁻⁷,
// 6.1 · 10^-7 and 10⁻⁷. In a table, a number whose heading or row names a unit is also one. Not figures, because
// they are sizes, names and definitions: a power of another base (2³⁰, 2⁻²⁴), a bare 10⁷ or 10^7, a whole number
// such as 1e6 or 1e24, and `code`. A figure is right if a row that its paragraph (or the heading above) names has
// it in a fitting column, with three or more digits (those of a power of ten do not count); or if a comment below
// its paragraph or table says where it comes from:
//   <!-- = 8.9 = default:modulo.time_us / default:packed.time_us; 4.4 µs = ... -->   cells are
//   TAG:ROW.COLUMN[@COLUMN=VALUE&...]
//   <!-- tutorial: 3096 9981 -->                 the tutorial's own
//   <!-- given: 4814 GB/s | the data sheet -->   of the hardware or a manual, and from where
//   <!-- thumb: 32 % -->                         a rule of thumb, three of them on a page at most
//   <!-- prints: COMMAND | 8.9e-01 -->           what the command prints: readme.pl runs it
// Files of an H100 are looked up only where the paragraph names it.
// In README.zh-CN.md a figure is also right if README.md, which is checked first, has it and it is right there.
// Exit status: 0 all is right, 1 not, 3 a file is not what it should be.
#include "csv.hpp"
#include "lab.hpp"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

namespace {

using namespace tools;

int failures = 0;
void complain(const std::string& where, const std::string& what, const std::string& why) {
    std::printf("%s: %s\n      %s\n", where.c_str(), what.c_str(), why.c_str());
    ++failures;
}

// ---- units and numbers ------------------------------------------------------------------------------------------

enum class Kind { none, time, rate, percent, times, clocks, per_ns, frequency };

struct Unit {
    const char* text;
    Kind kind;
    double factor;  ///< of µs, GB/s, ...
};

// The first that fits counts. A unit of letters ends where a word ends.
constexpr Unit units[] = {
    {"GB/s", Kind::rate, 1},
    {"TB/s", Kind::rate, 1000},
    {"MB/s", Kind::rate, 1e-3},
    {"GHz", Kind::frequency, 1},
    {"MHz", Kind::frequency, 1e-3},
    {"µs", Kind::time, 1},
    {"μs", Kind::time, 1},
    {"us", Kind::time, 1},
    {"microseconds", Kind::time, 1},
    {"ms", Kind::time, 1000},
    {"milliseconds", Kind::time, 1000},
    {"ns", Kind::time, 1e-3},
    {"nanoseconds", Kind::time, 1e-3},
    {"seconds", Kind::time, 1e6},
    {"s", Kind::time, 1e6},
    {"微秒", Kind::time, 1},
    {"毫秒", Kind::time, 1000},
    {"纳秒", Kind::time, 1e-3},
    {"秒", Kind::time, 1e6},
    {"%", Kind::percent, 1},
    {"percent", Kind::percent, 1},
    {"×", Kind::times, 1},
    {"times", Kind::times, 1},
    {"倍", Kind::times, 1},
    {"x", Kind::times, 1},
    {"clocks", Kind::clocks, 1},
    {"clock cycles", Kind::clocks, 1},
    {"cycles", Kind::clocks, 1},
    {"clock", Kind::clocks, 1},
    {"个时钟", Kind::clocks, 1},
    {"a ns", Kind::per_ns, 1},
    {"per ns", Kind::per_ns, 1},
    {"a nanosecond", Kind::per_ns, 1},
    {"per nanosecond", Kind::per_ns, 1},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char at(const std::string& s, size_t i) { return i < s.size() ? s[i] : ' '; }
bool has(const std::string& s, size_t i, const std::string& what) { return s.compare(i, what.size(), what) == 0; }

bool any_at(const std::string& s, size_t i, std::initializer_list<const char*> words) {
    return i < s.size() &&
           std::any_of(words.begin(), words.end(), [&](const char* word) { return has(s, i, word); });
}

/// The unit at s[i], or null.
const Unit* unit_at(const std::string& s, size_t i) {
    for (const Unit& unit : units) {
        const std::string text = unit.text;
        const char next = at(s, i + text.size());
        if (i < s.size() && has(s, i, text) && (!is_word(text.back()) || !is_word(next))) return &unit;
    }
    return nullptr;
}

/// A unit that a heading names.
const Unit* unit_in(const std::string& s) {
    if (s.find("times as fast") != std::string::npos) return unit_at("times", 0);
    for (size_t i = 0; i < s.size(); ++i) {
        if (i && is_word(s[i - 1])) continue;
        const Unit* unit = unit_at(s, i);
        if (unit && std::string(unit->text).size() > 1) return unit;
        if (unit && unit->kind == Kind::percent) return unit;
    }
    return nullptr;
}

/// What the numbers of a CSV column are.
Unit unit_of_column(const std::string& column) {
    const auto contains = [&](const char* text) { return column.find(text) != std::string::npos; };
    const auto ends = [&](const std::string& end) {
        return column.size() >= end.size() && has(column, column.size() - end.size(), end);
    };
    if (contains("%") || contains("percent")) return {"%", Kind::percent, 1};
    if (contains("per ns")) return {"a ns", Kind::per_ns, 1};
    if (ends("gb_per_s") || contains("GB/s")) return {"GB/s", Kind::rate, 1};
    if (ends("_us") || contains("µs")) return {"µs", Kind::time, 1};
    if (ends("_ns") || ends(" ns")) return {"ns", Kind::time, 1e-3};
    if (contains("×") || column == "times_library") return {"×", Kind::times, 1};
    if (contains("clock") || contains("warm")) return {"clocks", Kind::clocks, 1};
    return {"", Kind::none, 1};
}

struct Number {
    std::string text;   ///< without commas; with a power of ten as 6.1e-07, however it is written
    size_t begin, end;  ///< in the text that it was found in
    double value;
    int decimals;        ///< less the power of ten
    int digits;          ///< the significant ones
    bool power = false;  ///< is it a figure with a power of ten?
    const Unit* unit = nullptr;
    bool figure = false;  ///< must it come from somewhere?

    std::string name() const { return text + (unit ? std::string(" ") + unit->text : ""); }
    bool same(const Number& other) const {
        return text == other.text && (!other.unit || (unit && std::string(unit->text) == other.unit->text));
    }
    /// Is this number what `exact`, in the same unit, is rounded to its digits?
    bool rounds(double exact) const {
        const double half = 0.5 * std::pow(10, -decimals);
        return std::fabs(exact - value) <= half + 1e-9 * std::max(half, std::fabs(value));
    }
};

/// Is there a power or an index at s[i], as in 2^24, 2²⁰ and 10⁷?
bool superscript_at(const std::string& s, size_t i) {
    return any_at(s, i, {"^", "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹", "⁻"});
}
size_t after_blank(const std::string& s, size_t i) {
    for (const char* blank : {" ", "\u00a0", "\u202f"})
        if (i < s.size() && has(s, i, blank)) return i + std::string(blank).size();
    return i;
}

bool skip(const std::string& s, size_t& i, std::initializer_list<const char*> words) {
    for (const char* word : words) {
        if (!any_at(s, i, {word})) continue;
        i += std::string(word).size();
        return true;
    }
    return false;
}

/// The exponent that starts at s[i], as in e-07 and 10⁻⁷; moves i past it.
std::optional<int> exponent_at(const std::string& s, size_t& i, bool raised) {
    static constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    const bool minus = raised ? skip(s, i, {"⁻"}) : skip(s, i, {"-", "−"});
    if (!minus && !raised) skip(s, i, {"+"});
    int power = 0;
    const size_t first = i;
    for (int digit = 0; digit < 10 && power < 1000; ++digit)
        if (raised ? skip(s, i, {digits[digit]}) : at(s, i) == '0' + digit && ++i) {
            power = 10 * power + digit;
            digit = -1;
        }
    if (i == first || is_word(at(s, i))) return std::nullopt;
    return minus ? -power : power;
}

/// The power of ten that a number has: the number ends at s[i], and i moves past e-07, × 10⁻⁷ or · 10^-7.
std::optional<int> power_at(const std::string& s, size_t& i) {
    size_t k = i;
    std::optional<int> power;
    if (skip(s, k, {"e", "E"})) {
        power = exponent_at(s, k, false);
    } else {
        k = after_blank(s, k);
        if (!skip(s, k, {"×", "·", "⋅", "x", "*"})) return power;
        k = after_blank(s, k);
        if (skip(s, k, {"10"})) power = exponent_at(s, k, !skip(s, k, {"^"}));
    }
    if (power) i = k;
    return power;
}

/// The word that ends before s[i].
std::string word_before(const std::string& s, size_t i) {
    while (i && (s[i - 1] == ' ' || s[i - 1] == '(')) --i;
    size_t begin = i;
    while (begin && s[begin - 1] != ' ' && s[begin - 1] != '(') --begin;
    return s.substr(begin, i - begin);
}

/// The numbers of a text, with their units. Parts of names, dates, versions and powers do not count.
std::vector<Number> numbers_in(const std::string& s) {
    static const std::set<std::string> versions = {
        "CUDA",    "nvcc",   "g++",    "gcc",    "clang",  "capability", "capabilities", "driver",  "runtime",
        "CMake",   "Python", "Ubuntu", "Debian", "OpenCV", "version",    "versions",     "section", "sections",
        "Section", "§",      "SM",     "PTX",    "NCCL",   "ncu",        "CCCL"};
    std::vector<Number> numbers;
    for (size_t i = 0; i < s.size();) {
        if (!is_digit(s[i])) {
            ++i;
            continue;
        }
        size_t end = i;
        std::string text;
        while (is_digit(at(s, end)) || (at(s, end) == ',' && is_digit(at(s, end + 1)) && is_digit(at(s, end + 2)) &&
                                        is_digit(at(s, end + 3)) && !is_digit(at(s, end + 4)))) {
            if (s[end] != ',') text += s[end];
            ++end;
        }
        int decimals = 0;
        if (at(s, end) == '.' && is_digit(at(s, end + 1)))
            for (text += s[end++]; is_digit(at(s, end)); ++decimals) text += s[end++];
        std::optional<int> power;
        bool times_ten = false;  // 10⁻⁷ and 67 · 10¹² are figures, 1e6 and 10⁷ are sizes
        if (text == "10" && any_at(s, end, {"⁻", "^-", "^−"})) {
            power = exponent_at(s, end, !skip(s, end, {"^"}));
            text = "1";
        } else {
            times_ten = !any_at(s, end, {"e", "E"});
            power = power_at(s, end);
        }
        const bool figure_of_ten = power && (times_ten || decimals || *power < 0);
        const size_t begin = i;
        i = end;
        const char before = begin ? s[begin - 1] : ' ';
        const bool dashed = before == '-' && begin > 1 && is_word(s[begin - 2]);
        const bool part = is_word(before) || before == '.' || before == '^' || before == '#' || dashed ||
                          (before == ',' && begin > 1 && is_digit(s[begin - 2])) ||
                          (begin > 1 && has(s, begin - 2, "§"));
        const bool goes_on = (at(s, end) == '.' && is_digit(at(s, end + 1))) ||
                             (at(s, end) == '-' && is_digit(at(s, end + 1))) || superscript_at(s, end);
        if (part || goes_on) {
            while (is_word(at(s, i)) || at(s, i) == '.' || at(s, i) == '-') ++i;
            continue;
        }
        int digits = 0;
        for (size_t d = text.find_first_not_of("0."); d < text.size(); ++d) digits += text[d] != '.';
        if (power) {
            char exponent[16];
            std::snprintf(exponent, sizeof exponent, "e%+03d", *power);
            text += exponent;
        }
        Number number{text, begin, end, std::strtod(text.c_str(), nullptr), decimals - power.value_or(0), digits};
        number.power = figure_of_ten;

        const size_t next = after_blank(s, end);
        number.unit = unit_at(s, next);
        if (!number.unit) {  // 1.37 increments a ns
            size_t word = next;
            while (is_word(at(s, word))) ++word;
            const Unit* later = word > next ? unit_at(s, after_blank(s, word)) : nullptr;
            if (later && later->kind == Kind::per_ns) number.unit = later;
        }
        if (number.unit && number.unit->kind == Kind::times) {  // 70 x 37 and 3 x + y are products
            const std::string unit = number.unit->text;
            const size_t behind = after_blank(s, next + unit.size());
            if (unit != "times" &&
                (is_digit(at(s, behind)) || std::string("+-*/").find(at(s, behind)) != std::string::npos))
                number.unit = nullptr;
        }
        if (number.unit && std::string(number.unit->text) == "s" && next == end)
            number.unit = nullptr;                          // the 1990s
        if (!number.unit && is_word(at(s, end))) continue;  // 3rd, 4K
        const bool bytes = any_at(s, next, {"KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "bytes"});
        number.figure =
            number.unit || figure_of_ten || (decimals && !bytes && !versions.count(word_before(s, begin)));
        numbers.push_back(number);
    }
    // In "17 to 18 %" and "145.94 → 77.22 µs" the unit is both numbers'.
    static const std::set<std::string> between = {"to", "and", "or",      ",",     "–",
                                                  "→",  "->",  "against", ", and", "instead of"};
    for (size_t k = numbers.size(); k-- > 1;) {
        Number& left = numbers[k - 1];
        const Number& right = numbers[k];
        if (left.unit || left.power || !right.unit) continue;  // an error has no unit
        std::string text = s.substr(left.end, right.begin - left.end);
        text.erase(std::remove(text.begin(), text.end(), '*'), text.end());
        if (!between.count(trim(text))) continue;
        left.unit = right.unit;
        left.figure = true;
    }
    return numbers;
}

// ---- results ----------------------------------------------------------------------------------------------------

/// The files in results/ of the samples.
class Results {
public:
    explicit Results(fs::path top) : top_(std::move(top)) {}

    /// The table TAG of the page's folder, or NN/TAG.
    const Table& table(const fs::path& folder, const std::string& tag, const std::string& where) {
        const size_t slash = tag.find('/');
        fs::path home = folder;
        if (slash != std::string::npos) home = folder_of(top_, tag.substr(0, slash) + "_");
        const std::string name = slash == std::string::npos ? tag : tag.substr(slash + 1);
        fs::path file = home / "results" / ("h200_" + name + ".csv");
        if (!fs::exists(file)) file = home / "results" / (name + ".csv");  // of two GPUs: h200x2_...
        if (!fs::exists(file))
            throw Problem(where + ": there is no " + (home / "results" / ("h200_" + name + ".csv")).string());
        return of(file);
    }

    /// All tables that a page may quote: name and rows.
    std::vector<std::pair<std::string, const Table*>> all(const fs::path& folder) {
        std::vector<std::pair<std::string, const Table*>> found;
        const bool everywhere = fs::equivalent(folder, top_);
        for (const fs::path& home : everywhere ? sample_folders(top_) : std::vector<fs::path>{folder}) {
            std::vector<fs::path> files;
            if (fs::is_directory(home / "results"))
                for (const auto& entry : fs::directory_iterator(home / "results"))
                    if (entry.path().extension() == ".csv") files.push_back(entry.path());
            std::sort(files.begin(), files.end());
            for (const fs::path& file : files) {
                std::string tag = file.stem().string();
                if (starts_with(tag, "h200_")) tag = tag.substr(5);
                if (everywhere) tag.insert(0, home.filename().string().substr(0, 2) + "/");
                found.emplace_back(tag, &of(file));
            }
        }
        return found;
    }

private:
    const Table& of(const fs::path& file) {
        const auto [it, is_new] = tables_.try_emplace(file.string());
        if (is_new) it->second = read_csv(file);
        return it->second;
    }
    fs::path top_;
    std::map<std::string, Table> tables_;
};

/// Has the row these values? `conditions` is COLUMN=VALUE&COLUMN=VALUE.
bool fits(const Row& row, const std::string& conditions, const Table& table, const std::string& where) {
    if (conditions.empty()) return true;
    const auto is_true = [&](const std::string& condition) {
        const size_t equal = condition.find('=');
        const std::string column = trim(condition.substr(0, equal));
        if (equal == std::string::npos || !table.has(column))
            throw Problem(where + ": not COLUMN=VALUE: " + conditions);
        const std::string wanted = trim(condition.substr(equal + 1)), value = cell(row, column);
        const auto a = number_in(wanted), b = number_in(value);
        return wanted == value || (a && b && *a == *b);
    };
    const auto all = split(conditions, "&");
    return std::all_of(all.begin(), all.end(), is_true);
}

// ---- expressions over cells -------------------------------------------------------------------------------------

/// A value, and the powers of time and rate in it; is it a percentage?
struct Value {
    double value = 0;
    int time = 0, rate = 0;
    bool percent = false;
};

class Expression {
public:
    Expression(std::string text, Results& results, fs::path folder, std::string where)
        : text_(std::move(text)), results_(results), folder_(std::move(folder)), where_(std::move(where)) {}

    Value value() {
        const Value v = sum();
        blanks();
        if (at_ < text_.size()) wrong();
        return v;
    }

private:
    [[noreturn]] void wrong() const {
        throw Problem(
            where_ + ": cells TAG:ROW.COLUMN, numbers, ( ) and + - * / with blanks around them, and not: " + text_);
    }
    void blanks() {
        while (at(text_, at_) == ' ' && at_ < text_.size()) ++at_;
    }
    char sign(const char* signs) {
        blanks();
        const char c = at(text_, at_);
        if (at_ >= text_.size() || std::string(signs).find(c) == std::string::npos) return 0;
        ++at_;
        return c;
    }
    Value sum() {
        Value left = product();
        while (const char c = sign("+-")) {
            const Value right = product();
            left.value += c == '+' ? right.value : -right.value;
            if (!left.time && !left.rate) left.time = right.time, left.rate = right.rate;
            left.percent = left.percent || right.percent;
        }
        return left;
    }
    Value product() {
        Value left = operand();
        while (const char c = sign("*/")) {
            const Value right = operand();
            const int power = c == '*' ? 1 : -1;
            left.value = c == '*' ? left.value * right.value : left.value / right.value;
            left.time += power * right.time;
            left.rate += power * right.rate;
            left.percent = left.percent != right.percent;
        }
        return left;
    }
    Value operand() {
        if (sign("(")) {
            const Value v = sum();
            if (!sign(")")) wrong();
            return v;
        }
        blanks();
        std::string word;
        bool quoted = false;
        for (int depth = 0; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '"') {
                quoted = !quoted;
                continue;
            }
            depth += !quoted && c == '(';
            if (!quoted && c == ')' && depth-- == 0) break;
            if (!quoted && c == ' ' && at(text_, at_ + 2) == ' ' &&
                std::string("+-*/").find(at(text_, at_ + 1)) != std::string::npos)
                break;
            word += c;
        }
        word = trim(word);
        if (word.find(':') != std::string::npos) return cell_value(word);
        const auto number = number_in(word);
        if (!number) wrong();
        return {*number};
    }
    Value cell_value(const std::string& word) {
        const size_t colon = word.find(':'), condition = word.find('@', colon);
        const std::string tag = word.substr(0, colon);
        const std::string name =
            word.substr(colon + 1, condition == std::string::npos ? condition : condition - colon - 1);
        const std::string conditions = condition == std::string::npos ? "" : word.substr(condition + 1);
        const Table& table = results_.table(folder_, tag, where_);
        for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
            const std::string row_name = name.substr(0, dot), column = name.substr(dot + 1);
            if (!table.has(column)) continue;
            for (const Row& row : table.rows) {
                if (cell(row, "variant") != row_name || !fits(row, conditions, table, where_)) continue;
                const auto number = number_in(cell(row, column));
                if (!number) throw Problem(where_ + ": " + word + " is no number: " + cell(row, column));
                const Unit unit = unit_of_column(column);
                return {*number * unit.factor, unit.kind == Kind::time, unit.kind == Kind::rate,
                        unit.kind == Kind::percent};
            }
            const std::string with = conditions.empty() ? "" : " with " + conditions;
            throw Problem(join({where_, ": there is no row ", row_name, with, " in ", tag}, ""));
        }
        throw Problem(where_ + ": " + tag + " has no column for " + word);
    }
    std::string text_;
    Results& results_;
    fs::path folder_;
    std::string where_;
    size_t at_ = 0;
};

/// Is the number this value, rounded to its digits and in its unit?
bool is_value(const Number& number, const Value& v) {
    if (!std::isfinite(v.value)) return false;
    const Kind kind = number.unit ? number.unit->kind : Kind::none;
    if ((kind == Kind::time && v.time == 1) || (kind == Kind::rate && v.rate == 1))
        return number.rounds(v.value / number.unit->factor);
    if (kind == Kind::percent && !v.percent) return number.rounds(100 * v.value) || number.rounds(v.value);
    return number.rounds(v.value);
}

// ---- a page -----------------------------------------------------------------------------------------------------

struct Comment {
    int line;
    std::string text;
};

/// A paragraph, a heading or a table, and the comments below it.
struct Block {
    std::vector<std::pair<int, std::string>> lines;  // with their numbers
    std::vector<Comment> comments;
    std::string heading;  ///< the one above
    bool table = false;
    bool generated = false;  ///< a table that `figures tables` writes
};

/// The blocks of a page, without code, quotes and what no reader sees.
std::vector<Block> blocks_of(const std::vector<std::string>& lines) {
    std::vector<Block> blocks;
    std::string heading;
    bool open = false, fenced = false, generated = false;
    const auto block = [&](bool table) -> Block& {
        if (!open || blocks.back().table != table) {
            blocks.emplace_back();
            blocks.back().heading = heading;
            blocks.back().table = table;
            blocks.back().generated = generated;
        }
        open = true;
        return blocks.back();
    };
    for (size_t i = 0; i < lines.size(); ++i) {
        const int number = static_cast<int>(i) + 1;
        std::string line = lines[i];
        if (starts_with(trim(line), "```")) {
            fenced = !fenced;
            open = false;
            continue;
        }
        if (fenced) continue;
        for (size_t begin; (begin = line.find("<!--")) != std::string::npos;) {
            while (line.find("-->", begin) == std::string::npos && i + 1 < lines.size())
                line += " " + trim(lines[++i]);
            const size_t end = std::min(line.find("-->", begin), line.size());
            const std::string text = trim(line.substr(begin + 4, end - begin - 4));
            line.erase(begin, end + 3 - begin);
            const bool table = starts_with(text, "table:");
            if (table || text == "end")
                generated = table;
            else if (!blocks.empty())
                blocks.back().comments.push_back({number, text});
            if (trim(line).empty() && text != "end") open = false;
        }
        const std::string text = trim(line);
        if (text.empty() || text[0] == '>') {
            open = false;
            continue;
        }
        if (text[0] == '#') {
            heading = text;
            open = false;
            block(false).lines.emplace_back(number, text);
            open = false;
            continue;
        }
        block(text[0] == '|').lines.emplace_back(number, text);
    }
    return blocks;
}

/// The text without code, without where links lead to, and without tags.
std::string prose(const std::string& text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        size_t end = std::string::npos;
        if (text[i] == '`')
            end = text.find('`', i + 1);
        else if (has(text, i, "]("))
            end = text.find(')', i);
        else if (text[i] == '<' && (is_word(at(text, i + 1)) || at(text, i + 1) == '/'))
            end = text.find('>', i);
        if (end == std::string::npos) {
            out += text[i];
            continue;
        }
        out += std::string(end - i + 1, '\t');  // no blank, so that the texts around it do not join
        i = end;
    }
    return out;
}

bool names(const std::string& text, const std::string& name) {
    for (size_t i = text.find(name); i != std::string::npos; i = text.find(name, i + 1))
        if ((!i || !is_word(text[i - 1]) || !is_word(name[0])) &&
            (!is_word(at(text, i + name.size())) || !is_word(name.back())))
            return true;
    return false;
}

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::string cell;
    for (size_t i = 1; i < line.size(); ++i) {
        if (line[i] == '|' && line[i - 1] != '\\') {
            cells.push_back(trim(cell));
            cell.clear();
        } else {
            cell += line[i];
        }
    }
    if (!trim(cell).empty()) cells.push_back(trim(cell));
    return cells;
}

class Page {
public:
    Page(const fs::path& path, Results& results, const fs::path& top)
        : path_(path),
          folder_(path.parent_path().empty() ? fs::path(".") : path.parent_path()),
          name_(fs::relative(path, top).string()),
          results_(results),
          chinese_(path.filename() == "README.zh-CN.md"),
          lines_(lines_of(read(path))) {}

    /// The page with its tables written anew.
    std::string with_tables() {
        std::string out;
        for (size_t i = 0; i < lines_.size(); ++i) {
            out += lines_[i] + "\n";
            const std::string text = trim(lines_[i]);
            if (starts_with(text, "```")) fenced_ = !fenced_;
            if (fenced_ || !starts_with(text, "<!-- table:")) continue;
            const size_t begin = i;
            while (i + 1 < lines_.size() && trim(lines_[i + 1]) != "<!-- end -->") ++i;
            if (i + 1 >= lines_.size() || text.find("-->") == std::string::npos)
                throw Problem(where(static_cast<int>(begin) + 1) +
                              ": a table takes one line <!-- table: ... --> and one <!-- end -->");
            const std::vector<std::string> old(lines_.begin() + static_cast<long>(begin) + 1,
                                               lines_.begin() + static_cast<long>(i) + 1);
            out += table(text.substr(11, text.find("-->") - 11), old, where(static_cast<int>(begin) + 1));
        }
        return out;
    }

    /// Complains about each figure of the page that is neither in results/ nor in a comment nor in `known`. Returns
    /// the page's other numbers.
    std::set<std::string> check(const std::set<std::string>& known = {}) {
        const auto all = results_.all(folder_);
        std::set<std::string> right;
        int thumbs = 0;
        for (const Block& block : blocks_of(lines_)) {
            std::vector<Number> covering;
            std::vector<Found> found = figures(block);
            for (const Comment& comment : block.comments) read_comment(comment, found, covering, thumbs);
            for (const Found& f : found) {
                const bool covered = std::any_of(covering.begin(), covering.end(),
                                                 [&](const Number& c) { return f.number.same(c); });
                const int before = failures;
                if (f.number.figure && !covered && !known.count(f.number.text)) search(f, all);
                if (failures == before) right.insert(f.number.text);
            }
        }
        if (thumbs > 3) complain(name_, std::to_string(thumbs) + " rules of thumb", "a page has three at most");
        return right;
    }

private:
    struct Found {
        Number number;
        int line;
        std::string context;  ///< the text that must name the row
    };

    std::string where(int line) const { return name_ + ":" + std::to_string(line); }

    std::vector<Found> figures(const Block& block) const {
        std::vector<Found> found;
        if (!block.table) {
            std::string text;
            std::vector<int> line_of;
            for (const auto& [line, part] : block.lines) {
                text += (text.empty() ? "" : " ") + part;
                line_of.resize(text.size() + 1, line);
            }
            for (const Number& n : numbers_in(prose(text)))
                found.push_back({n, line_of[n.begin], text + " " + block.heading});
            return found;
        }
        const auto head = cells_of(block.lines[0].second);
        for (size_t r = 1; r < block.lines.size(); ++r) {
            const auto& [line, text] = block.lines[r];
            const auto row = cells_of(text);
            for (size_t c = 0; c < row.size(); ++c) {
                std::string bare = row[c];
                bare.erase(std::remove(bare.begin(), bare.end(), '*'), bare.end());
                for (Number n : numbers_in(prose(row[c]))) {
                    const bool alone = n.end - n.begin == bare.size() - starts_with(bare, "-");
                    if (!n.unit && !block.generated && alone) {
                        if (c < head.size()) n.unit = unit_in(prose(head[c]));
                        if (!n.unit && c) n.unit = unit_in(prose(row[0]));
                    }
                    n.figure = n.unit || ((n.power || (chinese_ && n.figure)) && !(block.generated && alone));
                    found.push_back({n, line, block.lines[0].second + " " + text});
                }
            }
        }
        return found;
    }

    void read_comment(const Comment& comment, const std::vector<Found>& found, std::vector<Number>& covering,
                      int& thumbs) {
        const std::string place = where(comment.line);
        const auto stands = [&](const Number& n) {
            const bool there =
                std::any_of(found.begin(), found.end(), [&](const Found& f) { return f.number.same(n); });
            if (!there)
                complain(place, n.name(), "the comment names it, and the paragraph above has no such figure");
            return there;
        };
        const std::string text = comment.text;
        if (starts_with(text, "=")) {
            for (const std::string& entry : split(text, ";")) {
                std::string rest = trim(entry);
                if (starts_with(rest, "=")) rest = trim(rest.substr(1));
                const size_t equal = rest.find(" = ");
                const auto numbers = numbers_in(rest.substr(0, equal));
                if (equal == std::string::npos || numbers.size() != 1) {
                    complain(place, entry, "not FIGURE = EXPRESSION");
                    continue;
                }
                if (!stands(numbers[0])) continue;
                covering.push_back(numbers[0]);
                try {
                    const Value v = Expression(rest.substr(equal + 3), results_, folder_, place).value();
                    for (const Found& f : found)
                        if (f.number.same(numbers[0]) && !is_value(f.number, v))
                            complain(where(f.line), f.number.name(),
                                     "the comment's " + rest.substr(equal + 3) + " is " + number(v.value));
                } catch (const Problem& p) {
                    complain(place, entry, p.what());
                }
            }
            return;
        }
        if (starts_with(text, "prints:") && text.find(" | ") != std::string::npos)
            for (const Number& n : numbers_in(text.substr(text.find(" | ")))) covering.push_back(n);
        for (const char* word : {"tutorial:", "given:", "thumb:"}) {
            if (!starts_with(text, word)) continue;
            const size_t bar = text.find('|');
            const auto numbers = numbers_in(text.substr(
                std::string(word).size(), bar == std::string::npos ? bar : bar - std::string(word).size()));
            if (numbers.empty()) complain(place, text, "no figure in it");
            if (word == std::string("given:") && (bar == std::string::npos || trim(text.substr(bar + 1)).empty()))
                complain(place, text, "not <!-- given: FIGURE | where from -->");
            for (const Number& n : numbers)
                if (stands(n)) covering.push_back(n);
            if (word == std::string("thumb:")) thumbs += static_cast<int>(numbers.size());
        }
    }

    static std::string number(double value) {
        char text[32];
        std::snprintf(text, sizeof text, "%.6g", value);
        return text;
    }

    /// Is there a cell for this figure?
    void search(const Found& f, const std::vector<std::pair<std::string, const Table*>>& all) const {
        static const std::set<std::string> no_result = {"n", "threads", "seed"};
        const Number& figure = f.number;
        const Kind kind = figure.unit ? figure.unit->kind : Kind::none;
        const double factor = figure.unit ? figure.unit->factor : 1;
        std::string nearest, unnamed, few;
        double least = INFINITY;
        for (const auto& [tag, table] : all) {
            if (tag.find("h100") != std::string::npos && !names(f.context, "H100")) continue;
            for (const Row& row : table->rows) {
                const std::string variant = cell(row, "variant");
                const bool named = !variant.empty() && names(f.context, variant);
                for (const std::string& column : table->header) {
                    const Unit unit = unit_of_column(column);
                    if (no_result.count(column) || (kind != Kind::none && unit.kind != kind)) continue;
                    const auto value = number_in(cell(row, column));
                    if (!value) continue;
                    const double shown = kind == Kind::none ? *value : *value * unit.factor / factor;
                    const std::string size = row.count("n") ? "@n=" + cell(row, "n") : "";
                    const std::string source = join({tag, ":", variant, ".", column, size}, "");
                    if (figure.rounds(shown)) {
                        if (named && figure.digits >= 3) return;
                        std::string& fitting = named ? few : unnamed;
                        if (fitting.empty() || (starts_with(tag, "default") && !starts_with(fitting, "default")))
                            fitting = source;
                    }
                    const double far = std::fabs(shown - figure.value) * (named ? 1 : 10);
                    if (far >= least) continue;
                    least = far;
                    nearest =
                        number(shown) + (figure.unit ? std::string(" ") + figure.unit->text : "") + ", " + source;
                }
            }
        }
        const std::string ask = "<!-- = " + figure.name() + " = ";
        complain(where(f.line), figure.name(),
                 !few.empty() ? "fewer than three digits fit too much; say which it is: " + ask + few + " -->"
                 : !unnamed.empty()
                     ? "a cell has it, but the paragraph does not name its row: " + ask + unnamed + " -->"
                 : !nearest.empty() ? "no cell has it. Nearest: " + nearest
                                    : "no file in results/ has such figures. Say where it comes from");
    }

    // ---- tables

    struct Column {
        std::string tag, column, conditions, title;
        bool typed = false;
    };

    std::string table(const std::string& what, const std::vector<std::string>& old, const std::string& place) {
        auto part = split(what, "|");
        for (std::string& p : part) p = trim(p);
        if (part.size() < 2) throw Problem(place + ": not <!-- table: TAG | COLUMN, COLUMN as TITLE, + TITLE -->");
        const Table& source = results_.table(folder_, part[0], place);
        std::vector<Column> columns;
        for (const std::string& text : split(part[1], ", ")) columns.push_back(column(trim(text), part[0], place));

        std::string conditions, wanted;
        for (size_t i = 2; i < part.size(); ++i) {
            if (starts_with(part[i], "rows="))
                wanted = part[i].substr(5);
            else
                conditions = part[i];
        }
        std::vector<const Row*> rows;
        const auto take = [&](const std::string* name) {
            const size_t before = rows.size();
            for (const Row& row : source.rows)
                if ((!name || cell(row, "variant") == *name) && fits(row, conditions, source, place))
                    rows.push_back(&row);
            if (rows.size() == before)
                throw Problem(place + ": no row" + (name ? " " + *name : std::string()) + " fits in " + part[0]);
        };
        if (wanted.empty())
            take(nullptr);
        else
            for (const std::string& name : row_names(wanted)) take(&name);

        std::vector<std::vector<std::string>> cells;
        for (const Row* row : rows) {
            auto& line = cells.emplace_back();
            for (const Column& c : columns) line.push_back(c.typed ? "" : text_of(c, *row, place));
        }
        keep_typed(columns, cells, old, place);
        return markdown(columns, cells);
    }

    static std::vector<std::string> row_names(const std::string& list) {
        std::vector<std::string> all;
        for (const std::string& name : split(list, ",")) {
            if (!all.empty() && starts_with(name, " "))
                all.back() += "," + name;
            else
                all.push_back(name);
        }
        return all;
    }

    Column column(const std::string& text, const std::string& tag, const std::string& place) {
        if (starts_with(text, "+ ")) return {"", "", "", trim(text.substr(2)), true};
        const size_t as = text.find(" as ");
        std::string name = trim(text.substr(0, as)), from = tag, conditions;
        const std::string title = as == std::string::npos ? "" : trim(text.substr(as + 4));
        if (const size_t condition = name.find('@'); condition != std::string::npos) {
            conditions = name.substr(condition + 1);
            name.resize(condition);
        }
        if (const size_t colon = name.find(':'); colon != std::string::npos) {
            from = name.substr(0, colon);
            name = name.substr(colon + 1);
        }
        if (!results_.table(folder_, from, place).has(name))
            throw Problem(place + ": " + from + " has no column " + name);
        const bool own = from == tag && conditions.empty();
        return {own ? "" : from, name, conditions, title.empty() ? name : title};
    }

    std::string text_of(const Column& c, const Row& row, const std::string& place) {
        std::string value = cell(row, c.column);
        if (!c.tag.empty()) {
            const Table& other = results_.table(folder_, c.tag, place);
            value.clear();
            for (const Row& r : other.rows) {
                if (cell(r, "variant") != cell(row, "variant") || !fits(r, c.conditions, other, place)) continue;
                value = cell(r, c.column);
                break;
            }
        }
        const bool name = c.column == "variant" && cell(row, "verdict") != "limit" &&
                          value.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
        if (name) value = "`" + value + "`";
        return value.empty() ? "-" : join(split(value, "|"), "\\|");
    }

    /// Text typed by hand stays beside the row of the same name.
    static void keep_typed(const std::vector<Column>& columns, std::vector<std::vector<std::string>>& cells,
                           const std::vector<std::string>& old, const std::string& place) {
        if (old.size() < 2) return;
        const auto head = cells_of(trim(old[0]));
        std::map<std::string, std::vector<std::vector<std::string>>> before;
        for (size_t r = 2; r < old.size(); ++r) {
            const auto row = cells_of(trim(old[r]));
            if (!row.empty()) before[row[0]].push_back(row);
        }
        for (size_t c = 0; c < columns.size(); ++c) {
            if (!columns[c].typed) continue;
            const auto it = std::find(head.begin(), head.end(), columns[c].title);
            if (it == head.end())
                throw Problem(place + ": the table has no column " + columns[c].title +
                              " yet; give it its heading by hand, so that no text is lost");
            const size_t from = static_cast<size_t>(it - head.begin());
            std::map<std::string, size_t> seen;
            for (auto& row : cells) {
                const size_t rank = seen[row[0]]++;
                const auto& rows = before[row[0]];
                if (rank < rows.size() && from < rows[rank].size()) row[c] = rows[rank][from];
            }
            for (const auto& [name, rows] : before)
                for (size_t rank = seen[name]; rank < rows.size(); ++rank)
                    if (from < rows[rank].size() && !rows[rank][from].empty())
                        std::fprintf(stderr, "%s: the row %s is gone, and with it: %s\n", place.c_str(),
                                     name.c_str(), rows[rank][from].c_str());
        }
    }

    static std::string markdown(const std::vector<Column>& columns,
                                const std::vector<std::vector<std::string>>& cells) {
        std::string head = "|", rule = "|", out;
        for (size_t c = 0; c < columns.size(); ++c) {
            const bool numbers = !columns[c].typed && std::all_of(cells.begin(), cells.end(), [&](const auto& row) {
                return row[c] == "-" || number_in(row[c]);
            });
            head += " " + columns[c].title + " |";
            rule += numbers ? " ---: |" : " --- |";
        }
        for (const auto& row : cells) {
            out += "|";
            for (const std::string& text : row) out += text.empty() ? " |" : " " + text + " |";
            out += "\n";
        }
        return head + "\n" + rule + "\n" + out;
    }

    fs::path path_, folder_;
    std::string name_;
    Results& results_;
    bool chinese_;  // its tables are those of README.md, where their figures are explained
    std::vector<std::string> lines_;
    bool fenced_ = false;
};

std::vector<fs::path> pages_of(const fs::path& top) {
    std::vector<fs::path> folders = {top, top / "common"}, pages;
    for (const fs::path& folder : sample_folders(top)) folders.push_back(folder);
    for (const fs::path& folder : folders)
        for (const char* page : {"README.md", "README.zh-CN.md", "measured.md"})
            if (fs::exists(folder / page)) pages.push_back(folder / page);
    return pages;
}

}  // namespace

int main(int argc, char** argv) try {
    const std::string task = argc > 2 ? argv[1] : "";
    if (task != "tables" && task != "check") throw Problem("type figures tables|check TOP [PAGE...]");
    const fs::path top = argv[2];
    std::vector<fs::path> pages(argv + 3, argv + argc);
    if (pages.empty()) pages = pages_of(top);
    Results results(top);
    std::map<fs::path, std::set<std::string>> right;  // the numbers of each README.md that are not wrong
    for (const fs::path& page : pages) {
        const std::string before = read(page), after = Page(page, results, top).with_tables();
        if (task == "tables") {
            if (after == before) continue;
            lab::write_file(page.string(), after);
            std::printf("%s\n", page.c_str());
            continue;
        }
        if (after != before) {
            const auto old = lines_of(before), now = lines_of(after);
            size_t line = 0;
            while (line < old.size() && line < now.size() && old[line] == now[line]) ++line;
            complain(fs::relative(page, top).string() + ":" + std::to_string(line + 1),
                     line < old.size() ? old[line] : "the end",
                     "make tables writes: " + (line < now.size() ? now[line] : "nothing"));
        }
        std::set<std::string>& known = right[page.parent_path()];
        if (page.filename() == "README.md" || (page.filename() == "README.zh-CN.md" && known.empty()))
            known = Page(page.parent_path() / "README.md", results, top).check();
        if (page.filename() != "README.md")
            Page(page, results, top).check(page.filename() == "README.zh-CN.md" ? known : std::set<std::string>());
    }
    if (task == "check")
        std::printf("%zu pages, %d figures or tables are not in results/\n", pages.size(), failures);
    return failures > 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "figures: %s\n", e.what());
    return 3;
}
