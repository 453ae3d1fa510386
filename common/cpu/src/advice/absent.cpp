// absent.cpp - threads that do not come: to a barrier, or to set their element of __shared__ memory.
#include <regex>
#include <utility>

#include "advice/conflict.hpp"
#include "engine/launch.hpp"
#include "engine/observer.hpp"
#include "engine/rendezvous.hpp"
#include "engine/upcalls.hpp"
#include "report/upcalls.hpp"

namespace cudacpu::race {

namespace {

// How all threads, or all lanes of a warp, reach a place; "" if the text does not tell why some do not.
string let_come(const Source& src, size_t place, bool warp) {
    for (const auto& [f, at] : src.callers(place))
        for (const Statement* s : f->path(at)) {
            if (s->enters != everybody && !(warp && s->enters == whole_warps))
                return say(s->kind == Statement::loop ? equal_rounds : move_out, src.line_at(s->begin),
                           src.condition(*s));
            for (const Statement& before : s->parts)
                if (before.end <= at && before.enters == some && src.has({"return"}, before))
                    return say(sent_away, src.line_at(before.begin), src.condition(before));
        }
    return "";
}

const Launch* deadlocked;

const bool advises = [] {
    cudacpu::let_all_come = [](const Rendezvous& e, bool for_ever, string& words) {
        if (for_ever) deadlocked = launch;
        const bool warp = e.kind == Rendezvous::at_warp;
        const Source* src = Source::of(e.where.file);
        const size_t at = src ? src->spot(e.where.line, string(e.what, strcspn(e.what, "("))) : string::npos;
        const Function* f = at == string::npos ? nullptr : src->function_at(at);
        if (!f) return;
        if (warp && src->has({"__popc", "__ffs"}, f->body)) return void(words = say(present_lanes));
        if (const string better = let_come(*src, at, warp); !better.empty())
            words = warp ? words + (in_chinese() ? "；" : "; ") + better : better;
    };
    return true;
}();

}  // namespace

bool follows_from_deadlock() { return std::exchange(deadlocked, nullptr) == launch; }

// ---- asynchronous copies

// A number of batches is replaced; from a name, the difference is subtracted.
string wait_for_more(const Line& line, size_t left, size_t needed) {
    static const std::regex call(R"((\w*wait_prior)([(<])([^()<>,;]+)([)>]))"),
        name(R"(([A-Za-z_]\w*)(?: - (\d+))?)");
    const Source* src = Source::of(line.file);
    const string code = src ? src->line(line.number) : "";
    std::smatch m;
    if (!std::regex_search(code, m, call)) return "";
    const string old = m[3];
    std::smatch n;
    const string fewer = needed && std::regex_match(old, n, name)
                             ? text("%s - %zu", n.str(1).c_str(), left - needed + size_t(atoi(n.str(2).c_str())))
                             : std::to_string(needed);
    return write(line.number, m[1].str() + m[2].str() + fewer + m[4].str(), m.str()).words;
}

// ---- elements of __shared__ memory that nobody sets

// tile[i + 1] = g < n ? in[g] : 0, and elements before or after those of the block's threads are not set: what also
// loads them from beside those; "" if the text is another one.
static string load_also(const Source& src, const Function& f, size_t at, const std::vector<size_t>& others,
                        const Unset& u) {
    static const std::regex form(R"((\w+)\[([^\[\]]+)\] = (?:(.+) \? )?(\w+)\[([^\[\]]+)\](?: : (.+))?)"),
        factor(R"([*/%]\(*threadIdx|threadIdx\.x\)*[*/%]|[/%?\[])");
    const auto plain = [&](const string& code) {
        return std::regex_replace(src.expanded(f, code), std::regex("[ ()]"), "");
    };
    const Path path = f.path(at);
    const string code = src.code(*path.back());
    std::smatch m;
    if (path.size() < 2 || path[path.size() - 2]->kind != Statement::block || !std::regex_match(code, m, form))
        return "";
    const string tile = m[1], own = m[2], guard = m[3], in = m[4], from = m[5], other = m[6];
    const bool before = (u.first < u.first_set), after = (u.last > u.last_set);
    const auto is_own = [&](const string& index) {
        const string all = plain(index);
        return all.find("threadIdx.x") != string::npos && !std::regex_search(all, factor);
    };
    const size_t ahead = u.first_set - std::min(u.first, u.first_set),
                 behind = u.last - std::min(u.last, u.last_set), size = u.last_set + 1 - u.first_set;
    if (u.has_rows || launch->block.y * launch->block.z > 1 || !is_own(own) || !is_own(from) ||
        guard.empty() != other.empty() ||
        (!guard.empty() && (guard.find("||") != string::npos || !has_name(guard, from))) ||
        std::max(ahead, behind) > launch->block.x || size < launch->block.x ||
        (others.empty() && size != launch->block.x) || (after && guard.empty()) || before + after == 0 ||
        std::ranges::any_of(
            path, [](const Statement* s) { return s->kind == Statement::loop || s->enters != everybody; }))
        return "";
    for (const size_t i : others) {
        const size_t open = src.text.find('[', i);
        const string index = plain(src.code(open + 1, closed(src.text, open) - 1));
        if (!index.starts_with(plain(own) + (before ? "+" : "-")) || (before && after)) return "";
    }
    const auto moved = [&](const string& by) {
        string asks = guard;
        for (size_t i = 0; (i = asks.find(from, i)) != string::npos; i += from.size() + by.size())
            if (!(i && in_word(asks[i - 1])) && !in_word(asks[i + from.size()])) asks.insert(i + from.size(), by);
        return asks;
    };
    string all;
    const auto element = [&](const string& by) {
        return std::pair(tile + "[" + own + by + "] = ", in + "[" + from + by + "]");
    };
    if (before) {
        const string n = std::to_string(ahead), exists = from + " >= " + n;
        const auto [to, value] = element(" - " + n);
        all += "if (threadIdx.x < " + n + (guard.empty() ? " && " + exists : "") + ") " + to +
               (guard.empty() ? value : exists + " && " + moved(" - " + n) + " ? " + value + " : " + other) + ";";
    }
    if (after) {
        const auto [to, value] = element(" + blockDim.x");
        all += (before ? " if (threadIdx.x < " : "if (threadIdx.x < ") + std::to_string(behind) + ") " + to +
               moved(" + blockDim.x") + " ? " + value + " : " + other + ";";
    }
    return src.alone_in_its_lines(*path.back()) ? say(write_after, src.line_at(path.back()->end - 1), all)
                                                : write(src.line_at(at), code + "; " + all, code + ";").words;
}

string set_first(const Line& line, const string& name, const Unset& u) {
    const Source* src = line.number ? Source::of(line.file) : nullptr;
    const size_t read = src ? src->spot(line.number, name) : string::npos;
    const Function* f = read == string::npos ? nullptr : src->function_at(read);
    const size_t declared = f ? src->variable(name, f->body.begin, f->body.end) : string::npos;
    if (declared == string::npos || !src->has({"__shared__"}, *f->path(declared).back())) return "";
    std::vector<size_t> setters;  // where other elements are set
    std::set<int> lines;
    bool sums = false;
    for (const size_t at : src->variables(name, declared + 1, f->body.end)) {
        const Statement& s = *f->path(at).back();
        const string code = src->code(s);
        const bool adds = !assignment(code).sign.empty() || code.starts_with("atomic");
        sums |= adds;
        if (!adds && s.begin == at && !assignment(code).target.empty())
            setters.push_back(at), lines.insert(src->line_at(at));
    }
    if (lines.empty()) return sums ? say(set_before_sum, src->line_at(declared), u.has) : "";
    string which;
    const auto add = [&](size_t first, size_t last) {
        which += (which.empty()  ? ""
                  : in_chinese() ? "和"
                                 : " and ") +
                 (first == last ? say(one_element, first) : say(elements_to, first, last));
    };
    if (u.first < u.first_set) add(u.first, std::min(u.last, u.first_set - 1));
    if (u.last > u.last_set) add(std::max(u.first, u.last_set + 1), u.last);
    if (which.empty()) add(u.first, u.last);
    for (const size_t at : setters) {
        std::vector<size_t> others = setters;
        std::erase(others, at);
        const bool ordered = src->has({"__syncthreads", "sync"}, setters.back(), read);
        if (const string edit = ordered ? load_also(*src, *f, at, others, u) : ""; !edit.empty())
            return say(unset_elements, which) + edit;
    }
    return Advice{"", {{say(set_or_index, which), lines}}}.words();
}

}  // namespace cudacpu::race
