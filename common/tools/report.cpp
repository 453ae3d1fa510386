// report.cpp - the page of `make report`: one HTML file that needs nothing else, from what the samples wrote.
//   report_page DATA SOURCE gpu|cpu OUT.html
// DATA has a folder a program, with run.csv, run.txt and more (see report.sh); SOURCE is the lab's top folder,
// where each sample's folder may have report.txt, claims.txt and results/.
#include "csv.hpp"
#include "lab.hpp"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

using namespace tools;
using lab::text;

/// Text as HTML: no sign of it is taken for a tag.
std::string html(const std::string& s) {
    static const std::map<char, std::string> names = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
    std::string out;
    for (char c : s) out += names.count(c) ? names.at(c) : std::string(1, c);
    return out;
}

// ---- what was measured, and what the tutorials claim ------------------------------------------------------------

/// The figures of one program on one device: the tables of its runs. The first run is called `run`.
struct Figures {
    std::map<std::string, Table> tables;
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

/// What a name such as [RUN/]COLUMN:VARIANT[:COLUMN=VALUE] in claims.txt stands for; empty where there is none.
std::string look_up(const Figures& figures, const std::string& name) {
    const size_t slash = std::min(name.find('/'), name.find(':'));  // a slash further on is not RUN's
    const bool other = slash != std::string::npos && name[slash] == '/';
    const auto parts = split(other ? name.substr(slash + 1) : name, ":");
    const auto wanted = split(parts.size() == 3 ? parts[2] : "sample=", "=");
    if (parts.size() < 2 || parts.size() > 3 || wanted.size() != 2)
        throw Problem("claims.txt: {" + name + "} is not {COLUMN:VARIANT} or {COLUMN:VARIANT:COLUMN=VALUE}");
    for (const Row& row : figures.table(other ? name.substr(0, slash) : "run").rows)
        if (cell(row, "variant") == parts[1] && (parts.size() == 2 || cell(row, wanted[0]) == wanted[1]))
            return cell(row, parts[0]);
    return "";
}

std::string time_text(double us) {
    const double value = us < 1000 ? us : us / 1000;
    return text(value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value) + (us < 1000 ? " µs" : " ms");
}

/// A claim's words with the figures in the places of {...}.
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
    Figures here, named;  ///< of this run, and of the named GPU whose figures lie in results/
    std::vector<Claim> claims;
    std::vector<std::string> captions;  ///< of the pictures, in turn
    fs::path data, results;
    bool sequel = false;  ///< not the folder's own program: the folder's plot and claims are not about it
    bool passed() const { return starts_with(verdict, "PASSED"); }
    std::string id() const { return "s" + name; }
};

Sample read_sample(const fs::path& data, const fs::path& source) {
    Sample s;
    s.name = data.filename().string();
    s.data = data;
    const fs::path folder = folder_of(source, s.name);
    s.sequel = folder.filename() != s.name;
    s.results = folder / "results";
    s.output = read(data / "run.txt");

    // In results/ a run's figures are those of h200_RUN.csv, of the folder's own first run h200_default.csv, unless
    // a line `beside RUN TAG` says otherwise.
    std::map<std::string, std::string> tag_of;
    if (!s.sequel) tag_of["run"] = "default";
    std::vector<std::string> runs = {"run"};
    for (const Setting& setting : settings(folder / "report.txt")) {
        static const std::string known = " run gpu beside plot results picture twin ";
        if (known.find(" " + setting.word + " ") == std::string::npos)
            throw Problem(setting.where + ": " + setting.word + " is none of" + known);
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
    }
    auto& rows = s.here.tables["run"].rows;  // what has no verdict is kept for the plot
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
    if (s.verdict.empty()) s.verdict = "FAILED: " + s.name + " said no verdict";
    return s;
}

std::string verdict(const Sample& s) {
    return text(R"(<span class="%s">%s</span>)", s.passed() ? "ok" : "bad", html(s.verdict).c_str());
}

/// The time that the named GPU took for the same work as a row's; empty where it did none.
std::string named_time(const Sample& s, const Row& row) {
    for (const Row& other : s.named.run().rows) {
        bool same = true;
        for (const char* column : {"variant", "n", "kernel", "words"})
            same = same && cell(row, column) == cell(other, column);
        if (same) return cell(other, "time_us");
    }
    return "";
}

/// Rows [first, last) of this run, without what a table does not need, and without times unless they are a GPU's.
std::string rows_table(const Sample& s, size_t first, size_t last, const std::string& title, bool gpu) {
    // The columns that are no sample's own, those of the timeline, and the own ones that tell a device's speed.
    static const std::string common =
        ",sample,device,n,threads,seed,variant,result,verdict,cpu_device_ms,predicted_us,time_us,gb_per_s,"
        "percent_of_limit,times_library,nominal_gb_per_s,blocks,block,sm,begin_ns,end_ns,clocks,";
    static const std::string speeds =
        ",clocks median,clocks p95,clocks mean,% of tutorial,% of tut. warm,L2 warm,G80 clocks,SMs used,per ns,";
    const auto is_in = [](const std::string& list, const std::string& name) {
        return list.find("," + name + ",") != std::string::npos;
    };
    const auto& rows = s.here.run().rows;
    std::vector<std::pair<std::string, std::string>> columns = {{"verdict", "verdict"}};  // in the CSV, on the page
    for (const std::string& name : s.here.run().header)
        if (!is_in(common, name) && (gpu || !is_in(speeds, name))) columns.emplace_back(name, name);
    if (gpu)
        columns.insert(columns.end(), {{"time_us", "time µs"},
                                       {"named_us", s.named.device_name() + ", µs"},
                                       {"percent_of_limit", "% of limit"},
                                       {"times_library", "× library"},
                                       {"gb_per_s", "GB/s"},
                                       {"predicted_us", "predicted µs"}});
    columns.emplace_back("result", "result");

    const auto value = [&](size_t r, const std::string& column) {
        return column == "named_us" ? named_time(s, rows[r]) : cell(rows[r], column);
    };
    std::string head, body;
    std::vector<std::pair<std::string, bool>> shown;  // and is it a column of numbers?
    for (const auto& [name, title_of_column] : columns) {
        std::string all;
        for (size_t r = first; r < last; ++r) all += value(r, name);
        if (all.empty()) continue;
        const bool numbers = all.find_first_not_of("0123456789,.-+e>= ") == std::string::npos;
        shown.emplace_back(name, numbers);
        head += text(R"(<th scope="col"%s>%s</th>)", numbers ? R"( class="n")" : "", html(title_of_column).c_str());
    }
    for (size_t r = first; r < last; ++r) {
        body += R"(<tr><th scope="row">)" + html(cell(rows[r], "variant")) + "</th>";
        for (const auto& [name, numbers] : shown) {
            const std::string v = value(r, name);
            const char* kind = name == "verdict" && v == "WRONG" ? R"( class="bad")"
                               : numbers                         ? R"( class="n")"
                                                                 : "";
            body += text("<td%s>%s</td>", kind, v.empty() ? "–" : html(v).c_str());
        }
        body += "</tr>\n";
    }
    return text(R"(<div class="scroll" role="region" tabindex="0" aria-label="Table: %s">
<table><caption>%s</caption>
<thead><tr><th scope="col">variant</th>%s</tr></thead>
<tbody>
%s</tbody></table></div>
)",
                html(title).c_str(), html(title).c_str(), head.c_str(), body.c_str());
}

/// The tables of a run: the sample's own output says where one ends, and what each is about.
std::string run_tables(const Sample& s, bool gpu) {
    const auto& rows = s.here.run().rows;
    std::string out, title = s.name, before;
    size_t first = 0, next = 0;
    const auto flush = [&] {
        if (next > first) out += rows_table(s, first, next, title, gpu);
        first = next;
    };
    for (const std::string& line : lines_of(s.output)) {
        if (starts_with(line, "variant  ")) {
            flush();
            title = before;
        }
        if (next < rows.size() && starts_with(line, cell(rows[next], "variant") + "  ")) ++next;
        before = line;
    }
    flush();
    return out;
}

std::string claims_table(const Sample& s, bool gpu) {
    const std::string named = html(s.named.device_name());
    std::string body;
    for (const Claim& c : s.claims) {
        body += R"(<tr><th scope="row">)" + html(c.claim) + R"(<span class="why">)" + html(c.why) + "</span></th>";
        if (gpu) body += "<td>" + fill_in(s.here, c.measured) + "</td>";
        body += "<td>" + fill_in(s.named, c.measured) + "</td></tr>\n";
    }
    return text(R"(<table class="claims"><caption>The tutorial’s claims, beside %sthe figures of the %s</caption>
<thead><tr><th scope="col">The tutorial, and why</th>%s<th scope="col">on the %s</th></tr></thead>
<tbody>
%s</tbody></table>
)",
                gpu ? "this machine’s figures and " : "", named.c_str(),
                gpu ? R"(<th scope="col">measured here</th>)" : "", named.c_str(), body.c_str());
}

std::string plot(const Sample& s, bool gpu) {
    std::string svg = read_if_there(gpu ? s.data / "plot.svg" : s.results / "h200.svg");
    if (svg.empty()) return "<p>There is no plot of this run.</p>\n";
    const std::string space = "xmlns=\"http://www.w3.org/2000/svg\"";  // within HTML it goes without saying
    const size_t at = svg.find(space);
    if (at == std::string::npos) throw Problem("the plot of " + s.name + " is no SVG file");
    svg.erase(at, space.size());
    return "<figure class=\"plot\">\n" + svg + "<figcaption>" +
           (gpu ? "Measured in this run, on " + html(s.here.device_name()) + "."
                : "Measured on an <strong>" + html(s.named.device_name()) +
                      "</strong> (from results/), <strong>not on this machine</strong>.") +
           "</figcaption>\n</figure>\n";
}

/// The sample's pictures, and the difference of the first two.
std::string pictures(const Sample& s) {
    std::string figures, said;
    std::vector<std::string> images;
    for (size_t i = 0; i < s.captions.size(); ++i) {
        const std::string file = "picture" + std::to_string(i + 1), caption = html(s.captions[i]);
        const std::string base64 = read_if_there(s.data / (file + ".png.base64"));
        if (base64.empty()) return "";
        images.push_back(text(R"(width="256" height="256" src="data:image/png;base64,%s" />)", base64.c_str()));
        figures += text("<figure><img alt=\"%s\" %s<figcaption>%s</figcaption></figure>\n", caption.c_str(),
                        images.back().c_str(), caption.c_str());
        std::string words;  // what is said of its row: a line that is set in by four columns, and goes on by six
        for (const std::string& line : lines_of(read_if_there(s.data / (file + ".txt")))) {
            const size_t indent = line.find_first_not_of(' ');
            if (indent == 4 || (indent == 6 && !words.empty())) words += (words.empty() ? "" : " ") + trim(line);
        }
        if (!words.empty()) said += "<p>" + caption + ": " + html(words) + "</p>\n";
    }
    if (images.empty()) return "";
    if (images.size() > 1)
        figures += text(
            R"(<figure><div class="difference" role="img" aria-label="The difference: black where both agree">)"
            R"(<img alt="" %s<img alt="" %s</div>
<figcaption>their difference</figcaption></figure>
)",
            images[0].c_str(), images[1].c_str());
    return "<h3>The pictures</h3>\n<div class=\"pictures\">\n" + figures + "</div>\n" + said;
}

std::string section(const Sample& s, bool gpu) {
    std::string out =
        text(R"(<section aria-labelledby="%s">
<h2 id="%s">%s</h2>
<p class="question">%s</p>
<h3>Verdict</h3>
<p>%s</p>
)",
             s.id().c_str(), s.id().c_str(), html(s.name).c_str(), html(s.question).c_str(), verdict(s).c_str());
    std::string said;  // which results are wrong; or all that was said, where no results came
    for (const std::string& line : lines_of(s.output))
        if (starts_with(line, "    ") || s.here.run().rows.empty()) said += line + "\n";
    if (!s.passed()) out += R"(<pre tabindex="0">)" + html(said) + "</pre>\n";
    out += pictures(s);
    if (!s.sequel) out += "<h3>Plot</h3>\n" + plot(s, gpu);
    out += "<h3>This run</h3>\n" + run_tables(s, gpu);
    if (!s.claims.empty())
        out += "<h3>What the tutorial claims, and what was measured</h3>\n" + claims_table(s, gpu);
    const std::string hazard = read_if_there(s.data / "hazard.txt");
    if (!hazard.empty())
        out += text(R"(<h3>A classic mistake, and what the hazard build says</h3>
<p><code>%s</code></p>
<pre tabindex="0">%s</pre>
)",
                    html(read(s.data / "command.txt")).c_str(), html(hazard).c_str());
    return out + "</section>\n";
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 5 || (std::string(argv[3]) != "gpu" && std::string(argv[3]) != "cpu"))
        throw Problem("type report_page DATA SOURCE gpu|cpu OUT.html");
    const fs::path data = argv[1], source = argv[2];
    const bool gpu = std::string(argv[3]) == "gpu";
    if (!fs::is_directory(data)) throw Problem(data.string() + " is no folder");
    std::vector<Sample> samples;
    for (const auto& entry : fs::directory_iterator(data))
        if (entry.is_directory()) samples.push_back(read_sample(entry.path(), source));
    if (samples.empty()) throw Problem("there are no samples in " + data.string());
    std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.name < b.name; });

    std::string device, links, verdicts, sections;
    int passed = 0;
    for (const Sample& s : samples) {
        if (device.empty()) device = html(s.here.device());
        passed += s.passed();
        links += text(R"(<li><a href="#%s">%s</a></li>)", s.id().c_str(), html(s.name).c_str()) + "\n";
        verdicts += "<li>" + verdict(s) + "</li>\n";
        sections += section(s, gpu);
    }
    char date[32] = "";
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::localtime(&now));
    const std::string cpu_intro = text(
        "Run on the CPU device, without a GPU, on %s. It checks results and finds hazards, and says nothing about "
        "a "
        "GPU’s speed: no times of this machine are shown. Plots and figures that name another GPU were measured "
        "there.",
        date);

    const std::vector<std::pair<std::string, std::string>> parts = {
        {"@intro@", gpu ? "Measured on " + device + ", on " + date + "." : cpu_intro},
        {"@links@", links},
        {"@count@", text("%d of %zu samples agree with the CPU.", passed, samples.size())},
        {"@verdicts@", verdicts},
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
