#include "hostcuda/jit/code_cache.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/xxhash.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::hostcuda::jit {
namespace {

namespace fs = std::filesystem;

std::atomic<uint64_t> loaded{0};
std::atomic<uint64_t> compiled{0};

struct Header {
  std::array<char, 8> magic = {'s', 'l', 'u', 'i', 'c', 'e', 'o', '1'};
  uint64_t key_bytes = 0;
  uint64_t symbol_bytes = 0;
  uint64_t object_bytes = 0;
  uint64_t scratch_bytes = 0;
  uint64_t checksum = 0;  // of all else: the header with 0 here, then the three parts
};

// KeepErrno leaves the program's errno as it was.
class KeepErrno {
 public:
  KeepErrno() : before_(errno) {}
  KeepErrno(const KeepErrno&) = delete;
  ~KeepErrno() { errno = before_; }

 private:
  const int before_;
};

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

uint64_t checksum_of(std::string bytes) {
  std::memset(bytes.data() + offsetof(Header, checksum), 0, sizeof(Header::checksum));
  return llvm::xxh3_64bits(
      llvm::ArrayRef(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

// Only what the user alone may write is run.
bool is_trusted(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 022) == 0;
}

std::optional<std::string> read_file(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status = {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0 || !is_trusted(status) ||
      static_cast<uint64_t>(status.st_size) > CodeCache::most_bytes) {
    return std::nullopt;
  }
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = read(file.number(), bytes.data() + done, bytes.size() - done);
    if (count <= 0) return std::nullopt;
    done += static_cast<size_t>(count);
  }
  // The time of the last use, which drop_oldest() goes by.
  futimens(file.number(), nullptr);
  return bytes;
}

bool write_file(const std::string& path, const std::string& bytes) {
  const File file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.number() < 0) return false;
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = write(file.number(), bytes.data() + done, bytes.size() - done);
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

std::string default_folder() {
  if (const char* chosen = std::getenv("SLUICE_CODE_CACHE")) {
    return std::strcmp(chosen, "off") == 0 ? "" : chosen;
  }
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return std::string(cache) + "/sluice/code";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::string(home) + "/.cache/sluice/code";
  }
  return "";
}

}  // namespace

const CodeCache* CodeCache::of_this_process() {
  static const CodeCache* cache = []() -> const CodeCache* {
    const KeepErrno keep;
    const std::string folder = default_folder();
    std::error_code error;
    if (folder.empty()) return nullptr;
    const bool made = fs::create_directories(folder, error);
    if (made) fs::permissions(folder, fs::perms::owner_all, error);
    return fs::is_directory(folder, error) ? new CodeCache(folder) : nullptr;
  }();
  return cache;
}

std::string CodeCache::path(const std::string& key) const {
  const llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::ArrayRef(reinterpret_cast<const uint8_t*>(key.data()), key.size()));
  return fmt::format("{}/{:016x}{:016x}", folder_, hash.high64, hash.low64);
}

std::optional<CachedCode> CodeCache::load(const std::string& key) const {
  const KeepErrno keep;
  const std::optional<std::string> bytes = read_file(path(key));
  Header header;
  if (!bytes || bytes->size() < sizeof header) return std::nullopt;
  const std::array<char, 8> magic = header.magic;
  std::memcpy(&header, bytes->data(), sizeof header);
  uint64_t whole = sizeof header;
  for (uint64_t part : {header.key_bytes, header.symbol_bytes, header.object_bytes}) {
    if (part > most_bytes) return std::nullopt;
    whole += part;
  }
  if (header.magic != magic || whole != bytes->size() || header.checksum != checksum_of(*bytes)) {
    return std::nullopt;
  }
  llvm::StringRef rest = llvm::StringRef(*bytes).drop_front(sizeof header);
  if (rest.take_front(header.key_bytes) != key) return std::nullopt;
  rest = rest.drop_front(header.key_bytes);
  CachedCode code;
  code.symbol = rest.take_front(header.symbol_bytes).str();
  code.object =
      llvm::MemoryBuffer::getMemBufferCopy(rest.drop_front(header.symbol_bytes), "sluice-kernel");
  code.scratch_bytes = header.scratch_bytes;
  return code;
}

void CodeCache::store(const std::string& key, const std::string& symbol, uint64_t scratch_bytes,
                      llvm::StringRef object) const {
  const KeepErrno keep;
  Header header;
  header.key_bytes = key.size();
  header.symbol_bytes = symbol.size();
  header.object_bytes = object.size();
  header.scratch_bytes = scratch_bytes;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(key).append(symbol).append(object.data(), object.size());
  header.checksum = checksum_of(bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  static std::atomic<unsigned> number{0};
  const std::string target = path(key);
  const std::string temporary = fmt::format("{}.{}.{}", target, getpid(), number.fetch_add(1));
  if (!write_file(temporary, bytes) || rename(temporary.c_str(), target.c_str()) != 0) {
    unlink(temporary.c_str());
    return;
  }
  drop_oldest();
}

void CodeCache::drop_oldest() const {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    uint64_t bytes;
  };
  std::vector<Entry> entries;
  uint64_t sum = 0;
  std::error_code error;
  for (fs::directory_iterator next(folder_, error), end; !error && next != end;
       next.increment(error)) {
    std::error_code gone;
    const uint64_t bytes = next->file_size(gone);
    if (gone) continue;
    entries.push_back({next->path(), next->last_write_time(gone), bytes});
    sum += bytes;
  }
  if (sum <= most_bytes) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (sum <= most_bytes / 2) return;
    fs::remove(entry.path, error);
    sum -= entry.bytes;
  }
}

std::string compiler_identity(const std::string& processor, const std::string& features) {
  // The file that holds this function changes with every build that changes the code.
  static const std::string build = [] {
    const KeepErrno keep;
    Dl_info information = {};
    struct stat status = {};
    const bool known =
        dladdr(reinterpret_cast<const void*>(&compiler_identity), &information) != 0 &&
        stat(information.dli_fname, &status) == 0;
    if (!known && stat("/proc/self/exe", &status) != 0) return std::string("unknown");
    return fmt::format("{}.{}.{}.{}", status.st_ino, status.st_size, status.st_mtim.tv_sec,
                       status.st_mtim.tv_nsec);
  }();
  return fmt::format("{}\n{}\n{}\n{}\n", build, LLVM_VERSION_STRING, processor, features);
}

CodeCounts code_counts() {
  return {loaded.load(), compiled.load()};
}

void count_loaded() {
  loaded.fetch_add(1);
}

void count_compiled() {
  compiled.fetch_add(1);
}

}  // namespace sluice::hostcuda::jit
