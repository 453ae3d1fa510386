#include "../cooperative_groups.h"  // reduce() is there
