// statement_tree FILE LINES...: prints C++ code that gives a program the statements of its source files, for the
// advice. For each FILE, LINES are those that the preprocessor has left out, such as "3-5 9-9". cudacpu appends the
// code to the translated file.
//
// It is not a compiler. Text that it cannot follow, such as macros that hide braces, becomes one long statement.
#include "advice/statement_tree.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace {

using namespace cudacpu;
using std::string;
constexpr size_t npos = string::npos;

class Parser : public Code {
    string written;  // with literals

    void blank(string& s, size_t from, size_t to) {
        for (; from < to && from < s.size(); ++from)
            if (s[from] != '\n') s[from] = ' ';
    }
    // Comments and directives become white space in both texts, literals only in the first.
    void strip() {
        bool fresh = true;  // only white space so far in this line
        const auto drop = [&](size_t from, size_t to) { blank(text, from, to), blank(written, from, to); };
        for (size_t i = 0; i < text.size(); ++i) {
            const size_t from = i;
            const char c = text[i];
            if (c == '#' && fresh) {
                while (i < text.size() && (text[i] != '\n' || text[i - 1] == '\\')) ++i;
                drop(from, i);
            } else if (text.compare(i, 2, "//") == 0) {
                drop(from, i = std::min(text.find('\n', i), text.size()));
            } else if (text.compare(i, 2, "/*") == 0) {
                const size_t end = text.find("*/", i + 2);
                i = end == npos ? text.size() : end + 1;
                drop(from, i + 1);
            } else if (c == '"' || (c == '\'' && !(i && isalnum(static_cast<unsigned char>(text[i - 1]))))) {
                for (++i; i < text.size() && text[i] != c && text[i] != '\n'; ++i) i += text[i] == '\\';
                blank(text, from + 1, i);
            }
            if (i < text.size()) fresh = text[i] == '\n' || (fresh && isspace(static_cast<unsigned char>(text[i])));
        }
    }

    static bool in_capitals(const string& name) {
        return std::ranges::none_of(name, [](unsigned char c) { return islower(c); }) && !name.starts_with("__");
    }

    Statement statement(size_t& at) const {
        at = skip_space(text, at);
        Statement s{.kind = Statement::simple, .begin = at, .end = at};
        const string first = word_at(text, at);
        const auto add = [&] {
            s.parts.push_back(statement(at));
            s.end = at;
        };
        const size_t given = skip_space(text, at + first.size());  // EACH(i, n) {, a macro that hides a loop
        const size_t held =
            !first.empty() && text[given] == '(' ? skip_space(text, closed(text, given)) : text.size();
        const bool hidden =
            held < text.size() && (text[held] == '{' || (in_word(text[held]) && in_capitals(first)));
        const auto parentheses = [&] {
            s.head = std::min(text.find('(', at), text.size());
            at = s.head_end = s.end = closed(text, s.head);
        };
        if (at < text.size() && text[at] == '{') {
            s.kind = Statement::block;
            const size_t end = closed(text, at);
            for (++at; (at = skip_space(text, at)) < end - 1;) s.parts.push_back(statement(at));
            at = s.end = end;
        } else if (first == "if" || first == "for" || first == "while" || first == "switch" || hidden) {
            s.kind = first == "if" || first == "switch" ? Statement::branch : Statement::loop;
            parentheses();
            add();
            const size_t next = skip_space(text, at);
            if (first == "if" && word_at(text, next) == "else") at = next + 4, add();
        } else if (first == "do") {
            s.kind = Statement::loop;
            at += 2;
            add();
            parentheses();
            at = s.end = std::min(text.find(';', at), text.size() - 1) + 1;
        } else {
            for (; at < text.size() && text[at] != ';' && text[at] != '}';)
                at = strchr("([{", text[at]) ? closed(text, at) : at + 1;
            at = s.end = at < text.size() && text[at] == ';' ? at + 1 : std::max(at, s.begin + 1);
        }
        return s;
    }

    // A brace after a parameter list opens a function. The parser also looks inside namespaces and classes.
    void read_functions() {
        for (size_t at = 0, begin = 0; at < text.size(); ++at) {
            if (text[at] == ';' || text[at] == '}') begin = at + 1;
            if (text[at] == '(') at = closed(text, at) - 1;
            if (at >= text.size() || text[at] != '{') continue;
            const string head = cut(begin, at);
            size_t open = npos;  // the last parentheses after a name are the parameters
            string name;
            for (size_t i = 0; i < head.size(); ++i) {
                if (head[i] == ':' && i && head[i - 1] == ')') break;  // a constructor's initializers
                if (head[i] != '(') continue;
                size_t end = i, first;
                while (end && isspace(static_cast<unsigned char>(head[end - 1]))) --end;
                for (first = end; first && in_word(head[first - 1]);) --first;
                const string before = head.substr(first, end - first);
                const bool is_operator = head.find("operator") < first && before.empty();  // operator+=(
                if (is_operator || (!before.empty() && before.compare(0, 2, "__") != 0)) {
                    open = i, name = is_operator ? "operator" : before;
                    if (is_operator) break;
                }
                i = closed(head, i) - 1;
            }
            if (open == npos) {
                if (head.find('=') == npos) begin = at + 1;  // a namespace or a class
                else at = closed(text, at) - 1, begin = at + 1;
                continue;
            }
            const size_t body = at;
            const Statement whole = statement(at);
            // A lambda: [=] __device__ (int i) {...}, or auto fold = [&](int d) {...}, which is called by its name
            for (size_t i = text.find('[', body); i < at; i = text.find('[', i + 1)) {
                size_t given = skip_space(text, closed(text, i));
                while (in_word(text[given])) given = skip_space(text, given + word_at(text, given).size());
                const size_t brace = text[given] == '(' ? skip_space(text, closed(text, given)) : at;
                const size_t sign = text.find_last_not_of(' ', i - 1), end = text.find_last_not_of(" =", sign) + 1;
                if (brace >= at || text[brace] != '{' || in_word(text[sign])) continue;
                size_t first = text[sign] == '=' ? end : i, last = first;
                while (in_word(text[first - 1])) --first;
                functions.push_back({cut(first, last), given, closed(text, given), statement(last = brace)});
            }
            functions.push_back({name, begin + open, closed(text, begin + open), whole});
            begin = at--;
        }
    }

    // A value computed from the thread's index, or returned by an atomic or a shuffle, differs from thread to
    // thread.
    // `outer`: the function that holds f, a lambda.
    void read_variables(Function& f, const Function* outer) const {
        f.own = {"threadIdx", "thread_rank", "laneid", "clock", "clock64"};
        if (outer) f.own.insert(outer->own.begin(), outer->own.end());
        const auto inside = [&](size_t open) { return listed(cut(open + 1, closed(text, open) - 1)); };
        const std::vector<string> names = inside(f.head);
        const auto called = places.find(f.name);
        for (const size_t call : names.empty() || called == places.end() ? std::vector<size_t>() : called->second) {
            const Function* g = function_at(call);  // it may call with its own thread number
            if (!g || g == &f || calls(f.name, call, call + f.name.size()).empty()) continue;
            const std::vector<string> given = inside(text.find('(', call));
            for (size_t i = 0; i < std::min(given.size(), names.size()); ++i)
                if (g->own.count(given[i]) || given[i] == "threadIdx.x")
                    f.own.insert(names[i].substr(names[i].find_last_of(" *&") + 1));
        }
        for (size_t i = f.head; i < f.head_end; ++i)
            for (const char* part : {"tid", "lane", "thread", "idx", "rank"})
                if (const string name = in_word(text[i - 1]) ? "" : word_at(text, i); name.find(part) != npos)
                    f.own.insert(name);
        std::set<string> shared;
        const auto [from, to] = std::pair(f.body.begin, f.body.end);
        for (const size_t i : words("__shared__", from, to))
            for (size_t j = i; j < text.find(';', i); ++j)
                if (in_word(text[j]) && !in_word(text[j - 1])) shared.insert(word_at(text, j));
        for (int round = 0; round < 3; ++round)
            for (size_t i = from; i < to; ++i) {  // name = expression, up to a comma or the end
                if (text[i] != '=' || text[i + 1] == '=' || strchr("=!<>", text[i - 1])) continue;
                size_t end = i - 1, first;
                while (end > from && strchr(" \t\n+-*/%&|^", text[end])) --end;
                for (first = ++end; first > from && in_word(text[first - 1]);) --first;
                const string name = cut(first, end);
                size_t stop = i + 1;
                while (stop < to && !strchr(",;", text[stop]) && text[stop] != ')')
                    stop = strchr("([{", text[stop]) ? closed(text, stop) : stop + 1;
                static const std::regex by_32(R"(/ ?(32|warpSize)\b|>> ?5\b)");
                bool differs = false, by_warp = false;
                for (size_t j = i; j < stop; ++j) {
                    const string w = in_word(text[j]) && !in_word(text[j - 1]) ? word_at(text, j) : "";
                    differs |= f.own.count(w) || w.starts_with("atomic") || w.starts_with("__shfl");
                    by_warp |= f.warps.count(w);
                }
                if (const string value = cut(i, stop); differs && value.find('[') == npos)
                    by_warp |= !(differs = !std::regex_search(value, by_32));
                if (name.empty() || isdigit(static_cast<unsigned char>(name[0])) || shared.count(name)) continue;
                if (differs) f.own.insert(name);
                else if (by_warp) f.warps.insert(name);
            }
    }

    Who who_enters(const Function& f, const Statement& s) const {
        // threadIdx.x < 32 and threadIdx.x / 32 == 0 admit whole warps
        static const std::regex word(R"(\b(\w+)(?=(?:\.\w+)*\s*([<>=/]*)\s*(\w*)))");
        const string head = cut(s.head, s.head_end), kind = word_at(text, s.begin);
        Who who =
            s.kind == Statement::branch || kind == "for" || kind == "while" || kind == "do" ? everybody : some;
        for (std::sregex_iterator m(head.begin(), head.end(), word), none; m != none; ++m) {
            const string name = (*m)[1], sign = (*m)[2], number = (*m)[3];
            const int value = number == "warpSize" ? 32 : atoi(number.c_str());
            const bool warps = value && value % 32 == 0 && (sign == "<" || sign == ">=" || sign == "/");
            if (f.own.count(name)) who = std::max(who, warps ? whole_warps : some);
            else if (f.warps.count(name)) who = std::max(who, whole_warps);
        }
        return who;
    }

    Who who_leaves(const Statement& s) const {
        Who who = everybody;
        for (const Statement& part : s.parts) {
            if (part.kind == Statement::loop) continue;
            if (part.kind == Statement::branch && has({"break", "continue"}, part))
                who = std::max(who, part.enters);
            who = std::max(who, who_leaves(part));
        }
        return who;
    }

    void complete(const Function& f, Statement& s) const {
        for (Statement& part : s.parts) complete(f, part);
        if (s.kind == Statement::branch || s.kind == Statement::loop) s.enters = who_enters(f, s);
        if (s.kind != Statement::loop) return;
        s.leaves = who_leaves(s);
        const Statement& body = s.parts[0].bare();
        const string code = cut(body.begin, body.end);
        s.waits = code == ";" || (body.kind == Statement::block && body.parts.empty()) ||
                  code.starts_with("continue") || code.starts_with("__nanosleep");
    }

    static void print(std::ostream& out, const Statement& s) {
        for (const size_t n : {size_t(s.kind), s.begin, s.end, s.head, s.head_end, size_t(s.enters),
                               size_t(s.leaves), size_t(s.waits), s.parts.size()})
            out << n << ' ';
        for (const Statement& part : s.parts) print(out, part);
    }

    std::unordered_map<string, std::vector<size_t>> places;  // of names that may be called

public:
    Parser(string source, const string& left_out) : written(std::move(source)) {
        std::vector<size_t> starts{0, 0};  // line numbers begin at 1
        for (size_t i = 0; i < written.size(); ++i)
            if (written[i] == '\n') starts.push_back(i + 1);
        size_t first, last;
        std::istringstream lines(left_out);
        for (char dash; lines >> first >> dash >> last;)
            if (last + 1 < starts.size()) blank(written, starts[first], starts[last + 1]);
        text = written;
        strip();
        read_functions();
        for (size_t i = 0; i < text.size(); ++i)
            if (in_word(text[i]) && (i == 0 || !in_word(text[i - 1]))) {
                const string name = word_at(text, i);
                if (strchr("(<", text[i + name.size()])) places[name].push_back(i);
            }
        const Function* outer = nullptr;
        for (auto f = functions.rbegin(); f != functions.rend(); ++f) {
            const bool is_lambda = outer && outer->body.holds(f->body.begin);
            read_variables(*f, is_lambda ? outer : nullptr), complete(*f, f->body);
            if (!is_lambda) outer = &*f;
        }
    }

    string tree() const {
        std::ostringstream out;
        out << functions.size() << ' ';
        for (const Function& f : functions) {
            out << (f.name.empty() ? "-" : f.name) << ' ' << f.head << ' ' << f.head_end << ' ';
            print(out, f.body);
            for (const auto* names : {&f.own, &f.warps}) {
                out << names->size() << ' ';
                for (const string& name : *names) out << name << ' ';
            }
        }
        return out.str();
    }

    string literal() const {  // the text with its literals, as one in C++
        string s;
        char code[5];
        for (const char c : written)
            if (c == '\n') s += "\\n";
            else if (c == '"' || c == '\\') (s += '\\') += c;
            else if (c == '\t' || (c >= ' ' && c <= '~')) s += c;
            else snprintf(code, sizeof code, "\\%03o", static_cast<unsigned char>(c)), s += code;
        return s;
    }
};

}  // namespace

// An exception ends the compilation, as a failure of this program does.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
    for (int i = 1; i + 1 < argc; i += 2) {
        std::ostringstream source;
        source << std::ifstream(argv[i], std::ios::binary).rdbuf() << '\n';
        const Parser parser(source.str(), argv[i + 1]);
        string name;
        for (const char* c = argv[i]; *c; ++c) (*c == '"' || * c == '\\' ? name += '\\' : name) += *c;
        std::cout << "[[maybe_unused]] static const int cudacpu_statement_tree_" << i / 2
                  << " = ::cudacpu::statement_tree(\"" << name << "\", \"" << parser.literal() << "\", \""
                  << parser.tree() << "\");\n";
    }
}
