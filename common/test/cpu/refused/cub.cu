#include <cub/cub.cuh>
int main() {}
