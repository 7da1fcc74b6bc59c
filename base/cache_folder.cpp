#include "base/cache_folder.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file_size_limit.hpp"
#include "base/keep_errno.hpp"

namespace sluice {
namespace {

namespace fs = std::filesystem;

class File {
 public:
  explicit File(int number) : number_(number) {}
  File(const File&) = delete;
  ~File() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  const int number_;
};

// Only what the user alone may write is believed, and run.
bool is_trusted(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 022) == 0;
}

bool write_file(const std::string& path, const std::string& text) {
  const FileSizeLimitIsAnError no_signal;
  const File file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.number() < 0) return false;
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = write(file.number(), text.data() + done, text.size() - done);
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

// read_file() gives nothing of a file that isn't to be believed or has more than `most` bytes.
std::optional<std::string> read_file(const std::string& path, uint64_t most) {
  // Without O_NONBLOCK a FIFO of that name would wait for a writer.
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status = {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0 || !is_trusted(status) ||
      static_cast<uint64_t>(status.st_size) > most) {
    return std::nullopt;
  }
  std::string text(static_cast<size_t>(status.st_size), '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = read(file.number(), text.data() + done, text.size() - done);
    if (count <= 0) return std::nullopt;
    done += static_cast<size_t>(count);
  }
  // The time of the last use, which drop_oldest() goes by, to the hour: noting it is a write.
  if (time(nullptr) - status.st_mtim.tv_sec > 3600) futimens(file.number(), nullptr);
  return text;
}

// The file that says what limit() was told; its name is no cached file's.
std::string limit_file(const std::string& folder) {
  return folder + "/.limit";
}

uint64_t limit_of(const std::string& folder, uint64_t otherwise) {
  const KeepErrno keep;
  const std::optional<std::string> text = read_file(limit_file(folder), 32);
  uint64_t bytes = 0;
  if (!text) return otherwise;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), bytes);
  return read.ec == std::errc() ? bytes : otherwise;
}

// is_digest() is true of names that digest() makes, and of files that are about to get one.
bool is_digest(const std::string& name) {
  constexpr size_t digits = 32;
  return name.size() >= digits && (name.size() == digits || name[digits] == '.') &&
         name.find_first_not_of("0123456789abcdef") >= digits;
}

struct Entry {
  fs::path path;
  fs::file_time_type used;
  uint64_t bytes;
};

std::vector<Entry> entries_of(const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator next(folder, error), end; !error && next != end;
       next.increment(error)) {
    std::error_code gone;
    const uint64_t bytes = next->file_size(gone);
    if (gone || next->path() == limit_file(folder)) continue;
    entries.push_back({next->path(), next->last_write_time(gone), bytes});
  }
  return entries;
}

}  // namespace

CacheFolder::CacheFolder(std::string path, uint64_t most_bytes)
    : path_(std::move(path)), most_bytes_(limit_of(path_, most_bytes)) {}

std::optional<std::string> CacheFolder::load(const std::string& name) const {
  const KeepErrno keep;
  return read_file(path_ + "/" + name, most_bytes_);
}

void CacheFolder::store(const std::string& name, const std::string& text) const {
  const KeepErrno keep;
  std::error_code error;
  if (fs::create_directories(path_, error)) fs::permissions(path_, fs::perms::owner_all, error);
  static std::atomic<unsigned> number{0};
  const std::string target = path_ + "/" + name;
  const std::string temporary = fmt::format("{}.{}.{}", target, getpid(), number.fetch_add(1));
  if (!write_file(temporary, text) || std::rename(temporary.c_str(), target.c_str()) != 0) {
    unlink(temporary.c_str());
    return;
  }
  if (has_grown_enough(text.size())) drop_oldest();
}

// To look through a full folder takes a tenth of a second, which not every file is worth. One in so
// many is, by chance: processes that store little each add up as well.
bool CacheFolder::has_grown_enough(uint64_t bytes) const {
  const uint64_t growth = std::max<uint64_t>(1, most_bytes_ / 32);
  if (bytes >= growth) return true;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  std::minstd_rand random(static_cast<unsigned>(now) ^ static_cast<unsigned>(getpid()));
  return std::uniform_int_distribution<uint64_t>(1, growth)(random) <= bytes;
}

void CacheFolder::drop_oldest() const {
  std::vector<Entry> entries = entries_of(path_);
  uint64_t sum = 0;
  for (const Entry& entry : entries)
    sum += entry.bytes;
  if (sum <= most_bytes_) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  std::error_code error;
  for (const Entry& entry : entries) {
    if (sum <= most_bytes_ / 2) return;
    fs::remove(entry.path, error);
    sum -= entry.bytes;
  }
}

CacheFolder::Contents CacheFolder::contents() const {
  Contents contents;
  for (const Entry& entry : entries_of(path_)) {
    ++contents.files;
    contents.bytes += entry.bytes;
  }
  return contents;
}

void CacheFolder::clear() const {
  std::error_code error;
  for (const Entry& entry : entries_of(path_)) {
    if (is_digest(entry.path.filename().string())) fs::remove(entry.path, error);
  }
}

Status CacheFolder::limit(const std::string& path, std::optional<uint64_t> most_bytes) {
  std::error_code error;
  fs::remove(limit_file(path), error);
  if (error) return system_error("the limit cannot be removed: " + error.message(), path);
  if (!most_bytes) return {};
  if (fs::create_directories(path, error)) fs::permissions(path, fs::perms::owner_all, error);
  if (write_file(limit_file(path), std::to_string(*most_bytes))) return {};
  return system_error("the limit cannot be written", limit_file(path),
                      "use a folder that you may write to");
}

std::string cache_path(const char* variable, const std::string& name) {
  if (const char* chosen = std::getenv(variable); chosen != nullptr && *chosen != '\0') {
    return std::string_view(chosen) == "off" ? "" : chosen;
  }
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return std::string(cache) + "/sluice/" + name;
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/sluice/" + name : "";
}

std::string file_identity(const std::string& path) {
  const KeepErrno keep;
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return "unknown";
  return fmt::format("{}.{}.{}.{}", status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

std::string build_identity() {
  Dl_info information = {};
  const bool known = dladdr(reinterpret_cast<const void*>(&build_identity), &information) != 0;
  const std::string identity = known ? file_identity(information.dli_fname) : "unknown";
  return identity != "unknown" ? identity : file_identity("/proc/self/exe");
}

}  // namespace sluice
