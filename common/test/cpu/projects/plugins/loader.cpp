#include <dlfcn.h>
#include <cstdio>
int main(int, char** v) {
    void* h = dlopen(v[1], RTLD_NOW | RTLD_LOCAL);
    if (!h) {
        std::puts(dlerror());
        return 2;
    }
    auto run = (int (*)())dlsym(h, "run");
    return run() != 5;
}
