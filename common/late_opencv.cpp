// late_opencv.cpp - loads OpenCV's imgcodecs and highgui at their first call in 06_shared_image. The two libraries
// load 130 others, which takes a tenth of a second, and most runs neither write nor show a picture.
#include <dlfcn.h>

#include <opencv2/imgcodecs.hpp>
#ifdef LAB_WINDOWS
#include <opencv2/highgui.hpp>
#endif

#include <cstdio>
#include <cstdlib>

namespace {

/// Returns the library's function of the same name; ends the program with status 3 if there is none.
template <class Function>
Function* late(Function* own, const char* library) {
    Dl_info itself;
    void* const opened = dlopen(library, RTLD_LAZY);
    void* found = nullptr;
    if (opened && dladdr(reinterpret_cast<void*>(own), &itself) && itself.dli_sname)
        found = dlsym(opened, itself.dli_sname);
    if (found && found != reinterpret_cast<void*>(own)) return reinterpret_cast<Function*>(found);
    const char* const reason = dlerror();
    std::fprintf(stderr, "%s cannot be used: %s\n", library, reason ? reason : "it lacks a function");
    std::exit(3);
}

}  // namespace

namespace cv {

using Encode = bool(const String&, InputArray, std::vector<uchar>&, const std::vector<int>&);
bool imencode(const String& extension, InputArray image, std::vector<uchar>& file,
              const std::vector<int>& options) {
    return late<Encode>(imencode, LAB_IMGCODECS)(extension, image, file, options);
}
bool haveImageWriter(const String& name) { return late<bool(const String&)>(haveImageWriter, LAB_IMGCODECS)(name); }

#ifdef LAB_WINDOWS
void namedWindow(const String& name, int flags) {
    late<void(const String&, int)>(namedWindow, LAB_WINDOWS)(name, flags);
}
void imshow(const String& name, InputArray image) {
    late<void(const String&, InputArray)>(imshow, LAB_WINDOWS)(name, image);
}
int waitKey(int delay) { return late<int(int)>(waitKey, LAB_WINDOWS)(delay); }
#endif

}  // namespace cv
