// formats.cpp - findings in gcc's format, which editors and CI services read, and as a SARIF 2.1.0 log.
//
// A column counts characters from 1, a tab as one. It is that of the finding's variable, where the line
// indexes or dereferences it, or else of its first use; without a variable, of the first character that is not
// blank.
#include "report/formats.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "engine/build.hpp"
#include "engine/text.hpp"

namespace cudacpu {

bool write_whole(const std::string& file, const std::string& contents) {
    struct stat status {};
    const bool direct = !stat(file.c_str(), &status) && !S_ISREG(status.st_mode);
    const std::string made = direct ? file : file + text(".%d", getpid());
    if (!direct) unlink(made.c_str());
    const int opened = open(made.c_str(), O_WRONLY | (direct ? 0 : O_CREAT | O_EXCL | O_NOFOLLOW), 0666);
    FILE* const out = opened < 0 ? nullptr : fdopen(opened, "w");
    if (!out) return false;
    const bool written = fwrite(contents.data(), 1, contents.size(), out) == contents.size();
    if (!fclose(out) && written && (direct || !rename(made.c_str(), file.c_str()))) return true;
    const int error = errno;
    if (!direct) unlink(made.c_str());
    errno = error;
    return false;
}

namespace {

struct Output {
    enum { as_text, gcc, sarif } format = as_text;
    std::string file;  // of the SARIF log, with %p for the process; "": stderr
    bool is_set = false;
    pid_t process = getpid();
    bool forked = false;               // from the process that the program began as
    std::vector<std::string> results;  // of this process, in SARIF
    std::set<std::string> kinds;       // of the results
};
Output& output() {
    static auto& only = *new Output;
    return only;
}

struct Place {
    std::string file, code;  // code: the line's text, "" if the file is missing
    int line = 0, column = 1;
};

bool is_word(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }

/// The index of the name in the code: where it is indexed or dereferenced, or else where it first is a whole word;
/// npos if it is not there.
size_t find_use(const std::string& code, const std::string& name) {
    size_t first = code.npos;
    for (size_t i = 0; !name.empty() && (i = code.find(name, i)) != code.npos; ++i) {
        const size_t end = i + name.size(), next = std::min(code.find_first_not_of(' ', end), code.size());
        if ((i && is_word(code[i - 1])) || (end < code.size() && is_word(code[end]))) continue;
        first = std::min(first, i);
        if ((i && code[i - 1] == '*') || code[next] == '[' || code[next] == '.' || !code.compare(next, 2, "->"))
            return i;
    }
    return first;
}

int column_at(const std::string& code, size_t at) {  // continuation bytes of UTF-8 begin no character
    int column = 1;
    for (size_t i = 0; i < at; ++i) column += (code[i] & 0xc0) != 0x80;
    return column;
}

Place place_of(const Remark& remark) {
    Place p;
    const size_t colon = remark.place.rfind(':');
    if (colon == remark.place.npos) return p;
    p.file = remark.place.substr(0, colon), p.line = atoi(remark.place.c_str() + colon + 1);
    const auto& lines = source_text(p.file);
    if (p.line < 1 || size_t(p.line) > lines.size()) return p;
    p.code = lines[p.line - 1];
    if (p.code.ends_with('\r')) p.code.pop_back();
    size_t at = find_use(p.code, remark.name);
    if (at == p.code.npos) at = p.code.find_first_not_of(" \t");
    if (at != p.code.npos) p.column = column_at(p.code, at);
    return p;
}

std::string one_line(const std::string& words) {
    std::string s;
    for (const char c : words)
        if (!isspace(static_cast<unsigned char>(c))) s += c;
        else if (!s.empty() && s.back() != ' ') s += ' ';
    while (s.ends_with(' ')) s.pop_back();
    return from_here(s);
}

/// The level of a message, which its first word tells and which is removed from it.
enum class Level { error, warning, note };
Level take_level(std::string& message) {
    for (const auto& [word, level] :
         {std::pair("hazard: ", Level::error), {"notice: ", Level::warning}, {"note: ", Level::note}})
        if (message.starts_with(word)) return message.erase(0, strlen(word)), level;
    return Level::error;
}

// ---- gcc's format

void print_as_gcc(const Finding& f) {
    std::string message = one_line(f.message);
    message.insert(0, take_level(message) == Level::error ? "error: " : "warning: ");
    std::string all, first;
    for (const Remark& r : f.places) {
        const Place p = place_of(r);
        if (!p.line) continue;
        const std::string at = from_here(text("%s:%d:%d: ", p.file.c_str(), p.line, p.column)),
                          words = one_line(r.words);
        if (!first.empty()) {
            all.append(at).append("note: ").append(words).append("\n");
            continue;
        }
        first = at;
        all.append(at).append(message).append(words.empty() ? "" : ": ").append(words);
        all.append(" [").append(f.kind).append("]\n");
    }
    if (first.empty()) all = (first = "cudacpu: ") + message + "\n";
    if (!f.advice.empty()) all += first + "note: " + one_line(f.advice) + "\n";
    fflush(stdout);
    fputs(all.c_str(), stderr);
}

// ---- SARIF

/// The length of the UTF-8 character that begins there; 0 if none does.
size_t length_of_character(const std::string& s, size_t i) {
    const auto byte = [&](size_t k) { return k < s.size() ? static_cast<unsigned char>(s[k]) : 0u; };
    const unsigned first = byte(i), second = byte(i + 1);
    const size_t length = first < 0x80   ? 1
                          : first < 0xc2 ? 0
                          : first < 0xe0 ? 2
                          : first < 0xf0 ? 3
                          : first < 0xf5 ? 4
                                         : 0;
    for (size_t k = 1; k < length; ++k)
        if ((byte(i + k) & 0xc0) != 0x80) return 0;
    const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool too_large = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
    return overlong || too_large ? 0 : length;
}

std::string json(const std::string& s) {  // bytes that are no UTF-8 become U+FFFD
    std::string quoted = "\"";
    for (size_t i = 0; i < s.size();) {
        const size_t length = length_of_character(s, i);
        if (!length) quoted += "\xef\xbf\xbd";
        else if (s[i] == '"' || s[i] == '\\') quoted += std::string("\\") + s[i];
        else if (static_cast<unsigned char>(s[i]) < 0x20) quoted += text("\\u%04x", s[i]);
        else quoted += s.substr(i, length);
        i += length ? length : 1;
    }
    return quoted + "\"";
}

std::string uri_of(const std::string& file) {
    std::error_code none;
    std::string uri = "file://";
    for (const char c : std::filesystem::absolute(file, none).lexically_normal().string())
        uri += isalnum(static_cast<unsigned char>(c)) || strchr("/-._~", c) ? std::string(1, c)
                                                                            : text("%%%02X", c & 0xff);
    return uri;
}

std::string artifact(const Place& p) { return R"("artifactLocation": {"uri": )" + json(uri_of(p.file)) + "}"; }

std::string location(const Remark& r, const Place& p, int id) {
    std::string s = "{";
    if (id) s += text("\"id\": %d, ", id);
    s += "\"physicalLocation\": {" + artifact(p) + text(", \"region\": {\"startLine\": %d", p.line);
    if (!p.code.empty())
        s += text(", \"startColumn\": %d", p.column) + ", \"snippet\": {\"text\": " + json(p.code) + "}";
    s += "}}";
    if (!r.words.empty()) s += ", \"message\": {\"text\": " + json(r.words) + "}";
    return s + "}";
}

/// The numbers in "lines 12, 14 and 17 ...", and where the list ends.
std::vector<int> numbers_in(const char*& at) {
    std::vector<int> all;
    for (char* end = nullptr; isdigit(static_cast<unsigned char>(*at));) {
        all.push_back(int(strtol(at, &end, 10)));
        at = end;
        for (const char* separator : {", ", " and "})
            if (!strncmp(at, separator, strlen(separator)) &&
                isdigit(static_cast<unsigned char>(at[strlen(separator)])))
                at += strlen(separator);
    }
    return all;
}

std::string replacement(int line, int column, int end, const std::string& inserted) {
    return text(
               "{\"deletedRegion\": {\"startLine\": %d, \"startColumn\": %d, \"endLine\": %d, \"endColumn\": %d}, ",
               line, column, line, end) +
           "\"insertedContent\": {\"text\": " + json(inserted) + "}}";
}

/// What the advice changes in the file of p, as SARIF's replacements; "" if the advice does not tell all of it
/// exactly. Exact are "in line N write `NEW` for `OLD`" and "put CALL() after line N".
std::string replacements_of(const std::string& advice, const Place& p) {
    for (const char* inexact : {"braces", "drop line", "for lines", "for the if", "leave only", " write `"})
        if (const size_t i = advice.find(inexact); i != advice.npos)
            if (*inexact != ' ' || !isdigit(static_cast<unsigned char>(advice[i - 1])) ||
                advice.find("after line ") != advice.npos)
                return "";
    const auto& lines = source_text(p.file);
    std::string all;
    const auto add = [&](const std::string& r) { all += (all.empty() ? "" : ", ") + r; };
    for (size_t i = 0; (i = advice.find("in line ", i)) != advice.npos; ++i) {
        const char* at = advice.c_str() + i + strlen("in line ");
        const auto numbers = numbers_in(at);
        if (strncmp(at, " write `", strlen(" write `")) != 0 || numbers.size() != 1) continue;
        std::string words[8];  // the new ones, then the old one
        size_t count = 0;
        const char *from = at + strlen(" write "), *end;
        while (count < 8 && *from == '`' && (end = strchr(from + 1, '`'))) {
            words[count++] = std::string(from + 1, end);
            from = end + 1 + (end[1] == ' ');
            if (!strncmp(from, "for `", strlen("for `"))) from += strlen("for ");
            else if (*from != '`') break;
        }
        if (count < 2 || numbers[0] < 1 || size_t(numbers[0]) > lines.size()) return "";
        const std::string &old = words[count - 1], &code = lines[numbers[0] - 1];
        std::string inserted = words[0];
        for (size_t k = 1; k + 1 < count; ++k) inserted += " " + words[k];
        const size_t found = code.find(old);
        if (found == code.npos || code.find(old, found + 1) != code.npos) return "";
        add(replacement(numbers[0], column_at(code, found), column_at(code, found + old.size()), inserted));
    }
    for (size_t i = 0; (i = advice.find("put ", i)) != advice.npos; ++i) {
        const size_t call = i + strlen("put "), end = advice.find("() ", call);
        if (end == advice.npos || advice.find(' ', call) < end) continue;
        const char* at = advice.c_str() + end + strlen("() ");
        int after = -1;
        for (const char* word : {"before line ", "before lines ", "after line ", "after lines "})
            if (!strncmp(at, word, strlen(word))) after = *word == 'a', at += strlen(word);
        if (after < 0) return "";
        for (const int number : numbers_in(at)) {
            if (number < 1 || size_t(number) > lines.size()) return "";
            const std::string& code = lines[number - 1];
            add(replacement(number + after, 1, 1,
                            code.substr(0, std::min(code.find_first_not_of(" \t"), code.size())) +
                                advice.substr(call, end + 2 - call) + ";\n"));
        }
    }
    return all;
}

std::string result(const Finding& f) {
    std::string message = f.message, related, primary, fixes;
    const Level level = take_level(message);
    int id = 0;
    Place first;
    bool one_file = true;
    for (const Remark& r : f.places) {
        const Place p = place_of(r);
        if (!p.line) continue;
        if (!primary.empty()) {
            related += (id ? ", " : "") + location(r, p, id + 1);
            ++id, one_file &= p.file == first.file;
            continue;
        }
        primary = location(r, first = p, 0);
        if (!r.words.empty()) message += ": " + r.words;
    }
    const std::string advice = one_line(f.advice);
    if (const std::string r = one_file && first.line ? replacements_of(advice, first) : ""; !r.empty())
        fixes = "[{\"description\": {\"text\": " + json(advice) + "}, \"artifactChanges\": [{" + artifact(first) +
                ", \"replacements\": [" + r + "]}]}]";
    message = one_line(message) + (advice.empty() ? "" : "\n" + advice);
    std::string s = "{\"ruleId\": " + json(f.kind) + ", \"level\": \"" +
                    (level == Level::error     ? "error"
                     : level == Level::warning ? "warning"
                                               : "note") +
                    "\", \"message\": {\"text\": " + json(message) + "}";
    if (!primary.empty()) s += ", \"locations\": [" + primary + "]";
    if (!related.empty()) s += ", \"relatedLocations\": [" + related + "]";
    if (!fixes.empty()) s += ", \"fixes\": " + fixes;
    return s + "}";
}

std::string description_of(const std::string& kind) {
    for (const auto& [known, words] : {
             std::pair("race", "two accesses to the same bytes that nothing orders, at least one of them a write"),
             {"equal-writes", "a race of threads that write the same value"},
             {"stream-order", "work of two streams, or of the host, that nothing orders"},
             {"out-of-bounds", "an access beyond an allocation or an array"},
             {"unwritten-value", "a value is read that nothing has written"},
             {"use-after-free", "an access to memory that was freed"},
             {"variable-of-another-thread", "an access to a local variable of another thread"},
             {"host-memory", "a kernel accesses memory that is not the device's"},
             {"warp-synchronous", "code that relies on the lanes of a warp to run in lockstep"},
             {"early-host-access", "the host accesses memory before the device's work on it has ended"},
             {"misuse", "a call with arguments that CUDA does not allow, or an error in the host's code"},
             {"leak", "memory that is never freed"},
             {"bug", "an operation whose result CUDA leaves undefined"},
         })
        if (kind == known) return words;
    return kind.starts_with("cudaError") ? "an error that ends the kernel with " + kind
                                         : "code that deserves a look, and is valid";
}

std::string log_of(const Output& o) {
    std::string rules, results;
    for (const std::string& kind : o.kinds)
        rules += (rules.empty() ? "\n      {\"id\": " : ",\n      {\"id\": ") + json(kind) +
                 ", \"shortDescription\": {\"text\": " + json(description_of(kind)) + "}}";
    for (const std::string& r : o.results) results += (results.empty() ? "\n      " : ",\n      ") + r;
    return R"({
  "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
  "version": "2.1.0",
  "runs": [{
    "tool": {"driver": {"name": "cudacpu", "rules": [)" +
           rules + R"(]}},
    "columnKind": "unicodeCodePoints",
    "results": [)" +
           results + "]\n  }]\n}\n";
}

void write_log() {
    const Output& o = output();
    std::string file = o.file;
    for (size_t i; (i = file.find("%p")) != file.npos;) file.replace(i, 2, std::to_string(getpid()));
    if (o.forked && file == o.file) file += text(".%d", getpid());
    if (write_whole(file, log_of(o))) return;
    print_report("cudacpu: cannot write '" + file + "': " + strerror(errno));
    _exit(2);
}

void set_format(const std::string& name, const char* where) {
    Output& o = output();
    if (name == "gcc") o.format = Output::gcc;
    else if (name.starts_with("sarif")) o.format = Output::sarif;
    if (name.starts_with("sarif:") && name.size() > strlen("sarif:")) o.file = name.substr(strlen("sarif:"));
    else if (name != "text" && name != "gcc" && name != "sarif")
        print_report(text("cudacpu: %s=%s: say text, gcc, sarif or sarif:FILE", where, name.c_str())), _exit(2);
    o.is_set = true;
    if (!o.file.empty()) write_log();  // also a program without findings has a log
}

const struct FormatFromEnvironment {
    FormatFromEnvironment() {
        if (const char* name = getenv("LAB_REPORT"); name && *name) set_format(name, "LAB_REPORT");
    }
} format_from_environment CUDACPU_LASTING;

}  // namespace

int report_as(const char* format) {
    if (!output().is_set) set_format(format, "--report");
    return 0;
}

bool reports_are_text() {
    const Output& o = output();
    return o.format == Output::as_text || !o.file.empty();
}

void record(const Finding& finding) {
    Output& o = output();
    if (o.format == Output::gcc) print_as_gcc(finding);
    if (o.format != Output::sarif) return;
    if (o.process != getpid()) o.process = getpid(), o.forked = true, o.results.clear(), o.kinds.clear();
    o.kinds.insert(finding.kind);
    o.results.push_back(result(finding));
    if (!o.file.empty()) write_log();
}

void end_reports() {
    const Output& o = output();
    if (o.format == Output::sarif && o.file.empty()) fputs(log_of(o).c_str(), stderr);
}

}  // namespace cudacpu
