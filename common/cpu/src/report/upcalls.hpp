// upcalls.hpp - what report/ calls of advice/. It declares the functions, and advice/ defines them.
#pragma once
#include <string>

#include "report/race_report.hpp"

namespace cudacpu::race {

Advice advise(const Pair& pair);
/// How to mend an access of a line that is out of bounds, using this name; "" if the text does not tell. last: the
/// last element of a shared array that is accessed there, or 0.
std::string check_index(const Line& line, std::string name, long last, bool shared);
/// What to check if the memory was made by cudaMallocPitch(), and the line's file has no pointer in bytes; else "".
std::string pitch_in_bytes(const Line& line, const Where& made);
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
/// How the wait in that line waits for more asynchronous copies, so that fewer batches are under way; "" if the
/// text does not tell.
std::string wait_for_more(const Line& line, size_t left, size_t needed);
/// Where the host waits for the stream of a copy before another line changes the copy's source; "" if the text does
/// not tell.
std::string wait_between(const Line& copy, const Line& change, const std::string& call);
/// Whether the statements of two lines of a file follow one another in one block.
bool among_the_same(const Line& line, int other);
/// Whether the launch ended because threads waited for each other. Reset by the call.
bool follows_from_deadlock();
/// Whether the cause's memory, or a variable that its lines set, or one that is computed from these, decides which
/// element of the array with this name the line uses; by_branch: or whether threads come to the line.
bool follows_from(const Line& line, const std::string& name, const Pair& cause, bool by_branch);

}  // namespace cudacpu::race
