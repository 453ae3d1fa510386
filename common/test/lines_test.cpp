// lines_test.cpp - tests lab.cpp with random command lines, in process, against a second implementation of its
// rules. LAB_LINES is the number of lines, LAB_LINES_SEED the seed.
#include "lab.hpp"

#include <gtest/gtest.h>
#include <iconv.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using Line = std::vector<std::string>;

struct Sample : lab::Lab {  // one option of each kind
    std::string type = "int", out;
    int64_t few = 7;
    bool sweep = false;
    Sample() : Lab("00_lines", "What do you make of it?") {
        defaults(1000, 0, 256, "elements", "blocks");
        variant("slow", "one by one");
        variant("fast", "all at once");
        twin("broken", "nothing at all");
        twin("late", "after the end");
        option("--type", type, {"int", "float"}, "a choice");
        option("--few", few, 3, 4000000000, "a number");
        option("--sweep", sweep, "a flag");
        file_option("--out", out, "a file");
    }
};

/// The reference's reading of a line: options have their full names and take a value after them or after "=". Only
/// --only may occur twice.
struct Reading {
    bool wrong = false, ends = false;  // ends: the line asks for help or the list
    std::set<std::string> flags;
    std::map<std::string, Line> values;
};

const uint64_t any = ~uint64_t(0);  // the upper limit is checked later, when the whole run is known
const std::map<std::string, std::pair<uint64_t, uint64_t>> numbers = {
    {"--n", {1, any}},       {"--blocks", {1, any}},     {"--seed", {0, (uint64_t(1) << 63) - 1}},
    {"--repeats", {1, any}}, {"--few", {3, 4000000000}}, {"--threads", {1, 1024}}};
const std::map<std::string, std::set<std::string>> words = {
    {"--only", {"slow", "fast"}}, {"--wrong", {"broken", "late"}}, {"--type", {"int", "float"}}};
const std::set<std::string> files = {"--csv", "--out"},
                            flags = {"--warm", "--sweep", "--list", "--verbose", "--help", "-h"};

/// Returns the whole number that the text denotes, as digits, 2.5e6 or 2^20; -1 if it is not one. A number that is
/// too large becomes larger than any limit. 64-bit significands hold all numbers within the limits.
long double value_of(const std::string& text) {
    if (text.size() > 1000) return text.find_first_not_of("0123456789") == std::string::npos ? HUGE_VALL : -1;
    size_t at = 0;
    const auto digits = [&] {
        const size_t from = at;
        at = std::min(text.find_first_not_of("0123456789", at), text.size());
        return at > from;
    };
    const auto next = [&](const std::string& letters) {
        const bool is = at < text.size() && letters.find(text[at]) != std::string::npos;
        at += is;
        return is;
    };
    if (!digits()) return -1;
    if (next("^")) {
        const char* const power = text.c_str() + at;
        if (!digits() || at < text.size()) return -1;
        return std::pow(std::strtold(text.c_str(), nullptr), std::strtold(power, nullptr));
    }
    if (next(".") && !digits()) return -1;
    if (next("eE")) {
        next("+");
        if (!digits()) return -1;
    }
    if (at < text.size()) return -1;
    const long double value = std::strtold(text.c_str(), nullptr);
    return std::floor(value) == value ? value : -1;
}

Reading read_again(const Line& line) {
    Reading r;
    for (size_t i = 0; i < line.size(); ++i) {
        const size_t equals = line[i].find('=');
        const std::string name = line[i].substr(0, equals);
        if (flags.count(name)) {
            r.wrong |=
                equals != std::string::npos || (!r.flags.insert(name).second && name != "--help" && name != "-h");
            r.ends |= name == "--list" || name == "--help" || name == "-h";
            continue;
        }
        if (line[i] == "--" && i + 1 == line.size()) continue;
        if (!numbers.count(name) && !words.count(name) && !files.count(name)) {
            r.wrong = true;
            if (name.compare(0, 2, "-h") == 0) r.flags.insert("-h");  // -h5 also asks for help
            r.ends |= r.flags.count("-h") > 0;
            continue;
        }
        if (equals == std::string::npos && i + 1 == line.size()) {
            r.wrong = true;
            continue;
        }
        const std::string value = equals == std::string::npos ? line[++i] : line[i].substr(equals + 1);
        r.values[name].push_back(value);
        r.wrong |= value.empty() || (name != "--only" && r.values[name].size() > 1);
        if (words.count(name)) r.wrong |= !words.at(name).count(value);
        if (files.count(name)) r.wrong |= value[0] == '-';
        if (!numbers.count(name)) continue;
        const long double number = value_of(value);
        r.wrong |=
            number < numbers.at(name).first || (numbers.at(name).second != any && number > numbers.at(name).second);
        if (name == "--threads") r.wrong |= number > 0 && std::log2(number) != std::floor(std::log2(number));
    }
    r.wrong |= r.values.count("--only") && r.values.count("--wrong");
    if (!r.wrong && r.values.count("--csv") && r.values.count("--out")) {
        const std::string& csv = r.values["--csv"][0];
        r.wrong =
            !r.flags.count("--list") && csv == r.values["--out"][0] && csv.size() < 256 && csv.find("/dev/") != 0;
    }
    return r;
}

bool is_utf8(std::string s) {
    static const iconv_t to = iconv_open("UTF-32LE", "UTF-8");
    std::vector<char> room(4 * s.size() + 4);
    char *in = s.data(), *out = room.data();
    size_t in_left = s.size(), out_left = room.size();
    return iconv(to, &in, &in_left, &out, &out_left) == 0 || (iconv(to, nullptr, nullptr, nullptr, nullptr), false);
}

/// True if the text has no control characters: no C0 except the newline, no DEL, and no C1 in UTF-8.
bool is_harmless(const std::string& s) {
    for (size_t i = 0; i < s.size(); ++i) {
        const unsigned char c = s[i], next = i + 1 < s.size() ? s[i + 1] : 0;
        if ((c < 0x20 && c != '\n') || c == 0x7f || (c == 0xc2 && next >= 0x80 && next <= 0x9f)) return false;
    }
    return is_utf8(s);
}

Line split(const std::string& list) {  // splits the list at each |
    Line line;
    std::istringstream in(list);
    for (std::string word; std::getline(in, word, '|');) line.push_back(word);
    return line;
}

class Lines {
public:
    Lines(uint64_t seed, std::string folder) : random_(seed), folder_(std::move(folder)) {}

    Line line() {
        Line line;
        const bool tidy = random_() % 2;  // half of the lines are likely to be right
        for (uint64_t count = random_() % (tidy ? 5 : 8); count > 0; --count) {
            const std::string name = tidy || random_() % 4 ? of(right_names) : of(wrong_names);
            std::string value = tidy && random_() % 16 ? right_value(name) : any_value();
            if (flags.count(name) && random_() % 64) {
                line.push_back(name);
            } else if (random_() % 5 == 0) {
                line.push_back(name + (random_() % 16 ? "=" : ":") + value);
            } else {
                line.push_back(name);
                if (random_() % 32) line.push_back(value);
            }
        }
        if (!tidy && random_() % 4 == 0)
            line.insert(line.begin() + long(random_() % (line.size() + 1)), any_value());
        return line;
    }

private:
    const std::string& of(const Line& list) { return list[random_() % list.size()]; }
    std::string right_value(const std::string& name) {
        if (name == "--threads") return of({"1", "2^8", "0512", "1.024e3"});
        if (numbers.count(name) && random_() % 3 == 0) return of({"1e3", "2^12", "2.5e4", "5E+2", "3.0", "10^4"});
        if (numbers.count(name))
            return std::string(random_() % 9 ? 0 : 3, '0') + std::to_string(3 + random_() % 99998);
        if (files.count(name)) return folder_ + (random_() % 8 ? random_() % 2 ? "/x" : "/y" : "/none/x");
        if (!words.count(name)) return "";
        const auto& list = words.at(name);
        return *std::next(list.begin(), long(random_() % list.size()));
    }
    std::string any_value() {
        switch (random_() % 12) {
            case 0: return of(right_names);
            case 1: return of(wrong_names);
            case 2: return right_value(of(right_names));
            case 3: {  // random bytes
                std::string s;
                for (uint64_t i = random_() % 12; i > 0; --i) s += char(1 + random_() % 255);
                return s;
            }
            case 4: return std::to_string(random_() >> (random_() % 64));
            case 5: return random_() % 50 ? of(odd) : std::string(100000, char(1 + random_() % 255));
            default: return of(odd);
        }
    }

    std::mt19937_64 random_;
    std::string folder_;
    const Line right_names = split(
        "--n|--blocks|--threads|--seed|--repeats|--only|--wrong|--csv|--warm|--list|--help|--type|--few|"
        "--sweep|--out|-h|--n|--only|--only|--blocks|--seed|--verbose");
    const Line wrong_names = split(
        "--N|-n|--no|--onl|--help-all|--version|--config|-nh|-hn|--n-|--th_reads|--only=|--n=|---n|-|--|++|"
        "/n|@x|--n 5|--warm=1|--no-warm|--h|--=|=|--=5|stray|!--n|-5|-h5|-=|--list=0");
    const Line odd = split(
        "| "
        "|+5|-5|-0|1e3|1e-3|1.25e1|.5e1|5.e1|1e|e5|1e400|1e99999|2^|^3|2^-1|2^2^2|0^0|1^99|3^41|2^63|1.00|0x10|007|"
        " 7|7 |1.5|NaN|inf|2147483647|2147483648|4294967296|9223372036854775807|"
        "9223372036854775808|18446744073709551615|18446744073709551616|18446744073709551617|"
        "99999999999999999999999999|0|1|2|3|1'000|1_000|1,000|0b11|0o7|010|[slow,fast]|{slow,fast}|[]|{}|"
        "[slow]|slow,fast|SLOW|slo|%s%n%d|'|\"|true|false|\x1b[31mred\x1b[0m|\x07|a\nb|\r|\x7f|"
        "\xc2\x9b"
        "31m|\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80|\xc0\xaf|\xff\xfe|\xed\xa0\x80|\xe2\x82|"
        "\xf4\x90\x80\x80|\xe5\x86\x85\xe5\xad\x98|--|-|=|==|\xe0\x80\xaf|1125899906842624|"
        "1125899906842625|100000|100001|4000000000|4000000001|/dev/null|/dev/full|/|.|/none/x|x/|/proc/x");
};

std::string shown(const Line& line) {
    std::string s;
    for (const std::string& word : line) s += " '" + lab::printable(word) + "'";
    return s;
}

uint64_t from_environment(const char* name, uint64_t otherwise) {
    const char* value = std::getenv(name);
    return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

/// Checks one line. Returns the exit status, or 1 if the program would continue.
int check(const Line& line) {
    Sample sample;
    Line argv_words = line;
    argv_words.insert(argv_words.begin(), "00_lines");
    std::vector<char*> argv;
    for (std::string& w : argv_words) argv.push_back(w.data());
    argv.push_back(nullptr);
    const auto ended = sample.read(int(argv.size()) - 1, argv.data());
    const Reading want = read_again(line);
    if (ended) {
        EXPECT_TRUE(is_harmless(ended->text)) << lab::printable(ended->text);
        EXPECT_LT(ended->text.size(), 10000u);
        EXPECT_EQ(ended->text.back(), '\n');
        const bool help = want.flags.count("--help") || want.flags.count("-h");  // may come in spite of a mistake
        EXPECT_TRUE((ended->status == lab::bad_command_line) == want.wrong || (help && ended->status == 0))
            << ended->text;
        const bool refused = ended->status == lab::bad_command_line, unwritten = ended->status == lab::system_error;
        EXPECT_TRUE(refused || unwritten || want.ends) << ended->text;
        EXPECT_EQ(ended->text.find("Type 00_lines --help") != std::string::npos, refused) << ended->text;
        EXPECT_EQ(ended->text.find("cannot write") != std::string::npos, unwritten) << ended->text;
        return ended->status;
    }
    EXPECT_FALSE(want.wrong || want.ends) << "taken as right";
    const auto number = [&](const char* name, uint64_t otherwise, long double most = 0x1p63L) {
        return want.values.count(name) ? uint64_t(std::min(most, value_of(want.values.at(name)[0]))) : otherwise;
    };
    const auto word = [&](const char* name, const char* otherwise) {
        return want.values.count(name) ? want.values.at(name)[0] : otherwise;
    };
    EXPECT_EQ(uint64_t(sample.n()), number("--n", 1000, 0x1p50L));
    EXPECT_EQ(uint64_t(sample.blocks()), number("--blocks", 0, 0x1p31L - 1));
    EXPECT_EQ(sample.seed(), number("--seed", 42));
    EXPECT_EQ(uint64_t(sample.repeats()), number("--repeats", 0, 100000));
    EXPECT_EQ(uint64_t(sample.few), number("--few", 7));
    EXPECT_EQ(uint64_t(sample.threads()), number("--threads", 256));
    EXPECT_EQ(sample.type, word("--type", "int"));
    EXPECT_EQ(sample.out, word("--out", ""));
    EXPECT_EQ(sample.writes_csv(), want.values.count("--csv") == 1);
    EXPECT_EQ(sample.warm(), want.flags.count("--warm") == 1);
    EXPECT_EQ(sample.sweep, want.flags.count("--sweep") == 1);
    const bool alone = want.values.count("--wrong");
    for (const char* twin : {"broken", "late"}) EXPECT_EQ(sample.wants_twin(twin), word("--wrong", "") == twin);
    for (const char* variant : {"slow", "fast"}) {
        bool named = !want.values.count("--only");
        if (!named)
            for (const std::string& v : want.values.at("--only")) named |= v == variant;
        EXPECT_EQ(sample.wants(variant), named && !alone);
    }
    return 1;
}

TEST(Lines, AreReadAsTheRulesSay) {
    const fs::path folder = fs::temp_directory_path() / ("lines_test_" + std::to_string(::getpid()));
    const uint64_t seed = from_environment("LAB_LINES_SEED", 1), count = from_environment("LAB_LINES", 100000);
    fs::create_directories(folder);
    fs::current_path(folder);
    Lines lines(seed, folder.string());
    std::map<int, uint64_t> ended;
    for (uint64_t i = 0; i < count && !HasFailure(); ++i) {
        const Line line = lines.line();
        SCOPED_TRACE("LAB_LINES_SEED=" + std::to_string(seed) + ", line " + std::to_string(i) + ":" + shown(line));
        ASSERT_NO_THROW(++ended[check(line)]);
        EXPECT_TRUE((i % 1000 != 0 && i + 1 != count) || fs::is_empty(folder)) << "files are left";
    }
    fs::current_path("/");
    fs::remove_all(folder);
    std::printf("%llu lines: %llu would run, %llu end with 0, %llu with 2, %llu with 3\n",
                (unsigned long long)count, (unsigned long long)ended[1], (unsigned long long)ended[0],
                (unsigned long long)ended[2], (unsigned long long)ended[3]);
    for (int status : {0, 1, 2, 3}) EXPECT_GT(ended[status], count / 200) << "status " << status << " is too rare";
}

TEST(Printable, KeepsTextAndShowsTheRest) {
    EXPECT_EQ(lab::printable("plain \xe5\x86\x85\xe5\xad\x98 \xf0\x9f\x98\x80"),
              "plain \xe5\x86\x85\xe5\xad\x98 \xf0\x9f\x98\x80");
    EXPECT_EQ(lab::printable("\x1b[31m\n"), "\\x1b[31m\\x0a");
    EXPECT_EQ(lab::printable("\xc2\x9b"), "\\xc2\\x9b");                             // a control character in UTF-8
    EXPECT_EQ(lab::printable("\xc0\xaf\xed\xa0\x80"), "\\xc0\\xaf\\xed\\xa0\\x80");  // overlong, half a pair
    EXPECT_EQ(lab::printable("\xe2\x82"), "\\xe2\\x82");
    EXPECT_EQ(lab::printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
    EXPECT_LT(lab::printable(std::string(100000, '\xff')).size(), 2100u);
}

}  // namespace
