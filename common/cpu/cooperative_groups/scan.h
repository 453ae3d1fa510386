#include "../cooperative_groups.h"  // the scans are there
