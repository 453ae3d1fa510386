#pragma once
#include <vector>
long long reduce_sum(const std::vector<int>& v);
