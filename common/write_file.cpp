// write_file.cpp - writes a file completely or not at all, and changes no other file.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab.hpp"

namespace lab {

namespace {

namespace fs = std::filesystem;

/// Delays signals that would end the program until this object is destroyed. Beyond `ulimit -f`, write() fails
/// instead of raising a signal. It installs handlers, because another thread would receive a masked signal.
class HeldSignals {
public:
    HeldSignals() {
        held = 0;
        struct sigaction note {};
        note.sa_flags = SA_RESTART;
        note.sa_handler = [](int signal) { held = signal; };
        for (size_t i = 0; i < std::size(signals); ++i) {
            ::sigaction(signals[i], nullptr, &before_[i]);
            if (before_[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &note, nullptr);
        }
        too_large_ = std::signal(SIGXFSZ, SIG_IGN);
    }
    ~HeldSignals() {
        std::signal(SIGXFSZ, too_large_);
        for (size_t i = 0; i < std::size(signals); ++i) ::sigaction(signals[i], &before_[i], nullptr);
        if (held) ::raise(held);
    }
    HeldSignals(const HeldSignals&) = delete;

private:
    static constexpr int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,
                                      SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU};
    static inline volatile std::sig_atomic_t held = 0;
    struct sigaction before_[std::size(signals)]{};
    void (*too_large_)(int) = SIG_DFL;
};

/// The file that a name refers to.
struct Target {
    fs::path path;        // links are resolved
    std::string problem;  // why nothing can be written there, if that is known without writing
    bool exists = false;
    bool direct = false;  // a pipe, a terminal, or the file of an open descriptor: written in place
    int descriptor = -1;  // the open descriptor that refers to it: of stdout, stderr or /dev/fd/N
    struct stat status {};
};

Target find(const std::string& name) {
    Target t;
    t.path = name;
    t.exists = ::stat(name.c_str(), &t.status) == 0;
    if (!t.exists && errno != ENOENT) {
        t.problem = std::strerror(errno);
    } else if (t.exists && S_ISDIR(t.status.st_mode)) {
        t.problem = "it is a folder";
    } else if (t.exists && !S_ISREG(t.status.st_mode) && !S_ISCHR(t.status.st_mode) &&
               !S_ISFIFO(t.status.st_mode)) {
        t.problem = "it is not a file, a pipe or a terminal";
    } else if (t.exists && ::access(name.c_str(), W_OK) != 0) {
        t.problem = std::strerror(errno);
    }
    if (!t.problem.empty()) return t;
    struct stat open {};
    for (int descriptor : {1, 2})
        if (t.exists && ::fstat(descriptor, &open) == 0 && open.st_dev == t.status.st_dev &&
            open.st_ino == t.status.st_ino)
            t.descriptor = descriptor;
    if (t.exists) std::sscanf(name.c_str(), "/dev/fd/%d", &t.descriptor);  // the file may have no name any more
    t.direct = t.descriptor >= 0 || (t.exists && !S_ISREG(t.status.st_mode));
    std::error_code none;  // stat() has resolved the links, so they form no cycle
    while (!t.direct && fs::is_symlink(t.path, none))
        t.path = t.path.parent_path() / fs::read_symlink(t.path, none);
    return t;
}

bool write_all(int file, const std::string& contents) {
    for (size_t at = 0; at < contents.size();) {
        const ssize_t count = ::write(file, contents.data() + at, contents.size() - at);
        if (count < 0 && errno != EINTR) return false;
        if (count > 0) at += static_cast<size_t>(count);
    }
    return true;
}

/// Writes a new file next to the target and renames it. Without contents, only creates the file and removes it
/// again. Returns 0 or errno.
int replace(const Target& t, const std::string* contents) {
    const HeldSignals until_the_end;
    fs::path made;
    int file = -1;
    for (int i = 0; file < 0 && (i == 0 || errno == EEXIST); ++i) {
        made = t.path.parent_path() / text(".lab_%d_%d", static_cast<int>(::getpid()), i);
        file = ::open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (file < 0) return errno;
    bool good = contents && write_all(file, *contents);
    if (good && t.exists) {
        const bool owner_kept = ::fchown(file, t.status.st_uid, t.status.st_gid) == 0;  // root's privilege
        good = ::fchmod(file, t.status.st_mode & (owner_kept ? 07777 : 0777)) == 0;
    }
    good = good && (::fsync(file) == 0 || errno == EINVAL);  // EINVAL: this file system has no fsync
    good = ::close(file) == 0 && good && ::rename(made.c_str(), t.path.c_str()) == 0;
    const int error = errno;
    if (!good) ::unlink(made.c_str());
    return good || !contents ? 0 : error;
}

int write_in_place(const Target& t, const std::string& contents) {
    std::fflush(stdout);
    const int file =
        t.descriptor >= 0 ? ::dup(t.descriptor) : ::open(t.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (file < 0) return errno;
    const bool good = write_all(file, contents);
    const int error = errno;
    return ::close(file) == 0 && good ? 0 : error;
}

/// Writes `contents`; without contents, only checks whether the file can be written. Returns an empty string, or
/// why not and what to type.
std::string attempt(const std::string& path, const std::string* contents) {
    Target t = find(path);
    if (t.problem.empty()) {
        const int error = !t.direct ? replace(t, contents) : contents ? write_in_place(t, *contents) : 0;
        if (!error) return "";
        t.problem = std::strerror(error);
    }
    return "cannot write '" + printable(path) + "': " + t.problem +
           "; type a file in a folder that you may write, on a disk with free space";
}

}  // namespace

std::string cannot_write(const std::string& path) { return attempt(path, nullptr); }

void write_file(const std::string& path, const std::string& contents) {
    const std::string why = attempt(path, &contents);
    if (why.empty()) return;
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(system_error);
}

}  // namespace lab
