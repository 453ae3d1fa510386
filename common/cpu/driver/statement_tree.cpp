// statement_tree FILE LINES...: prints C++ code that gives a program the statements of its source files, for the
// advice. For each FILE, LINES are those that the preprocessor has left out, such as "3-5 9-9". cudacpu appends the
// code to the translated file.
//
// It is not a compiler. Text that it cannot follow, such as macros that hide braces, becomes one long statement.
#include "advice/statement_tree.hpp"

#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <utility>

namespace {

using namespace cudacpu;
using std::string;
constexpr size_t npos = string::npos;

class Parser {
    string written, text;  // without comments and directives; the second also without literals
    std::vector<Function> functions;

    string cut(size_t from, size_t to) const { return text.substr(from, to - from); }
    static void blank(string& s, size_t from, size_t to) {
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

    static void print(std::ostream& out, const Statement& s) {
        for (const size_t n : {size_t(s.kind), s.begin, s.end, s.head, s.head_end, s.parts.size()}) out << n << ' ';
        for (const Statement& part : s.parts) print(out, part);
    }

public:
    Parser(string source, const string& left_out) : written(std::move(source)) {
        std::ranges::replace(written, '\r', ' ');
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
    }

    friend std::ostream& operator<<(std::ostream& out, const Parser& p) {
        out << "R\"cudacpu(" << p.written << ")cudacpu\", \"" << p.functions.size() << ' ';
        for (const Function& f : p.functions) {
            out << (f.name.empty() ? "-" : f.name) << ' ' << f.head << ' ' << f.head_end << ' ';
            print(out, f.body);
        }
        return out << '"';
    }
};

}  // namespace

// An exception ends the compilation, as a failure of this program does.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
    for (int i = 1; i + 1 < argc; i += 2) {
        std::ostringstream source;
        source << std::ifstream(argv[i], std::ios::binary).rdbuf() << '\n';
        std::cout << "[[maybe_unused]] static const int cudacpu_statement_tree_" << i / 2
                  << " = ::cudacpu::statement_tree(" << std::quoted(argv[i]) << ", "
                  << Parser(source.str(), argv[i + 1]) << ");\n";
    }
}
