// upcalls.hpp - what report/ calls of advice/. It declares the functions, and advice/ defines them.
#pragma once
#include <string>

#include "report/race_report.hpp"

namespace cudacpu::race {

Advice advise(const Pair& pair);
/// How to mend an access of a line that is out of bounds, using this name; "" if the text does not tell. has: the
/// number of elements, if it is known to be counted as the index counts; last: the last element of a shared array
/// that is accessed there, or 0.
std::string check_index(const Line& line, std::string name, long element, long last, size_t has, bool shared);
/// The call that gives memory allocated there, or sets it, a number of elements for its size, and the edit; "" if
/// none is seen to. allocation: it is the allocation itself.
std::string size_of_memory(const Where& made, size_t element, bool allocation);
/// The same of the launch, if that many bytes of the dynamic shared memory of this name are needed.
std::string size_of_launch(const Line& line, const std::string& name, size_t element, size_t needed);
/// A __shared__ array of which some elements are read, the first to the last, before anyone has set them.
struct Unset {
    size_t has, first, last, first_set, last_set;
    bool has_rows;
};
/// How they get set before that line reads them; "" if the text does not tell.
std::string set_first(const Line& line, const std::string& name, const Unset& array);
/// Whether the launch ended because threads waited for each other. Reset by the call.
bool follows_from_deadlock();
/// Whether a variable that the second one's lines use or set decides which element the first one uses, or whether.
bool follows_from(const Pair& pair, const Pair& cause);

}  // namespace cudacpu::race
