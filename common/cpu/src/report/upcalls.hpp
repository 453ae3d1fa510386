// upcalls.hpp - what report/ calls of advice/. It declares the functions, and advice/ defines them.
#pragma once
#include <string>

#include "report/race_report.hpp"

namespace cudacpu::race {

Advice advise(const Pair& pair);
/// How to mend an access of a line that is out of bounds, using this name; "" if the text does not tell. made:
/// where the memory was allocated; last: the last element of a __shared__ array that is accessed there, or 0;
/// one_cause is set if the advice serves all lines.
std::string check_index(const Line& line, std::string name, const Where& made, long last, bool& one_cause);
/// How a size is mended that is as many elements as the accesses need bytes; "" if it is not.
std::string count_bytes(const Region& r, size_t element, size_t needed);
/// Elements of memory that are read before anyone has set them, as offsets in bytes.
struct Unset {
    size_t bytes, first, first_set, last_set;  // bytes: how many are not set; first: of them
    uint64_t setter;                           // the site that has set first_set; 0: not known
};
/// How elements of a __shared__ array get set before the line reads them, the first to the last; "" if the text
/// does not tell.
std::string set_first(const Line& line, const Region& r, const Unset& unset, size_t element, size_t first,
                      size_t last);
/// Whether the statements of two lines of a file follow one another in one block.
bool among_the_same(const Line& line, int other);
/// Whether the launch ended because threads waited for each other. Reset by the call.
bool follows_from_deadlock();
/// Whether the cause's memory, or a variable that its lines set, or one that is computed from these, decides which
/// element of the array with this name the line uses; by_branch: or whether threads come to the line.
bool follows_from(const Line& line, const std::string& name, const Pair& cause, bool by_branch);

}  // namespace cudacpu::race
