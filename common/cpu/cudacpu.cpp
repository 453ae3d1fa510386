// cudacpu.cpp - the translator: CUDA C++ in, C++ out, and the compiler driver around it.
//
//   cudacpu FILE.cu [MORE.cu ...] -o PROGRAM [--hazards|--asan] [g++ options]
//   cudacpu --translate FILE.cu -o OUT.cpp [--depfile OUT.d] [preprocessor options]
//
// The file is preprocessed first, so that launches in macros and kernels in included files are seen as well.
// What is rewritten keeps its lines: the compiler's messages and the reports name lines of the .cu.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using std::string;

struct Token {
    enum Kind { space, word, number, quoted, punctuation } kind;
    string text;
    const string* file;
    int line;
    bool rewritten = false;
    string rewriting{};
    const string& now() const { return rewritten ? rewriting : text; }
};

[[noreturn]] void stop(const string& message) {
    std::cerr << "cudacpu: " << message << "\n";
    exit(1);
}

string place(const Token& t) { return *t.file + ":" + std::to_string(t.line); }
[[noreturn]] void refuse(const Token& t, const string& why) {
    std::cerr << place(t) << ": error: " << why << "\n";
    exit(1);
}

// ---- tokens ----------------------------------------------------------------------------------------------

bool in_word(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c & 0x80; }

class Source {
    string input;
    std::set<string> names;
    std::map<string, bool> system;  // files of the compiler and of this engine: nothing in them is rewritten
    const string* file;
    int line = 1;

    size_t end_of_quoted(size_t i) const {
        const char quote = input[i++];
        while (i < input.size() && input[i] != quote && input[i] != '\n') i += input[i] == '\\' ? 2 : 1;
        return std::min(i + 1, input.size());
    }
    void line_marker(const string& text) {  // # 12 "sum.cu" 2 3
        std::smatch m;
        static const std::regex form(R"re(#\s*(?:line\s+)?(\d+)\s+"((?:[^"\\]|\\.)*)"([ \d]*)\s*)re");
        if (!std::regex_match(text, m, form)) return;
        line = std::stoi(m[1]) - 1;  // the newline that follows adds one
        file = &*names.insert(std::regex_replace(m[2].str(), std::regex(R"(\\(.))"), "$1")).first;
        const bool is_system = m[3].str().find('3') != string::npos || (*file)[0] == '<';
        system.emplace(*file, is_system);  // as it was entered: macros of system headers are marked, too
    }

public:
    std::vector<Token> tokens;

    Source(string text, const string& name) : input(std::move(text)), file(&*names.insert(name).first) {
        bool fresh_line = true;
        for (size_t i = 0, end; i < input.size(); i = end) {
            const char c = input[i];
            Token::Kind kind = Token::punctuation;
            const int first_line = line;
            if (fresh_line && c != '#' && is_system(*file)) {  // no need to look closer
                end = std::min(input.find('\n', i), input.size() - 1) + 1;
                ++line;
                tokens.push_back({Token::space, input.substr(i, end - i), file, first_line, false, {}});
                continue;
            }
            if (fresh_line && c == '#') {
                end = std::min(input.find('\n', i), input.size());
                line_marker(input.substr(i, end - i));
                kind = Token::space;
                if (input.compare(i, 14, "#pragma unroll") == 0) {  // nvcc's, unknown to g++
                    tokens.push_back({kind, "", file, first_line, false, {}});
                    continue;
                }
            } else if (isspace(static_cast<unsigned char>(c))) {
                end = i + 1;
                while (c != '\n' && end < input.size() && isspace(static_cast<unsigned char>(input[end])) &&
                       input[end] != '\n')
                    ++end;
                kind = Token::space;
                if (c == '\n') ++line;
            } else if (input.compare(i, 2, "//") == 0) {  // comments: in files that are not preprocessed
                end = std::min(input.find('\n', i), input.size());
                kind = Token::space;
            } else if (input.compare(i, 2, "/*") == 0) {
                end = std::min(input.find("*/", i + 2), input.size() - 2) + 2;
                kind = Token::space;
                line += std::count(input.begin() + i, input.begin() + end, '\n');
            } else if (isdigit(static_cast<unsigned char>(c))) {
                end = i + 1;
                while (end < input.size() &&
                       (in_word(input[end]) || input[end] == '.' || input[end] == '\'' ||
                        (strchr("+-", input[end]) && strchr("eEpP", input[end - 1]))))
                    ++end;
                kind = Token::number;
            } else if (in_word(c)) {
                end = i + 1;
                while (end < input.size() && in_word(input[end])) ++end;
                kind = Token::word;
                const string prefix = input.substr(i, end - i);
                if (end < input.size() && input[end] == '"' && prefix.back() == 'R' && prefix.size() <= 3) {
                    const size_t open = input.find('(', end);
                    const string close = ")" + input.substr(end + 1, open - end - 1) + "\"";
                    end = input.find(close, open) + close.size();
                    kind = Token::quoted;
                    line += std::count(input.begin() + i, input.begin() + end, '\n');
                }
            } else if (c == '"' || c == '\'') {
                end = end_of_quoted(i);
                kind = Token::quoted;
            } else {
                end = i + 1;
                for (const char* two : {"::", "->", "<=", ">=", "..."})
                    if (input.compare(i, strlen(two), two) == 0) end = i + strlen(two);
            }
            fresh_line = c == '\n';
            tokens.push_back({kind, input.substr(i, end - i), file, first_line, false, {}});
        }
    }
    bool is_system(const string& name) const {
        auto it = system.find(name);
        return it != system.end() && it->second;
    }
    std::vector<string> own_files() const {
        std::vector<string> own;
        for (auto& [name, is_system] : system)
            if (!is_system) own.push_back(name);
        return own;
    }
};

// ---- the rewriting ---------------------------------------------------------------------------------------

class Translation {
    std::vector<Token>& all;
    std::vector<Token*> code;  // without the space between
    int serial = 0;

    const string& at(size_t i) const {
        static const string none;
        return i < code.size() ? code[i]->text : none;
    }
    bool is_word(size_t i) const { return i < code.size() && code[i]->kind == Token::word; }
    void write(size_t i, const string& text) { code[i]->rewritten = true, code[i]->rewriting = text; }
    void erase(size_t first, size_t last) {
        for (size_t i = first; i < last; ++i) write(i, "");
    }
    bool erased(size_t i) const { return code[i]->now().empty(); }
    string join(size_t first, size_t last) const {
        string s;
        for (size_t i = first; i < last; ++i) s += (s.empty() ? "" : " ") + code[i]->now();
        return s;
    }
    size_t closing(size_t i) const {  // of the bracket at i
        int depth = 0;
        for (size_t j = i; j < code.size(); ++j) {
            const string& t = at(j);
            if (t == "(" || t == "[" || t == "{")
                ++depth;
            else if ((t == ")" || t == "]" || t == "}") && --depth == 0)
                return j;
        }
        refuse(*code[i], "the bracket '" + at(i) + "' is never closed");
    }
    size_t opening(size_t i) const {
        int depth = 0;
        for (size_t j = i + 1; j-- > 0;) {
            const string& t = at(j);
            if (t == ")" || t == "]" || t == "}")
                ++depth;
            else if ((t == "(" || t == "[" || t == "{") && --depth == 0)
                return j;
        }
        return 0;
    }
    size_t opening_angle(size_t i) const {
        int depth = 0;
        for (size_t j = i + 1; j-- > 0;) {
            if (at(j) == ")" || at(j) == "]" || at(j) == "}")
                j = opening(j);
            else if (at(j) == ">")
                ++depth;
            else if (at(j) == "<" && --depth == 0)
                return j;
            else if (at(j) == ";" || at(j) == "{")
                break;
        }
        return i;
    }

    // [first, last) split at the commas that are in no bracket. A '<' behind a name opens a template's list,
    // up to a '=': in a default argument it may be a comparison.
    std::vector<std::pair<size_t, size_t>> split(size_t first, size_t last) const {
        std::vector<std::pair<size_t, size_t>> parts;
        int angles = 0;
        bool value = false;
        size_t start = first;
        for (size_t i = first; i < last; ++i) {
            const string& t = at(i);
            if (t == "(" || t == "[" || t == "{")
                i = closing(i);
            else if (t == "=" && !angles)
                value = true;
            else if (t == "<" && is_word(i - 1) && !value)
                ++angles;
            else if (t == ">" && angles)
                --angles;
            else if (t == "," && !angles)
                parts.push_back({start, i}), start = i + 1, value = false;
        }
        if (start < last) parts.push_back({start, last});
        return parts;
    }

    // The name that a parameter declares, or "" if it declares none: `int`, `const T*`.
    string parameter_name(size_t first, size_t last) const {
        static const std::set<string> no_type{"const", "volatile", "typename",   "struct",       "class",
                                              "enum",  "union",    "__restrict", "__restrict__", "register"};
        static const std::set<string> built_in{"void",  "bool",   "char",   "short",    "int",  "long",
                                               "float", "double", "signed", "unsigned", "auto", "wchar_t"};
        int types = 0, angles = 0;
        string last_word;
        for (size_t i = first; i < last && at(i) != "="; ++i) {
            const string& t = at(i);
            if (t == "__attribute__" || t == "alignas") {
                i = closing(i + 1);
            } else if (t == "(" && (at(i + 1) == "*" || at(i + 1) == "&")) {
                return is_word(closing(i) - 1) ? at(closing(i) - 1) : "";
            } else if (t == "[" || t == "(") {
                if (last_word == "decltype")
                    last_word.clear(), ++types, i = closing(i);
                else
                    break;
            } else if (t == "<") {
                ++angles;
            } else if (t == ">") {
                --angles;
            } else if (!angles && is_word(i) && !no_type.count(t)) {
                last_word = built_in.count(t) ? "" : t;
                if (at(i - 1) != "::" || i == first)
                    ++types;
                else
                    last_word.clear();
            }
        }
        return types > 1 ? last_word : "";
    }

    void kernel(size_t i) {
        const Token& mark = *code[i];
        size_t open = i + 1;
        static const std::set<string> not_the_name{"__attribute__",     "requires",    "decltype",
                                                   "noexcept",          "alignas",     "explicit",
                                                   "__launch_bounds__", "__maxnreg__", "__cluster_dims__"};
        string max_threads = "0";
        while (open < code.size() &&
               !(at(open) == "(" && (at(open - 1) == ">" || !not_the_name.count(at(open - 1)))))
            if (at(open) == "(") {
                const size_t close = closing(open);
                if (at(open - 1) == "__launch_bounds__") {
                    auto parts = split(open + 1, close);
                    if (!parts.empty()) max_threads = join(parts[0].first, parts[0].second);
                    erase(open - 1, close + 1);
                }
                open = close + 1;
            } else if (at(open) == "__cluster_dims__") {
                refuse(*code[open], "thread block clusters: the CPU device has none");
            } else if (at(open) == ";" || at(open) == "{") {
                refuse(mark, "__global__ is followed by no function");
            } else {
                ++open;
            }
        const size_t close = closing(open);
        size_t name = open - 1;
        if (at(name) == ">") name = opening_angle(name) - 1;
        write(i, "");
        size_t body = close + 1;
        while (at(body) != "{" && at(body) != ";" && body < code.size())
            body = at(body) == "(" ? closing(body) + 1 : body + 1;
        if (at(body) != "{") return;  // a declaration
        string parameters, arguments;
        for (auto [first, last] : split(open + 1, close)) {
            const string parameter = parameter_name(first, last);
            if (parameter.empty()) continue;
            bool pack = false;
            for (size_t j = first; j < last; ++j) pack |= at(j) == "...";
            parameters += (parameters.empty() ? "" : ",") + parameter;
            arguments += ", " + parameter + (pack ? "..." : "");
        }
        const size_t end = closing(body);
        write(body, "{ ::cudacpu::enter_kernel(\"" + at(name) + "\", \"" + parameters + "\", " + max_threads +
                        ", [=]() mutable {");
        write(end, "}" + arguments + "); }");
        for (size_t j = body; j < end; ++j)
            if (is_launch(j))
                refuse(*code[j],
                       "a kernel is launched from a kernel (dynamic parallelism): the CPU device cannot do "
                       "that; launch it from the host");
    }

    bool is_launch(size_t i) const {
        return at(i) == "<" && at(i + 1) == "<" && at(i + 2) == "<" && i && at(i - 1) != "operator" &&
               at(i - 1) != "<";
    }

    void launch(size_t i) {
        static const std::set<string> keyword{"else", "do", "return", "case", "throw"};
        size_t first = i - 1;  // of the expression that names the kernel
        for (;;) {
            if (at(first) == ")" || at(first) == "]")
                first = opening(first);
            else if (at(first) == ">")
                first = opening_angle(first) - 1;
            if (first && at(first) == "(" && at(first - 1) == ">") {
                --first;
                continue;
            }
            if (first && (at(first) == "[" || at(first) == "(") && is_word(first - 1) && !keyword.count(at(first - 1)))
                --first;
            const string& before = first ? at(first - 1) : "";
            if (before == "." || before == "->")
                first -= 2;
            else if (before == "::")
                first -= first > 1 && (is_word(first - 2) || at(first - 2) == ">") ? 2 : 1;
            else if (before == "template")
                --first;
            else
                break;
            if (at(first) == "::") break;
        }
        size_t end = i + 3;
        while (end < code.size() &&
               !(at(end) == ">" && at(end + 1) == ">" && at(end + 2) == ">" && at(end + 3) == "("))
            if (at(end) == ";")
                refuse(*code[i], "<<< is not closed by >>>(");
            else
                end = at(end) == "(" || at(end) == "[" || at(end) == "{" ? closing(end) + 1 : end + 1;
        if (end >= code.size()) refuse(*code[i], "<<< is not closed by >>>(");
        const string callee = join(first, i);
        const size_t close = closing(end + 3);
        erase(first, i + 3);
        write(first, "(::cudacpu::configure(");
        erase(end, end + 3);
        write(end, "), " + callee);
        write(close, "))");
    }

    // __shared__ float tile[16][16], *p; becomes, for each name,
    // struct S { float tile[16][16]; }; auto& tile = cudacpu::shared<S>("tile").tile;
    void shared(size_t i, bool in_function) {
        size_t start = i;
        while (start && at(start - 1) != ";" && at(start - 1) != "{" && at(start - 1) != "}" &&
               at(start - 1) != ":")
            --start;
        size_t end = i;
        while (end < code.size() && at(end) != ";")
            end = at(end) == "{" || at(end) == "(" ? closing(end) + 1 : end + 1;
        bool is_extern = false;
        for (size_t j = start; j < end; ++j)
            if (at(j) == "__shared__" || at(j) == "static" || at(j) == "extern") {
                is_extern |= at(j) == "extern";
                write(j, "");
            } else if (is_extern && (at(j) == "alignas" || at(j) == "__attribute__")) {
                erase(j, closing(j + 1) + 1);
            }
        string result, specifiers;
        for (auto [first, last] : split(start, end)) {
            size_t name = first;  // the word before the first '[' or the end
            for (int angles = 0; name < last; ++name) {
                const string& t = at(name);
                if (t == "(" || t == "{")
                    name = closing(name);
                else if (t == "<")
                    ++angles;
                else if (t == ">")
                    --angles;
                else if (!angles && (t == "[" || t == "="))
                    break;
            }
            const size_t suffix = name--;
            while (name > first && erased(name)) --name;
            if (!is_word(name))
                refuse(*code[i],
                       "this declaration of __shared__ memory is not understood: declare "
                       "one name at a time");
            if (at(suffix) == "=") refuse(*code[i], "__shared__ variables cannot be initialised");
            size_t pointer = name;
            while (pointer > first && (at(pointer - 1) == "*" || erased(pointer - 1))) --pointer;
            if (first == start) specifiers = join(first, pointer);
            const string type = "cudacpu_shared_" + std::to_string(++serial);
            string declarator = join(pointer, name + 1), brackets = join(suffix, last);
            if (is_extern) {
                const size_t close = brackets.find(']');
                brackets = close == string::npos ? "" : brackets.substr(close + 1);
                result += "typedef " + specifiers + " " + join(pointer, name) + " " + type + brackets + "; ";
                if (in_function)
                    result += type + "* const " + at(name) + " = ::cudacpu::dynamic_shared<" + type + ">(); ";
                else
                    result += "[[maybe_unused]] static " + type + " (&" + at(name) +
                              ")[] = ::cudacpu::dynamic_at_namespace_scope<" + type + ">(); ";
            } else {
                result += "struct " + type + " { " + specifiers + " " + declarator + brackets + "; }; ";
                result += string(in_function ? "" : "static ") + "auto& " + at(name) +
                          " = ::cudacpu::shared" + (in_function ? "" : "_at_namespace_scope") + "<" + type +
                          ">(\"" + at(name) + "\")." + at(name) + "; ";
            }
        }
        erase(start, end);
        write(start, result);
        write(end, "");
    }

    void assembly(size_t i, bool in_kernel) {
        size_t open = i + 1;
        while (is_word(open)) ++open;  // volatile
        if (at(open) != "(") return;
        const size_t close = closing(open);
        string instruction;
        size_t j = open + 1;
        for (; j < close && code[j]->kind == Token::quoted; ++j)
            instruction += at(j).substr(1, at(j).size() - 2);
        static const std::regex ptx(R"([a-z]\w*\.[a-z]|\btrap\b|\bexit\b|\bbrkpt\b)");
        if (!in_kernel && !std::regex_search(instruction, ptx)) return;  // the host's own assembly
        static const std::regex reading(
            R"(\s*mov\.[usb](32|64)\s+%0\s*,\s*%%?(laneid|warpid|nwarpid|smid|nsmid|clock|)"
            R"(clock64|globaltimer|lanemask_(?:lt|le|eq|ge|gt))\s*;?\s*(?:\\n)?\s*)");
        std::smatch m;
        if (!std::regex_match(instruction, m, reading) || at(j) != ":" || at(j + 2) != "(")
            refuse(*code[i], "inline PTX: the CPU device cannot run \"" + instruction +
                                 "\"; use the function that "
                                 "CUDA has for it (clock64(), __activemask(), ...)");
        const string target = join(j + 2, closing(j + 2) + 1);
        erase(i, close + 1);
        write(i, target + " = ::cudacpu::special_register(\"" + m[2].str() + "\")");
    }

public:
    Translation(std::vector<Token>& tokens, const Source& source) : all(tokens) {
        for (Token& t : all)
            if (t.kind != Token::space && !source.is_system(*t.file)) code.push_back(&t);
    }
    void run() {
        std::vector<bool> braces;  // does the brace open a function, or something within one?
        int functions = 0;
        size_t statement = 0, kernel_end = 0;
        for (size_t i = 0; i < code.size(); ++i) {
            if (erased(i)) continue;
            const string& t = at(i);
            if (t[0] == '{') {
                bool outside = !functions;
                if (outside) {
                    outside = at(statement) == "extern" && i == statement + 2;
                    for (size_t j = statement; j < i; ++j) outside |= at(j) == "namespace";
                }
                braces.push_back(!outside);
                functions += !outside;
            } else if (t[0] == '}') {
                if (!braces.empty()) functions -= braces.back(), braces.pop_back();
            }
            if (t[0] == '{' || t[0] == '}' || t == ";") statement = i + 1;
            if (t == "__global__")
                kernel_end = std::max(kernel_end, end_of_definition(i)), kernel(i);
            else if (t == "__shared__")
                shared(i, functions > 0);
            else if (t == "__launch_bounds__" || t == "__maxnreg__")
                erase(i, closing(i + 1) + 1);
            else if (t == "__noinline__" && at(i - 1) != "(")
                write(i, "__attribute__((noinline))");
            else if (t == "asm" || t == "__asm__" || t == "__asm")
                assembly(i, i < kernel_end);
            else if (is_launch(i))
                launch(i);
        }
    }
    size_t end_of_definition(size_t i) const {
        while (i < code.size() && at(i) != "{" && at(i) != ";") i = at(i) == "(" ? closing(i) + 1 : i + 1;
        return at(i) == "{" ? closing(i) : i;
    }
    string result() const {
        string s;
        for (const Token& t : all) s += t.now();
        return s;
    }
};

// ---- files and commands ----------------------------------------------------------------------------------

string quoted(const string& s) { return "'" + std::regex_replace(s, std::regex("'"), "'\\''") + "'"; }
string command(const std::vector<string>& words) {
    string s;
    for (const string& w : words) s += (s.empty() ? "" : " ") + quoted(w);
    return s;
}
int status_of(int status) { return status == -1 || !WIFEXITED(status) ? 1 : WEXITSTATUS(status); }

string compiler() {
    const char* cxx = getenv("CXX");
    return cxx && *cxx ? cxx : CUDACPU_CXX;
}

string read_file(const string& name) {
    std::ifstream file(name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// What is missing has a name: say it instead of "No such file".
const std::pair<const char*, const char*> absent[] = {
    {"cub/", "CUB"},
    {"thrust/", "Thrust"},
    {"cublas", "cuBLAS"},
    {"curand", "cuRAND"},
    {"cufft", "cuFFT"},
    {"cusparse", "cuSPARSE"},
    {"cusolver", "cuSOLVER"},
    {"cudnn", "cuDNN"},
    {"nccl", "NCCL"},
    {"mma.h", "WMMA (tensor cores)"},
    {"cuda/", "libcu++"},
    {"cuda_fp16", "half precision"},
    {"cuda_bf16", "bfloat16"},
    {"cuda_fp8", "8-bit floating point"},
    {"nvrtc", "run-time compilation"},
    {"cutlass/", "CUTLASS"},
    {"cute/", "CuTe"},
    {"texture_", "textures"},
    {"surface_", "surfaces"},
    {"cuda_pipeline", "asynchronous copies to shared memory"},
    {"cooperative_groups/memcpy_async", "memcpy_async"},
    {"cuda_gl_interop", "OpenGL"},
    {"nvToolsExt", "NVTX"},
    {"nvtx3/", "NVTX"}};

void look_at_raw_source(const string& name, bool failed) {
    Source raw(read_file(name), name);
    bool warned = false;
    static const std::regex include(R"(#\s*include\s*[<"]([^>"]+)[>"][^]*)");
    for (const Token& t : raw.tokens) {
        std::smatch m;
        if (!failed && t.text.find("__CUDA_ARCH__") != string::npos && !warned && t.text[0] != '/') {
            std::cerr << place(t)
                      << ": warning: __CUDA_ARCH__ is not defined here: the CPU device takes the host's "
                         "branch\n";
            warned = true;
        }
        if (failed && t.text[0] == '#' && std::regex_match(t.text, m, include))
            for (auto [prefix, what] : absent)
                if (m[1].str().find(prefix) == 0)
                    std::cerr << place(t) << ": error: the CPU device has no " << what << " (" << m[1]
                              << ")\n";
    }
}

string preprocess(const string& file, const std::vector<string>& options, const string& depfile,
                  const string& target) {
    std::vector<string> words{"-E", "-x", "c++", "-std=gnu++20", "-include", "cuda_runtime.h"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"-isystem", CUDACPU_INCLUDE});
    if (!depfile.empty()) words.insert(words.end(), {"-MD", "-MF", depfile, "-MQ", target});
    words.push_back(file);
    FILE* pipe = popen((compiler() + " " + command(words)).c_str(), "r");
    if (!pipe) stop("cannot run " + compiler());
    string text;
    char buffer[65536];
    while (size_t n = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
    if (status_of(pclose(pipe))) {
        if (access(file.c_str(), R_OK) == 0) look_at_raw_source(file, true);
        exit(1);
    }
    return text;
}

void translate(const string& file, const string& out, const std::vector<string>& options,
               const string& depfile = "") {
    Source source(preprocess(file, options, depfile, out), file);
    for (const string& name : source.own_files()) look_at_raw_source(name, false);
    Translation translation(source.tokens, source);
    translation.run();
    std::ofstream stream(out, std::ios::binary);
    stream << translation.result();
    if (!stream.flush()) stop("cannot write " + out);
}

int compile(const std::vector<string>& files, const string& out, const string& build,
            const std::vector<string>& options, const std::vector<string>& libraries) {
    char folder[] = "/tmp/cudacpu-XXXXXX";
    if (!mkdtemp(folder)) stop("cannot make a folder in /tmp");
    std::vector<string> words{"-std=gnu++20", "-g", "-Wno-volatile"}, sources;
    if (build == "hazards") {
        std::istringstream flags(CUDACPU_HAZARD_FLAGS);
        for (string flag; flags >> flag;) words.push_back(flag);
    } else {
        words.push_back("-O2");
    }
    if (build == "asan")
        words.insert(words.end(), {"-fsanitize=address,undefined", "-fno-omit-frame-pointer"});
    words.insert(words.end(), options.begin(), options.end());
    std::vector<string> defines = options;
    if (build == "asan") defines.push_back("-fsanitize=address,undefined");
    for (const string& file : files) {
        if (file.size() > 3 && file.substr(file.size() - 3) == ".cu") {
            sources.push_back(string(folder) + "/" + std::to_string(sources.size()) + ".ii");
            translate(file, sources.back(), defines);
        } else {
            sources.push_back(file);
        }
    }
    words.insert(words.end(), {"-isystem", CUDACPU_INCLUDE, "-c"});
    // Compiled first and linked without these options: the hazard build must not link ThreadSanitizer itself.
    const bool only_objects = std::find(options.begin(), options.end(), "-c") != options.end();
    std::vector<string> link{"-o", out}, objects;
    int status = 0;
    for (size_t i = 0; i < sources.size() && !status; ++i) {
        objects.push_back(only_objects ? out : string(folder) + "/" + std::to_string(i) + ".o");
        std::vector<string> one = words;
        one.insert(one.end(), {"-o", objects.back(), sources[i]});
        status = status_of(system((compiler() + " " + command(one)).c_str()));
    }
    if (!status && !only_objects) {
        if (build == "asan") link.push_back("-fsanitize=address,undefined");
        link.insert(link.end(), objects.begin(), objects.end());
        link.insert(link.end(), libraries.begin(), libraries.end());
        link.push_back(string(CUDACPU_LIBRARY) + "/libcudacpu_" + (build.empty() ? "plain" : build) + ".a");
        link.insert(link.end(), {CUDACPU_BOOST, "-ldl"});
        status = status_of(system((compiler() + " " + command(link)).c_str()));
    }
    for (const string& o : objects)
        if (o != out) unlink(o.c_str());
    for (const string& s : sources)
        if (s.find(folder) == 0) unlink(s.c_str());
    rmdir(folder);
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<string> files, options, libraries;
    string out, depfile, build;
    bool only_translate = false;
    for (int i = 1; i < argc; ++i) {
        const string a = argv[i];
        auto next = [&]() -> string { return ++i < argc ? argv[i] : (stop(a + " wants a value"), ""); };
        const string suffix = a.substr(a.rfind('.') + 1);
        if (a == "--translate")
            only_translate = true;
        else if (a == "--depfile")
            depfile = next();
        else if (a == "--hazards" || a == "--asan")
            build = a.substr(2);
        else if (a == "-o")
            out = next();
        else if (a == "-I" || a == "-D" || a == "-U" || a == "-include" || a == "-isystem" || a == "-iquote")
            options.push_back(a), options.push_back(next());
        else if (a == "-L" || a == "-l")
            libraries.push_back(a + next());
        else if (a.find("-l") == 0 || a.find("-L") == 0 || a.find("-Wl,") == 0)
            libraries.push_back(a);
        else if (a[0] == '-')
            options.push_back(a);
        else if (suffix == "o" || suffix == "a" || suffix == "so")
            libraries.push_back(a);
        else
            files.push_back(a);
    }
    if (files.empty()) {
        std::cerr << "cudacpu FILE.cu [MORE.cu ...] -o PROGRAM [--hazards|--asan] [g++ options]\n"
                     "  builds a CUDA program that runs on the CPU device. --hazards finds races and "
                     "accesses out of\n"
                     "  bounds; --asan adds AddressSanitizer and UndefinedBehaviorSanitizer.\n"
                     "cudacpu --translate FILE.cu -o OUT.cpp [--depfile OUT.d] [preprocessor options]\n";
        return 2;
    }
    for (const string& f : files)
        if (access(f.c_str(), R_OK)) stop("cannot read " + f);
    if (out.empty()) out = only_translate ? files[0] + ".cpp" : "a.out";
    if (!only_translate) return compile(files, out, build, options, libraries);
    translate(files[0], out, options, depfile);
}
