// lab_test.cpp - tests lab.hpp without a device: the command line, the table, the CSV file and the verdict.
#include "lab.hpp"

#include <gtest/gtest.h>

#include "screen.hpp"

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

struct Bench : lab::Lab {  // a sample with two variants and a twin
    Bench() : Lab("00_bench", "Does it work?") {
        defaults(1000, 0, 256, "elements", "blocks");
        variant("slow", "one by one");
        variant("fast", "all at once");
        twin("broken", "nothing at all");
    }
    void on(bool gpu) { runs_on("a device", gpu); }
    void parse_line(std::vector<std::string> words) {
        words.insert(words.begin(), "00_bench");
        std::vector<char*> argv;
        for (std::string& w : words) argv.push_back(w.data());
        parse(static_cast<int>(argv.size()), argv.data());
    }
};

struct Folder {  // each test has its own folder
    fs::path path = fs::temp_directory_path() / ("lab_test_" + std::to_string(::getpid()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
    std::string file(const char* name) const { return (path / name).string(); }
    size_t count() const { return static_cast<size_t>(std::distance(fs::directory_iterator(path), {})); }
};

std::string contents(const std::string& path) {
    std::ifstream in(path);
    std::stringstream s;
    s << in.rdbuf();
    return s.str();
}

TEST(CommandLine, KnowsItsDefaultsAndOptions) {
    Bench bench;
    bench.parse_line({});
    EXPECT_EQ(bench.n(), 1000);
    EXPECT_EQ(bench.threads(), 256);
    EXPECT_TRUE(bench.wants_all());
    Bench other;
    other.parse_line({"--n", "1", "--only", "fast", "--threads", "1024", "--seed", "0"});
    EXPECT_EQ(other.n(), 1);
    EXPECT_EQ(other.seed(), 0u);
    EXPECT_TRUE(other.wants("fast"));
    EXPECT_FALSE(other.wants("slow"));
}

TEST(CommandLine, TwinRunsAlone) {
    Bench bench;
    bench.parse_line({"--wrong", "broken"});
    EXPECT_TRUE(bench.wants_twin("broken"));
    EXPECT_FALSE(bench.wants("fast"));
}

struct Warps : Bench {  // adds a variant and a twin that need more than one thread
    Warps() {
        variant("folded", "by warps", lab::whole_warps);
        twin("odd", "three of four", 4);
    }
};

TEST(CommandLine, LeavesOutWhatNeedsMoreThreads) {
    Warps few;
    few.parse_line({"--threads", "16"});
    EXPECT_TRUE(few.wants("fast"));
    EXPECT_FALSE(few.wants("folded"));
    testing::internal::CaptureStdout();
    few.on(false);
    EXPECT_NE(testing::internal::GetCapturedStdout().find("--threads: folded (32 or more"), std::string::npos);
    Warps enough;
    enough.parse_line({"--threads", "32"});
    EXPECT_TRUE(enough.wants("folded"));
    testing::internal::CaptureStdout();
    enough.on(false);
    EXPECT_EQ(testing::internal::GetCapturedStdout().find("left out"), std::string::npos);
    Warps twin;
    twin.parse_line({"--threads", "4", "--wrong", "odd"});
    EXPECT_TRUE(twin.wants_twin("odd"));
}

TEST(CommandLineDeathTest, RefusesWhatNeedsMoreThreads) {
    for (const std::vector<std::string>& line :
         {std::vector<std::string>{"--threads", "16", "--only", "folded"}, {"--threads", "2", "--wrong", "odd"}})
        EXPECT_EXIT(
            {
                Warps bench;
                bench.parse_line(line);
            },
            testing::ExitedWithCode(2), line[1] == "16" ? "type --threads 32 or more" : "type --threads 4 or more");
}

TEST(CommandLine, LeavesOutWhatThisMachineCannotRun) {
    Bench bench;
    bench.parse_line({});
    testing::internal::CaptureStdout();
    bench.leave_out("fast", "this device has no warps", "--only slow");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "fast: left out, because this device has no warps\n");
    EXPECT_FALSE(bench.wants("fast"));
    EXPECT_TRUE(bench.wants("slow"));
    Bench other;  // it has not requested the line, so none is printed
    other.parse_line({"--only", "slow"});
    testing::internal::CaptureStdout();
    other.leave_out("fast", "this device has no warps", "--only slow");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_TRUE(other.wants("slow"));
}

TEST(CommandLineDeathTest, RefusesWhatThisMachineCannotRun) {
    EXPECT_EXIT(
        {
            Bench bench;
            bench.parse_line({"--only", "slow", "--only", "fast"});
            bench.leave_out("fast", "this device has no warps", "--only slow");
        },
        testing::ExitedWithCode(2), "fast is left out, because this device has no warps; type\\s+--only slow");
}

TEST(CommandLine, KnowsWhetherATableHasSomethingToRun) {
    struct Entry {
        const char* name;
    };
    const Entry both[] = {{"slow"}, {"fast"}}, twins[] = {{"broken"}};
    Bench bench;
    bench.parse_line({});
    EXPECT_TRUE(bench.wants_any(both));
    EXPECT_FALSE(bench.wants_any(twins));
    Bench wrong;
    wrong.parse_line({"--wrong", "broken"});
    EXPECT_FALSE(wrong.wants_any(both));
    EXPECT_TRUE(wrong.wants_any(twins));
}

TEST(CommandLineDeathTest, RefusesWithStatus2AndSaysWhatToType) {
    const std::vector<std::vector<std::string>> lines = {
        {"--n", "0"},      {"--n", "1e-3"},   {"--n", ""},         {"--threads", "48"},
        {"--blocks", "0"}, {"--only", "slo"}, {"--wrong", "slow"}, {"--nonsense"},
        {"stray"},         {"--csv", ""},     {"--csv", "--warm"}, {"--n", "1", "--n", "2"}};
    for (const auto& line : lines) {
        EXPECT_EXIT(
            {
                Bench bench;
                bench.parse_line(line);
            },
            testing::ExitedWithCode(2), "Type 00_bench --help")
            << line[0];
    }
}

TEST(CommandLineDeathTest, HelpEndsWithStatus0) {
    EXPECT_EXIT(
        {
            Bench bench;
            bench.parse_line({"--help"});
        },
        testing::ExitedWithCode(0), "");
}

TEST(CommandLineDeathTest, AClosedStdoutIsNoPlaceForAFile) {
    EXPECT_EXIT(
        {
            ::close(1);
            Bench bench;
            std::exit(::open("/dev/null", O_WRONLY) == 1);
        },
        testing::ExitedWithCode(0), "");
}

TEST(Verdict, CountsVariantsAndLibraryOnly) {
    Bench bench;
    bench.parse_line({});
    bench.on(true);
    bench.row({"read only", "-", 1.0, 1e6, "", lab::Kind::limit});
    bench.row({"race", "3", 1.0, 1e6, "lost 5", lab::Kind::shown});
    bench.row({"slow", "8", 2.0, 1e6, ""});
    testing::internal::CaptureStdout();
    EXPECT_EQ(bench.verdict(), 0);
    EXPECT_NE(testing::internal::GetCapturedStdout().find("PASSED: 00_bench: 1 result agrees"), std::string::npos);
}

TEST(Verdict, OneWrongResultIsEnough) {
    Bench bench;
    bench.parse_line({});
    bench.on(false);
    bench.row({"slow", "8", 2.0, 1e6, ""});
    testing::internal::CaptureStdout();
    bench.row({"fast", "9", 2.0, 1e6, "element 3: got 9, wanted 8"});
    EXPECT_EQ(bench.verdict(), 1);
    const std::string out = testing::internal::GetCapturedStdout();
    EXPECT_NE(out.find("fast: element 3: got 9, wanted 8"), std::string::npos);
    EXPECT_NE(out.find("FAILED: 00_bench: 1 of 2"), std::string::npos);
}

TEST(Verdict, NothingCheckedIsNoPass) {
    Bench bench;
    bench.parse_line({});
    bench.on(false);
    EXPECT_EQ(bench.verdict(), 1);
}

std::vector<std::string> lines_of(const std::string& printed) {
    std::vector<std::string> lines;
    std::istringstream in(printed);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}
size_t widest(const std::string& printed) {
    size_t most = 0;
    for (const std::string& line : lines_of(printed)) most = std::max(most, lab::width_of(line));
    return most;
}

// The widest values of any sample: they fit on the screen, and each column stays below its heading.
TEST(Table, FitsOnTheScreen) {
    for (const bool gpu : {false, true})
        for (const std::vector<std::string>& line : {std::vector<std::string>{}, {"--verbose"}}) {
            Bench bench;
            bench.variant("cas_float_local_sum", "the longest name");
            bench.parse_line(line);
            testing::internal::CaptureStdout();
            bench.on(gpu);
            bench.new_table("minima of 1,073,741,824 floats");
            bench.columns({"clocks median", "clocks p95", "% of tutorial", "L2 warm", "% of tut. warm"});
            const std::vector<std::string> more = {"1234567", "1234567", "100.0", "123456", "100.0"};
            if (gpu) bench.row({"read only", "-", 1.0, 4e9, "", lab::Kind::limit});
            if (gpu) bench.row({"CUB", "536,870,912 of 536,870,912", 2.0, 4e9, "", lab::Kind::library, more});
            bench.row({"slow", "536,870,912 of 536,870,912", 6543.21, 4e9, "", lab::Kind::variant, more});
            bench.row({"fast", "1 of 536,870,912", 0.1, 4e9,
                       "block 0: got 1,234,567,890,123,456, wanted -1,234,567,890,123,456: "
                       "the right result plus the old value; was the word reset?",
                       lab::Kind::variant, more});
            const std::string printed = testing::internal::GetCapturedStdout();
            EXPECT_LE(widest(printed), gpu ? 100u : 80u) << printed;
            EXPECT_NE(printed.find("only in the --csv file"), std::string::npos) << printed;
            size_t at = std::string::npos;
            for (const std::string& row : lines_of(printed)) {
                if (row.find("verdict") != std::string::npos) at = row.find("verdict");
                EXPECT_TRUE(row.compare(0, 5, "slow ") != 0 || row.find("ok") == at) << printed;
            }
            EXPECT_NE(at, std::string::npos);
        }
}

TEST(Table, HasNoColumnWithoutAUse) {
    Bench bench;
    bench.parse_line({});
    testing::internal::CaptureStdout();
    bench.on(false);
    bench.row({"slow", "8", 2.0, 1e6, ""});
    EXPECT_EQ(lines_of(testing::internal::GetCapturedStdout()).at(2), "variant            result  verdict");
    Bench other;
    other.parse_line({});
    testing::internal::CaptureStdout();
    other.on(true);
    other.row({"slow", "8", 2.0, 1e6, ""});
    const std::string printed = testing::internal::GetCapturedStdout();
    for (const char* word : {"library", "limit", "predicted", "ms"})
        EXPECT_EQ(printed.find(word), std::string::npos) << printed;
    EXPECT_NE(printed.find("GB/s"), std::string::npos) << printed;
}

TEST(Verdict, EndsWithTheCommandThatShowsMore) {
    Folder folder;
    for (const char* name : {"cpu", "hazards"}) fs::create_directories(folder.path / name);
    for (const char* wrong : {"slow", "broken"})
        for (const bool built : {false, true}) {
            if (built) {
                std::ofstream(folder.path / "hazards/00_bench") << "#!/bin/sh\n";
                fs::permissions(folder.path / "hazards/00_bench", fs::perms(0755));
            }
            Bench bench;
            const std::string option = wrong == std::string("slow") ? "--only" : "--wrong";
            std::vector<std::string> words = {
                folder.file("cpu/00_bench"), "--n=2^10", option, wrong, "--csv", "/dev/null"};
            std::vector<char*> argv;
            for (std::string& w : words) argv.push_back(w.data());
            ASSERT_FALSE(bench.read(static_cast<int>(argv.size()), argv.data()));
            testing::internal::CaptureStdout();
            bench.on(false);
            bench.row({wrong, "9", 2.0, 1e6, "got 9, wanted 8"});
            bench.verdict();
            std::string printed = testing::internal::GetCapturedStdout();
            for (size_t at; (at = printed.find(" \\\n    ")) != std::string::npos;) printed.replace(at, 7, " ");
            const std::string rest = " " + option + " " + wrong + " --n 1024\n";
            EXPECT_EQ(printed.find(lab::shell_word(folder.file("hazards/00_bench")) + rest) != std::string::npos,
                      built)
                << printed;
            const std::string order = "LAB_ORDER=reverse " + lab::shell_word(words[0]) + rest;
            EXPECT_TRUE(built || printed.find(order) != std::string::npos) << printed;
            fs::remove(folder.path / "hazards/00_bench");
        }
}

TEST(Refusal, NamesWhatIsNearlyRight) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> lines = {
        {{"--only", "fsat"}, "did you mean --only fast?"},
        {{"--only", "brokn"}, "did you mean --wrong broken?"},
        {{"--wrong", "Broken"}, "did you mean --wrong broken?"},
        {{"--repeat", "3"}, "did you mean --repeats?"},
        {{"--thread=64"}, "did you mean --threads?"},
        {{"--n", "many"}, "type digits, 1e6 or 2^20"},
        {{"--n", "0"}, "type --n 1000"},
        {{"--threads", "48"}, "type --threads 256"}};
    for (auto [line, advice] : lines) {
        Bench bench;
        line.insert(line.begin(), "00_bench");
        std::vector<char*> argv;
        for (std::string& w : line) argv.push_back(w.data());
        const auto ended = bench.read(static_cast<int>(argv.size()), argv.data());
        ASSERT_TRUE(ended);
        std::istringstream text(ended->text);
        std::string said;
        for (std::string word; text >> word;) said += word + " ";
        EXPECT_NE(said.find(advice), std::string::npos) << said;
    }
    EXPECT_EQ(lab::nearest("nonsense", {"slow", "fast"}), "");
    EXPECT_EQ(lab::nearest("x", {"a", "b"}), "");
    EXPECT_EQ(lab::nearest("vectorized", {"tutorial", "vectorised"}), "vectorised");
}

TEST(Wrapped, BreaksAtSpacesAlone) {
    EXPECT_EQ(lab::wrapped("one two three", 2, 8), "one two\n  three");
    EXPECT_EQ(lab::wrapped("    a b c d", 2, 7), "    a b\n      c\n      d");
    EXPECT_EQ(lab::wrapped("/a/very/long/path is here", 2, 10), "/a/very/long/path\n  is here");
    EXPECT_EQ(lab::wrapped("x\n\ny\n", 2, 10), "x\n\ny\n");
    EXPECT_EQ(lab::wrapped("an 'x y' is it's", 0, 7), "an\n'x y'\nis it's");
    EXPECT_EQ(lab::shell_word("/a/b-c.d"), "/a/b-c.d");
    EXPECT_EQ(lab::shell_word("it's a b"), "'it'\\''s a b'");
    EXPECT_EQ(lab::wrapped("run 'it'\\''s a b' now", 0, 6), "run\n'it'\\''s a b'\nnow");
    EXPECT_EQ(lab::width_of("\xc3\xa9\xe5\x86\x85"), 3u);
    EXPECT_EQ(lab::wrapped("\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9", 0, 5), "\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9");
}

// Returns what a sample at `path` prints about a command line that names it, and about a wrong row.
std::string said_at(const std::string& path, std::vector<std::string> line) {
    Bench bench;
    line.insert(line.begin(), path);
    for (std::string& word : line)
        if (const size_t at = word.find("PATH"); at != std::string::npos) word.replace(at, 4, path);
    std::vector<char*> argv;
    for (std::string& w : line) argv.push_back(w.data());
    if (const auto ended = bench.read(static_cast<int>(argv.size()), argv.data())) return ended->text;
    testing::internal::CaptureStdout();
    bench.on(true);
    bench.row({"slow", "9", 2.0, 1e6, "got 9, wanted 8"});
    bench.verdict();
    return testing::internal::GetCapturedStdout();
}

TEST(Folding, AnyPath) {
    const std::vector<std::vector<std::string>> lines = {{"--n", "0"},
                                                         {"--n", "1e-3"},
                                                         {"--n", ""},
                                                         {"--n", "1", "--n", "2"},
                                                         {"--n="},
                                                         {"--blocks", "0"},
                                                         {"--seed", "-1"},
                                                         {"--repeats", "0"},
                                                         {"--threads", "48"},
                                                         {"--threads"},
                                                         {"--only", "slo"},
                                                         {"--only", "xyz"},
                                                         {"--wrong", "slow"},
                                                         {"--only"},
                                                         {"--warm=no"},
                                                         {"--nonsense"},
                                                         {"stray", "words"},
                                                         {"--csv", ""},
                                                         {"--csv", "--warm"},
                                                         {"--csv", "PATH/none/x"},
                                                         {"--help"},
                                                         {"--list"},
                                                         {"--only", "slow", "--wrong", "broken"},
                                                         {"--n", "2^10"}};
    for (const auto& line : lines) {
        std::string first;
        for (const char* beginning : {"@/long", "@it's a b/\xc3\xbc/\xe5\x86\x85 "})
            for (size_t length = 1; length <= 200; ++length) {
                std::string path = std::string(beginning).substr(0, length);
                while (lab::printable(path) != path) path.pop_back();  // do not end within a character
                path.resize(length, 'x');
                std::istringstream said(said_at(path, line));
                std::string all;
                const auto without_path = [&](std::string shown) {
                    for (const std::string& written : {lab::shell_word(path), path})
                        if (const size_t at = shown.find(written); at != std::string::npos)
                            shown.replace(at, written.size(), "PATH");
                    return shown;
                };
                for (std::string part; std::getline(said, part);) {
                    const std::string whole = part;
                    part.erase(0, part.find_first_not_of(' '));
                    if (part.size() > 2 && part.substr(part.size() - 2) == " \\") part.resize(part.size() - 2);
                    const bool one_word = without_path(part).find(' ') == std::string::npos;
                    EXPECT_TRUE(lab::width_of(whole) <= 80 || one_word) << whole;
                    all += (all.empty() ? "" : " ") + part;
                }
                all = without_path(all);
                if (first.empty()) first = all;
                ASSERT_EQ(all, first) << "a path of " << length;
            }
        for (const char* never : {"=[]", "--n 1024"})  // sizes for a GPU are too large for the hazard build
            EXPECT_EQ(first.find(never), std::string::npos) << first;
    }
}

TEST(Table, ComparesWithLimitAndLibrary) {
    Bench bench;
    bench.parse_line({});
    bench.on(true);
    bench.row({"read only", "-", 1.0, 4e9, "", lab::Kind::limit});
    bench.row({"CUB", "8", 2.0, 4e9, "", lab::Kind::library});
    testing::internal::CaptureStdout();
    bench.row({"fast", "8", 1.25, 4e9, ""});
    const std::string line = testing::internal::GetCapturedStdout();
    EXPECT_NE(line.find(" 1250.00 "), std::string::npos) << line;
    EXPECT_NE(line.find(" 3200.0 "), std::string::npos) << line;
    EXPECT_NE(line.find(" 80.0 "), std::string::npos) << line;
    EXPECT_NE(line.find(" 1.60 "), std::string::npos) << line;
}

TEST(Csv, HasOneFieldAColumnAndQuotes) {
    Folder folder;
    Bench bench;
    bench.parse_line({"--csv", folder.file("rows.csv")});
    bench.on(true);
    bench.row({"slow", "1,000", 2.0, 1e6, ""});
    bench.record({{"sm", "7"}, {"note", "say \"hi\""}});
    bench.verdict();
    const std::string csv = contents(folder.file("rows.csv"));
    EXPECT_NE(csv.find("\"1,000\""), std::string::npos) << csv;
    EXPECT_NE(csv.find("\"say \"\"hi\"\"\""), std::string::npos) << csv;
    EXPECT_EQ(csv.substr(0, 14), "sample,device,");
    EXPECT_EQ(folder.count(), 1u);
}

TEST(WriteFile, ReplacesWhole) {
    Folder folder;
    lab::write_file(folder.file("x"), "old and long");
    lab::write_file(folder.file("x"), "new");
    EXPECT_EQ(contents(folder.file("x")), "new");
    EXPECT_EQ(folder.count(), 1u);
}

TEST(WriteFile, FollowsALinkAndKeepsTheMode) {
    Folder folder;
    lab::write_file(folder.file("x"), "old");
    fs::permissions(folder.file("x"), fs::perms(0640));
    fs::create_symlink("x", folder.file("link"));
    fs::create_symlink("new", folder.file("to_nothing"));
    lab::write_file(folder.file("link"), "new");
    lab::write_file(folder.file("to_nothing"), "there");
    EXPECT_EQ(contents(folder.file("x")), "new");
    EXPECT_EQ(contents(folder.file("new")), "there");
    EXPECT_TRUE(fs::is_symlink(folder.file("link")) && fs::is_symlink(folder.file("to_nothing")));
    EXPECT_EQ(fs::status(folder.file("x")).permissions(), fs::perms(0640));
    EXPECT_EQ(folder.count(), 4u);
}

TEST(WriteFile, WritesToWhatADescriptorHasOpen) {  // even if the file has been removed
    Folder folder;
    const int file = ::open(folder.file("x").c_str(), O_RDWR | O_CREAT, 0644);
    fs::remove(folder.file("x"));
    lab::write_file("/dev/fd/" + std::to_string(file), "new");
    EXPECT_EQ(contents("/dev/fd/" + std::to_string(file)), "new");
    EXPECT_EQ(folder.count(), 0u);
    ::close(file);
}

TEST(WriteFile, ASignalWaitsForTheEnd) {  // at any moment the old file or the complete new one exists, and no other
    Folder folder;
    const std::string old_file = "old", new_file(8 << 20, 'n');
    int replaced = 0;
    for (int i = 0; i < 60; ++i) {
        lab::write_file(folder.file("x"), old_file);
        const int signal = std::array{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM, SIGPIPE}[i % 6];
        std::signal(signal, SIG_DFL);  // nohup and `make test &` in a script ignore some signals
        const pid_t child = ::fork();
        if (child == 0) {
            lab::write_file(folder.file("x"), new_file);
            ::alarm(10);  // ends the child if the signal was lost
            ::pause();
        }
        ::usleep(static_cast<useconds_t>(i * 300));
        ::kill(child, signal);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
        const std::string now = contents(folder.file("x"));
        replaced += now == new_file;
        EXPECT_TRUE(now == old_file || now == new_file) << now.size() << " bytes";
        EXPECT_EQ(folder.count(), 1u) << "signal " << signal << " after " << i * 300 << " us";
    }
    EXPECT_GT(replaced, 0);
}

TEST(WriteFileDeathTest, SaysWhyAndLeavesNothing) {
    Folder folder;
    EXPECT_EXIT(lab::write_file("/dev/full", "x"), testing::ExitedWithCode(3), "cannot write '/dev/full'");
    EXPECT_EXIT(lab::write_file(folder.file("none/x"), "x"), testing::ExitedWithCode(3), "cannot write");
    EXPECT_EQ(folder.count(), 0u);
}

// A forgotten reset is reported if the result contains the poison, and only then.
template <class T>
class Wanted : public testing::Test {};
using Types =
    testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, float, double>;
TYPED_TEST_SUITE(Wanted, Types);

TYPED_TEST(Wanted, NamesAResetOnlyWhereThePoisonShows) {
    using T = TypeParam;
    const bool is_float = std::is_floating_point_v<T>, tells = sizeof(T) > 1;
    for (int byte = 0x60; byte <= 0x6f; ++byte) {
        lab::poison_byte = static_cast<unsigned char>(byte);
        const T held = lab::poisoned<T>();
        EXPECT_GT(held, T(sizeof(T) == 1 ? 0 : 20000));
        std::vector<T> answers = {
            T(0), T(1), T(2), T(100), std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()};
        for (int e = 3; e < (is_float ? 120 : int(8 * sizeof(T)) - 1); ++e)
            answers.push_back(T(std::ldexp(1.3, e)));
        answers.push_back(held);
        for (const T want : answers) {
            for (const int off : {1, 2, 3, 7, 10, -1, -2, -3, -7, -10}) {
                T got = T(want + T(off));
                if constexpr (std::is_floating_point_v<T>)  // off by a few units in the last place
                    for (int k = 0; k < std::abs(off); ++k)
                        got = std::nextafter(k ? got : want, off > 0 ? T(INFINITY) : -T(INFINITY));
                const std::string said = lab::wanted(got, want);
                EXPECT_TRUE(got == held || said.find("; was") == std::string::npos) << said << ", held " << +held;
            }
            if (want == held) continue;
            EXPECT_EQ(lab::wanted(held, want).find("was the word written") != std::string::npos,
                      is_float ? std::fabs(double(want)) < double(held) / 1000 : tells)
                << +want;
        }
        EXPECT_EQ(lab::wanted(T(held + T(5)), T(5)).find("reset?") != std::string::npos, tells);
        EXPECT_EQ(lab::wanted(T(held + T(5)), T(5)).find("was the word written") != std::string::npos, is_float);
    }
}

TEST(WantedOf64Bits, NamesAnOverflow) {
    const auto tells = [](auto got, auto want) { return lab::wanted(got, want).find("2^32") != std::string::npos; };
    const int64_t want = 2'471'961'194'742;
    for (const int64_t k : {1, 2, 500, -1, -7}) {
        EXPECT_TRUE(tells(want + (k << 32), want));
        EXPECT_TRUE(tells(uint64_t(want + (k << 32)), uint64_t(want)));
        EXPECT_FALSE(tells(want + (k << 32) + 1, want));
        EXPECT_FALSE(tells(want + (k << 31) + (int64_t{1} << 30), want));
    }
    EXPECT_FALSE(tells(5, 7));
    EXPECT_FALSE(tells(double(want) + 4294967296.0, double(want)));
}

TEST(Text, ForPeople) {
    EXPECT_EQ(lab::with_commas(0), "0");
    EXPECT_EQ(lab::with_commas(999), "999");
    EXPECT_EQ(lab::with_commas(1000), "1,000");
    EXPECT_EQ(lab::with_commas(-1234567), "-1,234,567");
    EXPECT_EQ(lab::with_commas(-123), "-123");
    EXPECT_EQ(lab::bytes_text(512), "512 bytes");
    EXPECT_EQ(lab::bytes_text(40e6), "38.1 MiB");
}

TEST(RandomBits, DependOnSeedAndIndexAlone) {
    std::set<uint64_t> seen;
    for (uint64_t seed : {0, 1, 42})
        for (uint64_t i = 0; i < 10000; ++i) seen.insert(lab::random_bits(seed, i));
    EXPECT_EQ(seen.size(), 30000u);
    EXPECT_EQ(lab::random_bits(42, 7), lab::random_bits(42, 7));
    int ones = 0;
    for (uint64_t i = 0; i < 10000; ++i) ones += static_cast<int>(lab::random_bits(1, i) >> 17 & 1);
    EXPECT_NEAR(ones, 5000, 300);
}

}  // namespace
