#include <cstdio>
#include <string>
namespace nbody {
void log(const std::string& s) { std::printf("%s\n", s.c_str()); }
}  // namespace nbody
