// error_test.cu - CHECK prints the call, its place, CUDA's error text, and advice about errors of beginners.
#include <gtest/gtest.h>
#include <regex.h>  // not <regex>, which takes longer to compile than the rest of the file

#include <string>

#include "../error.cuh"

namespace {

struct Case {
    int error;
    const char* advice;  // a regular expression
};
const Case cases[] = {
    {1, "a pointer, the bytes or the direction;.*a block has over 1024 threads"},
    {2, "smaller --n;.*nvidia-smi"},
    {9, "1 to 1024 threads per block"},
    {35, "driver .make doctor .*DEVICE=cpu"},
    {46, "end the other program.*nvidia-smi"},
    {100, "make doctor.*why.*DEVICE=cpu"},
    {101, "nvidia-smi -L.*CUDA_VISIBLE_DEVICES"},
    {209, "another GPU: type make clean, then make"},
    {222, "older than nvcc: update it"},
    {700, "out of bounds.*build/hazards"},
};

TEST(Check, SaysWhatToDo) {
    for (const Case& c : cases) {
        const auto error = static_cast<cudaError_t>(c.error);
        const std::string wanted = "error_test.cu:[0-9]+: error failed\n    CUDA error " + std::to_string(c.error) +
                                   ", .*\n    What to do: .*" + c.advice;
        EXPECT_EXIT(CHECK(error), testing::ExitedWithCode(3), wanted);
    }
}

bool matches(const char* words, const char* expression) {
    regex_t compiled;
    EXPECT_EQ(regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB), 0) << expression;
    const bool found = regexec(&compiled, words, 0, nullptr, 0) == 0;
    regfree(&compiled);
    return found;
}

TEST(Check, GivesOnlyTheErrorsOwnAdvice) {
    for (const Case& c : cases)
        for (const Case& other : cases) {
            const bool own = c.error == other.error;
            const char* const words = cuda_advice(static_cast<cudaError_t>(other.error));
            EXPECT_EQ(matches(words, c.advice), own) << words;
            EXPECT_FALSE(matches(("    What to do: " + std::string(words)).c_str(), "[^\n]{81}")) << words;
        }
}

TEST(Check, SaysNothingMoreAboutOtherErrors) {
    for (int error = 0; error < 1000; ++error) {
        bool listed = false;
        for (const Case& c : cases) listed |= c.error == error;
        EXPECT_EQ(cuda_advice(static_cast<cudaError_t>(error)) != nullptr, listed) << error;
    }
    EXPECT_EXIT(CHECK(cudaErrorInvalidResourceHandle), testing::ExitedWithCode(3),
                "CUDA error 400, cudaErrorInvalidResourceHandle:\n    [^\n]*\n$");
}

TEST(Check, LetsSuccessPass) { CHECK(cudaSuccess); }

}  // namespace
