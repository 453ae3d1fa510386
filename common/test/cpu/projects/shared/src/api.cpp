#include "vecops.h"
namespace vecops {
const char* version() { return "2.0"; }
}  // namespace vecops
