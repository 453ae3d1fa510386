// report_page.cpp - writes the page of `make report`, a single self-contained HTML file, from the output of the
// samples.
//   report_page DATA SOURCE gpu|cpu OUT.html
// DATA has a folder for each program, with run.csv, run.txt and more (see report.sh). SOURCE is the lab's top
// folder, where each sample's folder may have report.txt, claims.txt and results/.
#include "csv.hpp"
#include "lab.hpp"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <regex>
#include <set>
#include <tuple>

namespace {

using namespace tools;
using lab::text;
using lab::with_commas;

/// Escapes text for HTML.
std::string html(const std::string& s) {
    static const std::map<char, std::string> names = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
    std::string out;
    for (char c : s) out += names.count(c) ? names.at(c) : std::string(1, c);
    return out;
}

// ---- what was measured, and what the tutorials claim ------------------------------------------------------------

/// The measured values of one program on one device: the tables of its runs. The first run is called `run`.
struct Figures {
    std::map<std::string, Table> tables;
    std::string printed;  ///< the output of the first run
    const Table& table(const std::string& run) const {
        static const Table none;
        const auto it = tables.find(run);
        return it == tables.end() ? none : it->second;
    }
    const Table& run() const { return table("run"); }
    /// "NVIDIA H200: compute capability ..."
    std::string device() const { return run().rows.empty() ? "" : cell(run().rows[0], "device"); }
    /// "NVIDIA H200"
    std::string device_name() const { return device().substr(0, device().find(':')); }
};

/// Returns the value of a name in claims.txt, such as [RUN/]COLUMN:VARIANT[:COLUMN=VALUE] or printed:WORDS; empty
/// if there is no such value.
std::string look_up(const Figures& figures, const std::string& name) {
    const std::string printed = "printed:";
    if (starts_with(name, printed)) {
        const std::string words = name.substr(printed.size()) + " ";
        for (const std::string& line : lines_of(figures.printed))
            if (starts_with(line, words)) return trim(line.substr(words.size()));
        return "";
    }
    const size_t slash = std::min(name.find('/'), name.find(':'));  // a slash after a colon does not end RUN
    const bool other = slash != std::string::npos && name[slash] == '/';
    const auto parts = split(other ? name.substr(slash + 1) : name, ":");
    const auto wanted = split(parts.size() == 3 ? parts[2] : "sample=", "=");
    if (parts.size() < 2 || parts.size() > 3 || wanted.size() != 2)
        throw Problem("claims.txt: {" + name +
                      "} is not {COLUMN:VARIANT}, {COLUMN:VARIANT:COLUMN=VALUE} or {printed:WORDS}");
    for (const Row& row : figures.table(other ? name.substr(0, slash) : "run").rows)
        if (cell(row, "variant") == parts[1] && (parts.size() == 2 || cell(row, wanted[0]) == wanted[1]))
            return cell(row, parts[0]);
    return "";
}

std::string time_text(double us) {
    const double value = us < 1000 ? us : us / 1000;
    return text(value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value) + (us < 1000 ? " µs" : " ms");
}

/// Replaces each {...} in a claim by its value.
std::string fill_in(const Figures& figures, const std::string& words) {
    const auto pieces = split(words, "{");
    std::string out = pieces[0];
    for (size_t i = 1; i < pieces.size(); ++i) {
        const auto name_and_rest = split(pieces[i], "}");
        if (name_and_rest.size() != 2) throw Problem("claims.txt: { and } do not match in: " + words);
        const auto names = split(name_and_rest[0], " / ");
        const std::string value = look_up(figures, names[0]);
        const double number = std::atof(value.c_str());
        if (names.size() == 2) {
            const double over = std::atof(look_up(figures, names[1]).c_str());
            out += number > 0 && over > 0 ? text(number < 100 * over ? "%.1f" : "%.0f", number / over) : "–";
        } else {
            const bool time = names[0].find("time_us:") != std::string::npos;
            out += value.empty() ? "–" : time ? time_text(number) : value;
        }
        out += name_and_rest[1];
    }
    return html(out);
}

struct Claim {
    std::string claim, measured, why;
};

std::vector<Claim> read_claims(const fs::path& path) {
    std::vector<Claim> claims;
    for (const std::string& line : lines_of(read_if_there(path))) {
        if (line.empty() || line[0] == '#') continue;
        const auto parts = split(line, " | ");
        if (parts.size() != 3) throw Problem(path.string() + ": not 'claim | measured | why': " + line);
        claims.push_back({parts[0], parts[1], parts[2]});
    }
    return claims;
}

// ---- the page ---------------------------------------------------------------------------------------------------

struct Sample {
    std::string name, question, verdict, output;
    Figures here, named;  ///< of this run, and of the GPU whose values are in results/
    std::vector<Claim> claims;
    std::vector<std::string> captions;  ///< of the pictures, in order
    fs::path data, results;
    bool sequel = false;  ///< a second program of the folder: the folder's plot and claims are not about it
    bool passed() const { return starts_with(verdict, "PASSED"); }
    std::string number() const { return name.substr(0, name.find('_')); }
    /// The path of the page that shows a variant step by step; empty if there is none.
    std::string trace_of(const std::string& variant) const {
        const std::string page = "traces/" + number() + "_" + variant + ".html";
        return !sequel && fs::exists(data.parent_path().parent_path() / page) ? page : "";
    }
};

Sample read_sample(const fs::path& data, const fs::path& source) {
    Sample s;
    s.name = data.filename().string();
    s.data = data;
    const fs::path folder = folder_of(source, s.name);
    s.sequel = folder.filename() != s.name;
    s.results = folder / "results";
    s.output = read(data / "run.txt");

    // In results/ a run's figures are in h200_RUN.csv, and those of the folder's own first run in h200_default.csv.
    // A line `beside RUN TAG` names another file.
    std::map<std::string, std::string> tag_of;
    if (!s.sequel) tag_of["run"] = "default";
    s.here.printed = s.output;
    std::vector<std::string> runs = {"run"};
    for (const Setting& setting : settings(folder / "report.txt")) {
        static const std::string known = " run gpu beside plot results picture trace twin ";
        if (known.find(" " + setting.word + " ") == std::string::npos)
            throw Problem(setting.where + ": " + setting.word + " is not one of" + known);
        const auto words = split(setting.rest, " ");
        if (setting.program != s.name) {
            if (s.sequel || setting.word != "beside" || words.size() != 2) continue;
            // A sequel's run: the folder's claims know it by its tag.
            s.here.tables[words[1]] = read_csv(data.parent_path() / setting.program / (words[0] + ".csv"));
            s.named.tables[words[1]] = read_csv(s.results / ("h200_" + words[1] + ".csv"));
            continue;
        }
        if (setting.word == "picture") s.captions.push_back(parts(setting, 2)[0]);
        if (setting.word == "beside" && words.size() != 2) throw Problem(setting.where + ": not beside RUN TAG");
        if (setting.word == "beside") tag_of[words[0]] = words[1];
        const bool run = setting.word == "run" || (setting.word == "gpu" && words[0] == "run" && words.size() > 1);
        if (run) runs.push_back(words[setting.word == "gpu"]);
    }
    for (const std::string& run : runs) {
        s.here.tables[run] = read_csv(data / (run + ".csv"));
        const std::string tag = tag_of.count(run) ? tag_of[run] : run;
        s.named.tables[run] = read_csv(s.results / ("h200_" + tag + ".csv"));
        if (run == "run") s.named.printed = read_if_there(s.results / ("h200_" + tag + ".txt"));
    }
    auto& rows = s.here.tables["run"].rows;  // rows without a verdict are only for the plot
    rows.erase(std::remove_if(rows.begin(), rows.end(), [](const Row& r) { return cell(r, "verdict").empty(); }),
               rows.end());
    if (!s.sequel) s.claims = read_claims(folder / "claims.txt");
    bool in_question = false;  // which goes on in lines that are set in
    for (const std::string& line : lines_of(s.output)) {
        in_question = in_question && starts_with(line, "  ");
        if (in_question) s.question += line.substr(1);
        if (s.question.empty() && starts_with(line, s.name + ": ")) {
            s.question = line.substr(s.name.size() + 2);
            in_question = true;
        }
        if (starts_with(line, "PASSED") || starts_with(line, "FAILED")) s.verdict = line;
    }
    if (s.verdict.empty()) s.verdict = "FAILED: " + s.name + ": it printed no verdict";
    return s;
}

std::string verdict(const Sample& s) {
    return text(R"(<p class="verdict %s">%s</p>)", s.passed() ? "ok" : "bad",
                html(split(s.verdict, s.name + ": ")[0] + split(s.verdict, s.name + ": ").back()).c_str()) +
           "\n";
}

/// A line of a table: a row of this run, and the one whose times are beside it. On a GPU they are the same row;
/// on the CPU device the second is that of the named GPU. Either may be missing.
struct Line {
    const Row *here, *timed;
    bool leads = false;  ///< the limit or the library of the rows below, which only the named GPU ran
    const Row& row() const { return here ? *here : *timed; }
};

/// Are two rows about the same work? Their words must agree, and their sizes if `of_one_size`.
bool same_work(const Row& a, const Row& b, bool of_one_size) {
    for (const char* column : {"variant", "kernel", "words"})
        if (cell(a, column) != cell(b, column)) return false;
    return !of_one_size || cell(a, "n") == cell(b, "n");
}

/// The lines for the rows of this run. On the CPU device, rows that only the named GPU ran keep their places.
std::vector<Line> lines_of_run(const Sample& s, bool gpu) {
    std::vector<Line> lines;
    if (gpu) {
        for (const Row& row : s.here.run().rows) lines.push_back({&row, &row});
        return lines;
    }
    const auto& named = s.named.run().rows;
    size_t next = 0;  // of those
    const auto only_there = [&](size_t until) {
        for (; next < until; ++next) {
            const bool leads = cell(named[next], "verdict") == "limit" || (!lines.empty() && lines.back().leads);
            lines.push_back({nullptr, &named[next], leads});
        }
    };
    for (const Row& row : s.here.run().rows) {
        size_t at = next;
        while (at < named.size() && !same_work(row, named[at], false)) ++at;
        const bool known = at < named.size();
        if (known) only_there(at);
        lines.push_back({&row, known ? &named[next++] : nullptr});
    }
    only_there(named.size());
    return lines;
}

/// The time that the named GPU took for the same work as a row's; empty if it has no such row.
std::string named_time(const Sample& s, const Row& row) {
    for (const Row& other : s.named.run().rows)
        if (same_work(row, other, true)) return cell(other, "time_us");
    return "";
}

bool is_in(const std::string& list, const std::string& name) {
    return list.find("," + name + ",") != std::string::npos;
}

// Columns of a CSV file: those with their own place in a table, those that tell a device's speed or when its blocks
// ran, and those that no table shows.
constexpr char placed[] =
    ",predicted_us,time_us,gb_per_s,percent_of_limit,times_library,spread,back_to_back_us,version,result,";
constexpr char speeds[] =
    ",predicted_us,time_us,gb_per_s,percent_of_limit,times_library,spread,clocks median,clocks p95,clocks mean,"
    "% of tutorial,% of tut. warm,L2 warm,G80 clocks,SMs used,per ns,at once,had to wait,";
constexpr char left_out[] =
    ",sample,device,n,threads,seed,variant,verdict,cpu_device_ms,nominal_gb_per_s,blocks,block,sm,begin_ns,end_ns,"
    "clocks,resident,";
constexpr char extra[] = ",gb_per_s,predicted_us,";  // shown where the page is wide

/// A row's name, with a mark for its verdict, and a link to the page that shows it step by step, if there is one.
std::string name_cell(const Sample& s, const Line& line) {
    const std::string name = cell(line.row(), "variant"), word = cell(line.row(), "verdict");
    const std::string page = s.trace_of(name);
    std::string out = html(name);
    if (!page.empty()) out = text(R"(<a href="%s">%s</a>)", html(page).c_str(), out.c_str());
    if (word != "ok")
        out += text(R"( <small class="%s">%s</small>)", word == "WRONG" ? "bad" : "soft", html(word).c_str());
    else if (line.here)
        out += R"( <span class="ok" role="img" aria-label="ok">✓</span>)";
    return R"(<th scope="row">)" + out + "</th>";
}

/// A bar as long as a row's share of the limit, with a whisker where its spread is known. Says more where one
/// points.
std::string bar(const Line& line, const std::string& library) {
    const auto value = [&](const char* column) { return line.timed ? cell(*line.timed, column) : ""; };
    const std::string percent = value("percent_of_limit"), spread = value("spread");
    if (percent.empty()) return R"(<td class="bar"></td>)";
    std::string words = cell(line.row(), "variant"), whisker;
    const auto say = [&](const char* column, const std::string& before, const std::string& after) {
        if (!value(column).empty()) words += ", " + before + value(column) + after;
    };
    say("time_us", "", " µs");
    say("spread", "spread ", " %");
    say("percent_of_limit", "", " % of the limit");
    say("times_library", "", " × " + library);
    say("back_to_back_us", "back to back ", " µs");
    say("gb_per_s", "", " GB/s");
    say("predicted_us", "predicted ", " µs");
    if (!spread.empty()) whisker = text(R"(<i style="--p:%s;--s:%s"></i>)", percent.c_str(), spread.c_str());
    return text(R"(<td class="bar"><div title="%s"><b style="--p:%s"></b>%s</div></td>)", html(words).c_str(),
                percent.c_str(), whisker.c_str());
}

/// A column's title with the value of all its rows: the unit is after the number.
std::string said_once(const std::string& title, const std::string& value) {
    for (const std::string unit : {"µs", "GB/s"}) {
        const size_t at = title.rfind(unit);
        if (at != std::string::npos && at + unit.size() == title.size())
            return join({title.substr(0, at), value, " ", unit}, "");
    }
    return starts_with(title, "%") || starts_with(title, "×") ? join({value, title}, " ")
                                                              : join({title, value}, " ");
}

/// The lines of a table, without the columns that it does not need. It has times only of a GPU. A column that
/// says the same in each row is said once, above.
std::string table(const Sample& s, const std::vector<Line>& lines, const std::string& title, bool gpu) {
    std::string library = "library", tick;
    double full = 100;  // the length of a whole bar, in %
    for (const Line& line : lines) {
        const std::string percent = line.timed ? cell(*line.timed, "percent_of_limit") : "";
        full = std::max(full, std::atof(percent.c_str()));
        if (!tick.empty() || percent.empty() || cell(*line.timed, "times_library") != "1.00") continue;
        library = cell(*line.timed, "variant");
        tick = ";--tick:" + percent;
    }

    std::vector<std::pair<std::string, std::string>> columns;  // in the CSV, on the page
    const auto own = [&](const Table& rows, bool speed) {
        for (const std::string& name : rows.header)
            if (!is_in(placed, name) && !is_in(left_out, name) && is_in(speeds, name) == speed)
                columns.emplace_back(name, name);
    };
    own(s.here.run(), false);
    own(gpu ? s.here.run() : s.named.run(), true);
    columns.emplace_back("time_us", "µs");
    if (gpu) columns.emplace_back("named_us", s.named.device_name() + ", µs");
    columns.insert(columns.end(), {{"percent_of_limit", "% of the limit"},
                                   {"times_library", "× " + library},
                                   {"gb_per_s", "GB/s"},
                                   {"predicted_us", "predicted µs"},
                                   {"result", "result"}});
    const auto value = [&](const Line& line, const std::string& column) {
        if (column == "named_us") return named_time(s, line.row());
        const Row* row = is_in(speeds, column) ? line.timed : line.here;
        return row ? cell(*row, column) : "";
    };

    std::string head, body, words = "<strong>" + html(title) + "</strong>";
    std::vector<std::pair<std::string, std::string>> shown;  // and their class
    for (const auto& [name, title_of_column] : columns) {
        std::set<std::string> values;
        for (const Line& line : lines) values.insert(value(line, name));
        values.erase("");
        if (values.empty()) continue;
        if (values.size() == 1 && lines.size() > 2) {
            words += "; " + html(said_once(title_of_column, *values.begin()));
            continue;
        }
        std::string look;
        if (join({values.begin(), values.end()}, "").find_first_not_of("0123456789,.-+e>= ") == std::string::npos)
            look = R"( class="n")";
        if (is_in(extra, name)) look = R"( class="n wide")";
        shown.emplace_back(name, look);
        if (name == "percent_of_limit") look = R"( colspan="2")";
        head += text(R"(<th scope="%s"%s>%s</th>)", name == "percent_of_limit" ? "colgroup" : "col", look.c_str(),
                     html(title_of_column).c_str());
    }
    for (const Line& line : lines) {
        body += "<tr>" + name_cell(s, line);
        for (const auto& [name, look] : shown) {
            const std::string v = value(line, name);
            if (name == "percent_of_limit") body += bar(line, library);
            body += text("<td%s>%s</td>", look.c_str(), v.empty() ? "–" : html(v).c_str());
        }
        body += "</tr>\n";
    }
    const auto both = std::find_if(lines.begin(), lines.end(), [](const Line& l) { return l.here && l.timed; });
    if (!gpu && both != lines.end()) {
        const std::string n = cell(*both->timed, "n");
        words += "; times of an " + html(s.named.device_name());
        if (n != cell(*both->here, "n")) words += ", n = " + with_commas(std::atoll(n.c_str()));
    }
    return text(R"(<div class="scroll" role="region" tabindex="0" aria-label="Table: %s">
<table style="--full:%g%s"><caption>%s</caption>
<thead><tr><th scope="col">variant</th>%s</tr></thead>
<tbody>
%s</tbody></table></div>
)",
                html(title).c_str(), full, tick.c_str(), words.c_str(), head.c_str(), body.c_str());
}

/// The tables of a run. The sample's output shows where each table ends, and has its title.
std::vector<std::pair<std::string, std::string>> run_tables(const Sample& s, bool gpu) {
    const auto lines = lines_of_run(s, gpu);
    std::vector<std::pair<std::string, std::string>> tables;  // title and contents
    std::string title = s.name, paragraph;
    size_t first = 0, next = 0;
    const auto flush = [&] {
        if (next == first) return;
        while (next < lines.size() && !lines[next].here && !lines[next].leads) ++next;
        tables.emplace_back(html(title),
                            table(s, {lines.begin() + long(first), lines.begin() + long(next)}, title, gpu));
        first = next;
    };
    for (const std::string& line : lines_of(s.output)) {
        const size_t indent = std::min(line.find_first_not_of(' '), line.size());
        if (starts_with(line, "variant  ")) {
            flush();
            title = paragraph;
        }
        size_t row = next;
        while (row < lines.size() && !lines[row].here) ++row;
        if (row < lines.size() && starts_with(line, cell(*lines[row].here, "variant") + " ")) next = row + 1;
        if (indent == 0) paragraph = line;
        if (indent == 2) paragraph += " " + trim(line);  // a continuation line; a table header is indented further
    }
    flush();
    return tables;
}

// ---- the race on its source lines -------------------------------------------------------------------------------

/// The hazard report of the sample's wrong twin: the source around the lines that race, which are marked.
/// A report that names no lines is returned as it is.
std::string race(const Sample& s, const fs::path& source) {
    const std::string report = read_if_there(s.data / "hazard.txt");
    if (report.empty()) return "";
    static const std::regex in_file(R"( at ([^\s:]+):\d+)"), numbered(R"( +(\d+) \|  (.*))"), more(R"( +\|  (.*))");
    std::string said, advice, *words = &said;
    std::map<int, std::string> notes;  // of the marked lines
    int at = 0;                        // the last of them
    for (const std::string& line : lines_of(report)) {
        std::smatch match;
        if (std::regex_match(line, match, numbered)) {
            const auto columns = split(match[2], "      ");  // the code, and after it the threads, if any
            at = std::stoi(match[1]);
            notes[at] = columns.size() > 1 ? columns[1] : "";
            words = &advice;
        } else if (std::regex_match(line, match, more) && at > 0) {
            notes[at] += (notes[at].empty() ? "" : ", ") + match[1].str();
        } else {
            *words += (words->empty() ? "" : " ") + trim(line);
        }
    }
    std::smatch file;
    std::vector<std::string> code;
    if (std::regex_search(said, file, in_file)) code = lines_of(read_if_there(source / file[1].str()));
    std::string shown;
    const int around = 3;
    for (int i = 1; i <= int(code.size()); ++i) {
        const auto near = notes.lower_bound(i - around);
        if (near == notes.end() || near->first > i + around) continue;
        const char* tag = notes.count(i) ? "mark" : "code";
        shown += text("<%s>%4d  %s</%s>", tag, i, html(code[i - 1]).c_str(), tag);
        if (notes.count(i)) shown += "<em>      " + html(notes[i]) + "</em>";
    }
    if (shown.empty()) shown = html(report);
    static const std::regex places(R"(,? \([^ )]+:\d+\)|,? at [^ :]+:\d+)");
    const std::string where = std::regex_replace(split(said, "cudacpu: hazard: ").back(), places, "");
    if (!advice.empty()) advice = "<p class=\"soft\">Advice: " + html(advice) + "</p>\n";
    const std::string twin = split(trim(read(s.data / "command.txt")), " ").back(), page = s.trace_of(twin);
    return text(R"(<figure class="race">
<figcaption>The wrong twin <code>%s</code> is wrong on purpose: <strong>%s</strong>%s<br /><code>%s</code></figcaption>
<pre tabindex="0">%s</pre>
%s</figure>
)",
                html(twin).c_str(), html(where).c_str(),
                page.empty() ? "" : text(R"(, <a href="%s">step by step</a>)", html(page).c_str()).c_str(),
                html(trim(read(s.data / "command.txt"))).c_str(), shown.c_str(), advice.c_str());
}

/// The tutorial's claims and the measured values: of the GPU here, and of the named GPU if they differ.
std::string claims_table(const Sample& s, bool gpu) {
    const std::string named = html(s.named.device_name());
    std::string body;
    for (const Claim& c : s.claims) {
        const std::string here = fill_in(gpu ? s.here : s.named, c.measured), there = fill_in(s.named, c.measured);
        body +=
            R"(<tr><th scope="row">)" + html(c.claim) + R"(<span class="why">)" + html(c.why) + "</span></th><td>";
        body += here;
        if (here != there) body += text(R"(<span class="why">%s: %s</span>)", named.c_str(), there.c_str());
        body += "</td></tr>\n";
    }
    return text(R"(<table class="claims">
<thead><tr><th scope="col">The tutorial's claim, and the reason for the result</th><th scope="col">measured %s</th></tr></thead>
<tbody>
%s</tbody></table>
)",
                gpu             ? "here"
                : named.empty() ? "on a GPU: no values yet"
                                : ("on an " + named).c_str(),
                body.c_str());
}

std::string plot(const Sample& s, bool gpu) {
    std::string svg = read_if_there(gpu ? s.data / "plot.svg" : s.results / "h200.svg");
    if (svg.empty()) return "<p>There is no plot of this run.</p>\n";
    const std::string space = "xmlns=\"http://www.w3.org/2000/svg\"";  // not needed within HTML
    const size_t at = svg.find(space);
    if (at == std::string::npos) throw Problem("the plot of " + s.name + " is not an SVG file");
    svg.erase(at, space.size());
    return "<figure class=\"plot\">\n" + svg + "<figcaption>" +
           (gpu ? "Measured in this run, on " + html(s.here.device_name()) + "."
                : "Measured on an <strong>" + html(s.named.device_name()) +
                      "</strong> (from results/), <strong>not on this machine</strong>.") +
           "</figcaption>\n</figure>\n";
}

/// The sample's pictures, and the difference of the first two.
std::string pictures(const Sample& s) {
    std::string figures;
    std::vector<std::string> images;
    for (size_t i = 0; i < s.captions.size(); ++i) {
        const std::string file = "picture" + std::to_string(i + 1), caption = html(s.captions[i]);
        const std::string base64 = read_if_there(s.data / (file + ".png.base64"));
        if (base64.empty()) return "";
        images.push_back(text(R"(width="256" height="256" src="data:image/png;base64,%s" />)", base64.c_str()));
        std::string words;  // the message below its row: a line indented by four columns, its continuation by six
        for (const std::string& line : lines_of(read_if_there(s.data / (file + ".txt")))) {
            const size_t indent = line.find_first_not_of(' ');
            if (indent == 4) words = line.substr(std::min(line.find(": "), line.size()));
            if (indent == 6 && !words.empty()) words += " " + trim(line);
        }
        if (const size_t more = words.find(", the first"); more != words.npos)
            words.replace(more, words.npos, " are wrong");
        figures += text("<figure><img alt=\"%s\" %s<figcaption>%s%s</figcaption></figure>\n", caption.c_str(),
                        images.back().c_str(), caption.c_str(), html(words).c_str());
    }
    if (images.empty()) return "";
    if (images.size() > 1)
        figures += text(
            R"(<figure><div class="difference" role="img" aria-label="The difference: black where both agree">)"
            R"(<img alt="" %s<img alt="" %s</div>
<figcaption>The difference between the first two</figcaption></figure>
)",
            images[0].c_str(), images[1].c_str());
    return "<div class=\"pictures\">\n" + figures + "</div>\n";
}

/// Contents that the reader can open, so that a sample fits on a screen.
std::string folded(const std::string& summary, const std::string& contents, bool open = false) {
    return text("<details%s><summary>%s</summary>\n", open ? " open" : "", summary.c_str()) + contents +
           "</details>\n";
}

/// The section of a sample, or within it of its sequel.
std::string section(const Sample& s, const std::vector<Sample>& all, const fs::path& source, bool gpu) {
    std::string said;  // which results are wrong; or all output, if there are no results
    for (const std::string& line : lines_of(s.output))
        if (starts_with(line, "    ") || s.here.run().rows.empty()) said += line + "\n";
    const int level = s.sequel ? 3 : 2;
    std::string head =
        text(R"(<h%d id="s%s">%s</h%d>
<p class="question">%s</p>
%s)",
             level, s.name.c_str(), html(s.name).c_str(), level, html(s.question).c_str(), verdict(s).c_str());
    head = "<header>\n" + head + "</header>\n";
    if (!s.passed() && !said.empty()) head += R"(<pre tabindex="0">)" + html(said) + "</pre>\n";
    const auto tables = run_tables(s, gpu);
    std::string ladder, further;
    for (const auto& [title, contents] : tables)
        if (&title == &tables[0].first)
            ladder += contents;
        else
            further += folded(title, contents, !s.passed());
    ladder += race(s, source) + further;
    if (s.sequel) return head + folded("table of the sequel", ladder, !s.passed());
    for (const Sample& other : all)
        if (other.sequel && other.number() == s.number()) ladder += section(other, all, source, gpu);
    const std::string claims =
        s.claims.empty() ? "" : folded("what the tutorial claims, and what was measured", claims_table(s, gpu));
    return text(R"(<section aria-labelledby="s%s">
%s<div class="columns">
%s<div class="ladder">
%s</div>
<div class="more">
%s%s</div>
</div>
</section>
)",
                s.name.c_str(), head.c_str(), plot(s, gpu).c_str(), ladder.c_str(), pictures(s).c_str(),
                claims.c_str());
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 5 || (std::string(argv[3]) != "gpu" && std::string(argv[3]) != "cpu"))
        throw Problem("type report_page DATA SOURCE gpu|cpu OUT.html");
    const fs::path data = argv[1], source = argv[2];
    const bool gpu = std::string(argv[3]) == "gpu";
    if (!fs::is_directory(data)) throw Problem(data.string() + " is not a folder");
    std::vector<Sample> samples;
    for (const auto& entry : fs::directory_iterator(data))
        if (entry.is_directory()) samples.push_back(read_sample(entry.path(), source));
    if (samples.empty()) throw Problem("there are no samples in " + data.string());
    std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
        return std::make_tuple(a.number(), a.sequel, a.name) < std::make_tuple(b.number(), b.sequel, b.name);
    });

    std::string device, named, links, sections;
    int passed = 0;
    for (const Sample& s : samples) {
        if (device.empty()) device = html(s.here.device());
        if (named.empty()) named = html(s.named.device_name());
        passed += s.passed();
        links +=
            text("<li><a class=\"%s\" href=\"#s%s\">%s %s</a></li>\n", s.passed() ? "ok" : "bad", s.name.c_str(),
                 s.passed() ? "✓" : "✗", html(s.sequel ? s.name.substr(s.number().size() + 1) : s.name).c_str());
        if (!s.sequel) sections += section(s, samples, source, gpu);
    }
    char date[32] = "";
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::localtime(&now));
    std::string where = "Measured on " + device + ", on " + date + ".";
    if (!gpu) {
        where =
            text("The CPU device ran the samples on %s, without a GPU: it checks results and finds races. ", date);
        if (!named.empty())
            where +=
                "Its times are not a GPU's, so the times here were <strong>measured on an " + named + "</strong>.";
    }
    if (fs::exists(data.parent_path() / "traces"))
        where += " If the name of a variant is a link, the link shows it step by step.";

    const std::vector<std::pair<std::string, std::string>> parts = {
        {"@where@", where},
        {"@count@", text("%d of %zu programs agree with the CPU.", passed, samples.size())},
        {"@links@", links},
        {"@samples@", sections}};
    std::string out = read(source / "common/tools/report.html");
    for (const auto& [mark, part] : parts) {
        if (out.find(mark) == std::string::npos) throw Problem("report.html has no " + mark);
        out.replace(out.find(mark), mark.size(), part);
    }
    lab::write_file(argv[4], out);
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "report_page: %s\n", e.what());
    return lab::system_error;
}
