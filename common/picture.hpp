// picture.hpp - the sizes of pictures and their files, for sample 06. OpenCV writes the files.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "lab.hpp"

namespace lab {

/// Computes the size of the most square picture of n pixels. Its height is the largest divisor of n up to sqrt(n).
inline void squarest(int64_t n, int64_t& width, int64_t& height) {
    height = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
    while (n % height != 0) --height;
    width = n / height;
}

/// The side of a square of at most so many pixels, a multiple of 16.
inline int64_t square_side(int64_t pixels) {
    return static_cast<int64_t>(std::sqrt(static_cast<double>(pixels))) / 16 * 16;
}
/// The options to type for such a square.
inline std::string type_sides(int64_t pixels) {
    const auto side = static_cast<long long>(square_side(pixels));
    return text("--width %lld --height %lld", side, side);
}
inline std::string type_n(int64_t pixels) {
    return text("--n %lld", static_cast<long long>(square_side(pixels) * square_side(pixels)));
}

/// Ends the program with status 2 if OpenCV cannot write the format that a file name ends in. An empty path belongs
/// to an option that was not typed.
inline void require_writer(const Lab& lab, const std::vector<std::string>& paths) {
    for (const std::string& path : paths)
        if (!path.empty() && !cv::haveImageWriter(path))
            lab.refuse("OpenCV cannot write the format of '%s'; type a name like picture.png", path.c_str());
}

/// Writes the picture in the format that the file name ends in, and prints whose picture it is. Does nothing if the
/// path is empty. Ends the program with status 3 if the picture cannot be written.
inline void write_picture(Lab& lab, const std::string& path, const cv::Mat& picture, const std::string& whose) {
    if (path.empty()) return;
    std::vector<unsigned char> file;
    try {
        if (cv::imencode(path.substr(path.rfind('.')), picture, file)) {
            write_file(path, std::string(file.begin(), file.end()));
            return lab.say("%s: the picture of %s (.png keeps every pixel, .jpg does not)", path.c_str(),
                           whose.c_str());
        }
    } catch (const cv::Exception&) {}  // OpenCV has printed the reason on stderr
    std::fprintf(stderr, "OpenCV cannot write %s: too large; type a smaller --n, or --out picture.png\n",
                 path.c_str());
    std::exit(system_error);
}

}  // namespace lab
